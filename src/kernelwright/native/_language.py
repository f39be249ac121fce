"""Languages that can be compiled: each sibling file registers one. Knows no compiler itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kernelwright.native._errors import CompileError
from kernelwright.native._source import Source

OUTPUT = "kernel.so"


Command = Sequence[str]


def _never(error: CompileError) -> bool:
    return False


@dataclass(frozen=True)
class Plan:
    """One way to build: `files` by name in an empty folder, then `steps`, of which the last leaves `OUTPUT`.

    The commands of one step run at the same time. `gives_way` says, of a failure, whether the next plan may do better.
    """

    files: Mapping[str, str]
    steps: Sequence[Sequence[Command]]
    gives_way: Callable[[CompileError], bool] = _never


@dataclass(frozen=True)
class Language:
    """How one language becomes a shared library.

    `identity` says what else than the text decides the machine code: compiler, base flags, processor.
    `plans` are tried in order. `patience`: how many times longer than plain source it may take to compile.
    `shortcut` makes what `OUTPUT` would hold without any plan, or None where that does not do.
    """

    name: str
    identity: Callable[[Source], str]
    plans: Callable[[Source], Iterable[Plan]]
    patience: float = 1.0
    shortcut: Callable[[Source], bytes | None] = lambda source: None


def one_file(
    name: str, commands: Callable[[Source], Sequence[Command]], ending: str = ""
) -> Callable[[Source], Iterable[Plan]]:
    """The only plan of a language whose text is one file. `ending` stands behind it: its lines keep their numbers."""

    def plans(source: Source) -> Iterable[Plan]:
        yield Plan({name: source.text + ending}, [[command] for command in commands(source)])

    return plans


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
