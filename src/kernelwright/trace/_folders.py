"""Spots as task folders that stand alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kernelwright.tasks import InputSpec, Task, load_task
from kernelwright.trace._error import TraceError
from kernelwright.trace._spot import Ranked, Shape, Spot

# So many shapes become cases, the most frequent ones; a kernel is proven on these and takes no others.
CASES = 4


def write_tasks(ranked: Iterable[Ranked], out: Path, top: int) -> list[tuple[Ranked, Path, Task]]:
    """The first `top` spots that can become tasks. Files that are there already are never overwritten."""
    chosen = [one for one in ranked if not one.why_not][:top]
    named = list(zip(chosen, _names(one.spot for one in chosen), strict=True))
    taken = [name for _, name in named if (out / name).exists()]
    if taken:
        raise TraceError(f"{out} already holds {', '.join(taken)}", "name another folder, or move these away")
    return [(one, out / name, _written(one, out / name)) for one, name in named]


def _names(spots: Iterable[Spot]) -> Iterator[str]:
    used: dict[str, int] = {}
    for spot in spots:
        plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", spot.name).lower()
        used[plain] = used.get(plain, 0) + 1
        yield plain if used[plain] == 1 else f"{plain}_{used[plain]}"


def _written(one: Ranked, folder: Path) -> Task:
    try:
        folder.mkdir(parents=True)
        (folder / "reference.py").write_text(one.spot.source)
        (folder / "task.toml").write_text(_toml(one, folder.name))
    except OSError as error:
        raise TraceError(f"{folder} cannot be written: {error.strerror}", "choose another place with --out") from error
    return load_task(folder)


def _toml(one: Ranked, name: str) -> str:
    spot = one.spot
    # Matrix products may be left to the library.
    library = "gemm-only" if any(shape.matrix for shape in spot.shapes) else "forbidden"
    where = ", ".join(spot.paths[:4]) + (" ..." if len(spot.paths) > 4 else "")
    head = [
        f"# {spot.label.splitlines()[0]}, {spot.calls} calls, {one.share:.1%} of the program's time. {where}".rstrip(),
        "# A case's weight is how often its shapes were seen.",
        "",
        f"name = {json.dumps(name)}",
        f'precision = "strict"\nlibrary = "{library}"\nmode = "{spot.mode}"',
    ]
    cases = [_case(shape, number) for number, shape in enumerate(spot.shapes[:CASES], 1)]
    return "\n".join([*head, *cases]) + "\n"


def _case(shape: Shape, number: int) -> str:
    title = f"{number}: {shape.title}"
    lines = [f"\n[[case]]\nname = {json.dumps(title)}\nweight = {shape.calls}\n[case.inputs]"]
    return "\n".join([*lines, *map(_input, shape.inputs)])


def _input(spec: InputSpec) -> str:
    layout = "" if spec.layout == "contiguous" else f', layout = "{spec.layout}"'
    return f'{spec.name} = {{ shape = {list(spec.shape)}, dtype = "{spec.dtype}", values = "{spec.values}"{layout} }}'
