"""One call of a candidate under a tool that looks into its kernels, in a cage like every other call.

Tools start the program they look into, so this is a process of its own, and a slow one. What it says is no proof: the
candidate's code runs beside the tool's. A candidate that hides from a tool hides its own faults.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from kernelwright import native
from kernelwright.judge._builder import Builder
from kernelwright.judge._channel import ChannelError, Message
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._limits import Limits
from kernelwright.judge._process import Template, Worker
from kernelwright.judge._sandbox import Cage
from kernelwright.judge._status import InfraError, Rejection, Status
from kernelwright.judge.device._prepared import DevicePrepared, DeviceTrial

ROLE = "tool"
# Where a tool is told to write, in the folder that it runs in.
REPORT = "report"
LARGEST_REPORT = 16 << 20
START_SECONDS, END_SECONDS = 120.0, 60.0
# A tool makes everything slower, some of it by far.
SLOWER = 20.0
# Every tensor an allocation of its own: a tool then knows where each one ends.
SETTINGS = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "CUDA_MODULE_LOADING": "LAZY"}


@dataclass(frozen=True)
class Tool:
    """A program that starts another one and writes what it saw of it into `REPORT`. `folders`: what it needs to see."""

    name: str
    command: tuple[str, ...]
    folders: tuple[str, ...] = ()


def at(program: Path) -> tuple[str, ...]:
    """The folders in which a tool's own files lie, its links followed."""
    found = {str(path.parent) for path in (program, program.resolve())}
    return tuple(sorted(found))


class Inspected(Contestant):
    """A candidate's process with a tool around it."""

    _prepared: DevicePrepared

    def __init__(
        self, template: Template, prepared: DevicePrepared, builder: Builder, source: str, tool: Tool, *, limits: Limits
    ) -> None:
        self._tool = tool
        self._ended = False
        self.failure: Rejection | None = None
        self._report = os.memfd_create("report")
        slow = replace(limits, load_s=SLOWER * limits.load_s, call_s=SLOWER * limits.call_s)
        super().__init__(template, prepared, builder, source, limits=slow)

    def _fork(self, template: Template) -> Worker:
        if not template.isolation.namespaces:
            why = "without namespaces, which are not to be had here, a candidate beside it could reach other processes"
            raise InfraError(f"{self._tool.name} is not used: {why}")
        worker = template.fork(ROLE, cage=self._cage(template))
        device = "cuda" if self._prepared.workshop.place.kind == "cuda" else "cpu"
        order: Message = {
            "op": "inspect",
            "command": list(self._tool.command),
            "device": device,
            "settings": SETTINGS,
            "report": REPORT,
            "most_bytes": LARGEST_REPORT,
        }
        try:
            answer = worker.ask(order, (self._report,), timeout=START_SECONDS)
        except ChannelError as error:
            end = worker.finish()
            raise InfraError(f"{self._tool.name} does not start: {end.output.strip()[-300:] or error}") from error
        if answer.get("op") != "hello":
            end = worker.finish(kill=False)
            said = answer.get("message") or self.report().strip()[-300:] or end.output.strip()[-300:]
            raise InfraError(f"{self._tool.name} does not run here: {said or 'it says nothing'}")
        return worker

    def _cage(self, template: Template) -> Cage:
        workshop = self._prepared.workshop
        return Cage(
            namespaces=template.isolation.namespaces,
            memory_bytes=self._limits.memory_bytes,
            disk_bytes=self._limits.disk_bytes,
            spawns=True,
            tools=True,
            devices=workshop.place.nodes,
            folders=tuple(str(path) for path in (native.toolkit_folder(),) if path) + self._tool.folders,
        )

    def call_once(self, trial: DeviceTrial, *, warm: int = 0) -> str:
        """Makes one call and ends; what the tool reports. A call that fails is a report too: see `failure`.

        `warm`: calls before it, which a tool that waits for a sign does not look at.
        """
        self.stage_name = "inspect"
        tree, leaves, fd = self._prepared.carry(trial.inputs)
        try:
            self.ask({"op": "inputs", "tree": tree, "leaves": leaves}, (fd,), timeout=self._limits.call_s)
            self.ask({"op": "call", "warm": warm}, timeout=self._limits.call_s)
        except Rejection as rejection:
            self.failure = rejection
        finally:
            os.close(fd)
        if not self._ended:
            self._end()
        return self.report()

    def check_answer(self, answer: Message) -> Message:
        """The tool's end, where an answer of the candidate's was due, is the candidate's end."""
        if answer.get("op") == "reported":
            self._ended = True
            raise Rejection(Status.CRASH, f"ended its own process during {self.stage_name}", stage=self.stage_name)
        return super().check_answer(answer)

    def _end(self) -> None:
        """Lets the program end, and waits for the tool's last word; if that never comes, the report is what it is."""
        with contextlib.suppress(ChannelError):
            self.worker.ask({"op": "leave"}, timeout=END_SECONDS)

    def report(self) -> str:
        return os.pread(self._report, LARGEST_REPORT, 0).decode(errors="replace")

    def close(self) -> None:
        super().close()
        os.close(self._report)
