"""Task folders: `task.toml` beside `reference.py`.

Knows how declared cases and dims become a task. The form of the file is in `_schema.py`.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelwright.tasks._case import DEFAULT_FAMILIES, Case
from kernelwright.tasks._constants import bindings, constants, read_setting, with_constants
from kernelwright.tasks._error import TaskError, choose_among, located, require
from kernelwright.tasks._input_spec import InputSpec
from kernelwright.tasks._literals import is_integer, is_number
from kernelwright.tasks._load import Setting, read_text
from kernelwright.tasks._neighbours import neighbours
from kernelwright.tasks._project_folder import read_project
from kernelwright.tasks._reference import Reference
from kernelwright.tasks._schema import CaseTable, InputTable, ProjectTable, TaskTable, read_table
from kernelwright.tasks._task import Task


def load_folder(folder: Path, settings: Mapping[str, Setting], mode: str | None) -> Task:
    table = _read_toml(folder / "task.toml")
    if table.project is not None:
        with located(str(folder / "task.toml")):
            return _project_task(folder, table, table.project, settings)
    reference = _read_reference(folder / "reference.py", table)
    reference = _with_settings(reference, table, settings)
    cases = _cases(table, settings, folder / "task.toml")
    for index, case in enumerate(cases):
        with located(f"{folder / 'task.toml'}: case[{index}]"):
            _check_case(reference, case)
    with located(str(folder / "task.toml")):
        return _task(folder, table, reference, cases, mode)


def _project_task(folder: Path, table: TaskTable, told: ProjectTable, settings: Mapping[str, Setting]) -> Task:
    """A task made of somebody's own code. Its cases are what the benchmark is told to run."""
    cases = _project_cases(table, settings, folder / "task.toml")
    project = read_project(folder, told)
    for case in cases:
        project.command(case, seed=0, output="")
    name = table.name or folder.resolve().name
    return Task(
        name,
        project.original,
        cases,
        library="allowed",
        origin=str(folder),
        project=project,
        targets=tuple(table.targets),
    )


def _project_cases(table: TaskTable, settings: Mapping[str, Setting], path: Path) -> tuple[Case, ...]:
    dims = sorted({name for case in table.case for name in case.dims})
    for name in settings:
        if name not in dims:
            fix = choose_among(name, dims, none="Its cases have no dims.")
            raise TaskError(f"there is no dim {name!r} to set.", fix=fix)
    if table.neighbours or table.init is not None or any(case.inputs or case.families for case in table.case):
        what = "init, neighbours, inputs and families describe a reference's tensors, and a project has none."
        raise TaskError(what, fix="Remove them; give cases dims, and name those in benchmark: {rows}.")
    return _cases(table, settings, path)


def _task(folder: Path, table: TaskTable, reference: Reference, cases: tuple[Case, ...], mode: str | None) -> Task:
    return Task(
        name=table.name or folder.resolve().name,
        source=reference.text,
        cases=cases,
        precision=table.precision,
        library=table.library,
        mode=mode or table.mode,
        weights=table.weights,
        init=_init(table, reference),
        neighbours=neighbours(cases[0], _varying(table, cases[0])),
        varying=tuple(table.neighbours),
        origin=str(folder),
        targets=tuple(table.targets),
    )


def _read_toml(path: Path) -> TaskTable:
    if not path.exists():
        fix = "Add a task.toml beside reference.py; `kernelwright init DIR` writes an example."
        raise TaskError("the folder has no task.toml, so it is no task.", str(path.parent), fix)
    try:
        return read_table(tomllib.loads(read_text(path)), str(path))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        where = f"{path}:{line[1]}" if line else str(path)
        raise TaskError(f"the file is not valid TOML: {error}.", where, "Correct that line.") from error


def _read_reference(path: Path, table: TaskTable) -> Reference:
    if not path.exists():
        fix = "Add a reference.py that defines class Model(torch.nn.Module)."
        raise TaskError("the folder has no reference.py.", str(path.parent), fix)
    reference = Reference.parse(read_text(path), str(path))
    declared = bool(table.case) and all(case.inputs is not None for case in table.case)
    reference.require("Model", *(() if declared else ("get_inputs",)))
    return reference


