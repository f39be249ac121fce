"""The warm template: a process that has imported torch and done nothing else, and forks workers on request.

Started as `python -I -m kernelwright.judge.template FD [early]`. Holds no task, no expected value and no secret, so a
copy of it may be handed to hostile code, and judges may use it one after the other. Never runs a parallel region:
threads do not survive a fork. Workers that need more than torch are forked from a nursery: a copy of this process that
has loaded it, so that it is loaded once and no other worker has it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from kernelwright.judge import _placement, _sandbox
from kernelwright.judge._channel import Channel, Closed, Message, pair
from kernelwright.judge._sandbox import Cage

Main = Callable[[Channel], None]

# More than are ever at work at once.
MOST_CHILDREN = 64
ROOM_SECONDS, ROOM_STEP_SECONDS = 30.0, 0.002
CHILDREN = Path("/proc/thread-self/children")


def _mains() -> dict[str, Main]:
    """The workers there are, by role; importing them here is what makes a fork warm."""
    from kernelwright.judge.worker import (
        _build,
        _candidate,
        _compiled,
        _device_candidate,
        _project,
        _referee,
        _reference,
        _tool,
    )

    return {
        "candidate": _candidate.main,
        "reference": _reference.main,
        "compiled": _compiled.main,
        "build": _build.main,
        "device-candidate": _device_candidate.main,
        "referee": _referee.main,
        "tool": _tool.main,
        "project": _project.main,
    }


def _loaders() -> dict[str, Callable[[], None]]:
    """What is loaded in a nursery before the first worker of a role is forked there."""
    from kernelwright.judge.worker import _compiled

    return {"compiled": _compiled.load}


def serve(channel: Channel, mains: dict[str, Main], loaders: Mapping[str, Callable[[], None]]) -> None:
    problem = _sandbox.namespaces_problem()
    channel.send({"op": "ready", "namespaces": problem})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.enable()
    gc.collect()
    gc.freeze()
    nurseries: dict[str, Channel] = {}
    for request, fds in _requests(channel):
        own, role = [channel, *nurseries.values()], str(request.get("role"))
        if request["op"] == "import":
            _import(request["module"])
        elif role in loaders:
            if role not in nurseries:
                nurseries[role] = _nursery(own, fds, {role: mains[role]}, loaders[role])
            nurseries[role].send(request, tuple(fds))
        else:
            _fork_worker(own, request, fds, mains)
        _close(fds)


def _requests(channel: Channel) -> Iterator[tuple[Message, list[int]]]:
    with contextlib.suppress(Closed):
        while True:
            yield channel.receive_fds()


def _nursery(inherited: Iterable[Channel], fds: list[int], mains: dict[str, Main], load: Callable[[], None]) -> Channel:
    """Where workers of a role are asked for; the first of them wait until everything is loaded."""
    ours, theirs = pair()
    if os.fork() == 0:
        try:
            _sandbox.die_with_parent()
            _close(fds)  # else nobody would see the first worker's channel close
            for channel in (ours, *inherited):
                channel.close()
            _load(load)
            _raise(Channel(theirs), mains)
        finally:
            os._exit(0)
    theirs.close()
    return ours


def _load(load: Callable[[], None]) -> None:
    """Whoever needs what is missing or broken will say so itself."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # for the programs that loading tries out
    with contextlib.suppress(Exception):
        load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()


def _raise(channel: Channel, mains: dict[str, Main]) -> None:
    for request, fds in _requests(channel):
        _fork_worker([channel], request, fds, mains)
        _close(fds)


def _close(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)


def _fork_worker(inherited: Iterable[Channel], request: Message, fds: list[int], mains: dict[str, Main]) -> None:
    _await_room()
    if os.fork() == 0:
        _become_worker(inherited, request, fds, mains)


def _import(module: str) -> None:
    """Once here is cheaper than in every worker. Whoever needs it where it is missing or broken will say so itself."""
    with contextlib.suppress(Exception):
        importlib.import_module(module)
    gc.freeze()


def _fork_early(channel: Channel) -> None:
    """A worker that does not wait until this process has imported torch."""
    request, fds = channel.receive_fds()
    if os.fork() == 0:
        role = request["role"]
        _become_worker([channel], request, fds, {role: functools.partial(_run_early, role)})
    _close(fds)


def _run_early(role: str, channel: Channel) -> None:
    """Imports torch by itself; meanwhile the driver opens the device, which takes a third of a second."""
    opening = threading.Thread(target=_open_driver, daemon=True)
    opening.start()
    main = _mains()[role]
    gc.enable()
    opening.join()
    main(channel)


def _open_driver() -> None:
    with contextlib.suppress(OSError):  # without one the worker will say so itself
        driver = ctypes.CDLL("libcuda.so.1")
        if driver.cuInit(0) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0)


