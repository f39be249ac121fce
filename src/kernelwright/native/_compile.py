"""Runs the commands of a language in a private folder. Knows processes and time; no language, no cache."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kernelwright.native._errors import CompileError, from_log
from kernelwright.native._language import OUTPUT, Command, Plan, language_of
from kernelwright.native._source import Source


def compile_source(source: Source, output: Path, *, timeout: float | None = None) -> None:
    """Compile `source` into `output`: a shared library, or machine code that needs none.

    Raises CompileError with the compiler's whole output, or after `timeout` seconds over all its steps.
    """
    made = language_of(source).shortcut(source)
    if made is not None:
        output.write_bytes(made)
        return
    deadline = None if timeout is None else time.monotonic() + timeout
    for plan in language_of(source).plans(source):
        try:
            _carry_out(plan, output, deadline)
            break
        except CompileError as error:
            if not plan.gives_way(error):
                raise


def _carry_out(plan: Plan, output: Path, deadline: float | None) -> None:
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as name:
        folder = Path(name)
        for file, text in plan.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(text.encode(errors="replace"))
        for step in plan.steps:
            _run_together(step, folder, deadline)
        shutil.copyfile(folder / OUTPUT, output)


def _run_together(commands: Sequence[Command], folder: Path, deadline: float | None) -> None:
    with ThreadPoolExecutor(len(commands)) as hands:
        for done in [hands.submit(run, command, folder, deadline) for command in commands]:
            done.result()


def run(command: Command, folder: Path, deadline: float | None = None) -> None:
    """Runs a compiler; raises CompileError with what it printed if it fails, or is not done by the deadline."""
    # A group of its own: the driver's children (the compiler proper, the linker) die with it.
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"LC_ALL": "C", "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        log = _output(process, deadline).decode(errors="replace")
    if process.returncode < 0:
        raise CompileError(f"the compiler crashed on this text (signal {-process.returncode})", log)
    if process.returncode:
        raise from_log(log)


def _output(process: subprocess.Popen[bytes], deadline: float | None) -> bytes:
    left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
    try:
        return process.communicate(timeout=left)[0]
    except subprocess.TimeoutExpired as expired:
        os.killpg(process.pid, signal.SIGKILL)
        log = process.communicate()[0].decode(errors="replace")
        raise CompileError("compiling took longer than allowed and was stopped", log) from expired
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
