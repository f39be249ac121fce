"""The judge of the judge: exploits rejected, honest kernels accepted, mutants killed.

python -m tests.trust              everything once
python -m tests.trust --times 5    exploits and honest kernels five times each
python -m tests.trust --quick      one mutant a kernel
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.status import Status as Line

from kernelwright import backends
from kernelwright.judge import Judge, Limits
from tests.corpus import (
    EXPLOITS,
    EXTENSION_EXPLOITS,
    EXTENSION_HONEST,
    HONEST,
    SYCL_EXPLOITS,
    SYCL_HONEST,
    Specimen,
    specimens,
)
from tests.mutants import PER_KERNEL, Mutant, chosen, run

ENOUGH_KILLED = 0.98


LIMITS = Limits(load_s=10, call_s=5, build_s=30, total_s=120)


@dataclass(frozen=True)
class Failure:
    """One verdict that is not what it should be."""

    name: str
    expected: str
    got: str
    message: str

    def __str__(self) -> str:
        return f"  {self.name}: expected {self.expected}, got {self.got}: {self.message}"


@dataclass
class Tally:
    """How many of a kind were judged rightly, and which were not."""

    title: str
    right: int = 0
    total: int = 0
    needed: float = 1.0
    failures: list[Failure] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.right / self.total if self.total else 1.0

    @property
    def passed(self) -> bool:
        return self.share >= self.needed

    def __str__(self) -> str:
        line = f"{self.title} {self.right}/{self.total}"
        return line if self.needed == 1.0 else f"{line} ({100 * self.share:.1f} %)"


def main() -> None:
    options = _options()
    with Judge(limits=LIMITS) as judge, Console(stderr=True).status("preparing") as line:
        tallies = [
            tally_specimens("exploits rejected", EXPLOITS, judge=judge, times=options.times, line=line),
            tally_specimens("honest accepted", HONEST, judge=judge, times=options.times, line=line),
            *tally_extensions(judge=judge, times=options.times, line=line),
            *tally_sycl(judge=judge, times=options.times, line=line),
            tally_mutants(judge=judge, each=1 if options.quick else PER_KERNEL, line=line),
        ]
    for tally in tallies:
        print(tally)
        for failure in tally.failures:
            print(failure)
    sys.exit(not all(tally.passed for tally in tallies))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.trust", description="Judges the judge.")
    parser.add_argument("--times", type=int, default=1, help="how often each exploit and honest kernel is judged")
    parser.add_argument("--quick", action="store_true", help="one mutant a kernel")
    return parser.parse_args()


def tally_specimens(title: str, folder: Path, *, judge: Judge, times: int, line: Line) -> Tally:
    tally = Tally(title)
    for specimen in _forgetting(judge, specimens(folder)):
        line.update(f"{title} {tally.right}/{tally.total}  {specimen.name}")
        failures = [failure for _ in range(times) if (failure := _judged(judge, specimen))]
        tally.total += 1
        tally.right += not failures
        tally.failures += failures[:1]
    return tally


def tally_extensions(*, judge: Judge, times: int, line: Line) -> list[Tally]:
    """The part built by torch's own extension loader."""
    kinds = {"extension exploits rejected": EXTENSION_EXPLOITS, "honest extensions accepted": EXTENSION_HONEST}
    return [tally_specimens(title, kinds[title], judge=judge, times=times, line=line) for title in kinds]


def tally_sycl(*, judge: Judge, times: int, line: Line) -> list[Tally]:
    """The part in SYCL, where SYCL works; said plainly where it does not."""
    sycl = backends.get("sycl").available()
    if not sycl.ok:
        print(f"SYCL part not judged: {sycl.detail}")
        return []
    kinds = {"SYCL exploits rejected": SYCL_EXPLOITS, "SYCL honest accepted": SYCL_HONEST}
    return [tally_specimens(title, kinds[title], judge=judge, times=times, line=line) for title in kinds]


def _forgetting(judge: Judge, candidates: Iterable[Specimen]) -> Iterator[Specimen]:
    """The candidates, and after the last of each task the judge forgets it: all at once would not fit."""
    last: Specimen | None = None
    for specimen in candidates:
        if last is not None and last.task != specimen.task:
            judge.forget(last.load_task())
        last = specimen
        yield specimen


def _judged(judge: Judge, specimen: Specimen) -> Failure | None:
    """What is wrong with the verdict, if anything. A judge that raises has not judged."""
    expected = " | ".join(sorted(specimen.expect))
    try:
        verdict = judge.judge(specimen.load_task(), specimen.source)
    except Exception as error:
        return Failure(specimen.name, expected, type(error).__name__, str(error))
    if str(verdict.status) in specimen.expect:
        return None
    return Failure(specimen.name, expected, str(verdict.status), verdict.message)


def tally_mutants(*, judge: Judge, each: int, line: Line) -> Tally:
    def show(mutant: Mutant, status: object) -> None:
        line.update(f"mutants killed: {mutant.kernel} {mutant.operator} {status}")

    report = run(judge, of=chosen(specimens(HONEST), each), progress=show)
    tally = Tally("mutants killed", report.killed, report.total, ENOUGH_KILLED)
    for kernel, operator, place, diff in report.survivors:
        tally.failures.append(Failure(f"{kernel}:{place}", "a rejection", operator, " ".join(diff.split())))
    return tally


if __name__ == "__main__":
    main()
