"""What the engine itself costs: its share of the judge's time, idle judges, memory and disk over a long run.

make bench-engine       about four minutes on 2 cores
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console
from rich.table import Table

from benchmarks.kernels import SOFTMAX_TASK, softmax_variants
from benchmarks.stand_in import Model, StandIn
from kernelwright.engine import Budget, Means, Plan, resume
from kernelwright.fleet import Here
from kernelwright.judge import Judge, Verdict, machine
from kernelwright.propose import Proposer, Reply, Request
from kernelwright.store import Store
from kernelwright.tasks import Task, load_task

REAL, WANTED_SHARE = 12, 0.05
# Replies of 20 s and judgements of 2 s, twenty times as fast.
SCALE, REPLY_SECONDS, JUDGE_SECONDS, IN_FLIGHT, WAITING = 20, 20.0, 2.0, 8, 160
LONG, EVERY = 5000, 500

Tell = Callable[[str, dict[str, Any]], None]


def play(task: Task, model: Proposer, fleet: Here, path: Path, tell: Tell = lambda *_: None, **how: Any) -> None:
    """A run without its preflight, which has nothing to do with how long it goes on."""
    settings = Plan(backend="cpp", without=("profile",), **how).to_json()
    about = {"task": task.hash, "wire": task.to_wire(), "settings": settings}
    with Store(path) as store:
        run = store.begin_run(**about, versions={}, machine=machine())
        resume(run.id, Means(store=store, proposer=model, fleet=fleet, tell=tell))


# *** the share ***


class Ready:
    """A model that has its kernels ready."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def propose(self, request: Request) -> Reply:
        text = f"```python\n{self._texts.pop()}```" if request.kind != "rewrite" else ""
        return Reply(text=text, model="ready", tokens_in=1, tokens_out=1, dollars=0.0, seconds=0.0, finish="stop")


class Watched(Judge):
    """The judge, with a clock beside it."""

    hearings: ClassVar[list[tuple[float, float]]] = []

    def judge(self, *arguments: Any, **named: Any) -> Verdict:
        start = time.monotonic()
        found = super().judge(*arguments, **named)
        if not self.reveal_seeds:  # the last measurement, after the search
            self.hearings.append((start, time.monotonic()))
        return found


def share(console: Console, folder: Path) -> None:
    """With one request at a time the judge waits whenever the engine thinks: gaps between judgements are its own."""
    model, budget = Ready(softmax_variants(REAL * 3)), Budget(evaluations=REAL)
    with closing(Here(judges=Watched)) as fleet:
        play(load_task(SOFTMAX_TASK), model, fleet, folder / "share.db", budget=budget, lanes=1)
    hearings = Watched.hearings[1:]  # the first makes the task ready
    busy = sum(end - start for start, end in hearings)
    gaps = [after[0] - before[1] for before, after in pairwise(hearings)]
    console.print(
        f"instant replies, the real judge: {len(hearings)} judgements of {busy / len(hearings):.2f} s on average; "
        f"between two of them {sum(gaps) / len(gaps) * 1e3:.1f} ms, {sum(gaps) / busy:.1%} of the judge's time "
        f"(wanted: {WANTED_SHARE:.0%})"
    )


# *** waiting ***


def waiting(console: Console, folder: Path) -> None:
    """How long the judge did nothing while an answer lay there to be judged."""
    StandIn.seconds, StandIn.hearings = JUDGE_SECONDS / SCALE, []
    model = Model(REPLY_SECONDS / SCALE)
    with closing(Here(judges=StandIn)) as fleet:
        play(_relu(), model, fleet, folder / "waiting.db", budget=Budget(evaluations=WAITING), lanes=IN_FLIGHT)
    hearings = StandIn.hearings[:WAITING]
    idle = [after[1] - before[2] for before, after in pairwise(hearings)]
    late = [max(0.0, after[1] - max(before[2], model.answered[after[0]])) for before, after in pairwise(hearings)]
    total = hearings[-1][2] - hearings[0][1]
    console.print(
        f"replies of {REPLY_SECONDS:g} s, judgements of {JUDGE_SECONDS:g} s, {IN_FLIGHT} in flight, all {SCALE} times "
        f"as fast: {total:.1f} s, of which the judge was idle for {sum(idle):.2f} s, and while an answer waited for "
        f"{sum(late):.3f} s ({sum(late) / total:.2%}; {max(late) * 1e3:.1f} ms at a time at most)"
    )


# *** memory ***


class Growth:
    """What a long run needs, in a table, every so many candidates."""

    def __init__(self, path: Path) -> None:
        self._path, self._judged, self._last = path, 0, time.monotonic()
        self.table = Table(title=f"{LONG} candidates, instant replies and verdicts")
        for heading in ("candidates", "resident", "store", "time a candidate"):
            self.table.add_column(heading, justify="right")

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        self._judged += kind == "judged"
        if kind == "judged" and self._judged % EVERY == 0:
            StandIn.hearings.clear()
            now = time.monotonic()
            each = f"{(now - self._last) / EVERY * 1e3:.1f} ms"
            self.table.add_row(str(self._judged), f"{_resident():.1f} MB", f"{_size(self._path):.1f} MB", each)
            self._last = now


def memory(console: Console, folder: Path) -> None:
    StandIn.seconds, StandIn.hearings = 0.0, []
    growth = Growth(folder / "long.db")
    with closing(Here(judges=StandIn)) as fleet:
        play(_relu(), _Forgetful(), fleet, folder / "long.db", growth, budget=Budget(evaluations=LONG), lanes=4)
    console.print(growth.table)


class _Forgetful(Model):
    def propose(self, request: Request) -> Reply:
        reply = super().propose(request)
        self.answered.clear()
        return reply


def _relu() -> Task:
    return load_task(Path(__file__).parents[1] / "tests" / "corpus" / "tasks" / "relu.py")


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _size(path: Path) -> float:
    return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*")) / 1e6


def main() -> None:
    console, facts = Console(highlight=False, width=140), machine()
    console.print(f"{facts['cpu']}, {facts['cores']} cores, torch {facts['torch']}")
    for part in (share, waiting, memory):
        with tempfile.TemporaryDirectory() as folder:
            part(console, Path(folder))


if __name__ == "__main__":
    main()
