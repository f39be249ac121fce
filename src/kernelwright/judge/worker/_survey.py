"""Which torch operators compute in a call, and on how many elements: what can be said without a clock."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

# Operators that make, move, fill or view tensors and compute nothing.
MOVES = frozenset(
    "empty empty_like empty_strided new_empty new_empty_strided new_zeros new_full new_ones zeros zeros_like zero_ "
    "ones ones_like full full_like fill_ copy_ _to_copy to clone contiguous cat stack cpu cuda set_ resize_ arange "
    "scalar_tensor view _unsafe_view reshape _reshape_alias as_strided as_strided_ expand expand_as permute transpose "
    "t detach detach_ alias slice select squeeze unsqueeze unbind split split_with_sizes chunk narrow unfold flatten "
    "movedim swapaxes numpy_T diagonal view_as view_as_real view_as_complex reshape_as real lift_fresh item "
    "_local_scalar_dense is_nonzero is_pinned pin_memory resolve_conj resolve_neg result_type data_ptr stride size "
    "constant_pad_nd pad".split()
)
PREFIX = "aten::"


def survey(call: Callable[[], Any]) -> dict[str, int]:
    """Elements that computing operators read during a call, by operator; what one does inside another counts once."""
    with torch.autograd.profiler.profile(record_shapes=True) as profile:
        call()
    found: Counter[str] = Counter()
    for event in profile.function_events:
        if event.cpu_parent is None:
            found.update(_work(event))
    return dict(found)


def _work(event: Any) -> Counter[str]:
    """An operator stands for those it calls, unless they read more than it does itself."""
    inside: Counter[str] = Counter()
    for child in event.cpu_children:
        inside.update(_work(child))
    name = event.name.removeprefix(PREFIX)
    own = _elements(event) if event.name.startswith(PREFIX) and name not in MOVES else 0
    return Counter({name: own}) if own > inside.total() else inside


def _elements(event: Any) -> int:
    return sum(math.prod(shape) for shape in event.input_shapes or () if shape)
