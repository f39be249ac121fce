"""The judge's hands: the warm template, the workers forked from it, and one call at a time into a worker.

The clock here is the only clock. A call begins when the judge says go and ends when the judge holds the addresses
of the result; whatever a candidate does to its own process cannot move either end.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright import native
from kernelwright.judge._channel import Channel, ChannelError, Closed, Garbage, Message, Silent, pair
from kernelwright.judge._limits import Limits
from kernelwright.judge._memory import Array, Leaf, Placed, Reader, Stage
from kernelwright.judge._placement import Threads
from kernelwright.judge._sandbox import Cage
from kernelwright.judge._status import InfraError, Rejection, Status

START_SECONDS = 120.0
END_SECONDS = 10.0
FREEZE_SECONDS = 5.0
STEP_SECONDS = 3e-5
# Bits of /proc/PID/pagemap: a page that is present or swapped, and one that belongs to a file.
IN_USE, SHARED = np.uint64(3 << 62), np.uint64(1 << 61)
LEFT = "closed its channel and lived on"
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "OMP_NUM_THREADS", "TZ")

Serve = Callable[[Message], tuple[Message, tuple[int, ...]]]


@dataclass(frozen=True, kw_only=True)
class Isolation:
    """What stands between a candidate and the rest of the machine."""

    bubblewrap: bool
    namespaces: bool
    filter: bool
    problem: str = ""

    @property
    def level(self) -> str:
        parts = [name for name in ("bubblewrap", "namespaces", "filter") if getattr(self, name)]
        return "+".join([*parts, "limits"])


@dataclass(frozen=True)
class End:
    """How a worker's process ended, as its supervisor saw it."""

    signal: int | None = None
    exit: int | None = None
    output: str = ""
    output_bytes: int = 0
    peak_bytes: int = 0
    problem: str = ""

    @classmethod
    def from_message(cls, message: Message) -> End:
        return cls(**{key: message[key] for key in cls.__dataclass_fields__ if key in message})


