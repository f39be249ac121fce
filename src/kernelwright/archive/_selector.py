"""What to do next: repair or improve, and which."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from kernelwright.archive import strategies
from kernelwright.archive._archive import Archive
from kernelwright.archive._choice import Choice, Repair
from kernelwright.archive._error import ArchiveError
from kernelwright.archive._scene import Scene

DEFAULT = "promising"
REPAIR_SHARE = 0.3
# A burst of failures must not stop the search while the share catches up: even when a repair is due, a coin decides.
EAGERNESS = 0.5


class Selector:
    """Chooses with a strategy of that name. At most `repair_share` of all choices are repairs; 0 for none."""

    def __init__(self, strategy: str = DEFAULT, *, repair_share: float = REPAIR_SHARE) -> None:
        if not 0 <= repair_share < 1:
            raise ArchiveError(f"repair share {repair_share}: give a share from 0 (never repair) to below 1")
        self._strategy = strategies.get(strategy)
        self._repair_share = repair_share

    def choose(
        self,
        archive: Archive,
        rng: random.Random,
        *,
        pending: Sequence[Choice | Repair] = (),
        bottlenecks: Mapping[str, str] | None = None,
    ) -> Choice | Repair | None:
        """The next thing to ask for; None: there is nothing to build on, ask for a first draft.

        `pending`: choices made before that have not come back. `bottlenecks`: what a profiler said, by hash.
        """
        if self._may_repair(archive, pending) and rng.random() < EAGERNESS:
            repair = archive.pool.next({each.parent for each in pending if isinstance(each, Repair)})
            if repair is not None:
                return repair
        if not archive.elites:
            return None
        improving = tuple(each for each in pending if isinstance(each, Choice))
        scene = Scene(archive.elites, archive.history, improving, bottlenecks or {}, archive.children)
        return self._strategy(scene, rng)

    def _may_repair(self, archive: Archive, pending: Sequence[Choice | Repair]) -> bool:
        repairs = archive.repairs + sum(isinstance(each, Repair) for each in pending)
        return repairs + 1 <= self._repair_share * (archive.results + len(pending) + 1)
