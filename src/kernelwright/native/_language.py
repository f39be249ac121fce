"""Languages that can be compiled: each sibling file registers one. Knows no compiler itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelwright.native._errors import CompileError
from kernelwright.native._source import Source

OUTPUT = "kernel.so"


@dataclass(frozen=True)
class Language:
    """How one language becomes a shared library.

    `identity` says what else than the text decides the machine code: compiler, base flags, processor.
    `commands` gives the programs to run, in order, in a folder holding `file_name`; the last leaves `OUTPUT`.
    `ending` stands behind the author's text in that file, so that lines keep their numbers.
    `shortcut` makes what `OUTPUT` would hold without any of them, or None where that does not do.
    """

    name: str
    file_name: str
    identity: Callable[[Source], str]
    commands: Callable[[Source], Sequence[Sequence[str]]]
    ending: str = ""
    shortcut: Callable[[Source], bytes | None] = lambda source: None


_languages: dict[str, Language] = {}


def register(language: Language) -> Language:
    _languages[language.name] = language
    return language


def language_of(source: Source) -> Language:
    try:
        return _languages[source.language]
    except KeyError:
        known = ", ".join(sorted(_languages))
        raise CompileError(f"cannot compile language {source.language!r}; known: {known}") from None
