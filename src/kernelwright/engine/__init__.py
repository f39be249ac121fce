"""The run: what is spent, when it ends, whether the judge is to be believed."""

from kernelwright.engine._budget import Budget, Forecast, Spent, exhausted, forecast, room_for
from kernelwright.engine._preflight import Surprise, preflight
from kernelwright.engine._stop import Standing, StopRules, reason_to_stop

__all__ = [
    "Budget",
    "Forecast",
    "Spent",
    "Standing",
    "StopRules",
    "Surprise",
    "exhausted",
    "forecast",
    "preflight",
    "reason_to_stop",
    "room_for",
]
