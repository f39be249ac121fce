"""What it cost: tokens, money and judging over time, by model and by kind of request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from kernelwright.report.page._chart import Scale, drawing, frame, steps
from kernelwright.report.page._html import Html, note, section, table, tag
from kernelwright.report.page._story import Charge, Story
from kernelwright.report.page._words import HOUR, MINUTE, amount, counted, duration, money

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FLOOR = 300.0, 190.0, 58.0, 14.0, 28.0, 146.0
UNITS = ((2 * HOUR, HOUR, "hours"), (2 * MINUTE, MINUTE, "minutes"), (0.0, 1.0, "seconds"))
# What may be limited, by its name in the settings.
LIMITS = {
    "evaluations": "evaluations",
    "tokens": "tokens",
    "dollars": "dollars",
    "wall_seconds": "seconds of work",
    "judge_seconds": "seconds of judging",
}

Series = Sequence[tuple[float, float]]


def costs(story: Story) -> Html:
    spent = story.spent
    waited = sum(charge.seconds for charge in story.charges)
    said = (
        f"{counted(spent.requests, 'request')}, {counted(spent.replies, 'reply', 'replies')}, "
        f"{spent.tokens_in + spent.tokens_out:,} tokens, {money(spent.dollars, spent.unpriced)}; "
        f"{duration(waited)} of waiting for answers, {duration(spent.judge_seconds)} of judging, "
        f"{duration(spent.wall_seconds)} of work in all."
    )
    return section("cost", "Cost", note(said), _charts(story), _by_kind(story.charges), _judging(story), _budget(story))


# Over time


def _charts(story: Story) -> Html:
    until = story.spent.wall_seconds
    if not until or not (story.charges or story.hearings):
        return Html()
    tokens = _summed((charge.at, charge.tokens_in + charge.tokens_out) for charge in story.charges)
    dollars = _summed((charge.at, charge.dollars or 0.0) for charge in story.charges)
    judging = _summed((hearing.at, hearing.seconds) for hearing in story.hearings)
    charts = [
        _chart("tokens", "tokens", tokens, until, _large),
        _chart("dollars", "dollars", dollars, until, lambda value: f"${value:g}"),
        _chart("judge", "seconds of judging", judging, until, _large),
    ]
    return tag(
        "figure",
        tag("div", *charts, class_="panels three"),
        tag("figcaption", "Spent so far over the time of work on the run."),
    )


def _summed(amounts: Iterable[tuple[float, float]]) -> Series:
    """In order of time: replies are kept as they come, and clocks of several threads may cross."""
    ordered = sorted(amounts)
    return [(0.0, 0.0), *zip((at for at, _ in ordered), accumulate(amount for _, amount in ordered), strict=True)]


def _chart(name: str, title: str, series: Series, until: float, written: Callable[[float], str]) -> Html:
    size, unit = next((size, unit) for least, size, unit in UNITS if until >= least)
    x = Scale(0, max(until / size, series[-1][0] / size), LEFT, WIDTH - RIGHT)
    y = Scale(0, series[-1][1] or 1.0, FLOOR, TOP)
    line = tag("path", d=steps([(x(at / size), y(amount)) for at, amount in series], x.end), class_="best")
    axes = frame(x, y, (unit, title), (lambda value: f"{value:g}", written), most=4)
    words = f"{written(series[-1][1])} {title} in {duration(until)}."
    return drawing(f"cost-{name}", f"{title} over time", words, WIDTH, HEIGHT, axes, line)


def _large(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


# By model, kind and stage


def _by_kind(charges: Sequence[Charge]) -> Html:
    if not charges:
        return note("No reply came.")
    groups: dict[tuple[str, str], list[Charge]] = defaultdict(list)
    for charge in charges:
        groups[charge.model, charge.kind].append(charge)
    rows = [[model, kind, *_sums(mine)] for (model, kind), mine in sorted(groups.items())]
    if len(rows) > 1:
        rows.append(["all", "", *_sums(charges)])
    headings = ("model", "kind of request", "replies", "tokens in", "tokens out", "cost", "waited")
    return table(headings, rows, right=(2, 3, 4, 5, 6))


def _sums(charges: Sequence[Charge]) -> list[str]:
    priced = [charge.dollars for charge in charges if charge.dollars is not None]
    return [
        f"{len(charges):,}",
        f"{sum(charge.tokens_in for charge in charges):,}",
        f"{sum(charge.tokens_out for charge in charges):,}",
        money(sum(priced), len(charges) - len(priced)) if priced else "unknown",
        duration(sum(charge.seconds for charge in charges)),
    ]


def _judging(story: Story) -> Html:
    stages: dict[str, float] = defaultdict(float)
    for hearing in story.hearings:
        for name, seconds in hearing.stages.items():
            stages[name] += seconds
    said = ", ".join(f"{name} {duration(seconds)}" for name, seconds in stages.items())
    measured = counted(len(story.hearings), "measurement")
    number = counted(story.spent.evaluations, "candidate")
    return note(
        f"Judging: {measured} of {number} in {duration(story.spent.judge_seconds)}", f" ({said})." if said else "."
    )


def _budget(story: Story) -> Html:
    spent = story.spent
    used = {**vars(spent), "tokens": spent.tokens_in + spent.tokens_out}
    used["evaluations"] -= spent.seeds
    limits = story.run.settings.get("budget") or {}
    said = [
        f"{amount(used[name])} of {amount(limits[name])} {words}" for name, words in LIMITS.items() if limits.get(name)
    ]
    seeds = f" {counted(spent.seeds, 'seed was', 'seeds were')} judged beside it." if spent.seeds else ""
    return note(f"Budget: {'; '.join(said)}.{seeds}") if said else Html()
