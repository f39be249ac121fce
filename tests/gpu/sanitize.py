"""Candidates with faults that only a tool sees, judged with the sanitizer: python -m tests.gpu.sanitize"""

from __future__ import annotations

import sys

from kernelwright.judge import Judge
from tests.corpus import specimens
from tests.gpu.trust import HERE, LIMITS, judged


def main(prefixes: list[str]) -> int:
    wanted = specimens(HERE / "sanitizer", HERE / "tasks_small")
    with Judge(limits=LIMITS, device="cuda", sanitize=True) as judge:
        right = [judged(judge, one) for one in wanted if not prefixes or one.name.startswith(tuple(prefixes))]
    print(f"as expected {sum(right)}/{len(right)}")
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
