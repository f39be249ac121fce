"""Turns a signature into a Python function that checks its arguments and calls the C one.

All decisions that depend on the signature are made once, when the function is bound; a call walks a tuple of
converters. A converter's first lines are the good case; what is wrong is worked out only when something is.
"""

import ctypes
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from kernelwright.native._errors import NativeCallError
from kernelwright.native._signatures import Parameter, Signature

Converter = Callable[[Any], Any]
Explain = Callable[[str], NativeCallError]

_CTYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "char": ctypes.c_byte,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    **{f"{sign}{bits}": getattr(ctypes, f"c_{sign}{bits}") for sign in ("int", "uint") for bits in (8, 16, 32, 64)},
}
# Tensor types whose data may stand behind a pointer to the element. Torch has few operations on unsigned
# types, so the signed type of the same width passes too; half precision is often handled as 16-bit words.
_DTYPES = {
    "bool": ("bool",),
    "char": ("int8", "uint8", "bool"),
    "float16": ("float16",),
    "bfloat16": ("bfloat16",),
    "float32": ("float32",),
    "float64": ("float64",),
    "int8": ("int8",),
    "int16": ("int16",),
    "int32": ("int32",),
    "int64": ("int64",),
    "uint8": ("uint8", "bool"),
    "uint16": ("uint16", "int16", "float16", "bfloat16"),
    "uint32": ("uint32", "int32"),
    "uint64": ("uint64", "int64"),
}
_CALLABLE_RETURNS = ("void", "integer", "float", "bool")


@dataclass(frozen=True)
class Memory:
    """Where the data behind pointers must lie: the tensor's attribute that says so, and what to do if it does not."""

    attribute: str
    advice: str


MAIN_MEMORY = Memory("is_cpu", "the code reads main memory, call .cpu() first")


def bind(signature: Signature, foreign: Any) -> Callable[..., Any]:
    """A Python function for the C function `foreign`; one that explains itself if Python cannot call it."""
    fault = unsupported(signature)
    call = refuse(fault) if fault else _call(signature, foreign)
    call.__name__ = call.__qualname__ = signature.name
    call.__doc__ = str(signature)
    return call


def unsupported(signature: Signature) -> str | None:
    if signature.returns.kind not in _CALLABLE_RETURNS:
        return (
            f"{signature.name} returns {signature.returns.spelling}; "
            "return void, an integer, float, double or bool, and write results through a pointer"
        )
    for parameter in signature.parameters:
        if parameter.type.kind in ("unknown", "void", "stream"):
            return (
                f"{signature.name}: parameter '{parameter.name}' has type {parameter.type.spelling}, "
                "which cannot be passed from Python; use a pointer, an integer, float, double or bool"
            )
    return None


def refuse(fault: str) -> Callable[..., Any]:
    def call(*values: Any) -> Any:
        raise NativeCallError(fault)

    return call


def _call(signature: Signature, foreign: Any) -> Callable[..., Any]:
    declare(signature, foreign)
    convert = converter(signature, MAIN_MEMORY)

    def call(*values: Any) -> Any:
        return foreign(*convert(values))

    return call


def declare(signature: Signature, foreign: Any) -> None:
    """Tells ctypes what the C function takes and returns."""
    foreign.argtypes = [argument_type(parameter) for parameter in signature.parameters]
    foreign.restype = _CTYPES.get(signature.returns.scalar or "")


def converter(signature: Signature, memory: Memory) -> Callable[[tuple[Any, ...]], list[Any]]:
    """What turns the arguments of a call into values for ctypes, or says which does not fit."""
    converters = tuple(_converter(signature, parameter, memory) for parameter in signature.parameters)
    count = len(converters)

    def convert(values: tuple[Any, ...]) -> list[Any]:
        if len(values) != count:
            raise NativeCallError(f"{signature} takes {count} arguments, {len(values)} given")
        return [turn(value) for turn, value in zip(converters, values, strict=True)]

    return convert


def argument_type(parameter: Parameter) -> Any:
    return ctypes.c_void_p if parameter.type.pointer else _CTYPES[parameter.type.scalar or ""]


