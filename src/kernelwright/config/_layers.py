"""Who said what: defaults, then a file, then options and settings; put together and checked as a whole."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict, Unpack

from pydantic import ValidationError

from kernelwright.config._complaints import complaint, unknown_option
from kernelwright.config._configuration import Configuration
from kernelwright.config._error import ConfigError

Key = tuple[str, ...]


class Options(TypedDict, total=False):
    """What is said most often, by its short name. None: not said."""

    base_url: str | None
    backend: str | None
    search: str | None
    without: list[str] | None
    in_flight: int | None
    seed: int | None
    evaluations: int | None
    tokens: int | None
    dollars: float | None
    minutes: float | None
    judge_minutes: float | None
    target: float | None
    roof: float | None
    plateau: int | None
    baselines: list[str] | None
    limits: dict[str, float] | None
    devices: list[str] | None
    constants: Mapping[str, Any] | None
    fit: bool | None


# Where those live whose key is another; the other options are called as their keys are.
KEYS = {
    "model": ("model", "name"),
    "search": ("search", "method"),
    "fleet": ("fleet", "address"),
}


def configured(
    *,
    model: str | None = None,
    fleet: str | None = None,
    file: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    base: Configuration | None = None,
    **options: Unpack[Options],
) -> Configuration:
    """The configuration that holds when all was heard; raises ConfigError.

    Args:
        model, fleet: Who writes and who judges, where they have a name.
        file: A TOML file with sections.
        settings: By dotted keys, such as `{"model.tries": 3}`.
        base: What holds where nobody says otherwise, in place of the defaults.
        options: The same by their short names. What both say is said twice, which is refused.
    """
    read = _read(file) if file else {}
    said = _said(settings or {}, {"model": model, "fleet": fleet}, options)
    tree = base.model_dump() if base else {}
    for key, value in [*_leaves(read), *said.items()]:
        _put(tree, key, value)
    try:
        return Configuration.model_validate(tree)
    except ValidationError as error:
        from_file = {key for key, _ in _leaves(read)} - set(said)
        raise complaint(error, lambda place: f"{file}: " if _concerns(place, from_file) else "") from error


def stored(run_settings: Mapping[str, Any]) -> Configuration:
    """The one that a run was begun with, from what the store keeps of it; the defaults where it keeps none."""
    try:
        return Configuration.model_validate(run_settings.get("config") or {})
    except ValidationError as error:
        found = complaint(error, lambda place: "")
        raise ConfigError(f"what the run was begun with: {found.what}", "use the version that began it") from error


# *** a file ***


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is no TOML: {error}", "correct it; `kernelwright config` prints one") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text", "is this the right file?") from error
    except OSError as error:
        fix = "check the path; `kernelwright config` prints a file to begin with"
        raise ConfigError(f"the configuration {file} cannot be read: {error.strerror}", fix) from error


# *** options and settings ***


def _said(settings: Mapping[str, Any], means: Mapping[str, Any], options: Mapping[str, Any]) -> dict[Key, Any]:
    """By key; a table of limits or constants is said one by one."""
    unknown = [name for name in options if name not in Options.__annotations__]
    if unknown:
        raise unknown_option(unknown[0], [*means, *Options.__annotations__])
    named = {_key(name): value for name, value in {**means, **options}.items() if value is not None}
    short = dict(leaf for key, value in named.items() for leaf in _leaves(value, key))
    dotted = {tuple(name.split(".")): value for name, value in settings.items()}
    for key in short.keys() & dotted.keys():
        what = f"{'.'.join(key)} is said twice: {short[key]!r} by its option and {dotted[key]!r} by its key"
        raise ConfigError(what, "leave one of them out")
    return {**short, **dotted}


def _key(option: str) -> Key:
    if option in KEYS:
        return KEYS[option]
    sections = Configuration().model_dump()
    return next((section, option) for section, keys in sections.items() if option in keys)


# *** trees ***


def _leaves(tree: Any, key: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Every value with its key; an empty table is a value."""
    if isinstance(tree, Mapping) and (tree or not key):
        for name, value in tree.items():
            yield from _leaves(value, (*key, str(name)))
    else:
        yield key, tree


def _put(tree: dict[str, Any], key: Key, value: Any) -> None:
    *above, name = key
    for part in above:
        below = tree.setdefault(part, {})
        if not isinstance(below, dict):
            return  # a value where a table belongs, about which there will be a complaint
        tree = below
    if value != {} or name not in tree:
        tree[name] = value


def _concerns(place: tuple[int | str, ...], keys: set[Key]) -> bool:
    """Whether somebody with these keys had a say at this place, or in its section."""
    return any(key[: len(place)] == place[: len(key)] for key in keys)
