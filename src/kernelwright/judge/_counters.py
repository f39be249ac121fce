"""What the processor counted during calls, by `perf stat` attached to the candidate's process from outside.

Whether perf runs here is found out by running it. Virtual machines often have no counters; then one line says so.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

EVENTS = ("cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses")
ANSWER_SECONDS, END_SECONDS = 5.0, 5.0


class NoCounters(Exception):
    """Why there are none, in one line."""


class Counters:
    """Counts in another process between `resume` and `pause`; `read` ends it and tells the sums.

    Raises NoCounters where perf is absent, may not be used, or counts nothing.
    """

    def __init__(self, pid: int) -> None:
        program = shutil.which("perf")
        if program is None:
            raise NoCounters("perf is not installed (apt-get install linux-perf)")
        control, self._control = os.pipe()
        self._answer, answer = os.pipe()
        self._folder = tempfile.TemporaryDirectory(prefix="kernelwright-")
        self._output = Path(self._folder.name) / "counters"
        events = ["-e", ",".join(EVENTS)]
        # Begins switched off and obeys the two pipes.
        options = ["-x", ";", "-D", "-1", "--control", f"fd:{control},{answer}", "-o", str(self._output)]
        try:
            self._perf = subprocess.Popen(
                [program, "stat", *options, *events, "-p", str(pid)],
                pass_fds=(control, answer),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=os.environ | {"LC_ALL": "C"},
            )
        finally:
            os.close(control)
            os.close(answer)

    def __enter__(self) -> Counters:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        for fd in (self._control, self._answer):
            os.close(fd)
        self._folder.cleanup()

    def resume(self) -> None:
        self._order(b"enable\n")

    def pause(self) -> None:
        self._order(b"disable\n")

    def _order(self, word: bytes) -> None:
        try:
            os.write(self._control, word)
            answered = os.read(self._answer, 16) if self._has_answered() else b""
        except BrokenPipeError:
            answered = b""
        if not answered:
            said = self._end()
            raise NoCounters(f"perf does not run here: {said or 'it gave no answer'}")

    def _has_answered(self) -> bool:
        """By poll: a judge may have more files open than `select` can tell apart."""
        poll = select.poll()
        poll.register(self._answer, select.POLLIN)
        return bool(poll.poll(ANSWER_SECONDS * 1000))

    def read(self) -> dict[str, float]:
        """The sums, by event; only events that were counted."""
        said = self._end()
        text = self._output.read_text() if self._output.exists() else ""
        found = parse(text)
        if not found:
            raise NoCounters(f"perf counts nothing here: {said or reason(text)}")
        return found

    def _end(self) -> str:
        """Ends perf; the first line it said about what went wrong."""
        if self._perf.stderr is None or self._perf.stderr.closed:
            return ""
        with contextlib.suppress(ProcessLookupError):
            self._perf.send_signal(signal.SIGINT)
        try:
            said = self._perf.communicate(timeout=END_SECONDS)[1]
        except subprocess.TimeoutExpired:
            self._perf.kill()
            said = self._perf.communicate()[1]
        lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip(" \t:")]
        # Ending perf is ours; it does not explain anything.
        return next((line for line in lines if "disabled" not in line and "enabled" not in line), "")


def parse(text: str) -> dict[str, float]:
    """`perf stat -x ;` by event. What could not be counted is left out."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        value, _, rest = line.partition(";")
        event = rest.split(";")[1].partition(":")[0] if rest.count(";") else ""
        with contextlib.suppress(ValueError):
            if event in EVENTS:
                found[event] = float(value)
    return found


def reason(text: str) -> str:
    """Why the events were not counted, in perf's own word."""
    words = {line.partition(";")[0].strip("<>") for line in text.splitlines() if line.startswith("<")}
    told = {"not supported": "the processor's counters are not available (common in virtual machines)"}
    return next((told.get(word, word) for word in sorted(words)), "it wrote nothing")
