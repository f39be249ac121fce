"""Events of a search as a run tells them, for tests of what is made of them."""

from __future__ import annotations

from typing import Any

RUN = "20261116-072236-ab12"
Event = dict[str, Any]


def event(kind: str, at: float = 100.0, **fields: Any) -> Event:
    return {"event": kind, "run": RUN, "at": at, **fields}


def begun(*, resumed: bool = False, task: str = "relu", **budget: float) -> Event:
    limits = dict.fromkeys(("evaluations", "tokens", "dollars", "wall_seconds", "judge_seconds"))
    how = {"backend": "cpp", "search": "map-elites", "in_flight": 4, "budget": {**limits, **budget}}
    return event("begun", resumed=resumed, task=task, **how)


def kernel(speedup: float = 2.31, cell: tuple[int, int, int] = (2, 1, 0), candidate: str = "3fa2b1c09d77") -> Event:
    interval = {"speedup": speedup, "low": speedup - 0.03, "high": speedup + 0.04}
    return {"candidate": candidate, "cell": list(cell), **interval}


def elite(speedup: float, cell: tuple[int, int, int]) -> Event:
    return event("elite", **kernel(speedup, cell))


def judged(number: int = 1, *, status: str = "CORRECT", message: str = "correct", **found: Any) -> Event:
    nothing = dict.fromkeys(("speedup", "low", "high"))
    where = {"candidate": "3fa2b1c09d77", "cell": [2, 1, 0]}
    return event("judged", number=number, status=status, message=message, **{**where, **nothing, **found})


def stands(*, at: float = 100.0, best: Event | None = None, forecast: Event | None = None, **parts: Any) -> Event:
    names = ("requests", "replies", "tokens_in", "tokens_out", "dollars", "unpriced", "evaluations")
    nothing = dict.fromkeys((*names, "judge_seconds", "wall_seconds"), 0)
    busy = {name: parts.pop(name, 0) for name in ("asking", "judging", "filled")}
    return event("stands", at, best=best, forecast=forecast, spent={**nothing, **parts}, **busy)
