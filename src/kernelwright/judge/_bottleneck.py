"""What holds a kernel back, in plain words, and what to try next: a few rules over measured facts.

Each rule looks at the facts and either is silent or says by how much the kernel could gain if its cause went away. The
rule with the most to gain names the bottleneck; near the roof nothing else does. Knows numbers; runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

NEAR = 0.6
WORTH = 1.2
HALF = 0.5
# Below this a team of threads costs more than it gives.
SHORT_SECONDS = 5e-5
# A call of a scalar function against the same in vector instructions, in round numbers.
VECTOR_MATHS_GAIN = 4.0
# How the vector versions of such functions are called.
VECTOR_MATHS = "_ZGV"
FAST_MATHS = 'flags="-ffast-math": the compiler then calls vector versions of exp and the like'
FAULT_SECONDS = 2.5e-7
SPILLS = 0.1
BITS = {"xmm": 128, "ymm": 256, "zmm": 512}
MATHS_CALLS = frozenset(
    name + letter for letter in ("", "f") for name in "exp exp2 expm1 log log2 log1p pow tanh sin cos erf".split()
)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the rules look at. None: not known.

    Args:
        seconds: A call.
        roof_seconds: The same at the machine's measured ceilings.
        bound: Which ceiling that is: `memory` or `compute`.
        outside_share: The part of a call that is left when its own kernels are switched off.
        processors: Processor time over wall time of a call. `cores`: how many there are.
        samples: Where threads were found: own, maths, waiting, torch, other; shares of 1.
        arithmetic: Share of the hot loops' arithmetic by width: scalar, xmm, ymm, zmm.
        moves: The same for loads and stores.
        fused_share: Fused multiply-adds among additions and multiplications.
        division_share: The part of the hot loops' work that is division or square root.
        gathers, spill_share, calls: Gathers in hot loops, share of stack accesses, names of functions called.
        vector_bits: The widest vector register of the machine. `element_bits`: of an output's element.
        page_faults: In a call.
    """

    seconds: float
    roof_seconds: float
    bound: str
    outside_share: float | None = None
    processors: float | None = None
    cores: int = 1
    samples: Mapping[str, float] | None = None
    arithmetic: Mapping[str, float] | None = None
    moves: Mapping[str, float] | None = None
    fused_share: float | None = None
    division_share: float = 0.0
    gathers: int = 0
    spill_share: float = 0.0
    calls: tuple[str, ...] = ()
    vector_bits: int = 128
    element_bits: int = 32
    page_faults: float = 0.0

    @property
    def roof_share(self) -> float:
        return min(1.0, self.roof_seconds / self.seconds)

    @property
    def most_gain(self) -> float:
        return 1 / self.roof_share

    def found_in(self, kind: str) -> float:
        return (self.samples or {}).get(kind, 0.0)

    @property
    def own_share(self) -> float:
        """The part of a call spent in its own loops, as far as that is known."""
        return self.samples["own"] if self.samples else 1.0

    @property
    def called_share(self) -> float:
        """The part spent in the maths library on behalf of its loops, one element a call."""
        return self.found_in("maths") if MATHS_CALLS.intersection(self.calls) else 0.0

    @property
    def widths(self) -> Mapping[str, float] | None:
        """Widths of the arithmetic; of the loads and stores where there is none."""
        return self.arithmetic or self.moves


@dataclass(frozen=True)
class Finding:
    """One thing that holds a kernel back. `gain`: about how many times faster it could be without it."""

    name: str
    sentence: str
    advice: tuple[str, ...]
    gain: float

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "sentence": self.sentence, "advice": list(self.advice), "gain": round(self.gain, 2)}


class Roofed(Protocol):
    """Facts of any kind: how far a kernel is from its roof, and how much faster it could be at most."""

    @property
    def roof_share(self) -> float: ...

    @property
    def most_gain(self) -> float: ...


F = TypeVar("F", bound=Roofed)
Rule = Callable[[Facts], Finding | None]


def diagnose(facts: Facts) -> list[Finding]:
    """What holds the kernel back, the most important first; never empty."""
    return ranked(facts, RULES, near=_near_roof, far=_far_from_roof)


def ranked(
    facts: F,
    rules: Iterable[Callable[[F], Finding | None]],
    *,
    near: Callable[[F], Finding],
    far: Callable[[F], Finding],
) -> list[Finding]:
    """What rules find, the most to gain first. `near`, `far`: what is said near the roof, and where no rule speaks."""
    found = sorted(_worth_telling(facts, rules), key=lambda finding: -finding.gain)
    if facts.roof_share >= NEAR:
        return [near(facts), *found]
    return found or [far(facts)]


