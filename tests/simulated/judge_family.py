"""Has every member of a family judged by the real judge, once, and keeps what it said.

    python -m tests.simulated.judge_family softmax --seconds 120

Goes on where it was left; about two seconds a member. The table holds the machine and the day.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from kernelwright.fleet import judge_version
from kernelwright.judge import Judge, Verdict, machine
from kernelwright.judge._timing import CaseTiming
from kernelwright.tasks import load_task
from tests.simulated import FAMILIES
from tests.simulated.table import Table, place

DIGITS = 5


def main() -> None:
    asked = _arguments()
    family = FAMILIES[asked.family]
    table = Table.read(family) if place(family).exists() else _empty()
    left = [member for member in family if member.key not in table.verdicts]
    until = time.monotonic() + asked.seconds
    task = load_task(family.task)
    with Judge() as judge:
        while left and time.monotonic() < until:
            member = left.pop(0)
            verdict = judge.judge(task, family.source(member))
            table.verdicts[member.key] = _kept(verdict)
            table.write(family)
            print(
                f"{member.key:40} {verdict.status:16} {_speed(verdict)}  {verdict.seconds['total']:.1f} s", flush=True
            )
    print(f"{len(left)} left")


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Stop after so long; go on another time.")
    return parser.parse_args()


def _empty() -> Table:
    facts = machine()
    about = {name: str(facts[name]) for name in ("cpu", "cores", "torch", "compiler")}
    return Table(about={**about, "judge": judge_version(), "day": time.strftime("%F", time.gmtime())})


def _kept(verdict: Verdict) -> dict[str, Any]:
    """What a search needs of a verdict; the samples as log ratios, block by block."""
    told = verdict.to_json()
    kept = {name: told[name] for name in ("status", "accepted", "message")}
    kept["seconds"] = round(verdict.seconds["total"], 3)
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
