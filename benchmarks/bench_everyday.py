"""What came of `make bench-everyday`: how many tasks are faster, who is behind and why, what became slower since.

    python -m benchmarks.bench_everyday FOLDER [--record]

Reads the verdicts that `kernelwright bench everyday --search --out FOLDER` leaves there. Whoever is not clearly ahead
of both baselines is profiled, and the bottleneck named. `--record` keeps the figures in `benchmarks/everyday.json`,
with the machine and the day; later runs on such a machine are held against them. Exit 1 where a task became slower, or
is not solved any more.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernelwright.api import Speedup
from kernelwright.judge import Judge, Verdict, profile
from kernelwright.report._markdown import markdown_table
from kernelwright.tasks import load_task

SUITE = "everyday"
RECORD = Path(__file__).parent / "everyday.json"
BASELINES = ("eager", "compile")


@dataclass(frozen=True)
class Outcome:
    """What became of one task. `speeds`: by baseline; none where nothing right was found, and `said` is why."""

    task: str
    status: str
    speeds: dict[str, Speedup]
    said: str = ""

    def leads(self, baseline: str) -> bool:
        return baseline in self.speeds and self.speeds[baseline].low > 1

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Outcome:
        speeds = {name: Speedup(**speed) for name, speed in told["speeds"].items()}
        return cls(told["task"], told["status"], speeds, told["said"])


def main() -> None:
    asked = _asked()
    lines = list(_last_lines(asked.folder / "verdicts.jsonl"))
    outcomes = [_outcome(line) for line in lines]
    about = {name: lines[0][name] for name in ("cpu", "date")}
    print(markdown_table(["task", *(f"over {name}" for name in BASELINES)], list(_rows(outcomes))))
    print(*_summary(outcomes), sep="\n")
    print(*_behind(outcomes, asked.folder / "kernels"), sep="\n")
    if asked.record:
        RECORD.write_text(json.dumps({**about, "tasks": [asdict(one) for one in outcomes]}, indent=1) + "\n")
    elif slower := list(_slower(outcomes, about["cpu"])):
        print(*slower, sep="\n")
        sys.exit(1)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what `bench --out` was told")
    parser.add_argument("--record", action="store_true", help="keep these figures for later runs to be held against")
    return parser.parse_args()


def _last_lines(journal: Path) -> Iterable[dict[str, Any]]:
    """The last line of each task, in the order of the suite."""
    if not journal.is_file():
        raise SystemExit(f"there is no {journal}: run `make bench-everyday` first")
    lines = map(json.loads, journal.read_text().splitlines())
    return {line["problem"]: line for line in lines}.values()


def _outcome(line: dict[str, Any]) -> Outcome:
    speeds = {name: Speedup(**line["speedup"][name]) for name in BASELINES if name in (line.get("speedup") or {})}
    return Outcome(line["problem"], line.get("status") or line["fate"], speeds, "" if speeds else line["message"])


def _rows(outcomes: Sequence[Outcome]) -> Iterator[list[str]]:
    for one in outcomes:
        yield [one.task, *(str(one.speeds[name]) if one.speeds else one.status for name in BASELINES)]


def _summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    solved = [one for one in outcomes if one.speeds]
    yield f"\nsolved: {_share(len(solved), outcomes)}"
    for name in BASELINES:
        ahead = sum(one.leads(name) for one in outcomes)
        mean = math.exp(sum(math.log(one.speeds[name].ratio) for one in solved) / len(solved)) if solved else math.nan
        yield f"clearly faster than {name}: {_share(ahead, outcomes)}; geometric mean of the solved {mean:.2f}x"


def _share(number: int, outcomes: Sequence[Outcome]) -> str:
    return f"{number} of {len(outcomes)} ({number / len(outcomes):.0%})"


def _behind(outcomes: Sequence[Outcome], kernels: Path) -> Iterator[str]:
    """Who is not clearly ahead of everybody, and what holds the kernel back."""
    losers = [one for one in outcomes if not all(map(one.leads, BASELINES))]
    if losers:
        yield f"\nnot clearly ahead of both: {len(losers)}"
    with Judge() as judge:
        for one in losers:
            yield f"- {one.task}: {_why(judge, one, kernels / f'{one.task}.py')}"


def _why(judge: Judge, outcome: Outcome, kernel: Path) -> str:
    if not outcome.speeds:
        return outcome.said
    found = profile(judge, load_task(f"{SUITE}:{outcome.task}"), kernel.read_text())
    held = found.message if isinstance(found, Verdict) else found.findings[0].name
    return f"{', '.join(f'{speed} {name}' for name, speed in outcome.speeds.items())}; held back by: {held}"


def _slower(outcomes: Sequence[Outcome], cpu: str) -> Iterator[str]:
    """Tasks whose interval over eager lies below the recorded one, and those that are solved no more."""
    kept = json.loads(RECORD.read_text())
    if kept["cpu"] != cpu:
        return
    before = {one.task: one for one in map(Outcome.from_json, kept["tasks"])}
    for one in outcomes:
        then = before.get(one.task)
        if then is None or not then.speeds:
            continue
        if not one.speeds:
            yield f"solved {kept['date']} and not now: {one.task}, {one.status}"
        elif one.speeds["eager"].high < then.speeds["eager"].low:
            yield f"slower than {kept['date']}: {one.task}, {one.speeds['eager']} eager, then {then.speeds['eager']}"


if __name__ == "__main__":
    main()
