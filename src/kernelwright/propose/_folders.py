"""Ready answers: files of a folder in order, and stored replies."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernelwright.propose._request import ExhaustedError, ProposerError, Reply, Request

SUFFIXES = (".py", ".md", ".txt", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp")


class Script:
    """Hands out the files of a folder, sorted by name, one a request. On advice it has nothing to say."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = _files(folder)
        self._left = list(self._files)
        self._lock = threading.Lock()

    def take_up(self, models: Sequence[str]) -> None:
        """Those that were handed out before the run was left are not handed out again."""
        self._left = [path for path in self._files if _name(path) not in models]

    def propose(self, request: Request) -> Reply:
        if request.kind == "rewrite":
            return _reply("", "script")
        path = self._take()
        try:
            return _reply(path.read_text(encoding="utf-8", errors="replace"), _name(path))
        except OSError as fault:
            raise ProposerError(f"{path}: cannot be read: {fault.strerror}.") from fault

    def _take(self) -> Path:
        with self._lock:
            if not self._left:
                raise ExhaustedError(
                    f"{self._folder}: all {len(self._files)} candidates have been handed out.",
                    "Add files, or ask for fewer evaluations.",
                )
            return self._left.pop(0)


def _name(path: Path) -> str:
    return f"script/{path.name}"


def _reply(text: str, model: str) -> Reply:
    """Nobody was asked, so it costs nothing."""
    return Reply(text=text, model=model, tokens_in=None, tokens_out=None, dollars=0.0, seconds=0.0, finish="stop")


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
