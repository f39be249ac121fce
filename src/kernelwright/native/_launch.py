"""Turns the signature of a SYCL kernel into a Python object that checks sizes and arguments and launches it.

As in a plain call, what depends on the signature is decided once, and what is wrong is worked out only then.
"""

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

from kernelwright.native._call import argument_type, converters_of, unsupported
from kernelwright.native._errors import LaunchError, NativeCallError
from kernelwright.native._signatures import Signature

# Runs a kernel over a range: arguments by address, dimensions, global and local sizes. Says why it failed, or None.
Launch = Callable[[Any, int, Any, Any], bytes | None]
Sizes = tuple[int, ...]
LARGEST_GROUP = 8192


class Kernel:
    """A SYCL kernel, launched over a range of work-items: `lib.softmax[(global,), (local,)](x, y, rows, cols)`.

    Sizes are those of a SYCL `nd_range`, one number a dimension; for one dimension plain numbers do. A launch has
    ended when the call returns. Sizes and arguments that do not fit raise NativeCallError before anything runs.
    """

    def __init__(self, signature: Signature, launch: Launch) -> None:
        self._signature, self._launch = signature, launch
        self._fault = unsupported(signature)
        self._converters = () if self._fault else converters_of(signature)
        self._block = None if self._fault else block_of(signature)
        self.__name__ = signature.name
        self.__doc__ = str(signature)

    def __repr__(self) -> str:
        return f"<SYCL kernel: {self._signature}>"

    def __call__(self, *values: Any) -> None:
        name = self.__name__
        raise NativeCallError(f"{name} needs a range: {name}[(global,), (local,)](...), one number a dimension")

    def __getitem__(self, sizes: Any) -> Callable[..., None]:
        whole, group = self._range(sizes)
        return lambda *values: self._run(whole, group, values)

    def _run(self, whole: Sizes, group: Sizes, values: Sequence[Any]) -> None:
        if self._block is None:
            raise NativeCallError(str(self._fault))
        if len(values) != len(self._converters):
            raise NativeCallError(f"{self._signature} takes {len(self._converters)} arguments, {len(values)} given")
        arguments = self._block(*[convert(value) for convert, value in zip(self._converters, values, strict=True)])
        fault = self._launch(arguments, len(whole), _sizes(whole), _sizes(group))
        if fault:
            raise LaunchError(f"{self.__name__} over {whole} in groups of {group}: {fault.decode(errors='replace')}")

    def _range(self, sizes: Any) -> tuple[Sizes, Sizes]:
        if not isinstance(sizes, tuple) or len(sizes) != 2:
            raise self._explain(f"takes two sizes, [(global,), (local,)], not {sizes!r}")
        whole, group = (self._numbers(size) for size in sizes)
        for dimension, (all_of_it, one) in enumerate(zip(whole, group, strict=True)):
            if all_of_it % one:
                room = math.ceil(all_of_it / one) * one
                raise self._explain(
                    f"cannot divide {all_of_it} work-items into groups of {one} (dimension {dimension}); "
                    f"ask for {room} and let the kernel leave out the rest"
                )
        if math.prod(group) > LARGEST_GROUP:
            raise self._explain(f"has groups of {math.prod(group)} work-items; at most {LARGEST_GROUP} are possible")
        return whole, group

    def _numbers(self, size: Any) -> Sizes:
        numbers = size if isinstance(size, tuple) else (size,)
        if len(numbers) != self._signature.dimensions:
            raise self._explain(f"has {self._signature.dimensions} dimensions, {len(numbers)} given: {size!r}")
        if not all(type(number) is int and number > 0 for number in numbers):
            raise self._explain(f"takes positive ints as sizes, not {size!r}")
        return numbers

    def _explain(self, fault: str) -> NativeCallError:
        return NativeCallError(f"{self.__name__} {fault}")


def block_of(signature: Signature) -> type[ctypes.Structure]:
    """The arguments of one launch, one behind the other."""
    fields = [(f"a{index}", argument_type(parameter)) for index, parameter in enumerate(signature.parameters)]
    return cast(type[ctypes.Structure], type("Arguments", (ctypes.Structure,), {"_fields_": fields}))


def layout_of(signature: Signature) -> tuple[Any, Any]:
    """Where each argument stands in the block, and its bytes: none for a pointer, which is set in another way."""
    block, number = block_of(signature), len(signature.parameters)
    offsets = [getattr(block, f"a{index}").offset for index in range(number)]
    sizes = [0 if p.type.pointer else ctypes.sizeof(argument_type(p)) for p in signature.parameters]
    return (ctypes.c_uint32 * number)(*offsets), (ctypes.c_uint32 * number)(*sizes)


def _sizes(numbers: Sizes) -> Any:
    """SYCL's last dimension runs fastest, the driver's first."""
    return (ctypes.c_size_t * len(numbers))(*reversed(numbers))