def _converter(signature: Signature, parameter: Parameter, memory: Memory) -> Converter:
    def explain(fault: str) -> NativeCallError:
        where = f"{signature.name}: parameter '{parameter.name}' ({parameter.type.spelling})"
        return NativeCallError(f"{where} {fault}")

    if parameter.type.pointer:
        return _pointer(parameter.type.scalar, explain, memory)
    makers = {"integer": _integer, "float": _float, "bool": _bool}
    return makers[parameter.type.kind](parameter.type.scalar, explain)


# *** pointers ***


def _pointer(element: str | None, explain: Explain, memory: Memory) -> Converter:
    anything = element not in _DTYPES
    lies_there = operator.attrgetter(memory.attribute)

    def convert(value: Any) -> int | None:
        if value is None or type(value) is int:
            return value
        try:
            if lies_there(value) and value.is_contiguous() and (anything or value.dtype in _dtypes(element)):
                return value.data_ptr()  # type: ignore[no-any-return]
        except (AttributeError, RuntimeError, NotImplementedError):
            pass  # not a tensor, or one without plain storage: told apart below
        raise explain(_tensor_fault(value, element, memory))

    return convert


@functools.cache
def _dtypes(element: str | None) -> tuple[Any, ...]:
    """Tensor types that may be read as `element`; empty, and any will do, if it is void or unknown."""
    import torch

    return tuple(getattr(torch, name) for name in _DTYPES.get(element or "", ()))


def _tensor_fault(value: Any, element: str | None, memory: Memory) -> str:
    import torch

    if not isinstance(value, torch.Tensor):
        return f"got {_describe(value)}; pass a torch tensor, an address or None"
    if not getattr(value, memory.attribute):
        return f"got a tensor on {value.device}; {memory.advice}"
    accepted = _dtypes(element)
    if accepted and value.dtype not in accepted:
        wanted = " or ".join(map(str, accepted))
        return f"got a tensor of {value.dtype}, takes {wanted}; convert it or change the parameter's type"
    if value.layout is torch.strided and not value.is_contiguous():
        layout = f"shape {tuple(value.shape)}, strides {value.stride()}"
        return f"got a tensor that is not contiguous ({layout}); call .contiguous() first"
    return f"got a {type(value).__name__} of {value.layout}, which has no plain memory; pass a dense tensor"


def _describe(value: Any) -> str:
    text = repr(value) if isinstance(value, str | Real) else ""
    return f"{type(value).__name__} {text[:60]}".strip()


# *** scalars ***


def _integer(scalar: str | None, explain: Explain) -> Converter:
    low, high = _range(scalar or "")

    def convert(value: Any) -> int:
        if type(value) is int and low <= value <= high:
            return value
        if not isinstance(value, Integral):
            raise explain(f"got {_describe(value)}; pass an int{_item_hint(value)}")
        number = int(value)
        if not low <= number <= high:
            raise explain(f"got {number}, outside {low}..{high}; use a wider type")
        return number

    return convert


def _range(scalar: str) -> tuple[int, int]:
    bits = 8 * ctypes.sizeof(_CTYPES[scalar])
    if scalar == "char":
        return -128, 255
    return (0, 2**bits - 1) if scalar.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _float(scalar: str | None, explain: Explain) -> Converter:
    def convert(value: Any) -> float:
        if type(value) is float:
            return value
        if not isinstance(value, Real):
            raise explain(f"got {_describe(value)}; pass a float{_item_hint(value)}")
        try:
            return float(value)
        except OverflowError:
            raise explain("got an int too large for any float") from None

    return convert


def _bool(scalar: str | None, explain: Explain) -> Converter:
    def convert(value: Any) -> bool:
        if isinstance(value, Integral) and value in (0, 1):
            return bool(value)
        raise explain(f"got {_describe(value)}; pass True or False{_item_hint(value)}")

    return convert


def _item_hint(value: Any) -> str:
    return ", such as tensor.item()" if hasattr(value, "item") else ""
