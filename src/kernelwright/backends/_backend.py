"""What every language offers. Knows no language."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kernelwright.backends._screen import screen_python


@dataclass(frozen=True)
class Availability:
    """Whether a backend works on this machine; if not, `fix` is the command that would make it work."""

    ok: bool
    detail: str
    fix: str = ""


@dataclass(frozen=True)
class Listing:
    """How compiled code of a language is looked at: the program that lists a library, and what its text says.

    `facts` gets the text of every library with its samples: how often a thread was found at which address.
    """

    command: tuple[str, ...]
    install: str
    machines: tuple[str, ...]
    facts: Callable[[Sequence[tuple[str, Mapping[int, int]]]], dict[str, Any]]


class Backend(ABC):
    """One language that candidates are written in. The candidate itself is always a Python file."""

    name: ClassVar[str]
    listing: ClassVar[Listing | None] = None

    @abstractmethod
    def available(self) -> Availability:
        """Can candidates of this language be built and run here?"""

    @abstractmethod
    def recognises(self, candidate_text: str) -> bool:
        """Does this candidate use the language?"""

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        """Places that deserve a look, as `family:line`. Triage, never a verdict: honest code has them too."""
        return screen_python(candidate_text)
