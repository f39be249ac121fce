"""A project as it is: its files, the regions that may be rewritten, and the commands that build, test and time it.

Knows what a project consists of, all of it by content: a task made of one can be judged where the project is not.
How one is read from a folder is `_project_folder.py`'s to know.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from kernelwright.tasks._case import Case
from kernelwright.tasks._error import TaskError, check_choice, choose_among, require
from kernelwright.tasks._regions import EVOLVE, Region, candidate_text, read_candidate, regions_in, replaced
from kernelwright.tasks._wire import plain_fields

# What a benchmark's numbers are read from; `wall`: from nothing but the judge's clock.
OUTPUTS = ("json", "pytest-benchmark", "hyperfine", "wall")
LANGUAGES = ("cpp", "cuda", "sycl", "triton", "python")
_SUFFIXES = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inc"), "cpp"),
    **dict.fromkeys((".cu", ".cuh"), "cuda"),
    ".py": "python",
}
_MARKS = {"sycl": re.compile(r"\bsycl::|#\s*include\s*<sycl/"), "triton": re.compile(r"@triton\.jit\b")}
SEED, OUTPUT, CASE = "seed", "output", "case"
_PLACE = re.compile(r"\{\{|\}\}|(?<!\$)\{(\w+)\}")


@dataclass(frozen=True)
class ProjectFile:
    """One file. `link`: where it points, if it is a symbolic link; then it has no content."""

    path: str
    content: bytes = field(repr=False)
    executable: bool = False
    link: str = ""

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"path": self.path}
        try:
            wire["text"] = self.content.decode()
        except UnicodeDecodeError:
            wire["base64"] = base64.b64encode(self.content).decode()
        return wire | ({"executable": True} if self.executable else {}) | ({"link": self.link} if self.link else {})

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "ProjectFile":
        content = wire["text"].encode() if "text" in wire else base64.b64decode(wire["base64"])
        return cls(wire["path"], content, wire.get("executable", False), wire.get("link", ""))


@dataclass(frozen=True, kw_only=True)
class Project:
    """Somebody's own code, with regions to be made faster.

    Attributes:
        files: All of it, by path.
        sources: Which of the files have regions.
        build, test, benchmark: Commands, run by a shell in the project's folder; `build` may be empty. In `benchmark`,
            `{case}`, a case's dims, `{seed}` and `{output}` stand for what they name.
        output: One of `OUTPUTS`.
        tolerance: How far, relatively, what a benchmark says of its results may be from what the original says.
        languages: Of sources whose language their names and texts do not tell.
        folders: What commands may read beside the system's directories and Python's.
        prefix: Where in its repository the project is; no part of the hash.
    """

    files: tuple[ProjectFile, ...]
    sources: tuple[str, ...]
    test: str
    benchmark: str
    build: str = ""
    output: str = "json"
    tolerance: float = 1e-6
    languages: Mapping[str, str] = field(default_factory=dict, hash=False)
    folders: tuple[str, ...] = ()
    prefix: str = ""

    def __post_init__(self) -> None:
        check_choice("output", self.output, OUTPUTS)
        for language in self.languages.values():
            check_choice("language", language, LANGUAGES)
        require(bool(self.test.strip()), "test is empty.", "Name the command that runs the project's tests.")
        require(bool(self.benchmark.strip()), "benchmark is empty.", "Name the command that times the hot code.")
        require(self.tolerance >= 0, f"tolerance {self.tolerance} is negative.")
        self._check_regions()

    def _check_regions(self) -> None:
        if not self.regions:
            fix = "Put `// EVOLVE begin NAME` above the code to make fast and `// EVOLVE end` below it."
            raise TaskError("no source has a region marked EVOLVE.", ", ".join(self.sources), fix)
        names = [region.name for region in self.regions]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            files = ", ".join(region.file for region in self.regions if region.name == twice)
            raise TaskError(f"two regions are called {twice!r}.", files, "Give each a name: `EVOLVE begin NAME`.")

    @cached_property
    def by_path(self) -> dict[str, ProjectFile]:
        return {file.path: file for file in self.files}

    def text(self, path: str) -> str:
        return self.by_path[path].content.decode(errors="replace")

    @cached_property
    def marked(self) -> tuple[Region, ...]:
        """Regions of every kind."""
        return tuple(region for path in self.sources for region in regions_in(self.text(path), path))

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """Those that may be rewritten."""
        return tuple(region for region in self.marked if region.kind == EVOLVE)

    def language(self, path: str) -> str:
        """What a source is written in."""
        if path in self.languages:
            return self.languages[path]
        named = _SUFFIXES.get(f".{path.rpartition('.')[2]}", "python")
        return next((name for name, mark in _MARKS.items() if mark.search(self.text(path))), named)

    @property
    def backend(self) -> str:
        """What the first region is written in."""
        return self.language(self.regions[0].file)

    # Candidates

    @cached_property
    def original(self) -> str:
        """The regions as they are, in the form of a candidate."""
        return self.compose({region.name: region.text for region in self.regions})

    def compose(self, texts: Mapping[str, str]) -> str:
        """A candidate of these texts, by region."""
        return candidate_text(self.regions, texts)

    def read(self, candidate: str) -> dict[str, str]:
        """The regions' texts in a candidate. Raises RegionError."""
        sources = {path: self.text(path) for path in self.sources}
        return read_candidate(candidate, self.regions, sources)

    def canonical(self, candidate: str) -> str:
        """The same candidate in the one form that all are compared in. Raises RegionError."""
        return self.compose(self.read(candidate))

    def with_candidate(self, candidate: str) -> dict[str, str]:
        """The sources with a candidate's text in their regions. Raises RegionError."""
        texts = self.read(candidate)
        return {path: replaced(self.text(path), self._of(path), texts) for path in self.sources}

    def _of(self, path: str) -> list[Region]:
        return [region for region in self.regions if region.file == path]

    # Commands

    def command(self, case: Case, *, seed: int, output: str) -> str:
        """What times one case."""
        dims = {name: str(value) for name, value in case.constants.items()}
        known = {CASE: case.name, SEED: str(seed), OUTPUT: output, **dims}

        def fill(place: re.Match[str]) -> str:
            if place[1] is None:
                return place[0][0]
            if place[1] not in known:
                fix = choose_among(place[1], known) + " Write {{ and }} for braces of the command's own."
                raise TaskError(f"benchmark names {{{place[1]}}}, which is nothing of case {case.name!r}.", fix=fix)
            return known[place[1]]

        return _PLACE.sub(fill, self.benchmark)

    @property
    def is_seeded(self) -> bool:
        return f"{{{SEED}}}" in self.benchmark

    # Wire

    def to_wire(self) -> dict[str, Any]:
        return plain_fields(self)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "Project":
        plain = {one.name: wire[one.name] for one in fields(cls) if one.name in wire}
        plain["files"] = tuple(map(ProjectFile.from_wire, wire["files"]))
        for key in ("sources", "folders"):
            plain[key] = tuple(wire[key])
        return cls(**plain)
