"""The run: asks for kernels, has them judged, learns, until the budget is used up or enough is found.

with Store("runs.db") as store:
    plan = Plan(backend="cpp", budget=Budget(evaluations=40))
    found = optimize(task, plan, Means(store=store, proposer=proposer("mailbox/DIR"), fleet=open_fleet("here")))
"""

from kernelwright.engine._budget import Budget, Forecast, forecast
from kernelwright.engine._finals import Winner
from kernelwright.engine._found import archive_of, elites_by_device, unjudged_by_device
from kernelwright.engine._methods import METHODS
from kernelwright.engine._names import check_name
from kernelwright.engine._optimize import MECHANISMS, Found, Means, Plan, family, optimize, port, resume
from kernelwright.engine._replay import Recorded, recorded_replies, replay
from kernelwright.engine._seeding import SEEDING, SEEDS
from kernelwright.engine._settings import RunError, UnwritableError
from kernelwright.engine._stop import StopRules
from kernelwright.engine._teller import as_told
from kernelwright.engine._tuning import TuningBudget

__all__ = [
    "MECHANISMS",
    "METHODS",
    "SEEDING",
    "SEEDS",
    "Budget",
    "Forecast",
    "Found",
    "Means",
    "Plan",
    "Recorded",
    "RunError",
    "StopRules",
    "TuningBudget",
    "UnwritableError",
    "Winner",
    "archive_of",
    "as_told",
    "check_name",
    "elites_by_device",
    "family",
    "forecast",
    "optimize",
    "port",
    "recorded_replies",
    "replay",
    "resume",
    "unjudged_by_device",
]
