"""Requests under way: noted before they are sent, asked in threads of their own, answered in any order."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kernelwright.archive import Choice, Repair
from kernelwright.engine._author import Draft
from kernelwright.propose import Proposer, ProposerError, Reply, Request
from kernelwright.store import SEED, Answered, Asked, Store, StoreError
from kernelwright.tasks import Task

Answer = Reply | ProposerError


class Asking:
    """Who was asked what. Its length is the number of requests under way."""

    def __init__(
        self, store: Store, run: str, proposer: Proposer, *, seeder: Proposer | None = None, task: Task, lanes: int
    ) -> None:
        """`seeder`: who is asked for seeds, where a run has any."""
        self._store, self._run, self._proposer, self._lanes = store, run, proposer, lanes
        self._seeder = seeder or proposer
        self._task = task
        self._pool: ThreadPoolExecutor | None = None
        self._inbox: queue.SimpleQueue[tuple[Request, Answer]] = queue.SimpleQueue()
        self._under_way: dict[str, Draft] = {}
        self._early: dict[str, Answer] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    @property
    def pending(self) -> list[Choice | Repair]:
        """What those under way were chosen for."""
        return [draft.came_of for draft in self._under_way.values() if draft.came_of]

    @contextmanager
    def threads(self, stop: threading.Event) -> Iterator[None]:
        """While they run, models can be asked. `stop`: set when the run is left before its end."""
        with ThreadPoolExecutor(self._lanes, thread_name_prefix="asking") as self._pool:
            try:
                yield
            except BaseException:
                stop.set()  # or those who wait for an answer would be waited for
                self._pool.shutdown(wait=False, cancel_futures=True)
                raise

    def ask(self, draft: Draft) -> None:
        self._store.note_request(_noted(self._run, draft))
        self.ask_again(draft)

    def ask_again(self, draft: Draft) -> None:
        """One that was noted before the run was left, and not answered."""
        assert self._pool is not None
        self._under_way[draft.request.id] = draft
        self._pool.submit(self._propose, draft.request)

    def _propose(self, request: Request) -> None:
        """In a thread of its own. What was paid for is kept before anybody hears of it."""
        try:
            writer = self._seeder if request.kind == SEED else self._proposer
            reply = writer.propose(replace(request, task=self._task))
            self._store.keep_reply(_kept(self._run, request, reply))
            self._inbox.put((request, reply))
        except ProposerError as error:
            self._inbox.put((request, error))
        except StoreError as error:
            self._inbox.put((request, ProposerError(error.what, error.fix)))
        except Exception as error:
            self._inbox.put((request, ProposerError(f"{type(error).__name__}: {error}")))

    def answers(self, patience: float) -> Iterator[tuple[Draft, Answer]]:
        """Those that have come; waits so many seconds for the first."""
        while self._early:
            name, answer = self._early.popitem()
            yield self._under_way.pop(name), answer
            patience = 0.0
        try:
            while True:
                request, answer = self._inbox.get(timeout=patience)
                yield self._under_way.pop(request.id), answer
                patience = 0.0
        except queue.Empty:
            return

    def answer_to(self, request: str, patience: float) -> tuple[Draft, Answer] | None:
        """The answer to this request; others that come meanwhile are still under way. None if it does not come."""
        deadline = time.monotonic() + patience
        while request not in self._early:
            try:
                asked, answer = self._inbox.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return None
            self._early[asked.id] = answer
        return self._under_way.pop(request), self._early.pop(request)


def _noted(run: str, draft: Draft) -> Asked:
    request, came_of = draft.request, draft.came_of
    return Asked(
        run=run,
        id=request.id,
        kind=request.kind,
        backend=request.backend,
        prompt=request.prompt,
        parent=draft.parent,
        genome=draft.genome,
        direction=came_of.to_json() if came_of else None,
    )


def _kept(run: str, request: Request, reply: Reply) -> Answered:
    return Answered(
        run=run,
        request=request.id,
        text=reply.text,
        model=reply.model,
        tokens_in=reply.tokens_in or 0,
        tokens_out=reply.tokens_out or 0,
        dollars=reply.dollars,
        seconds=reply.seconds,
        finish=reply.finish,
    )


def reply_of(kept: Answered) -> Reply:
    """A reply as it came, before the run was left."""
    return Reply(
        text=kept.text,
        model=kept.model,
        tokens_in=kept.tokens_in,
        tokens_out=kept.tokens_out,
        dollars=kept.dollars,
        seconds=kept.seconds,
        finish=kept.finish,
    )


def request_of(asked: Asked, parent: str | None) -> Request:
    """A request as it was noted."""
    kind: Any = asked.kind
    return Request(id=asked.id, prompt=asked.prompt, kind=kind, backend=asked.backend, parent=parent)
