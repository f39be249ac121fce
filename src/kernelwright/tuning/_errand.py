"""A race as one errand: run where a judge is, told in plain values to whoever asked for it."""

from __future__ import annotations

from typing import Any

from kernelwright.judge import Judge
from kernelwright.tasks import Task
from kernelwright.tuning._limits import limits_here
from kernelwright.tuning._live import live_racer
from kernelwright.tuning._race import Race, Rules
from kernelwright.tuning._space import Space
from kernelwright.tuning._template import read_template

# So many of the fastest are told with their times.
STANDINGS = 8


def race(judge: Judge, task: Task, source: str, rules: Rules) -> dict[str, Any]:
    """Lets the configurations of a candidate race on this machine. Who is among the finalists was judged by nobody.

    Raises TuningError where there is nothing to race.
    """
    template = read_template(source)
    space = Space(template, limits_here())
    racer = live_racer(judge, task, template, space.starting_point)
    outcome = Race(space, racer, rules).run()
    return {
        "configurations": len(space),
        "tried": len(outcome.forms),
        "heats": outcome.heats,
        "seconds": outcome.spent,
        "finalists": [one.to_json() for one in outcome.finalists],
        "standings": [form.to_json(racer.weights) for form in outcome.forms[:STANDINGS]],
    }
