"""What every language offers. Knows no language."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

from kernelwright.backends._screen import screen_python
from kernelwright.backends._strategy._vocabulary import Vocabulary

if TYPE_CHECKING:
    from kernelwright.backends._strategy._program import Program


class Scope(IntEnum):
    """How far a candidate can be taken on this machine."""

    COMPILED = 1  # built, and nothing of it run
    CHECKED = 2  # run and compared, but not as it would run for real, so not timed
    TIMED = 3


@dataclass(frozen=True)
class Availability:
    """Whether a backend works on this machine; if not, or not all of it, `fix` is the command that would help.

    `more` says, where it works only in part, what it would take to do the rest.
    """

    ok: bool
    detail: str
    fix: str = ""
    more: str = ""


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
    for_device: ClassVar[bool] = False
    strategy: ClassVar[Vocabulary] = Vocabulary({})

    @abstractmethod
    def available(self) -> Availability:
        """Can candidates of this language be built and run here?"""

    @abstractmethod
    def recognises(self, candidate_text: str) -> bool:
        """Does this candidate use the language?"""

    def scope(self) -> Scope:
        """How far candidates of this language can be taken here, its toolchain being there."""
        return Scope.TIMED

    def programs(self, source: str) -> "Iterable[Program]":
        """What of a candidate is written in this language and can run, for `strategy` to be looked up in."""
        return ()

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        """Places that deserve a look, as `family:line`. Triage, never a verdict: honest code has them too."""
        return screen_python(candidate_text)
