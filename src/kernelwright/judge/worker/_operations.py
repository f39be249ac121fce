"""How many floating point operations a computation asks for, counted while it runs.

Matrix products, convolutions and attention by torch's own formulas. Everything else is an estimate: one operation
for every element of the result of a pointwise operator and for every element that a reduction reads, more for the
few operators that do several things to each element. An exponential counts as one, and is counted apart as well.
Operators that compute no float (views, copies, sorts, comparisons of indices) count nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

# Operations for an element of the largest tensor involved, where they are several.
SEVERAL = {
    "_softmax": 5,
    "_log_softmax": 5,
    "logsumexp": 4,
    "native_layer_norm": 8,
    "native_batch_norm": 8,
    "_native_batch_norm_legit": 8,
    "native_group_norm": 8,
    "var": 4,
    "var_mean": 4,
    "std": 4,
    "std_mean": 4,
    "linalg_vector_norm": 2,
    "mse_loss": 3,
    "huber_loss": 5,
    "smooth_l1_loss": 5,
    "gelu": 5,
    "silu": 5,
    "sigmoid": 4,
    "mish": 6,
    "mv": 2,
    "addmv": 2,
    "dot": 2,
    "lerp": 3,
    "addcmul": 3,
    "addcdiv": 3,
}
# One operation for every element read.
ONE_EACH = frozenset(
    "sum mean prod amax amin max min aminmax norm nansum cumsum cumprod cummax cummin avg_pool2d avg_pool3d "
    "_adaptive_avg_pool2d max_pool2d_with_indices max_pool3d_with_indices index_add scatter_add".split()
)
# Pointwise to torch, and nothing is computed.
COPIES = frozenset({"clone", "positive"})
SPECIAL = frozenset(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh erf erfc pow sigmoid gelu silu mish "
    "softplus elu selu celu logsumexp _softmax _log_softmax log_sigmoid_forward".split()
)


class _Estimate(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees every operator that torch's own counter has no formula for."""

    def __init__(self, known: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._known = known
        self.operations: Counter[str] = Counter()
        self.special = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        packet = func._overloadpacket
        if packet not in self._known:
            self._count(packet.__name__.removesuffix("_"), func.tags, [*args, *(kwargs or {}).values()], result)
        return result

    def _count(self, name: str, tags: Any, given: list[Any], result: Any) -> None:
        size = max(_elements(given), _elements([result]))
        rate = SEVERAL.get(name) or int(_computes(name, tags))
        if rate and _floats([result]):
            self.operations[name] += rate * size
            self.special += size if name in SPECIAL else 0


def _computes(name: str, tags: Any) -> bool:
    return name not in COPIES and (torch.Tag.pointwise in tags or name in ONE_EACH)


def _tensors(values: list[Any]) -> list[torch.Tensor]:
    flat = [item for value in values for item in (value if isinstance(value, list | tuple) else [value])]
    return [item for item in flat if isinstance(item, torch.Tensor)]


def _elements(values: list[Any]) -> int:
    return max((tensor.numel() for tensor in _tensors(values)), default=0)


def _floats(values: list[Any]) -> bool:
    return any(tensor.is_floating_point() for tensor in _tensors(values))


def _attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    return int(sdpa_flop_count(query, key, value))  # type: ignore[no-untyped-call]


CPU_ATTENTION = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


def count(call: Callable[[], Any]) -> dict[str, Any]:
    """Runs a computation and says how many operations it asked for."""
    formulas = FlopCounterMode(display=False, custom_mapping={CPU_ATTENTION: _attention})
    estimate = _Estimate(formulas.flop_registry)
    with estimate, formulas:
        call()
    matrix = {op.__name__: int(number) for op, number in formulas.get_flop_counts().get("Global", {}).items()}
    return {
        "matrix": sum(matrix.values()),
        "elementwise": sum(estimate.operations.values()),
        "special": estimate.special,
        "by_operator": matrix | dict(estimate.operations),
    }
