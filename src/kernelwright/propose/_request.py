"""What is asked, what comes back, and the one protocol that everyone who writes kernels keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from kernelwright.tasks import Task

Kind = Literal["draft", "improve", "repair", "rewrite", "seed"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question. `parent`: the source that edits in the answer refer to. `task`: for who does not read prompts."""

    id: str
    prompt: str
    kind: Kind
    backend: str
    parent: str | None = None
    task: Task | None = None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer and what it cost.

    Attributes:
        model: Who answered, as the endpoint itself says.
        tokens_in, tokens_out: As counted by the endpoint; None where nobody counted.
        dollars: None where the price is not known; never 0 for that reason.
        finish: Why the answer ended: `stop`, `length` (cut off), or the endpoint's own word.
        price: The prices that `dollars` was computed with; None where there are none.
    """

    text: str
    model: str
    tokens_in: int | None
    tokens_out: int | None
    dollars: float | None
    seconds: float
    finish: str
    price: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Reply":
        return cls(**fields)


class Proposer(Protocol):
    """Someone who answers: a model, a person, a folder. Called from several threads."""

    def propose(self, request: Request) -> Reply:
        """Blocks until there is an answer; raises ProposerError."""


@runtime_checkable
class TakesUp(Protocol):
    """A proposer that hands things out in order: it must know what it has handed out before a run was left."""

    def take_up(self, models: Sequence[str]) -> None:
        """`models`: who gave the replies so far, as the replies say."""


@runtime_checkable
class LooksAhead(Protocol):
    """A proposer that can find out about a task what nobody pays for, before anything is asked."""

    def look_at(self, task: Task) -> None:
        """Begins to, and returns at once."""


def prompt_limit(proposer: Proposer) -> int | None:
    """How many tokens a prompt may have for this one to read it; None where that is not known."""
    limit: int | None = getattr(proposer, "prompt_tokens", None)
    return limit


class ProposerError(Exception):
    """No answer: what happened, and what to do next.

    Attributes:
        retryable: Whether the same request may succeed later.
        after: Seconds to wait before that, where the other side said so.
    """

    def __init__(self, what: str, fix: str = "", *, retryable: bool = False, after: float | None = None) -> None:
        super().__init__(what, fix, retryable, after)
        self.what = what
        self.fix = fix
        self.retryable = retryable
        self.after = after

    def __str__(self) -> str:
        return f"{self.what}\n  fix: {self.fix}" if self.fix else self.what


class ExhaustedError(ProposerError):
    """There will be no more answers from here: a script or a replay has come to its end."""