class Template:
    """A process with torch imported, from which workers are forked in milliseconds."""

    def __init__(
        self,
        *,
        limits: Limits,
        allocator: Path | None = None,
        bubblewrap: bool = True,
        early: tuple[str, Cage] | None = None,
    ) -> None:
        """`early`: the role and cage of a worker that opens a device while this process still imports torch."""
        self.limits = limits
        ours, theirs = pair()
        self.scratch = Path(tempfile.mkdtemp(prefix="kernelwright-"))
        # A file: who writes to a pipe that nobody reads waits there for ever, and his memory with him.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        wrap = _bubblewrap(self.scratch) if bubblewrap else []
        command = [*wrap, sys.executable, "-I", "-m", "kernelwright.judge.template", str(theirs.fileno())]
        command += ["early"] if early else []
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            env=_clean_environment(allocator, self.scratch),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            start_new_session=True,
        )
        theirs.close()
        self._channel = ours
        self._asking = threading.Lock()  # builds are begun beside a judgement
        self._spares: dict[tuple[str, Cage | None], list[tuple[Channel, Channel]]] = {}
        self._buffers: dict[str, dict[int, Array]] = {}
        self._imported: set[str] = set()
        if early:
            self.fork_ahead(early[0], 1, cage=early[1])
        self.isolation = self._greet(bool(wrap))

    def _greet(self, wrapped: bool) -> Isolation:
        from kernelwright.judge import _seccomp

        try:
            hello = self._channel.receive(START_SECONDS)
        except ChannelError as error:
            self._process.kill()
            self._process.wait()
            self._stderr.seek(0)
            said = self._stderr.read().decode(errors="replace")[-2000:]
            raise InfraError(f"the worker template did not start: {said.strip() or error}") from error
        problem = str(hello["namespaces"])
        return Isolation(bubblewrap=wrapped, namespaces=not problem, filter=_seccomp.supported(), problem=problem)

    def have(self, module: str) -> None:
        """Workers forked from now on have imported it, if it is there to import."""
        if module not in self._imported:
            self._imported.add(module)
            self._request({"op": "import", "module": module})

    def fork(self, role: str, *, cage: Cage | None) -> Worker:
        """A worker, from those forked ahead if there is one."""
        spares = self._spares.get((role, cage), [])
        talk, report = spares.pop() if spares else self._begin_fork(role, cage)
        return Worker(talk, report, self._buffers.setdefault(role, {}))

    def fork_ahead(self, role: str, number: int, *, cage: Cage | None) -> None:
        """Has workers forked while something else goes on."""
        self._spares.setdefault((role, cage), []).extend(self._begin_fork(role, cage) for _ in range(number))

    def drop_spares(self) -> None:
        """Ends the workers that were forked ahead and not needed."""
        for talk, report in itertools.chain.from_iterable(self._spares.values()):
            talk.close()
            report.close()
        self._spares.clear()

    def _begin_fork(self, role: str, cage: Cage | None) -> tuple[Channel, Channel]:
        talk, theirs = pair()
        report, supervisor = pair()
        request = {
            "op": "fork",
            "role": role,
            "cage": asdict(cage) if cage else None,
            "output_bytes": self.limits.output_bytes,
        }
        try:
            self._request(request, (theirs.fileno(), supervisor.fileno()))
        finally:
            theirs.close()
            supervisor.close()
        return talk, report

    def _request(self, request: Message, fds: tuple[int, ...] = ()) -> None:
        try:
            with self._asking:
                self._channel.send(request, fds)
        except Closed as error:
            raise InfraError("the worker template is gone") from error

    def hand_over(self, limits: Limits) -> Template:
        """To the next judge. Of the workers so far nothing is left, not even a file."""
        self.drop_spares()
        self.limits = limits
        for path in self.scratch.iterdir():
            _remove(path)
        return self

    def close(self) -> None:
        self.drop_spares()
        self._channel.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _clean_environment(allocator: Path | None, scratch: Path) -> dict[str, str]:
    """Nothing of the user's environment but what changes how programs run; above all, no key of anything."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    kept.update(HOME=str(scratch), TMPDIR=str(scratch), TORCHINDUCTOR_CACHE_DIR=str(_inductor_cache()))
    if allocator is not None:
        kept["LD_PRELOAD"] = str(allocator)
    return kept


def _inductor_cache() -> Path:
    """Compiled baselines outlive a run: they belong to the task, not to any candidate."""
    folder = native.cache_dir() / "inductor"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _bubblewrap(scratch: Path) -> list[str]:
    """The command that puts a program into bubblewrap, if that works here; else nothing."""
    program = shutil.which("bwrap")
    if program is None:
        return []
    # No --proc: it covers parts of /proc, and the kernel then refuses the candidates a /proc of their own.
    wrap = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    for folder in ("/proc", str(scratch), str(_inductor_cache())):
        wrap += ["--bind", folder, folder]
    # It says in PWD where the user stands, which is nobody's business inside.
    wrap += ["--die-with-parent", "--", "env", "-u", "PWD"]
    works = subprocess.run([*wrap, "/bin/true"], capture_output=True, check=False).returncode == 0
    return wrap if works else []


@dataclass(frozen=True, eq=False)
class Answer:
    """A finished call: where its results lie, and how long it took by the judge's clock.

    `more`: on a device, the results of the calls made in the same go.
    """

    tree: dict[str, Any]
    leaves: list[Leaf]
    seconds: float
    early: list[Any]
    more: list[Any] = field(default_factory=list)


class Worker:
    """One process that computes. Its words are requests and claims; its memory is read, not asked for."""

    def __init__(self, talk: Channel, report: Channel, buffers: dict[int, Array]) -> None:
        self._talk, self._report = talk, report
        self._calls = 0
        self._begun = 0.0
        self._stage: Stage | None = None
        self._address = 0
        self.end: End | None = None
        self.serve: Serve | None = None
        self.pid = self._greet()
        self.reader = Reader(self.pid, buffers)
        self._threads = Threads(self.pid)
        self._stopped = self._frozen = False

    def _greet(self) -> int:
        try:
            return self._talk.receive_pid(START_SECONDS)[1]
        except ChannelError as error:
            end = self.finish(kill=True)
            raise InfraError(f"a worker did not start: {end.problem or end.output or error}") from error

    # Talking

    def ask(self, message: Message, fds: tuple[int, ...] = (), *, timeout: float) -> Message:
        self.thaw()
        self._talk.send(message, fds)
        return self._await(timeout)

    def say(self, message: Message) -> None:
        """Asks for something whose answer is fetched later."""
        self.thaw()
        self._talk.send(message)

    def answer(self, *, timeout: float) -> Message:
        """The answer to what was said before."""
        return self._await(timeout)

    def answer_fds(self, *, timeout: float) -> tuple[Message, list[int]]:
        return self._talk.receive_fds(timeout)

    def _await(self, timeout: float, *, stop: bool = False) -> Message:
        """The answer, after serving whatever the worker needs on the way (a compilation, say).

        `stop`: the worker is stopped the moment it speaks, before a word of it is read.
        """
        deadline = time.monotonic() + timeout
        while True:
            if stop:
                self._talk.wait(max(0.0, deadline - time.monotonic()))
                self._stop()
                if not self._talk.whole():
                    self.thaw()
            answer = self._talk.receive(max(0.0, deadline - time.monotonic()))
            if answer.get("op") != "build" or self.serve is None:
                return answer
            start = time.monotonic()
            self.thaw()
            reply, fds = self.serve(answer)
            self._talk.send(reply, fds)
            for fd in fds:
                os.close(fd)
            deadline += time.monotonic() - start

    def quiet(self) -> bool:
        """Whether the worker has said nothing more than it was asked."""
        return not self._talk.waiting()

    # Calling

    def attach(self, stage: Stage, *, timeout: float) -> None:
        if self._stage is not stage:
            self._address = int(self.ask({"op": "attach"}, (stage.fd,), timeout=timeout)["address"])
            self._stage = stage

    def stage(self, placed: Placed, *, timeout: float, guard: int = 0, keep: int = 1) -> Message:
        """Tells the worker where the inputs of the next call lie, and gives its threads cores of their own."""
        order = {"op": "stage", "tree": placed.tree, "leaves": placed.leaves, "guard": guard, "keep": keep}
        self._threads.spread()
        try:
            return self.ask(order, timeout=timeout)
        finally:
            self._threads.release()

    def go(self, *, timeout: float, op: str = "go") -> Message | Answer:
        """One call. Answers with an `Answer`, or with the message in which the worker says why there is none.

        The worker is left stopped: whatever it has not done when it answers is not done.
        """
        self.begin(op)
        return self.end_call(timeout=timeout, stop=True)

    def begin(self, op: str = "go") -> None:
        """The clock starts here, before a frozen worker is let go."""
        self._calls += 1
        self._begun = time.perf_counter()
        self.thaw()
        self._talk.send({"op": op, "n": self._calls})

    def answered(self) -> bool:
        return self._talk.waiting()

    def end_call(self, *, timeout: float, stop: bool = False) -> Message | Answer:
        said = self._await(timeout, stop=stop)
        seconds = time.perf_counter() - self._begun
        if said.get("op") != "done":
            return said
        if said.get("n") != self._calls:
            raise Garbage("an answer to a call that was not made")
        return Answer(
            said.get("tree", {}), said.get("leaves", []), seconds, said.get("early", []), said.get("more", [])
        )

    def input_bytes(self, placed: Placed) -> Any:
        """The slot as this worker sees it now."""
        return self.reader.raw(self._address + placed.start, placed.stop - placed.start)

    def maps_inputs_at(self, address: int) -> bool:
        """Whether this address lies in the slots that inputs come from."""
        return self._stage is not None and 0 <= address - self._address < self._stage.slot_bytes * self._stage.slots

    def keeps_inputs_mapped(self) -> bool:
        """Whether the slots show once, where they were mapped. A second view is a way to write over inputs unseen."""
        if self._stage is None:
            return True
        file = file_in_maps(self._stage.fd)
        with open(f"/proc/{self.pid}/maps", encoding="utf-8", errors="replace") as lines:
            shown = [line.split(maxsplit=1)[0] for line in lines if line.split(maxsplit=5)[3:5] == file]
        edges = [int(edge, 16) for span in shown for edge in span.split("-")]
        inner = edges[1:-1]
        return inner[::2] == inner[1::2] and [edges[0], edges[-1]] == self._slots() if edges else False

    def _slots(self) -> list[int]:
        """Where the slots begin and end in this worker's memory."""
        assert self._stage is not None
        return [self._address, self._address + self._stage.slot_bytes * self._stage.slots]

    def shares_inputs(self, placed: Placed) -> bool:
        """Whether every page of these inputs, as this worker sees it, is still the judge's own page."""
        first, last = (self._address + placed.start) // mmap.PAGESIZE, (self._address + placed.stop) // mmap.PAGESIZE
        try:
            with open(f"/proc/{self.pid}/pagemap", "rb", buffering=0) as pagemap:
                pagemap.seek(8 * first)
                entries = np.frombuffer(pagemap.read(8 * (last - first + 1)), dtype=np.uint64)
        except OSError:
            return False
        return len(entries) == last - first + 1 and not bool(
            np.any(((entries & IN_USE) != 0) & ((entries & SHARED) == 0))
        )

    # Holding still

    def freeze(self) -> None:
        """Stops the worker and makes sure that all of it stands still."""
        if not self._frozen:
            self._stop()
            self._until_stopped()
            self._frozen = True

    def _stop(self) -> None:
        self._signal(signal.SIGSTOP)
        self._stopped = True

    def thaw(self) -> None:
        if self._stopped:
            self._signal(signal.SIGCONT)
            self._stopped = self._frozen = False

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.kill(self.pid, number)
        except ProcessLookupError as error:
            raise Closed("the worker is gone") from error

    def _until_stopped(self) -> None:
        """Every thread has to come to rest; one that waits for a core has not yet heard of the stop."""
        deadline = time.monotonic() + FREEZE_SECONDS
        while time.monotonic() < deadline:
            if all(state in "tTZX" for state in self._thread_states()):
                return
            time.sleep(STEP_SECONDS)  # not spinning: the threads to be stopped may need this core
        raise Silent("the worker could not be stopped")

    def page_faults(self) -> int:
        """How many pages the process has had to be given so far, by the kernel's count."""
        return int(_stat(f"/proc/{self.pid}/stat", 7) or 0)

    def cpu_seconds(self) -> float:
        """Processor time of all its threads so far, by the kernel's count."""
        clock = (~self.pid << 3) | 2
        try:
            return time.clock_gettime(clock)
        except OSError as error:
            raise Closed("the worker is gone") from error

    def queued_seconds(self) -> float:
        """How long its threads have stood in line for a core so far, by the kernel's count."""
        waits = (_schedstat(f"/proc/{self.pid}/task/{thread}/schedstat", 1) for thread in self._thread_numbers())
        return sum(waits) / 1e9

    def _thread_states(self) -> list[str]:
        paths = (f"/proc/{self.pid}/task/{thread}/stat" for thread in self._thread_numbers())
        return [state for path in paths if (state := _stat(path, 0))]

    def _thread_numbers(self) -> list[str]:
        try:
            return os.listdir(f"/proc/{self.pid}/task")
        except OSError as error:
            raise Closed("the worker is gone") from error

    # Ending

    def run_out(self, message: Message, *, timeout: float) -> tuple[End | None, float]:
        """Tells a worker its last order, and waits for its end; how it ended and after how long by the judge's clock.

        None where it did not end in time: then it is ended.
        """
        begun = time.perf_counter()
        self._talk.send(message)
        try:
            self.end = End.from_message(self._report.receive(timeout))
        except Silent:
            self.finish(kill=True)
            return None, time.perf_counter() - begun
        except ChannelError as error:
            raise InfraError(f"a supervisor is gone: {error}") from error
        seconds = time.perf_counter() - begun
        self._talk.close()
        self._report.close()
        return self.end, seconds

    def finish(self, *, kill: bool = True) -> End:
        """Ends the worker and everything it started; how it went."""
        if self.end is not None:
            return self.end
        self._talk.close()
        try:
            if kill:
                self._report.send({"op": "kill"})
            self.end = End.from_message(self._report.receive(END_SECONDS))
        except ChannelError:
            self.end = End(problem="its supervisor did not answer")
        self._report.close()
        return self.end

    def dismiss(self) -> None:
        """Ends the worker without waiting for how it went."""
        if self.end is None:
            self.end = End(problem="was dismissed")
            with contextlib.suppress(ChannelError):
                self._report.send({"op": "kill"})
            self._talk.close()
            self._report.close()

    def died(self) -> End:
        """The end of a worker that closed its channel by itself."""
        time.sleep(0.01)
        if self._alive():
            self.finish()
            self.end = End(problem=LEFT)
            return self.end
        return self.finish(kill=False)

    def _alive(self) -> bool:
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            if self._report.waiting():
                return False
            time.sleep(0.002)
        return True


