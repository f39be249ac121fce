"""Whose code did the work? The judge stops the candidate's threads at random moments and sees where they are.

Sampled from outside, so it cannot be patched away. Time in the candidate's own libraries counts as its own, and so does
code that a driver wrote into memory if it is what was compiled for the candidate; time in any other generated code, in
torch, numpy or any other installed library as theirs; the maths library works for who called it; waiting, the C
library and the interpreter count for nobody. A record of torch operators, made inside the process, gives the names.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import functools
import math
import os
import random
import signal
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kernelwright import native
from kernelwright.judge import _kernel
from kernelwright.judge._calls import called_from
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._expected import Trial
from kernelwright.judge._machine_code import Code
from kernelwright.judge._placement import Attention
from kernelwright.judge._process import Answer, Worker, on_core, state
from kernelwright.judge._sandbox import SYSTEM, python_directories
from kernelwright.judge._status import Rejection, Status

PTRACE_CONT = 7
PTRACE_DETACH = 17
PTRACE_GETREGSET = 0x4204
PTRACE_SEIZE = 0x4206
PTRACE_INTERRUPT = 0x4207
NT_PRSTATUS = 1
WALL = 0x40000000
# Which registers hold the program counter, the stack pointer and, if any does, the address to return to.
COUNTER = {"x86_64": 16, "aarch64": 32}
STACK = {"x86_64": 19, "aarch64": 31}
LINK = {"aarch64": 30}
# The instruction before the one at which a thread waits in the kernel.
SYSTEM_CALL = {"x86_64": b"\x0f\x05", "aarch64": b"\x01\x00\x00\xd4"}
STACK_WORDS, DEEP_WORDS = 128, 1024

ENOUGH, FEW, MANY = 30, 8, 1000
# What torch itself may take in a call for making tensors and finding functions, before it counts as work: little, or
# what was measured with the candidate's kernels switched off, up to so many samples a call.
GLUE_SECONDS, MOST_GLUE, GLUE_SHARE = 1e-5, 0.4, 0.02
TORCH = ("libtorch", "libc10", "libshm", "_C.")
MOST_CALLS = 128
# Pauses between looks grow: a short call is seen at all, a long one is not slowed down.
LONGEST_PAUSE, PAUSE_GROWTH = 3e-5, 1.15
JOURNEYS = 16
# A thread that was stopped and let go again has run for a moment by that alone.
STEP_NANOSECONDS = 4000
RECORDED_CALLS = 2
# The best of so many calls, of more if they are short: then it is waking up that takes long now and then.
TIMED_CALLS, MOST_TIMED_CALLS, TIMED_SECONDS = 3, 16, 0.01
SECONDS, MOST_SECONDS = 0.8, 2.0
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
    "libstdc++",
    "libgcc",
    "libpthread",
    "ld-linux",
    "libffi",
    "allocator-",
    "libintelocl",
    "libtorch_python",  # the bindings: they find functions and check arguments, the work is done elsewhere
    "libintlc",
)
IN_MEMORY = "/memfd:"
GENERATED, MOST_GENERATED = "[generated code]", 64 << 20
WORKERS = ("own", "library", "glue")
# Threads of these spin while they wait for work.
POOLS = ("libgomp", "libomp", "libiomp", "libtbb")
# Of SYCL's driver: only generated code calls it, and its frames are deep and full of what lay there before.
DRIVER_MATHS = ("libocl_svml",)
MATHS = ("libm.so", "libm-", "libmvec")


@dataclass(frozen=True)
class Glue:
    """What torch does in a call of a candidate whose kernels are switched off: samples a call, and how sure that is."""

    rate: float
    variance: float

    @classmethod
    def of(cls, seen: Coverage) -> Glue:
        rate = (seen.glue + seen.library) / max(1, seen.calls)
        return cls(min(rate, MOST_GLUE), (seen.glue + seen.library + 1) / max(1, seen.calls) ** 2)


@dataclass
class Coverage:
    """Samples by owner, and the torch operators that ran during one recorded call."""

    own: int = 0
    library: int = 0
    glue: float = 0
    other: int = 0
    waiting: int = 0
    operators: dict[str, int] = field(default_factory=dict)
    operator_seconds: dict[str, float] = field(default_factory=dict)
    call_seconds: float = 0.0
    recorded_seconds: float = math.inf
    libraries: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    mere_glue: Glue | None = None

    @property
    def share(self) -> float:
        """The candidate's own share of the work."""
        mine, theirs = self._seconds(frozenset())
        return mine / (mine + theirs) if mine + theirs > 0 else float(not self.operators)

    def seconds(self, policy: str) -> tuple[float, float]:
        """Time in its own code and time in libraries that the policy does not allow."""
        return self._seconds(GEMM if policy == "gemm-only" else frozenset())

    def leans_on_gemm(self) -> bool:
        """Whether a library's matrix product takes a part of the time that no glue would.

        A part of the quickest call, of those recorded too: what its own process says of them can only speak against it.
        """
        gemm = sum(seconds for name, seconds in self.operator_seconds.items() if name in GEMM)
        return gemm > GLUE_SHARE * min(self.call_seconds, self.recorded_seconds)

    def doubt(self) -> float:
        """How much more of the time may be its own than the samples show: two standard errors."""
        if self.seen < FEW:
            return 0.0
        uncertain = self.own + 1.0
        if self.mere_glue is not None:
            uncertain += self.glue + self.mere_glue.variance * self.calls**2
        return 2 * math.sqrt(uncertain) / self.running * self.call_seconds

    @property
    def seen(self) -> float:
        """Samples of threads doing somebody's work."""
        return self.own + self.library + self.glue

    @property
    def running(self) -> float:
        """Samples of threads doing anything, the interpreter's work too."""
        return self.seen + self.other

    def _seconds(self, forgiven: frozenset[str]) -> tuple[float, float]:
        """Operators as torch recorded them; the rest as the samples fall, but for what glue may take."""
        everything = sum(self.operator_seconds.values())
        excused = sum(seconds for name, seconds in self.operator_seconds.items() if name in forgiven)
        rest = max(0.0, self.call_seconds - everything)
        if self.seen < FEW:
            return rest if self.own or not everything else 0.0, everything - excused
        each = self.call_seconds / self.running
        unrecorded = each * self.glue - everything - self._forgivable(each)
        return min(rest, each * self.own), everything - excused + max(0.0, unrecorded) + each * self.library

    def _forgivable(self, each: float) -> float:
        """What making tensors takes in a call: as measured, or so little that it need not be."""
        measured = 0.0 if self.mere_glue is None else each * self.calls * self.mere_glue.rate
        return max(GLUE_SECONDS, measured)

    def to_json(self) -> dict[str, Any]:
        return {
            "own_samples": self.own,
            "library_samples": round(self.library + self.glue),
            "libraries": self.libraries,
            "operators": self.operators,
        }


