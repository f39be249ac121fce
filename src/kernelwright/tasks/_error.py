"""The one error of this room, and the small sentences that errors are made of."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class TaskError(Exception):
    """A task that cannot be used: what is wrong, where, and what to do next.

    Attributes:
        what: One sentence.
        where: File, file:line, or the place inside a file; empty where the text has no place.
        fix: What to do next; empty where nothing better than `what` can be said.
        flaws: Names in `FLAWS`, where the task is too weak to judge a kernel by; empty where it is merely unusable.
    """

    def __init__(self, what: str, where: str = "", fix: str = "", flaws: tuple[str, ...] = ()) -> None:
        # All of them travel in `args`, so that the error survives pickling between processes.
        super().__init__(what, where, fix, flaws)
        self.what = what
        self.where = where
        self.fix = fix
        self.flaws = flaws

    def __str__(self) -> str:
        sentence = f"{self.where}: {self.what}" if self.where else self.what
        return f"{sentence}\n  fix: {self.fix}" if self.fix else sentence


@contextmanager
def located(where: str) -> Iterator[None]:
    """Says `where` for errors raised by values that do not know which file they came from."""
    try:
        yield
    except TaskError as error:
        if error.where:
            raise
        raise TaskError(error.what, where, error.fix, error.flaws) from error


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Names the subject in errors raised by checks that do not know what they check."""
    try:
        yield
    except TaskError as error:
        raise TaskError(f"{subject}: {error.what}", error.where, error.fix, error.flaws) from error


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be; `getInputs` is close to `get_inputs`."""
    folded = {_fold(candidate): candidate for candidate in known}
    found = difflib.get_close_matches(_fold(name), folded, n=1, cutoff=0.7)
    return folded[found[0]] if found else None


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def choose_among(name: str, known: Iterable[str], *, none: str = "There are none.") -> str:
    """The `fix` for a name that is not among the known ones."""
    names = list(known)
    meant = closest(name, names)
    question = f"Did you mean {meant!r}? " if meant else ""
    return f"{question}Known: {', '.join(names)}." if names else none


def check_choice(what: str, value: str, allowed: Iterable[str]) -> None:
    names = list(allowed)
    if value not in names:
        raise TaskError(f"{what} is {value!r}, which is not known.", fix=choose_among(value, names))


def require(holds: bool, what: str, fix: str = "") -> None:
    if not holds:
        raise TaskError(what, fix=fix)
