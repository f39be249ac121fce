"""System calls that Python's standard library does not wrap. Linux only; thin on purpose."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import time
from collections.abc import Sequence

libc = ctypes.CDLL(None, use_errno=True)
SEAL_TRIES, SEAL_SECONDS = 100, 0.002
WHOLE = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38

SYS_MOUNT_SETATTR = 442
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
AT_FDCWD = -100
AT_RECURSIVE = 0x8000
MOUNT_ATTR_READ_ONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4


def seal(fd: int, seals: int = WHOLE) -> None:
    """Closes shared memory against changes. The kernel itself may hold a page for a moment: then again."""
    for _ in range(SEAL_TRIES):
        try:
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
            return
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            time.sleep(SEAL_SECONDS)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)


class IoVec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _MountAttr(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


libc.mount.argtypes = (
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_ulong,
    ctypes.c_char_p,
)
libc.process_vm_readv.argtypes = (
    ctypes.c_int,
    ctypes.POINTER(IoVec),
    ctypes.c_ulong,
    ctypes.POINTER(IoVec),
    ctypes.c_ulong,
    ctypes.c_ulong,
)
libc.process_vm_readv.restype = ctypes.c_ssize_t
libc.syscall.restype = ctypes.c_long


def check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    check(libc.unshare(flags), "unshare")


def prctl(option: int, value: int) -> None:
    check(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    encoded = [None if text is None else text.encode() for text in (source, target, kind, data)]
    check(libc.mount(encoded[0], encoded[1], encoded[2], flags, encoded[3]), f"mount {target}")


def make_read_only(target: str) -> None:
    """The mount at `target` and every mount below it: read-only, no set-uid programs, no devices."""
    attr = _MountAttr(MOUNT_ATTR_READ_ONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 0, 0)
    arguments = (AT_FDCWD, ctypes.c_char_p(target.encode()), AT_RECURSIVE, ctypes.byref(attr))
    check(libc.syscall(SYS_MOUNT_SETATTR, *arguments, ctypes.sizeof(attr)), f"mount_setattr {target}")


def make_read_only_mount(target: str) -> None:
    """This one mount read-only; what is mounted below it stays as it is."""
    attr = _MountAttr(MOUNT_ATTR_READ_ONLY, 0, 0, 0)
    arguments = (AT_FDCWD, ctypes.c_char_p(target.encode()), 0, ctypes.byref(attr))
    check(libc.syscall(SYS_MOUNT_SETATTR, *arguments, ctypes.sizeof(attr)), f"mount_setattr {target}")


def pivot_root(new: str, old: str) -> None:
    number = SYS_PIVOT_ROOT[os.uname().machine]
    check(
        libc.syscall(number, ctypes.c_char_p(new.encode()), ctypes.c_char_p(old.encode())),
        "pivot_root",
    )


def detach(target: str) -> None:
    check(libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def drop_capabilities() -> None:
    header = _CapHeader(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    check(libc.capset(ctypes.byref(header), nothing), "capset")


def read_memory(pid: int, address: int, target: memoryview) -> int:
    """Reads another process's memory into `target`; the number of bytes that could be read."""
    return read_ranges(pid, [(address, len(target))], target)


MOST_RANGES = 512


def read_ranges(pid: int, ranges: Sequence[tuple[int, int]], target: memoryview) -> int:
    """Reads ranges (address, length) one after the other into `target`; the number of bytes read."""
    done = 0
    base = ctypes.addressof(ctypes.c_char.from_buffer(target))
    for start in range(0, len(ranges), MOST_RANGES):
        part = ranges[start : start + MOST_RANGES]
        wanted = sum(length for _, length in part)
        got = _read_part(pid, part, base + done, wanted)
        done += got
        if got < wanted:
            break
    return done


def _read_part(pid: int, ranges: Sequence[tuple[int, int]], base: int, wanted: int) -> int:
    local = IoVec(base, wanted)
    remote = (IoVec * len(ranges))(*[IoVec(address, length) for address, length in ranges])
    return check(
        libc.process_vm_readv(pid, ctypes.byref(local), 1, remote, len(ranges), 0),
        "process_vm_readv",
    )
