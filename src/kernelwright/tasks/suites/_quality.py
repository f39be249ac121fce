"""Quality files: which problems of a suite can tell a kernel from no kernel, as measured on some machine.

One JSON object, written anew after every problem, so that an audit can go on where it stopped. Those measured for
suites, public ones and our own, lie beside this module and come with the package.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from kernelwright.tasks._dtype import FLOATS, GIVEN
from kernelwright.tasks._error import TaskError
from kernelwright.tasks._flaws import FLAWS
from kernelwright.tasks._load import read_text
from kernelwright.tasks.suites._problem import natural

FORMAT = 2
STATUSES = ("clean", "flagged", "unjudged")
SHIPPED = Path(__file__).parent / "quality"

# A problem's id (`layernorm#2` for a variant), and which numbers it was tried with.
Key = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit says of one problem, or of one variant of it, in one dtype.

    Attributes:
        status: `clean`, `flagged` (it has flaws), or `unjudged` (it could not be tried here).
        flags: Names in `FLAWS`.
        nulls: The null candidates that would be accepted.
        reason: One sentence; empty where it is clean.
        inputs: The dtypes of its inputs, where it came so far.
        mode: Whether the model was in `train` or `eval` mode.
        fit: Whether it was to be shrunk to the machine, and `changes` how it was.
        task: Hash of the task before anything was changed.
        seconds: What trying it took.
        machine: Processor, GPU and versions.
        date: Day, as YYYY-MM-DD.
    """

    status: str
    flags: tuple[str, ...] = ()
    nulls: tuple[str, ...] = ()
    reason: str = ""
    inputs: tuple[str, ...] = ()
    mode: str = "train"
    fit: bool = False
    changes: tuple[str, ...] = ()
    task: str = ""
    seconds: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)
    date: str = ""


_LISTS = ("flags", "nulls", "inputs", "changes")


@dataclass
class Quality:
    """The findings of a suite, and the titles of its problems by id."""

    suite: str
    version: str
    findings: dict[Key, Finding] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Those that problems were tried in."""
        tried = {dtype for _, dtype in self.findings}
        return tuple(dtype for dtype in FLOATS if dtype in tried)

    def flagged(self, dtype: str = GIVEN) -> dict[str, tuple[str, ...]]:
        """Flags of every problem that has some, in any of its variants."""
        flags: dict[str, tuple[str, ...]] = {}
        for (key, tried), finding in self.findings.items():
            if tried == dtype and finding.status == "flagged":
                id_ = key.partition("#")[0]
                flags[id_] = tuple(dict.fromkeys([*flags.get(id_, ()), *finding.flags]))
        return flags

    def write(self, path: Path) -> None:
        """Replaces the file in one step: a reader sees the old one or the new one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.write_text(self._text(), encoding="utf-8")
        beside.replace(path)

    def _text(self) -> str:
        """JSON with a line for every finding, so that changes can be read."""
        machines = _distinct([finding.machine for finding in self.findings.values()])
        head = {"format": FORMAT, "suite": self.suite, "version": self.version, "flaws": dict(FLAWS)}
        lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in {**head, "machines": machines}.items()]
        problems = ",\n".join(self._problem(id_, machines) for id_ in self._ids())
        return "{\n" + ",\n".join([*lines, ' "problems": {\n' + problems + "\n }"]) + "\n}\n"

    def _ids(self) -> list[str]:
        return sorted({key for key, _ in self.findings}, key=lambda key: natural(key.replace("#", "/")))

    def _problem(self, id_: str, machines: list[Mapping[str, Any]]) -> str:
        entries: dict[str, Any] = {"title": self.titles[id_]} if id_ in self.titles else {}
        entries |= {t: _entry(found, machines) for t in FLOATS if (found := self.findings.get((id_, t)))}
        inner = ",\n".join(f"   {json.dumps(name)}: {json.dumps(value)}" for name, value in entries.items())
        return f"  {json.dumps(id_)}: {{\n{inner}\n  }}"

    @classmethod
    def read(cls, path: Path) -> "Quality":
        try:
            whole = json.loads(read_text(path))
            if whole["format"] != FORMAT:
                raise ValueError(f"its format is {whole['format']!r}, not {FORMAT}")
            found = cls(str(whole["suite"]), str(whole["version"]))
            for id_, entries in whole["problems"].items():
                found._take(id_, dict(entries), whole["machines"])
            return found
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            fix = "Give a file that `kernelwright suites audit` wrote."
            raise TaskError(f"this is no quality file: {error}.", str(path), fix) from error

    def _take(self, id_: str, entries: dict[str, Any], machines: list[Mapping[str, Any]]) -> None:
        if "title" in entries:
            self.titles[id_] = str(entries.pop("title"))
        for dtype, entry in entries.items():
            if dtype not in FLOATS:
                raise ValueError(f"dtype {dtype!r} is none of {', '.join(FLOATS)}")
            self.findings[id_, dtype] = _finding(entry, machines)

    @classmethod
    def shipped(cls, suite: str, version: str | None = None) -> "Quality | None":
        """The one that comes with the package, if there is one for that suite (and that version of it)."""
        path = SHIPPED / f"{suite}.json"
        if not path.exists():
            return None
        found = cls.read(path)
        return found if version in (None, found.version) else None


def _distinct(machines: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for machine in machines:
        if machine not in found:
            found.append(machine)
    return found


def _entry(finding: Finding, machines: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What differs from a finding that says nothing; the machine by its number."""
    plain = asdict(Finding(status=""))
    said = {name: value for name, value in asdict(finding).items() if value != plain[name]}
    return {**said, "machine": machines.index(finding.machine)}


def _finding(entry: Mapping[str, Any], machines: list[Mapping[str, Any]]) -> Finding:
    unknown = entry.keys() - {attribute.name for attribute in fields(Finding)}
    if unknown:
        raise ValueError(f"a finding says {sorted(unknown)[0]!r}")
    lists = {name: tuple(entry[name]) for name in _LISTS if name in entry}
    found = Finding(**{**entry, **lists, "machine": machines[entry["machine"]]})
    if found.status not in STATUSES:
        raise ValueError(f"status {found.status!r} is none of {', '.join(STATUSES)}")
    return found
