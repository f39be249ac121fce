"""A worker's shift, as both commands run it: from the first job to the end of all, or until somebody stops it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelwright.fleet._work import Worker, not_ours


class _Stopped(BaseException):
    """A scheduler says that the time is up. No Exception: nothing on the way may take it for a fault."""


def judge_spool(folder: Path, *, watch: bool, say: Callable[[str], None]) -> None:
    """Judges all that waits, or watches. Raises FleetError where something had to be left undone."""
    with Worker(folder, say=say) as worker, _until_stopped(say):
        number = worker.judge_waiting()
        if watch:
            worker.watch()
        say(f"{number} judged; nothing more waits" if not worker.left else f"{number} judged")
        if worker.left:
            raise not_ours(worker.left)


@contextmanager
def _until_stopped(say: Callable[[str], None]) -> Iterator[None]:
    """SIGTERM is how batch schedulers end a job: what was taken waits again, and the worker leaves in peace."""

    def stop(*_: object) -> None:
        raise _Stopped

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except (_Stopped, KeyboardInterrupt):
        say("stopped; what was not judged waits")
    finally:
        signal.signal(signal.SIGTERM, before)
