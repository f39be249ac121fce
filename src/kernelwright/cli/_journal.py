"""Records in JSON Lines files: written before they count, read again when a run goes on."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernelwright.cli._failure import UsageError
from kernelwright.report import Fate

Record = dict[str, Any]
Key = tuple[Any, ...]

# What makes two judgements the same one.
_IDENTITY = ("problem", "variant", "task", "candidate", "fit", "timed", "cpu", "gpu")


def key(record: Record) -> Key:
    return (*(record[name] for name in _IDENTITY), *sorted(record["baselines"]), *sorted(record["limits"]))


class Lines:
    """An append-only file of JSON objects, one a line. What a killed run left half written is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, record: Record) -> None:
        """Writes the record and has it reach the disk."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._end_torn_line()
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UsageError(f"{self._path} cannot be written: {error.strerror}", "choose another --out") from error

    def _end_torn_line(self) -> None:
        """A line that a killed run left half written must not swallow the next one."""
        if self._path.exists() and self._path.stat().st_size:
            with self._path.open("rb+") as file:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")

    def read(self) -> Iterator[Record]:
        if not self._path.exists():
            return
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise UsageError(f"{self._path} cannot be read: {error.strerror}", "choose another --out") from error
        for line in lines:
            with contextlib.suppress(ValueError):
                record = json.loads(line)
                if isinstance(record, dict):
                    yield record


class Journal:
    """Verdicts, line by line. What could not be judged is not kept as known: it is tried again."""

    def __init__(self, path: Path) -> None:
        self._lines = Lines(path)
        records = filter(_whole, self._lines.read())
        self._known = {key(record): record for record in records if _judged(record)}

    def get(self, wanted: Key) -> Record | None:
        return self._known.get(wanted)

    def has_heard(self, candidate: str) -> bool:
        """Whether there is a verdict on this candidate, on whatever task."""
        return any(record["candidate"] == candidate for record in self._known.values())

    def append(self, record: Record) -> None:
        self._lines.append(record)
        if _judged(record):
            self._known[key(record)] = record


def _whole(record: Record) -> bool:
    """Whether everything is there that a verdict is known by."""
    try:
        key(record)
    except (KeyError, TypeError):
        return False
    return "fate" in record


def _judged(record: Record) -> bool:
    return bool(record["fate"] != Fate.UNJUDGED)