def _worth_telling(facts: F, rules: Iterable[Callable[[F], Finding | None]]) -> Iterable[Finding]:
    """No gain can be more than the distance to the roof."""
    for rule in rules:
        finding = rule(facts)
        if finding is not None:
            gain = min(finding.gain, facts.most_gain)
            if gain >= WORTH:
                yield Finding(finding.name, finding.sentence, finding.advice, gain)


def paragraph(findings: list[Finding]) -> str:
    """The findings as one paragraph."""
    first, *others = findings
    gain = f" (about {first.gain:.1f}x to gain)" if first.gain >= WORTH else ""
    text = f"{first.sentence}{gain}. Try next: {'; '.join(first.advice)}."
    if others:
        text += " Also: " + "; ".join(_lower(finding.sentence) for finding in others) + "."
    return text


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


# Rules


def overhead(facts: Facts) -> Finding | None:
    share = facts.outside_share
    if share is None or share < HALF:
        return None
    if facts.found_in("torch") > max(facts.found_in("own"), facts.found_in("other")):
        sentence = f"{share:.0%} of a call is spent in torch, outside its own kernels"
        advice = ("do in the kernel what is now a torch operator", "fuse the operators around it")
        return Finding("library", sentence, advice, 1 / max(1e-3, 1 - share))
    return Finding(
        "overhead",
        f"Call overhead dominates: {share:.0%} of a call is left when its own kernels are switched off",
        (
            "do in one kernel call what is now several",
            "allocate only the result, and do nothing in Python that the kernel can do",
            "a larger task, where the size may vary: this one is too small for its overhead",
        ),
        1 / max(1e-3, 1 - share),
    )


def serial(facts: Facts) -> Finding | None:
    if facts.processors is None or facts.cores < 2 or facts.seconds < SHORT_SECONDS:
        return None
    busy = min(float(facts.cores), max(0.1, facts.processors))
    if busy > 0.7 * facts.cores:
        return None
    return Finding(
        "serial",
        f"It is serial for most of the time: {busy:.1f} of {facts.cores} cores are busy",
        (
            "#pragma omp parallel for over the outermost independent loop",
            "where rows are few, split each row and combine partial results",
        ),
        facts.cores / busy,
    )


def waiting(facts: Facts) -> Finding | None:
    share = facts.found_in("waiting")
    if facts.cores < 2 or share < 0.2:
        return None
    return Finding(
        "imbalance",
        f"Threads wait for each other in {share:.0%} of the samples",
        (
            "one parallel region in place of several, with nowait where results allow it",
            "even shares: schedule(dynamic) with large chunks, or a finer split",
        ),
        1 / (1 - min(share, 0.9)),
    )


def scalar(facts: Facts) -> Finding | None:
    widths = facts.widths
    if not widths or widths["scalar"] < HALF:
        return None
    lanes = facts.vector_bits / facts.element_bits
    part = (facts.own_share + facts.called_share) * widths["scalar"]
    what = "arithmetic" if facts.arithmetic else "loads and stores"
    return Finding(
        "not-vectorised",
        f"It is not vectorised: {widths['scalar']:.0%} of the hot loops' {what} is scalar, "
        f"where {lanes:.0f} elements fit a register",
        _vectorising(facts),
        1 / (1 - part + part / lanes),
    )


def _vectorising(facts: Facts) -> tuple[str, ...]:
    advice = ["let the innermost loop run over neighbouring elements, with __restrict pointers and no branch"]
    if facts.arithmetic:
        advice.append("sums: several accumulators, or #pragma omp simd reduction(+:sum)")
    if facts.calls:
        advice.append(f"take the calls out of the loop ({', '.join(facts.calls[:3])}): a loop with a call stays scalar")
    if MATHS_CALLS.intersection(facts.calls):
        advice.append(FAST_MATHS)
    return tuple(advice)


def narrow(facts: Facts) -> Finding | None:
    """Vectors, but of half the machine's width or less."""
    widths = facts.widths
    if not widths or widths["scalar"] >= HALF:
        return None
    mean = sum(widths[name] * bits for name, bits in BITS.items()) / max(1e-9, 1 - widths["scalar"])
    if mean > 0.75 * facts.vector_bits:
        return None
    part = facts.own_share * (1 - widths["scalar"])
    return Finding(
        "narrow-vectors",
        f"Its vectors are narrow: {mean:.0f} bits on average, {facts.vector_bits} are possible",
        ('flags="-mprefer-vector-width=512", or vector types of the full width', "rows padded to whole vectors"),
        1 / (1 - part + part * mean / facts.vector_bits),
    )


