"""A run that is left before its end, for whatever reason: what happened, and the command that goes on with it."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from kernelwright.cli._failure import CANNOT_JUDGE, UsageError
from kernelwright.cli._voices import KEPT, Voice
from kernelwright.engine import RunError
from kernelwright.fleet import FleetError
from kernelwright.propose import ProposerError
from kernelwright.store import Place, StoreError


@contextmanager
def resumable(voice: Voice, *, model: str, base_url: str | None, fleet: str, store: Place) -> Iterator[None]:
    """Says how to go on, where a run had begun."""
    try:
        with _told_to_end():
            yield
    except (RunError, ProposerError, FleetError, StoreError) as error:
        if not voice.run:
            raise
        again = resume_command(voice.run, model=model, base_url=base_url, fleet=fleet, store=store)
        voice.failed(error, again)
        fix = f"{error.fix}{' Then' if error.fix[-1] in '.?' else '; then'}: {again}" if error.fix else again
        raise UsageError(f"{str(getattr(error, 'what', error)).rstrip('.')}; {KEPT}", fix) from error
    except KeyboardInterrupt as error:
        if not voice.run:
            raise
        again = resume_command(voice.run, model=model, base_url=base_url, fleet=fleet, store=store)
        voice.interrupted(again)
        raise typer.Exit(CANNOT_JUDGE) from error


@contextmanager
def _told_to_end() -> Iterator[None]:
    """SIGTERM, by which schedulers and services end a program, is an interruption like any other."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only there can signals be taken
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def resume_command(run: str, *, model: str, base_url: str | None, fleet: str, store: Place) -> str:
    """To be pasted into a shell as it stands."""
    address = ["--base-url", base_url] if base_url else []
    words = ["kernelwright", "resume", run, "--model", model, *address, "--fleet", fleet, "--store", str(store)]
    return shlex.join(words)
