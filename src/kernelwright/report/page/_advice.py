"""The advice that kernels were written with: what it gained in this run, and what it is believed to be worth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from kernelwright.report.page._html import Html, code, folded, join, note, section, shortened, table, tag
from kernelwright.report.page._story import Story
from kernelwright.report.page._words import LETTERS, counted, times
from kernelwright.store import Genome

LONGEST = 20_000
MOST_ROWS, MOST_TEXTS = 40, 12
HEADINGS = ("advice", "made from", "written with it", "gains counted", "accepted", "mean gain", "worth over all runs")
HOW = (
    "Gain: how many times as fast as its parent a kernel is, where that was accepted; the mean is over the accepted "
    "kernels of this run. Worth is what the search goes by: over all runs, a rejected kernel counts as half as fast; "
    "in brackets where it lies with about 95 %."
)


@dataclass(frozen=True)
class Worth:
    """What the search believes of some advice after all runs: the mean gain of a kernel over its parent, as a log."""

    trials: int
    mean: float
    low: float
    high: float


def advice(story: Story, worth: Mapping[str, Worth]) -> Html:
    written = Counter(attempt.genome for attempt in story.attempts.values())
    used = sorted(story.gains, key=lambda name: -written[name])
    if not used:
        return section("advice", "Advice", note("No candidate was written with advice."))
    rows = [_row(story, name, written[name], worth.get(name)) for name in used[:MOST_ROWS]]
    left = len(used) - len(rows)
    rest = note(f"And {counted(left, 'other')}, used as rarely or more so.") if left else Html()
    texts = [_text(story, name) for name in used[:MOST_TEXTS]]
    listed = table(HEADINGS, rows, right=(2, 3, 4, 5, 6))
    return section("advice", "Advice", note(HOW), listed, rest, note(_rewritings(story)), *texts)


def _row(story: Story, name: str, written: int, worth: Worth | None) -> list[object]:
    gains = story.gains[name]
    genome = story.genomes.get(name)
    return [
        code(name[:LETTERS]),
        code(genome.parent[:LETTERS]) if genome and genome.parent else "the seed",
        str(written),
        str(len(gains)),
        str(sum(gain is not None for gain in gains)),
        _mean(gains),
        _believed(worth),
    ]


def _mean(gains: Sequence[float | None]) -> str:
    """Of ratios, so a geometric one."""
    known = [gain for gain in gains if gain is not None]
    return times(math.exp(sum(known) / len(known))) if known else ""


def _believed(worth: Worth | None) -> str:
    if worth is None or not worth.trials:
        return ""
    low, high = math.exp(worth.low), math.exp(worth.high)
    return f"{times(math.exp(worth.mean))} [{low:.2f}, {high:.2f}] of {worth.trials}"


def _rewritings(story: Story) -> str:
    asked = [event.data for event in story.notes if event.kind == "advice"]
    kept = sum(bool(told.get("genome")) for told in asked)
    refused = [str(why) for told in asked for why in told.get("refused") or ()]
    if not asked:
        return "The advice was not rewritten in this run."
    because = f" An edit was refused, for example: {shortened(refused[0], 200)}" if refused else ""
    return f"{counted(len(asked), 'rewriting was', 'rewritings were')} asked for, {kept} gave new advice.{because}"


def _text(story: Story, name: str) -> Html:
    """What was changed in it, or all of it where its parent is not known."""
    genome = story.genomes.get(name)
    if genome is None:
        return Html()
    before = story.genomes.get(genome.parent or "")
    what = "what was changed" if before else "its text"
    return folded(
        join([code(name[:LETTERS]), f": {what}"]), *(_region(genome, before, part) for part in genome.regions)
    )


def _region(genome: Genome, before: Genome | None, part: str) -> Html:
    now = genome.regions[part]
    if before is None:
        return join([tag("h3", part), tag("pre", now[:LONGEST])])
    lines = unified_diff(before.regions.get(part, "").splitlines(), now.splitlines(), lineterm="", n=1)
    changed = "\n".join(list(lines)[2:])  # less the names of two files that are none
    return join([tag("h3", part), tag("pre", changed[:LONGEST])]) if changed else Html()
