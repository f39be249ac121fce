"""The reference's worker: draws inputs and weights, computes what is right, and runs the baselines.

It runs the task's own code, which its author vouches for, in a process no candidate can reach.
"""

from __future__ import annotations

import copy
import ctypes
import os
import sys
import time
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from kernelwright.judge._channel import Channel, Message
from kernelwright.judge._memory import NUMPY
from kernelwright.judge._tree import Tree, decode, encode, foreign
from kernelwright.judge.worker._driver import Driver, failure
from kernelwright.judge.worker._families import apply_family
from kernelwright.judge.worker._tensors import dtype_name, exact_tensor, pack
from kernelwright.tasks import Case, Task
from kernelwright.tasks._draw import draw_input

PROBES = 8
PIECE = 1 << 26
PROBE_SECONDS = 1.0
SWAYS = 3
MOVE = 1.5 * 2.0**-24


class BrokenTask(Exception):
    """The task itself cannot be judged: one sentence, and what to do."""

    kind = "broken"

    def __init__(self, what: str, fix: str, flaw: str = "") -> None:
        super().__init__(what)
        self.fix = fix
        self.flaw = flaw


class Reference(Driver):
    """A driver whose `forward` is the reference, or the reference compiled."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._task: Task | None = None
        self._module: types.ModuleType | None = None
        self._model: Any = None
        self._wide: Any = None
        self._initial: dict[str, torch.Tensor] = {}

    @property
    def task(self) -> Task:
        assert self._task is not None
        return self._task

    # Loading

    def do_task(self, message: Message) -> Message:
        self._task = Task.from_wire(message["task"])
        torch.manual_seed(message["seed"])
        self._module = _load(self.task.source)
        init = self._constructor_arguments()
        self._model = _raising("Model(...)", lambda: self._constructed(init))
        if not isinstance(self._model, torch.nn.Module):
            raise BrokenTask("the reference's Model is no torch.nn.Module", "derive it: class Model(torch.nn.Module)")
        self._model.train(self.task.mode == "train")
        self._initial = {name: value.clone() for name, value in self._state().items()}
        self.forward = self._model
        shapes = {name: list(value.shape) for name, value in self._state().items()}
        return {"op": "tasked", "init": init, "weights": shapes}

    def _constructed(self, init: Tree) -> Any:
        return self._module_attribute("Model")(*decode(init, []))

    def _module_attribute(self, name: str) -> Any:
        return getattr(self._module, name)

    def _constructor_arguments(self) -> Tree:
        value = self.task.init
        if value is None:
            value = _raising("get_init_inputs()", self._module_attribute("get_init_inputs"))
        tree = encode(value, lambda leaf: False, [])
        kind = foreign(tree)
        if kind:
            raise BrokenTask(
                f"get_init_inputs() returns a {kind}, which cannot be handed to another process",
                "return numbers, strings, lists or tuples",
            )
        return tree

    def do_compile(self, message: Message) -> Message:
        mode = None if message["mode"] == "default" else message["mode"]
        self.forward = torch.compile(self._model, mode=mode)
        return {"op": "compiled"}

    # Weights

    def do_redraw(self, message: Message) -> Message:
        """Draws every float weight anew, norms and biases too: nothing may be one or zero by convention."""
        generator = self._generator().manual_seed(message["seed"])
        parameters = self._parameters()
        for name, value in self._state().items():
            new = _redrawn(self._initial[name], generator, name in parameters)
            value.data.copy_(_touched(value.data, new, generator) if message["touch"] else new)
        self._wide = None
        return {"op": "redrawn"}

    def _generator(self) -> torch.Generator:
        """Where weights are drawn."""
        return torch.Generator()

    def do_weights(self, message: Message) -> Message:
        """Draws weights, and shows them."""
        self.do_redraw(message)
        state = self._state()
        fd, leaves = pack([value.data.cpu().contiguous() for value in state.values()], "weights")
        named = [{**leaf, "name": name} for leaf, name in zip(leaves, state, strict=True)]
        return {"op": "weighted", "leaves": named, "fds": (fd,)}

    def _state(self) -> dict[str, torch.Tensor]:
        return dict(self._model.state_dict(keep_vars=True))

    def _parameters(self) -> set[str]:
        return {name for name, _ in self._model.named_parameters()}

    def weights(self) -> Iterable[torch.Tensor]:
        return self._state().values()

    # Inputs

    def do_draw(self, message: Message) -> Message:
        arguments = self._draw(Case.from_wire(message["case"]), message["seed"])
        leaves: list[torch.Tensor] = []
        tree = encode(arguments, exact_tensor, leaves)
        kind = foreign(tree)
        if kind:
            raise BrokenTask(
                f"get_inputs() returns a {kind}",
                "return tensors, numbers, or lists, tuples and dicts of them",
            )
        _check_dtypes("get_inputs() returns", leaves)
        torch.manual_seed(message["seed"])
        changed = apply_family(message["family"], leaves)
        if changed is None:
            return {"op": "inapplicable"}
        fd, packed = pack(changed, "inputs")
        answer = {"op": "drawn", "tree": tree, "leaves": packed, "fds": (fd,)}
        if message["expect"]:
            answer["expected"], more = self._expected(decode(tree, changed))
            answer["fds"] = (fd, more)
        return answer

    def _draw(self, case: Case, seed: int) -> list[Any]:
        torch.manual_seed(seed)
        if case.inputs is not None:
            generator = torch.Generator().manual_seed(seed)
            return [draw_input(spec, generator) for spec in case.inputs]
        with _constants(self._module, case.constants):
            drawn = _raising("get_inputs()", self._module_attribute("get_inputs"))
        if not isinstance(drawn, list | tuple):
            raise BrokenTask(
                f"get_inputs() returns a {type(drawn).__name__}, not a list",
                "return a list of the arguments of forward",
            )
        return list(drawn)

    # What is right

    def do_expect(self, message: Message) -> Message:
        """What is right for the staged inputs."""
        expected, fd = self._expected(self._arguments)
        return {"op": "expected", "expected": expected, "fds": (fd,)}

    def _expected(self, arguments: list[Any]) -> tuple[Message, int]:
        """Runs the reference as it is, and in double precision."""
        before = _versions(arguments)
        plain = _outputs(_raising("the reference's forward", lambda: self._model(*arguments)))
        if _versions(arguments) != before:
            raise BrokenTask("the reference changes its inputs in place", "let forward work on a copy: x = x.clone()")
        wide, precision = self._in_double(arguments)
        if [leaf.shape for leaf in wide.leaves] != [leaf.shape for leaf in plain.leaves]:
            wide, precision = plain, "same"
        exact = [_widened(w, p) for w, p in zip(wide.leaves, plain.leaves, strict=True)]
        fd, leaves = pack([*exact, *[leaf.contiguous() for leaf in plain.leaves]], "expected")
        return {
            "tree": plain.tree,
            "leaves": leaves,
            "dense": [_dense(leaf) for leaf in plain.leaves],
            "contiguous": [leaf.is_contiguous() for leaf in plain.leaves],
            "aliases": _aliases(plain.leaves, arguments),
            "precision": precision,
        }, fd

    def _in_double(self, arguments: list[Any]) -> tuple[Outputs, str]:
        if self._wide is None:
            self._wide = copy.deepcopy(self._model).double()
            self._wide.train(self.task.mode == "train")
        try:
            return _outputs(self._wide(*[_doubled(value) for value in arguments])), "double"
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception:
            return _outputs(self._model(*arguments)), "same"

    def do_sway(self, message: Message) -> Message:
        """How far every element of each output moves when every input moves by a rounding error."""
        here, _ = self._in_double(self._arguments)
        moves = [torch.zeros_like(leaf, dtype=torch.float64) for leaf in here.leaves]
        for _ in range(SWAYS):
            there, _ = self._in_double(_moved(self._arguments))
            moves = [_farther(m, t, h) for m, t, h in zip(moves, there.leaves, here.leaves, strict=True)]
        fd, leaves = pack([move.contiguous() for move in moves], "sway")
        return {"op": "swayed", "leaves": leaves, "fds": (fd,)}

    def do_steadiness(self, message: Message) -> Message:
        """Same inputs, called again: does the reference answer the same? If not, is it chance or memory?"""
        first = self._leaves_of_call()
        second = self._leaves_of_call()
        if _close(first, second):
            return {"op": "steady"}
        torch.manual_seed(1)
        third = self._leaves_of_call()
        torch.manual_seed(1)
        fourth = self._leaves_of_call()
        if _close(third, fourth):
            raise BrokenTask(
                "the reference draws random numbers in forward, so no answer is right twice",
                'judge it in eval mode (--mode eval, or mode = "eval" in task.toml), or remove the random operator',
                "stochastic",
            )
        raise BrokenTask(
            "the reference gives another answer when called again with the same inputs",
            "remove what it carries from call to call, or what it leaves to chance",
            "stateful",
        )

    def _leaves_of_call(self) -> list[torch.Tensor]:
        result = self._model(*self._arguments)
        return [leaf.clone() for leaf in _outputs(result).leaves]

    def do_probe(self, message: Message) -> Message:
        """How the task depends on its inputs: which share of each matters, and how many feed one output."""
        shared: list[torch.Tensor] = []
        tree = encode(self._arguments, exact_tensor, shared)
        leaves = [leaf.clone() for leaf in shared]
        self._arguments = decode(tree, leaves)
        floats = [leaf for leaf in leaves if leaf.is_floating_point() and leaf.numel()]
        base = self._leaves_of_call()
        shares, length = self._sensitivities(floats, base)
        self._arguments = []  # a copy that would take as much room again
        bytes_read = sum(share * leaf.numel() * leaf.element_size() for share, leaf in zip(shares, floats, strict=True))
        return {
            "op": "probed",
            "reduction": max(1.0, length),
            "bytes_read": bytes_read,
            "bytes_written": sum(leaf.numel() * leaf.element_size() for leaf in base),
        }

    def _sensitivities(self, floats: list[torch.Tensor], base: list[torch.Tensor]) -> tuple[list[float], float]:
        outputs = sum(leaf.numel() for leaf in base)
        shares, length = [], 1.0
        deadline = time.monotonic() + PROBE_SECONDS
        for leaf in floats:
            hits, touched, tried = 0, 0, 0
            for index in torch.randint(leaf.numel(), (PROBES,)).tolist():
                changed = self._elements_changed(leaf, index, base)
                hits, touched, tried = hits + (changed > 0), touched + changed, tried + 1
                if time.monotonic() > deadline:
                    break
            shares.append(hits / tried)
            length = max(length, touched / tried * leaf.numel() / max(1, outputs))
        return shares, length

    def _elements_changed(self, leaf: torch.Tensor, index: int, base: list[torch.Tensor]) -> int:
        """How many output elements notice when one input element is not a number."""
        place = np.unravel_index(index, leaf.shape)  # torch's own takes half a second, the first time
        old = leaf[place].clone()
        leaf[place] = float("nan")
        try:
            changed = self._leaves_of_call()
        finally:
            leaf[place] = old
        return sum(int((new != was).sum()) for new, was in zip(changed, base, strict=True) if new.shape == was.shape)

    def do_operations(self, message: Message) -> Message:
        """How many floating point operations the staged inputs ask for."""
        # Torch's counter imports Triton, which must not happen before its interpreter can be switched on.
        from kernelwright.judge.worker import _operations

        return {"op": "counted", **_operations.count(lambda: self._model(*self._arguments))}

    def do_flop_ceiling(self, message: Message) -> Message:
        """How fast this machine can multiply and add at all."""
        library = ctypes.CDLL(message["library"])
        library.kernelwright_flops.restype = ctypes.c_double
        library.kernelwright_flops.argtypes = (ctypes.c_double,)
        return {"op": "measured", "flops_per_second": library.kernelwright_flops(message["seconds"])}

    def do_ceilings(self, message: Message) -> Message:
        """How fast this machine can move bytes at all, by size of the working set."""
        library = ctypes.CDLL(message["library"])
        library.kernelwright_bandwidth.restype = ctypes.c_double
        library.kernelwright_bandwidth.argtypes = (ctypes.c_size_t, ctypes.c_double)
        speeds = {str(size): library.kernelwright_bandwidth(size, message["seconds"]) for size in message["sizes"]}
        return {"op": "measured", "bytes_per_second": speeds}


class Outputs:
    """A result taken apart: its outline and its tensors."""

    def __init__(self, tree: Tree, leaves: list[torch.Tensor]) -> None:
        self.tree, self.leaves = tree, leaves


def _outputs(result: Any) -> Outputs:
    leaves: list[torch.Tensor] = []
    tree = encode(result, exact_tensor, leaves)
    kind = foreign(tree)
    if kind:
        raise BrokenTask(f"the reference returns a {kind}", "return tensors, or lists, tuples and dicts of them")
    if not leaves:
        what = "nothing" if result is None else f"{type(result).__name__}, which holds no tensor"
        raise BrokenTask(f"the reference returns {what}", "end forward with `return` and a tensor")
    _check_dtypes("the reference returns", leaves)
    if not any(leaf.numel() for leaf in leaves):
        raise BrokenTask("the reference's output has no elements", "choose sizes so that the output depends on them")
    return Outputs(tree, leaves)


def _check_dtypes(what: str, leaves: list[torch.Tensor]) -> None:
    unknown = [name for leaf in leaves if (name := dtype_name(leaf.dtype)) not in NUMPY]
    if unknown:
        raise BrokenTask(f"{what} {unknown[0]}, which cannot be compared here", "use real numbers: view_as_real(x)")


def _load(source: str) -> types.ModuleType:
    """The reference as a module. Its text is also where tracebacks and torch.compile look for it."""
    module = types.ModuleType("reference")
    sys.modules["reference"] = module
    _raising("the reference file", lambda: exec(compile(source, "reference.py", "exec"), vars(module)))
    return module


def _raising(what: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except BrokenTask:
        raise
    except Exception as error:
        if failure(error)["kind"] == "memory":
            raise
        raise BrokenTask(f"{what} raises {type(error).__name__}: {error}", _mending(error)) from error


def _mending(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"install what it imports: {error.name.partition('.')[0]}"
    return "run it on its own and mend it"


class _constants:
    """Module constants replaced for the time of a call."""

    def __init__(self, module: Any, values: Any) -> None:
        self._module, self._values = module, dict(values)

    def __enter__(self) -> None:
        self._old = {name: getattr(self._module, name) for name in self._values}
        vars(self._module).update(self._values)

    def __exit__(self, *_: object) -> None:
        vars(self._module).update(self._old)


def _redrawn(value: torch.Tensor, generator: torch.Generator, parameter: bool) -> torch.Tensor:
    if not value.is_floating_point():
        return value
    noise = torch.randn(value.shape, generator=generator, dtype=torch.float32, device=generator.device)
    if not parameter:
        return (value * (1 + 0.2 * noise.clamp(-2, 2)).to(value.dtype)).to(value.dtype)
    spread = float(value.double().std()) if value.numel() > 1 else 0.0
    if spread > 0:
        return (value.double().mean() + spread * noise).to(value.dtype)
    return (value + 0.2 * noise).to(value.dtype)


def _touched(old: torch.Tensor, new: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The old values with one element in a thousand, at least one, taken from the new."""
    change = torch.rand(old.shape, generator=generator, device=generator.device) < 1e-3
    change.view(-1)[int(torch.randint(old.numel(), (1,), generator=generator, device=generator.device))] = True
    return torch.where(change, new, old)


