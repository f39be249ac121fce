"""The text files of this package: sections, rules, vocabularies and seed genomes."""

import tomllib
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from kernelwright.prompts._error import PromptError

HERE = "kernelwright.prompts"


@cache
def text(folder: str, *names: str) -> str:
    """A file's text without the white space around it."""
    return files(HERE).joinpath(folder, *names).read_text(encoding="utf-8").strip()


def section(name: str, /, **values: str) -> str:
    """A section with its places filled in."""
    return Template(text("sections", f"{name}.md")).substitute(values)


@cache
def backends() -> tuple[str, ...]:
    """The backends that prompts can be written for."""
    names = (entry.name for entry in files(HERE).joinpath("vocabulary").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@cache
def vocabulary(backend: str) -> dict[str, Any]:
    """What the backend calls itself and the levels of each axis."""
    if backend not in backends():
        raise PromptError(f"there are no prompts for the backend {backend!r}.", f"Known: {', '.join(backends())}.")
    return tomllib.loads(text("vocabulary", f"{backend}.toml"))


@cache
def rule_words() -> dict[str, dict[str, str]]:
    """What a task's own rules are in words: by rule, by choice."""
    return tomllib.loads(text("rules", "words.toml"))


def language(backend: str) -> str:
    return str(vocabulary(backend)["language"])


def fenced(source: str, word: str = "") -> str:
    """The text in a fence that nothing inside can close."""
    fence = "```"
    while fence in source:
        fence += "`"
    return f"{fence}{word}\n{source.strip(chr(10))}\n{fence}"
