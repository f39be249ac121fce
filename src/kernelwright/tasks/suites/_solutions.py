"""Folders of solutions: which file answers which problem.

Knows KernelBench's run layout (`level_1_problem_19_sample_0_kernel.py`), the plain one (`1/19*.py`), and the same by
name for robust-kbench (`layernorm.py`, `layernorm/backward*.py`). Several files for a problem are samples of it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.tasks._error import TaskError
from kernelwright.tasks.suites._problem import Problem, natural

_RUN = re.compile(r"level_(\d+)_problem_(\d+)_sample_(\d+)_kernel")
_PLAIN_LEVEL = re.compile(r"(?:level_?)?(\d+)")
_PLAIN_NUMBER = re.compile(r"(\d+)(?:\D.*)?")
_SAMPLE = re.compile(r".*sample_(\d+)(?:_.*)?")


@dataclass(frozen=True)
class Solution:
    """A file that answers a problem; `sample` counts from 0 among the files for that problem."""

    problem: str
    sample: int
    path: Path


@dataclass(frozen=True)
class Solutions:
    """What a folder holds for some problems.

    Attributes:
        found: Solutions for the problems asked about.
        others: Files that answer no problem asked about, or whose names say nothing.
    """

    found: tuple[Solution, ...]
    others: tuple[Path, ...]


def find_solutions(folder: Path, problems: Sequence[Problem]) -> Solutions:
    """The solutions for these problems in a folder."""
    if not folder.is_dir():
        raise TaskError("there is no such folder of solutions.", str(folder), "Check the path.")
    wanted = {problem.id for problem in problems}
    files = sorted(folder.rglob("*.py"))
    named = [(path, _meant(path.relative_to(folder), wanted)) for path in files]
    mine = [(path, id_) for path, id_ in named if id_ in wanted]
    if not mine:
        raise _nothing(folder, files, problems)
    return Solutions(tuple(_numbered(mine)), tuple(path for path, id_ in named if id_ not in wanted))


def _meant(path: Path, wanted: Iterable[str]) -> str:
    """The id that a file's place says it answers; empty where it says none."""
    run = _RUN.fullmatch(path.stem)
    if run:
        return f"{int(run[1])}/{int(run[2])}"
    if len(path.parts) == 2 and (level := _PLAIN_LEVEL.fullmatch(path.parts[0])):
        number = _PLAIN_NUMBER.fullmatch(path.stem)
        return f"{int(level[1])}/{int(number[1])}" if number else ""
    return _by_name(path, wanted)


def _by_name(path: Path, wanted: Iterable[str]) -> str:
    """The longest id that the path spells: `a/backward_2.py` answers `a/backward`, `a/forward.py` answers `a`."""
    text = path.with_suffix("").as_posix()
    spelled = [id_ for id_ in wanted if any(_spells(text, form) for form in (id_, f"{id_}/forward"))]
    return max(spelled, key=len, default="")


def _spells(text: str, form: str) -> bool:
    return text == form or re.fullmatch(re.escape(form) + r"_(sample_)?\d+(_kernel)?", text) is not None


def _numbered(mine: list[tuple[Path, str]]) -> Iterable[Solution]:
    """Samples keep the numbers in their names where all have one and no two share it; else they are counted."""
    for id_ in sorted({id_ for _, id_ in mine}, key=natural):
        paths = [path for path, answered in mine if answered == id_]
        named = [int(found[1]) if (found := _SAMPLE.fullmatch(path.stem)) else None for path in paths]
        numbers = [n for n in named if n is not None]
        usable = len(set(numbers)) == len(paths)
        for count, path in enumerate(paths):
            yield Solution(id_, numbers[count] if usable else count, path)


def _nothing(folder: Path, files: list[Path], problems: Sequence[Problem]) -> TaskError:
    asked = problems[0].address if len(problems) == 1 else f"any of the {len(problems)} problems asked for"
    example = problems[0].id
    level, _, number = example.partition("/")
    names = f"{example}.py"
    if number.isdecimal():
        names = f"level_{level}_problem_{number}_sample_0_kernel.py or {example}.py"
    seen = f"; it holds {files[0].relative_to(folder)}" if files else "; it holds no Python file"
    return TaskError(f"no file here answers {asked}{seen}.", str(folder), f"Name a solution like {names}.")