def _doubled(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, list | tuple):
        return type(value)(_doubled(item) for item in value)
    if isinstance(value, dict):
        return {key: _doubled(item) for key, item in value.items()}
    return value


def _moved(value: Any) -> Any:
    """In double precision, every element off by a rounding error of single precision, up or down.

    Never by less: a function of single elements would else be called well-conditioned where chance moved them little.
    """
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        factors = torch.empty_like(value, dtype=torch.float64).bernoulli_().mul_(2 * MOVE).add_(1 - MOVE)
        return factors.mul_(value)
    if isinstance(value, list | tuple):
        return type(value)(_moved(item) for item in value)
    if isinstance(value, dict):
        return {key: _moved(item) for key, item in value.items()}
    return value


def _farther(moves: torch.Tensor, there: torch.Tensor, here: torch.Tensor) -> torch.Tensor:
    """The larger move of each element; none where it is not a number, or none of a float."""
    if there.shape != here.shape or not here.is_floating_point():
        return moves
    return torch.maximum(moves, (there - here).abs().double().nan_to_num(0.0, 0.0, 0.0))


def _widened(wide: torch.Tensor, plain: torch.Tensor) -> torch.Tensor:
    """The better value where there is one; integers and booleans as they are."""
    return wide.double().contiguous() if plain.is_floating_point() else plain.contiguous()


