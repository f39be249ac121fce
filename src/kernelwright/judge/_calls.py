"""Where a call goes, read from the machine code before the address that it returns to. On x86-64 alone."""

from __future__ import annotations

from collections.abc import Callable

CALL, CALL_SLOT, JUMP_SLOT = b"\xe8", b"\xff\x15", b"\xff\x25"
# A stub may begin with a landing pad, and its jump with a prefix that says as much.
PAD, PREFIX = b"\xf3\x0f\x1e\xfa", b"\xf2"

Read = Callable[[int, int], bytes]


def called_from(returns_to: int, read: Read) -> int | None:
    """What is called by the instruction before this address; None where that is no call, or goes where a register says.

    `read`: so many bytes of the process's memory, fewer where there are none.
    """
    before = read(returns_to - 6, 6)
    if len(before) < 6:
        return None
    if before[:2] == CALL_SLOT:
        return _slot(returns_to + _offset(before[2:]), read)
    if before[1:2] == CALL:
        return _through_stub(returns_to + _offset(before[2:]), read)
    return None


def _through_stub(target: int, read: Read) -> int:
    """Where a stub of the linker's jumps on to; the target itself where it is none."""
    code = read(target, 16)
    skipped = len(PAD) * code.startswith(PAD)
    skipped += len(PREFIX) * code[skipped:].startswith(PREFIX)
    if code[skipped : skipped + 2] != JUMP_SLOT or len(code) < skipped + 6:
        return target
    behind = target + skipped + 6
    return _slot(behind + _offset(code[skipped + 2 : skipped + 6]), read) or target


def _slot(address: int, read: Read) -> int | None:
    """The address that lies in a slot of the linker's."""
    held = read(address, 8)
    return int.from_bytes(held, "little") if len(held) == 8 else None


def _offset(four: bytes) -> int:
    return int.from_bytes(four[:4], "little", signed=True)
