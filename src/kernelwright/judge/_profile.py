"""Why a right kernel is as fast as it is: facts gathered around it, and what they add up to.

The candidate is judged first and then called again in the same kind of caged processes, for facts that no verdict
needs: how many cores were busy, where its threads were found, what is left when its kernels are switched off, what
the processor counted, and what its compiled code is made of. A fact that cannot be had here is a sentence saying why.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kernelwright import backends, native
from kernelwright.judge import _bottleneck, _hot_spots
from kernelwright.judge._bottleneck import Facts, Finding
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._counters import Counters, NoCounters
from kernelwright.judge._expected import Trial
from kernelwright.judge._hot_spots import HotSpots
from kernelwright.judge._judge import Judge
from kernelwright.judge._memory import NUMPY
from kernelwright.judge._placement import Attention
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Answer, Worker
from kernelwright.judge._reference import SLOTS
from kernelwright.judge._roof import Roof, total
from kernelwright.judge._status import InfraError, Rejection, Status
from kernelwright.judge._timing import CANDIDATE, CaseTiming
from kernelwright.judge._turns import turn
from kernelwright.judge._verdict import Verdict
from kernelwright.judge.device import _bottleneck as _device_bottleneck
from kernelwright.judge.device import _profile as _device_profile
from kernelwright.judge.device._prepared import DevicePrepared
from kernelwright.judge.device._profile import DeviceSession
from kernelwright.tasks import Task, TaskError

FORMAT = 1
KIND = "kernelwright profile"
WARM_CALLS, CALLS, CALLS_SECONDS = 4, 12, 1.0
COUNTED_CALLS = 10
# OpenMP's threads spin for some milliseconds after a call; that is not the next call's time.
REST_SECONDS = 0.02
VECTORS = {"avx512f": 512, "avx": 256}


@dataclass(frozen=True)
class Profile:
    """A verdict, the facts behind its time, and what holds the kernel back, the most important first."""

    verdict: Verdict
    backend: str
    facts: dict[str, Any]
    findings: list[Finding]
    device: str = "cpu"

    @property
    def paragraph(self) -> str:
        return _bottleneck.paragraph(self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": KIND,
            "format": FORMAT,
            "task": self.verdict.task,
            "candidate": self.verdict.candidate,
            "backend": self.backend,
            "device": self.device,
            "machine": self.verdict.machine,
            "verdict": {
                "status": str(self.verdict.status),
                "message": self.verdict.message,
                "time_ms": self.verdict.time_ms,
                "speedup": self.verdict.speedup,
                "coverage": self.verdict.coverage,
            },
            "facts": self.facts,
            "bottleneck": self.findings[0].to_json(),
            "also": [finding.to_json() for finding in self.findings[1:]],
            "advice": list(self.findings[0].advice),
            "paragraph": self.paragraph,
        }


def profile(judge: Judge, task: Task, source: str, *, verdict: Verdict | None = None) -> Profile | Verdict:
    """A candidate's profile, or its verdict where it is not accepted. Raises TaskError and InfraError like `judge`.

    `verdict`: one made before on this machine, whose time is to be explained; judged now unless given.
    """
    verdict = verdict or judge.judge(task, source)
    if verdict.status is not Status.CORRECT:
        return verdict
    try:
        if judge.belongs_on_device(source):
            return _on_device(judge, task, source, verdict)
        with turn():
            return _Session(judge, task, source, verdict).profile()
    except Rejection as rejection:
        evidence = verdict.evidence | rejection.evidence
        return replace(
            verdict,
            status=rejection.status,
            stage="profile",
            message=rejection.message,
            time_ms={},
            speedup={},
            evidence=evidence,
        )


def _on_device(judge: Judge, task: Task, source: str, verdict: Verdict) -> Profile:
    prepared = judge.prepare(task, on_device=True)
    assert isinstance(prepared, DevicePrepared)
    facts = DeviceSession(judge, prepared, source, verdict).facts()
    findings = _device_bottleneck.diagnose(_device_profile.rules_view(facts))
    backend = str(verdict.evidence["backend"])
    return Profile(verdict, backend, facts, findings, device=prepared.workshop.place.kind)


@dataclass(frozen=True)
class Calls:
    """What calls were like: seconds without the journey, processor time wanted over wall time, page faults a call."""

    seconds: float
    processors: float
    page_faults: float


class _Session:
    """One candidate, looked at closely."""

    def __init__(self, judge: Judge, task: Task, source: str, verdict: Verdict) -> None:
        self._judge, self._source, self._verdict = judge, source, verdict
        self._prepared: Prepared = judge.prepare(task)
        self._backend = str(verdict.evidence["backend"])
        self._timings = [CaseTiming.from_json(told) for told in verdict.evidence["timing"]]

    def profile(self) -> Profile:
        self._prepared.use_weights(self._prepared.weight_seed)
        cases = [self._case(timing) for timing in self._timings]
        slowest = max(range(len(cases)), key=lambda n: self._timings[n].weight * cases[n]["time_ms"])
        trial = self._trial(self._timings[slowest])
        spots, code, counters = self._look_closely(trial)
        facts = {
            "cases": cases,
            "case": cases[slowest]["case"],
            "cores": len(os.sched_getaffinity(0)),
            "vector_bits": vector_bits(native.cpu_identity()),
            "ceilings": self._ceilings(),
            "samples": {"number": spots.seen, **spots.shares()},
            "code": code,
            "counters": counters,
        }
        findings = _bottleneck.diagnose(rules_view(facts))
        return Profile(self._verdict, self._backend, facts, findings)

    def _trial(self, timing: CaseTiming) -> Trial:
        return next(t for t in self._prepared.trials if t.case.name == timing.case and t.family == "given")

    def _ceilings(self) -> dict[str, Any]:
        return {
            "bytes_per_second": {str(k): v for k, v in self._judge.ceilings().bytes_per_second.items()},
            "fp32_flops_per_second": self._judge.flops_ceiling(),
        }

    # Time, bytes, operations

    def _case(self, timing: CaseTiming) -> dict[str, Any]:
        trial = self._trial(timing)
        probe = self._prepared.probes[timing.case]
        seconds = timing.median(CANDIDATE)
        operations = self._operations(trial)
        element = max(32, 8 * NUMPY[trial.expected.outputs[0].dtype].itemsize)
        floor = self._judge.ceilings().floor_seconds(probe.bytes_moved)
        roof = Roof(seconds, floor, self._compute(operations, element))
        awake, muted = self._calls(trial), self._muted_calls(trial)
        return {
            "case": timing.case,
            "weight": timing.weight,
            "time_ms": seconds * 1e3,
            "eager_ms": timing.median("eager") * 1e3,
            "element_bits": element,
            "bytes": {"read": probe.bytes_read, "written": probe.bytes_written},
            "operations": operations,
            "roof": roof.to_json(),
            "bytes_per_second": probe.bytes_moved / seconds,
            "operations_per_second": total(operations) / seconds if "absent" not in operations else None,
            "processors": round(awake.processors, 3),
            "page_faults": awake.page_faults,
            "outside_share": min(1.0, round(muted.seconds / awake.seconds, 4)) if muted else None,
        }

    def _operations(self, trial: Trial) -> dict[str, Any]:
        try:
            return self._prepared.operations(trial.inputs)
        except TaskError as error:
            return {"absent": f"the reference's operations could not be counted: {error.what}"}

    def _compute(self, operations: dict[str, Any], element_bits: int) -> float | None:
        """Seconds at the ceiling; a double counts twice, since half as many fit a register."""
        if "absent" in operations:
            return None
        return total(operations) * (element_bits / 32) / self._judge.flops_ceiling()

    # Calls

    def _start(self, *, mute: bool = False) -> Contestant:
        contestant = self._judge.start(self._prepared, self._source, mute=mute)
        contestant.stage_name = "profile"
        return contestant

    def _calls(self, trial: Trial, *, mute: bool = False) -> Calls:
        contestant = self._start(mute=mute)
        try:
            warm(contestant, trial)
            return measure(contestant, trial)
        finally:
            contestant.close()

    def _muted_calls(self, trial: Trial) -> Calls | None:
        """With its own kernels switched off; None where it has none to switch off, or then fails."""
        try:
            return self._calls(trial, mute=True)
        except Rejection:
            return None

    # Code

    def _look_closely(self, trial: Trial) -> tuple[HotSpots, dict[str, Any], dict[str, Any]]:
        contestant = self._start()
        try:
            warm(contestant, trial)
            spots = _hot_spots.find(contestant, trial)
            return spots, self._code(contestant, spots), counters(contestant, trial)
        finally:
            contestant.close()

    def _code(self, contestant: Contestant, spots: HotSpots) -> dict[str, Any]:
        listing = backends.get(self._backend).listing
        missing = _why_no_listing(listing, self._backend, bool(contestant.libraries))
        if missing or listing is None:
            return {"absent": missing}
        served = self._judge.builder.served
        try:
            texts: list[tuple[str, Mapping[int, int]]] = [
                (self._judge.builder.list_code(served[inode], listing.command), spots.own.get(inode, {}))
                for inode in sorted(contestant.libraries)
            ]
        except InfraError as error:
            return {"absent": str(error)}
        return {"tool": listing.command[0], **listing.facts(texts)}


def _why_no_listing(listing: backends.Listing | None, backend: str, compiled: bool) -> str:
    if listing is None:
        return f"what the {backend} backend compiles cannot be listed"
    return listing.missing if compiled else "the candidate has compiled nothing of its own"


def vector_bits(cpu: str) -> int:
    """The widest vector register of this processor, by the flags the kernel tells."""
    words = set(cpu.split())
    return next((bits for flag, bits in VECTORS.items() if flag in words), 128)


def warm(contestant: Contestant, trial: Trial) -> None:
    for number in range(WARM_CALLS):
        contestant.call(trial.inputs, slot=number % SLOTS)


def measure(contestant: Contestant, trial: Trial) -> Calls:
    """A few calls by the judge's clock and the kernel's own count of processor time."""
    seconds: list[float] = []
    wanted, faults = 0.0, 0
    with Attention(), contestant.judged():
        for number in range(CALLS):
            contestant.resume()
            time.sleep(REST_SECONDS)
            contestant.lay(trial.inputs, slot=number % SLOTS, shifted=True)
            before, faults_before = _wanted(contestant.worker), contestant.worker.page_faults()
            seconds.append(contestant.go().seconds)
            wanted += _wanted(contestant.worker) - before
            faults += contestant.worker.page_faults() - faults_before
            if sum(seconds) > CALLS_SECONDS:
                break
        journey = _journey(contestant)
    middle = statistics.median(seconds)
    return Calls(max(middle - journey, middle / 10), wanted / sum(seconds), faults / len(seconds))


def _wanted(worker: Worker) -> float:
    """Processor time that it had, and that it would have had if others had not used the machine."""
    return worker.cpu_seconds() + worker.queued_seconds()


def _journey(contestant: Contestant) -> float:
    pings = [contestant.worker.go(timeout=contestant.call_limit, op="ping") for _ in range(WARM_CALLS)]
    return min((ping.seconds for ping in pings if isinstance(ping, Answer)), default=0.0)


def counters(contestant: Contestant, trial: Trial) -> dict[str, Any]:
    """What the processor counted in a call, on average; or why there is nothing."""
    try:
        with Counters(contestant.worker.pid) as counting:
            for number in range(COUNTED_CALLS):
                contestant.lay(trial.inputs, slot=number % SLOTS, shifted=True)
                counting.resume()
                contestant.go()
                counting.pause()
            return {event: value / COUNTED_CALLS for event, value in counting.read().items()}
    except NoCounters as error:
        return {"absent": str(error)}


def rules_view(facts: dict[str, Any]) -> Facts:
    """The facts of the case that takes the most time, as the rules want them."""
    case = next(case for case in facts["cases"] if case["case"] == facts["case"])
    hot = facts["code"].get("hot", {})
    samples = {name: share for name, share in facts["samples"].items() if name != "number"}
    return Facts(
        seconds=case["time_ms"] / 1e3,
        roof_seconds=case["roof"][f"{case['roof']['bound']}_ms"] / 1e3,
        bound=case["roof"]["bound"],
        outside_share=case["outside_share"],
        processors=case["processors"],
        cores=facts["cores"],
        samples=samples or None,
        arithmetic=hot.get("arithmetic"),
        moves=hot.get("moves"),
        fused_share=hot.get("fused_share"),
        division_share=hot.get("division_share", 0.0),
        gathers=hot.get("gathers", 0),
        spill_share=hot.get("spill_share", 0.0),
        calls=tuple(hot.get("calls", ())),
        vector_bits=facts["vector_bits"],
        element_bits=case["element_bits"],
        page_faults=case["page_faults"],
    )
