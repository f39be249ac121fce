"""The process that runs references to see what they compute: a program, begun by `_tracer.py` alone.

Tasks come as lines of JSON on the standard input; the graphs of each, one a case, go back as a line of JSON. Torch is
loaded once, and every reference runs in a child of its own, as the judge does it: it is its author's code.
"""

import json
import os
import sys
import tempfile
import types
from collections.abc import Iterator
from typing import Any, NoReturn

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kernelwright.tasks import Case, Task, draw_input

aten = torch.ops.aten
# Taken apart here, and not by the operator set of torch's own: what is left is arithmetic, reductions and views.
APART = (
    aten._softmax,
    aten._log_softmax,
    aten.native_layer_norm,
    aten._native_batch_norm_legit_no_training,
    aten._native_batch_norm_legit,
    aten._native_batch_norm_legit_functional,
    aten._scaled_dot_product_flash_attention_for_cpu,
    aten.upsample_bilinear2d,
    aten.upsample_nearest2d,
    aten.nll_loss_forward,
    aten.binary_cross_entropy_with_logits,
    aten.addmm,
)
# Left whole: they are better taken apart where their form is known.
WHOLE = (aten.logsumexp.default, aten.softplus.default)
LARGEST_CONSTANT = 1


def main() -> None:
    answers = _own_output()
    _loaded()
    while line := sys.stdin.readline():
        answers.write(json.dumps(_in_a_child(line)) + "\n")
        answers.flush()


def _loaded() -> None:
    """Much of the exporter is loaded when it is first used. Nothing is computed: who forks must not have threads."""
    with FakeTensorMode():
        _exported(torch.nn.LayerNorm(4), [torch.zeros(4)])


def _in_a_child(line: str) -> dict[str, Any]:
    reading, writing = os.pipe()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as printed:
        child = os.fork()
        if child == 0:
            _answer(line, writing, printed.fileno())
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as answer:
            said = answer.read()
        os.waitpid(child, 0)
        if said:
            return dict(json.loads(said))
        printed.seek(0)
        return {"ended": (printed.read().strip().splitlines() or ["nothing was said"])[-1]}


def _answer(line: str, writing: int, printed: int) -> NoReturn:
    """The child's part. It leaves without tidying up what is its parent's."""
    try:
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        said = json.dumps(_captured(Task.from_wire(json.loads(line))))
        with os.fdopen(writing, "w", encoding="utf-8") as own:
            own.write(said)
    finally:
        os._exit(0)


def _captured(task: Task) -> dict[str, Any]:
    try:
        return {"graphs": [_graph(task, case) for case in task.cases]}
    except _DynamicShapeError:
        return {"dynamic": True}
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"}


def _own_output() -> Any:
    """The standard output for the answer alone: what the reference prints goes where errors go."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


def _graph(task: Task, case: Case) -> dict[str, Any]:
    module = types.ModuleType("reference")
    sys.modules["reference"] = module
    exec(compile(task.source, "reference.py", "exec"), module.__dict__)
    init = task.init if task.init is not None else module.get_init_inputs()
    model = module.Model(*init).train(task.mode == "train")
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):  # sizes and types are all that is asked for
            inputs = _inputs(module, case)
        program = _exported(model, inputs)
    except Exception:
        inputs = _inputs(module, case)
        program = _exported(model, inputs)
    return {**_described(program), "state": _state(model), "inputs": [_input(value) for value in inputs]}


def _exported(model: torch.nn.Module, inputs: list[Any]) -> Any:
    with torch.no_grad():
        return torch.export.export(model, tuple(inputs), strict=False).run_decompositions(_table())


def _table() -> dict[Any, Any]:
    table = dict(torch.export.default_decompositions())
    table.update(torch._decomp.get_decompositions(APART))
    for kept in WHOLE:
        table.pop(kept, None)
    return table


def _inputs(module: types.ModuleType, case: Case) -> list[Any]:
    if case.inputs is not None:
        generator = torch.Generator().manual_seed(0)
        return [draw_input(spec, generator) for spec in case.inputs]
    module.__dict__.update(case.constants)
    return list(module.get_inputs())


def _input(value: Any) -> dict[str, Any] | None:
    """None for what is no tensor: its value is part of the graph."""
    return _meta(value) if isinstance(value, torch.Tensor) else None


def _state(model: torch.nn.Module) -> list[dict[str, Any]]:
    trained = {name for name, _ in model.named_parameters()}
    return [{"name": name, "trained": name in trained, **_meta(value)} for name, value in model.state_dict().items()]


class _DynamicShapeError(Exception):
    """How large a tensor is depends on values."""


def _meta(value: Any) -> dict[str, Any]:
    if any(isinstance(size, torch.SymInt) for size in value.shape):
        raise _DynamicShapeError
    return {"shape": [int(size) for size in value.shape], "dtype": str(value.dtype).removeprefix("torch.")}


# *** the graph ***


def _described(program: Any) -> dict[str, Any]:
    graph = program.graph_module.graph
    outputs = next(node for node in graph.nodes if node.op == "output").args[0]
    return {
        "sources": list(_sources(program)),
        "nodes": [_node(node) for node in graph.nodes if node.op == "call_function"],
        "outputs": [_argument(value) for value in outputs],
        "kinds": [[spec.kind.name, spec.target] for spec in program.graph_signature.output_specs],
        "single": program.call_spec.out_spec.is_leaf(),
        "structure": program.call_spec.out_spec.type.__name__ if not program.call_spec.out_spec.is_leaf() else "",
    }


def _sources(program: Any) -> Iterator[dict[str, Any]]:
    """Where each placeholder's value comes from: an input by its place, a weight by its name, a constant."""
    place = 0
    for spec, node in zip(program.graph_signature.input_specs, _placeholders(program), strict=True):
        kind = spec.kind.name
        source: dict[str, Any] = {"node": node.name, "kind": kind, "target": spec.target}
        if kind == "USER_INPUT":
            source["place"], place = place, place + 1
        if kind == "CONSTANT_TENSOR" and program.constants[spec.target].numel() <= LARGEST_CONSTANT:
            source["value"] = program.constants[spec.target].item()
        value = node.meta.get("val")
        yield {**source, **(_meta(value) if isinstance(value, torch.Tensor) else {"shape": None, "dtype": None})}


def _placeholders(program: Any) -> list[Any]:
    return [node for node in program.graph_module.graph.nodes if node.op == "placeholder"]


def _node(node: Any) -> dict[str, Any]:
    values = node.meta.get("val")
    first = values[0] if isinstance(values, list | tuple) and values else values
    described = _meta(first) if isinstance(first, torch.Tensor) else {"shape": None, "dtype": None}
    return {
        "name": node.name,
        "op": str(node.target) if node.target.__class__.__name__ == "OpOverload" else node.target.__name__,
        "args": [_argument(value) for value in node.args],
        "kwargs": {name: _argument(value) for name, value in node.kwargs.items()},
        **described,
    }


def _argument(value: Any) -> Any:
    """A reference to a node is `{"node": name}`; a number that JSON has no word for is `{"number": text}`."""
    if isinstance(value, torch.fx.Node):
        return {"node": value.name}
    if isinstance(value, list | tuple):
        return [_argument(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"number": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    return {"other": str(value)}


if __name__ == "__main__":
    main()
