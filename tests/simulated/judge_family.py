"""Has members of a family judged by the real judge, each once, and keeps what it said.

    python -m tests.simulated.judge_family softmax --seconds 120
    python -m tests.simulated.judge_family attention --visited [--ways map-elites,refine] [--first-seed 200]
        [--seeds 10] [--evaluations 80]

Every member, or with --visited those that searches meet: these ways to search are driven with these seeds, as
benchmarks/bench_search.py will, and what is not in the table yet is judged when a search comes to it. Goes on where it
was left, also after Ctrl-C; about two seconds a member. The table holds the machine and the day.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelwright.fleet import judge_version
from kernelwright.judge import Judge, Status, Verdict, machine
from kernelwright.judge._timing import CaseTiming
from kernelwright.tasks import Task, load_task
from tests.simulated import FAMILIES
from tests.simulated._family import Family, Member
from tests.simulated.search import WAYS, search
from tests.simulated.table import Table, TableFleet, place

DIGITS = 5
# Of what the compiler or the judge says against a member: a search with the simulated model does not read more.
LETTERS = 100
# These say something of the machine, and nothing of the member.
NOT_TO_KEEP = (Status.INFRA, Status.UNTIMED)


class TimeIsUp(Exception):
    """It was asked to stop after so long; what was judged is kept."""


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """Has members judged one by one until its time is up; each is in the table before the next."""

    family: Family
    task: Task
    table: Table
    judge: Judge
    until: float

    def hear(self, member: Member) -> None:
        if time.monotonic() >= self.until:
            raise TimeIsUp
        verdict = self.judge.judge(self.task, self.family.source(member))
        if verdict.status in NOT_TO_KEEP:
            raise SystemExit(f"{member.key} could not be judged ({verdict.message}); run this again to go on.")
        self.table.verdicts[member.key] = _kept(verdict)
        self.table.write(self.family)
        print(f"{member.key:60} {verdict.status:16} {_speed(verdict)}  {verdict.seconds['total']:.1f} s", flush=True)


class GrowingFleet(TableFleet):
    """Answers from a table, too; what is not in it is judged first."""

    def __init__(self, sitting: Sitting, seed: int) -> None:
        super().__init__(sitting.family, sitting.table, sitting.task, seed)
        self._sitting = sitting

    def _kept(self, member: Member) -> dict[str, Any]:
        if member.key not in self._sitting.table.verdicts:
            self._sitting.hear(member)
        return super()._kept(member)


def main() -> None:
    asked = _arguments()
    family = FAMILIES[asked.family]
    table = taken_up(family)
    with Judge() as judge:
        sitting = Sitting(
            family=family,
            task=load_task(family.task),
            table=table,
            judge=judge,
            until=time.monotonic() + asked.seconds,
        )
        try:
            hear_visited(sitting, asked) if asked.visited else hear_all(sitting)
        except TimeIsUp:
            print("time is up; run this again to go on.")
    print(f"{len(table.verdicts)} judged of {len(family.whole)} members, and as many with a mistake")


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Stop after so long; go on another time.")
    parser.add_argument("--visited", action="store_true", help="Only members that searches meet.")
    parser.add_argument("--ways", default="map-elites,best-of-n,refine", help=f"Comma-separated: {', '.join(WAYS)}.")
    parser.add_argument("--first-seed", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=80)
    return parser.parse_args()


def taken_up(family: Family) -> Table:
    """The table as it was left. One table is of one machine: speeds of two would not be comparable."""
    here = _about()
    if not place(family).exists():
        return Table(about=here)
    table = Table.read(family)
    other = [name for name in here if name != "day" and here[name] != table.about[name]]
    if other:
        told = ", ".join(f"{name} {table.about[name]} and not {here[name]}" for name in other)
        raise SystemExit(f"{place(family).name} was made with {told}; move it away to begin a new one.")
    return table


def _about() -> dict[str, str]:
    facts = machine()
    about = {name: str(facts[name]) for name in ("cpu", "cores", "torch", "compiler")}
    return {**about, "judge": judge_version(), "day": time.strftime("%F", time.gmtime())}


def hear_all(sitting: Sitting) -> None:
    for member in sitting.family:
        if member.key not in sitting.table.verdicts:
            sitting.hear(member)


def hear_visited(sitting: Sitting, asked: Any) -> None:
    """Seed by seed, each with all ways: a machine that grows slower does so for all of them."""
    for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
        for way in asked.ways.split(","):
            with tempfile.TemporaryDirectory() as folder:
                fleet = GrowingFleet(sitting, seed)
                store = Path(folder) / "run.db"
                search(sitting.family, store, seed=seed, evaluations=asked.evaluations, fleet=fleet, **WAYS[way])
            print(f"{way} with seed {seed}: {len(sitting.table.verdicts)} members judged so far", flush=True)


def _kept(verdict: Verdict) -> dict[str, Any]:
    """What a search needs of a verdict; the samples as log ratios, block by block."""
    kept: dict[str, Any] = {"status": str(verdict.status), "accepted": verdict.accepted}
    kept["seconds"] = round(verdict.seconds["total"], 3)
    if not verdict.accepted:
        kept["message"] = verdict.message[:LETTERS]
    if verdict.speedup:
        timing = CaseTiming.from_json(verdict.evidence["timing"][0])
        kept["time_ms"] = {name: _short(ms) for name, ms in verdict.time_ms.items()}
        kept["speedup"] = {name: _short(value) for name, value in verdict.speedup["eager"].items()}
        kept["log_ratios"] = [[round(float(one), DIGITS) for one in block] for block in timing.log_ratios("eager")]
    return kept


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _speed(verdict: Verdict) -> str:
    found = verdict.speedup.get("eager")
    return f"{found['ratio']:.3f} [{found['low']:.3f}, {found['high']:.3f}]" if found else verdict.message[:60]


if __name__ == "__main__":
    main()
