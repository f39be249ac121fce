"""A configuration as TOML: whole, to be read again, or only what is set, a line a section."""

from __future__ import annotations

import json
import re
from typing import Any

from kernelwright.config._configuration import NONE, Configuration

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(configuration: Configuration) -> str:
    """Read again, it is the same configuration."""
    sections = configuration.model_dump().items()
    return "\n".join(f"[{name}]\n" + "".join(f"{line}\n" for line in _lines(keys)) for name, keys in sections)


def brief(configuration: Configuration) -> list[str]:
    """A line for each section in which something is set."""
    said = configuration.model_dump().items()
    sections = {name: {key: value for key, value in keys.items() if value not in (None, {}, [])} for name, keys in said}
    return [f"[{name}] {', '.join(_lines(keys))}" for name, keys in sections.items() if keys]


def _lines(table: dict[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_value(value)}" for name, value in table.items()]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    match value:
        case None:
            return _text(NONE)
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return "{ " + ", ".join(_lines(value)) + " }" if value else "{}"
    return _text(str(value))


def _text(value: str) -> str:
    """JSON's strings are TOML's but for one letter."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
