"""Entries tried by several workers at a time, as many as have room beside each other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

Entry = TypeVar("Entry")
Tool = TypeVar("Tool")


class Queue(Generic[Entry]):
    """Hands out the largest entry that fits beside those under way; one that fits nowhere is tried alone."""

    def __init__(self, entries: list[Entry], *, need: Callable[[Entry], float], room: float) -> None:
        self._waiting = sorted(entries, key=need, reverse=True)
        self._need, self._room = need, room
        self._under_way: list[Entry] = []
        self._changed = threading.Condition()

    def take(self) -> Entry | None:
        """The next entry, as soon as there is room for one; None when there is nothing left."""
        with self._changed:
            while self._waiting:
                entry = self._fitting()
                if entry is not None:
                    self._waiting.remove(entry)
                    self._under_way.append(entry)
                    return entry
                self._changed.wait()
            return None

    def _fitting(self) -> Entry | None:
        free = self._room - sum(map(self._need, self._under_way))
        fitting = (entry for entry in self._waiting if self._need(entry) <= free)
        return next(fitting, None if self._under_way else self._waiting[0])

    def done(self, entry: Entry) -> None:
        with self._changed:
            self._under_way.remove(entry)
            self._changed.notify_all()

    def stop(self) -> None:
        """Hands out nothing more."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()


def work(
    queue: Queue[Entry], tools: Callable[[], AbstractContextManager[Tool]], do: Callable[[Tool, Entry], None], jobs: int
) -> None:
    """Empties the queue with so many workers, each with a tool of its own. What one raises ends all."""

    def one() -> None:
        with tools() as tool:
            while (entry := queue.take()) is not None:
                try:
                    do(tool, entry)
                finally:
                    queue.done(entry)

    with ThreadPoolExecutor(jobs) as pool:
        workers = [pool.submit(one) for _ in range(jobs)]
        try:
            wait(workers, return_when=FIRST_EXCEPTION)
        finally:
            queue.stop()
    for worker in workers:
        worker.result()
