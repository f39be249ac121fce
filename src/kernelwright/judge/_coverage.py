"""Whose code did the work? The judge stops the candidate's threads at random moments and sees where they are.

Sampled from outside, so it cannot be patched away. Time in the candidate's own libraries (or code it generated)
counts as its own; time in torch, numpy or any other installed library as theirs; waiting, the C library and the
interpreter count for nobody. A record of torch operators, made inside the process, gives the names.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from kernelwright.judge import _kernel
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._expected import Trial
from kernelwright.judge._status import Rejection, Status

PTRACE_CONT = 7
PTRACE_DETACH = 17
PTRACE_GETREGSET = 0x4204
PTRACE_SEIZE = 0x4206
PTRACE_INTERRUPT = 0x4207
NT_PRSTATUS = 1
WALL = 0x40000000
# Where the program counter stands in the register set.
COUNTER = {"x86_64": 16 * 8, "aarch64": 32 * 8}

ENOUGH = 30
# What torch itself may take in a call for making tensors and finding functions, before it counts as work.
GLUE_SECONDS = 5e-5
TORCH = ("libtorch", "libc10", "libshm", "_C.")
MOST_CALLS = 24
RECORDED_CALLS = 3
SECONDS = 0.4
GEMM = frozenset(
    "mm addmm bmm baddbmm matmul linear addmv mv dot convolution convolution_overrideable _convolution "
    "mkldnn_convolution mkldnn_linear thnn_conv2d slow_conv3d conv_transpose2d conv_transpose3d "
    "_scaled_mm".split()
)
# Operators that make or view tensors and compute nothing.
FREE = frozenset(
    "empty empty_like empty_strided new_empty new_empty_strided view _unsafe_view reshape as_strided "
    "as_strided_ expand permute transpose t detach detach_ alias slice select squeeze unsqueeze unbind "
    "split split_with_sizes narrow unfold view_as_real view_as_complex lift_fresh _reshape_alias "
    "is_pinned resize_ set_ real chunk diagonal numpy_T movedim swapaxes item _local_scalar_dense flatten "
    "resolve_conj resolve_neg to contiguous expand_as view_as reshape_as data_ptr stride size result_type".split()
)
NEUTRAL = (
    "libc.so",
    "libc-",
    "libm.so",
    "libm-",
    "libgomp",
    "libstdc++",
    "libgcc",
    "libpthread",
    "ld-linux",
    "libmvec",
)


@dataclass
class Coverage:
    """Samples by owner, and the torch operators that ran during one recorded call."""

    own: int = 0
    library: int = 0
    glue: int = 0
    other: int = 0
    operators: dict[str, int] = field(default_factory=dict)
    operator_seconds: dict[str, float] = field(default_factory=dict)
    call_seconds: list[float] = field(default_factory=list)
    libraries: dict[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The candidate's own share of the work."""
        return self._share(sum(self.operator_seconds.values()))

    def beyond_gemm(self) -> float:
        """The same, with library matrix products and convolutions left out of account."""
        gemm = sum(seconds for name, seconds in self.operator_seconds.items() if name in GEMM)
        if gemm and not self.own:
            return 0.0
        return self._share(sum(self.operator_seconds.values()) - gemm, forgiven=gemm)

    def _share(self, recorded: float, forgiven: float = 0.0) -> float:
        """Own time against library time: what operators recorded, and what samples show beyond them and glue."""
        total = self.own + self.library + self.glue + self.other
        second = statistics.median(self.call_seconds) / total if total else 0.0
        unrecorded = self.glue * second - recorded - forgiven - GLUE_SECONDS
        theirs = recorded + self.library * second + max(0.0, unrecorded)
        mine = self.own * second
        return mine / (mine + theirs) if mine + theirs else 1.0

    def to_json(self) -> dict[str, Any]:
        return {
            "own_samples": self.own,
            "library_samples": self.library + self.glue,
            "libraries": self.libraries,
            "operators": self.operators,
        }


def measure(contestant: Contestant, trial: Trial) -> Coverage:
    coverage = Coverage()
    _record(contestant, trial, coverage)
    _sample(contestant, trial, coverage)
    return coverage


def _record(contestant: Contestant, trial: Trial, coverage: Coverage) -> None:
    contestant.lay(trial.inputs, slot=0, shifted=True)
    said = contestant.ask({"op": "record", "times": RECORDED_CALLS}, timeout=60.0)
    with contestant.judged():
        for name, number in said["calls"].items():
            operator = str(name).removeprefix("aten::")
            if operator not in FREE:
                coverage.operators[operator] = int(number)
                coverage.operator_seconds[operator] = float(said["seconds"][name])


