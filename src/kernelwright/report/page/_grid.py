"""The archive as a picture: four panels by coordination, each four by four, colour and number for the speedup."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelwright.archive import CELLS, LEVELS, Archive, Cell, Entry
from kernelwright.report.page._attempt import Attempt
from kernelwright.report.page._html import Html, join, note, section, tag
from kernelwright.report.page._story import Story
from kernelwright.report.page._words import Speed, times

# What the levels of each axis mean, in a word or two; docs/descriptors.md says it in full.
MEMORY = ("plain", "shaped", "staged", "staged twice")
ALGORITHM = ("one pattern", "fused", "reformulated", "other machinery")
COORDINATION = ("alone", "meeting", "exchanging", "across groups")
SHADES = 5
HALF = math.log(2)


def in_words(cell: Cell) -> str:
    return f"{MEMORY[cell[0]]}, {ALGORITHM[cell[1]]}, {COORDINATION[cell[2]]}"


@dataclass(frozen=True)
class Shades:
    """Colours for speedups: two below eager, five above, in equal steps of the log up to the best."""

    top: float

    def of(self, log_speedup: float) -> str:
        if log_speedup < 0:
            return "s0" if log_speedup < -HALF else "s1"
        return f"f{min(SHADES - 1, int(log_speedup / self.top * SHADES))}"

    def legend(self) -> list[tuple[str, str]]:
        edges = [times(math.exp(self.top * step / SHADES)) for step in range(SHADES + 1)]
        faster = [(f"f{step}", f"{edges[step]} to {edges[step + 1]}") for step in range(SHADES)]
        return [("s0", "below 0.50x"), ("s1", "0.50x to 1.00x"), *faster]


def grid(story: Story) -> Html:
    archive = story.archive
    said = f"{len(archive.elites)} of {len(CELLS)} kinds of kernel found, QD score {archive.qd_score:.2f}."
    if not archive.elites:
        return section("archive", "Archive", note(said))
    best = archive.best
    shades = Shades(max(best.log_speedup if best else 0.0, math.log(1.05)))
    panels = [_panel(story, level, shades) for level in range(LEVELS)]
    legend = [tag("span", words, class_=f"shade {name}") for name, words in shades.legend()]
    how = (
        f"The best kernel of every kind and its speedup over {story.baseline}; down: memory, across: algorithm, one "
        "panel for each level of coordination. Outlined: the best of all."
    )
    return section(
        "archive",
        "Archive",
        note(said, " ", how),
        tag("div", *panels, class_="panels"),
        tag("p", *legend, class_="legend"),
    )


def _panel(story: Story, level: int, shades: Shades) -> Html:
    filled = sum(cell[2] == level for cell in story.archive.elites)
    caption = tag("caption", f"{COORDINATION[level]} ", tag("small", f"coordination {level}, {filled} of {LEVELS**2}"))
    heading = tag("tr", tag("td"), *(tag("th", name, scope="col") for name in ALGORITHM))
    rows = [_row(story, memory, level, shades) for memory in range(LEVELS)]
    return tag("table", caption, tag("thead", heading), tag("tbody", *rows), class_="cells")


def _row(story: Story, memory: int, level: int, shades: Shades) -> Html:
    cells = [_cell(story, (memory, algorithm, level), shades) for algorithm in range(LEVELS)]
    return tag("tr", tag("th", MEMORY[memory], scope="row"), *cells)


def _cell(story: Story, cell: Cell, shades: Shades) -> Html:
    elite = story.archive.elites.get(cell)
    if elite is None:
        return tag("td", "·", title=f"{in_words(cell)}: no kernel", class_="none")
    best = " top" if _is_best(story.archive, elite) else ""
    attempt = story.attempts.get(elite.candidate)
    number = tag("small", f"#{attempt.number}") if attempt else Html()
    return tag(
        "td",
        join([tag("b", Speed.of(elite).times), number], " "),
        title=_title(elite, attempt),
        class_=shades.of(elite.log_speedup) + best,
    )


def _is_best(archive: Archive, elite: Entry) -> bool:
    return archive.best is not None and elite.cell == archive.best.cell


def _title(elite: Entry, attempt: Attempt | None) -> str:
    found = f", found at evaluation {attempt.number}" if attempt else ""
    return f"{in_words(elite.cell)}: {Speed.of(elite)}{found}"
