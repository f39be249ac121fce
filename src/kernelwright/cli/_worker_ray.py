"""`kernelwright worker head`, `worker join`: a Ray cluster, and this machine as a node of it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright import backends
from kernelwright.cli._failure import UsageError
from kernelwright.fleet import FleetError
from kernelwright.fleet.cluster import (
    LOOPBACK,
    PORT,
    Node,
    abilities,
    check_address,
    make_token,
    need_token,
    on,
    start_head,
    start_node,
)
from kernelwright.judge import Judge

HEAD_HELP = "Start a Ray cluster that searches and nodes can join. Runs until stopped."
JOIN_HELP = "Judge for whoever uses a Ray cluster, on this machine. Runs until stopped; exit 2 if the cluster ends."
LOOK_S = 0.5


def head(
    listen: Annotated[
        str, typer.Option(help="The address of this machine to listen on: any but the loopback one is open to others.")
    ] = LOOPBACK,
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")] = PORT,
) -> None:
    say = _speaker()
    with _sentences(), _running(lambda: _begin(listen, port, say)) as node:
        _stay(node, say)


def _begin(listen: str, port: int, say: Callable[[str], None]) -> Node:
    file = make_token()
    node = start_head(listen, port)
    say(f"The cluster is at {node.address}" + (f"; its token is in {file}" if file else ""))
    if listen != LOOPBACK:
        say("Ray listens on every interface of this machine: who has the token can run programs here")
    say(f"Nodes:    kernelwright worker join {node.address}")
    say(f"Searches: kernelwright optimize ... --fleet ray://{node.address}")
    return node


def join(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="As `kernelwright worker head` says it.")],
    offer: Annotated[str | None, typer.Option(help="No more than these backends, comma-separated.")] = None,
    only_build: Annotated[bool, typer.Option("--only-build", help="Compile for others, and time nothing.")] = False,
    cores: Annotated[str | None, typer.Option(help="Only these cores, such as 0,1; all if not said.")] = None,
    name: Annotated[str, typer.Option(help="What this node is called; its host and process if not said.")] = "",
    listen: Annotated[str, typer.Option(help="This machine's address; found out if not said.")] = "",
) -> None:
    say = _speaker()
    with _sentences(), ExitStack() as stack:
        need_token()
        if cores is not None:
            stack.enter_context(on(_cores(cores)))
        found = abilities(_names(offer), only_build=only_build, node=name)
        check_address(address)
        _examine(say)
        node = stack.enter_context(_running(lambda: start_node(address, found, listen=listen)))
        say(f"joined: {found}")
        _stay(node, say)


def _examine(say: Callable[[str], None]) -> None:
    """What the doctor would say, and what this machine can do at best: measured now, while nobody waits for it."""
    for name in backends.names():
        available = backends.get(name).available()
        say(f"  {'ok' if available.ok else 'no'}  {name:<8} {available.detail if available.ok else available.fix}")
    with Judge() as judge:
        isolation = judge.isolation
        say(f"  {'ok' if isolation.namespaces and isolation.filter else 'no'}  isolation {isolation.level}")
        if backends.get("cpp").available().ok:
            judge.ceilings()
            say(f"  ok  ceilings measured, {judge.flops_ceiling() / 1e9:.0f} Gflop/s")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _cores(text: str) -> list[int]:
    allowed = os.sched_getaffinity(0)
    try:
        wanted = [int(word) for word in text.split(",")]
    except ValueError:
        wanted = []
    if not wanted or not set(wanted) <= allowed:
        raise FleetError(f"--cores {text}: not cores of this machine", f"say some of {sorted(allowed)}, as 0,1")
    return wanted


# *** running ***


def _speaker() -> Callable[[str], None]:
    console = Console(highlight=False)
    return lambda line: console.print(escape(line), soft_wrap=True)


@contextmanager
def _sentences() -> Iterator[None]:
    try:
        yield
    except FleetError as error:
        raise UsageError(error.what, error.fix) from error


@contextmanager
def _running(start: Callable[[], Node]) -> Iterator[Node]:
    node = start()
    try:
        yield node
    finally:
        node.close()


def _stay(node: Node, say: Callable[[str], None]) -> None:
    """Until somebody stops it, which is no failure, or the cluster ends, which is one."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        while node.alive():
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        say("stopped; what was not judged goes to other nodes")
        return
    finally:
        signal.signal(signal.SIGTERM, before)
    raise FleetError("the cluster has ended, or this node was cut off from it", "look at the head, then join again")
