"""What `kernelwright bench --search` does before it judges: a search of its own for every problem of a suite.

Knows which run belongs to which problem, so that the same command again goes on where it was left. What was found is
judged like any other solution, by `_bench.py`.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from kernelwright import backends
from kernelwright.cli import _voices
from kernelwright.cli._eval import FIT_SECONDS, check_backend
from kernelwright.cli._failure import UsageError, write_text
from kernelwright.cli._journal import Lines, Record
from kernelwright.cli._runs import reported
from kernelwright.cli._search import sentences
from kernelwright.config import configured
from kernelwright.engine import Means, Plan, RunError, UnwritableError, optimize, resume
from kernelwright.fleet import HERE, open_fleet
from kernelwright.judge import Judge, fit
from kernelwright.propose import proposer
from kernelwright.store import Place, Records, Store
from kernelwright.tasks import Task
from kernelwright.tasks.suites import Problem

OPTIONS = (
    *("evaluations", "tokens", "dollars", "minutes", "judge_minutes", "target", "roof", "plateau"),
    *("backend", "in_flight", "seed", "model", "tune_seconds"),
)
AGAIN = "run the same command to go on"


class UnsearchableError(Exception):
    """This problem cannot be searched; the others may be."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """How every problem is searched. `store`: where all the runs are kept."""

    model: str
    base_url: str | None
    plan: Plan
    store: Place
    fit: bool
    mode: str | None

    @property
    def identity(self) -> Record:
        """What makes two searches of a problem the same one."""
        plan = json.loads(json.dumps(self.plan.to_json()))
        where = self.store.identity
        return {"model": self.model, "plan": plan, "store": where, "fit": self.fit, "mode": self.mode}

    def in_words(self) -> str:
        limits = ", ".join(f"{most:g} {name}" for name, most in self.plan.budget.limits().items())
        return f"{self.model}, {self.plan.search}, {self.plan.backend}, for each problem at most {limits}"


def plan_from(said: Mapping[str, Any], limits: dict[str, float]) -> Plan:
    """The plan by the options that were said; the others are as `optimize` has them."""
    options = {name: said[name] for name in OPTIONS if name in said}
    if "method" in said:
        options["search"] = said["method"]
    if "without" in said:
        options["without"] = [name.strip() for name in said["without"].split(",") if name.strip()]
    with sentences():
        plan = configured(limits=limits, **options).plan()
    check_backend(plan.backend)
    return plan


class Ledger:
    """Which run searches which problem: a line when it begins, before anything is paid for, another when it ends."""

    def __init__(self, path: Path, wish: Wish) -> None:
        self._lines = Lines(path)
        self._wish = wish.identity
        mine = (line for line in self._lines.read() if line.items() >= self._wish.items())
        self._last = {(line["problem"], line["task"]): line for line in mine if {"problem", "task", "run"} <= set(line)}

    def run(self, problem: Problem, task: Task) -> str | None:
        line = self._last.get((problem.id, task.hash))
        return line["run"] if line else None

    def has_ended(self, problem: Problem, task: Task) -> bool:
        return bool(self._last.get((problem.id, task.hash), {}).get("ended"))

    def note(self, problem: Problem, task: Task, run: str, ended: str = "") -> None:
        line = {**self._wish, "problem": problem.id, "task": task.hash, "run": run, "ended": ended}
        self._lines.append(line)
        self._last[(problem.id, task.hash)] = line


class Searches:
    """A search for every problem, in runs of one store. What was found lies in `folder`, and which run found it."""

    def __init__(self, wish: Wish, folder: Path, judge: Judge, console: Console) -> None:
        self._wish, self._judge, self._console = wish, judge, console
        self._ledger = Ledger(folder / "searches.jsonl", wish)
        self._kernels = folder / "kernels"

    def best(self, problem: Problem) -> Path | str:
        """The file of the best kernel, or a sentence on why there is none. Raises TaskError and UnsearchableError.

        A problem with variants is searched as its first; what was found must solve them all.
        """
        task = problem.tasks(mode=self._wish.mode)[0]
        with sentences():
            if not self._ledger.has_ended(problem, task):
                self._search(problem, task)
            run = self._ledger.run(problem, task)
            assert run is not None
            return self._found(problem, run)

    def _search(self, problem: Problem, task: Task) -> None:
        """From the beginning, or from where it was left."""
        run = self._ledger.run(problem, task)
        ready = self._fitted(task) if run is None else task
        with self._means(problem, task) as means:
            try:
                found = optimize(ready, self._wish.plan, means) if run is None else resume(run, means)
            except UnwritableError as error:
                self._give_up(problem, task, error)
                return
            except RunError as error:
                self._explain(problem, task, ready, error)
                raise
        self._console.print(escape(found.reason), soft_wrap=True)
        self._ledger.note(problem, task, found.run, found.reason)

    def _fitted(self, task: Task) -> Task:
        return fit(self._judge, task, seconds=FIT_SECONDS)[0] if self._wish.fit else task

    @contextmanager
    def _means(self, problem: Problem, task: Task) -> Iterator[Means]:
        """New ones for every problem: whoever was told to stop stays stopped."""
        wish, stop, voice = self._wish, threading.Event(), _voices.Lines(self._console)
        known = self._ledger.run(problem, task)

        def tell(kind: str, data: dict[str, Any]) -> None:
            if kind == "begun" and known is None:
                self._ledger.note(problem, task, data["run"])
            voice(kind, data)

        writer = proposer(wish.model, base_url=wish.base_url, seed=wish.plan.seed, stop=stop)
        with Store(wish.store) as store, closing(open_fleet(HERE)) as fleet:
            yield Means(store=store, proposer=writer, fleet=fleet, tell=tell, stop=stop)

    def _give_up(self, problem: Problem, task: Task, error: UnwritableError) -> None:
        """Nothing would come of going on; the other problems may be written."""
        run = self._ledger.run(problem, task)
        assert run is not None
        self._console.print(escape(str(error)), soft_wrap=True)
        self._ledger.note(problem, task, run, str(error))

    def _explain(self, problem: Problem, task: Task, ready: Task, error: RunError) -> None:
        """A run that never began is the problem's fault; the judge may know its weakness by name, and raises that."""
        if self._ledger.run(problem, task) is not None:
            fix = f"{error.fix}; then {AGAIN}" if error.fix else AGAIN
            raise UsageError(f"{problem.address}: {error}", fix) from error
        on_device = backends.get(self._wish.plan.backend).for_device and backends.usable_gpu() is not None
        self._judge.prepare(ready, on_device=on_device)
        raise UnsearchableError(str(error)) from error

    def _found(self, problem: Problem, run: str) -> Path | str:
        with Records(self._wish.store) as records:
            best = reported(records, run)
            kept = records.candidate(best.candidate) if best else None
            if kept is None:
                return _nothing(records, run)
        path = self._kernels / f"{problem.id}.py"
        write_text(path, kept.source)
        return path


def _nothing(records: Records, run: str) -> str:
    statuses = Counter(judged.status for judged in records.verdicts(run) if judged.used)
    judged = ", ".join(f"{number} {status}" for status, number in statuses.most_common())
    return f"no kernel was accepted in run {run}: {judged or records.run(run).reason}"
