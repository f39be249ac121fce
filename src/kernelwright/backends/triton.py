"""Triton kernels, judged on the GPU; with none they run in Triton's interpreter: checked on CPU tensors, not timed."""

import ast
import importlib.util
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import TYPE_CHECKING

from kernelwright.backends._backend import Availability, Backend, Scope
from kernelwright.backends._device import more, usable_gpu, without_device
from kernelwright.backends._names import Names, parse
from kernelwright.backends._registry import register
from kernelwright.backends._strategy._vocabulary import Vocabulary

if TYPE_CHECKING:
    from kernelwright.backends._strategy._program import Program

INSTALL = "pip install 'kernelwright[triton]'"
_JIT = frozenset({"triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit", "triton.experimental.gluon.jit"})
# What a kernel's body may name on a GPU; the interpreter, being Python, would run anything.
_LANGUAGE = ("triton", "range", "len", "min", "max", "abs", "int", "float", "bool", "print", "tuple", "isinstance")

# Which words of Triton prove what; `backends.describe` reads it.
_DESCRIPTOR_LOAD = r"\.load|tl\._?experimental_descriptor_load|tl\.load_tensor_descriptor"
_STRATEGY = Vocabulary(
    calls={
        "load": _DESCRIPTOR_LOAD,
        "copy": _DESCRIPTOR_LOAD,
        "shape": r"tl\.(?:max_contiguous|multiple_of|max_constancy|make_block_ptr|make_tensor_descriptor|store hinted"
        r"|_?experimental_\w*descriptor\w*)",
        "team": r"tl\.(?:debug_barrier|trans|permute|gather)|\.(?:trans|permute)",
        "exchange": r"tl\.histogram",
        "combine": r"(?:tl)?\.(?:sum|max|min|argmax|argmin|reduce|xor_sum)",
        "scan": r"(?:tl)?\.(?:cumsum|cumprod|associative_scan|reduce several)",
        "sort": r"(?:tl)?\.(?:sort|topk)",
        "engine": r"tl\.dot(?:_scaled)?",
        "fma": r"tl\.(?:math\.)?fma",
        "plain": r"tl\.(?:cast|zeros|zeros_like|full|arange|program_id|num_programs|broadcast_to|expand_dims|reshape"
        r"|ravel|view|cdiv|where|make_block_ptr|make_tensor_descriptor|advance|multiple_of|max_contiguous|trans|static_assert)"
        r"|\.(?:to|reshape|view|trans|broadcast_to|expand_dims)|float|int|range|tl\.range|tl\.static_range",
        "atomic": r"tl\.atomic_\w+",
    },
    group=r"tl\.program_id",
    groups=r"tl\.num_programs|^[A-Za-z_]\w*$",
    member=r"tl\.arange",
)

# What is left of that in a GPU's code. A product without matrix units is still a tile; so its tile is not looked for.
_SIGNS = {
    "copy": ("async_copies",),
    "pipelined": ("async_copies",),
    "engine": ("tensor",),
    "engine group": ("tensor", "shuffles", "shared", "barriers"),
    "team": ("shuffles", "shared", "barriers", "tensor"),
    "exchange": ("shuffles", "shared", "barriers"),
    "atomic": ("atomics", "shared"),
}


@register
class Triton(Backend):
    """Python with functions under `@triton.jit`, launched as `kernel[grid](...)`."""

    name = "triton"
    strategy = _STRATEGY
    signs = _SIGNS
    for_device = True

    def available(self) -> Availability:
        if importlib.util.find_spec("triton") is None:
            return Availability(False, "triton is not installed", INSTALL)
        here = usable_gpu()
        does = (
            f"candidates are judged on the {here.name}"
            if here
            else f"candidates are checked in its interpreter, not timed: {without_device()}"
        )
        return Availability(True, f"triton {_version()}; {does}", more=more())

    def recognises(self, candidate_text: str) -> bool:
        tree = parse(candidate_text)
        if tree is None:
            return False
        names = Names(tree)
        return any(origin in _JIT for origin, _ in names.calls(tree)) or any(_kernels(tree, names))

    def scope(self) -> Scope:
        return Scope.TIMED if usable_gpu() else Scope.CHECKED

    def programs(self, source: str) -> "Iterable[Program]":
        from kernelwright.backends._strategy._candidate import triton_programs

        return triton_programs(source)

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        return (*super().screen(candidate_text), *_foreign_to_kernels(candidate_text))


def _version() -> str:
    try:
        return metadata.version("triton")
    except metadata.PackageNotFoundError:
        return "of unknown version"


def _kernels(tree: ast.AST, names: Names) -> Iterator[ast.FunctionDef]:
    """The functions under a decorator that makes kernels of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(_is_jit(mark, names) for mark in node.decorator_list):
            yield node


def _is_jit(mark: ast.expr, names: Names) -> bool:
    return names.of(mark.func if isinstance(mark, ast.Call) else mark) in _JIT


def _foreign_to_kernels(candidate_text: str) -> Iterator[str]:
    """`python-in-kernel:line` where a kernel names something that no GPU compiler would take."""
    tree = parse(candidate_text) or ast.Module([], [])
    names = Names(tree)
    lines = {
        node.lineno
        for kernel in _kernels(tree, names)
        for statement in kernel.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute | ast.Call) and _is_foreign(names.of(node) or "")
    }
    yield from (f"python-in-kernel:{line}" for line in sorted(lines))


def _is_foreign(origin: str) -> bool:
    first = origin.partition(".")[0].partition("(")[0]
    return bool(first) and first not in _LANGUAGE
