"""What compiled GPU kernels are made of, read from listings: SASS by cuobjdump, PTX where there is nothing better.

A listing says what stands in the code, not how often it runs; so instructions are also counted in loops alone, where
most of the time goes. Knows text; runs nothing.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# What is counted. `loads_128`: global loads of 16 bytes a thread, as part of `global_loads`; stores alike. `wide`: all
# global loads and stores of more than 4 bytes a thread. `shuffles`: what passes values between the threads of a warp.
KINDS = (
    "instructions",
    "tensor",
    "fma",
    "float",
    "special",
    "global_loads",
    "loads_128",
    "global_stores",
    "stores_128",
    "async_copies",
    "shared",
    "barriers",
    "atomics",
    "spills",
    "wide",
    "shuffles",
)
LONGEST_NAME = 300
_FUNCTION = re.compile(r"^\s*Function\s*:\s*(\S+)")
_RESOURCES = re.compile(r"^\s*Function (\S+):\s*\n\s*REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", re.MULTILINE)
# `        /*0030*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;        /* 0x... */`
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*)")
_BRANCH_TO = re.compile(r"(?:^|[\s(`])0x([0-9a-f]+)\s*$")
_TENSOR = re.compile(r"(?:[HIDBQO]|UTC[HIQO])G?MMA(?:\.|$)")
_PTX_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
_PTX_INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)([^;]*);")
_PTX_LABEL = re.compile(r"^\s*(\$?[\w$]+):")
_FLOAT = frozenset({"ADD", "MUL", "MNMX", "ADD2", "MUL2", "MNMX2", "SETP", "SET", "SEL"})
_GLOBAL = {"LDG": "loads", "LD": "loads", "STG": "stores", "ST": "stores"}
_WIDE = frozenset({"64", "128", "256"})
_PADDING = frozenset({"NOP"})
# A multiply-add of zeros: how a compiler loads a constant in another pipe.
_CONSTANT = re.compile(r"HFMA2\S* \w+, -RZ, RZ,")


@dataclass(frozen=True)
class KernelCode:
    """One kernel. `hot`: counts in its loops, or in all of it where it has none. Resources: None where not told."""

    name: str
    counts: Mapping[str, int]
    hot: Mapping[str, int]
    loops: int
    registers: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "loops": self.loops,
            "registers": self.registers,
            "stack_bytes": self.stack_bytes,
            "shared_bytes": self.shared_bytes,
            "all": dict(self.counts),
            "hot": dict(self.hot),
        }


@dataclass
class _Text:
    """A kernel's instructions, as address and kinds, and the stretches its backward branches span."""

    name: str
    steps: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    loops: set[tuple[int, int]] = field(default_factory=set)

    def code(self) -> KernelCode:
        inside = list(_within(self.steps, _joined(self.loops)))
        everything = [kinds for _, kinds in self.steps]
        return KernelCode(self.name, _counted(everything), _counted(inside or everything), len(self.loops))


