"""What is wrong with a configuration, in sentences: where, what was expected, what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kernelwright.config._configuration import Configuration
from kernelwright.config._error import ConfigError

Place = tuple[int | str, ...]
Origin = Callable[[Place], str]
# What was expected, and how it is written.
EXPECTED = {
    "int_type": ("a whole number", "40"),
    "int_from_float": ("a whole number", "40"),
    "float_type": ("a number", "1.5"),
    "string_type": ("a text", '"..."'),
    "bool_type": ("true or false", "true"),
    "list_type": ("a list", '["...", "..."]'),
    "dict_type": ("a table", "{ name = 1 }"),
    "greater_than": ("a number above 0", "1"),
    "greater_than_equal": ("a number from 0 on", "0"),
}
TABLES = ("model_type", "model_attributes_type")
# How deep keys lie at most: section, key, name in a table.
DEEPEST = 3
_SECTIONS = {section: list(keys) for section, keys in Configuration().model_dump().items()}


def complaint(error: ValidationError, origin: Origin) -> ConfigError:
    """All of it; what to do is said of the first."""
    places = groupby(error.errors(), lambda one: one["loc"][:DEEPEST])
    found = [_complaint(place, list(group), origin) for place, group in places]
    return ConfigError("; ".join(what for what, _ in found), found[0][1])


def unknown_option(name: str, known: Iterable[str]) -> ConfigError:
    return ConfigError(f"there is no option {name!r}", _meant(name, list(known)))


def _complaint(place: Place, errors: list[ErrorDetails], origin: Origin) -> tuple[str, str]:
    """Where several types are possible there is an error for each."""
    kind, value = errors[0]["type"] if len(errors) == 1 else "", errors[0]["input"]
    where, key = origin(place), ".".join(map(str, place))
    if kind == "extra_forbidden":
        what, fix = _unknown(place)
        return where + what, fix
    if kind == "value_error":
        return f"{where}[{key}]: {_reason(errors[0])}", f"change it; docs/config.md says what each key of [{key}] means"
    if kind in TABLES:
        return f"{where}{key} is {value!r}; expected a section of its own", f"write [{key}] and its keys below it"
    expected, example = EXPECTED.get(kind, ("a number, a text, true or false", "1"))
    return f"{where}{key} is {value!r}; expected {expected}", f"for example: {key} = {example}"


def _reason(error: ErrorDetails) -> str:
    context: dict[str, Any] = error.get("ctx", {})
    return str(context.get("error", error["msg"]))


# *** unknown keys ***


def _unknown(place: Place) -> tuple[str, str]:
    section, name = str(place[0]), str(place[-1])
    if len(place) > 1:
        return f"there is no {name!r} in [{section}]", _meant_in(section, name)
    homes = _homes(name)
    if homes:
        return f"{name!r} stands in no section", f"put it below {homes[0]}"
    return f"there is no section [{name}]", _meant(name, list(_SECTIONS))


def _meant_in(section: str, name: str) -> str:
    if "key" in name.lower():
        return "keys to endpoints stand in no file: export OPENAI_API_KEY=..."
    near, homes = difflib.get_close_matches(name, _SECTIONS[section], n=1), _homes(name)
    if homes and not near:
        return f"it belongs to {homes[0]}"
    return _meant(name, _SECTIONS[section])


def _homes(name: str) -> list[str]:
    return [f"[{section}]" for section, keys in _SECTIONS.items() if name in keys]


def _meant(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"Known: {', '.join(known)}"
