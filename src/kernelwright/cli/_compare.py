"""`kernelwright compare`: which way to search is worth how much, at equal budget."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.cli._failure import UsageError
from kernelwright.cli._search import WHERE, as_place, sentences, usual_store
from kernelwright.report import (
    BUDGETS,
    COMPARABLE,
    COUNTED,
    EVALUATIONS,
    MANY,
    Comparison,
    Course,
    CourseError,
    compare,
    comparison_json,
    course,
    curve_rows,
    gap_rows,
    place_gap_rows,
)
from kernelwright.store import Place, Records, Run, StoreError

HELP = "Compare searches at equal budget: curves, areas, and how sure the difference is."
# More tasks than this are not shown one by one.
MOST_SHOWN = 6

StoresOption = Annotated[
    list[Place] | None,
    typer.Option("--store", metavar="PLACE", parser=as_place, help=f"Where runs are kept: {WHERE}; may be repeated."),
]


def run(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Names of runs, or how they begin; `all`.")],
    stores: StoresOption = None,
    by: Annotated[str, typer.Option(help=f"What is compared, comma-separated: {', '.join(COMPARABLE)}.")] = (
        "method,seeding,without"
    ),
    budget: Annotated[str, typer.Option(help=f"Equal in what: {', '.join(BUDGETS)}.")] = EVALUATIONS,
    as_json: Annotated[bool, typer.Option("--json", help="Print every curve and number as JSON.")] = False,
) -> None:
    compared = _names(by)
    if budget not in BUDGETS:
        raise UsageError(f"there is no budget {budget!r}", f"give one of {', '.join(BUDGETS)}")
    with sentences():
        courses = _courses(runs, stores or [usual_store()], budget)
    if not courses:
        raise UsageError("these stores hold no run", "begin one with `kernelwright optimize`")
    found = compare(courses, compared, whole=budget in COUNTED)
    if as_json:
        typer.echo(comparison_json(found, budget))
    else:
        _print(Console(highlight=False), found, budget)


def _names(by: str) -> tuple[str, ...]:
    names = tuple(filter(None, (name.strip() for name in by.split(","))))
    unknown = [name for name in names if name not in COMPARABLE]
    if unknown or not names:
        raise UsageError(f"runs cannot be compared by {by!r}", f"give one or more of {', '.join(COMPARABLE)}")
    return names


def _courses(names: list[str], stores: list[Place], budget: str) -> list[Course]:
    with ExitStack() as open_stores:
        records = [open_stores.enter_context(Records(store)) for store in stores]
        try:
            return [course(place, one, budget) for place, one in _chosen(names, records)]
        except CourseError as error:
            raise UsageError(str(error), error.fix) from error


def _chosen(names: list[str], stores: list[Records]) -> list[tuple[Records, Run]]:
    """The runs of these names, each once; `all` stands for every run of every store."""
    if names == ["all"]:
        return [(records, one) for records in stores for one in records.runs()]
    found = {(place.place, one.id): (place, one) for place, one in (_find(name, stores) for name in names)}
    return list(found.values())


def _find(name: str, stores: list[Records]) -> tuple[Records, Run]:
    """In the first store that has it; the last one's refusal where none has."""
    for records in stores[:-1]:
        try:
            return records, records.run(name)
        except StoreError:
            continue
    return stores[-1], stores[-1].run(name)


# In words


def _print(console: Console, found: Comparison, budget: str) -> None:
    shown = found.places if len(found.places) <= MOST_SHOWN else ()
    for place in shown:
        alike = ", ".join(value for name, value in place.facts if name != "task" and value)
        console.print(
            f"[bold]{escape(place.name)}[/], up to {place.budget:g} {budget} ({escape(alike)})", soft_wrap=True
        )
        _table(console, *curve_rows(place, found.ways))
        if len(found.ways) > 1:
            _against(console, found, *place_gap_rows(place, found.ways))
    if len(found.places) > 1 and found.gaps:
        console.print(f"[bold]all {len(found.places)} together[/], {_spoken_of(found)}", soft_wrap=True)
        _against(console, found, *gap_rows(found.gaps))
    for remark in found.remarks:
        console.print(f"  {escape(remark)}", soft_wrap=True)


def _spoken_of(found: Comparison) -> str:
    if any(one.area.sampled for one in found.gaps):
        return "95 % intervals over tasks and seeds"
    return f"95 % intervals over seeds: fewer than {MANY} tasks say nothing about others"


def _against(console: Console, found: Comparison, heading: list[str], rows: list[list[str]]) -> None:
    if rows:
        first, *rest = heading
        _table(console, [f"{found.ways[0]} {first}", *rest], rows)


def _table(console: Console, heading: list[str], rows: list[list[str]]) -> None:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for title in heading:
        table.add_column(escape(title), overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