def _joined(spans: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same stretches, in order and none inside another."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _within(steps: list[tuple[int, tuple[str, ...]]], spans: list[tuple[int, int]]) -> Iterator[tuple[str, ...]]:
    """What stands in these stretches; both are in order."""
    left = iter(spans)
    span = next(left, None)
    for at, kinds in steps:
        while span and at > span[1]:
            span = next(left, None)
        if span and at >= span[0]:
            yield kinds


def _counted(steps: Iterable[tuple[str, ...]]) -> dict[str, int]:
    found = Counter(itertools.chain.from_iterable(steps))
    return {kind: found[kind] for kind in KINDS}


# *** SASS ***


def read_sass(listing: str) -> list[KernelCode]:
    """The kernels in the output of `cuobjdump -sass -res-usage`."""
    told = {match[1]: match for match in _RESOURCES.finditer(listing)}
    return [_with_resources(text.code(), told.get(text.name)) for text in _functions(listing)]


def _with_resources(code: KernelCode, told: re.Match[str] | None) -> KernelCode:
    if told is None:
        return code
    registers, stack, shared, local = (int(told[index]) for index in range(2, 6))
    return KernelCode(code.name, code.counts, code.hot, code.loops, registers, max(stack, local), shared)


def _functions(listing: str) -> Iterator[_Text]:
    current: _Text | None = None
    for line in listing.splitlines():
        begins = _FUNCTION.match(line)
        if begins:
            if current:
                yield current
            current = _Text(begins[1][:LONGEST_NAME])
        elif current:
            _note(current, line)
    if current:
        yield current


def _note(text: _Text, line: str) -> None:
    found = _INSTRUCTION.match(line)
    if found is None or found[2] in _PADDING:
        return
    at, opcode = int(found[1], 16), found[2]
    text.steps.append((at, ("instructions",) if _CONSTANT.search(found[0]) else _kinds_of(opcode)))
    target = _BRANCH_TO.search(found[3]) if opcode.startswith("BRA") else None
    if target and int(target[1], 16) < at:  # one to itself fills the end of a kernel
        text.loops.add((int(target[1], 16), at))


def _kinds_of(opcode: str) -> tuple[str, ...]:
    head, *rest = opcode.split(".")
    return ("instructions", *_sass_kinds(head, rest, opcode))


def _sass_kinds(head: str, rest: list[str], opcode: str) -> Iterator[str]:
    if head in _GLOBAL:
        loads_or_stores = _GLOBAL[head]
        yield f"global_{loads_or_stores}"
        yield from (f"{loads_or_stores}_128",) if "128" in rest else ()
        yield from ("wide",) if _WIDE & set(rest) else ()
    elif _TENSOR.match(opcode):
        yield "tensor"
    else:
        yield from (kind for kind, knows in _SASS.items() if knows(head))


_SASS: dict[str, Callable[[str], bool]] = {
    "fma": lambda head: head in ("FFMA", "FFMA2", "DFMA", "HFMA2"),
    "float": lambda head: head[:1] in "FDH" and head[1:] in _FLOAT,
    "special": lambda head: head == "MUFU",
    "async_copies": lambda head: head in ("LDGSTS", "UTMALDG", "UTMASTG", "UBLKCP"),
    "shared": lambda head: head in ("LDS", "STS", "LDSM", "STSM", "ATOMS"),
    "barriers": lambda head: head in ("BAR", "SYNCS", "UCGABAR_ARV", "UCGABAR_WAIT"),
    "atomics": lambda head: head in ("ATOM", "ATOMG", "RED", "REDG"),
    "spills": lambda head: head in ("LDL", "STL"),
    "shuffles": lambda head: head in ("SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX"),
}


# *** PTX ***


def read_ptx(listing: str) -> list[KernelCode]:
    """The kernels in PTX. Registers are not yet shared out there, so nothing is known of them or of spills."""
    found: list[_Text] = []
    labels: dict[str, int] = {}
    for number, line in enumerate(listing.splitlines()):
        entry = _PTX_ENTRY.search(line)
        if entry:
            found.append(_Text(entry[1][:LONGEST_NAME]))
            labels = {}
        elif found:
            _note_ptx(found[-1], number, line, labels)
    return [text.code() for text in found]


def _note_ptx(text: _Text, number: int, line: str, labels: dict[str, int]) -> None:
    label = _PTX_LABEL.match(line)
    if label:
        labels[label[1]] = number
        return
    found = _PTX_INSTRUCTION.match(line)
    if found is None:
        return
    opcode, rest = found[1], found[2].strip()
    text.steps.append((number, ("instructions", *_ptx_kinds(opcode))))
    if opcode.startswith("bra") and rest in labels:
        text.loops.add((labels[rest], number))


def _ptx_kinds(opcode: str) -> Iterator[str]:
    for kind, pattern in _PTX.items():
        if pattern.match(opcode):
            yield kind


_MORE_THAN_FOUR = r"(?:.*\.v[248]\.|.*\.[a-z]+(?:64|128)$)"
_SIXTEEN_BYTES = r"(?:.*\.v4\.[a-z]*32|.*\.v2\.[a-z]*64|.*\.b128)"
_PTX = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "tensor": r"(?:mma\.|wmma\.mma|wgmma\.mma|tcgen05\.mma)",
        "fma": r"fma\.",
        "float": r"(?:add|sub|mul|min|max|setp[\w.]*)\.(?:[\w.]*\.)?[bf]?f(?:16|32|64)",
        "special": r"(?:ex2|lg2|sin|cos|tanh|rcp|sqrt|rsqrt)\.",
        "global_loads": r"ld\.(?!param|shared|local|const)",
        "loads_128": rf"ld\.(?!param|shared|local|const){_SIXTEEN_BYTES}",
        "global_stores": r"st\.(?!param|shared|local)",
        "stores_128": rf"st\.(?!param|shared|local){_SIXTEEN_BYTES}",
        "async_copies": r"cp\.async(?:\.bulk)?(?:\.tensor)?\.(?!commit|wait)",
        "shared": r"(?:(?:ld|st|atom|red)\.(?:\w+\.)?shared|ldmatrix|stmatrix)",
        "barriers": r"(?:bar\.|barrier\.|mbarrier\.)",
        "atomics": r"(?:atom|red)\.(?!\w*\.?shared|async)",
        "spills": r"(?:ld|st)\.local",
        "wide": rf"(?:ld|st)\.(?!param|shared|local|const){_MORE_THAN_FOUR}",
        "shuffles": r"(?:shfl|vote|match|redux)\.",
    }.items()
}


# *** all together ***


def kernel_counts(kernels: Iterable[KernelCode]) -> dict[str, int]:
    """How often all kernels together have each kind, and the most shared memory that any of them asks for."""
    every = list(kernels)
    kinds = {kind: sum(code.counts[kind] for code in every) for kind in KINDS}
    return {"kernels": len(every), **kinds, "shared_bytes": max((code.shared_bytes or 0 for code in every), default=0)}


# *** names ***


def plain_name(name: str) -> str:
    """A kernel's own name, out of what a compiler or a tracer makes of it: no namespace, no template, no parameters."""
    mangled = re.match(r"_ZN?[KVr]*(?=\d)", name)
    if mangled:
        return _last_part(name[mangled.end() :], nested=name.startswith("_ZN"))
    bare = re.sub(r"^(?:void|int)\s+", "", name.strip()).replace("(anonymous namespace)::", "")
    return re.split(r"[<(]", bare, maxsplit=1)[0].strip().rpartition("::")[2]


def _last_part(rest: str, *, nested: bool) -> str:
    part = ""
    while length := re.match(r"\d+", rest):
        end = length.end() + int(length[0])
        part, rest = rest[length.end() : end], rest[end:]
        if not nested:
            break
    return part
