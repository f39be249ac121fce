"""One candidate for a project before the judge: screen, build, test, check, time against the original."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kernelwright.judge._process import verdict_of_end
from kernelwright.judge._status import InfraError, Rejection, Status
from kernelwright.judge._timing import CANDIDATE, CaseTiming, speedup
from kernelwright.judge._verdict import Verdict, source_hash
from kernelwright.judge.project._booth import Tree
from kernelwright.judge.project._numbers import agree
from kernelwright.judge.project._prepared import Bench, Broke, Disturbed, PreparedProject
from kernelwright.judge.project._screen import reaches
from kernelwright.judge.project._witness import Turn, weigh
from kernelwright.tasks import Case, RegionError

if TYPE_CHECKING:
    from kernelwright.judge._judge import Judge

ORIGINAL = "original"
# Rounds are as many as fit into so many seconds, but at least so many blocks of two; short commands get more of them.
DUEL_SECONDS = 6.0
BLOCKS, FEW_BLOCKS, SLOW_PAIR_SECONDS = 5, 3, 2.0
MOST_A_BLOCK = 6
MOST_LOG = 8000
OF_STAGE = {"build": Status.COMPILE_ERROR, "test": Status.WRONG_VALUE, "check": Status.WRONG_VALUE}


class ProjectHearing:
    """One candidate before the judge."""

    def __init__(self, judge: Judge, prepared: PreparedProject, source: str, *, timed: bool) -> None:
        self._judge, self._prepared, self._source, self._timed = judge, prepared, source, timed
        self._seconds = {"build": 0.0, "check": 0.0, "time": 0.0}
        self._evidence: dict[str, Any] = {"isolation": judge.isolation.level}
        self._found: dict[str, Any] = {}
        self._stage = "screen"
        self._runs = 0

    def verdict(self) -> Verdict:
        begun = time.perf_counter()
        try:
            status, message = self._hear()
        except Rejection as rejection:
            status, message = rejection.status, rejection.message
            self._evidence |= rejection.evidence
            self._found = {}
        self._seconds["total"] = time.perf_counter() - begun
        return Verdict(
            status=status,
            stage=self._stage,
            message=message,
            task=self._prepared.task.hash,
            candidate=source_hash(self._source),
            seconds={name: round(value, 4) for name, value in self._seconds.items()},
            evidence=self._evidence,
            machine=self._judge.machine,
            **self._found,
        )

    def _hear(self) -> tuple[Status, str]:
        sources = self._screen()
        with self._during("build", "build"):
            side = self._prepared.build(sources)
        with self._during("test", "check"):
            self._test(side)
        with self._during("check", "check"):
            for case in self._prepared.task.cases:
                self._round(side, case, flipped=False)
        self._evidence["project"] = {"tests": list(self._prepared.counts), "results_checked": self._prepared.is_checked}
        if not self._timed:
            return Status.UNTIMED, f"{self._checked()}; not timed, as asked"
        with self._during("time", "time"):
            self._time(side)
        return Status.CORRECT, self._summary()

    @contextmanager
    def _during(self, stage: str, part: str) -> Iterator[None]:
        self._stage = stage
        begun = time.perf_counter()
        try:
            yield
        except Disturbed as broke:
            raise Rejection(Status.TAMPER, str(broke), log=_log(broke)) from broke
        except Broke as broke:
            raise self._rejection(broke) from broke
        finally:
            self._seconds[part] += time.perf_counter() - begun

    def _rejection(self, broke: Broke) -> Rejection:
        end = broke.ran.end if broke.ran else None
        if broke.ran is not None and end is None:
            return Rejection(Status.TIMEOUT, str(broke), log=_log(broke))
        if end is not None and end.signal is not None:
            told = verdict_of_end(end, self._stage)
            return Rejection(told.status, str(broke), log=_log(broke))
        return Rejection(OF_STAGE.get(self._stage, Status.WRONG_VALUE), str(broke), log=_log(broke))

    # Screen and test

    def _screen(self) -> dict[str, str]:
        """The sources with the candidate in their regions."""
        project = self._prepared.project
        size, most = len(self._source.encode(errors="surrogatepass")), self._judge.limits.source_bytes
        if size > most:
            raise Rejection(Status.LOAD_ERROR, f"the source is {size} bytes, more than {most}")
        try:
            self._source.encode()
            texts = project.read(self._source)
        except UnicodeEncodeError as error:
            raise Rejection(Status.LOAD_ERROR, f"not valid text: {error}") from error
        except RegionError as error:
            raise Rejection(Status.WRONG_STRUCTURE, str(error)) from error
        for region in project.regions:
            found = reaches(project.language(region.file), region.text, texts[region.name])
            if found:
                raise Rejection(
                    Status.TAMPER,
                    f"region {region.name!r} reaches for {found!r}, and the original does not: no computation needs it",
                )
        self._evidence["backend"] = project.backend
        return project.with_candidate(self._source)

    def _test(self, side: Tree) -> None:
        ran = self._prepared.test(side)
        if not self._prepared.same_tests(ran):
            raise Rejection(
                Status.TAMPER,
                f"the tests pass, but not as many as on the original ({', '.join(self._prepared.counts)})",
                log=ran.output[-MOST_LOG:],
            )

    # Check and time

    def _round(self, side: Tree, case: Case, *, flipped: bool) -> tuple[Bench, Bench]:
        """Original and candidate, one after the other, on the same seed; both are right or the candidate is out."""
        seed = self._prepared.new_seed()
        sides = {ORIGINAL: self._prepared.original, CANDIDATE: side}
        found: dict[str, Bench] = {}
        for name in reversed(sides) if flipped else sides:
            found[name] = self._bench(sides[name], case, seed, mine=name == CANDIDATE)
        self._compare(found[ORIGINAL], found[CANDIDATE], case)
        self._runs += 1
        return found[ORIGINAL], found[CANDIDATE]

    def _bench(self, side: Tree, case: Case, seed: int, *, mine: bool) -> Bench:
        """What fails on the original's side is not the candidate's doing."""
        try:
            return self._prepared.bench(side, case, seed)
        except Broke as broke:
            if mine:
                raise
            raise InfraError(f"the original's benchmark no longer works: {broke}") from broke

    def _compare(self, theirs: Bench, mine: Bench, case: Case) -> None:
        if theirs.numbers is None or mine.numbers is None:
            return
        if mine.numbers.calls != theirs.numbers.calls:
            raise Rejection(
                Status.TAMPER,
                f"the benchmark of case {case.name!r} reports {mine.numbers.calls} calls, the original's "
                f"{theirs.numbers.calls}: its numbers are forged",
            )
        if not agree(mine.numbers.check, theirs.numbers.check, self._prepared.project.tolerance):
            raise Rejection(
                Status.WRONG_VALUE,
                f"the benchmark of case {case.name!r} finds other results than the original's on the same inputs: "
                f"{_short(mine.numbers.check)} and not {_short(theirs.numbers.check)}",
            )

    def _time(self, side: Tree) -> None:
        timings = [self._duel(side, case) for case in self._prepared.task.cases]
        weights = [timing.weight for timing in timings]
        for name in (CANDIDATE, ORIGINAL):
            mean = sum(w * t.median(name) for w, t in zip(weights, timings, strict=True)) / sum(weights)
            self._found.setdefault("time_ms", {})[name] = mean * 1e3
        found = speedup(timings, ORIGINAL)
        low = found.low / self._doubt(timings)
        self._found["speedup"] = {ORIGINAL: {"ratio": found.ratio, "low": low, "high": found.high}}
        self._evidence["timing"] = [timing.to_json() for timing in timings]
        self._evidence["project"]["runs"] = self._runs

    def _doubt(self, timings: list[CaseTiming]) -> float:
        """By how much the low end falls: a benchmark is believed no further than the clock bears it out."""
        doubts = {name: told["doubt"] for name, told in self._evidence.get("witness", {}).items()}
        logs = [timing.weight * math.log(doubts.get(timing.case, 1.0)) for timing in timings]
        return math.exp(sum(logs) / sum(timing.weight for timing in timings))

    def _duel(self, side: Tree, case: Case) -> CaseTiming:
        blocks, rounds = _shape(2 * self._prepared.first[case.name].wall)
        pairs = [self._round(side, case, flipped=bool(index % 2)) for index in range(blocks * rounds)]
        theirs, mine = ([pair[place] for pair in pairs] for place in (0, 1))
        samples = {ORIGINAL: [one.wall for one in theirs], CANDIDATE: [one.wall for one in mine]}
        if theirs[0].numbers is not None:
            heard = weigh(*([_turn(one) for one in side] for side in (theirs, mine)))
            self._evidence.setdefault("witness", {})[case.name] = heard.told
            if heard.borne_out:
                samples = {ORIGINAL: _claimed(theirs), CANDIDATE: [heard.charge * one for one in _claimed(mine)]}
        timing = CaseTiming(case.name, case.weight)
        for at in range(0, blocks * rounds, rounds):
            timing.blocks.append({name: values[at : at + rounds] for name, values in samples.items()})
        return timing

    # Words

    def _checked(self) -> str:
        if self._prepared.is_checked:
            return "tests pass, and every run gave the original's results on inputs of a new seed"
        return "tests pass; the benchmark says nothing of its results that could not be known beforehand"

    def _summary(self) -> str:
        ratio = self._found["speedup"][ORIGINAL]
        unheard = [name for name, told in self._evidence.get("witness", {}).items() if not told["borne_out"]]
        clock = f"; case {', '.join(unheard)} by the judge's clock alone: too short for it to bear the benchmark out"
        speed = f"{ratio['ratio']:.2f}x {ORIGINAL} [{ratio['low']:.2f}, {ratio['high']:.2f}]"
        return f"{self._checked()}; {speed}" + (clock if unheard else "")


def _shape(pair_seconds: float) -> tuple[int, int]:
    """How many blocks of how many rounds, an even number: as many as a duel's time allows."""
    if pair_seconds > SLOW_PAIR_SECONDS:
        return FEW_BLOCKS, 2
    wanted = round(DUEL_SECONDS / pair_seconds / BLOCKS / 2) * 2
    return BLOCKS, max(2, min(MOST_A_BLOCK, wanted))


def _turn(bench: Bench) -> Turn:
    assert bench.numbers is not None
    return Turn(bench.wall, bench.numbers.seconds, bench.numbers.total)


def _claimed(benches: list[Bench]) -> list[float]:
    return [bench.numbers.seconds for bench in benches if bench.numbers is not None]


def _log(broke: Broke) -> str:
    return broke.ran.output[-MOST_LOG:] if broke.ran else ""


def _short(check: Any) -> str:
    text = str(check)
    return text if len(text) <= 60 else text[:57] + "..."
