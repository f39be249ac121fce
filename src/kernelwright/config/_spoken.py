"""`--set NAME=VALUE`: a name with a dot is a setting, a bare one a constant of the task, which has none."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from kernelwright.config._configuration import Configuration, Section


def spoken(pairs: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings by their dotted keys, and the constants of the task."""
    settings = {name: _value(name, text) for name, text in pairs.items() if "." in name}
    return settings, {name: text for name, text in pairs.items() if "." not in name}


def _value(key: str, text: str) -> Any:
    """What a word means depends on the key: names are text whatever they look like, lists may go without brackets."""
    kind = _kind(key)
    if get_origin(kind) is list:
        return _literal(text) if text.startswith("[") else [part.strip() for part in text.split(",") if part.strip()]
    return text if kind is str or str in get_args(kind) else _literal(text)


def _kind(key: str) -> Any:
    """The type of a key; None where there is no such key, or any may stand there."""
    section, _, name = key.partition(".")
    held = Configuration.model_fields.get(section)
    table = held.annotation if held else None
    fields = table.model_fields if isinstance(table, type) and issubclass(table, Section) else {}
    return fields[name].annotation if name in fields else None


def _literal(text: str) -> Any:
    """A number, a truth value or a table as TOML writes it; else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
