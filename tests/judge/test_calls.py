"""Where calls go, read from machine code."""

import struct

import pytest

from kernelwright.judge._calls import called_from

SITE, STUB, SLOT, MATHS = 0x1000, 0x8000, 0x20000, 0x7F0000001230


def memory(*pieces: tuple[int, bytes]):
    """Reads from pieces that lie at addresses; nothing elsewhere."""

    def read(address: int, length: int) -> bytes:
        for start, held in pieces:
            if start <= address < start + len(held):
                return held[address - start : address - start + length]
        return b""

    return read


def near(target: int, behind: int) -> bytes:
    return struct.pack("<i", target - behind)


def call(target: int) -> tuple[int, bytes]:
    """Six bytes that end with a call, at the site."""
    return SITE - 6, b"\x90\xe8" + near(target, SITE)


@pytest.mark.parametrize("before", [b"", b"\xf3\x0f\x1e\xfa", b"\xf3\x0f\x1e\xfa\xf2", b"\xf2"])
def test_a_stub_is_followed(before: bytes) -> None:
    jump = before + b"\xff\x25" + near(SLOT, STUB + len(before) + 6)
    read = memory(call(STUB), (STUB, jump + b"\x90" * 16), (SLOT, struct.pack("<Q", MATHS)))
    assert called_from(SITE, read) == MATHS


def test_a_function_is_where_the_call_goes() -> None:
    assert called_from(SITE, memory(call(STUB), (STUB, b"\x55" * 16))) == STUB


def test_a_call_through_a_slot_is_followed() -> None:
    site = (SITE - 6, b"\xff\x15" + near(SLOT, SITE))
    assert called_from(SITE, memory(site, (SLOT, struct.pack("<Q", MATHS)))) == MATHS


@pytest.mark.parametrize("code", [b"\x90" * 6, b"\x90\x90\x90\x90\xff\xd0", b""])
def test_what_is_no_call_or_goes_where_a_register_says_is_not_known(code: bytes) -> None:
    assert called_from(SITE, memory((SITE - 6, code))) is None
