"""What goes into the store and comes out of it: plain values, known by hashes and names.

`seq` (the order) and `noted` (seconds since 1970) are the store's to fill in; leave them out on the way in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

Values = dict[str, Any]


# The kind of the event that says what came of measuring the best kernel once more, at the end of a run.
FINAL = "final"
# The kind of a request that asks for a seed: a kernel that a program writes before a model is asked for anything.
SEED: Final = "seed"


class State(StrEnum):
    """How a run stands. One that says RUNNING while nobody holds the store was interrupted."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One search. `task` is the hash; the wire form stands in the store once for all runs."""

    id: str
    task: str
    settings: Values
    versions: Values
    machine: Values
    state: State = State.RUNNING
    reason: str = ""
    seq: int = 0
    noted: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """A stretch of time that somebody worked on a run, from `noted` to its last row."""

    run: str
    noted: float
    seen: float


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request, noted before it is sent. `dropped` says why nothing more is to be expected of it."""

    run: str
    id: str
    kind: str
    backend: str
    prompt: str
    model: str = ""
    parent: str | None = None
    genome: str | None = None
    direction: Any = None
    dropped: str | None = None
    seq: int = 0
    noted: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A reply as it came, kept before it is used. `dollars` is None where no price is known."""

    run: str
    request: str
    text: str
    model: str
    tokens_in: int
    tokens_out: int
    dollars: float | None
    seconds: float
    finish: str
    seq: int = 0
    noted: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A text that wants to be a kernel, known by its hash. Stands in the store once, whoever writes it how often."""

    hash: str
    source: str
    backend: str
    noted: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Birth:
    """How a candidate came into a run: answered to which request, from which parent, by which prompt, going where."""

    run: str
    candidate: str
    request: str | None = None
    parent: str | None = None
    genome: str | None = None
    direction: Any = None
    seq: int = 0
    noted: float = 0.0

    @property
    def is_seed(self) -> bool:
        """Whether it was asked for as a seed: only those are written by no prompt."""
        return self.request is not None and self.genome is None


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One measurement of a candidate: the judge's whole verdict, and by whom and on what it was made.

    Attributes:
        job: Names the measurement; the same one twice is kept once.
        judge: The version of the judge.
        used: Whether the run builds on it; False where another version of the judge made it.
    """

    run: str
    job: str
    candidate: str
    task: str
    device: str
    judge: str
    verdict: Values
    used: bool = True
    seq: int = 0
    noted: float = 0.0

    @property
    def status(self) -> str:
        return str(self.verdict["status"])

    @property
    def accepted(self) -> bool:
        return bool(self.verdict["accepted"])

    @property
    def seconds(self) -> float:
        return float(self.verdict.get("seconds", {}).get("total", 0.0))


@dataclass(frozen=True, kw_only=True)
class Move:
    """What happened in the archive: a transition, an elite placed or replaced. `kind` and `data` are the archive's."""

    run: str
    kind: str
    candidate: str
    parent: str | None = None
    cell: Any = None
    data: Values = field(default_factory=dict)
    seq: int = 0
    noted: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Genome:
    """The evolving regions of a prompt for one backend, known by their hash; they outlive the run that wrote them."""

    hash: str
    backend: str
    regions: dict[str, str]
    parent: str | None = None
    run: str | None = None
    seq: int = 0
    noted: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a prompt brought: the gain of child over parent, None where the child was not accepted."""

    run: str
    genome: str
    backend: str
    candidate: str
    gain: float | None
    seq: int = 0
    noted: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Event:
    run: str
    kind: str
    data: Values = field(default_factory=dict)
    seq: int = 0
    noted: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a run has used, counted from its rows.

    Attributes:
        evaluations: Candidates that were judged, however often each was measured. `seeds`: how many of them are seeds.
        unpriced: Replies of which no price is known; `dollars` leaves them out.
        wall_seconds: From the start to the last row, sitting by sitting.
    """

    requests: int
    replies: int
    tokens_in: int
    tokens_out: int
    dollars: float
    unpriced: int
    evaluations: int
    judge_seconds: float
    wall_seconds: float
    seeds: int = 0


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a prompt has been worth in all runs: how often it was used, and the gains of the accepted children."""

    genome: str
    backend: str
    uses: int
    accepted: int
    mean: float | None
    variance: float | None
