"""Lets every configuration of a space run on this machine, once and for all, and keeps what was measured.

    python -m benchmarks.record_sweep product            # 10 minutes on 2 quiet cores; goes on where it was left

What comes of it, `benchmarks/sweeps/product/sweep.jsonl.gz`, is what `make bench-tuner` races on. Unlike everywhere
else no judge is asked: these kernels are part of this repository, and a whole sweep must be had on a machine that
others use too. So the clock is the processor time of the calling thread, which stands still while others run; eight
configurations and a pacemaker are called in turns, and a round is the shortest of a few calls. Who shares caches and
memory with us slows us down even so: a round counts only if the pacemaker, called before and after it, was as fast as
it can be. `--pause FILE` begins nothing for as long as there is such a file.
"""

import argparse
import gzip
import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from kernelwright.tasks import load_task
from kernelwright.tuning import Configuration, Lap, Record, Recorded, Space, Template, read_template, setting_here

SWEEPS = Path(__file__).parent / "sweeps"
CASE = "given"
HEAT, ROUNDS, CALLS = 8, 10, 4
PAUSE_SECONDS = 5.0
TOLERANCE = 2e-4
# A pacemaker that is no more than this behind its shortest call was not disturbed.
UNDISTURBED = 1.06
# After so many disturbed rounds in a row it waits, after so many waits it takes what it gets, and says so.
DISTURBED_ROUNDS, WAITS, WAIT_SECONDS = 20, 30, 0.1

Kernel = Callable[[], torch.Tensor]


class Stopwatch:
    """A racer: what it says of a configuration is processor time alone."""

    weights = {CASE: 1.0}  # noqa: RUF012

    def __init__(self, folder: Path, template: Template, pause: Path | None) -> None:
        self._template, self._pause = template, pause
        self._inputs = _inputs(folder)
        self._expected = _made((folder / "reference.py").read_text(), "Model")(*self._inputs)
        self._pace = self._kernel(template.default)
        self._warm(self._pace)
        self._shortest_pace = min(_shortest(self._pace) for _ in range(100))

    def run(self, entrants: Sequence[Configuration], rounds: int) -> list[Lap]:
        while self._pause is not None and self._pause.exists():
            time.sleep(PAUSE_SECONDS)
        before = _compilers()
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            kernels = list(threads.map(self._kernel, entrants))
        build = (_compilers() - before) / len(entrants)
        start = time.thread_time()
        for kernel in kernels:
            self._warm(kernel)
        load = (time.thread_time() - start) / len(entrants)
        rounds_kept = [self._round(kernels) for _ in range(rounds)]
        run = CALLS * sum(map(sum, rounds_kept)) / len(entrants)
        pace, *others = ({CASE: times} for times in zip(*rounds_kept, strict=True))
        return [Lap(times=each, pace=pace, build=build, load=load, run=run) for each in others]

    def _kernel(self, configuration: Configuration) -> Kernel:
        model = _made(self._template.text(configuration), "ModelNew")
        return lambda: model(*self._inputs)

    def _warm(self, kernel: Kernel) -> None:
        """Right, and called before."""
        torch.testing.assert_close(kernel(), self._expected, rtol=TOLERANCE, atol=TOLERANCE)
        kernel()

    def _round(self, kernels: Sequence[Kernel]) -> list[float]:
        """The shortest of a few calls of the pacemaker and of each of these, while nothing disturbed them."""
        for _ in range(WAITS):
            for _ in range(DISTURBED_ROUNDS):
                before, *times, after = (_shortest(each) for each in (self._pace, *kernels, self._pace))
                self._shortest_pace = min(self._shortest_pace, before, after)
                if max(before, after) <= UNDISTURBED * self._shortest_pace:
                    return [min(before, after), *times]
            time.sleep(WAIT_SECONDS)
        print("disturbed", flush=True)
        return [min(before, after), *times]


def _shortest(kernel: Kernel) -> float:
    return min(_seconds(kernel) for _ in range(CALLS))


def _inputs(folder: Path) -> list[torch.Tensor]:
    """Of the one case of the task."""
    [case] = load_task(folder).cases
    draw = torch.Generator().manual_seed(0)
    return [torch.randn(*each.shape, generator=draw) for each in case.inputs]


def _made(source: str, name: str) -> torch.nn.Module:
    names: dict[str, type[torch.nn.Module]] = {}
    exec(source, names)
    return names[name]()


def _seconds(kernel: Kernel) -> float:
    start = time.thread_time()
    kernel()
    return time.thread_time() - start


def _compilers() -> float:
    """Processor seconds of all programs that this one has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(name: str, log: Path, pause: Path | None) -> None:
    folder = SWEEPS / name
    task, source = load_task(folder), (folder / "candidate.py").read_text()
    setting = setting_here(task, source)
    space = Space(read_template(source), setting["limits"])
    racer = Recorded(Record(log, setting), Stopwatch.weights, Stopwatch(folder, space.template, pause))
    # Neighbours are alike, and what disturbs the machine lasts for a while: in a mixed order it falls on no one region.
    order = random.Random(0).sample(space.configurations, len(space))
    for start in range(0, len(order), HEAT):
        racer.run(order[start : start + HEAT], ROUNDS)
        print(f"{name}: {min(start + HEAT, len(order))} of {len(order)}", flush=True)
    (folder / "sweep.jsonl.gz").write_bytes(gzip.compress(log.read_bytes(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=sorted(folder.name for folder in SWEEPS.iterdir()))
    parser.add_argument("--log", type=Path, default=Path("out/sweeps"), help="the folder of the logs it goes on from")
    parser.add_argument("--pause", type=Path, help="begin no heat while this file exists")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    builds = tempfile.mkdtemp()  # what was compiled for something else would cost nothing here
    os.environ["KERNELWRIGHT_CACHE"] = builds
    try:
        for name in arguments.names:
            record(name, arguments.log / f"{name}.jsonl", arguments.pause)
    finally:
        shutil.rmtree(builds)


if __name__ == "__main__":
    main()
