"""Which advice is worth what: gains of children over parents, and the choice among genomes by them.

A genome's worth is the mean gain of the kernels written with it over their parents, with its uncertainty: a maximum
would credit the advice for one lucky draw or one good parent. The choice is Thompson sampling: each genome draws a mean
from what is believed of its own, and the highest draw is taken. So what was little tried is tried, in proportion to how
good it may be.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log, sqrt
from random import Random

from kernelwright.prompts._error import PromptError
from kernelwright.prompts._genome import Genome

# A rejected child counts as one half as fast, and nothing counts as less: a kernel that is right is never worth less
# than one that is not.
FLOOR = -log(2)
# How much the family's own mean weighs, in trials, for a genome that has none, and how far apart trials are expected.
PRIOR_TRIALS = 2.0
PRIOR_SPREAD = 0.3


@dataclass(frozen=True)
class Worth:
    """Mean gain, a natural logarithm, and the range in which it lies with about 95 %; `rejected` of `trials` were."""

    trials: int
    rejected: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class _Belief:
    """Normal-gamma: what is believed of a mean whose spread is unknown too."""

    mean: float
    trials: float
    shape: float
    scale: float

    def spread(self) -> float:
        return sqrt(self.scale / (self.shape * self.trials))

    def draw(self, random: Random) -> float:
        precision = random.gammavariate(self.shape, 1 / self.scale)
        return random.gauss(self.mean, 1 / sqrt(self.trials * precision))


def _believe(gains: list[float], prior_mean: float) -> _Belief:
    count = len(gains)
    mean = sum(gains) / count if count else 0.0
    scatter = sum((gain - mean) ** 2 for gain in gains)
    trials = PRIOR_TRIALS + count
    shape = (PRIOR_TRIALS + count) / 2
    moved = PRIOR_TRIALS * count * (mean - prior_mean) ** 2 / trials
    scale = (PRIOR_TRIALS * PRIOR_SPREAD**2 + scatter + moved) / 2
    return _Belief((PRIOR_TRIALS * prior_mean + count * mean) / trials, trials, shape, scale)


class Family:
    """The genomes of one backend, who descends from whom, and what each has gained. Not for several threads at once."""

    def __init__(self, genomes: Iterable[Genome], gains: Mapping[str, Iterable[float | None]] | None = None) -> None:
        """`gains`: by hash, natural logarithms of child over parent; None: the child was rejected."""
        self._genomes: dict[str, Genome] = {}
        self._gains: dict[str, list[float | None]] = {}
        for genome in genomes:
            self.add(genome)
        for name, found in (gains or {}).items():
            for gain in found:
                self.learn(name, gain)

    def add(self, genome: Genome) -> bool:
        """Takes a genome in; False if the same advice is there already."""
        backend = next(iter(self._genomes.values()), genome).backend
        if genome.backend != backend:
            raise PromptError(f"a genome for {genome.backend} does not belong to a family for {backend}.")
        new = genome.hash not in self._genomes
        self._genomes.setdefault(genome.hash, genome)
        self._gains.setdefault(genome.hash, [])
        return new

    def learn(self, name: str, gain: float | None) -> None:
        """One kernel more was written with this genome, from an accepted parent. None: it was rejected."""
        self[name]
        self._gains[name].append(gain)

    def __getitem__(self, name: str) -> Genome:
        try:
            return self._genomes[name]
        except KeyError:
            raise PromptError(f"no genome {name[:12]!r} in this family of {len(self._genomes)}.") from None

    def __iter__(self) -> Iterator[Genome]:
        return iter(self._genomes.values())

    def __len__(self) -> int:
        return len(self._genomes)

    def choose(self, random: Random) -> Genome:
        """The genome to write the next kernel with, or to be rewritten next."""
        if not self._genomes:
            raise PromptError("the family has no genome to choose.", "Add the backend's seed.")
        mean = self._mean()  # once: families of hundreds have thousands of gains
        beliefs = {name: _believe(counted(gains), mean) for name, gains in self._gains.items()}
        return self._genomes[max(beliefs, key=lambda name: beliefs[name].draw(random))]

    def worth(self, name: str) -> Worth:
        self[name]
        belief, gains = self._belief(name), self._gains[name]
        margin = 2 * belief.spread()
        mean = belief.mean
        return Worth(len(gains), gains.count(None), mean, mean - margin, mean + margin)

    def children(self, name: str) -> list[Genome]:
        return [genome for genome in self._genomes.values() if genome.parent == name]

    def lineage(self, name: str) -> list[Genome]:
        """From the seed, or the oldest ancestor that is known, to this genome."""
        line = [self[name]]
        while (parent := self._genomes.get(line[0].parent or "")) and parent not in line:
            line.insert(0, parent)
        return line

    def _belief(self, name: str) -> _Belief:
        return _believe(counted(self._gains[name]), self._mean())

    def _mean(self) -> float:
        """Of all trials of the family: what is expected of a genome that nobody has tried."""
        every = [gain for gains in self._gains.values() for gain in counted(gains)]
        return sum(every) / len(every) if every else 0.0


def counted(gains: Iterable[float | None]) -> list[float]:
    """Gains as they count towards a mean."""
    return [FLOOR if gain is None else max(FLOOR, gain) for gain in gains]
