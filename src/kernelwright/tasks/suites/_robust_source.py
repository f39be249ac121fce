"""Turns a robust-kbench file into KernelBench form.

There, `get_inputs` and `Model` take settings as arguments. Here, settings become top-level constants that
`get_inputs` reads, so that they can be set, shrunk and varied like those of any other task. A backward task gets a
`Model` that returns gradients: of every floating-point input, then of every parameter that takes part.
"""

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kernelwright.tasks._constants import bindings
from kernelwright.tasks._error import TaskError
from kernelwright.tasks._literals import NotPlainError, fold, literal_text
from kernelwright.tasks._reads import Reads
from kernelwright.tasks._reference import Reference

_REQUIRED = object()
_COMPUTED = object()

_BACKWARD = '''\
class Model(ForwardModel):
    """Gradients of every floating-point input, then of every parameter that takes part."""

    def forward(self, {names}, grad_output):
        given = [leaf.detach().requires_grad_(leaf.is_floating_point()) for leaf in ({names},)]
        with torch.enable_grad():
            output = super().forward(*given)
            leaves = [leaf for leaf in (*given, *self.parameters()) if leaf.requires_grad]
            gradients = torch.autograd.grad(output, leaves, grad_output, allow_unused=True)
        return tuple(gradient for gradient in gradients if gradient is not None)


def get_inputs():
    given = [leaf.detach() for leaf in forward_inputs()]
    with torch.device("meta"):
        model = ForwardModel(*get_init_inputs())
    output = model(*[leaf.to("meta") for leaf in given])
    return [*given, torch.randn(output.shape, dtype=output.dtype)]
'''


@dataclass(frozen=True)
class Configuration:
    """One way to construct the model, and the input settings to judge it on."""

    init: Mapping[str, Any]
    inputs: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Written:
    """A text in KernelBench form.

    Attributes:
        inputs: For each configuration of the inputs, the constants that `get_inputs` reads.
        free: Those among them that the model does not depend on.
    """

    text: str
    inputs: list[dict[str, Any]]
    free: tuple[str, ...]


@dataclass(frozen=True)
class Rewriting:
    """A robust-kbench file, ready to be written out at any configuration."""

    reference: Reference
    backward: bool

    def at(self, configuration: Configuration) -> Written:
        inputs = [self._values("get_inputs", self._drawing, given) for given in configuration.inputs]
        self._check_free_names(inputs[0])
        arguments, constants = self._construction(configuration.init, inputs)
        parts = [self._body, _assignments({**inputs[0], **constants}), _getter(arguments)]
        if self.backward:
            parts.append(_BACKWARD.format(names=", ".join(self._forward_names)))
        free = tuple(name for name in inputs[0] if name not in self._making)
        return Written("\n\n".join(parts), inputs, free)

    @cached_property
    def _drawing(self) -> dict[str, Any]:
        found = self.reference.function("get_inputs")
        assert found is not None
        stored = {n.id for n in ast.walk(found) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        parameters = _parameters(found.args, skip=0)
        for name in stored & parameters.keys():
            what = f"get_inputs assigns to its own parameter {name!r}, so it cannot be made a constant."
            raise TaskError(what, f"{self.reference.where}:{found.lineno}", "Give the local value another name.")
        return parameters

    @cached_property
    def _making(self) -> dict[str, Any]:
        found = self.reference.method("__init__")
        if found and (found.args.kwonlyargs or found.args.kwarg):
            what = "Model takes arguments by keyword alone, which a task cannot hand over."
            raise TaskError(what, f"{self.reference.where}:{found.lineno}", "Let it take them by position.")
        return _parameters(found.args, skip=1) if found else {}

    @cached_property
    def _forward_names(self) -> list[str]:
        found = self.reference.method("forward")
        known = _parameters(found.args, skip=1) if found else {}
        return [name for name, default in known.items() if default is _REQUIRED]

    @cached_property
    def _body(self) -> str:
        tree = _NoArguments().visit(copy.deepcopy(self.reference.tree))
        if self.backward:
            tree = _Renamed({"Model": "ForwardModel", "get_inputs": "forward_inputs"}).visit(tree)
        return ast.unparse(tree) + "\n"

    def _values(self, owner: str, parameters: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        values = {name: given.get(name, default) for name, default in parameters.items()}
        for name, value in values.items():
            if value is _REQUIRED or value is _COMPUTED:
                what = f"{owner} takes {name!r}, and the configuration gives it no value."
                raise TaskError(what, self.reference.where, f"Add {name!r} to the configuration beside the file.")
        return values

    def _check_free_names(self, constants: Iterable[str]) -> None:
        for name in constants:
            if self._is_taken(name):
                what = f"get_inputs takes {name!r}, which is also a top-level name that the file uses."
                raise TaskError(what, self.reference.where, "Rename one of them.")

    def _is_taken(self, name: str) -> bool:
        """Whether a constant of that name would change what the file does. Assignments that nobody reads may go."""
        if name not in bindings(self.reference):
            return self.reference.defines(name)
        reads = Reads.of(self.reference)
        return name in reads.import_time().union(*reads.when_called.values())

    def _construction(
        self, given: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]
    ) -> tuple[list[str], dict[str, Any]]:
        """Arguments of `Model` as texts, and the constants that they name."""
        arguments, constants = [], {}
        for name, value in self._values("Model", self._making, given).items():
            if all(drawn.get(name, value) == value for drawn in inputs) and not self._is_taken(name):
                constants[name] = value
                arguments.append(name)
            else:
                arguments.append(literal_text(value))
        return arguments, constants


def _parameters(arguments: ast.arguments, skip: int) -> dict[str, Any]:
    """Names of parameters with their defaults."""
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    missing = len(names) - len(arguments.defaults)
    defaults: list[ast.expr | None] = [*[None] * missing, *arguments.defaults]
    names += [argument.arg for argument in arguments.kwonlyargs]
    defaults += arguments.kw_defaults
    return {name: _default(node) for name, node in list(zip(names, defaults, strict=True))[skip:]}


def _default(node: ast.expr | None) -> Any:
    if node is None:
        return _REQUIRED
    try:
        return fold(node, {})
    except NotPlainError:
        return _COMPUTED


def _assignments(constants: Mapping[str, Any]) -> str:
    return "".join(f"{name} = {literal_text(value)}\n" for name, value in constants.items())


def _getter(arguments: list[str]) -> str:
    return f"def get_init_inputs():\n    return [{', '.join(arguments)}]\n"


class _NoArguments(ast.NodeTransformer):
    """`get_inputs` without parameters: it reads constants of the same names."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name == "get_inputs":
            node.args = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        return self.generic_visit(node)
