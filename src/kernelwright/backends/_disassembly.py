"""What a listing of x86-64 machine code says: its loops, and what they are made of.

Reads text as `objdump -d` prints it. Runs nothing, knows no tensors and no clock: how often an instruction is
executed is told by samples (how many times a thread was found at an address), where there are any.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

# The address, a tab, the instruction; a header carries the name of a function.
HEADER = re.compile(r"^([0-9a-f]+) <(.+)>:$")
LINE = re.compile(r"^\s+([0-9a-f]+):\t(\S+)\s*(.*)$")
TARGET = re.compile(r"^([0-9a-f]+) <(.+)>$")
SECTION = "Disassembly of section "
# Prefixes that objdump prints as if they were the instruction.
PREFIXES = frozenset("lock rep repz repnz notrack bnd data16 cs ds es ss".split())
# What the linker puts into every library.
START_UP = frozenset("deregister_tm_clones register_tm_clones __do_global_dtors_aux frame_dummy _init _fini".split())
NEVER_RETURNS = re.compile(r"_Unwind_Resume|__cxa_(?:re)?throw|std::__throw_|std::terminate|abort$|__stack_chk_fail")

_FUSED = r"fn?m(?:add|sub)(?:add|sub)?(?:132|213|231)"
FLOATS = re.compile(
    rf"v?(?P<kind>add|sub|mul|div|sqrt|max|min|rcp\d*|rsqrt\d*|hadd|hsub|addsub|dp\w*|round|rndscale|scalef|reduce"
    rf"|range|getexp|getmant|cmp\w*|u?comi|{_FUSED})(?P<form>[ps])[sdh]"
)
FUSED = re.compile(_FUSED)
INTEGERS = re.compile(r"v?p(?:add|sub|mul|madd|max|min|avg|sad|abs|cmp|s[lr]l|sra)\w*")
WHOLE_DIVISION = re.compile(r"i?div[bwlq]?")
GATHER, SCATTER = re.compile(r"vp?gather\w+"), re.compile(r"vp?scatter\w+")
VECTOR_MOVE = re.compile(r"v?mov(?:[au]p[sd]|ntp[sd]|dq[au]\d*|ntdqa?)")
SCALAR_MOVE = re.compile(r"v?movs[sd]|mov[bwlq]?|movabs|mov[sz][bwl][wlq]|movslq")
REGISTER = re.compile(r"%([xyz])mm\d")
MATRIX = re.compile(r"t(?:dp|cmm|mmul)\w+|v?dpbf16ps|v?pdp(?:busd|wssd|wuud|b[su]{2}d)s?")
HINTS = {"prefetches": re.compile(r"prefetch\w*"), "streams": re.compile(r"v?movnt\w+")}
# Changes memory at once, for all to see.
AT_ONCE = re.compile(r"cmpxchg\w*|xadd\w?|xchg\w?|mfence")
# What the runtimes are called that start workers, hold them, or let them in one by one.
THREADING = re.compile(r"GOMP|kmpc|omp_|pthread|thread|mutex|atomic|future|async|parallel|tbb|barrier|sem_|futex", re.I)
# A place in the frame by a fixed distance; with an index it is an array of the author's.
ON_STACK, IN_FRAME = re.compile(r"(?<!\w)(?:0x[0-9a-f]+)?\(%rsp\)"), re.compile(r"-0x[0-9a-f]+\(%rbp\)")
FRAME = ("mov", "%rsp,%rbp")

WIDTHS = ("scalar", "xmm", "ymm", "zmm")
BITS = {"xmm": 128, "ymm": 256, "zmm": 512}
# How many other instructions a division or square root is worth, in round numbers.
DIVISION_COST = 10
DEEPEST = 12
MOST_INSTRUCTIONS = 400_000
MOST_LOOPS = 12
# As many as a processor has instructions, nearly.
MOST_NAMES = 2048


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str
    operands: str
    locked: bool = False

    @property
    def target(self) -> int | None:
        """Where a jump or call goes, if the text says so."""
        match = TARGET.match(self.operands)
        return int(match[1], 16) if match else None

    @property
    def jumps(self) -> bool:
        return self.name.startswith("j")

    @property
    def goes_on(self) -> bool:
        """Whether the next instruction may follow."""
        if self.name.startswith("call"):
            return not NEVER_RETURNS.match(_callee(self.operands))
        return not self.name.startswith(("jmp", "ret", "ud2", "hlt"))


@dataclass(frozen=True)
class Function:
    name: str
    instructions: tuple[Instruction, ...]

    @property
    def framed(self) -> bool:
        """Whether %rbp marks the stack frame; else it is a register like others."""
        return any((i.name, i.operands) == FRAME for i in self.instructions)


@dataclass(frozen=True)
class Mix:
    """How many instructions of each kind."""

    instructions: int
    arithmetic: Mapping[str, int]
    moves: Mapping[str, int]
    fused: int
    unfused: int
    divisions: int
    roots: int
    gathers: int
    scatters: int
    spills: int
    calls: tuple[str, ...]

    @property
    def division_share(self) -> float:
        """The part of the work that divisions and square roots are, each worth ten others."""
        slow = DIVISION_COST * (self.divisions + self.roots)
        return slow / max(1, slow + self.instructions - self.divisions - self.roots)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"calls": list(self.calls)}


@dataclass(frozen=True)
class Loop:
    """A loop without the loops inside it. `samples`: how often a thread was found in it."""

    function: str
    start: int
    depth: int
    mix: Mix
    samples: int

    def to_json(self, all_samples: int) -> dict[str, Any]:
        return {
            "function": self.function,
            "start": f"{self.start:#x}",
            "depth": self.depth,
            "share": round(self.samples / all_samples, 4) if all_samples else None,
            **self.mix.to_json(),
        }


# Reading


def functions(listing: str) -> list[Function]:
    """The functions of the code sections, those of the linker left out."""
    found: list[Function] = []
    name, body = "", list[Instruction]()
    for kind, value in _lines(listing):
        if isinstance(value, Instruction):
            body.append(value)
            continue
        found.append(Function(name, tuple(body)))
        name, body = (value if kind == "function" else ""), []
    found.append(Function(name, tuple(body)))
    return [f for f in found if f.instructions and f.name and not _start_up(f.name)]


def _start_up(name: str) -> bool:
    return name in START_UP or "@plt" in name


def _lines(listing: str) -> Iterator[tuple[str, str | Instruction]]:
    seen = 0
    for line in listing.splitlines():
        if line.startswith(SECTION):
            yield "section", line.removeprefix(SECTION)
        elif match := LINE.match(line):
            seen += 1
            if seen > MOST_INSTRUCTIONS:
                return
            yield "instruction", _instruction(match)
        elif match := HEADER.match(line):
            yield "function", match[2]


def _instruction(match: re.Match[str]) -> Instruction:
    name, operands = match[2], match[3].partition("#")[0].strip()
    locked = False
    while name in PREFIXES and operands:
        locked |= name == "lock"
        name, _, operands = operands.partition(" ")
    return Instruction(int(match[1], 16), name, operands.strip(), locked)


# Loops


def loops(function: Function, samples: Mapping[int, int] | None = None) -> list[Loop]:
    """Every loop, with the instructions that belong to no loop inside it."""
    successors = _successors(function.instructions)
    owner: dict[int, int] = {}
    nests = list(_nests(set(successors), successors, 1))
    for number, (_, nodes) in enumerate(nests):  # outer loops come first, inner ones take over
        owner.update(dict.fromkeys(nodes, number))
    found = []
    for number, (depth, nodes) in enumerate(nests):
        own = [i for i in function.instructions if owner.get(i.address) == number]
        if own:
            hits = sum((samples or {}).get(i.address, 0) for i in own)
            found.append(Loop(function.name, min(nodes), depth, mix(own, framed=function.framed), hits))
    return found


def _successors(instructions: Sequence[Instruction]) -> dict[int, list[int]]:
    known = {i.address for i in instructions}
    following: dict[int, list[int]] = {}
    for index, instruction in enumerate(instructions):
        after = following.setdefault(instruction.address, [])
        if instruction.goes_on and index + 1 < len(instructions):
            after.append(instructions[index + 1].address)
        if instruction.jumps and instruction.target in known:
            after.append(instruction.target)
    return following


def _nests(nodes: set[int], successors: Mapping[int, list[int]], depth: int) -> Iterator[tuple[int, set[int]]]:
    """Loops within these nodes, each before those inside it: what stays connected when its entry is taken out."""
    for component in _components(nodes, successors):
        if len(component) == 1 and not component & set(successors[min(component)]):
            continue
        yield depth, component
        if depth < DEEPEST:
            yield from _nests(component - {_entry(component, nodes, successors)}, successors, depth + 1)


def _entry(component: set[int], nodes: set[int], successors: Mapping[int, list[int]]) -> int:
    """Where a loop is come into from outside it; its lowest address if it is not seen."""
    entered = {after for node in nodes - component for after in successors[node] if after in component}
    return min(entered or component)


def _components(nodes: set[int], successors: Mapping[int, list[int]]) -> Iterator[set[int]]:
    """Sets of nodes that can all reach each other (Tarjan's algorithm, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    for root in sorted(nodes):
        if root in index:
            continue
        work = [(root, iter(successors[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        waiting.add(root)
        while work:
            node, rest = work[-1]
            after = next((n for n in rest if n in nodes and (n not in index or n in waiting)), None)
            if after is not None and after not in index:
                index[after] = low[after] = len(index)
                stack.append(after)
                waiting.add(after)
                work.append((after, iter(successors[after])))
            elif after is not None:
                low[node] = min(low[node], index[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set(_taken_off(stack, node))
                    waiting -= component
                    yield component


def _taken_off(stack: list[int], last: int) -> Iterator[int]:
    while stack[-1] != last:
        yield stack.pop()
    yield stack.pop()


# Kinds of instructions


def mix(instructions: Iterable[Instruction], *, framed: bool = False) -> Mix:
    arithmetic: Counter[str] = Counter()
    moves: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    calls: dict[str, None] = {}
    own = list(instructions)
    for instruction in own:
        name, operands = instruction.name, instruction.operands
        if width := _arithmetic_width(name, operands):
            arithmetic[width] += 1
        elif width := _move_width(name, operands):
            moves[width] += 1
        kinds.update(_kinds(name))
        kinds["spills"] += bool(ON_STACK.search(operands) or (framed and IN_FRAME.search(operands)))
        if name.startswith("call"):
            calls[_callee(operands)] = None
    return Mix(
        instructions=len(own),
        arithmetic=_by_width(arithmetic),
        moves=_by_width(moves),
        fused=kinds["fused"],
        unfused=kinds["unfused"],
        divisions=kinds["divisions"],
        roots=kinds["roots"],
        gathers=kinds["gathers"],
        scatters=kinds["scatters"],
        spills=kinds["spills"],
        calls=tuple(calls),
    )


def _by_width(counts: Counter[str]) -> dict[str, int]:
    return {width: counts[width] for width in WIDTHS}


def _arithmetic_width(name: str, operands: str) -> str:
    form = _arithmetic_form(name)
    return _register(operands) if form == "packed" else form


@lru_cache(maxsize=MOST_NAMES)
def _arithmetic_form(name: str) -> str:
    match = FLOATS.fullmatch(name)
    if match:
        return "scalar" if match["form"] == "s" or "comi" in name else "packed"
    return "packed" if INTEGERS.fullmatch(name) else ""


def _move_width(name: str, operands: str) -> str:
    """Loads and stores; what only goes from register to register, or to the stack, is none."""
    if "(" not in operands or ON_STACK.search(operands):
        return ""
    if VECTOR_MOVE.fullmatch(name):
        return _register(operands)
    return "scalar" if SCALAR_MOVE.fullmatch(name) else ""


def _register(operands: str) -> str:
    letters = REGISTER.findall(operands)
    return f"{max(letters)}mm" if letters else ""


def _kinds(name: str) -> Iterator[str]:
    match = FLOATS.fullmatch(name)
    kind = match["kind"] if match else ""
    if FUSED.fullmatch(kind):
        yield "fused"
    elif kind in ("add", "sub", "mul"):
        yield "unfused"
    elif kind == "sqrt":
        yield "roots"
    if kind == "div" or WHOLE_DIVISION.fullmatch(name):
        yield "divisions"
    if GATHER.fullmatch(name):
        yield "gathers"
    if SCATTER.fullmatch(name):
        yield "scatters"


def _callee(operands: str) -> str:
    match = TARGET.match(operands)
    return re.sub(r"@.*$", "", match[2]) if match else "through a pointer"


# Summing up


Samples = Mapping[int, int]


def facts(libraries: Sequence[tuple[str, Samples]]) -> dict[str, Any]:
    """What is known of the code in these listings, each with its samples: by function, by loop, of the hot loops."""
    found = [_Found(f, samples, loops(f, samples)) for listing, samples in libraries for f in functions(listing)]
    every = [loop for one in found for loop in one.loops]
    total = sum(sum(samples.values()) for _, samples in libraries)
    hottest = sorted(every, key=lambda loop: (-loop.samples, loop.function, loop.start))
    return {
        "weighted_by": "samples" if any(loop.samples for loop in every) else "nothing: every loop counts alike",
        "functions": sorted((one.to_json(total) for one in found if one.loops), key=lambda f: -(f["share"] or 0)),
        "loops": [loop.to_json(total) for loop in hottest[:MOST_LOOPS]],
        "hot": _hot(every),
    }


@dataclass(frozen=True)
class _Found:
    function: Function
    samples: Samples
    loops: list[Loop]

    def to_json(self, all_samples: int) -> dict[str, Any]:
        hits = sum(self.samples.get(i.address, 0) for i in self.function.instructions)
        share = round(hits / all_samples, 4) if all_samples else None
        return {"name": self.function.name, "share": share, "loops": len(self.loops), **_hot(self.loops)}


def _hot(every: Sequence[Loop]) -> dict[str, Any]:
    """Loops together, each by the share of time spent in it; alike where nobody was seen in any."""
    sampled = any(loop.samples for loop in every)
    hot = [loop for loop in every if loop.samples or not sampled]
    total = sum(loop.samples for loop in hot) if sampled else len(hot)
    weighted = [((loop.samples if sampled else 1) / total, loop.mix) for loop in hot]
    return {
        "arithmetic": _shares([(w, m.arithmetic, m.instructions) for w, m in weighted]),
        "moves": _shares([(w, m.moves, m.instructions) for w, m in weighted]),
        "fused_share": _fused_share(weighted),
        "division_share": round(sum(w * m.division_share for w, m in weighted), 4),
        "divisions": sum(loop.mix.divisions for loop in hot),
        "roots": sum(loop.mix.roots for loop in hot),
        "gathers": sum(loop.mix.gathers for loop in hot),
        "scatters": sum(loop.mix.scatters for loop in hot),
        "spills": sum(loop.mix.spills for loop in hot),
        "spill_share": round(sum(w * m.spills / m.instructions for w, m in weighted), 4),
        "calls": sorted({call for loop in hot for call in loop.mix.calls}),
    }


def _shares(parts: list[tuple[float, Mapping[str, int], int]]) -> dict[str, float] | None:
    """Which part of the executed instructions of a kind has which width; None where there are none."""
    sums = {width: sum(w * counts[width] / size for w, counts, size in parts) for width in WIDTHS}
    total = sum(sums.values())
    return {width: round(value / total, 4) for width, value in sums.items()} if total else None


def _fused_share(weighted: list[tuple[float, Mix]]) -> float | None:
    """Fused multiply-adds among all additions, subtractions, multiplications and fused ones."""
    fused = sum(w * m.fused / m.instructions for w, m in weighted)
    unfused = sum(w * m.unfused / m.instructions for w, m in weighted)
    return round(fused / (fused + unfused), 4) if fused + unfused else None


# Signs of a strategy


def counts(listing: str) -> dict[str, int]:
    """How often the code has each sign of what its author asked for, wherever it stands; moves only where they repeat.

    `scalar` and `vector_...` are arithmetic by width. A few bytes moved together at a start are no wide access, so
    vector moves are counted in loops, and in functions that have none.
    """
    found: Counter[str] = Counter()
    for function in functions(listing):
        for instruction in function.instructions:
            found.update(_signs(instruction))
        moves = [instruction for instruction in function.instructions if _is_vector_move(instruction)]
        found["vector_moves"] += len(_repeated(function, moves)) if moves else 0
    return {sign: found[sign] for sign in SIGNS}


SIGNS = (
    "instructions",
    "scalar",
    *(f"vector_{bits}" for bits in BITS.values()),
    "vector_moves",
    "fused",
    *HINTS,
    "matrix",
    "locked",
    "threading",
)


def _signs(instruction: Instruction) -> Iterator[str]:
    name, operands = instruction.name, instruction.operands
    yield "instructions"
    yield from _signs_of_name(name)
    if width := _arithmetic_width(name, operands):
        yield f"vector_{BITS[width]}" if width in BITS else width
    if instruction.locked or (AT_ONCE.fullmatch(name) and ("(" in operands or not operands)):
        yield "locked"
    called = name.startswith("call")
    if (called or instruction.jumps) and _is_of_a_runtime(operands, called=called):
        yield "threading"


@lru_cache(maxsize=MOST_NAMES)
def _signs_of_name(name: str) -> tuple[str, ...]:
    hints = [hint for hint, pattern in HINTS.items() if pattern.fullmatch(name)]
    fused = [kind for kind in _kinds(name) if kind == "fused"]
    return (*hints, *fused, *(["matrix"] if MATRIX.fullmatch(name) else []))


def _is_of_a_runtime(operands: str, *, called: bool) -> bool:
    """A function of another library that has to do with workers; or one that is not told. A jump may be a switch's."""
    match = TARGET.match(operands)
    if match is None:
        return operands.startswith("*") and (called or "(%rip)" in operands)
    return "@" in match[2] and THREADING.search(match[2]) is not None


def _is_vector_move(instruction: Instruction) -> bool:
    return _move_width(instruction.name, instruction.operands) in BITS


def _repeated(function: Function, some: list[Instruction]) -> list[Instruction]:
    """Those of a function's instructions that stand between a jump back and where it goes; all, if it has none."""
    own = function.instructions
    jumps = ((i.target, i.address) for i in own if i.jumps)
    back = sorted((target, at) for target, at in jumps if target is not None and own[0].address <= target <= at)
    starts = [target for target, _ in back]
    reaches = list(accumulate((at for _, at in back), max))
    return [i for i in some if _is_within(i.address, starts, reaches)] if back else some


def _is_within(address: int, starts: Sequence[int], reaches: Sequence[int]) -> bool:
    """Whether a stretch holds an address; `reaches`: the farthest end of all that start no later than this one."""
    index = bisect_right(starts, address) - 1
    return index >= 0 and address <= reaches[index]
