"""Judges of one machine take turns: two that time kernels on the same cores at once would both be wrong.

Whoever judges holds a lock on each of its cores, in files that every judge of this user finds; one that ends, however
it ends, lets go. Judges that were given different cores do not wait for each other. On a device only who times waits.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from kernelwright import native

# Some network file systems have no locks: then there are no turns.
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def turn() -> Iterator[float]:
    """Alone on the cores of this process; tells for how many seconds that had to be waited for."""
    asked = time.monotonic()
    with ExitStack() as held:
        for core in sorted(os.sched_getaffinity(0)):  # in one order, or two judges would wait for each other
            held.enter_context(_alone_on(f"core-{core}"))
        yield time.monotonic() - asked


def alone_on_device() -> AbstractContextManager[None]:
    """One measurement at a time on this device, whoever else judges on this machine."""
    return _alone_on("device-0")


@contextmanager
def _alone_on(name: str) -> Iterator[None]:
    path = native.cache_dir() / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)  # who shares a cache with others may only read their files
    try:
        _wait_for(lock)
        yield
    finally:
        os.close(lock)


def _wait_for(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as fault:
        if fault.errno not in NO_LOCKS:
            raise
