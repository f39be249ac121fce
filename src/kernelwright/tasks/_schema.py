"""The form of `task.toml`, and sentences for text that does not have it.

Knows keys and types. What the values mean is checked by the values themselves.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from kernelwright.tasks._error import TaskError, closest


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class InputTable(_Table):
    """`x = { shape = ["rows", 8], dtype = "float32", values = "normal", layout = "contiguous" }`"""

    shape: list[int | str]
    dtype: str = "float32"
    values: str = "normal"
    layout: str = "contiguous"


class CaseTable(_Table):
    """One `[[case]]`."""

    name: str
    weight: float = 1.0
    dims: dict[str, int | float] = Field(default_factory=dict)
    families: list[str] | None = None
    inputs: dict[str, InputTable] | None = None


class ProjectTable(_Table):
    """`[project]`: somebody's own code, with regions to be made faster."""

    root: str = "."
    sources: list[str]
    build: str = ""
    test: str
    benchmark: str
    output: str = "json"
    tolerance: float = 1e-6
    languages: dict[str, str] = Field(default_factory=dict)
    folders: list[str] = Field(default_factory=list)
    exclude: list[str] = Field(default_factory=list)


class TaskTable(_Table):
    """The whole of `task.toml`."""

    name: str | None = None
    precision: str = "strict"
    library: str = "forbidden"
    mode: str = "eval"
    weights: str = "frozen"
    init: list[JsonValue] | None = None
    neighbours: list[str] = Field(default_factory=list)
    targets: list[str] = Field(default_factory=list)
    case: list[CaseTable] = Field(default_factory=list)
    project: ProjectTable | None = None


# Keys sit at odd depths: `name`, `case[0].name`, `case[0].inputs.x.name`.
_TABLE_AT_DEPTH: Mapping[int, type[_Table]] = {1: TaskTable, 3: CaseTable, 5: InputTable}
_BRANCHES = ("int", "float", "str")

Place = tuple[int | str, ...]


def read_table(data: Mapping[str, Any], where: str) -> TaskTable:
    try:
        return TaskTable.model_validate(data)
    except ValidationError as error:
        problems = _problems(error.errors())
        raise TaskError(_joined(problems), where, "Correct task.toml and try again.") from error


def _joined(problems: list[str]) -> str:
    if len(problems) == 1:
        return problems[0]
    return "\n".join([f"{len(problems)} problems:", *(f"  {problem}" for problem in problems)])


def _problems(errors: Iterable[ErrorDetails]) -> list[str]:
    return [_problem(place, list(group)) for place, group in groupby(errors, _place)]


def _place(error: ErrorDetails) -> Place:
    """Where the key sits; a value that may be of several types has one error for each."""
    place = error["loc"]
    about_key = error["type"] in ("extra_forbidden", "missing")
    return place if about_key or place[-1] not in _BRANCHES else place[:-1]


def _problem(place: Place, errors: list[ErrorDetails]) -> str:
    first = errors[0]
    if first["type"] == "extra_forbidden":
        return f"{_dotted(place)}: no such key.{_meant(place)}"
    if first["type"] == "missing":
        return f"{_dotted(place)}: this key is missing."
    reasons = " or ".join(error["msg"].removeprefix("Input should be ") for error in errors)
    return f"{_dotted(place)}: {first['input']!r} should be {reasons}."


def _meant(place: Place) -> str:
    table = ProjectTable if place[0] == "project" and len(place) > 1 else _TABLE_AT_DEPTH.get(len(place))
    known = list(table.model_fields) if table else []
    meant = closest(str(place[-1]), known)
    return f" Did you mean {meant!r}?" if meant else f" Known keys: {', '.join(known)}."


def _dotted(place: Place) -> str:
    """`("case", 1, "inputs", "x")` is `case[1].inputs.x`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")
