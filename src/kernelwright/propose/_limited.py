"""Patience and manners around any proposer: retries, waits as asked for, how many calls at once, how often."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kernelwright.propose._clock import Clock
from kernelwright.propose._request import Proposer, ProposerError, Reply, Request


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How hard an endpoint may be pressed.

    Attributes:
        at_once: Calls under way at the same time.
        a_minute: Calls begun in a minute, evenly spread; None: no limit.
        tries: Of one request, the first included.
        first_wait, longest_wait: Seconds before the second try, doubled for each further one; and the most that is
            ever waited, also where the other side asks for more.
    """

    at_once: int = 8
    a_minute: float | None = None
    tries: int = 6
    first_wait: float = 1.0
    longest_wait: float = 300.0

    def __post_init__(self) -> None:
        if self.at_once < 1 or self.tries < 1 or (self.a_minute is not None and self.a_minute <= 0):
            raise ProposerError("limits must be positive: at_once, a_minute and tries.")


class Limited:
    """A proposer under limits. What one call is told to wait, all others wait too: they share the endpoint."""

    def __init__(self, inner: Proposer, limits: Limits | None = None, *, clock: Clock | None = None) -> None:
        self._inner = inner
        self._limits = limits or Limits()
        self._clock = clock or Clock()
        self._slots = threading.BoundedSemaphore(self._limits.at_once)
        self._lock = threading.Lock()
        self._not_before = self._clock.now()

    def propose(self, request: Request) -> Reply:
        with self._slot():
            for number in range(1, self._limits.tries):
                try:
                    return self._once(request)
                except ProposerError as error:
                    if not error.retryable:
                        raise
                    self._clock.wait(self._back_off(error, request, number))
            return self._once(request)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        # Looked at again and again, as waiting must end when the clock is stopped.
        while not self._slots.acquire(timeout=0.1):
            self._clock.wait(0)
        try:
            yield
        finally:
            self._slots.release()

    def _once(self, request: Request) -> Reply:
        self._take_turn()
        try:
            return self._inner.propose(request)
        except ProposerError as error:
            self._hold_everyone(error.after or 0.0)
            raise

    def _take_turn(self) -> None:
        """Waits for this call's place in the row."""
        spacing = 60 / self._limits.a_minute if self._limits.a_minute else 0.0
        with self._lock:
            now = self._clock.now()
            turn = max(now, self._not_before)
            self._not_before = turn + spacing
        if turn > now:
            self._clock.wait(turn - now)

    def _back_off(self, error: ProposerError, request: Request, number: int) -> float:
        """Seconds until the next try: doubled each time and shifted by chance, and never less than asked for."""
        longest = self._limits.longest_wait
        if error.after is not None and error.after > longest:
            what = f"{error.what} It asks to wait {error.after:g} s, more than the {longest:g} s allowed."
            raise ProposerError(what, error.fix) from error
        # Seeded by the request: the same run waits the same, and calls that failed together do not come back together.
        chance = random.Random(f"{request.id} {number}").uniform(0.5, 1.0)
        doubled = self._limits.first_wait * 2.0 ** (number - 1) * chance
        return max(error.after or 0.0, min(longest, doubled))

    def _hold_everyone(self, seconds: float) -> None:
        with self._lock:
            held = min(seconds, self._limits.longest_wait)
            self._not_before = max(self._not_before, self._clock.now() + held)
