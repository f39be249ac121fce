"""What a prompt is made of. Knows no words: those are in the section files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kernelwright.prompts._error import PromptError
from kernelwright.prompts._genome import Genome
from kernelwright.tasks import Task

Cell = tuple[int, int, int]
Kind = Literal["draft", "improve", "repair"]
AXES = ("memory", "algorithm", "coordination")
LEVELS = 4
# Where a verdict's evidence holds what compilers and programs printed.
_PRINTED = ("log", "trace", "output", "detail")


@dataclass(frozen=True)
class Speedup:
    """How many times faster than a baseline, with a 95 % interval."""

    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.ratio:.3g}x [{self.low:.3g}, {self.high:.3g}]"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the judge said of a kernel.

    Attributes:
        speedups: By baseline; empty unless the kernel was accepted and timed.
        time_ms: The kernel's own time and those of its baselines.
        log: What was printed on the way: the compiler's messages, a traceback.
    """

    status: str
    accepted: bool
    message: str
    speedups: Mapping[str, Speedup] = field(default_factory=dict)
    time_ms: Mapping[str, float] = field(default_factory=dict)
    log: str = ""

    @classmethod
    def from_verdict(cls, verdict: Mapping[str, Any]) -> "Outcome":
        """From a verdict's JSON."""
        speedups = verdict["speedup"] if verdict["accepted"] else {}
        printed = (str(verdict["evidence"].get(key, "")).strip() for key in _PRINTED)
        return cls(
            status=verdict["status"],
            accepted=verdict["accepted"],
            message=verdict["message"],
            speedups={name: Speedup(one["ratio"], one["low"], one["high"]) for name, one in speedups.items()},
            time_ms=verdict["time_ms"],
            log="\n".join(filter(None, printed)),
        )


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A judged kernel. `cell`: its strategy coordinates; `profile`: the paragraph on what holds it back."""

    source: str
    outcome: Outcome
    cell: Cell | None = None
    profile: str = ""


@dataclass(frozen=True)
class Step:
    """One step of a lineage: what was changed, and how many times faster that made it; None if it was rejected."""

    change: str
    status: str
    gain: float | None = None


@dataclass(frozen=True)
class Hardware:
    """The machine as found and measured: `facts` are names and values, the most important first."""

    name: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Target:
    """From which cell towards which. The same cell: make the most of what is there."""

    start: Cell
    goal: Cell

    def __post_init__(self) -> None:
        for level in (*self.start, *self.goal):
            if level not in range(LEVELS):
                raise PromptError(f"level {level} of a target is not between 0 and {LEVELS - 1}.")


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Everything that a prompt says.

    Attributes:
        kind: `draft`: a first kernel; `improve`: a faster one than an accepted parent; `repair`: a rejected one mended.
        tokens: How long the prompt may be, as estimated from its characters.
        templates: Whether to say how values are left open.
    """

    kind: Kind
    backend: str
    task: Task
    genome: Genome
    hardware: Hardware
    parent: Kernel | None = None
    inspirations: tuple[Kernel, ...] = ()
    history: tuple[Step, ...] = ()
    target: Target | None = None
    tokens: int = 24_000
    templates: bool = False

    def __post_init__(self) -> None:
        if self.genome.backend != self.backend:
            raise PromptError(f"a genome for {self.genome.backend} cannot advise on {self.backend}.")
        fault = _misfit(self.kind, self.parent)
        if fault:
            raise PromptError(fault)
        if self.kind == "repair" and self.target:
            raise PromptError("a broken kernel is only repaired: it gets no target.")


def _misfit(kind: Kind, parent: Kernel | None) -> str:
    """Why a parent does not go with a kind of prompt; empty if it does."""
    match kind, parent:
        case ("draft", None):
            return ""
        case ("draft", _):
            return "a draft has no parent."
        case (_, None):
            return f"nothing to {kind}: there is no parent."
        case ("improve", Kernel(outcome=Outcome(accepted=False, status=status))):
            return f"a kernel that was rejected ({status}) cannot be improved, only repaired."
        case ("repair", Kernel(outcome=Outcome(accepted=True))):
            return "a kernel that was accepted needs no repair."
    return ""