def special_functions(facts: Facts) -> Finding | None:
    share = facts.found_in("maths")
    if share < 0.25:
        return None
    called = [name for name in facts.calls if name in MATHS_CALLS]
    names = f" ({', '.join(called[:3])})" if called else ""
    advice = ["an inline polynomial for exp and the like, on whole vectors, as exact as the task needs"]
    vectors = any(name.startswith(VECTOR_MATHS) for name in facts.calls)
    if not vectors:
        names += ", one element a call"
        advice.append(FAST_MATHS)
    return Finding(
        "special-functions",
        f"{share:.0%} of the time is spent in the maths library{names}",
        (*advice, "compute each value once and keep it"),
        1 / (1 - share + share / (2.0 if vectors else VECTOR_MATHS_GAIN)),
    )


def divisions(facts: Facts) -> Finding | None:
    share = facts.division_share * facts.own_share
    if share < 0.3:
        return None
    return Finding(
        "divisions",
        f"Divisions and square roots are about {share:.0%} of the hot loops' work",
        (
            "divide once, outside the loop, and multiply by the reciprocal",
            "compute 1 / sqrt(x) once and multiply by it",
        ),
        1 / (1 - 0.8 * share),
    )


def unfused(facts: Facts) -> Finding | None:
    if facts.bound != "compute" or facts.fused_share is None or facts.fused_share > HALF:
        return None
    return Finding(
        "unfused",
        f"Only {facts.fused_share:.0%} of its additions and multiplications are fused",
        ("write sum += a * b in one expression", "drop -ffp-contract=off and volatile from the loop"),
        1.5,
    )


def spills(facts: Facts) -> Finding | None:
    if facts.spill_share < SPILLS:
        return None
    return Finding(
        "spills",
        f"{facts.spill_share:.0%} of the hot loops' instructions go to the stack: it ran out of registers",
        ("a smaller tile of accumulators", "fewer values alive at once: split the loop"),
        1 / (1 - min(0.5, 2 * facts.spill_share)),
    )


def fresh_memory(facts: Facts) -> Finding | None:
    share = facts.page_faults * FAULT_SECONDS / facts.seconds
    if share < 0.2:
        return None
    return Finding(
        "fresh-memory",
        f"About {share:.0%} of a call goes to memory touched for the first time ({facts.page_faults:.0f} page faults)",
        ("keep scratch memory between calls", "write the result in one pass, without temporaries"),
        1 / (1 - min(0.8, share)),
    )


RULES: tuple[Rule, ...] = (
    overhead,
    serial,
    waiting,
    scalar,
    narrow,
    special_functions,
    divisions,
    unfused,
    spills,
    fresh_memory,
)


def _near_roof(facts: Facts) -> Finding:
    share = facts.roof_share
    if facts.bound == "memory":
        sentence = f"Memory bound, near the roof: it moves its bytes at {share:.0%} of what this machine can"
        advice = (
            "move fewer bytes: fuse with the operators before and after, or a narrower type where the task allows it",
            "otherwise stop here: this kernel is done",
        )
    else:
        sentence = f"Compute bound, near the roof: {share:.0%} of the machine's fused multiply-adds"
        advice = ("do fewer operations: algebra, symmetry, sparsity", "otherwise stop here: this kernel is done")
    return Finding(f"{facts.bound}-near-roof", sentence, advice, facts.most_gain)


def _far_from_roof(facts: Facts) -> Finding:
    share = facts.roof_share
    if facts.bound == "memory":
        sentence = f"Memory bound, far from the roof: {share:.0%} of the bandwidth, and no cause in the code"
        advice = _reaching(facts)
    else:
        sentence = f"Compute bound, far from the roof: {share:.0%} of the multiply-adds, and no cause in the code"
        advice = (
            "tile for registers and caches, so that each value loaded is used many times",
            "more independent accumulators, to hide the latency of an addition",
        )
    return Finding(f"{facts.bound}-far-from-roof", sentence, advice, facts.most_gain)


def _reaching(facts: Facts) -> tuple[str, ...]:
    advice = [
        "read and write every element once: join passes over the same data, or keep a row in cache between them",
        "walk memory in order; block what is transposed",
    ]
    if facts.gathers:
        advice.append(f"replace the {facts.gathers} gathers by loads of neighbouring elements")
    return tuple(advice)
