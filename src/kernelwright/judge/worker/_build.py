"""The compiler's worker: text in, a shared library's bytes out, in a cage like the candidate's."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kernelwright import native
from kernelwright.judge._channel import Channel
from kernelwright.judge.worker._driver import failure


def main(channel: Channel) -> None:
    os.environ.pop("LD_PRELOAD", None)  # the compiler is no candidate
    if not os.path.isdir(os.environ["TMPDIR"]):
        os.environ["TMPDIR"] = tempfile.tempdir = "/tmp"
    message, fds = channel.receive_fds()
    os.environ.update(message["settings"])
    try:
        size = _build(native.Source(**message["source"]), message["timeout"], fds[0])
        channel.send({"op": "built", "bytes": size})
    except Exception as error:
        channel.send(failure(error))


def _build(source: native.Source, timeout: float, target: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        native.compile_source(source, library, timeout=timeout)
        return os.write(target, library.read_bytes())
