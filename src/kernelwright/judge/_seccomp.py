"""The system-call filter of a candidate's process.

New processes and programs are refused with an error (honest code may ask and cope). Calls that only make sense
as an attack on another process, on the sandbox or on a stop end the process with SIGSYS: tampering, to the judge.
"""

from __future__ import annotations

import ctypes
import os
import struct

from kernelwright.judge._kernel import PR_SET_NO_NEW_PRIVS, check, libc, prctl

PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
KILL = 0x80000000
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
EPERM = 1
ENOSYS = 38
CLONE_THREAD = 0x00010000
PR_SET_DUMPABLE = 4
F_SETSIG = 10

LOAD_WORD = 0x20
JUMP_EQUAL = 0x15
JUMP_AT_LEAST = 0x35
JUMP_ANY_BIT = 0x45
RETURN = 0x06

OFFSET_NUMBER = 0
OFFSET_ARCHITECTURE = 4
OFFSET_ARGUMENTS = 16

# Names by what happens to them; numbers by machine (the kernel's own tables).
# Memory in files would not count against the limits.
SPAWNING = ("fork", "vfork", "execve", "execveat")
REFUSED = ("memfd_create", "memfd_secret", "shmget")
FATAL = (
    "timer_create",
    "mq_notify",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "tkill",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "pidfd_send_signal",
    "pidfd_getfd",
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "swapon",
    "process_madvise",
    "mount_setattr",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "keyctl",
    "add_key",
    "request_key",
    "kexec_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "io_uring_setup",
)
# What programs need that look into another process of their own cage.
TOOLS = frozenset({"timer_create", "ptrace", "process_vm_readv", "process_vm_writev", "tkill", "rt_tgsigqueueinfo"})

NUMBERS = {
    "x86_64": {
        "fork": 57,
        "vfork": 58,
        "execve": 59,
        "execveat": 322,
        "clone": 56,
        "clone3": 435,
        "kill": 62,
        "tgkill": 234,
        "prctl": 157,
        "fcntl": 72,
        "memfd_create": 319,
        "shmget": 29,
        "swapon": 167,
        "timer_create": 222,
        "mq_notify": 244,
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "tkill": 200,
        "rt_sigqueueinfo": 129,
        "rt_tgsigqueueinfo": 297,
        "unshare": 272,
        "setns": 308,
        "mount": 165,
        "umount2": 166,
        "pivot_root": 155,
        "chroot": 161,
        "bpf": 321,
        "perf_event_open": 298,
        "userfaultfd": 323,
        "keyctl": 250,
        "add_key": 248,
        "request_key": 249,
        "kexec_load": 246,
        "init_module": 175,
        "finit_module": 313,
        "delete_module": 176,
        "reboot": 169,
    },
    "aarch64": {
        "execve": 221,
        "execveat": 281,
        "clone": 220,
        "clone3": 435,
        "kill": 129,
        "tgkill": 131,
        "prctl": 167,
        "fcntl": 25,
        "memfd_create": 279,
        "shmget": 194,
        "swapon": 224,
        "timer_create": 107,
        "mq_notify": 184,
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "tkill": 130,
        "rt_sigqueueinfo": 138,
        "rt_tgsigqueueinfo": 240,
        "unshare": 97,
        "setns": 268,
        "mount": 40,
        "umount2": 39,
        "pivot_root": 41,
        "chroot": 51,
        "bpf": 280,
        "perf_event_open": 241,
        "userfaultfd": 282,
        "keyctl": 219,
        "add_key": 217,
        "request_key": 218,
        "kexec_load": 104,
        "init_module": 105,
        "finit_module": 273,
        "delete_module": 106,
        "reboot": 142,
    },
}
# Calls added since 5.1 have one number on every machine.
COMMON = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "process_madvise": 440,
    "memfd_secret": 447,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
}
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _argument(index: int) -> int:
    """Where the low half of an argument lies: the machines here are little-endian."""
    return OFFSET_ARGUMENTS + 8 * index


def _when(number: int, *steps: bytes) -> list[bytes]:
    """Runs `steps`, which must return, if the call has this number."""
    return [_step(JUMP_EQUAL, number, 0, len(steps)), *steps]


def _only_self(number: int, pid: int) -> list[bytes]:
    """Signals may go to this process alone."""
    return _when(
        number,
        _step(LOAD_WORD, _argument(0)),
        _step(JUMP_EQUAL, pid, 0, 1),
        _step(RETURN, ALLOW),
        _step(RETURN, KILL),
    )


def _threads_only(number: int) -> list[bytes]:
    return _when(
        number,
        _step(LOAD_WORD, _argument(0)),
        _step(JUMP_ANY_BIT, CLONE_THREAD, 0, 1),
        _step(RETURN, ALLOW),
        _step(RETURN, ERRNO | EPERM),
    )


def _stays_readable(number: int) -> list[bytes]:
    """A process may not hide its memory from the judge."""
    return _when(
        number,
        _step(LOAD_WORD, _argument(0)),
        _step(JUMP_EQUAL, PR_SET_DUMPABLE, 0, 1),
        _step(RETURN, KILL),
        _step(RETURN, ALLOW),
    )


def _no_chosen_signals(number: int) -> list[bytes]:
    """Descriptors may not raise a signal of the process's choice: one that continues it would undo a stop."""
    return _when(
        number,
        _step(LOAD_WORD, _argument(1)),
        _step(JUMP_EQUAL, F_SETSIG, 0, 1),
        _step(RETURN, KILL),
        _step(RETURN, ALLOW),
    )


def program(machine: str, pid: int, *, spawns: bool = False, tools: bool = False) -> bytes:
    """The filter as the kernel reads it. `spawns`: processes and programs may be started. `tools`: and signalled."""
    numbers = NUMBERS[machine] | COMMON
    steps = [
        _step(LOAD_WORD, OFFSET_ARCHITECTURE),
        _step(JUMP_EQUAL, ARCHITECTURES[machine], 1, 0),
        _step(RETURN, KILL),
        _step(LOAD_WORD, OFFSET_NUMBER),
    ]
    if machine == "x86_64":  # the x32 numbers would be a second spelling of every call
        steps += [_step(JUMP_AT_LEAST, 0x40000000, 0, 1), _step(RETURN, KILL)]
    for name in (*REFUSED, *(() if spawns else SPAWNING)):
        if name in numbers:
            steps += _when(numbers[name], _step(RETURN, ERRNO | EPERM))
    for name in FATAL:
        if name in numbers and not (tools and name in TOOLS):
            steps += _when(numbers[name], _step(RETURN, KILL))
    if not spawns:
        steps += _threads_only(numbers["clone"])
    steps += _when(numbers["clone3"], _step(RETURN, ERRNO | ENOSYS))
    if not tools:
        steps += _only_self(numbers["kill"], pid) + _only_self(numbers["tgkill"], pid)
    steps += _stays_readable(numbers["prctl"]) + _no_chosen_signals(numbers["fcntl"])
    steps.append(_step(RETURN, ALLOW))
    return b"".join(steps)


def supported() -> bool:
    return os.uname().machine in NUMBERS


def install(*, spawns: bool = False, tools: bool = False) -> None:
    """From here on this process and its threads live under the filter; there is no way back."""
    text = program(os.uname().machine, os.getpid(), spawns=spawns, tools=tools)
    buffer = ctypes.create_string_buffer(text, len(text))
    header = _Program(len(text) // 8, ctypes.addressof(buffer))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(header), 0, 0), "seccomp")
