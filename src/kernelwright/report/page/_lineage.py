"""Who descends from whom: the winner's line in steps, all candidates as a tree, and in words."""

from __future__ import annotations

from kernelwright.report.page._attempt import Attempt
from kernelwright.report.page._grid import in_words
from kernelwright.report.page._html import Html, code, folded, join, note, section, table, tag
from kernelwright.report.page._story import Story
from kernelwright.report.page._tree import Family, Tree
from kernelwright.report.page._words import counted, kernel, times

MOST_OPEN = 20
# Indentation stops here; the generation is written beside it.
DEEPEST = 24


def lineage(story: Story) -> Html:
    if not story.attempts:
        return section("lineage", "Lineage", note("Nothing was judged."))
    family, number = Family(story.attempts.values()), len(story.attempts)
    everyone = folded(
        f"Every candidate: {counted(number, 'line')}, each below its parent",
        _everyone(story, family),
        open_=number <= MOST_OPEN,
    )
    return section("lineage", "Lineage", _winner(story), Tree(story, family).figure(), everyone)


# The winner's line


def _winner(story: Story) -> Html:
    best = story.archive.best
    if best is None:
        return note("No kernel was accepted and timed; nobody won.")
    line = story.lineage(best.candidate)
    said = f"How the best kernel came about: {counted(len(line), 'step')}. Speeds as first measured."
    rows = [_step(before, attempt) for before, attempt in zip([None, *line], line, strict=False)]
    headings = ("", "kernel", "asked for", "came of it", f"over {story.baseline}", "over parent")
    return join([note(said), table(headings, rows, right=(0, 4, 5))])


def _step(before: Attempt | None, attempt: Attempt) -> tuple[object, ...]:
    came = in_words(attempt.cell) if attempt.cell else attempt.ruling.status
    gain = times(attempt.speed.ratio / before.speed.ratio) if before and before.speed and attempt.speed else ""
    speed = str(attempt.speed) if attempt.speed else ""
    return (f"#{attempt.number}", code(kernel(attempt.candidate)), _asked(attempt), came, speed, gain)


def _asked(attempt: Attempt) -> Html | str:
    """The choice's own sentence, less what it says of the direction: that stands before it."""
    if attempt.came_of is None:
        return attempt.asked
    why = attempt.came_of.why
    return join([attempt.asked, tag("br"), tag("small", why.partition(f"{attempt.asked}: ")[2] or why)])


# All candidates


def _everyone(story: Story, family: Family) -> Html:
    elites = {elite.candidate for elite in story.archive.elites.values()}
    rows = [_member(attempt, family.generations[attempt.candidate], attempt.candidate in elites) for attempt in family]
    return table(("candidate", "kernel", "asked for", "status", f"over {story.baseline}", "cell"), rows, right=(4,))


def _member(attempt: Attempt, generation: int, elite: bool) -> tuple[object, ...]:
    deeper = f" generation {generation}" if generation > DEEPEST else ""
    name = tag("span", f"#{attempt.number}{deeper}", style=f"padding-left:{min(generation, DEEPEST)}ch")
    status = f"{attempt.ruling.status}, elite" if elite else attempt.ruling.status
    speed = attempt.speed.times if attempt.speed else ""
    cell = " ".join(map(str, attempt.cell)) if attempt.cell else ""
    return (name, kernel(attempt.candidate), attempt.asked, status, speed, cell)
