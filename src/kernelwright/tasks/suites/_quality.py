"""Quality files: which problems of a suite can tell a kernel from no kernel, as measured on some machine.

One JSON object, written anew after every problem, so that an audit can go on where it stopped.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kernelwright.tasks._error import TaskError
from kernelwright.tasks._flaws import FLAWS
from kernelwright.tasks._load import read_text
from kernelwright.tasks.suites._problem import natural

FORMAT = 1
STATUSES = ("clean", "flagged", "unjudged")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit says of one problem, or of one variant of it.

    Attributes:
        status: `clean`, `flagged` (it has flaws), or `unjudged` (it could not be tried here).
        flags: Names in `FLAWS`.
        reason: One sentence; empty where it is clean.
        dtype: Which numbers it was tried with: `given`, those that the problem itself draws.
        inputs: The dtypes of its inputs, where it came so far.
        mode: Whether the model was in `train` or `eval` mode.
        fit: Whether it was to be shrunk to the machine, and `changes` how it was.
        task: Hash of the task before that.
        seconds: What trying it took.
        machine: Processor and versions.
        date: Day, as YYYY-MM-DD.
    """

    status: str
    flags: tuple[str, ...] = ()
    reason: str = ""
    dtype: str = "given"
    inputs: tuple[str, ...] = ()
    mode: str = "train"
    fit: bool = False
    changes: tuple[str, ...] = ()
    task: str = ""
    seconds: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)
    date: str = ""


@dataclass
class Quality:
    """The findings of a suite, by id of the problem (`layernorm#2` for a variant)."""

    suite: str
    version: str
    findings: dict[str, Finding] = field(default_factory=dict)

    def flagged(self) -> dict[str, tuple[str, ...]]:
        """Flags of every problem that has some, in any of its variants."""
        flags: dict[str, tuple[str, ...]] = {}
        for key, finding in self.findings.items():
            if finding.status == "flagged":
                id_ = key.partition("#")[0]
                flags[id_] = tuple(dict.fromkeys([*flags.get(id_, ()), *finding.flags]))
        return flags

    def write(self, path: Path) -> None:
        """Replaces the file in one step: a reader sees the old one or the new one."""
        ordered = sorted(self.findings, key=lambda key: natural(key.replace("#", "/")))
        problems = {key: asdict(self.findings[key]) for key in ordered}
        whole = {"format": FORMAT, "suite": self.suite, "version": self.version, "flaws": dict(FLAWS)}
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.write_text(json.dumps({**whole, "problems": problems}, indent=1) + "\n", encoding="utf-8")
        beside.replace(path)

    @classmethod
    def read(cls, path: Path) -> "Quality":
        try:
            whole = json.loads(read_text(path))
            if whole["format"] != FORMAT:
                raise ValueError(f"its format is {whole['format']!r}, not {FORMAT}")
            findings = {key: _finding(entry) for key, entry in whole["problems"].items()}
            return cls(str(whole["suite"]), str(whole["version"]), findings)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            fix = "Give a file that `kernelwright suites audit` wrote."
            raise TaskError(f"this is no quality file: {error}.", str(path), fix) from error


def _finding(entry: Mapping[str, Any]) -> Finding:
    lists = {name: tuple(entry[name]) for name in ("flags", "inputs", "changes")}
    found = Finding(**{**entry, **lists})
    if found.status not in STATUSES:
        raise ValueError(f"status {found.status!r} is none of {', '.join(STATUSES)}")
    return found
