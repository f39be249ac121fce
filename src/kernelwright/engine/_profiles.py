"""What holds elites back, as the profiler says: found out once for each that is chosen to be improved.

It sways which step is tried next, and stands in the prompt. A profile is made when the judge has nothing else to do,
and nobody waits for it, but where requests go one after the other: there the next choice does, so that a run can be
repeated exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.archive import Choice, Repair
from kernelwright.engine._past import Past
from kernelwright.engine._settings import Settings
from kernelwright.fleet import Fleet, Job, Kind, Result
from kernelwright.tasks import Task

PROFILED = "profile"
# What the profiler's rules find, in the words that the archive chooses by. A name that is not here sways nothing.
WORDS = {
    "memory": (
        *("memory-near-roof", "memory-far-from-roof", "fresh-memory", "passes", "uncoalesced", "more-bytes"),
        "narrow-loads",
    ),
    "compute": (
        *("compute-near-roof", "compute-far-from-roof", "not-vectorised", "narrow-vectors", "special-functions"),
        *("divisions", "unfused", "spills", "registers", "idle-lanes", "no-tensor-cores"),
    ),
    "latency": ("imbalance", "latency", "low-occupancy"),
    "launch": ("overhead", "library", "launch-bound"),
    "idle": ("serial", "small-grid", "tail"),
}
WORD_OF = {name: word for word, names in WORDS.items() for name in names}


class Profiles:
    """The profiles of one run.

    Args:
        on: Whether any are asked for.
        see: Is told the facts of each.

    Attributes:
        bottlenecks: What holds a candidate back, in the archive's words, where that is known.
    """

    def __init__(
        self,
        fleet: Fleet,
        task: Task,
        settings: Settings,
        past: Past,
        *,
        on: bool,
        see: Callable[[dict[str, Any]], None],
    ) -> None:
        self._fleet, self._wire, self._settings, self._past, self._on = fleet, task.to_wire(), settings, past, on
        self._see = see
        self._asked: set[str] = set()
        self._under_way: set[str] = set()
        self._paragraphs: dict[str, str] = {}
        self.bottlenecks: dict[str, str] = {}

    @property
    def awaited(self) -> bool:
        """Whether the next choice has to wait for one."""
        return bool(self._under_way) and self._settings.lanes == 1

    def paragraph(self, candidate: str) -> str:
        """For the prompt; empty where nothing is known."""
        return self._paragraphs.get(candidate, "")

    def want(self, came_of: Choice | Repair | None) -> None:
        """This was chosen; an elite's profile is asked for if nobody has yet."""
        if isinstance(came_of, Choice):
            self._want(came_of.parent)

    def _want(self, candidate: str) -> None:
        verdict = self._past.verdict(candidate)
        if not self._on or candidate in self._asked or verdict is None:
            return
        job = Job(
            candidate=candidate,
            source=self._past.source(candidate),
            task=self._wire,
            limits=self._settings.limits,
            device=self._settings.device,
            profile_of=verdict,
        )
        self._asked.add(candidate)
        self._under_way.add(job.name)
        self._fleet.submit(job)

    def take(self, result: Result) -> bool:
        """Whether this was a profile; what it says is kept, and why there is none too."""
        if result.job not in self._under_way:
            return False
        if result.kind is not Kind.FOREIGN:  # that one goes on
            self._under_way.remove(result.job)
            found = result.profile or {"absent": result.reason}
            self._past.note(PROFILED, {"candidate": result.candidate, "profile": found})
            self._learn(result.candidate, found)
        return True

    def _learn(self, candidate: str, found: dict[str, Any]) -> None:
        self._asked.add(candidate)
        if "absent" in found:
            return
        self._see(found["facts"])
        self._paragraphs[candidate] = found["paragraph"]
        word = WORD_OF.get(found["bottleneck"]["name"])
        if word is not None:
            self.bottlenecks[candidate] = word

    def recover(self) -> None:
        """What was found before the run was left; what was under way then is asked for again."""
        for told in self._past.events(PROFILED):
            self._learn(told["candidate"], told["profile"])
        for candidate in self._past.parents():
            self._want(candidate)
