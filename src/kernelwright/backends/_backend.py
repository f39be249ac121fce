"""What every language offers. Knows no language."""

import platform
import shutil
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

    `facts` gets the text of every library with its samples: how often a thread was found at which address. `counts`
    gets the text of one, and says how often it has each sign of `Backend.signs`.
    """

    command: tuple[str, ...]
    install: str
    machines: tuple[str, ...]
    facts: Callable[[Sequence[tuple[str, Mapping[int, int]]]], dict[str, Any]]
    counts: Callable[[str], dict[str, int]]

    @property
    def missing(self) -> str:
        """Why nothing can be listed on this machine; empty where it can."""
        if platform.machine() not in self.machines:
            return f"the listing can be read for {', '.join(self.machines)}, and this machine is {platform.machine()}"
        if shutil.which(self.command[0]) is None:
            return f"{self.command[0]} is not installed ({self.install})"
        return ""


class Backend(ABC):
    """One language that candidates are written in. The candidate itself is always a Python file.

    `signs`: of what the text asks for (a trace, see `Reading`), the counts in compiled code of which any shows that
    it was done. A trace that is not named here cannot be told from compiled code, and the text is believed.
    """

    name: ClassVar[str]
    listing: ClassVar[Listing | None] = None
    for_device: ClassVar[bool] = False
    strategy: ClassVar[Vocabulary] = Vocabulary({})
    signs: ClassVar[Mapping[str, tuple[str, ...]]] = {}

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
