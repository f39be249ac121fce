"""The user's program, run again and again in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelwright.trace._error import TraceError

TAIL = 2000


@dataclass(frozen=True)
class Program:
    """A script with its arguments. Trusted: it is the user's own, and runs as if the user had started it."""

    script: Path
    args: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.script.is_file():
            raise TraceError(f"there is no script {self.script}", "check the path")
        try:
            compile(self.script.read_bytes(), str(self.script), "exec")
        except (SyntaxError, ValueError) as error:
            raise TraceError(f"{self.script} is no Python program: {error}", "name a .py file") from error

    def found(self, role: str, *, quiet: bool, **order: Any) -> dict[str, Any]:
        """What the program's process found out in this role."""
        with self.ran(role, quiet=quiet, **order) as (found, _):
            return found

    @contextmanager
    def ran(self, role: str, *, quiet: bool, **order: Any) -> Iterator[tuple[dict[str, Any], Path]]:
        """The same, and the folder with what it left there. `quiet`: what the program prints is kept back."""
        with tempfile.TemporaryDirectory(prefix="kernelwright-trace-") as name:
            folder = Path(name)
            told = {"role": role, "script": str(self.script), "args": self.args, "folder": name, "outputs": False}
            (folder / "order.json").write_text(json.dumps({**told, **order}))
            said = self._start(folder / "order.json", quiet)
            yield self._read(folder, said), folder

    def _start(self, order: Path, quiet: bool) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "kernelwright.trace._child", str(order)]
        # The profiler's own lines are no part of what the program prints.
        environment = {**os.environ, "KINETO_LOG_LEVEL": "99"}
        return subprocess.run(command, env=environment, capture_output=quiet, check=False)

    def _read(self, folder: Path, said: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((folder / "found.json").read_text())
        except FileNotFoundError:
            found = {"failed": f"its process ended early, exit code {said.returncode}"}
        if "failed" in found:
            sys.stderr.write((said.stderr or b"").decode(errors="replace")[-TAIL:])
            raise TraceError(f"{self.script} failed: {found['failed']}", "make the program run by itself first")
        return found
