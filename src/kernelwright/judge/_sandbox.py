"""The cage that a candidate's process lives in, built after a fork and before any of its code runs.

Two layers where the kernel allows: namespaces (own users, processes, mounts, network, IPC; a root made of a few
read-only directories and a small private /tmp) and, always, resource limits and a system-call filter.
What stays outside: nothing here knows what the process will do, or why.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.judge import _kernel, _seccomp

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/sys/devices/system")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
STAGING = ("/mnt", "/media", "/srv", "/sys")
NAMESPACES = (
    _kernel.CLONE_NEWUSER
    | _kernel.CLONE_NEWNS
    | _kernel.CLONE_NEWPID
    | _kernel.CLONE_NEWNET
    | _kernel.CLONE_NEWIPC
    | _kernel.CLONE_NEWUTS
)
INSIDE_ID = 1000
SECRET_PARENT = 0o755
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40


@dataclass(frozen=True, kw_only=True)
class Cage:
    """How much one process may take. `programs`: whether it may start others (a compiler must) and needs no filter.

    `spawns`: whether it may start others under the filter. `folders`: what it may read beside the system's directories
    and Python's. `devices`: which device nodes it sees; a driver needs a /proc that can be written, and address space
    without end. `tools`: whether processes in it may signal each other and talk over its own loopback, as programs do
    that look into another one.
    """

    namespaces: bool
    memory_bytes: int
    disk_bytes: int
    programs: bool = False
    folders: tuple[str, ...] = ()
    spawns: bool = False
    devices: tuple[str, ...] = ()
    tools: bool = False


def python_directories() -> list[str]:
    """Where this interpreter, its packages and our own code lie: what a worker may need to import."""
    found = [sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[1])]
    found += [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return sorted({os.path.realpath(path) for path in found if os.path.isdir(path)})


def enter_namespaces() -> None:
    """Leaves the host's namespaces. The next child forked is process 1 of the new world."""
    user, group = os.geteuid(), os.getegid()
    _kernel.unshare(NAMESPACES)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{INSIDE_ID} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{INSIDE_ID} {group} 1")


def raise_loopback() -> None:
    """Lets processes of these namespaces talk to each other over 127.0.0.1; nobody else is on that network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH22x", b"lo", IFF_UP | IFF_RUNNING)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


def build_root(disk_bytes: int, folders: Sequence[str] = (), devices: Sequence[str] = ()) -> None:
    """Replaces the file system by a small one: system and Python read-only, /tmp private and limited."""
    root = next(path for path in STAGING if os.path.isdir(path))
    _kernel.mount("none", "/", None, _kernel.MS_REC | _kernel.MS_PRIVATE)
    _kernel.mount("tmpfs", root, "tmpfs", _kernel.MS_NOSUID | _kernel.MS_NODEV, "size=4m,mode=755")
    for path in ("/tmp", "/dev/shm"):  # before the rest: what must be seen may itself lie below /tmp
        os.makedirs(root + path)
        size = f"size={disk_bytes},mode=1777"
        _kernel.mount("tmpfs", root + path, "tmpfs", _kernel.MS_NOSUID | _kernel.MS_NODEV, size)
    for source in _visible((*folders, *devices)):
        _show(root, source)
    os.makedirs(root + "/proc")
    written = 0 if devices else _kernel.MS_RDONLY
    _kernel.mount("proc", root + "/proc", "proc", _kernel.MS_NOSUID | _kernel.MS_NODEV | written)
    _move_into(root)
    _kernel.make_read_only_mount("/")


def _visible(folders: Sequence[str]) -> Iterator[str]:
    shown: list[str] = []
    for source in (*SYSTEM, *python_directories(), *folders, *SETTINGS, *DEVICES):
        if os.path.exists(source) and not any(source.startswith(parent + "/") for parent in shown):
            shown.append(source)
            yield source


def _show(root: str, source: str) -> None:
    target = root + source
    os.makedirs(os.path.dirname(target), mode=SECRET_PARENT, exist_ok=True)
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        Path(target).touch()
    _kernel.mount(source, target, None, _kernel.MS_BIND | _kernel.MS_REC)
    if not source.startswith("/dev/"):
        _kernel.make_read_only(target)


def _move_into(root: str) -> None:
    os.makedirs(root + "/.outside")
    _kernel.pivot_root(root, root + "/.outside")
    os.chdir("/")
    _kernel.detach("/.outside")
    os.rmdir("/.outside")


def confine(cage: Cage) -> None:
    """The last steps, in the process itself: limits, no privileges, the filter."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, cage.disk_bytes)
    if not cage.devices:
        _limit(resource.RLIMIT_AS, _pages(0) + 2 * cage.memory_bytes)
    _limit(resource.RLIMIT_DATA, _pages(5) + cage.memory_bytes)
    _limit(resource.RLIMIT_NOFILE, 1024)
    if cage.namespaces:
        _kernel.drop_capabilities()
    _kernel.prctl(_kernel.PR_SET_DUMPABLE, 1)
    _kernel.prctl(_kernel.PR_SET_NO_NEW_PRIVS, 1)
    if not cage.programs and _seccomp.supported():
        _seccomp.install(spawns=cage.spawns, tools=cage.tools)


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (ceiling, ceiling))


def _pages(field: int) -> int:
    """Bytes of one kind that this process has now: 0 address space, 5 data."""
    return int(Path("/proc/self/statm").read_text().split()[field]) * resource.getpagesize()


def die_with_parent() -> None:
    _kernel.prctl(_kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def namespaces_problem() -> str:
    """Why namespaces cannot be had here; empty if they can. Tries for real, in a child."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _try_namespaces(writer)
    os.close(writer)
    with open(reader, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(pid, 0)
    return "" if said == "ok" else said or "the trial process died"


def _try_namespaces(writer: int) -> None:
    said = "ok"
    try:
        enter_namespaces()
        if os.fork() == 0:
            _try_root(writer)
        os.wait()
        os._exit(0)
    except OSError as error:
        said = str(error)
    os.write(writer, said.encode())
    os._exit(0)


def _try_root(writer: int) -> None:
    said = "ok"
    with contextlib.suppress(BrokenPipeError):
        try:
            build_root(1 << 20)
        except OSError as error:
            said = str(error)
        os.write(writer, said.encode())
    os._exit(0)
