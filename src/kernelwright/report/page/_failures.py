"""What was tried and what became of it: statuses with an example each, directions, repairs, other troubles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from kernelwright.report.page._attempt import Attempt
from kernelwright.report.page._html import Html, join, note, section, shortened, table, tag
from kernelwright.report.page._story import Story
from kernelwright.report.page._words import counted, share, times

LONGEST = 300
MOST_REASONS = 8
# Events that tell of something that went wrong, and how the page calls them.
TROUBLES = {
    "unusable": "answer without a kernel",
    "unanswered": "request without an answer",
    "unseeded": "seed that could not be written",
    "fault": "fault of the judge's machine, tried again",
}


def tried(story: Story) -> Html:
    attempts = list(story.attempts.values())
    left = note(f"{counted(story.waiting, 'candidate')} had not been judged when this was written.")
    return section(
        "tried",
        "What was tried, and what became of it",
        _statuses(attempts),
        left if story.waiting else Html(),
        _directions(story, attempts),
        _repairs(story, attempts),
        _troubles(story),
    )


def _statuses(attempts: Sequence[Attempt]) -> Html:
    if not attempts:
        return note("Nothing was judged.")
    first: dict[str, Attempt] = {}
    for attempt in attempts:
        first.setdefault(attempt.ruling.status, attempt)
    counts = Counter(attempt.ruling.status for attempt in attempts)
    rows = [
        (status, f"{number:,}", share(number, len(attempts)), _example(first[status]))
        for status, number in counts.most_common()
    ]
    return join([tag("h3", "Verdicts"), table(("status", "candidates", "share", "for example"), rows, right=(1, 2))])


def _example(attempt: Attempt) -> str:
    return f"#{attempt.number}: {shortened(attempt.ruling.message, LONGEST)}"


def _directions(story: Story, attempts: Iterable[Attempt]) -> Html:
    groups: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        groups[attempt.asked].append(attempt)
    rows = [_direction(story, asked, mine) for asked, mine in sorted(groups.items(), key=lambda one: -len(one[1]))]
    if not rows:
        return Html()
    headings = ("asked for", "candidates", "accepted", "faster than the parent", "median over parent")
    return join([tag("h3", "Requests"), table(headings, rows, right=(1, 2, 3, 4))])


def _direction(story: Story, asked: str, mine: Sequence[Attempt]) -> tuple[str, ...]:
    gains = [gain for gain in (_gain(story, attempt) for attempt in mine) if gain is not None]
    accepted = sum(attempt.ruling.accepted for attempt in mine)
    faster = str(sum(gain > 1 for gain in gains)) if gains else ""
    return asked, str(len(mine)), str(accepted), faster, times(median(gains)) if gains else ""


def _gain(story: Story, attempt: Attempt) -> float | None:
    """As first measured, both; None where one of the two has no speed."""
    parent = story.attempts.get(attempt.parent or "")
    return attempt.speed.ratio / parent.speed.ratio if attempt.speed and parent and parent.speed else None


def _repairs(story: Story, attempts: Iterable[Attempt]) -> Html:
    groups: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        if attempt.kind == "repair":
            broken = story.attempts.get(attempt.parent or "")
            groups[broken.ruling.status if broken else "unknown"].append(attempt)
    if not groups:
        return Html()
    rows = [(status, str(len(mine)), _mended(mine), _left(mine)) for status, mine in sorted(groups.items())]
    headings = ("what was broken", "repairs", "made right", "still broken as")
    return join([tag("h3", "Repairs"), table(headings, rows, right=(1, 2))])


def _mended(repairs: Iterable[Attempt]) -> str:
    return str(sum(attempt.ruling.accepted for attempt in repairs))


def _left(repairs: Iterable[Attempt]) -> str:
    counts = Counter(attempt.ruling.status for attempt in repairs if not attempt.ruling.accepted)
    return ", ".join(f"{number} {status}" for status, number in counts.most_common())


def _troubles(story: Story) -> Html:
    counts = Counter(
        (TROUBLES[event.kind], shortened(str(event.data.get("why", "")), LONGEST))
        for event in story.notes
        if event.kind in TROUBLES
    )
    if not counts:
        return Html()
    rows = [(kind, f"{number:,}", why) for (kind, why), number in counts.most_common(MOST_REASONS)]
    more = len(counts) - len(rows)
    rest = note(f"And {counted(more, 'other reason')}, each as rare or rarer.") if more > 0 else Html()
    return join([tag("h3", "Other troubles"), table(("what", "times", "reason"), rows, right=(1,)), rest])
