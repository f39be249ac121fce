"""The process in which the user's program runs: as it would by itself, with a stopwatch or winners beside it.

    python -m kernelwright.trace._child ORDER.json

The order names a role, the script and its arguments, and a folder for what is found. The script is the user's own and
runs with the user's rights.
"""

from __future__ import annotations

import json
import os
import random
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from kernelwright.tasks import Task
from kernelwright.trace._call import tensors_in
from kernelwright.trace._design import remembering
from kernelwright.trace._examined import examined
from kernelwright.trace._operators import Profiler
from kernelwright.trace._stopwatch import Stopwatch
from kernelwright.trace._swap import Swap, Winner

Found = dict[str, Any]
# Of the results of outermost calls so much is kept to be compared.
MOST_CALLS, MOST_BYTES = 64, 1 << 26


class Failed(Exception):
    """The script did not come to its end."""


def main() -> None:
    order = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(order["folder"])
    try:
        found = ROLES[order["role"]](order, folder)
    except Failed as error:
        found = {"failed": str(error)}
    (folder / "found.json").write_text(json.dumps(found))


def _modules(order: Found, folder: Path) -> Found:
    watch = Stopwatch()
    seconds = _run(order, remembering(), watch.running())
    return {"seconds": seconds - watch.overhead, "spots": examined(watch, Path(order["script"]).name)}


def _operators(order: Found, folder: Path) -> Found:
    profiler = Profiler()
    _run(order, profiler.running())
    return {"seconds": profiler.seconds, "operators": profiler.operators()}


def _original(order: Found, folder: Path) -> Found:
    return {"seconds": _run(order, _kept(order, folder))}


def _changed(order: Found, folder: Path) -> Found:
    winners = [Winner(Task.from_wire(one["task"]), one["candidate"], folder) for one in order["winners"]]
    swap = Swap(winners, Path(order["script"]).name)
    seconds = _run(order, remembering(), swap.running(), _kept(order, folder))
    swapped = [{"calls": one.calls, "left_alone": dict(one.left_alone)} for one in winners]
    return {"seconds": seconds, "preparing": swap.preparing, "swapped": swapped}


ROLES: dict[str, Callable[[Found, Path], Found]] = {
    "modules": _modules,
    "operators": _operators,
    "original": _original,
    "changed": _changed,
}


def _run(order: Found, *around: AbstractContextManager[None]) -> float:
    """Seconds from the script's first line to its last."""
    # As Python names the file it was started with: found again wherever the script goes.
    script = Path(order["script"]).absolute()
    code = compile(script.read_bytes(), str(script), "exec")
    sys.argv = [order["script"], *order["args"]]
    sys.path[0] = str(script.resolve().parent)
    _seed()
    with ExitStack() as stack:
        for one in around:
            stack.enter_context(one)
        started = perf_counter()
        _execute(code, script)
        return perf_counter() - started


def _execute(code: types.CodeType, script: Path) -> None:
    # It stays in its place when the script has ended: the text of its classes is looked up there.
    main = types.ModuleType("__main__")
    main.__file__ = str(script)
    sys.modules["__main__"] = main
    try:
        exec(code, vars(main))
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            raise Failed(f"it left with exit code {leaving.code}") from leaving
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename == str(script)]
        traceback.print_list(own, sys.stderr)
        where = f" (line {own[-1].lineno})" if own else ""
        raise Failed(f"{type(error).__name__}: {error}{where}") from error
    finally:
        sys.stdout.flush()


def _seed() -> None:
    """Runs that are compared begin alike; a script that sets seeds itself is not affected."""
    random.seed(0)
    torch.manual_seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


@contextmanager
def _kept(order: Found, folder: Path) -> Iterator[None]:
    """With `outputs` in the order: what outermost calls of modules return is written down."""
    if not order["outputs"]:
        yield
        return
    kept: list[list[torch.Tensor]] = []
    plain, depth, room = torch.nn.Module.__call__, 0, MOST_BYTES

    def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth, room
        depth += 1
        try:
            result = plain(module, *args, **kwargs)
        finally:
            depth -= 1
        if depth == 0 and len(kept) < MOST_CALLS and room > 0:
            tensors = [tensor.detach().cpu().clone() for tensor in tensors_in(result)]
            room -= sum(tensor.nbytes for tensor in tensors)
            kept.append(tensors)
        return result

    torch.nn.Module.__call__ = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.nn.Module.__call__ = plain  # type: ignore[method-assign]
        torch.save(kept, folder / "outputs.pt")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Threads that the script has left running do not keep anybody waiting.
    os._exit(0)
