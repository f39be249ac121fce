"""What holds a kernel back on a GPU, in plain words, and what to try next. Knows numbers; runs nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kernelwright.judge._bottleneck import HALF, Finding, ranked

FEW_THREADS = 0.25
SPILLS = 0.03
SECTORS = 0.6
MORE_BYTES = 1.5
# One special function takes the place of this many multiply-adds.
SPECIAL_WEIGHT = 8
# A compute or memory unit that is busy for less of the time than this waits for something else.
IDLE = 60.0
STALLED = 0.4
NARROW_GAIN, PASSES_GAIN = 1.3, 1.5
SCARCE = {
    "registers": "fewer values alive at once, a smaller tile, or __launch_bounds__(threads, blocks)",
    "shared memory": "less shared memory a block: a smaller tile or fewer stages",
    "threads": "blocks whose size divides the threads that a multiprocessor holds",
    "blocks": "larger blocks: 128 threads or more",
}
WAITING = {
    "long_scoreboard": ("for loads from memory", "more loads in flight: unroll, load ahead, or copy asynchronously"),
    "barrier": ("at barriers", "fewer barriers, smaller blocks, or shuffles within a warp"),
    "mio_throttle": ("for shared memory and special functions", "fewer and wider accesses to shared memory"),
    "short_scoreboard": ("for shared memory and special functions", "fewer and wider accesses to shared memory"),
    "lg_throttle": ("to hand over loads and stores", "fewer and wider loads and stores: float4"),
    "math_pipe_throttle": ("for the arithmetic units", "fewer operations, or tensor cores"),
}


@dataclass(frozen=True, kw_only=True)
class DeviceFacts:
    """What the rules look at; about the kernel that takes the most time, where not of the call. None: not known.

    Args:
        seconds, roof_seconds, bound: Of a call, as on the host.
        busy_share: The part of a call during which anything runs on the device.
        launches: Kernels of its own in a call. `kernels`: different ones.
        library_share: The part of the device's time spent in kernels of libraries.
        kernel, kernel_share: The kernel that takes the most time, and its part of the device's time.
        blocks, threads: Of its grid and of a block. `processors`: multiprocessors of the device.
        occupancy, limited_by, waves: How many of the possible warps are held at once, and what runs out first.
        spill_share, special_share, barrier_share: Of the instructions of its loops.
        wide_share: Of its loads, those of 16 bytes. `async_copies`: whether it copies without waiting.
        tensor: Whether it uses tensor cores. `tensor_gain`: what these would give on this task; 1 where it allows none.
        matrix_share: Of the task's operations, those of matrix products.
        sector_use: Of the bytes its loads bring in, those it uses. `moved_ratio`: bytes moved over bytes needed.
        memory_busy, compute_busy: Percent of the time. `stalls`: warps waiting for each thing, for every one issued.
    """

    seconds: float
    roof_seconds: float
    bound: str
    busy_share: float | None = None
    launches: int = 0
    kernels: int = 0
    library_share: float = 0.0
    kernel: str = ""
    kernel_share: float = 1.0
    blocks: int = 0
    threads: int = 0
    processors: int = 0
    occupancy: float | None = None
    limited_by: str = ""
    waves: float | None = None
    spill_share: float = 0.0
    special_share: float = 0.0
    barrier_share: float = 0.0
    wide_share: float | None = None
    async_copies: bool = False
    tensor: bool | None = None
    tensor_gain: float = 1.0
    matrix_share: float = 0.0
    sector_use: float | None = None
    moved_ratio: float | None = None
    memory_busy: float | None = None
    compute_busy: float | None = None
    stalls: Mapping[str, float] | None = None

    @property
    def roof_share(self) -> float:
        return min(1.0, self.roof_seconds / self.seconds)

    @property
    def most_gain(self) -> float:
        return 1 / self.roof_share

    @property
    def part(self) -> float:
        """The part of a call that the kernel looked at takes."""
        return (1.0 if self.busy_share is None else self.busy_share) * self.kernel_share

    def if_faster(self, times: float) -> float:
        """How much faster a call is if the kernel looked at is this many times faster."""
        return 1 / (1 - self.part + self.part / max(1.0, times))


Rule = Callable[[DeviceFacts], Finding | None]


def diagnose(facts: DeviceFacts) -> list[Finding]:
    """What holds the kernel back, the most important first; never empty."""
    return ranked(facts, RULES, near=_near_roof, far=_far_from_roof)


# Rules about a call


def launching(facts: DeviceFacts) -> Finding | None:
    share = facts.busy_share
    if share is None or share > HALF:
        return None
    launches = f"{facts.launches} launch{'es' if facts.launches != 1 else ''}"
    return Finding(
        "launch-bound",
        f"Launching dominates: something runs on the device for {share:.0%} of a call ({launches} of its own)",
        (
            "do in one kernel what is now several",
            "allocate only the result, and do nothing in Python that the kernel can do",
            "a CUDA graph, where the shapes stay the same",
            "a larger task, where the size may vary: this one is too small for its overhead",
        ),
        1 / max(1e-3, share),
    )


def library(facts: DeviceFacts) -> Finding | None:
    if facts.library_share < HALF:
        return None
    return Finding(
        "library",
        f"{facts.library_share:.0%} of the device's time is spent in kernels of libraries",
        ("do in the kernel what is now a torch operator", "fuse the operators around it"),
        1 / max(1e-3, 1 - facts.library_share),
    )


def passes(facts: DeviceFacts) -> Finding | None:
    if facts.bound != "memory" or facts.launches < 2 or facts.library_share >= HALF:
        return None
    return Finding(
        "passes",
        f"It goes over memory in {facts.launches} launches of {facts.kernels} "
        f"kernel{'s' if facts.kernels != 1 else ''}, where each reads what another wrote",
        ("join the kernels, so that what one computes stays in registers or shared memory",),
        PASSES_GAIN,
    )


# Rules about its slowest kernel


def small_grid(facts: DeviceFacts) -> Finding | None:
    if not 0 < facts.blocks < 0.8 * facts.processors:
        return None
    return Finding(
        "small-grid",
        f"Too small a grid: {facts.blocks} block{'s' if facts.blocks != 1 else ''} of {facts.kernel} for "
        f"{facts.processors} multiprocessors",
        ("smaller tiles, so that there are more of them", "split the long dimension and combine partial results"),
        facts.if_faster(facts.processors / facts.blocks),
    )


def tail(facts: DeviceFacts) -> Finding | None:
    if facts.waves is None or facts.blocks < facts.processors or not 1.0 < facts.waves < 4.0:
        return None
    rounds = math.ceil(facts.waves)
    if facts.waves / rounds > 0.75:
        return None
    return Finding(
        "tail",
        f"Most multiprocessors wait for the last blocks: the grid of {facts.kernel} is {facts.waves:.2f} times what "
        "fits at once",
        ("a grid of exactly as many blocks as fit, each doing several tiles", "smaller tiles"),
        facts.if_faster(rounds / facts.waves),
    )


def idle_lanes(facts: DeviceFacts) -> Finding | None:
    if facts.threads < 1 or facts.threads % 32 == 0:
        return None
    used = facts.threads / (32 * math.ceil(facts.threads / 32))
    return Finding(
        "idle-lanes",
        f"{1 - used:.0%} of the lanes of {facts.kernel} do nothing: its blocks have {facts.threads} threads",
        ("blocks of a multiple of 32 threads",),
        facts.if_faster(1 / used),
    )


def few_warps(facts: DeviceFacts) -> Finding | None:
    """Tensor cores need few warps; everything else hides its waiting behind others."""
    if facts.occupancy is None or facts.occupancy >= FEW_THREADS or facts.tensor:
        return None
    return Finding(
        "low-occupancy",
        f"Few threads at once: {facts.kernel} fills {facts.occupancy:.0%} of a multiprocessor, limited by "
        f"{facts.limited_by}",
        (SCARCE.get(facts.limited_by, "smaller tiles"),),
        facts.if_faster(min(2.0, HALF / facts.occupancy)),
    )


def spills(facts: DeviceFacts) -> Finding | None:
    if facts.spill_share < SPILLS:
        return None
    return Finding(
        "spills",
        f"{facts.spill_share:.0%} of the instructions in the loops of {facts.kernel} go to local memory: it ran out of "
        "registers",
        (
            "a smaller tile of accumulators",
            "arrays indexed by constants only, in loops that are unrolled",
            "fewer threads a block, or a larger -maxrregcount",
        ),
        facts.if_faster(max(1 / (1 - min(HALF, 2 * facts.spill_share)), facts.moved_ratio or 1.0)),
    )


def no_tensor_cores(facts: DeviceFacts) -> Finding | None:
    if facts.tensor is not False or facts.matrix_share < HALF or facts.bound != "compute" or facts.tensor_gain < 1.2:
        return None
    return Finding(
        "no-tensor-cores",
        f"{facts.kernel} multiplies matrices without tensor cores, which this task's precision allows",
        ("tl.dot in Triton", "mma or wgmma (nvcuda::wmma is the simplest) on tiles in shared memory"),
        facts.if_faster(facts.tensor_gain),
    )


def uncoalesced(facts: DeviceFacts) -> Finding | None:
    if facts.sector_use is None or facts.sector_use > SECTORS:
        return None
    return Finding(
        "uncoalesced",
        f"Its loads are not coalesced: {facts.sector_use:.0%} of the bytes that they bring in are used",
        (
            "let neighbouring threads read neighbouring elements",
            "block what is transposed through shared memory",
        ),
        facts.if_faster(min(8.0, 1 / max(0.05, facts.sector_use))),
    )


def more_bytes(facts: DeviceFacts) -> Finding | None:
    if facts.bound != "memory" or facts.moved_ratio is None or facts.moved_ratio < MORE_BYTES:
        return None
    if facts.spill_share >= SPILLS:  # these are the bytes
        return None
    return Finding(
        "more-bytes",
        f"It moves {facts.moved_ratio:.1f} times the bytes that the answer needs",
        ("read every element once: keep a row in registers or shared memory between passes",),
        facts.if_faster(facts.moved_ratio),
    )


def narrow_loads(facts: DeviceFacts) -> Finding | None:
    if facts.bound != "memory" or facts.async_copies or facts.wide_share is None or facts.wide_share > HALF:
        return None
    return Finding(
        "narrow-loads",
        f"{1 - facts.wide_share:.0%} of the loads of {facts.kernel} are narrower than 16 bytes",
        ("float4 (or 8 halves) a load, where rows are aligned", "several elements a thread"),
        facts.if_faster(NARROW_GAIN),
    )


def special_functions(facts: DeviceFacts) -> Finding | None:
    share = SPECIAL_WEIGHT * facts.special_share
    share /= share + 1 - facts.special_share
    if share < HALF or facts.tensor:
        return None
    return Finding(
        "special-functions",
        f"About {share:.0%} of the issue slots of {facts.kernel} go to exp, rcp and the like",
        ("compute each value once and keep it", "a polynomial of multiply-adds for some of them"),
        facts.if_faster(1 / (1 - share / 2)),
    )


def waiting(facts: DeviceFacts) -> Finding | None:
    """By Nsight's counters: neither memory nor arithmetic is busy, and most warps wait for one thing.

    Where there are too few warps to hide any waiting, that is the cause and this its sign.
    """
    if not facts.stalls or facts.memory_busy is None or facts.compute_busy is None or few_warps(facts):
        return None
    busiest = max(facts.memory_busy, facts.compute_busy)
    name = max(facts.stalls, key=lambda stall: facts.stalls[stall] if facts.stalls else 0.0)
    together = sum(facts.stalls.values())
    if busiest >= IDLE or name not in WAITING or facts.stalls[name] < STALLED * together or together < 1:
        return None
    where, advice = WAITING[name]
    return Finding(
        "latency",
        f"Its warps wait {where}: memory is busy for {facts.memory_busy:.0f}% of the time, arithmetic for "
        f"{facts.compute_busy:.0f}%",
        (advice, "more warps at once"),
        facts.if_faster(IDLE / max(5.0, busiest)),
    )


RULES: tuple[Rule, ...] = (
    launching,
    library,
    passes,
    small_grid,
    tail,
    idle_lanes,
    few_warps,
    spills,
    no_tensor_cores,
    uncoalesced,
    more_bytes,
    narrow_loads,
    special_functions,
    waiting,
)


def _near_roof(facts: DeviceFacts) -> Finding:
    share = facts.roof_share
    if facts.bound == "memory":
        sentence = f"Memory bound, near the roof: it moves its bytes at {share:.0%} of what this device can"
        advice = (
            "move fewer bytes: fuse with the operators before and after, or a narrower type where the task allows it",
            "otherwise stop here: this kernel is done",
        )
    else:
        sentence = f"Compute bound, near the roof: {share:.0%} of what this device can multiply"
        advice = ("do fewer operations: algebra, symmetry, sparsity", "otherwise stop here: this kernel is done")
    return Finding(f"{facts.bound}-near-roof", sentence, advice, facts.most_gain)


def _far_from_roof(facts: DeviceFacts) -> Finding:
    share = facts.roof_share
    if facts.bound == "memory":
        sentence = f"Memory bound, far from the roof: {share:.0%} of the bandwidth, and no cause in the code"
        advice = (
            "let neighbouring threads read neighbouring elements, 16 bytes each",
            "more loads in flight: several elements a thread, loaded before they are used",
        )
    else:
        sentence = f"Compute bound, far from the roof: {share:.0%} of the multiply-adds, and no cause in the code"
        advice = (
            "larger tiles, so that each value loaded is used many times",
            "load the next tile while this one is multiplied: num_stages in Triton, cp.async or TMA in CUDA",
        )
    return Finding(f"{facts.bound}-far-from-roof", sentence, advice, facts.most_gain)
