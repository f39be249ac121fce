"""What the built-in synthesiser can write of whole suites, and what it stumbles over, counted by operator.

    python benchmarks/bench_builtin.py everyday                                   about 5 minutes on 2 quiet cores
    python benchmarks/bench_builtin.py kernelbench:1 --suite-dir KernelBench      shrunk to this machine first, and then
                                                                                  some more: nothing is timed
    python benchmarks/bench_builtin.py everyday --backend sycl                    the same in another language
    python benchmarks/bench_builtin.py everyday --written                         captured and written only: a minute

Nothing is searched and nothing is timed: the usual genome's kernel is written, compiled and checked by the judge once.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kernelwright.judge import InfraError, Judge, OutOfReach, fit
from kernelwright.propose.builtin import BACKENDS, Builtin, CannotWriteError
from kernelwright.propose.builtin._proposer import LANGUAGES, Desk
from kernelwright.tasks import Task, TaskError, shrink
from kernelwright.tasks.suites import Problem, select

FIT_SECONDS = 0.25
# What fits to be timed is larger than it need be to be checked.
SMALLER = 16.0
OPERATOR = re.compile(r"(?:aten|prims)\.[\w.]+")


@dataclass(frozen=True)
class Outcome:
    """What became of a problem: `solved`, `written`, `refused` by the synthesiser, `rejected` or not judged at all."""

    problem: str
    became: str
    reason: str = ""

    @property
    def cause(self) -> str:
        """The operator that stands in the way, or the first words of what was said."""
        found = OPERATOR.search(self.reason)
        return found.group().rstrip(".") if found else self.reason.splitlines()[0][:80]


def main() -> None:
    asked = _asked()
    outcomes: list[Outcome] = []
    with Judge() as judge:
        for problem in _problems(asked.suites, asked.suite_dir):
            outcomes += [_outcome(problem, judge, asked.backend, checked=not asked.written)]
            print(f"{outcomes[-1].problem:40} {outcomes[-1].became:10} {outcomes[-1].reason[:100]}", flush=True)
    if asked.out:
        asked.out.write_text(json.dumps([asdict(one) for one in outcomes], indent=1) + "\n")
    _show(outcomes)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+", help="everyday, everyday:loss, kernelbench:1, ...")
    parser.add_argument("--suite-dir", type=Path, help="where suites lie that do not come along")
    parser.add_argument("--backend", choices=BACKENDS, default=BACKENDS[0], help="the language")
    parser.add_argument("--written", action="store_true", help="do not compile and check what was written")
    parser.add_argument("--out", type=Path, help="a file for what became of every problem")
    return parser.parse_args()


def _problems(suites: list[str], suite_dir: Path | None) -> Iterator[Problem]:
    for name in suites:
        yield from select(name, None if name.startswith("everyday") else suite_dir)[1]


def _outcome(problem: Problem, judge: Judge, backend: str, *, checked: bool) -> Outcome:
    try:
        task = problem.tasks()[0]
        if not problem.address.startswith("everyday"):
            task = _small(fit(judge, task, seconds=FIT_SECONDS)[0])
        return _tried(problem.address, task, judge, backend, checked=checked)
    except (TaskError, OutOfReach, InfraError) as error:
        return Outcome(problem.address, "not judged", str(error))
    except CannotWriteError as error:
        return Outcome(problem.address, "refused", str(error))


def _small(task: Task) -> Task:
    smaller = shrink(task, SMALLER)
    return task if smaller is None else smaller.task


def _tried(address: str, task: Task, judge: Judge, backend: str, *, checked: bool) -> Outcome:
    language = LANGUAGES[backend]
    source = Desk(task, Builtin().understand(task), language).text(language.genome())
    if not checked:
        return Outcome(address, "written")
    verdict = judge.judge(task, source, timed=False)
    judge.forget(task)
    return Outcome(address, "solved" if verdict.accepted else "rejected", "" if verdict.accepted else verdict.message)


def _show(outcomes: list[Outcome]) -> None:
    console = Console()
    console.print(dict(Counter(one.became for one in outcomes)))
    table = Table("problems", "cause", "which")
    causes = Counter((one.became, one.cause) for one in outcomes if one.reason)
    for (became, cause), count in causes.most_common():
        which = [one.problem for one in outcomes if one.reason and (one.became, one.cause) == (became, cause)]
        table.add_row(str(count), f"{became}: {cause}", " ".join(which))
    console.print(table)


if __name__ == "__main__":
    main()
