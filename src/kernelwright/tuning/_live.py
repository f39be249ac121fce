"""Configurations run by the judge on this machine, in its cages.

On the processor they sprint: a few interleaved rounds each, a sieve before the judgement of the finalists. On a device
there is no such sprint yet, and every lap is a judgement in full.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kernelwright.judge import Judge, Verdict, sprint
from kernelwright.tasks import Task
from kernelwright.tuning._error import TuningError
from kernelwright.tuning._racer import Lap, Racer, Times
from kernelwright.tuning._template import Configuration, Template

# Against what a lap on a device is paced.
PACEMAKER = "eager"


def live_racer(judge: Judge, task: Task, template: Template, pacemaker: Configuration) -> Racer:
    """Who lets this template's configurations run here."""
    if judge.belongs_on_device(template.source):
        return JudgedRacer(judge, task, template)
    return SprintRacer(judge, task, template, pacemaker)


def weights_of(task: Task) -> dict[str, float]:
    return {case.name: case.weight for case in task.cases}


class SprintRacer:
    """Compiles as many as there are cores at a time, then times all in turns beside a pacemaker."""

    def __init__(self, judge: Judge, task: Task, template: Template, pacemaker: Configuration) -> None:
        self._judge, self._task, self._template = judge, task, template
        self._pacemaker = template.text(pacemaker)
        self.weights: Mapping[str, float] = weights_of(task)

    def run(self, entrants: Sequence[Configuration], rounds: int) -> list[Lap]:
        texts = [self._template.text(entrant) for entrant in entrants]
        build = _build(self._judge, texts) / len(texts)
        pace, *sprinters = sprint(self._judge, self._task, [self._pacemaker, *texts], rounds)
        if pace.failure:
            raise TuningError(f"the configuration that sets the pace failed: {pace.failure}", "judge it with `eval`")
        shared = (pace.load + pace.run) / len(sprinters)
        return [
            Lap(
                times=_tupled(each.times),
                pace=_tupled(pace.times) if not each.failure else {},
                failure=each.failure,
                build=build,
                load=each.load + shared,
                run=each.run,
            )
            for each in sprinters
        ]


class JudgedRacer:
    """Judges every entrant in full; eager PyTorch, timed in the same rounds, sets the pace."""

    def __init__(self, judge: Judge, task: Task, template: Template) -> None:
        self._judge, self._task, self._template = judge, task, template
        self.weights: Mapping[str, float] = weights_of(task)

    def run(self, entrants: Sequence[Configuration], rounds: int) -> list[Lap]:
        """However few rounds are asked for, a judgement has its own number of them."""
        texts = [self._template.text(entrant) for entrant in entrants]
        with self._judge.prebuild(texts):
            return [self._lap(text) for text in texts]

    def _lap(self, text: str) -> Lap:
        start = time.perf_counter()
        verdict = self._judge.judge(self._task, text)
        spent = time.perf_counter() - start
        if not verdict.accepted or not verdict.time_ms:
            return Lap(failure=f"{verdict.status}: {verdict.message}", run=spent)
        return Lap(times=samples(verdict, "candidate"), pace=samples(verdict, PACEMAKER), run=spent, whole=True)


def samples(verdict: Verdict, name: str) -> Times:
    """Seconds of the timed calls of a contestant, by case, without the journey there and back."""
    return {told["case"]: tuple(_net(told, name)) for told in verdict.evidence["timing"]}


def _net(told: Mapping[str, Any], name: str) -> list[float]:
    walls = [wall for block in told["samples_ms"] for wall in block[name]]
    return [max(wall - told["overhead_ms"], wall / 10) / 1e3 for wall in walls]


def _build(judge: Judge, texts: Sequence[str]) -> float:
    """Compiles what these will ask for, before anything is timed. Seconds."""
    start = time.perf_counter()
    with judge.prebuild(texts) as builds:
        builds.finish(lambda: None)
    return time.perf_counter() - start


def _tupled(times: Mapping[str, Sequence[float]]) -> Times:
    return {case: tuple(each) for case, each in times.items()}
