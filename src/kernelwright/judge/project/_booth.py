"""A cage with a copy of the project in it, for one command. The judge fills it and looks at it through a descriptor."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelwright.judge._placement import Attention
from kernelwright.judge._process import START_SECONDS, End, Template
from kernelwright.judge._sandbox import Cage
from kernelwright.judge.worker._project import HOME

ROLE = "project"
# When the files that the judge writes seem to have been changed last: before anything that a command makes of them.
LONG_AGO = 1_000_000_000 * 10**9
LARGEST_RESULT = 16 << 20
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_EXCL
# Never through a link, never waiting at a pipe: whoever left them was a candidate.
LOOKED_AT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True)
class Item:
    """A file of a tree. `link`: where it points, if it is a symbolic link."""

    content: bytes
    mode: int = 0o644
    changed_ns: int = LONG_AGO
    link: str = ""


Tree = dict[str, Item]


@dataclass(frozen=True)
class Ran:
    """How a command ended. `end` is None where it did not in time."""

    command: str
    end: End | None
    seconds: float

    @property
    def ok(self) -> bool:
        return self.end is not None and self.end.exit == 0

    @property
    def output(self) -> str:
        return self.end.output if self.end else ""


class Booth:
    """One command's cage. A context manager: leaving it ends all that runs there."""

    def __init__(self, template: Template, cage: Cage, tree: Mapping[str, Item], guarded: Collection[str]) -> None:
        """`guarded`: those of the files that the command has to leave alone."""
        self._worker = template.fork(ROLE, cage=cage)
        self._cage = cage
        _, (self._folder,) = self._worker.answer_fds(timeout=START_SECONDS)
        self._plant(tree)
        self._guarded = {path: seen for path, seen in self._seen() if path in guarded}
        self._tree = dict(tree)

    def __enter__(self) -> Booth:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)
        self._worker.finish(kill=True)

    def run(self, command: str, *, timeout: float) -> Ran:
        order = {"op": "run", "command": command, "environment": _environment(self._cage)}
        with Attention():
            end, seconds = self._worker.run_out(order, timeout=timeout)
        return Ran(command, end, seconds)

    # Before

    def _plant(self, tree: Mapping[str, Item]) -> None:
        """Nothing has run here yet, so paths mean what they say."""
        root = Path(f"/proc/self/fd/{self._folder}")
        for path, item in tree.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if item.link:
                place.symlink_to(item.link)
                continue
            with open(os.open(place, WRITTEN, item.mode), "wb") as file:
                file.write(item.content)
            os.chmod(place, item.mode)
            os.utime(place, ns=(item.changed_ns, item.changed_ns))

    # After

    def disturbed(self) -> str | None:
        """The first of the files that it was given and that is not as it was; None if all are.

        The kernel notes every change in a time that no program can set, also one that was undone.
        """
        now = dict(self._seen())
        for path, seen in self._guarded.items():
            if now.get(path) != seen or not self._same(path):
                return path
        return None

    def _same(self, path: str) -> bool:
        item = self._tree[path]
        if item.link:
            return True  # a changed link is another inode
        content = self._content(path)
        return content is not None and hashlib.sha256(content).digest() == hashlib.sha256(item.content).digest()

    def _seen(self) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
        """Of every file: what the kernel knows of it."""
        for folder, _, names, descriptor in os.fwalk(".", dir_fd=self._folder, follow_symlinks=False):
            for name in names:
                try:
                    found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                yield (
                    os.path.normpath(f"{folder}/{name}"),
                    (found.st_ino, found.st_ctime_ns, found.st_mode, found.st_size),
                )

    def gather(self) -> Tree:
        """All that lies there now: files and links."""
        found: Tree = {}
        for folder, folders, names, descriptor in os.fwalk(".", dir_fd=self._folder, follow_symlinks=False):
            for name in (*names, *(one for one in folders if _is_link(one, descriptor))):
                item = _item(name, descriptor)
                if item is not None:
                    found[os.path.normpath(f"{folder}/{name}")] = item
        return found

    def result(self, name: str) -> str | None:
        """The text of a file in the project's own folder; None if there is none."""
        content = self._content(name)
        return None if content is None else content[:LARGEST_RESULT].decode(errors="replace")

    def _content(self, path: str) -> bytes | None:
        folder = os.dup(self._folder)
        try:
            *above, name = path.split("/")
            for part in above:
                deeper = os.open(part, LOOKED_AT | os.O_DIRECTORY, dir_fd=folder)
                os.close(folder)
                folder = deeper
            item = _item(name, folder)
        except OSError:
            return None
        finally:
            os.close(folder)
        return item.content if item else None


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _item(name: str, folder: int) -> Item | None:
    """None for what is neither a file nor a link, or cannot be read."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            return Item(b"", link=os.readlink(name, dir_fd=folder))
        if not stat.S_ISREG(found.st_mode):
            return None
        with open(os.open(name, LOOKED_AT, dir_fd=folder), "rb") as file:
            return Item(file.read(), stat.S_IMODE(found.st_mode), found.st_mtime_ns)
    except OSError:
        return None


def _environment(cage: Cage) -> dict[str, str]:
    """What a command is told: where programs are, this Python's first, and a home of its own."""
    own = [f"{folder}/bin" for folder in cage.folders if os.path.isdir(f"{folder}/bin")]
    path = ":".join([*own, os.path.dirname(sys.executable), SYSTEM_PATH])
    return {"PATH": path, "HOME": HOME, "TMPDIR": "/tmp", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