def file_in_maps(fd: int) -> list[str]:
    """How the kernel names an open file where it lists what is mapped: its device and its number there.

    The number alone is not enough: a library on a disk may have the same one.
    """
    status = os.fstat(fd)
    return [f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}", str(status.st_ino)]


def _stat(path: str, field: int) -> str:
    """One field of a process's or thread's state, counted from behind its name; empty if it is gone."""
    try:
        with open(path, encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[field]
    except OSError:
        return ""


def state(pid: int, thread: int) -> str:
    """What a thread is doing, as the kernel's one letter; empty once it is gone."""
    return _stat(f"/proc/{pid}/task/{thread}/stat", 0)


def on_core(pid: int, thread: int) -> int:
    """Nanoseconds a thread has had a core; 0 once it is gone, or where the kernel does not tell."""
    return _schedstat(f"/proc/{pid}/task/{thread}/schedstat", 0)


def _schedstat(path: str, field: int) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read().split()[field])
    except (OSError, IndexError):
        return 0


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def verdict_of_end(end: End, stage: str) -> Rejection:
    """What a process's own end says about the candidate that ran in it."""
    if end.problem == LEFT:
        return Rejection(Status.TAMPER, f"closed the worker's channel to the judge during {stage}", stage=stage)
    shown = {"stage": stage, "output": end.output[-4000:], "signal": end.signal, "exit": end.exit}
    if end.signal == signal.SIGSYS:
        return Rejection(
            Status.TAMPER,
            f"made a forbidden system call during {stage} (reaching for another process or out of the sandbox)",
            **shown,
        )
    if end.signal == signal.SIGKILL:
        return Rejection(Status.OOM, f"was killed by the kernel during {stage}: out of memory", **shown)
    if end.signal is not None:
        return Rejection(Status.CRASH, f"crashed with {_signal_name(end.signal)} during {stage}", **shown)
    return Rejection(Status.CRASH, f"ended its own process (exit code {end.exit}) during {stage}", **shown)
