"""What a run has spent, counted along: the store is asked once, when the run is begun or gone on with."""

from __future__ import annotations

import time
from dataclasses import replace

from kernelwright.propose import Reply
from kernelwright.store import Spent


class Purse:
    """Adds to what was spent before; says the same as the store would, without reading every row for it."""

    def __init__(self, before: Spent) -> None:
        self._spent, self._begun = before, time.monotonic()

    @property
    def spent(self) -> Spent:
        passed = time.monotonic() - self._begun
        return replace(self._spent, wall_seconds=self._spent.wall_seconds + passed)

    def asked(self) -> None:
        self._spent = replace(self._spent, requests=self._spent.requests + 1)

    def paid(self, reply: Reply) -> None:
        spent = self._spent
        self._spent = replace(
            spent,
            replies=spent.replies + 1,
            tokens_in=spent.tokens_in + (reply.tokens_in or 0),
            tokens_out=spent.tokens_out + (reply.tokens_out or 0),
            dollars=spent.dollars + (reply.dollars or 0.0),
            unpriced=spent.unpriced + (reply.dollars is None),
        )

    def judged(self, seconds: float, *, first: bool, seed: bool) -> None:
        """`first`: whether it is this run's first measurement of the candidate. `seed`: whether that is a seed."""
        spent = self._spent
        self._spent = replace(
            spent,
            evaluations=spent.evaluations + first,
            seeds=spent.seeds + (first and seed),
            judge_seconds=spent.judge_seconds + seconds,
        )