class Observer:
    """Watches a candidate at work, in whichever of its processes and however often it is asked to."""

    def __init__(self, journey_glue: float = 0.0) -> None:
        """`journey_glue`: how many samples of a call find torch describing the result, which is the judge's doing."""
        self.coverage = Coverage()
        self._silent: Observer | None = None
        self._journey_glue = journey_glue

    def check(self, contestant: Contestant, trial: Trial) -> None:
        """A full look: operators recorded, then calls watched until enough was seen, whatever was seen before."""
        _record(contestant, trial, self.coverage)
        took = _net_call_seconds(contestant, trial)
        self.coverage.call_seconds = min(took, self.coverage.call_seconds or took)
        self._watch_until_enough(contestant, trial, self.coverage.seen, self.coverage.running)

    def check_timed(self, contestant: Contestant, trial: Trial) -> None:
        """A look in a process that was timed: what is missing to enough, and a full one if libraries seem at work."""
        self._watch_until_enough(contestant, trial)
        if self.coverage.own < self.coverage.seen / 2:
            self.check(contestant, trial)

    def _watch_until_enough(
        self, contestant: Contestant, trial: Trial, seen: float = 0.0, running: float = 0.0
    ) -> None:
        """Calls are watched until so many samples more than these are there, or it takes too long."""
        number, start, found = 0, time.monotonic(), self.coverage
        with Attention():  # or the work that is to be seen leaves no core to see it from
            while not _seen_enough(found.seen - seen, found.running - running, number, time.monotonic() - start):
                contestant.lay(trial.inputs, slot=number % 3, shifted=True)
                self.watch(contestant)
                number += 1

    def excuse(self, silent: Contestant, trial: Trial) -> None:
        """Watches the candidate with its kernels switched off: what torch does then is no work of theirs.

        Each time makes it surer how much that is.
        """
        self._silent = self._silent or Observer(self._journey_glue)
        self._silent.check(silent, trial)
        self.coverage.mere_glue = Glue.of(self._silent.coverage)

    def forget_samples(self) -> None:
        self.coverage = replace(self.coverage, own=0, library=0, glue=0, other=0, waiting=0, libraries={}, calls=0)

    def watch(self, contestant: Contestant) -> Answer:
        """One call, its inputs laid, with the threads looked at while it runs."""
        owners = _Owners(contestant.worker.pid, contestant.libraries, contestant.codes)
        before = self.coverage.glue
        self.coverage.calls += 1
        with contestant.judged():
            _sample(contestant.worker, "go", owners, self.coverage)
            self.coverage.glue = max(before, self.coverage.glue - self._journey_glue)
            return contestant.note(contestant.worker.end_call(timeout=contestant.call_limit))


