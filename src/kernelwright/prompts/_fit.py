"""Makes sections fit a budget: the least useful are shortened first, step by step, and what was done is told.

Knows lengths and an order of sacrifice; not what the sections say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelwright.prompts._error import PromptError

# Source code has more tokens to a character than prose; 3 is on the safe side of both.
CHARACTERS_A_TOKEN = 3


@dataclass(frozen=True)
class Section:
    """A section in full, and shorter versions of it, the last possibly empty; `told`: what each of them lacks."""

    name: str
    full: str
    shorter: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def versions(self) -> tuple[str, ...]:
        return (self.full, *self.shorter)


@dataclass(frozen=True)
class Prompt:
    """A text that fits, its estimated length, and what was shortened to make it so."""

    text: str
    tokens: int
    shortened: tuple[str, ...] = ()


Join = Callable[[Sequence[str], Sequence[str]], str]


def estimate(text: str) -> int:
    """Tokens, from characters."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def fit(sections: Sequence[Section], sacrifice: Sequence[str], tokens: int, join: Join) -> Prompt:
    """The sections joined, shortened in the order of `sacrifice` until they fit; raises PromptError.

    `join` gets the texts and what was shortened.
    """
    steps = {section.name: 0 for section in sections}
    prompt = _joined(sections, steps, join)
    for section in _in_order(sections, sacrifice):
        while prompt.tokens > tokens and steps[section.name] < len(section.shorter):
            steps[section.name] += 1
            prompt = _joined(sections, steps, join)
    if prompt.tokens > tokens:
        raise PromptError(
            f"the prompt needs {prompt.tokens} tokens with everything left out that can be, and may have {tokens}.",
            f"Allow at least {prompt.tokens} tokens.",
        )
    return prompt


def _in_order(sections: Sequence[Section], sacrifice: Sequence[str]) -> list[Section]:
    by_name = {section.name: section for section in sections}
    return [by_name[name] for name in sacrifice if name in by_name]


def _joined(sections: Sequence[Section], steps: dict[str, int], join: Join) -> Prompt:
    texts = [section.versions[steps[section.name]] for section in sections]
    told = tuple(section.told[steps[section.name] - 1] for section in sections if steps[section.name])
    text = join([text for text in texts if text], told)
    return Prompt(text, estimate(text), told)


def middle_cut(text: str, characters: int) -> str:
    """Beginning and end of a text; the beginning gets two thirds, as compilers put the cause first."""
    if len(text) <= characters:
        return text
    head = characters * 2 // 3
    tail = characters - head
    return f"{text[:head].rstrip()}\n[... {len(text) - characters} characters left out ...]\n{text[-tail:].lstrip()}"
