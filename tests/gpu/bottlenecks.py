"""Kernels with one known weakness each, profiled: is it named? python -m tests.gpu.bottlenecks"""

from __future__ import annotations

import sys
import time

from rich.console import Console

from kernelwright.cli._profile_screen import render
from kernelwright.judge import Judge, Verdict, profile
from tests.corpus import Specimen, specimens
from tests.gpu.trust import HERE, LIMITS


def main(prefixes: list[str]) -> int:
    wanted = specimens(HERE / "profiled", HERE / "tasks_profiled")
    with Judge(limits=LIMITS, device="cuda") as judge:
        right = [_named(judge, one) for one in wanted if not prefixes or one.name.startswith(tuple(prefixes))]
    print(f"named {sum(right)}/{len(right)}")
    return int(not all(right))


def _named(judge: Judge, specimen: Specimen) -> bool:
    start = time.perf_counter()
    found = profile(judge, specimen.load_task(), specimen.source)
    name = str(found.status) if isinstance(found, Verdict) else found.findings[0].name
    good = name in specimen.expect
    print(f"{' ' if good else '!'} {specimen.name:24} {name:20} {time.perf_counter() - start:5.1f} s", flush=True)
    if isinstance(found, Verdict):
        print(found.message)
    else:
        render(Console(width=150, highlight=False), found, specimen.task, specimen.name)
    return good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