def _await_room() -> None:
    """Waits while too many workers are on their way out: the judge does not wait for their end, but memory runs out."""
    deadline = time.monotonic() + ROOM_SECONDS
    while time.monotonic() < deadline and _children() > MOST_CHILDREN:
        time.sleep(ROOM_STEP_SECONDS)


def _children() -> int:
    try:
        return len(CHILDREN.read_text().split())
    except OSError:
        return 0  # a kernel that does not tell


def _become_worker(inherited: Iterable[Channel], request: Message, fds: list[int], mains: dict[str, Main]) -> NoReturn:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _sandbox.die_with_parent()
        for channel in inherited:
            channel.close()
        os.setsid()
        talk, report = (socket.socket(fileno=fd) for fd in fds)
        cage = Cage(**request["cage"]) if request["cage"] else None
        _house(cage, mains[request["role"]], talk, Channel(report), request["output_bytes"])
        status = 0
    except BaseException as error:
        _tell(fds[1], f"{type(error).__name__}: {error}")
    finally:
        os._exit(status)


def _tell(fd: int, problem: str) -> None:
    try:
        Channel(socket.socket(fileno=fd)).send({"op": "ended", "problem": problem})
    except Exception:
        os.write(2, problem.encode())


def _house(cage: Cage | None, main: Main, talk: socket.socket, report: Channel, output_bytes: int) -> None:
    """Puts the supervisor where it belongs: as process 1 of the cage, or right here."""
    if cage is None or not cage.namespaces:
        _supervise(cage, main, talk, report, output_bytes)
        return
    _sandbox.enter_namespaces()
    if cage.tools:
        _sandbox.raise_loopback()
    pid = os.fork()
    if pid:
        talk.close()
        report.close()
        os.waitpid(pid, 0)
        return
    _sandbox.die_with_parent()
    _sandbox.build_root(cage.disk_bytes, cage.folders, cage.devices)
    _supervise(cage, main, talk, report, output_bytes)
    os._exit(0)


def _supervise(cage: Cage | None, main: Main, talk: socket.socket, report: Channel, output_bytes: int) -> None:
    """Runs the worker as a child, keeps the end of what it prints, says how it ended, leaves nothing behind."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _run_worker(cage, main, talk, report, writer)
    os.close(writer)
    talk.close()
    end = _Watch(pid, reader, report, output_bytes).until_end()
    with contextlib.suppress(Closed):  # who dismissed the worker does not wait to hear of its end
        report.send({"op": "ended", **end})


def _run_worker(cage: Cage | None, main: Main, talk: socket.socket, report: Channel, output: int) -> NoReturn:
    status = 70
    try:
        report.close()
        _sandbox.die_with_parent()
        os.setsid()
        _redirect(output)
        channel = Channel(talk)
        if cage is not None:
            _sandbox.confine(cage)
        channel.send({"op": "hello"})
        main(channel)
        status = 0
    except Closed:
        status = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        os._exit(status)


def _redirect(output: int) -> None:
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.close(nothing)


class _Watch:
    """Waits for a worker's end, draining its output so that it can neither block nor fill anything."""

    def __init__(self, pid: int, output: int, report: Channel, output_bytes: int) -> None:
        self._pid, self._output, self._report, self._keep = pid, output, report, output_bytes
        self._tail = b""
        self._total = 0
        self._handle = os.pidfd_open(pid)

    def until_end(self) -> dict[str, Any]:
        sources: list[Any] = [self._handle, self._output, self._report]
        while True:
            ready = select.select(sources, [], [])[0]
            if self._report in ready:
                os.kill(self._pid, signal.SIGKILL)
                sources.remove(self._report)
            if self._output in ready and not self._drain():
                sources.remove(self._output)
            if self._handle in ready:
                return self._ended()

    def _drain(self) -> int:
        part = os.read(self._output, 1 << 16)
        self._total += len(part)
        self._tail = (self._tail + part)[-self._keep :]
        return len(part)

    def _ended(self) -> dict[str, Any]:
        _, status, usage = os.wait4(self._pid, 0)
        os.set_blocking(self._output, False)
        try:
            while self._drain():
                pass
        except BlockingIOError:
            pass
        return {
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "peak_bytes": usage.ru_maxrss * 1024,
            "output": self._tail.decode(errors="replace"),
            "output_bytes": self._total,
        }


def main() -> None:
    _placement.leave_the_judges_core()  # before torch counts the cores
    _sandbox.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    gc.disable()  # while so much is imported that stays
    if sys.argv[2:] == ["early"]:
        _fork_early(channel)
    serve(channel, _mains(), _loaders())


if __name__ == "__main__":
    main()
