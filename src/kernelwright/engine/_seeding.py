"""Seeds: before a model is asked for anything, a program writes a few kernels, so that no call is spent below them.

They have a budget of their own, go the way of every candidate, and teach neither the advice nor the directions, which
they know nothing of. Which request was a seed stands in the store; the rest follows from it, so that a run that is left
in the middle goes on, and a replay seeds as the recorded run did.
"""

from __future__ import annotations

from kernelwright.archive import Archive
from kernelwright.engine._asking import Asking
from kernelwright.engine._author import Draft
from kernelwright.engine._budget import Budget
from kernelwright.engine._docket import Docket
from kernelwright.engine._past import Past
from kernelwright.engine._settings import Settings
from kernelwright.propose import Request
from kernelwright.store import SEED, Spent

# What can be left out by this name.
SEEDING = "seeding"
SEEDERS = ("builtin",)
SEEDS = 8
# Of the time that a run may take, seeds are judged for this share at most.
SHARE = 0.25
# Events: all seeds were judged; or there are no more of them, for this reason.
SEEDED, UNSEEDED = "seeded", "unseeded"


class Seeding:
    """The seeds of one run. `most`: how many are asked for; 0 for none.

    Attributes:
        over: Whether a model may be asked.
    """

    def __init__(self, settings: Settings, past: Past, *, most: int) -> None:
        self._settings, self._past = settings, past
        self._most = min(most, settings.budget.evaluations or most)
        self._asked = self._results = 0
        self._answered = self._dry = False
        self.over = not most

    def recover(self, asked: int, came: int) -> None:
        """A run that was left: so many seeds were asked for, and so many came."""
        self._asked, self._answered = asked, came > 0
        self._dry = any(True for _ in self._past.events(UNSEEDED))
        for told in self._past.events(SEEDED):
            self.over, self._results = True, told["results"]

    def lasts(self, spent: Spent) -> bool:
        """Whether there are more seeds to ask for."""
        return not (self.over or self._dry or self._asked >= self._most or _long_enough(self._settings.budget, spent))

    def has_room(self, spent: Spent, asking: Asking, docket: Docket) -> bool:
        """The first one goes alone: whether the task can be written at all is found out with it."""
        lanes = self._settings.lanes if self._answered else 1
        return self.lasts(spent) and len(asking) + len(docket) < lanes

    def draft(self, name: str, archive: Archive) -> Draft:
        """The request for one more: the best so far is varied, where there is one."""
        self._asked += 1
        best = archive.best
        about = f"the best so far, {best.candidate}, varied" if best else "a first kernel"
        request = Request(
            id=name,
            prompt=f"Seed {self._asked} of at most {self._most}: {about}. No model is asked for it.",
            kind=SEED,
            backend=self._settings.backend,
            parent=self._past.source(best.candidate) if best else None,
        )
        return Draft(request, None, None, best.candidate if best else None)

    def answered(self) -> None:
        self._answered = True

    def failed(self) -> None:
        """Whoever writes the seeds cannot; those that came before stay."""
        self._dry = True

    def ended(self, spent: Spent, archive: Archive) -> dict[str, int]:
        """All are judged; what is to be told of them."""
        self.over, self._results = True, archive.results
        return {"seeds": spent.seeds, "filled": len(archive.elites), "results": archive.results}

    def after(self, evaluations: int, results: int) -> int:
        """Of the last evaluations, those that are no seeds; `results`: how many there were in all."""
        return min(evaluations, results - self._results) if self.over else 0


def _long_enough(budget: Budget, spent: Spent) -> bool:
    """Counted by the time of judging, which is most of it: a replay finds the same in its verdicts."""
    limits = [most for most in (budget.wall_seconds, budget.judge_seconds) if most is not None]
    return bool(limits) and spent.judge_seconds >= SHARE * min(limits)
