"""The operators of a running program, as torch's own profiler sees them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import torch

# A long program is watched for so long: what the profiler notes of an operator takes memory until it stops.
SECONDS = 30.0
MOST = 40
DTYPES = {"float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16"}
DTYPES |= {"long int": "int64", "long": "int64", "int": "int32", "unsigned char": "uint8", "bool": "bool"}


class Profiler:
    """Watches from `running` until its end, or until `SECONDS` have passed and a module is called."""

    def __init__(self) -> None:
        self._profile = torch.autograd.profiler.profile(record_shapes=True)
        self._ends = 0.0
        self.seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        plain = torch.nn.Module.__call__
        torch.nn.Module.__call__ = self._looking_at_the_clock(plain)  # type: ignore[method-assign]
        self._profile.__enter__()  # type: ignore[no-untyped-call]
        self._started = perf_counter()
        self._ends = self._started + SECONDS
        try:
            yield
        finally:
            torch.nn.Module.__call__ = plain  # type: ignore[method-assign]
            self._stop()

    def _looking_at_the_clock(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if perf_counter() > self._ends:
                self._stop()
            return plain(module, *args, **kwargs)

        return call

    def _stop(self) -> None:
        if not self.seconds:
            self.seconds, self._ends = perf_counter() - self._started, float("inf")
            self._profile.__exit__(None, None, None)  # type: ignore[no-untyped-call]

    def operators(self) -> list[dict[str, Any]]:
        """By name, shapes and dtypes, those that took longest first; seconds are their own."""
        found: dict[Any, list[float]] = defaultdict(lambda: [0, 0.0])
        for event in self._profile.function_events or ():
            if event.name.startswith("aten::"):
                tally = found[event.name.removeprefix("aten::"), _tensors(event)]
                tally[0] += 1
                tally[1] += _own_seconds(event)
        longest = sorted(found.items(), key=lambda item: -item[1][1])
        return [
            {"name": name, "tensors": tensors, "calls": calls, "seconds": seconds}
            for (name, tensors), (calls, seconds) in longest[:MOST]
        ]


def _own_seconds(event: Any) -> float:
    return float(event.self_cpu_time_total + event.self_device_time_total) / 1e6


def _tensors(event: Any) -> str:
    """`float32 8x128x256, float32 256`"""
    shapes = event.input_shapes or ()
    dtypes = getattr(event, "input_dtypes", None) or [""] * len(shapes)
    named = ((DTYPES.get(dtype, dtype), shape) for dtype, shape in zip(dtypes, shapes, strict=False) if shape)
    return ", ".join(f"{dtype} {'x'.join(map(str, shape))}".strip() for dtype, shape in named)
