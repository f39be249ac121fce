"""The choices that make one kernel of many for the same program, and how they vary. Each language has its own."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, TypeVar

# The first is what a draft begins with.
CHOICES: Mapping[str, Sequence[Any]] = {
    "width": (16, 8, 4, 32),
    "unroll": (4, 2, 1, 8),
    "fuse": ("all", "reductions", "none"),
    "beforehand": (True, False),
    "keep": ("costly", "all", "none"),
    "online": (False, True),
    "functions": ("exact", "fast"),
    "block": (4096, 1024, 16384, 65536),
    "parts": (16, 64, 4, 1),
    "stores": ("auto", "streamed", "cached"),
    "schedule": ("static", "dynamic", "guided"),
    "threads": (0, 1, 2, 4),
    "tile_rows": (8, 6, 4, 12),
    "tile_columns": (2, 3, 1, 4),
    "rows_at_once": (64, 32, 128, 256),
    "packing": ("auto", "always", "never"),
    "skip": (True, False),
}
CHANGES = (1, 1, 2, 3)


@dataclass(frozen=True, kw_only=True)
class Genes:
    """One way to write a program in some language.

    Attributes:
        mark: What the line begins with that holds the genome.
        choices: Values of each gene, the usual one first.
    """

    mark: ClassVar[str]
    choices: ClassVar[Mapping[str, Sequence[Any]]]

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in asdict(self).items())

    @property
    def header(self) -> str:
        """The line by which the genome is found again in a kernel's text."""
        return f"{self.mark} {self}"


@dataclass(frozen=True, kw_only=True)
class LaneGenes(Genes):
    """What C++ and SYCL have in common: loops whose values are vectors of lanes.

    Attributes:
        width: Lanes of a vector.
        unroll: Vectors worked on side by side, each with accumulators of its own.
        fuse: What shares a kernel: whatever can, reductions alone, or nothing.
        beforehand: Whether what is dear and the same for many points is found by a kernel of its own.
        keep: What a later pass over a row finds in a small buffer rather than computes again: costly values, all, none.
        online: Whether a maximum and the sum of exponentials below it are found in one pass rather than two.
        functions: `exact` to a few units in the last place, or `fast`: shorter series.
        block: Elements of a task where there are no rows.
        parts: Pieces that a reduction to few numbers is cut into, for threads to share.
    """

    width: int = 16
    unroll: int = 4
    fuse: str = "all"
    beforehand: bool = True
    keep: str = "costly"
    online: bool = False
    functions: str = "exact"
    block: int = 4096
    parts: int = 16


@dataclass(frozen=True, kw_only=True)
class Genome(LaneGenes):
    """One way to write a program in C++.

    Attributes:
        stores: Whether results of loops go past the caches, which spares reading what they overwrite, or into them.
        schedule: How rows and blocks are dealt out to threads.
        threads: How many; 0 for as many as there are.
        tile_rows, tile_columns: Rows, and vectors in each, of a product that are summed in registers.
        rows_at_once: Rows of a product that a thread takes at least.
        packing: Whether columns of a right matrix are put one behind the other before they are multiplied.
        skip: Whether attention leaves out the scores that its mask leaves nothing of.
    """

    mark: ClassVar[str] = "# kernelwright builtin:"
    choices: ClassVar[Mapping[str, Sequence[Any]]] = CHOICES

    stores: str = "auto"
    schedule: str = "static"
    threads: int = 0
    tile_rows: int = 8
    tile_columns: int = 2
    rows_at_once: int = 64
    packing: str = "auto"
    skip: bool = True


G = TypeVar("G", bound=Genes)


def read(source: str, language: type[G]) -> G | None:
    """The genome that a kernel was written by; None where it was written by somebody else."""
    return next(iter(read_all(source, language)), None)


def read_all(text: str, language: type[G]) -> list[G]:
    """The genomes of all kernels in a text, such as a request that shows several."""
    lines = re.findall(rf"^{re.escape(language.mark)}(.*)$", text, re.MULTILINE)
    return [genome for line in lines if (genome := _read(line, language))]


def _read(line: str, language: type[G]) -> G | None:
    pairs = [(name, text) for name, _, text in (pair.partition("=") for pair in line.split())]
    chosen = {name: _choice(language.choices.get(name, ()), text) for name, text in pairs}
    if set(chosen) != set(language.choices) or None in chosen.values():
        return None
    return language(**chosen)


def _choice(values: Sequence[Any], text: str) -> Any:
    return next((value for value in values if str(value) == text), None)


def drawn(chance: random.Random, language: type[G]) -> G:
    """Any genome at all."""
    return language(**{name: chance.choice(values) for name, values in language.choices.items()})


def mutated(genome: G, chance: random.Random) -> G:
    """The genome with one to three genes changed to other values."""
    changed = chance.sample(sorted(genome.choices), chance.choice(CHANGES))
    return replace(genome, **{name: _other(genome, name, chance) for name in changed})


def _other(genome: Genes, name: str, chance: random.Random) -> Any:
    return chance.choice([other for other in genome.choices[name] if other != getattr(genome, name)])


def crossed(one: G, other: G, chance: random.Random) -> G:
    """Each gene from either."""
    return replace(one, **{name: getattr(chance.choice((one, other)), name) for name in one.choices})
