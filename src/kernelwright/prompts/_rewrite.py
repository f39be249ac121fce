"""Advice that improves: the request for a rewriter, and what is made of its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from kernelwright.prompts._edits import Edit, MisfitError, find_edits, make_edit
from kernelwright.prompts._error import PromptError
from kernelwright.prompts._family import Worth
from kernelwright.prompts._fit import Prompt, Section, fit, middle_cut
from kernelwright.prompts._genome import LONGEST, REGIONS, Genome
from kernelwright.prompts._parts import Outcome
from kernelwright.prompts._render import result
from kernelwright.prompts._texts import fenced, language, section

TOKENS = 24_000
# Of each example: source and log are cut apart, so that a long kernel never hides why it failed.
SOURCE_LENGTHS = (6_000, 2_500, 1_000)
LOG_LENGTH = 1_500


@dataclass(frozen=True, kw_only=True)
class Example:
    """A kernel that was written with the advice. `gain`: times as fast as its parent, None if it was rejected."""

    task: str
    source: str
    outcome: Outcome
    gain: float | None = None


@dataclass(frozen=True)
class Rewrite:
    """What came of an answer: a new genome or None, and a sentence for each edit that was refused."""

    genome: Genome | None
    refused: tuple[str, ...] = ()


def rewrite_prompt(
    genome: Genome,
    successes: Sequence[Example],
    failures: Sequence[Example],
    *,
    worth: Worth | None = None,
    tokens: int = TOKENS,
) -> str:
    """The request for the rewriter: the advice, kernels that gained and that did not, with what was measured."""
    return compose_rewrite(genome, successes, failures, worth=worth, tokens=tokens).text


def compose_rewrite(
    genome: Genome,
    successes: Sequence[Example],
    failures: Sequence[Example],
    *,
    worth: Worth | None = None,
    tokens: int = TOKENS,
) -> Prompt:
    """The same, with its estimated length and what was shortened."""
    if not successes and not failures:
        raise PromptError("there is nothing to learn from: no kernel was written with this advice yet.")
    shown = [
        *(_example(f"Gained, {number}", one) for number, one in enumerate(successes, 1)),
        *(_example(f"Did not gain, {number}", one) for number, one in enumerate(failures, 1)),
    ]
    sections = [
        Section("role", section("rewrite", language=language(genome.backend), worth=_worth(worth))),
        *(Section(name, section("rewrite_region", name=name, text=genome.regions[name])) for name in REGIONS),
        Section("examples", "## What was written with it"),
        *shown,
        Section("answer", section("rewrite_answer", longest=str(LONGEST))),
    ]
    # The last of each kind first: callers put the most telling ones in front.
    order = [one.name for pair in _alternating(shown, len(successes)) for one in pair]
    return fit(sections, order, tokens, lambda texts, told: "\n\n".join([*texts, *_note(told)]) + "\n")


def _note(told: Sequence[str]) -> list[str]:
    return [section("shortened", what="; ".join(told))] if told else []


def _alternating(shown: list[Section], split: int) -> list[list[Section]]:
    """Successes and failures in turn, from the last to the first, so that neither kind is lost before the other."""
    good, bad = shown[:split][::-1], shown[split:][::-1]
    return [[*good[i : i + 1], *bad[i : i + 1]] for i in range(max(len(good), len(bad)))]


def _worth(worth: Worth | None) -> str:
    if worth is None or not worth.trials:
        return ""
    times = [f"{exp(value):.3g}" for value in (worth.mean, worth.low, worth.high)]
    return (
        f"So far {worth.trials} kernels were written with this advice; {worth.rejected} were rejected. On average they "
        f"were {times[0]} times as fast as the kernel they started from (between {times[1]} and {times[2]}; a rejected "
        "one counts as half as fast)."
    )


def _example(title: str, example: Example) -> Section:
    def write(characters: int) -> str:
        source = fenced(middle_cut(example.source, characters), "python")
        return section("rewrite_example", title=f"{title}: {example.task}", result=_told(example), source=source)

    lengths = [SOURCE_LENGTHS[0], *(length for length in SOURCE_LENGTHS[1:] if length < len(example.source))]
    full, *shorter = map(write, lengths)
    told = [f"the source of {title!r}" for _ in lengths[1:]]
    return Section(title, full, (*shorter, ""), (*told, f"{title!r} left out"))


def _told(example: Example) -> str:
    gain = "Rejected." if example.gain is None else f"{example.gain:.3g} times as fast as its parent."
    log = middle_cut(example.outcome.log.strip(), LOG_LENGTH)
    return "\n\n".join(filter(None, (f"{gain} {result(example.outcome)}", log and fenced(log))))


# *** the answer ***


def apply_edits(genome: Genome, answer: str) -> Rewrite:
    """The genome with the answer's edits made. Refused: what fits nowhere, empties a region or makes it too long."""
    edits = find_edits(answer.replace("\r\n", "\n"))
    if not edits:
        return Rewrite(None, ("the answer holds no complete SEARCH/REPLACE edit.",))
    edited = genome
    refused: list[str] = []
    for edit in edits:
        try:
            edited = _edited(edited, edit)
        except (MisfitError, PromptError) as fault:
            refused.append(fault.what if isinstance(fault, PromptError) else str(fault))
    if edited.hash == genome.hash:
        return Rewrite(None, tuple(refused) or ("the edits change nothing.",))
    return Rewrite(genome.child(**edited.regions), tuple(refused))


def _edited(genome: Genome, edit: Edit) -> Genome:
    if edit.name and edit.name not in REGIONS:
        raise MisfitError(f"an edit names the region {edit.name!r}; there are {', '.join(REGIONS)}.")
    named = (edit.name,) if edit.name else REGIONS
    made = dict(filter(None, (_made(name, genome.regions[name], edit) for name in named)))
    if len(made) > 1:
        raise MisfitError(f"the text of an edit stands in {' and '.join(made)}; name the region behind SEARCH: {edit}.")
    if not made:
        make_edit(genome.regions[named[0]], edit)  # says why not
    return genome.child(**made)


def _made(name: str, region: str, edit: Edit) -> tuple[str, str] | None:
    try:
        return name, make_edit(region, edit).strip()
    except MisfitError:
        return None
