"""Two texts beside each other, line by line, without the long stretches that are the same."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from kernelwright.report.page._attempt import Attempt
from kernelwright.report.page._html import Html, code, folded, join, note, section, tag
from kernelwright.report.page._story import Story, Text
from kernelwright.report.page._words import counted, kernel

CONTEXT = 3
# Longer texts are not laid side by side: comparing takes the square of their length.
MOST_LINES, MOST_LETTERS = 2000, 200_000

Side = tuple[int, str] | None


def winner(story: Story) -> Html:
    if story.winner is None:
        return section("winner", "The winner", note("No kernel was accepted and timed."))
    said = join(
        [code(kernel(story.winner.candidate)), ", as ", code(f"kernelwright best {story.run.id}"), " prints it."]
    )
    whole = folded(f"The whole text: {counted(len(story.winner.source.splitlines()), 'line')}", _whole(story.winner))
    return section("winner", "The winner beside its parent", _beside(story), note(said), whole)


def _whole(kept: Text) -> Html:
    if len(kept.source) > MOST_LETTERS:
        return note(f"{len(kept.source):,} letters are too many for a page.")
    return tag("pre", code(kept.source))


def _beside(story: Story) -> Html:
    assert story.winner is not None
    if story.before is None:
        return note("It was a first draft and has no parent.")
    parent = story.attempts.get(story.before.candidate)
    if not (_short(story.before.source) and _short(story.winner.source)):
        return note("The texts are too long to be laid side by side.")
    return join([note(_about(story.before, parent)), side_by_side(story.before.source, story.winner.source)])


def _about(before: Text, parent: Attempt | None) -> str:
    found = f", {parent.ruling.status}{f' {parent.speed}' if parent.speed else ''}" if parent else ""
    return f"Left: its parent {kernel(before.candidate)}{found}. Right: the winner."


def _short(source: str) -> bool:
    return len(source) <= MOST_LETTERS and source.count("\n") <= MOST_LINES


def side_by_side(left: str, right: str) -> Html:
    """Changed lines stand beside each other; - and + mark them, for those who see no colours."""
    rows = [_row(*pair) for pair in _pairs(left.split("\n"), right.split("\n"))]
    if not rows:
        return note("The texts are the same.")
    heading = tag("tr", *(tag("th", name, scope="col", colspan=2) for name in ("parent", "winner")))
    columns = tag("colgroup", *(tag("col", class_=name) for name in ("number", None, "number", None)))
    lines = tag("table", columns, tag("thead", heading), tag("tbody", *rows), class_="diff")
    return tag("div", lines, class_="wide")


def _pairs(left: list[str], right: list[str]) -> Iterator[tuple[Side, Side]]:
    """Lines of both sides; two Nones where equal lines were left out."""
    for number, group in enumerate(SequenceMatcher(None, left, right).get_grouped_opcodes(CONTEXT)):
        if number:
            yield None, None
        for _, start, end, from_, to in group:
            for step in range(max(end - start, to - from_)):
                old = (start + step, left[start + step]) if start + step < end else None
                new = (from_ + step, right[from_ + step]) if from_ + step < to else None
                yield old, new


def _row(old: Side, new: Side) -> Html:
    if old is None and new is None:
        return tag("tr", tag("td", "⋯", colspan=4), class_="gap")
    same = old is not None and new is not None and old[1] == new[1]
    return tag("tr", *_side(old, "" if same else "-", "del"), *_side(new, "" if same else "+", "ins"))


def _side(line: Side, mark: str, name: str) -> tuple[Html, Html]:
    if line is None:
        return tag("td"), tag("td", class_="none")
    number, words = line
    return tag("td", number + 1, mark), tag("td", words, class_=name if mark else None)
