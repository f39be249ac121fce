"""KernelBench's dataset as files: JSON Lines, or parquet where pyarrow is installed.

A row has `code`, `level`, `name` and `problem_id`.
"""

import hashlib
import importlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelwright.tasks._error import TaskError
from kernelwright.tasks._load import read_text

_NAMED = re.compile(r"(level_?\d+|kernelbench).*\.(jsonl|parquet)", re.IGNORECASE)
_COLUMNS: Mapping[str, type] = {"code": str, "level": int, "name": str, "problem_id": int}
_SHORT = 12


@dataclass(frozen=True)
class Row:
    """One problem of the dataset, and where it stands."""

    id: str
    title: str
    code: str
    where: str


def files(root: Path) -> tuple[Path, ...]:
    """The dataset files at `root`: itself, those in it, or those in its folder `data`."""
    if root.is_file():
        return (root,) if _NAMED.fullmatch(root.name) else ()
    for folder in (root, root / "data"):
        found = [path for path in sorted(folder.glob("*")) if path.is_file() and _NAMED.fullmatch(path.name)]
        if found:
            return tuple(found)
    return ()


def version(paths: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return f"sha256 {digest.hexdigest()[:_SHORT]}"


def rows(path: Path) -> list[Row]:
    records = _parquet(path) if path.suffix == ".parquet" else _json_lines(path)
    return [_row(record, where) for where, record in records]


def _json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield f"{path}:{number}", json.loads(line)
        except json.JSONDecodeError as error:
            fix = "Export the dataset again as JSON Lines: one object a line."
            raise TaskError(f"the line is not JSON: {error.msg}.", f"{path}:{number}", fix) from error


def _parquet(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        reader = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        fix = "Run `pip install pyarrow`, or export the dataset as JSON Lines."
        raise TaskError("reading parquet needs pyarrow, which is not installed.", str(path), fix) from error
    try:
        records = reader.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise TaskError(f"the file is no parquet: {error}.", str(path), "Fetch the dataset again.") from error
    return ((f"{path}:{number}", record) for number, record in enumerate(records, start=1))


def _row(record: Any, where: str) -> Row:
    wrong = [name for name, kind in _COLUMNS.items() if not _has(record, name, kind)]
    if wrong:
        what = f"the row has no {' and no '.join(wrong)} of the right type."
        raise TaskError(what, where, f"A row of KernelBench has {', '.join(_COLUMNS)}.")
    return Row(f"{record['level']}/{record['problem_id']}", record["name"].removesuffix(".py"), record["code"], where)


def _has(record: Any, name: str, kind: type) -> bool:
    return isinstance(record, dict) and isinstance(record.get(name), kind) and not isinstance(record.get(name), bool)
