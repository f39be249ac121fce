"""Judges candidates of the corpus by name: `python -m tests.corpus a03 softmax_plain`.

All of a kind: `exploits`, `honest`, `sycl`.
"""

from __future__ import annotations

import sys
import time

from kernelwright.judge import Judge
from tests.corpus import EXPLOITS, HONEST, SYCL_EXPLOITS, SYCL_HONEST, Specimen, specimens

KINDS = {EXPLOITS: "exploits", HONEST: "honest", SYCL_EXPLOITS: "sycl", SYCL_HONEST: "sycl"}


def main() -> None:
    wanted = sys.argv[1:] or ["exploits", "honest"]
    everyone = (specimen for folder in KINDS for specimen in specimens(folder))
    chosen = [specimen for specimen in everyone if any(_matches(specimen, word) for word in wanted)]
    wrong = 0
    with Judge() as judge:
        for specimen in chosen:
            start = time.monotonic()
            verdict = judge.judge(specimen.load_task(), specimen.source)
            good = str(verdict.status) in specimen.expect
            wrong += not good
            took = time.monotonic() - start
            mark = "ok   " if good else "WRONG"
            line = f"{mark} {specimen.name:<40} {verdict.status:<16} {took:5.2f} s"
            print(line, verdict.message[:150], flush=True)
    print(f"{len(chosen) - wrong} of {len(chosen)} as expected")
    sys.exit(wrong > 0)


def _matches(specimen: Specimen, word: str) -> bool:
    return word == KINDS[specimen.path.parent] or specimen.name.startswith(word)


if __name__ == "__main__":
    main()
