"""Which problems a command is about: one or more addresses within one suite."""

from __future__ import annotations

from pathlib import Path

from kernelwright.cli._failure import UsageError
from kernelwright.tasks import MODES
from kernelwright.tasks.suites import Address, Problem, Suite, select


def check_mode(mode: str | None) -> None:
    if mode is not None and mode not in MODES:
        raise UsageError(f"there is no mode {mode!r}", f"choose one of: {', '.join(MODES)}")


def selected(addresses: list[str], suite_dir: Path | None) -> tuple[Suite, list[Problem]]:
    """The suite and its problems, each once, in the order they were named."""
    for address in addresses:
        if Address.parse(address).variant is not None:
            raise UsageError(f"{address} names one variant", "name the whole problem: its variants are tried together")
    chosen = [select(address, suite_dir) for address in addresses]
    names = {suite.name for suite, _ in chosen}
    if len(names) > 1:
        raise UsageError(f"{' and '.join(sorted(names))} are different suites", "name parts of one suite at a time")
    problems = {problem.id: problem for _, part in chosen for problem in part}
    return chosen[0][0], list(problems.values())
