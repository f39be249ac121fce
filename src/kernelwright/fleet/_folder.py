"""The spool folder: what lies where, and how files come to be there whole or not at all.

    spool.json          what this folder is
    tasks/HASH.json     a task, once for all its jobs
    waiting/JOB.json    a job that nobody has taken
    taken/JOB.json      the same file, moved there by the worker that judges it; touched while he lives
    verdicts/JOB.json   what came of it
    faults/JOB.N.json   a machine that failed at it
    aside/              what could not be read, and verdicts by other versions

Times are those of the file system, never of two machines' clocks. The folder may be shared, or carried there and back.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kernelwright.fleet._error import FleetError

FORMAT = 1
KIND = "kernelwright spool"
PARTS = ("tasks", "waiting", "taken", "verdicts", "faults", "aside", "temp")
Content = dict[str, Any]


class Folder:
    """A spool folder that exists."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def made(cls, path: Path) -> Folder:
        """For who writes jobs: makes what is missing."""
        folder = cls(path)
        with folder.usable():
            if path.exists() and any(path.iterdir()) and not (path / "spool.json").exists():
                raise FleetError(f"{path} holds other things", "give a new or empty folder for the spool")
            for part in PARTS:
                (path / part).mkdir(parents=True, exist_ok=True)
            if not (path / "spool.json").exists():
                folder.put("spool.json", {"kind": KIND, "format": FORMAT})
        return cls.found(path)

    @classmethod
    def found(cls, path: Path) -> Folder:
        """For who judges: the folder must be there, and of a form known here."""
        folder = cls(path)
        about = folder.read("spool.json")
        if about is None or about.get("kind") != KIND:
            raise FleetError(f"{path} is no spool folder", "give the DIR of the search's `--fleet spool/DIR`")
        if about.get("format") != FORMAT:
            raise FleetError(
                f"{path} has format {about.get('format')}, known here is {FORMAT}",
                "use the same version of kernelwright on both sides",
            )
        with folder.usable():
            for part in PARTS:  # who carries a folder often leaves empty ones behind
                (path / part).mkdir(exist_ok=True)
        return folder

    @contextmanager
    def usable(self) -> Iterator[None]:
        """What the file system refuses, as a sentence."""
        try:
            yield
        except OSError as error:
            what = f"the spool folder {self.path} cannot be used: {error.strerror or error}"
            raise FleetError(what, "check that it is there and writable and that the disk is not full") from error

    def put(self, name: str, content: Content) -> None:
        """Writes a file: whole and on the disk when its name appears."""
        temporary = self.path / "temp" / uuid.uuid4().hex
        with self.usable():
            try:
                with temporary.open("w", encoding="utf-8") as file:
                    json.dump(content, file)
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(self.path / name)
            finally:
                temporary.unlink(missing_ok=True)

    def read(self, name: str) -> Content | None:
        """None where there is no such file, or only a part of one."""
        try:
            content = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    def names(self, part: str) -> list[str]:
        """The files of a part without their endings, the oldest first."""
        with self.usable():
            found = [(_age_of(entry), entry.name) for entry in os.scandir(self.path / part)]
        return [name.removesuffix(".json") for _, name in sorted(found) if name.endswith(".json")]

    def remove(self, name: str) -> None:
        with suppress(OSError):
            (self.path / name).unlink()

    def move(self, name: str, to: str) -> bool:
        """False where somebody else was first."""
        try:
            (self.path / name).rename(self.path / to)
        except FileNotFoundError:
            return False
        return True

    def put_aside(self, name: str) -> None:
        self.move(name, f"aside/{Path(name).parent}-{Path(name).stem}-{uuid.uuid4().hex[:6]}.json")

    def touch(self, name: str) -> bool:
        try:
            os.utime(self.path / name)
        except OSError:
            return False
        return True

    def age(self, name: str) -> float:
        """Seconds since it was touched, by the clock of the file system; 0 where it is gone."""
        clock = self.path / "clock"
        with self.usable():
            clock.touch()
        try:
            return clock.stat().st_mtime - (self.path / name).stat().st_mtime
        except FileNotFoundError:
            return 0.0


def _age_of(entry: os.DirEntry[str]) -> float:
    """The time of a file that may have been moved meanwhile."""
    try:
        return entry.stat().st_mtime
    except FileNotFoundError:
        return 0.0
