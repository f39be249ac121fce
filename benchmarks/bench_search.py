"""What ways to search are worth with the simulated model: best kernel so far at equal numbers of evaluations.

Kernels are real and were judged by the real judge, once (tests/simulated/verdicts); the model is simulated, and
docs/compare.md says how it answers.

    python -m benchmarks.bench_search [FAMILY ...] [--ways map-elites,refine] [--seeds 10] [--evaluations 60]
        [--first-seed 0] [--keep DIR]

A family of which only those members were judged that searches meet has to be named, with ways, seeds and evaluations
that its table was made for: where a member is missing, it is said and nothing is compared.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kernelwright.report import Comparison, Course, compare, curve_rows, gap_rows, place_gap_rows
from kernelwright.report._markdown import markdown_table
from kernelwright.store import Records, State
from tests.simulated import FAMILIES, JUDGED
from tests.simulated.search import WAYS, search, true_course
from tests.simulated.table import NotJudged, Table


def main() -> None:
    asked = _arguments()
    families = asked.families or list(JUDGED)
    with _folder(asked.keep) as folder:
        try:
            courses = list(_courses(folder, families, asked))
        except NotJudged as error:
            raise SystemExit(str(error)) from None
    _print(compare(courses, ("method", "without"), whole=True), families)


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0, help="For seeds that nobody has looked at yet.")
    parser.add_argument(
        "--ways", default=",".join(WAYS), help="Which, comma-separated; the first is held against the others."
    )
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--keep", type=Path, help="Keep the runs here; those that are here are not made again.")
    return parser.parse_args()


@contextlib.contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _courses(folder: Path, families: Iterable[str], asked: Any) -> Iterator[Course]:
    for name in families:
        for way in asked.ways.split(","):
            for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
                yield _course(folder, name, way, seed, asked.evaluations)


def _course(folder: Path, family: str, way: str, seed: int, evaluations: int) -> Course:
    """Of a run in a store of its own, made now if it is not there."""
    store = folder / f"{family}-{way}-{seed}-{evaluations}.db"
    if not _finished(store):
        store.unlink(missing_ok=True)
        search(FAMILIES[family], store, seed=seed, evaluations=evaluations, **WAYS[way])
    return true_course(FAMILIES[family], store)


def _finished(store: Path) -> bool:
    if not store.exists():
        return False
    with Records(store) as records:
        return any(one.state is State.FINISHED for one in records.runs())


def _print(found: Comparison, families: Iterable[str]) -> None:
    for place in found.places:
        print(f"\n{place.name}, {place.budget:g} evaluations\n")
        print(markdown_table(*curve_rows(place, found.ways)))
        print(f"\n{found.ways[0]} against\n")
        print(markdown_table(*place_gap_rows(place, found.ways)))
    if len(found.places) > 1:
        print(f"\nall {len(found.places)} together\n")
        print(markdown_table(*gap_rows(found.gaps)))
    print("", *found.remarks, sep="\n")
    for name in families:
        about = Table.read(FAMILIES[name]).about
        print(f"{name}: judged {about['day']}, {about['cpu']}, {about['cores']} cores, judge {about['judge']}")


if __name__ == "__main__":
    main()