def journey_glue(worker: Worker) -> float:
    """How many samples of a journey without a call find torch at work, in a worker that is believed."""
    seen = Coverage()
    owners = _Owners(worker.pid, set(), [])
    with Attention():
        for _ in range(JOURNEYS):
            _sample(worker, "ping", owners, seen)
            worker.end_call(timeout=MOST_SECONDS)
    return (seen.glue + seen.library) / JOURNEYS


def _sample(worker: Worker, op: str, owners: _Owners, coverage: Coverage) -> None:
    """Begins a call and counts whose code its threads are found in until the answer is there."""
    for place in places(worker, op):
        owners.count(place, coverage)


def places(worker: Worker, op: str = "go") -> Iterator[Place]:
    """Begins a call and looks at the worker's threads, at random moments, until the answer is there."""
    worker.thaw()
    with _Tracer(worker.pid) as tracer:
        worker.begin(op)
        longest = LONGEST_PAUSE
        while not worker.answered():
            time.sleep(random.uniform(0, longest))
            longest *= PAUSE_GROWTH
            yield from tracer.look()


def _record(contestant: Contestant, trial: Trial, coverage: Coverage) -> None:
    contestant.lay(trial.inputs, slot=0, shifted=True)
    said = contestant.ask({"op": "record", "times": RECORDED_CALLS}, timeout=RECORDED_CALLS * contestant.call_limit)
    with contestant.judged():
        for name, number in said["calls"].items():
            operator = str(name).removeprefix("aten::")
            if operator not in FREE:
                coverage.operators[operator] = int(number)
                coverage.operator_seconds[operator] = float(said["seconds"][name])
        coverage.recorded_seconds = min(coverage.recorded_seconds, float(said["whole"]))


def _seen_enough(seen: float, running: float, calls: int, seconds: float) -> bool:
    """On a busy machine most samples find threads waiting: then it takes longer."""
    if seen < FEW:
        return seconds > MOST_SECONDS or running > MANY
    return seen >= ENOUGH or calls >= MOST_CALLS or seconds > SECONDS


def _net_call_seconds(contestant: Contestant, trial: Trial) -> float:
    """The best of a few calls, without the journey."""
    calls: list[float] = []
    while len(calls) < TIMED_CALLS or (len(calls) < MOST_TIMED_CALLS and sum(calls) < TIMED_SECONDS):
        calls.append(contestant.call(trial.inputs, slot=1)[1].seconds)
    with contestant.judged():
        pings = [contestant.worker.go(timeout=contestant.call_limit, op="ping") for _ in calls]
    journey = min(ping.seconds for ping in pings if isinstance(ping, Answer))
    return max(min(calls) - journey, min(calls) / 10)


@dataclass(frozen=True)
class Place:
    """Where a thread stands: the code it runs, and what may be the addresses it will return to, nearest first."""

    address: int
    callers: Sequence[int]
    waiting: bool


SLEEPING = Place(0, (), waiting=True)
# As the kernel calls a thread that waits for something else than a core.
ASLEEP = ("S", "D")


