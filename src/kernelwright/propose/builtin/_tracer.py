"""The process that captures references, as seen from here: begun once, asked as often as there are tasks.

Loading torch with its exporter takes seconds, and forking who has done so takes milliseconds: `_trace.py` is who loads,
and every reference runs in a child of it. It leaves when nobody can ask it any more.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from kernelwright.propose.builtin._error import CannotWriteError

SECONDS = 120.0
# The exporter would open the device to note its random state, and who has done so cannot fork.
NO_DEVICE = {"CUDA_VISIBLE_DEVICES": ""}
PROGRAM = "kernelwright.propose.builtin._trace"


class Tracer:
    """Asks for one capture at a time. It is loading from the beginning on, while others do something else."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        command = [sys.executable, "-m", PROGRAM]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | NO_DEVICE,
        )
        self._end = weakref.finalize(self, _ended, self._process)

    def ask(self, wire: Mapping[str, Any]) -> dict[str, Any]:
        """What is said of this task. Raises CannotWriteError where nothing is said in time."""
        with self._lock:
            if self._process.poll() is not None:
                self._begin()
            line = self._answer(json.dumps(wire).encode() + b"\n")
            if line is None:
                self._end()
                raise CannotWriteError(f"the reference was not captured in {SECONDS:.0f} s.")
            if not line:
                self._end()
                raise CannotWriteError("the process that captures references ended.", f"Run: python -m {PROGRAM}")
        said: dict[str, Any] = json.loads(line)
        return said

    def _answer(self, asked: bytes) -> bytes | None:
        """A line; an empty one where there is nobody to write it, None where there was none in time."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):
            self._process.stdin.write(asked)
            self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], SECONDS)
        return self._process.stdout.readline() if ready else None


def _ended(process: subprocess.Popen[bytes]) -> None:
    """With whatever it has begun: a reference may hang."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@cache
def tracer() -> Tracer:
    """The one that all synthesisers of this process ask."""
    return Tracer()
