"""robust-kbench: `tasks/NAME/func_forward.py` with `config_forward.json`, and the same for `backward`.

Ids are the folders below `tasks`, with `/backward` behind them for the gradients. Every way to construct the model
is a variant, every configuration of the inputs a case. The text that the judge runs is made in `_robust_source.py`.
"""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from kernelwright.tasks._case import Case
from kernelwright.tasks._constants import read_setting, with_constants
from kernelwright.tasks._error import TaskError, located, require
from kernelwright.tasks._literals import is_integer, is_number
from kernelwright.tasks._load import Setting, read_text
from kernelwright.tasks._neighbours import changeable_sizes, neighbours
from kernelwright.tasks._reference import Reference
from kernelwright.tasks._task import Task
from kernelwright.tasks.suites import _git
from kernelwright.tasks.suites._problem import Problem, in_order
from kernelwright.tasks.suites._robust_source import Configuration, Rewriting
from kernelwright.tasks.suites._suite import Suite

NAME = "robust"
_PASSES = ("forward", "backward")
_PARTS = ("input", "init", "shared")
# Its models run as they are constructed.
_MODE = "train"


def recognise(root: Path) -> Suite | None:
    """The suite at `root`, if it is one."""
    tasks = root / "tasks"
    if not tasks.is_dir() or not any(tasks.glob("*/func_*ward.py")):
        return None
    return Suite(NAME, root, _git.commit(root), partial(_problems, tasks))


def _problems(tasks: Path) -> tuple[Problem, ...]:
    found = []
    for direction in _PASSES:
        for path in tasks.rglob(f"func_{direction}.py"):
            folder = path.parent.relative_to(tasks).as_posix()
            id_ = folder if direction == "forward" else f"{folder}/backward"
            part, _, title = folder.rpartition("/")
            found.append(Problem(NAME, id_, title, part, partial(_read, path, direction)))
    return in_order(found)


def _read(path: Path, direction: str, settings: Mapping[str, Setting], mode: str | None) -> tuple[Task, ...]:
    reference = Reference.parse(read_text(path), str(path))
    reference.require("Model", "get_inputs")
    config = path.with_name(f"config_{direction}.json")
    configurations = list(_configurations(_parts(config)))
    rewriting = Rewriting(reference, backward=direction == "backward")
    tasks = []
    for number, configuration in enumerate(configurations, start=1):
        name = path.parent.name + ("/backward" if direction == "backward" else "")
        title = name if len(configurations) == 1 else f"{name} #{number} of {len(configurations)}"
        with located(str(path)):
            tasks.append(_task(title, rewriting, configuration, settings, mode or _MODE))
    return tuple(tasks)


# The configuration file


def _parts(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Input, init and shared settings: the several ones, or the single ones where those say nothing."""
    try:
        config = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise TaskError(
            f"the file is not JSON: {error.msg}.", f"{path}:{error.lineno}", "Correct that line."
        ) from error
    with located(str(path)):
        require(isinstance(config, dict), "the file holds no object.")
        several = any(_says_something(config.get(f"multi_{part}_configs")) for part in _PARTS)
        return {part: _settings(config, f"{'multi' if several else 'single'}_{part}_configs") for part in _PARTS}


def _says_something(configs: Any) -> bool:
    """Most files have `[{}]` where they have no second configuration."""
    return configs is not None and not (isinstance(configs, list) and all(one == {} for one in configs))


def _settings(config: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = config.get(key)
    fix = f'Write "{key}": [{{}}], one object a configuration.'
    require(isinstance(found, list) and bool(found) and all(isinstance(c, dict) for c in found), f"{key} is none.", fix)
    return list(found or [])


def _configurations(parts: Mapping[str, list[dict[str, Any]]]) -> Iterator[Configuration]:
    """One for each way to construct the model; shared settings come last and win."""
    seen: list[Configuration] = []
    for init in parts["init"]:
        for shared in parts["shared"]:
            inputs = [{**given, **shared} for given in parts["input"]]
            found = Configuration({**init, **shared}, inputs)
            if found not in seen:
                seen.append(found)
                yield found


# The task


def _task(
    title: str, rewriting: Rewriting, configuration: Configuration, settings: Mapping[str, Setting], mode: str
) -> Task:
    written = rewriting.at(configuration)
    origin = rewriting.reference.where
    reference = with_constants(Reference.parse(written.text, origin), settings)
    drawn = _unique([_set(constants, settings) for constants in written.inputs])
    cases = _cases(drawn, written.free)
    if len(cases) == 1:
        near = neighbours(cases[0], changeable_sizes(reference))
        return Task(title, reference.text, cases, mode=mode, neighbours=near, origin=origin)
    varying = tuple(name for name in written.free if all(is_integer(constants[name]) for constants in drawn))
    near = neighbours(cases[0], {name: drawn[0][name] for name in varying})
    return Task(title, reference.text, cases, mode=mode, neighbours=near, varying=varying, origin=origin)


def _set(constants: Mapping[str, Any], settings: Mapping[str, Setting]) -> dict[str, Any]:
    chosen = {name: read_setting(name, value) for name, value in settings.items() if name in constants}
    return {**constants, **chosen}


def _unique(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [constants for index, constants in enumerate(found) if constants not in found[:index]]


def _cases(drawn: list[dict[str, Any]], free: tuple[str, ...]) -> tuple[Case, ...]:
    if len(drawn) == 1:
        return (Case("given"),)
    differing = [name for name in drawn[0] if any(constants[name] != drawn[0][name] for constants in drawn)]
    kept = tuple(dict.fromkeys([*differing, *free]))
    return tuple(_case(constants, differing, kept) for constants in drawn)


def _case(constants: Mapping[str, Any], differing: list[str], kept: tuple[str, ...]) -> Case:
    name = ", ".join(f"{name}={constants[name]}" for name in differing)
    wrong = [name for name in differing if not is_number(constants[name])]
    require(not wrong, f"the input setting {wrong[0] if wrong else ''!r} differs between cases and is no number.")
    return Case(name, constants={name: constants[name] for name in kept if is_number(constants[name])})