def _sample(contestant: Contestant, trial: Trial, coverage: Coverage) -> None:
    contestant.call(trial.inputs, slot=1)
    owners = _Owners(contestant.worker.pid)
    deadline = time.monotonic() + SECONDS
    for number in range(MOST_CALLS):
        contestant.lay(trial.inputs, slot=number % 3, shifted=True)
        with _Tracer(contestant.worker.pid) as tracer:
            _watch_one_call(contestant, tracer, owners, coverage)
        if coverage.own + coverage.library + coverage.glue >= ENOUGH or time.monotonic() > deadline:
            return


def _watch_one_call(contestant: Contestant, tracer: _Tracer, owners: _Owners, coverage: Coverage) -> None:
    with contestant.judged():
        contestant.worker.begin()
        while not contestant.worker.answered():
            time.sleep(random.uniform(2e-5, 2e-4))
            for address in tracer.look():
                owners.count(address, coverage)
        answer = contestant.worker.end_call(timeout=60.0)
    if isinstance(answer, dict):
        contestant.check_answer(answer)
    else:
        coverage.call_seconds.append(answer.seconds)


class _Tracer:
    """Holds a process's threads by ptrace for the time of one call."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._threads: list[int] = []
        self._offset = COUNTER[os.uname().machine]

    def __enter__(self) -> _Tracer:
        for name in os.listdir(f"/proc/{self._pid}/task"):
            if _ptrace(PTRACE_SEIZE, int(name)) == 0:
                self._threads.append(int(name))
        if not self._threads:
            raise Rejection(Status.TAMPER, "keeps the judge from looking at its threads")
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            if self._stop(thread):
                _ptrace(PTRACE_DETACH, thread)

    def look(self) -> list[int]:
        """Where each thread stands now."""
        places = []
        for thread in self._threads:
            if self._stop(thread):
                places.append(self._counter(thread))
                _ptrace(PTRACE_CONT, thread)
        return places

    def _stop(self, thread: int) -> bool:
        if _ptrace(PTRACE_INTERRUPT, thread) != 0:
            return False
        try:
            _, status = os.waitpid(thread, WALL)
        except ChildProcessError:
            return False
        if os.WIFSTOPPED(status) and status >> 16 == 0 and os.WSTOPSIG(status) != signal.SIGTRAP:
            _ptrace(PTRACE_CONT, thread, os.WSTOPSIG(status))  # a signal of its own: let it have it
            return False
        return os.WIFSTOPPED(status)

    def _counter(self, thread: int) -> int:
        registers = (ctypes.c_uint64 * 64)()
        vector = _kernel.IoVec(ctypes.addressof(registers), ctypes.sizeof(registers))
        _kernel.libc.ptrace(PTRACE_GETREGSET, thread, ctypes.c_void_p(NT_PRSTATUS), ctypes.byref(vector))
        return int(registers[self._offset // 8])


def _ptrace(request: int, thread: int, data: int = 0) -> int:
    return int(_kernel.libc.ptrace(request, thread, None, ctypes.c_void_p(data)))


class _Owners:
    """Whose code lies at an address: read once from the process's memory map."""

    def __init__(self, pid: int) -> None:
        self._ranges: list[tuple[int, int, str]] = []
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                fields = line.split(maxsplit=5)
                if "x" in fields[1]:
                    start, stop = (int(part, 16) for part in fields[0].split("-"))
                    self._ranges.append((start, stop, fields[5].strip() if len(fields) > 5 else ""))

    def count(self, address: int, coverage: Coverage) -> None:
        path = next((path for start, stop, path in self._ranges if start <= address < stop), "[unknown]")
        owner = _owner(path)
        setattr(coverage, owner, getattr(coverage, owner) + 1)
        if owner in ("library", "glue"):
            name = os.path.basename(path)
            coverage.libraries[name] = coverage.libraries.get(name, 0) + 1


def _owner(path: str) -> str:
    name = os.path.basename(path)
    if path.startswith("["):
        return "other"
    if name.startswith("kernel-") or not path or path.startswith(("/memfd:", "/tmp/")):
        return "own"
    if name.startswith(NEUTRAL) or name.startswith(("python", "libpython")) or "lib-dynload" in path:
        return "other"
    return "glue" if name.startswith(TORCH) else "library"


def judge_policy(policy: str, coverage: Coverage, threshold: float = 0.5) -> None:
    """Raises where the work was done by code that is not the candidate's."""
    share = coverage.beyond_gemm() if policy == "gemm-only" else coverage.share
    if policy == "allowed" or share >= threshold:
        return
    names = ", ".join(sorted(coverage.operators, key=lambda n: -coverage.operator_seconds.get(n, 0.0))[:5])
    where = ", ".join(sorted(coverage.libraries)[:3])
    raise Rejection(
        Status.LIBRARY_ONLY,
        f"only {share:.0%} of the work ran in its own code; the rest in {names or where or 'libraries'}",
        coverage=share,
        **coverage.to_json(),
    )
