"""Fits a candidate to its inputs and to the machine: parameters in its source, and a race between their values.

    tuned = tune(task, Path("candidate.py").read_text(), judge=judge, cache=Path("tuning.jsonl"), rules=Rules())
    print(tuned.best.text)

Knows candidates as text and times. What is right, honest and fast is the judge's to say.
"""

from kernelwright.tuning._dispatcher import dispatcher
from kernelwright.tuning._errand import race
from kernelwright.tuning._error import TuningError
from kernelwright.tuning._expression import Expression, ExpressionError, parse
from kernelwright.tuning._form import Form
from kernelwright.tuning._limits import LIMITS, limits_here
from kernelwright.tuning._live import JudgedRacer, SprintRacer, live_racer
from kernelwright.tuning._optuna import SAMPLERS
from kernelwright.tuning._parameter import Choice, Parameter
from kernelwright.tuning._race import Outcome, Race, Rules, sweep
from kernelwright.tuning._racer import Lap, Racer
from kernelwright.tuning._record import Record, Recorded, recorded_setting
from kernelwright.tuning._setting import setting_here
from kernelwright.tuning._space import Space
from kernelwright.tuning._template import Configuration, Template, is_template, read_template
from kernelwright.tuning._tune import Judged, Rejected, Tuned, better_by_case, tune

__all__ = [
    "LIMITS",
    "SAMPLERS",
    "Choice",
    "Configuration",
    "Expression",
    "ExpressionError",
    "Form",
    "Judged",
    "JudgedRacer",
    "Lap",
    "Outcome",
    "Parameter",
    "Race",
    "Racer",
    "Record",
    "Recorded",
    "Rejected",
    "Rules",
    "Space",
    "SprintRacer",
    "Template",
    "Tuned",
    "TuningError",
    "better_by_case",
    "dispatcher",
    "is_template",
    "limits_here",
    "live_racer",
    "parse",
    "race",
    "read_template",
    "recorded_setting",
    "setting_here",
    "sweep",
    "tune",
]
