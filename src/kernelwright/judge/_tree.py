"""Nested arguments and results as JSON, with tensors taken out as numbered leaves.

Knows lists, tuples, dicts and plain values; anything else is named by its type and travels no further.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Tree = dict[str, Any]


def encode(value: Any, is_tensor: Callable[[Any], bool], leaves: list[Any]) -> Tree:
    if is_tensor(value):
        leaves.append(value)
        return {"t": "tensor", "i": len(leaves) - 1}
    if isinstance(value, bool | int | float | str) or value is None:
        return {"t": "value", "v": value}
    if isinstance(value, list | tuple):
        items = [encode(item, is_tensor, leaves) for item in value]
        return {"t": "tuple" if isinstance(value, tuple) else "list", "items": items}
    if isinstance(value, dict):
        pairs = [[str(key), encode(item, is_tensor, leaves)] for key, item in value.items()]
        return {"t": "dict", "items": pairs}
    return {"t": "foreign", "type": _name(value)}


def _name(value: Any) -> str:
    """What a value is that cannot travel; of a tensor that is no more than one, where it is and how it lies."""
    name = type(value).__name__
    return f"{name} on {value.device} ({value.layout})" if name == "Tensor" and hasattr(value, "layout") else name


def decode(tree: Tree, leaves: Sequence[Any]) -> Any:
    kind = tree["t"]
    if kind == "tensor":
        return leaves[tree["i"]]
    if kind == "value":
        return tree["v"]
    if kind == "dict":
        return {key: decode(item, leaves) for key, item in tree["items"]}
    items = [decode(item, leaves) for item in tree["items"]]
    return tuple(items) if kind == "tuple" else items


def foreign(tree: Tree) -> str | None:
    """The type of the first part that is neither tensor nor plain value, if there is one."""
    if tree["t"] == "foreign":
        return str(tree["type"])
    if tree["t"] in ("list", "tuple"):
        return next(filter(None, (foreign(item) for item in tree["items"])), None)
    if tree["t"] == "dict":
        return next(filter(None, (foreign(item) for _, item in tree["items"])), None)
    return None


def outline(tree: Tree) -> str:
    """The shape of a tree in words a person reads: `(tensor, {mask: tensor})`."""
    kind = tree["t"]
    if kind == "tensor":
        return "tensor"
    if kind == "value":
        return repr(tree["v"])
    if kind == "foreign":
        return str(tree["type"])
    if kind == "dict":
        return "{" + ", ".join(f"{key}: {outline(item)}" for key, item in tree["items"]) + "}"
    return "(" + ", ".join(outline(item) for item in tree["items"]) + ")"
