"""The judge of the judge on a GPU: exploits rejected, honest kernels accepted.

python -m tests.gpu.trust                 everything once
python -m tests.gpu.trust a06 matmul_     only candidates whose names begin so
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from kernelwright.judge import Judge, Limits
from tests.corpus import Specimen, specimens

HERE = Path(__file__).parent
LIMITS = Limits(load_s=30, call_s=5, build_s=60, total_s=120)
# These leave the device in a state that takes a while to mend.
LAST = ("e18", "e19", "e20", "g")


def main(prefixes: list[str]) -> int:
    exploits = specimens(HERE / "exploits", HERE / "tasks")
    honest = specimens(HERE / "honest", HERE / "tasks_honest")
    right = {"exploits rejected": [0, 0], "honest accepted": [0, 0]}
    with Judge(limits=LIMITS, device="cuda") as judge:
        for title, all_of_them in (("honest accepted", honest), ("exploits rejected", exploits)):
            for specimen in sorted(all_of_them, key=lambda one: one.name.startswith(LAST)):
                if not prefixes or specimen.name.startswith(tuple(prefixes)):
                    right[title][0] += judged(judge, specimen)
                    right[title][1] += 1
    for title, (good, total) in right.items():
        print(f"{title} {good}/{total}")
    return int(any(good < total for good, total in right.values()))


def judged(judge: Judge, specimen: Specimen) -> bool:
    start = time.perf_counter()
    try:
        verdict = judge.judge(specimen.load_task(), specimen.source)
        status, message = str(verdict.status), verdict.message
        if status == "CORRECT":
            message += f" ({verdict.time_ms['candidate']:.3f} ms)"
    except Exception as error:
        status, message = type(error).__name__, str(error)[-300:]
    good = status in specimen.expect
    took = time.perf_counter() - start
    print(
        f"{' ' if good else '!'} {specimen.name[:34]:34} {status:16} {took:5.1f} s  {' '.join(message.split())[:150]}",
        flush=True,
    )
    return good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
