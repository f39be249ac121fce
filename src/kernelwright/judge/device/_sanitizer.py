"""Faults in a candidate's memory accesses, found by NVIDIA's compute-sanitizer over one call, on request.

Three tools: memcheck (outside its tensors), racecheck (threads of a block meeting in shared memory without a barrier)
and initcheck (reading what nobody has written). Kernels of libraries are not the candidate's fault.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright import backends
from kernelwright.judge._status import OutOfReach, Rejection, Status
from kernelwright.judge._verdict import Verdict
from kernelwright.judge.device._inspection import REPORT, Inspected, Tool, at
from kernelwright.judge.device._kernels import LIBRARY
from kernelwright.judge.device._prepared import DevicePrepared, DeviceTrial
from kernelwright.judge.device._programs import installed
from kernelwright.tasks import Task, TaskError, input_bytes, shrink

if TYPE_CHECKING:
    from kernelwright.judge._judge import Judge

PROGRAM = "compute-sanitizer"
INSTALL = "install the CUDA toolkit's compute-sanitizer and put it on PATH"
# What a fault that a tool finds means for the candidate.
TOOLS = {"memcheck": Status.CRASH, "racecheck": Status.NONDETERMINISTIC, "initcheck": Status.NONDETERMINISTIC}
SMALLER = "make the task smaller: --set NAME=VALUE"
# What a tool's own slowness and hunger for memory look like: nobody's fault.
STRAINED = frozenset({Status.TIMEOUT, Status.OOM})
MOST_SHOWN, MOST_PRINTED = 5, 20
# Larger tasks are shrunk for this: a fault does not need gigabytes to show, and tools are slow.
LARGEST_BYTES = 64 << 20
_BORDER = re.compile(r"^=========\s?")
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (?P<number>\d+) (?:errors?|hazards?)")
_WHERE = re.compile(r"\bat (?:0x[0-9a-f]+ in )?(.+?)\+0x[0-9a-f]+")
_FRAME = re.compile(r"Host Frame: .* in candidate\.py:(\d+)")
_FAULT = re.compile(r"^(?:Invalid|Misaligned|Uninitialized|Error: (?!No attachable)|Warning: Race|Barrier error|Race)")


@dataclass(frozen=True)
class Fault:
    """One thing that a tool found: in which kernel, the tool's first line about it, and those that follow."""

    kernel: str
    headline: str
    details: tuple[str, ...]

    @property
    def grave(self) -> bool:
        """Threads of one warp that meet without a barrier are warned of; they run together on most devices."""
        return not self.headline.startswith("Warning")

    @property
    def own(self) -> bool:
        return not LIBRARY.search(self.kernel)

    def to_json(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "what": self.headline, "details": list(self.details)}


@dataclass(frozen=True)
class Report:
    """What one tool said. `finished`: whether it got to its summary."""

    faults: list[Fault]
    finished: bool

    @property
    def own(self) -> list[Fault]:
        return [fault for fault in self.faults if fault.own and fault.grave]

    def to_json(self) -> dict[str, Any]:
        others = [fault for fault in self.faults if fault not in self.own]
        return {
            "faults": [fault.to_json() for fault in self.own[:MOST_SHOWN]],
            "warnings": [fault.to_json() for fault in others[:MOST_SHOWN]],
        }


def find() -> str:
    """Where the program is. Raises OutOfReach where it is not installed."""
    found = installed(PROGRAM)
    if found is None:
        raise OutOfReach(f"the sanitizer was asked for, and {PROGRAM} is not installed", INSTALL)
    return found


def check_possible(on_device: bool) -> None:
    """Raises OutOfReach where candidates like this cannot be looked at here."""
    if not on_device:
        usable = backends.usable_gpu()
        why = "this candidate does not run on one" if usable else backends.without_device()
        raise OutOfReach(f"the sanitizer looks at kernels on a GPU: {why}", "leave --sanitize out")
    find()


def tool(name: str, program: str) -> Tool:
    options = ("--tool", name, "--log-file", REPORT, "--print-limit", str(MOST_PRINTED))
    return Tool(f"{PROGRAM} {name}", (program, *options), at(Path(program)))


# *** reading ***


def read(report: str) -> Report:
    """The faults in a report."""
    lines = [_BORDER.sub("", line).rstrip() for line in report.splitlines() if _BORDER.match(line)]
    return Report(list(_faults(lines)), any(map(_SUMMARY.search, lines)))


