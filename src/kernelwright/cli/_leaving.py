"""A run that is left before its end, for whatever reason: what happened, and the command that goes on with it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from kernelwright.cli._failure import UsageError
from kernelwright.engine import RunError
from kernelwright.fleet import FleetError
from kernelwright.propose import ProposerError
from kernelwright.store import StoreError

KEPT = "every reply and verdict so far is kept"


class Begun(Protocol):
    """Somebody who has heard whether a run has begun. `run`: its name, empty before that."""

    run: str


@contextmanager
def resumable(heard: Begun, *, model: str, base_url: str | None, fleet: str, store: Path) -> Iterator[None]:
    """Says how to go on, where a run had begun."""
    try:
        yield
    except (RunError, ProposerError, FleetError, StoreError) as error:
        if not heard.run:
            raise
        again = resume_command(heard.run, model=model, base_url=base_url, fleet=fleet, store=store)
        fix = f"{error.fix}{' Then' if error.fix[-1] in '.?' else '; then'}: {again}" if error.fix else again
        raise UsageError(f"{str(getattr(error, 'what', error)).rstrip('.')}; {KEPT}", fix) from error
    except KeyboardInterrupt as error:
        if not heard.run:
            raise
        again = resume_command(heard.run, model=model, base_url=base_url, fleet=fleet, store=store)
        raise UsageError(f"interrupted; {KEPT}", again) from error


def resume_command(run: str, *, model: str, base_url: str | None, fleet: str, store: Path) -> str:
    """To be pasted into a shell as it stands."""
    address = ["--base-url", base_url] if base_url else []
    words = ["kernelwright", "resume", run, "--model", model, *address, "--fleet", fleet, "--store", str(store)]
    return shlex.join(words)
