"""The run: asks for kernels, has them judged, learns, until the budget is used up or enough is found.

with Store("runs.db") as store:
    found = optimize(task, Plan(backend="cpp", budget=Budget(evaluations=40)), store=store, proposer=..., fleet=...)
"""

from kernelwright.engine._budget import Budget, Forecast, forecast
from kernelwright.engine._conductor import RunError
from kernelwright.engine._methods import METHODS
from kernelwright.engine._optimize import MECHANISMS, Found, Plan, optimize, resume
from kernelwright.engine._stop import StopRules

__all__ = [
    "MECHANISMS",
    "METHODS",
    "Budget",
    "Forecast",
    "Found",
    "Plan",
    "RunError",
    "StopRules",
    "forecast",
    "optimize",
    "resume",
]
