"""What could not be judged: one sentence, what to do next, exit code 2."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.judge import InfraError, OutOfReach
from kernelwright.tasks import TaskError

P = ParamSpec("P")
T = TypeVar("T")

CANNOT_JUDGE = 2


class UsageError(Exception):
    """The command was asked for something it cannot do: what, and what to do instead."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.fix = fix


def guarded(command: Callable[P, T]) -> Callable[P, T]:
    """The command, with every expected failure turned into a sentence and exit code 2."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except TaskError as error:
            _say("Cannot judge", f"{error.where}: {error.what}" if error.where else error.what, error.fix)
        except UsageError as error:
            _say("Cannot do that", str(error), error.fix)
        except OutOfReach as error:
            _say("Cannot judge on this machine", str(error), error.fix)
        except InfraError as error:
            fix = error.fix or "run `kernelwright doctor`, then try again"
            _say("This machine failed (INFRA)", str(error), fix)
        except KeyboardInterrupt:
            _say("Stopped", "interrupted; nothing was written", "")
        raise typer.Exit(CANNOT_JUDGE)

    return run


def _say(headline: str, what: str, fix: str) -> None:
    console = Console(stderr=True, highlight=False)
    console.print(f"[bold red]{headline}:[/] {escape(what)}", soft_wrap=True)
    if fix:
        console.print(f"[bold]Next:[/] {escape(fix)}", soft_wrap=True)


def read_text(path: Path, what: str) -> str:
    """A file's text, or a clear sentence."""
    try:
        return path.read_text()
    except FileNotFoundError as error:
        raise UsageError(f"{what} {path} does not exist", "check the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{what} {path} cannot be read: {error}", "give a text file") from error


def write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "choose another place") from error


def assignments(pairs: list[str], option: str) -> dict[str, Any]:
    """`NAME=VALUE` options as a mapping."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{option} {pair!r} is not NAME=VALUE", f"for example: {option} dim=4096")
        found[name.strip()] = value.strip()
    return found
