"""`kernelwright doctor`: what works here, and the command that would make the next thing work."""

from __future__ import annotations

import shutil
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright import backends, native
from kernelwright.judge import Isolation, Judge, available_memory, machine

HELP = "Show toolchains, devices, isolation and what each backend can do here. Exit 0 if the default works, else 2."
BROKEN = 2
GOOD, BAD, PLAIN = "[green]ok[/]", "[bold red]no[/]", "[dim]--[/]"


def run(
    bubblewrap: Annotated[bool, typer.Option(help="Try bubblewrap where it is installed.")] = True,
) -> None:
    console = Console(highlight=False)
    _show_machine(console)
    works = _show_backends(console)
    with Judge(bubblewrap=bubblewrap) as judge:
        _show_isolation(console, judge.isolation)
    if works:
        console.print("The default (C++ on this CPU) works: `kernelwright demo` shows it.")
        return
    console.print("[bold red]The default (C++ on this CPU) does not work yet:[/] follow the first `fix` above.")
    raise typer.Exit(BROKEN)


def _line(console: Console, mark: str, name: str, text: str, fix: str = "") -> None:
    console.print(f"  {mark}  {name:<14} {escape(text)}", soft_wrap=True)
    if fix:
        console.print(f"      {'':<14} [bold]fix:[/] {escape(fix)}", soft_wrap=True)


def _show_machine(console: Console) -> None:
    facts = machine()
    free_disk = shutil.disk_usage(native.cache_dir().parent if native.cache_dir().parent.exists() else "/").free
    console.print("[bold]Machine[/]")
    _line(console, GOOD, "cpu", f"{facts['cpu']}, {facts['cores']} cores")
    _line(console, GOOD, "memory", f"{available_memory() / 1e9:.1f} GB free of {facts['memory_gb']} GB")
    _line(console, GOOD if free_disk > 1e9 else BAD, "disk", f"{free_disk / 1e9:.1f} GB free for the build cache")
    _line(console, GOOD, "python", f"{facts['python']}, torch {facts['torch']}, numpy {facts['numpy']}")
    _line(console, GOOD, "kernelwright", f"{facts['kernelwright']}, cache in {native.cache_dir()}")


def _show_backends(console: Console) -> bool:
    console.print("[bold]Backends[/]")
    for name in backends.names():
        available = backends.get(name).available()
        _line(console, GOOD if available.ok else BAD, name, available.detail, "" if available.ok else available.fix)
        if available.more:
            console.print(f"      {'':<14} [bold]more:[/] {escape(available.more)}", soft_wrap=True)
    return backends.get("cpp").available().ok


def _show_isolation(console: Console, isolation: Isolation) -> None:
    console.print(f"[bold]Isolation[/] of candidates: {isolation.level}")
    mark = GOOD if isolation.bubblewrap else PLAIN
    _line(
        console,
        mark,
        "bubblewrap",
        "in use" if isolation.bubblewrap else "not in use (one more layer)",
        "" if isolation.bubblewrap else "apt-get install bubblewrap",
    )
    if isolation.namespaces:
        _line(console, GOOD, "namespaces", "own processes, users, mounts, network; read-only files; private /tmp")
    else:
        _line(
            console,
            BAD,
            "namespaces",
            f"not available: {isolation.problem}",
            "allow unprivileged user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        )
    text = "system calls filtered: no new processes, no reaching into others"
    _line(console, GOOD if isolation.filter else BAD, "filter", text if isolation.filter else "unknown machine type")
