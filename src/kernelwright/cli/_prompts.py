"""`kernelwright prompts list|show|diff`: the advice that evolves, who descends from whom, and what each is worth."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.cli._failure import UsageError
from kernelwright.cli._search import LETTERS, STORE, StoreOption, sentences
from kernelwright.engine import check_name, family
from kernelwright.prompts import REGIONS, Family, Genome, Worth, backends
from kernelwright.store import Place, Records

HELP = "The advice that evolves with the kernels."
LIST_HELP = "List all advice, as family trees, and what each has gained."
SHOW_HELP = "Print a piece of advice."
DIFF_HELP = "Show what changed from a piece of advice to another: from its parent, or from the second one named."

HashArgument = Annotated[str, typer.Argument(metavar="HASH", help="How its hash begins; `prompts list` shows them.")]
OtherArgument = Annotated[str | None, typer.Argument(metavar="[HASH]", help="What to compare with, if not its parent.")]
BackendOption = Annotated[str | None, typer.Option("--backend", help="Of this language only.")]


def list_all(backend: BackendOption = None, store: StoreOption = STORE) -> None:
    with sentences():
        found = _families(store, backend)
    console = Console(highlight=False)
    shown = [one for one in found if backend or _is_in_use(one)]
    if not shown:
        console.print(f"no advice was used yet in {escape(str(store))}; runs begin with the seeds, and rewrite them")
    for one in shown:
        console.print(_table(one))


def show(name: HashArgument, store: StoreOption = STORE) -> None:
    with sentences():
        home, genome = _find(_families(store), name)
    worth = _worth(home.worth(genome.hash))
    about = f"# {genome.hash[:LETTERS]}, for {genome.backend}, {_descent(genome)}: {worth}"
    Console(stderr=True, highlight=False).print(escape(about), soft_wrap=True)
    typer.echo("\n\n".join(f"## {region}\n\n{genome.regions[region]}" for region in REGIONS))


def diff(name: HashArgument, other: OtherArgument = None, store: StoreOption = STORE) -> None:
    with sentences():
        found = _families(store)
        home, genome = _find(found, name)
        before = _find(found, other)[1] if other else _parent(home, genome)
    for line in _changes(before, genome):
        typer.echo(line)


# *** families ***


def _families(store: Place, backend: str | None = None) -> list[Family]:
    """Those of a store, by language; each has at least the seed."""
    if backend is not None:
        check_name("backend", backend, backends())
    with Records(store) as records:
        return [family(records, name) for name in ([backend] if backend else backends())]


def _is_in_use(one: Family) -> bool:
    return len(one) > 1 or any(one.worth(genome.hash).trials for genome in one)


def _find(found: list[Family], name: str) -> tuple[Family, Genome]:
    hits = [(one, genome) for one in found for genome in one if genome.hash.startswith(name.lower())]
    if len(hits) == 1:
        return hits[0]
    what = f"several pieces of advice begin with {name!r}" if hits else f"there is no advice {name!r}"
    names = [f"{genome.hash[:LETTERS]} ({genome.backend})" for _, genome in hits]
    raise UsageError(what, f"they are {', '.join(names)}" if hits else "`kernelwright prompts list` shows them")


def _parent(home: Family, genome: Genome) -> Genome:
    parents = [one for one in home if one.hash == genome.parent]
    if parents:
        return parents[0]
    why = "its parent is not here: another version's seed" if genome.parent else "it is a seed and has no parent"
    fix = f"name another: kernelwright prompts diff {genome.hash[:LETTERS]} HASH"
    raise UsageError(f"{genome.hash[:LETTERS]} cannot be compared: {why}", fix)


# *** words ***


def _table(one: Family) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    backend = next(iter(one)).backend
    for heading in (f"advice for {backend}", "kernels", "rejected", "gain over the parent, 95 %"):
        table.add_column(heading, no_wrap=True)
    for depth, genome in _tree(one):
        worth = one.worth(genome.hash)
        name = "  " * depth + genome.hash[:LETTERS] + (" (seed)" if genome.parent is None else "")
        table.add_row(name, str(worth.trials), str(worth.rejected), _worth(worth))
    return table


def _tree(one: Family) -> Iterator[tuple[int, Genome]]:
    """Everyone behind his parent, how deep; who has none here comes at the left."""
    here = {genome.hash for genome in one}
    left = [(0, genome) for genome in one if genome.parent not in here][::-1]
    while left:
        depth, genome = left.pop()
        yield depth, genome
        left += [(depth + 1, child) for child in one.children(genome.hash)][::-1]


def _worth(worth: Worth) -> str:
    if not worth.trials:
        return "not used yet"
    mean, low, high = (math.exp(value) for value in (worth.mean, worth.low, worth.high))
    return f"{mean:.2f}x [{low:.2f}, {high:.2f}]"


def _descent(genome: Genome) -> str:
    return f"from {genome.parent[:LETTERS]}" if genome.parent else "a seed"


def _changes(before: Genome, after: Genome) -> Iterator[str]:
    """Region by region, as `diff -u` writes it."""
    for region in REGIONS:
        old, new = (genome.regions[region].splitlines() for genome in (before, after))
        was, now = (f"{genome.hash[:LETTERS]}/{region}" for genome in (before, after))
        yield from difflib.unified_diff(old, new, was, now, lineterm="")
