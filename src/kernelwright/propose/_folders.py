"""Ready answers: files of a folder in order, and stored replies."""

import threading
from collections.abc import Mapping
from pathlib import Path

from kernelwright.propose._request import ExhaustedError, ProposerError, Reply, Request

SUFFIXES = (".py", ".md", ".txt")


class Script:
    """Hands out the files of a folder, sorted by name, one a request."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = _files(folder)
        self._next = 0
        self._lock = threading.Lock()

    def propose(self, request: Request) -> Reply:
        path = self._take()
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as fault:
            raise ProposerError(f"{path}: cannot be read: {fault.strerror}.") from fault
        return Reply(
            text=text,
            model=f"script/{path.name}",
            tokens_in=None,
            tokens_out=None,
            dollars=0.0,  # nobody was asked
            seconds=0.0,
            finish="stop",
        )

    def _take(self) -> Path:
        with self._lock:
            if self._next == len(self._files):
                raise ExhaustedError(
                    f"{self._folder}: all {len(self._files)} candidates have been handed out.",
                    "Add files, or ask for fewer evaluations.",
                )
            self._next += 1
            return self._files[self._next - 1]


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ProposerError(f"{folder}: there is no such folder.", "Name a folder of candidates.")
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in SUFFIXES)
    if not found:
        raise ProposerError(f"{folder}: holds no candidates.", f"Put files there that end in {', '.join(SUFFIXES)}.")
    return found


class Replay:
    """Answers with the stored replies of a run, by the request's id."""

    def __init__(self, replies: Mapping[str, Reply]) -> None:
        self._replies = dict(replies)

    def propose(self, request: Request) -> Reply:
        try:
            return self._replies[request.id]
        except KeyError:
            raise ExhaustedError(f"no reply to request {request.id!r} among the {len(self._replies)} stored.") from None
