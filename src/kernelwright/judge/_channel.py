"""Messages between the judge's processes: JSON objects with a length in front, over a Unix stream socket.

Knows nothing of what the messages mean. The receiving side trusts nothing but the kernel: a length over the
limit, text that is not JSON, or a value that is not an object raise `Garbage`, whoever sent it.
"""

from __future__ import annotations

import array
import fcntl
import json
import math
import select
import socket
import struct
import termios
import time
from typing import Any

HEADER = struct.Struct("!I")
LIMIT = 32 << 20
SEND_SECONDS = 10.0
MOST_FDS = 4

Message = dict[str, Any]


class ChannelError(Exception):
    """Something other than a well-formed message came out of the channel."""


class Closed(ChannelError):
    """The other side is gone."""


class Silent(ChannelError):
    """Nothing arrived in the time allowed."""


class Garbage(ChannelError):
    """What arrived is not a message."""


class Channel:
    """One end of a conversation. File descriptors ride along only where the receiver asks for them."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._sock.settimeout(SEND_SECONDS)  # for sending: a receiver waits as long as it says
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def fileno(self) -> int:
        return self._sock.fileno()

    def close(self) -> None:
        self._sock.close()

    def send(self, message: Message, fds: tuple[int, ...] = ()) -> None:
        body = json.dumps(message, separators=(",", ":")).encode()
        try:
            if fds:
                socket.send_fds(self._sock, [HEADER.pack(len(body))], list(fds))
                self._sock.sendall(body)
            else:
                self._sock.sendall(HEADER.pack(len(body)) + body)
        except TimeoutError as error:
            raise Silent("the other side does not read") from error
        except OSError as error:
            raise Closed(str(error)) from error

    def receive(self, timeout: float | None = None) -> Message:
        deadline = None if timeout is None else time.monotonic() + timeout
        return self._body(self._exactly(HEADER.size, deadline), deadline)

    def receive_fds(self, timeout: float | None = None) -> tuple[Message, list[int]]:
        deadline = None if timeout is None else time.monotonic() + timeout
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)  # it would take the descriptors' room
        self._wait(deadline)
        header, fds, _, _ = socket.recv_fds(self._sock, HEADER.size, MOST_FDS)
        if len(header) != HEADER.size:
            raise Closed("the other side closed the channel")
        return self._body(header, deadline), fds

    def receive_pid(self, timeout: float | None = None) -> tuple[Message, int]:
        """The message and the sender's process id, as the kernel (not the sender) states it."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._wait(deadline)
        header, ancillary, _, _ = self._sock.recvmsg(HEADER.size, socket.CMSG_SPACE(12))
        if len(header) != HEADER.size:
            raise Closed("the other side closed the channel")
        pid = array.array("i", ancillary[0][2][:4])[0]
        message = self._body(header, deadline)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        return message, pid

    def wait(self, timeout: float) -> None:
        """Returns as soon as there is something to receive."""
        self._wait(time.monotonic() + timeout)

    def whole(self) -> bool:
        """Whether all of the next message is here; a long one arrives only while it is being received."""
        try:
            queued = struct.unpack("i", fcntl.ioctl(self._sock, termios.FIONREAD, bytes(4)))[0]
            if queued < HEADER.size:  # else Python waits for more, whatever the flags say
                return False
            header = self._sock.recv(HEADER.size, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError:
            return False
        return len(header) == HEADER.size and bool(queued >= HEADER.size + HEADER.unpack(header)[0])

    def waiting(self) -> bool:
        """Whether bytes lie unread: more than was asked for has been said."""
        return self._readable(0.0)

    def _readable(self, seconds: float | None) -> bool:
        return bool(self._poll.poll(None if seconds is None else math.ceil(seconds * 1000)))

    def _body(self, header: bytes, deadline: float | None) -> Message:
        (length,) = HEADER.unpack(header)
        if length > LIMIT:
            raise Garbage(f"a message of {length} bytes was announced")
        try:
            message = json.loads(self._exactly(length, deadline))
        except ValueError as error:
            raise Garbage("bytes that are not JSON") from error
        except RecursionError as error:
            raise Garbage("JSON nested too deeply") from error
        if not isinstance(message, dict):
            raise Garbage("JSON that is not an object")
        return message

    def _exactly(self, count: int, deadline: float | None) -> bytes:
        parts: list[bytes] = []
        while count:
            self._wait(deadline)
            part = self._receive(min(count, 1 << 20))
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _receive(self, count: int) -> bytes:
        try:
            part = self._sock.recv(count)
        except OSError as error:
            raise Closed(str(error)) from error
        if not part:
            raise Closed("the other side closed the channel")
        return part

    def _wait(self, deadline: float | None) -> None:
        if deadline is None:
            self._readable(None)
            return
        left = max(0.0, deadline - time.monotonic())
        if not self._readable(left):
            raise Silent("no answer in the time allowed")


def pair() -> tuple[Channel, socket.socket]:
    """A channel for this side and the bare socket to hand to the other."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    # From the start: the kernel notes who speaks only while somebody wants to know.
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return Channel(ours), theirs
