"""Time, and waiting that can be cut short."""

import threading
import time

from kernelwright.propose._request import ProposerError


class Clock:
    """Seconds that pass, and waits that end at once when `stop` is set."""

    def __init__(self, stop: threading.Event | None = None) -> None:
        self._stop = stop or threading.Event()

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Raises ProposerError when told to stop."""
        if self._stop.wait(max(0.0, seconds)):
            raise ProposerError("stopped while waiting for an answer.")