def _versions(arguments: list[Any]) -> list[int]:
    """Torch counts in-place changes of each tensor."""
    leaves: list[torch.Tensor] = []
    encode(arguments, exact_tensor, leaves)
    return [leaf._version for leaf in leaves]


def _dense(leaf: torch.Tensor) -> bool:
    return all(stride != 0 or size <= 1 for size, stride in zip(leaf.shape, leaf.stride(), strict=True))


def _aliases(outputs: list[torch.Tensor], arguments: list[Any]) -> list[bool]:
    """Which outputs of the reference are its inputs, or parts of them."""
    inputs: list[torch.Tensor] = []
    encode(arguments, exact_tensor, inputs)
    storages = {leaf.untyped_storage().data_ptr() for leaf in inputs}
    return [leaf.untyped_storage().data_ptr() in storages for leaf in outputs]


def _close(left: list[torch.Tensor], right: list[torch.Tensor]) -> bool:
    if [leaf.shape for leaf in left] != [leaf.shape for leaf in right]:
        return False
    pieces = (pair for a, b in zip(left, right, strict=True) for pair in zip(_pieces(a), _pieces(b), strict=True))
    return all(torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-6, equal_nan=True) for a, b in pieces)


def _pieces(leaf: torch.Tensor) -> list[torch.Tensor]:
    """In double precision a large tensor may not fit beside itself."""
    flat = leaf.reshape(-1)
    return [flat[start : start + PIECE] for start in range(0, flat.numel(), PIECE)]


def main(channel: Channel) -> None:
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    Reference(channel).run()
