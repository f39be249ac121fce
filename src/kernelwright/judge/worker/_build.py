"""The compiler's worker: text in, a library's bytes out, or the other way round; in a cage like the candidate's."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from kernelwright import native
from kernelwright.judge._channel import Channel, Message
from kernelwright.judge.worker._driver import failure


def main(channel: Channel) -> None:
    os.environ.pop("LD_PRELOAD", None)  # the compiler is no candidate
    if not os.path.isdir(os.environ["TMPDIR"]):
        os.environ["TMPDIR"] = tempfile.tempdir = "/tmp"
    message, fds = channel.receive_fds()
    os.environ.update(message.get("settings", {}))
    try:
        channel.send(_list(message, *fds) if message["op"] == "list" else _compile(message, *fds))
    except Exception as error:
        channel.send(failure(error))


def _compile(message: Message, target: int) -> Message:
    size = _build(native.Source(**message["source"]), message["timeout"], target)
    return {"op": "built", "bytes": size}


def _list(message: Message, library: int, target: int) -> Message:
    """Has a program print what it finds in a library."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernel.so").write_bytes(os.pread(library, os.fstat(library).st_size, 0))
        subprocess.run(
            [*message["command"], "kernel.so"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=target,
            stderr=subprocess.DEVNULL,
            timeout=message["timeout"],
            check=True,
        )
    return {"op": "listed"}


def _build(source: native.Source, timeout: float, target: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        native.compile_source(source, library, timeout=timeout)
        return os.write(target, library.read_bytes())