class _Tracer:
    """Holds a process's threads by ptrace for the time of one call."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._threads: list[int] = []
        self._ran: dict[int, int] = {}
        self._machine = os.uname().machine

    def __enter__(self) -> _Tracer:
        self._seize_new()
        if not self._threads:
            raise Rejection(Status.TAMPER, "keeps the judge from looking at its threads")
        return self

    def _seize_new(self) -> None:
        for name in os.listdir(f"/proc/{self._pid}/task"):
            if int(name) not in self._threads and _ptrace(PTRACE_SEIZE, int(name)) == 0:
                self._threads.append(int(name))

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            if self._stop(thread):
                _ptrace(PTRACE_DETACH, thread)

    def look(self) -> list[Place]:
        """Where each thread stands now, those begun since the last look among them.

        One that has not had a core since then stands where it stood, and that says nothing new. One that sleeps is let
        sleep: woken to be looked at, it would stand in line for a core behind those that work.
        """
        with contextlib.suppress(OSError):
            self._seize_new()
        places = []
        for thread in self._threads:
            if state(self._pid, thread) in ASLEEP:
                places.append(SLEEPING)
            elif self._stop(thread):
                if self._has_run(thread):
                    places.append(self._place(thread))
                _ptrace(PTRACE_CONT, thread)
        return places

    def _has_run(self, thread: int) -> bool:
        before, now = self._ran.get(thread, 0), on_core(self._pid, thread)
        self._ran[thread] = now
        return now == 0 or now - before > STEP_NANOSECONDS

    def _stop(self, thread: int) -> bool:
        if _ptrace(PTRACE_INTERRUPT, thread) != 0:
            return False
        while True:
            try:
                _, status = os.waitpid(thread, WALL)
            except ChildProcessError:
                return False
            if not os.WIFSTOPPED(status) or status >> 16 or os.WSTOPSIG(status) == signal.SIGTRAP:
                return os.WIFSTOPPED(status)
            _ptrace(PTRACE_CONT, thread, os.WSTOPSIG(status))  # a signal of its own: let it have it, then stop

    def _place(self, thread: int) -> Place:
        registers = (ctypes.c_uint64 * 64)()
        vector = _kernel.IoVec(ctypes.addressof(registers), ctypes.sizeof(registers))
        _kernel.libc.ptrace(PTRACE_GETREGSET, thread, ctypes.c_void_p(NT_PRSTATUS), ctypes.byref(vector))
        link = [int(registers[LINK[self._machine]])] if self._machine in LINK else []
        address, stack = int(registers[COUNTER[self._machine]]), int(registers[STACK[self._machine]])
        waiting = self._read(address - 4, 4).endswith(SYSTEM_CALL[self._machine])
        words = memoryview(self._read(stack, 8 * DEEP_WORDS)).cast("Q")  # not a list: the thread waits meanwhile
        return Place(address, [*link, *words[:STACK_WORDS]] if link else words, waiting)

    def _read(self, address: int, length: int) -> bytes:
        """What lies in the process's memory, in whole words; nothing where it cannot be read."""
        got = _read(self._pid, address, length)
        return got if len(got) == length else got[: len(got) // 8 * 8]


def _ptrace(request: int, thread: int, data: int = 0) -> int:
    return int(_kernel.libc.ptrace(request, thread, None, ctypes.c_void_p(data)))


class _Owners:
    """Whose code lies at an address, by the process's memory map: its own is known by inode, or by what it is."""

    def __init__(self, pid: int, own: Collection[int], codes: list[Code]) -> None:
        self._ranges: list[tuple[int, int, str, str]] = []
        room, installed = MOST_GENERATED, _installed()
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                fields = line.split(maxsplit=5)
                if "x" in fields[1]:
                    start, stop = (int(part, 16) for part in fields[0].split("-"))
                    if len(fields) > 5:
                        path = fields[5].strip()
                        # The path too: a candidate can wait until a file of its own gets a certain inode number.
                        mine = int(fields[4]) in own and path.startswith(IN_MEMORY)
                        self._ranges.append((start, stop, path, "own" if mine else _owner(path, installed)))
                    else:
                        self._ranges += generated(pid, start, stop, codes if room > 0 else [])
                        room -= stop - start
        self._starts = [start for start, *_ in self._ranges]
        self._pid = pid
        self._leads: dict[int, bool] = {}

    def count(self, place: Place, coverage: Coverage) -> None:
        found = None if place.waiting else self._at(place.address)
        if found is not None and found[1] == "maths":
            found = self._caller(place, deep=os.path.basename(found[0]).startswith(DRIVER_MATHS))
        path, owner = found or ("", "waiting" if place.waiting else "other")
        setattr(coverage, owner, getattr(coverage, owner) + 1)
        if owner in ("library", "glue"):
            name = os.path.basename(path)
            coverage.libraries[name] = coverage.libraries.get(name, 0) + 1

    def _caller(self, place: Place, *, deep: bool) -> tuple[str, str] | None:
        """For whom a maths library works: the nearest on the stack; for the driver's, the nearest generated code.

        Vector functions keep frames of a kilobyte and more, and in what they have not written lie addresses of calls
        that are long over. So the nearest whose call leads into a maths library is believed before the nearest of all.
        """
        found = [(word, c) for word in place.callers if (c := self._at(word)) and c[1] in WORKERS]
        if deep:
            return next((c for _, c in found if c[0] == GENERATED), None)
        sure = next((c for word, c in found if self._leads_to_maths(word)), None)
        near = (c for word in place.callers[:STACK_WORDS] if (c := self._at(word)) and c[1] in WORKERS)
        return sure or next(near, None)

    def _leads_to_maths(self, returns_to: int) -> bool:
        """Whether the call before this address goes to a maths library; unknown counts as no."""
        if returns_to not in self._leads:
            target = called_from(returns_to, lambda address, length: _read(self._pid, address, length))
            found = self._at(target) if target else None
            self._leads[returns_to] = found is not None and found[1] == "maths"
        return self._leads[returns_to]

    def _at(self, address: int) -> tuple[str, str] | None:
        """The file whose code lies at an address, and its owner."""
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0 or address >= self._ranges[index][1]:
            return None
        return self._ranges[index][2:]


def generated(pid: int, start: int, stop: int, codes: list[Code]) -> list[tuple[int, int, str, str]]:
    """Executable memory of no file: where it is code that was compiled for the candidate, and the rest of it."""
    memory = _read(pid, start, min(stop - start, MOST_GENERATED)) if codes else b""
    found = sorted({span for code in codes for span in code.found_in(memory)})
    ranges, at = [], start
    for first, last in ((start + first, start + last) for first, last in found):
        ranges += [(at, first, GENERATED, "library")] if first > at else []
        ranges += [(max(at, first), last, GENERATED, "own")] if last > at else []
        at = max(at, last)
    return [*ranges, (at, stop, GENERATED, "library")] if at < stop else ranges


def _read(pid: int, address: int, length: int) -> bytes:
    """What lies in a process's memory; nothing where it cannot be read."""
    buffer = bytearray(length)
    with contextlib.suppress(OSError, OverflowError):
        return bytes(buffer[: _kernel.read_memory(pid, address, memoryview(buffer))])
    return b""


@functools.cache
def _installed() -> tuple[str, ...]:
    """Folders that no candidate can write to. Elsewhere a name proves nothing."""
    folders = (*SYSTEM, *python_directories(), str(native.cache_dir()))
    return tuple(f"{os.path.realpath(folder)}/" for folder in folders)


def _owner(path: str, installed: tuple[str, ...]) -> str:
    """Code that no compilation of the judge's made: a library's, torch's own, or nobody's in particular."""
    name = os.path.basename(path)
    if path in ("[vdso]", "[vsyscall]"):
        return "other"
    if not path.startswith(installed):
        return "library"
    if name.startswith((*NEUTRAL, "python", "libpython")) or "lib-dynload" in path:
        return "other"
    if name.startswith(POOLS):
        return "waiting"
    if name.startswith((*MATHS, *DRIVER_MATHS)):
        return "maths"
    return "glue" if name.startswith(TORCH) else "library"


def judge_policy(policy: str, coverage: Coverage) -> None:
    """Raises where libraries did most of the candidate's work."""
    mine, theirs = coverage.seconds(policy)
    small = theirs < mine + coverage.doubt() and not (policy == "forbidden" and coverage.leans_on_gemm())
    if policy == "allowed" or theirs == 0 or small:
        return
    names = ", ".join(sorted(coverage.operators, key=lambda n: -coverage.operator_seconds.get(n, 0.0))[:5])
    where = ", ".join(sorted(coverage.libraries)[:3])
    share = mine / (mine + theirs) if mine + theirs else 0.0
    raise Rejection(
        Status.LIBRARY_ONLY,
        f"only {share:.0%} of the work ran in its own code; the rest in {names or where or 'libraries'}",
        coverage=share,
        **coverage.to_json(),
    )
