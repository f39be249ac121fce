"""What is to be made fast, and how a user says so.

A task is described here, never run: the reference is read as text, its inputs as shapes and distributions.
Importing this package loads neither torch nor pydantic; what needs them loads them when it is called.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernelwright.tasks._case import DEFAULT_FAMILIES, FAMILIES, Case
from kernelwright.tasks._dtype import FLOATS, GIVEN, in_dtype
from kernelwright.tasks._error import TaskError
from kernelwright.tasks._fit import Shrunk, shrink
from kernelwright.tasks._flaws import FLAWS
from kernelwright.tasks._input_spec import DTYPES, LAYOUTS, InputSpec
from kernelwright.tasks._load import load_task
from kernelwright.tasks._project import Project, ProjectFile
from kernelwright.tasks._regions import Region, RegionError
from kernelwright.tasks._size import input_bytes
from kernelwright.tasks._task import LIBRARIES, MODES, PRECISIONS, WEIGHTS, Task
from kernelwright.tasks._template import write_template

if TYPE_CHECKING:
    from kernelwright.tasks._draw import draw_input
    from kernelwright.tasks._example import input_like, layout_of
    from kernelwright.tasks._gather import Gathered, written
    from kernelwright.tasks._project_template import write_project

__all__ = [
    "DEFAULT_FAMILIES",
    "DTYPES",
    "FAMILIES",
    "FLAWS",
    "FLOATS",
    "GIVEN",
    "LAYOUTS",
    "LIBRARIES",
    "MODES",
    "PRECISIONS",
    "WEIGHTS",
    "Case",
    "Gathered",
    "InputSpec",
    "Project",
    "ProjectFile",
    "Region",
    "RegionError",
    "Shrunk",
    "Task",
    "TaskError",
    "draw_input",
    "in_dtype",
    "input_bytes",
    "input_like",
    "layout_of",
    "load_task",
    "shrink",
    "write_project",
    "write_template",
    "written",
]


# What needs torch, or pydantic to look at a project: light processes that only read descriptions need neither.
_LATER = {
    "draw_input": "_draw",
    "input_like": "_example",
    "layout_of": "_example",
    "Gathered": "_gather",
    "write_project": "_project_template",
    "written": "_gather",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
