"""Coming back to a run that was left: what was under way goes on, what was paid for is used."""

from __future__ import annotations

from kernelwright.archive import choice_from_json
from kernelwright.engine._asking import Asking, reply_of, request_of
from kernelwright.engine._author import Draft
from kernelwright.engine._past import Past
from kernelwright.propose import Reply
from kernelwright.store import SEED, Asked, Store


class Recovery:
    """What the store knows of a run that nobody plays."""

    def __init__(self, store: Store, run: str, past: Past) -> None:
        self._store, self._run, self._past = store, run, past

    def last_request(self) -> int:
        return max((int(asked.id) for asked in self._store.requests(self._run)), default=0)

    def seeds(self) -> tuple[int, int]:
        """How many were asked for, and how many came."""
        asked = {one.id for one in self._store.requests(self._run) if one.kind == SEED}
        return len(asked), len(asked & {reply.request for reply in self._store.replies(self._run)})

    def ask_again(self, asking: Asking) -> set[str]:
        """Those who were asked and had not answered; which requests those are."""
        unanswered = list(self._store.unanswered(self._run))
        for asked in unanswered:
            asking.ask_again(self._drafted(asked))
        return {asked.id for asked in unanswered}

    def unused(self, asked_again: set[str]) -> list[tuple[Draft, Reply]]:
        """Replies that were kept, and of which nothing was made yet.

        Not those that came while others were asked again: whoever left the run may still have been writing, and nobody
        is answered twice.
        """
        found = [asked for asked in self._store.unused(self._run) if asked.id not in asked_again]
        return [(self._drafted(asked), self._reply_to(asked)) for asked in found]

    def _drafted(self, asked: Asked) -> Draft:
        request = request_of(asked, self._past.parent_of(asked))
        return Draft(request, asked.genome, choice_from_json(asked.direction), asked.parent)

    def _reply_to(self, asked: Asked) -> Reply:
        return reply_of(next(iter(self._store.replies(self._run, asked.id))))