def _faults(lines: list[str]) -> Iterator[Fault]:
    for index, line in enumerate(lines):
        if _FAULT.match(line):
            rest = list(_following(lines[index + 1 :]))
            where = _WHERE.search("\n".join((line, *rest)))
            yield Fault(where[1][:300] if where else "", line, tuple(_details(rest)))


def _following(lines: list[str]) -> Iterator[str]:
    """The lines that belong to a fault: they are indented."""
    return (line.strip() for line in itertools.takewhile(lambda line: line.startswith(" "), lines))


def _details(lines: list[str]) -> Iterator[str]:
    """What is said of a fault; of the calls that led to it, the line of the candidate."""
    yield from itertools.takewhile(lambda line: not line.startswith("Saved host backtrace"), lines)
    called = next((found for found in map(_FRAME.match, lines) if found), None)
    if called:
        yield f"called from line {called[1]} of the candidate"


# *** running ***


def sanitize(judge: Judge, task: Task, source: str, verdict: Verdict) -> Verdict:
    """The verdict on an accepted candidate after the three tools have looked at a call of it."""
    start = time.perf_counter()
    session = _Session(judge, _prepared(judge, task, shrinking=verdict.specialised is False), source)
    try:
        session.run()
    except Rejection as rejection:
        verdict = replace(
            verdict, status=rejection.status, stage="sanitize", message=rejection.message, time_ms={}, speedup={}
        )
        verdict.evidence.update(rejection.evidence)
    verdict.evidence["sanitizer"] = {
        "inputs_bytes": session.trial.inputs.nbytes,
        "tools": {name: report.to_json() for name, report in session.reports.items()},
    }
    took = time.perf_counter() - start
    seconds = {**verdict.seconds, "sanitize": round(took, 4)}
    return replace(verdict, seconds={**seconds, "total": round(verdict.seconds["total"] + took, 4)})


def _prepared(judge: Judge, task: Task, *, shrinking: bool) -> DevicePrepared:
    """A small task of the same kind, if the candidate takes other sizes too; where there is none, the task itself."""
    try:
        found = judge.prepare(_small(task) if shrinking else task, on_device=True)
    except TaskError:
        found = judge.prepare(task, on_device=True)
    assert isinstance(found, DevicePrepared)
    return found


def _small(task: Task) -> Task:
    """The task, or one of the same kind with fewer bytes, where its sizes allow it."""
    size = input_bytes(task)
    found = shrink(task, size / LARGEST_BYTES) if size is not None and size > LARGEST_BYTES else None
    return found.task if found else task


class _Session:
    """One candidate under each tool in turn."""

    def __init__(self, judge: Judge, prepared: DevicePrepared, source: str) -> None:
        self._judge, self._prepared, self._source = judge, prepared, source
        self.reports: dict[str, Report] = {}
        trials: list[Any] = [trial for trial in prepared.trials if trial.family == "given"]
        self.trial: DeviceTrial = min(trials, key=lambda trial: trial.inputs.nbytes)

    def run(self) -> None:
        """Raises Rejection for the first tool that finds a fault."""
        program = find()
        self._prepared.use_weights(self._prepared.weight_seed)
        for name, status in TOOLS.items():
            report, failure = self._look(tool(name, program))
            self.reports[name] = report
            if report.own:
                raise _rejection(name, status, report.own)
            if failure is not None and failure.status not in STRAINED:
                raise failure
            if failure is not None or not report.finished:
                raise OutOfReach(f"{PROGRAM} {name} did not finish{_why(failure)}", SMALLER)

    def _look(self, with_tool: Tool) -> tuple[Report, Rejection | None]:
        judge = self._judge
        try:
            inspected = Inspected(
                judge.template, self._prepared, judge.builder, self._source, with_tool, limits=judge.limits
            )
        except Rejection as rejection:
            return Report([], finished=False), rejection
        try:
            return read(inspected.call_once(self.trial)), inspected.failure
        finally:
            inspected.close()


def _why(failure: Rejection | None) -> str:
    return f": the candidate {failure.message}" if failure else ""


def _rejection(name: str, status: Status, faults: list[Fault]) -> Rejection:
    first = faults[0]
    details = "; ".join(first.details[:6])
    more = f" ({len(faults)} such)" if len(faults) > 1 else ""
    return Rejection(status, f"{name} finds: {first.headline}{'; ' if details else ''}{details}{more}")
