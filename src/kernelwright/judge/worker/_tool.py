"""The worker of a tool that looks into kernels: starts it around a process in which a candidate is called.

The judge talks to that process (`inspected.py`) over this worker's channel. This worker waits until the tool has ended
and hands over what it reported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kernelwright.judge._channel import Channel, Message
from kernelwright.judge.worker._candidate import prepare_home
from kernelwright.judge.worker._driver import failure


def main(channel: Channel) -> None:
    prepare_home()
    os.environ.pop("LD_PRELOAD", None)  # the tool brings its own
    message, fds = channel.receive_fds()
    try:
        answer: Message = {"op": "reported", "exit": _run(message, channel, fds[0])}
    except OSError as error:
        answer = failure(error)
    channel.send(answer)


def _run(message: Message, channel: Channel, target: int) -> int:
    """Runs the tool in a folder of its own, where it writes its report."""
    folder = Path(os.environ["TMPDIR"]) / "tool"
    folder.mkdir()
    program = [sys.executable, "-I", "-m", "kernelwright.judge.worker.inspected"]
    ended = subprocess.run(
        [*message["command"], *program, str(channel.fileno()), message["device"]],
        cwd=folder,
        env=os.environ | message["settings"],
        pass_fds=(channel.fileno(),),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    report = folder / message["report"]
    if report.exists():
        with report.open("rb") as text:
            os.write(target, text.read(message["most_bytes"]))
    return ended.returncode
