"""Finds the places of a candidate's Python that deserve a look, by family. Judges nothing.

The word table says which imported names belong to which family; the rules find what is a matter of form:
an exception swallowed, state kept between calls, a module altered.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kernelwright.backends._names import Names, parse, path
from kernelwright.backends._reach import family_of
from kernelwright.backends._torch_compute import torch_operation

# More numbers, or a longer unbroken text, than a kernel's constants need: room for a stored answer.
MANY_NUMBERS = 64
LONG_WORD = 256

_FRAME_ATTRIBUTES = {"f_back", "f_locals", "f_globals", "f_builtins", "tb_frame", "gi_frame", "__globals__"}
_PATCHABLE = {"__class__", "__dict__", "__code__", "__defaults__", "__closure__"}
_TENSOR_HOOKS = {"__torch_function__", "__torch_dispatch__"}
_TENSOR_TYPES = {"torch.Tensor", "torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter"}
_CONSTRUCTORS = {"__init__", "__new__", "__init_subclass__"}
_NUMBERS = re.compile(rf"(?:[-+]?[\d.][\w.'+-]*\s*,\s*){{{MANY_NUMBERS}}}")


@dataclass(frozen=True)
class Sight:
    """One node of the tree, where it stands, and what the names around it mean."""

    node: ast.AST
    function: str | None
    names: Names
    globals: frozenset[str]


Rule = Callable[[Sight], Iterator[str]]
_rules: list[Rule] = []


def screen_python(text: str) -> tuple[str, ...]:
    """`family:line` for everything worth a look, in the order of the file, each line once a family."""
    tree = parse(text)
    if tree is None:
        return ("unreadable:1",)
    return tuple(f"{family}:{line}" for line, family in sorted(set(_findings(tree))))


def _findings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    names, module_names = Names(tree), _assigned(tree)
    for node, function in _walk(tree, None):
        sight = Sight(node, function, names, module_names)
        families = (family for rule in _rules for family in rule(sight))
        yield from ((getattr(node, "lineno", 1), family) for family in families)


def _walk(node: ast.AST, function: str | None) -> Iterator[tuple[ast.AST, str | None]]:
    """Every node with the name of the innermost function around it."""
    for child in ast.iter_child_nodes(node):
        yield child, function
        inside = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield from _walk(child, inside)


def _assigned(tree: ast.Module) -> frozenset[str]:
    """Names the module itself assigns, outside every function and class."""
    statements = (node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign))
    return frozenset(target.id for node in statements for target in _targets(node) if isinstance(target, ast.Name))


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            return [target]
    return []


def rule(function: Rule) -> Rule:
    _rules.append(function)
    return function


# *** what is reached ***


@rule
def named(sight: Sight) -> Iterator[str]:
    """Uses of modules and functions in the table of families."""
    if isinstance(sight.node, ast.Name | ast.Attribute | ast.Call):
        family = family_of(sight.names.of(sight.node) or "")
        if family:
            yield family


@rule
def star_import(sight: Sight) -> Iterator[str]:
    if isinstance(sight.node, ast.ImportFrom) and sight.node.names[0].name == "*":
        yield "star-import"


@rule
def frame_walk(sight: Sight) -> Iterator[str]:
    if isinstance(sight.node, ast.Attribute) and sight.node.attr in _FRAME_ATTRIBUTES:
        yield "frame-walk"


@rule
def torch_compute(sight: Sight) -> Iterator[str]:
    """Arithmetic left to PyTorch, outside the constructor, where weights are made."""
    if sight.function not in _CONSTRUCTORS:
        operation = torch_operation(sight.node, sight.names)
        if operation:
            yield f"torch-compute:{operation}"


# *** what is altered or kept ***


@rule
def monkey_patch(sight: Sight) -> Iterator[str]:
    """Something imported is written to, directly or by setattr."""
    for target in _targets(sight.node):
        if isinstance(target, ast.Attribute) and (target.attr in _PATCHABLE or _is_imported(target.value, sight)):
            yield "monkey-patch"
    match sight.node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, *_]) if _is_imported(owner, sight):
            yield "monkey-patch"


def _is_imported(owner: ast.expr, sight: Sight) -> bool:
    origin = sight.names.of(owner)
    # What a call returned is the candidate's own; settings of torch.backends have their own family.
    return bool(origin) and "()" not in str(origin) and not family_of(str(origin))


@rule
def caches_on_self(sight: Sight) -> Iterator[str]:
    """An attribute of the module is written after construction."""
    if sight.function and sight.function not in _CONSTRUCTORS:
        for target in _targets(sight.node):
            owner = target.value if isinstance(target, ast.Subscript) else target
            if (path(owner) or "").startswith("self."):
                yield "caches-on-self"


@rule
def caches_global(sight: Sight) -> Iterator[str]:
    """Something that outlives the call is written: a global, a module's container, a default argument."""
    match sight.node:
        case ast.Global() | ast.Nonlocal():
            yield "caches-global"
        case ast.FunctionDef(args=parameters):
            defaults = (*parameters.defaults, *parameters.kw_defaults)
            if any(isinstance(value, ast.Dict | ast.List | ast.Set) for value in defaults):
                yield "caches-global"
    for target in _targets(sight.node) if sight.function else []:
        if isinstance(target, ast.Subscript) and path(target.value) in sight.globals:
            yield "caches-global"


# *** forms ***


@rule
def except_fallback(sight: Sight) -> Iterator[str]:
    """A handler that goes on with something else."""
    if isinstance(sight.node, ast.ExceptHandler) and not isinstance(sight.node.body[-1], ast.Raise):
        yield "except-fallback"


@rule
def tensor_subclass(sight: Sight) -> Iterator[str]:
    match sight.node:
        case ast.ClassDef(bases=bases) if any(sight.names.of(base) in _TENSOR_TYPES for base in bases):
            yield "tensor-subclass"
        case ast.FunctionDef(name=name) if name in _TENSOR_HOOKS:
            yield "tensor-subclass"


@rule
def exit_hook(sight: Sight) -> Iterator[str]:
    if isinstance(sight.node, ast.FunctionDef) and sight.node.name == "__del__":
        yield "exit-hook"


@rule
def large_literal(sight: Sight) -> Iterator[str]:
    match sight.node:
        case ast.Constant(value=str() | bytes() as value) if _is_blob(value):
            yield "large-literal"
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) | ast.Dict(values=items):
            if len(items) >= MANY_NUMBERS:
                yield "large-literal"


def _is_blob(value: str | bytes) -> bool:
    text = value if isinstance(value, str) else value.decode("latin-1")
    return any(len(word) > LONG_WORD for word in text.split()) or bool(_NUMBERS.search(text))
