"""Why a right kernel is as fast as it is, on a GPU: facts gathered around it in caged processes.

Whatever a candidate's process says of itself is checked for its form and believed no further: it makes a profile, never
a verdict. A fact that cannot be had here is a sentence saying why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernelwright import native
from kernelwright.backends import KernelCode, plain_name
from kernelwright.judge import _ceilings
from kernelwright.judge._channel import Garbage, Message
from kernelwright.judge._roof import Roof, total
from kernelwright.judge._status import InfraError, Rejection
from kernelwright.judge._timing import CANDIDATE, CaseTiming
from kernelwright.judge._turns import alone_on_device
from kernelwright.judge._verdict import Verdict
from kernelwright.judge.device import _listing, _nsight
from kernelwright.judge.device._bottleneck import DeviceFacts
from kernelwright.judge.device._contestant import Profiled
from kernelwright.judge.device._inspection import Inspected
from kernelwright.judge.device._kernels import LIBRARY, MOVES
from kernelwright.judge.device._occupancy import occupancy
from kernelwright.judge.device._prepared import DevicePrepared, DeviceTrial
from kernelwright.tasks import TaskError

if TYPE_CHECKING:
    from kernelwright.judge._judge import Judge

LARGEST_CARRIED = 4 << 30
MOST_KERNELS = 16
# In which units matrix products are done at best, by what the task allows and by the type of its elements.
RATES = {"float64": "fp64", "float16": "fp16", "bfloat16": "bf16"}
ALLOWED = {"tf32": "tf32", "bf16": "bf16", "fp16": "fp16"}
PLAIN = "fp32"
# A call that is looked at: what looks is loaded too, from disk the first time. How long it takes alone is known by now.
PROFILED_SECONDS = 30.0

Launch = dict[str, Any]


class DeviceSession:
    """One candidate, looked at closely on the device that it was judged on."""

    def __init__(self, judge: Judge, prepared: DevicePrepared, source: str, verdict: Verdict) -> None:
        self._judge, self._prepared, self._source, self._verdict = judge, prepared, source, verdict
        self._timings = [CaseTiming.from_json(told) for told in verdict.evidence["timing"]]
        self._able = self._abilities()

    def facts(self) -> dict[str, Any]:
        self._prepared.use_weights(self._prepared.weight_seed)
        limits = replace(self._judge.limits, call_s=max(PROFILED_SECONDS, self._judge.limits.call_s))
        contestant = Profiled(self._judge.template, self._prepared, self._judge.builder, self._source, limits=limits)
        contestant.stage_name = "profile"
        try:
            launches = {timing.case: self._launches(contestant, self._trial(timing)) for timing in self._timings}
            listed = self._listed(contestant)
        finally:
            contestant.close()
        cases = [self._case(timing, launches[timing.case]) for timing in self._timings]
        slowest = max(range(len(cases)), key=lambda n: self._timings[n].weight * cases[n]["time_ms"])
        timing = self._timings[slowest]
        code, kernels = self._kernels(listed, launches[timing.case])
        return {
            "cases": cases,
            "case": timing.case,
            "device": self._able,
            "kernels": kernels,
            "code": code,
            "counters": self._counters(self._trial(timing)),
        }

    def _abilities(self) -> dict[str, Any]:
        """Kept by the device's name; host memory in its role is no device to know again."""
        if self._prepared.workshop.place.kind != "cuda":
            return self._prepared.abilities()
        here = native.gpu()
        return _ceilings.load_device(here.name if here else "GPU", self._prepared.abilities)

    def _trial(self, timing: CaseTiming) -> DeviceTrial:
        found: Any = next(t for t in self._prepared.trials if t.case.name == timing.case and t.family == "given")
        trial: DeviceTrial = found
        return trial

    # Time, bytes, operations

    def _case(self, timing: CaseTiming, launches: list[Launch]) -> dict[str, Any]:
        trial, probe = self._trial(timing), self._prepared.probes[timing.case]
        seconds = timing.median(CANDIDATE)
        operations = self._operations(trial)
        dtype = trial.expected.outputs[0].dtype
        matrix = matrix_rate(dtype, self._prepared.task.precision)
        roof = Roof(seconds, probe.bytes_moved / self._able["bytes_per_second"], self._compute(operations, matrix))
        busy = covered(launches)
        return {
            "case": timing.case,
            "weight": timing.weight,
            "time_ms": seconds * 1e3,
            "eager_ms": timing.median("eager") * 1e3,
            "dtype": dtype,
            "bytes": {"read": probe.bytes_read, "written": probe.bytes_written},
            "operations": operations,
            "matrix_rate": matrix,
            "roof": roof.to_json(),
            "bytes_per_second": probe.bytes_moved / seconds,
            "operations_per_second": total(operations) / seconds if "absent" not in operations else None,
            "launches": sum(launch["kernel"] for launch in launches),
            "busy_ms": busy * 1e3 if launches else None,
            "busy_share": min(1.0, round(busy / seconds, 4)) if launches else None,
            "library_share": library_share(launches),
        }

    def _operations(self, trial: DeviceTrial) -> dict[str, Any]:
        try:
            return self._prepared.operations(trial.inputs)  # type: ignore[arg-type]
        except TaskError as error:
            return {"absent": f"the reference's operations could not be counted: {error.what}"}

    def _compute(self, operations: dict[str, Any], matrix: str) -> float | None:
        """Seconds at the ceilings: matrix products in the units that the task allows, the rest in plain ones."""
        rates = self._able["rates"]
        if "absent" in operations:
            return None
        plain = rates[PLAIN] if matrix != "fp64" else rates.get("fp64", rates[PLAIN])
        return float(operations["matrix"] / rates.get(matrix, rates[PLAIN]) + operations["elementwise"] / plain)

    # Kernels

    def _launches(self, contestant: Profiled, trial: DeviceTrial) -> list[Launch]:
        """Of a call with nothing in the caches; what is compiled or tuned on first use is done before."""
        calls = self._prepared.lay([trial.inputs])
        self._prepared.fill(calls)
        contestant.stage_calls(calls)
        contestant.ask({"op": "launches"}, timeout=contestant.call_limit)
        self._prepared.flush()
        said = contestant.ask({"op": "launches"}, timeout=contestant.call_limit)
        with contestant.judged():
            return [well_formed(launch) for launch in said["launches"]]

    def _listed(self, contestant: Profiled) -> tuple[str, list[KernelCode]] | str:
        """The program that listed the candidate's code, and its kernels; or why there are none."""
        builder = self._judge.builder
        kept = contestant.compiled_files()
        sources = [request["source"] for request in contestant.compiled if request["source"]["language"] == "cuda"]
        libraries = [builder.served[inode] for inode in sorted(contestant.libraries)]
        if not any(native.Source(said["source"]["language"], "").backend == "cuda" for said in contestant.compiled):
            libraries = []
        try:
            return _listing.Lister(builder, libraries, sources, kept).code()
        except (InfraError, native.CompileError) as error:
            return str(error)

    def _kernels(
        self, listed: tuple[str, list[KernelCode]] | str, launches: list[Launch]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        tool, codes = (None, []) if isinstance(listed, str) else listed
        kernels = [kernel_facts(group, codes, self._able["limits"], launches) for group in grouped(launches)]
        told = {"absent": listed} if isinstance(listed, str) else {"tool": tool, "kernels": len(codes)}
        return told, sorted(kernels, key=lambda kernel: -kernel["seconds"])[:MOST_KERNELS]

    # Counters

    def _counters(self, trial: DeviceTrial) -> dict[str, Any]:
        """What Nsight Compute counts in a call, by kernel; or why there is nothing."""
        try:
            return _nsight.by_kernel(_nsight.read(self._counted(trial)))
        except (_nsight.NoCounters, InfraError, Rejection) as error:
            return {"absent": str(error)}

    def _counted(self, trial: DeviceTrial) -> str:
        if self._prepared.workshop.place.kind != "cuda":
            raise _nsight.NoCounters("host memory has no counters")
        if trial.inputs.nbytes > LARGEST_CARRIED:
            size = f"{trial.inputs.nbytes / 1e9:.1f} GB"
            raise _nsight.NoCounters(f"ncu was not asked: inputs of {size} are too large to be handed to it")
        judge = self._judge
        with alone_on_device():  # the counters are the whole device's
            inspected = Inspected(
                judge.template, self._prepared, judge.builder, self._source, _nsight.find(), limits=judge.limits
            )
            try:
                return inspected.call_once(trial, warm=1)
            finally:
                inspected.close()


def matrix_rate(dtype: str, precision: str) -> str:
    """In which units a task's matrix products may be done."""
    return RATES.get(dtype) or ALLOWED.get(precision, PLAIN)


# *** launches ***


def well_formed(said: Message) -> Launch:
    """A launch as a candidate's process tells it, in a form that can be counted with. Raises as nonsense does."""
    launch: Launch = {
        "name": str(said["name"])[:300],
        "kernel": bool(said["kernel"]),
        "start": float(said["start_us"]) / 1e6,
        "seconds": float(said["seconds"]),
        "grid": [int(size) for size in said["grid"]][:3],
        "block": [int(size) for size in said["block"]][:3],
        "registers": int(said["registers"]),
        "shared_bytes": int(said["shared_bytes"]),
    }
    numbers = [launch["seconds"], launch["registers"], launch["shared_bytes"], *launch["grid"], *launch["block"]]
    if not all(0 <= number < 1e12 for number in numbers) or not -1e12 < launch["start"] < 1e12:
        raise Garbage("a launch that cannot have been")
    return launch


def covered(launches: Iterable[Launch]) -> float:
    """For how long anything ran."""
    seconds, reached = 0.0, float("-inf")
    for start, end in sorted((launch["start"], launch["start"] + launch["seconds"]) for launch in launches):
        seconds += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return seconds


def library_share(launches: list[Launch]) -> float:
    everything = sum(launch["seconds"] for launch in launches)
    theirs = sum(launch["seconds"] for launch in launches if LIBRARY.search(launch["name"]))
    return round(theirs / everything, 4) if everything else 0.0


def grouped(launches: list[Launch]) -> list[list[Launch]]:
    """The candidate's own kernels: launches of the same name and shape together."""
    found: dict[tuple[Any, ...], list[Launch]] = {}
    for launch in launches:
        if launch["kernel"] and not LIBRARY.search(launch["name"]) and not MOVES.match(launch["name"]):
            shape = (launch["name"], *launch["grid"], *launch["block"], launch["registers"], launch["shared_bytes"])
            found.setdefault(shape, []).append(launch)
    return list(found.values())


def kernel_facts(
    group: list[Launch], codes: list[KernelCode], limits: Mapping[str, int], launches: list[Launch]
) -> dict[str, Any]:
    first = group[0]
    seconds = sum(launch["seconds"] for launch in group)
    blocks, threads = _product(first["grid"]), _product(first["block"])
    held = occupancy(
        grid=blocks,
        threads=threads,
        registers=first["registers"],
        shared_bytes=first["shared_bytes"],
        limits=limits,
    )
    code = code_of(first, codes)
    return {
        "name": first["name"],
        "launches": len(group),
        "seconds": seconds,
        "share": round(seconds / max(1e-30, sum(launch["seconds"] for launch in launches)), 4),
        "grid": first["grid"],
        "block": first["block"],
        "blocks": blocks,
        "threads": threads,
        "registers": first["registers"],
        "shared_bytes": first["shared_bytes"],
        "occupancy": held.to_json() if held else None,
        "code": code.to_json() if code else None,
    }


def _product(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product if sizes else 0


def code_of(launch: Launch, codes: list[KernelCode]) -> KernelCode | None:
    """The code that ran: by its name, and where several have it by the registers that it takes."""
    named = [code for code in codes if plain_name(code.name) == plain_name(launch["name"])]
    same = [code for code in named if code.registers == launch["registers"]]
    return next(iter(same or named), None)


# *** for the rules ***


def rules_view(facts: dict[str, Any]) -> DeviceFacts:
    """The facts of the case that takes the most time, and of its slowest kernel, as the rules want them."""
    case = next(case for case in facts["cases"] if case["case"] == facts["case"])
    kernels = facts["kernels"]
    call = DeviceFacts(
        seconds=case["time_ms"] / 1e3,
        roof_seconds=case["roof"][f"{case['roof']['bound']}_ms"] / 1e3,
        bound=case["roof"]["bound"],
        busy_share=case["busy_share"],
        launches=sum(kernel["launches"] for kernel in kernels),
        kernels=len({kernel["name"] for kernel in kernels}),
        library_share=case["library_share"],
        processors=facts["device"]["limits"].get("processors", 0),
        matrix_share=_matrix_share(case["operations"]),
        tensor_gain=_tensor_gain(case, facts["device"]["rates"]),
    )
    return _about_kernel(call, kernels[0], facts, case) if kernels else call


def _matrix_share(operations: dict[str, Any]) -> float:
    return float(operations["matrix"] / max(1.0, total(operations))) if "absent" not in operations else 0.0


def _tensor_gain(case: dict[str, Any], rates: Mapping[str, float]) -> float:
    plain = rates[PLAIN]
    return rates.get(case["matrix_rate"], plain) / plain


def _about_kernel(
    call: DeviceFacts, kernel: dict[str, Any], facts: dict[str, Any], case: dict[str, Any]
) -> DeviceFacts:
    held, code = kernel["occupancy"] or {}, kernel["code"]
    hot = code["hot"] if code else {}
    counted = _counted_of(facts["counters"], kernel["name"])
    needed = case["bytes"]["read"] + case["bytes"]["written"]
    return replace(
        call,
        kernel=plain_name(kernel["name"]),
        kernel_share=kernel["share"],
        blocks=kernel["blocks"],
        threads=kernel["threads"],
        occupancy=held.get("share"),
        limited_by=held.get("limited_by", ""),
        waves=held.get("waves"),
        spill_share=_part(hot, "spills"),
        special_share=_part(hot, "special"),
        barrier_share=_part(hot, "barriers"),
        wide_share=hot["loads_128"] / hot["global_loads"] if hot.get("global_loads") else None,
        async_copies=bool(hot.get("async_copies")),
        tensor=code["all"]["tensor"] > 0 if code else None,
        sector_use=counted["load_sector_use"] / 100 if "load_sector_use" in counted else None,
        moved_ratio=_moved(facts["counters"]) / needed if needed and _moved(facts["counters"]) else None,
        memory_busy=counted.get("memory_busy"),
        compute_busy=counted.get("compute_busy"),
        stalls={name: counted[f"stall_{name}"] for name in _nsight.STALLS if f"stall_{name}" in counted} or None,
    )


def _part(hot: Mapping[str, int], kind: str) -> float:
    return hot[kind] / hot["instructions"] if hot.get("instructions") else 0.0


def _counted_of(counters: dict[str, Any], name: str) -> dict[str, Any]:
    if "absent" in counters:
        return {}
    return next((counted for kernel, counted in counters.items() if plain_name(kernel) == plain_name(name)), {})


def _moved(counters: dict[str, Any]) -> float:
    """Bytes of all kernels of a call between the device's memory and its caches."""
    if "absent" in counters:
        return 0.0
    return sum(float(told.get("bytes_read", 0.0) + told.get("bytes_written", 0.0)) for told in counters.values())