def _init(table: TaskTable, reference: Reference) -> tuple[Any, ...] | None:
    if table.init is not None:
        return tuple(table.init)
    if reference.defines("get_init_inputs"):
        return None
    constructor = reference.signature("__init__")
    if constructor and constructor.required:
        what = f"Model{constructor} needs arguments, and nothing says which."
        raise TaskError(what, reference.where, "Write init = [...] in task.toml, or define get_init_inputs().")
    return ()


def _with_settings(reference: Reference, table: TaskTable, settings: Mapping[str, Setting]) -> Reference:
    """Sets top-level constants; dims are set where the cases are made."""
    dims = {name for case in table.case for name in case.dims}
    known = constants(reference)
    for name in settings:
        if name not in dims and name not in bindings(reference):
            fix = choose_among(name, sorted({*dims, *known}))
            raise TaskError(f"there is no dim and no constant {name!r} to set.", reference.where, fix)
    settable = {name: value for name, value in settings.items() if name in known or name not in dims}
    return with_constants(reference, settable)


def _cases(table: TaskTable, settings: Mapping[str, Setting], path: Path) -> tuple[Case, ...]:
    cases: list[Case] = []
    for index, case in enumerate(table.case):
        with located(f"{path}: case[{index}]"):
            cases.append(_case(case, {**case.dims, **_set_dims(case, settings)}))
    return tuple(cases) or (Case("given"),)


def _set_dims(case: CaseTable, settings: Mapping[str, Setting]) -> dict[str, int | float]:
    chosen = {name: read_setting(name, value) for name, value in settings.items() if name in case.dims}
    for name, value in chosen.items():
        require(is_number(value), f"dim {name!r} is set to {value!r}, which is not a number.")
    return chosen


def _case(table: CaseTable, dims: Mapping[str, int | float]) -> Case:
    inputs = None
    if table.inputs is not None:
        inputs = tuple(_input(name, declared, dims) for name, declared in table.inputs.items())
    families = DEFAULT_FAMILIES if table.families is None else tuple(table.families)
    return Case(table.name, table.weight, inputs, dims, families)


def _input(name: str, table: InputTable, dims: Mapping[str, int | float]) -> InputSpec:
    return InputSpec.declared(name, table.shape, table.dtype, values=table.values, layout=table.layout, dims=dims)


def _check_case(reference: Reference, case: Case) -> None:
    if case.inputs is None:
        _check_constants_exist(reference, case)
    else:
        _check_forward_takes(reference, case.name, [spec.name for spec in case.inputs])


def _check_constants_exist(reference: Reference, case: Case) -> None:
    for name in case.constants:
        if not reference.defines(name):
            what = f"case {case.name!r} sets {name!r}, which reference.py does not define."
            raise TaskError(what, fix=choose_among(name, constants(reference)))


def _check_forward_takes(reference: Reference, case: str, inputs: list[str]) -> None:
    forward = reference.signature("forward")
    if forward is None:
        return
    declared = f"case {case!r} declares the inputs ({', '.join(inputs)})"
    require(
        forward.accepts(len(inputs)),
        f"{declared}, but forward takes {forward}.",
        "Declare one input for each argument of forward, in its order.",
    )
    expected = list(forward.names[: len(inputs)])
    require(
        inputs == expected or sorted(inputs) != sorted(expected),
        f"{declared}, but forward takes them in the order ({', '.join(expected)}).",
        "Inputs are passed by position: write them in the order of forward.",
    )


def _varying(table: TaskTable, first: Case) -> dict[str, int]:
    for name in table.neighbours:
        if not is_integer(first.constants.get(name)):
            what = f"neighbours names {name!r}, which is no integer dim of case {first.name!r}."
            raise TaskError(what, fix=choose_among(name, first.constants, none="The case has no dims."))
    return {name: int(first.constants[name]) for name in table.neighbours}
