"""Messages arrive whole or not at all, and whatever else arrives has a name."""

import contextlib
import os
import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge._channel import LIMIT, MOST_FDS, Channel, ChannelError, Closed, Garbage, Silent, pair

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@contextlib.contextmanager
def connected() -> Iterator[tuple[Channel, socket.socket]]:
    ours, theirs = pair()
    try:
        yield ours, theirs
    finally:
        ours.close()
        theirs.close()


@pytest.fixture
def ends():
    with connected() as both:
        yield both


def framed(body: bytes) -> bytes:
    return struct.pack("!I", len(body)) + body


@given(message=st.dictionaries(st.text(), JSON, max_size=5))
def test_what_is_sent_is_received(message):
    with connected() as (ours, theirs):
        Channel(theirs).send(message)
        assert ours.receive(1.0) == message
        assert not ours.waiting()


def test_messages_keep_their_order_and_their_borders(ends):
    ours, theirs = ends
    for number in range(20):
        Channel(theirs).send({"number": number, "text": "x" * number})
    assert [ours.receive(1.0)["number"] for _ in range(20)] == list(range(20))


def test_a_message_in_small_pieces_is_put_together(ends):
    ours, theirs = ends
    data = framed(b'{"op":"hello"}')
    theirs.sendall(data[:2])
    theirs.sendall(data[2:9])
    theirs.sendall(data[9:])
    assert ours.receive(1.0) == {"op": "hello"}


def test_file_descriptors_ride_along(ends):
    ours, theirs = ends
    reader, writer = os.pipe()
    Channel(theirs).send({"op": "take"}, (writer,))
    message, fds = ours.receive_fds(1.0)
    assert message == {"op": "take"}
    os.write(fds[0], b"through the copy")
    assert os.read(reader, 100) == b"through the copy"
    for fd in (reader, writer, *fds):
        os.close(fd)


def test_receiving_descriptors_also_takes_messages_without(ends):
    ours, theirs = ends
    Channel(theirs).send({"op": "bare"})
    assert ours.receive_fds(1.0) == ({"op": "bare"}, [])


def test_descriptors_nobody_asked_for_are_dropped(ends):
    ours, theirs = ends
    before = len(os.listdir("/proc/self/fd"))
    with open(os.devnull) as nothing:
        Channel(theirs).send({"op": "here"}, (nothing.fileno(),) * MOST_FDS)
        assert ours.receive(1.0) == {"op": "here"}
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("receive", [Channel.receive, Channel.receive_fds, Channel.receive_pid])
def test_the_other_side_gone_is_closed(ends, receive):
    ours, theirs = ends
    theirs.close()
    with pytest.raises(Closed):
        receive(ours, 1.0)


@pytest.mark.parametrize("receive", [Channel.receive, Channel.receive_fds, Channel.receive_pid])
def test_nothing_said_in_time_is_silent(ends, receive):
    with pytest.raises(Silent):
        receive(ends[0], 0.01)


def test_a_message_cut_off_in_the_middle_is_silent_then_closed(ends):
    ours, theirs = ends
    theirs.sendall(framed(b'{"op":"hello"}')[:8])
    with pytest.raises(Silent):
        ours.receive(0.01)
    theirs.sendall(struct.pack("!I", 100))
    theirs.close()
    with pytest.raises(ChannelError):
        ours.receive(1.0)


def test_sending_to_nobody_is_closed(ends):
    ours, theirs = ends
    theirs.close()
    with pytest.raises(Closed):
        ours.send({"op": "anyone"})


GARBAGE = {
    "not JSON": b"hello",
    "not text": b"\xff\xfe\x00",
    "cut JSON": b'{"op":',
    "nothing": b"",
    "a list": b'["op"]',
    "a number": b"5",
    "null": b"null",
    "a number too long to read": b'{"n":' + b"9" * 10_000 + b"}",
    "nested too deeply": b'{"n":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize("receive", [Channel.receive, Channel.receive_fds, Channel.receive_pid])
@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_message_is_garbage(ends, body, receive):
    ours, theirs = ends
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    theirs.sendall(framed(body))
    with pytest.raises(Garbage):
        receive(ours, 1.0)


def test_a_length_over_the_limit_is_garbage_before_anything_is_read(ends):
    ours, theirs = ends
    theirs.sendall(struct.pack("!I", LIMIT + 1))
    with pytest.raises(Garbage, match=str(LIMIT + 1)):
        ours.receive(1.0)


@given(junk=st.binary(min_size=1, max_size=40))
def test_junk_is_a_channel_error_or_a_message(junk):
    with connected() as (ours, theirs):
        theirs.sendall(junk)
        theirs.close()
        with contextlib.suppress(ChannelError):
            assert isinstance(ours.receive(1.0), dict)


def test_waiting_tells_whether_more_was_said(ends):
    ours, theirs = ends
    assert not ours.waiting()
    Channel(theirs).send({"op": "more"})
    assert ours.waiting()


def test_a_message_is_whole_only_when_all_of_it_is_here(ends):
    ours, theirs = ends
    assert not ours.whole()
    sent = framed(b'{"op":"more"}')
    theirs.sendall(sent[:-1])
    assert not ours.whole()
    theirs.sendall(sent[-1:])
    assert ours.whole()
    assert ours.receive(1.0) == {"op": "more"}


def in_child(action) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            action()
        finally:
            os._exit(0)
    return pid


def test_the_kernel_names_the_sender_whatever_the_sender_says(ends):
    ours, theirs = ends
    go, tell = os.pipe()

    def lie() -> None:
        os.read(go, 1)
        Channel(theirs).send({"op": "hello", "pid": 1})

    pid = in_child(lie)
    # The child speaks only once somebody listens.
    ours._sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    os.write(tell, b"!")
    assert ours.receive_pid(5.0) == ({"op": "hello", "pid": 1}, pid)
    os.waitpid(pid, 0)
    os.close(go)
    os.close(tell)


def test_the_sender_is_known_even_if_it_spoke_before_anybody_listened(ends):
    ours, theirs = ends
    pid = in_child(lambda: Channel(theirs).send({"op": "hello"}))
    os.waitpid(pid, 0)
    assert ours.receive_pid(5.0) == ({"op": "hello"}, pid)


def test_after_asking_for_the_sender_ordinary_talk_goes_on(ends):
    ours, theirs = ends
    other = Channel(theirs)
    other.send({"op": "hello"})
    ours.receive_pid(1.0)
    other.send({"op": "next"})
    assert ours.receive(1.0) == {"op": "next"}
