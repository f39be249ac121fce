"""How near the best a race comes in a twentieth of the time of trying everything, on recorded sweeps.

    make bench-tuner

Every configuration of three kernels was compiled, started and timed once (`benchmarks/record_sweep.py`, on the machine
that the record names). A race is run on those records, with nothing compiled and no device: what it asks for is
answered with what was measured then, and costs what it cost then. It may spend 5 % of what the sweep took. How fast its
winner is, the whole record of that configuration says, of which the race has seen a part.

Exit 1 where a winner is more than 3 % behind the best, or a race spends more than it may.
"""

import argparse
import gzip
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kernelwright.judge import source_hash
from kernelwright.tasks import load_task
from kernelwright.tuning import (
    Configuration,
    Race,
    Record,
    Recorded,
    Rules,
    Space,
    read_template,
    recorded_setting,
)

SWEEPS = Path(__file__).parent / "sweeps"
SEEDS, SHARE, BEHIND = 20, 0.05, 0.03
WEIGHTS = {"given": 1.0}


@dataclass(frozen=True)
class Raced:
    """A race on a record: who won, how far behind the best of the sweep, in what share of its time."""

    winner: Configuration
    behind: float
    share: float
    tried: int


class Sweep:
    """A record of every configuration of one space."""

    def __init__(self, name: str, log: Path) -> None:
        folder = SWEEPS / name
        self.name, self._log = name, log
        log.write_bytes(gzip.decompress((folder / "sweep.jsonl.gz").read_bytes()))
        source = (folder / "candidate.py").read_text()
        setting = recorded_setting(log, load_task(folder).hash, source_hash(source))
        if setting is None:
            raise SystemExit(f"{folder} was changed since it was swept: python -m benchmarks.record_sweep {name}")
        self.setting = setting
        self.space = Space(read_template(source), setting["limits"])

    def _record(self) -> Record:
        return Record(self._log, self.setting)

    @cached_property
    def times(self) -> dict[Configuration, float]:
        """How long each takes, over what the pacemaker takes in the same rounds."""
        tracks = self._record().tracks
        return {one: min(_short(lap.times) / _short(lap.pace) for lap in track.laps) for one, track in tracks.items()}

    @cached_property
    def seconds(self) -> float:
        """What it took to try everything."""
        return sum(lap.cost for track in self._record().tracks.values() for lap in track.laps)

    @cached_property
    def best(self) -> Configuration:
        return min(self.times, key=lambda one: self.times[one])

    def race(self, seed: int, share: float) -> Raced:
        racer = Recorded(self._record(), WEIGHTS)
        outcome = Race(self.space, racer, Rules(seconds=share * self.seconds, seed=seed)).run()
        winner = outcome.finalists[0]
        behind = self.times[winner] / self.times[self.best] - 1
        return Raced(winner, behind, outcome.spent / self.seconds, len(outcome.forms))


def _short(times: Mapping[str, Sequence[float]]) -> float:
    """The lower quartile of the rounds: disturbances make them longer, and now and then a clock leaves a bit out."""
    [case] = WEIGHTS
    return sorted(times[case])[len(times[case]) // 4]


def _table(sweeps: Sequence[Sweep], seeds: int, share: float) -> bool:
    """Whether every winner is near enough and every race short enough."""
    print("                               sweep           share of  behind the best")
    print("space          configurations seconds   tried  its time   median    worst")
    good = True
    for sweep in sweeps:
        races = [sweep.race(seed, share) for seed in range(seeds)]
        behind, spent = [race.behind for race in races], max(race.share for race in races)
        tried = statistics.median(race.tried for race in races)
        print(
            f"{sweep.name:14} {len(sweep.space):14} {sweep.seconds:7.0f} {tried:7.0f}"
            f" {spent:9.2%} {statistics.median(behind):8.2%} {max(behind):8.2%}"
        )
        good &= max(behind) <= BEHIND and spent <= share
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many races on each sweep")
    parser.add_argument("--share", type=float, default=SHARE, help="of the sweep's time that a race may spend")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = sorted(one.name for one in SWEEPS.iterdir() if (one / "sweep.jsonl.gz").exists())
        good = _table([Sweep(name, Path(folder) / f"{name}.jsonl") for name in names], arguments.seeds, arguments.share)
    sys.exit(not good)


if __name__ == "__main__":
    main()
