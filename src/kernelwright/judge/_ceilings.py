"""How fast this machine can move bytes and multiply at all, measured once and kept.

Bytes are the floor under every believable time. Operations are only something to compare with: algebra can avoid them.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelwright import native
from kernelwright.judge._channel import Message
from kernelwright.judge._process import Template
from kernelwright.judge._status import InfraError

SIZES = tuple(1 << power for power in range(12, 29, 2))
SECONDS, FLOPS_SECONDS = 0.05, 0.2
# Below this share of the best possible time a measurement is not believed. Ceilings are measured on machines
# that others use too; the slack is for the times when they had more of it than we do.
SLACK = 0.6

# All cores read their parts of a buffer of the given size, again and again; the best pass counts.
SOURCE = r"""
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <omp.h>
#include <vector>

typedef uint64_t lanes __attribute__((vector_size(64)));

extern "C" double kernelwright_bandwidth(size_t bytes, double seconds) {
    size_t count = bytes / sizeof(lanes);
    if (count < 1) count = 1;
    lanes *data = static_cast<lanes *>(aligned_alloc(64, count * sizeof(lanes)));
    for (size_t i = 0; i < count; i++) data[i] = lanes{} + i;
    int repeats = bytes < (1u << 20) ? (1 << 20) / bytes : 1;
    double best = 0, total = 0;
    volatile uint64_t sink = 0;
    while (total < seconds) {
        auto start = std::chrono::steady_clock::now();
        uint64_t sum = 0;
        #pragma omp parallel reduction(+ : sum)
        {
            lanes a{}, b{}, c{}, d{};
            size_t part = count / omp_get_num_threads(), first = part * omp_get_thread_num();
            for (int r = 0; r < repeats; r++) {
                size_t i = first;
                for (; i + 4 <= first + part; i += 4) {
                    a += data[i]; b ^= data[i + 1]; c += data[i + 2]; d ^= data[i + 3];
                }
                asm volatile("" ::: "memory");
            }
            lanes all = a + b + c + d;
            for (int k = 0; k < 8; k++) sum += all[k];
        }
        sink = sink + sum;
        double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        double rate = double(count) * sizeof(lanes) * repeats / took;
        if (rate > best) best = rate;
        total += took;
    }
    free(data);
    return best;
}
"""

# All cores multiply and add, in as many independent chains as hide the latency; the best pass counts.
FLOPS_SOURCE = r"""
#include <chrono>
#include <omp.h>

typedef float lanes __attribute__((vector_size(__BIGGEST_ALIGNMENT__)));
constexpr int CHAINS = 12, STEPS = 20000;

extern "C" double kernelwright_flops(double seconds) {
    volatile float factor = 0.999f, term = 0.001f, sink = 0;
    double best = 0, total = 0;
    while (total < seconds) {
        int threads = 1;
        float sum = 0;
        auto start = std::chrono::steady_clock::now();
        #pragma omp parallel reduction(+ : sum)
        {
            lanes a = lanes{} + factor, b = lanes{} + term, chain[CHAINS];
            for (int k = 0; k < CHAINS; k++) chain[k] = lanes{} + float(k);
            for (int step = 0; step < STEPS; step++)
                #pragma GCC unroll 12
                for (int k = 0; k < CHAINS; k++) chain[k] = chain[k] * a + b;
            for (int k = 0; k < CHAINS; k++) sum += chain[k][0];
            #pragma omp single
            threads = omp_get_num_threads();
        }
        sink = sink + sum;
        double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        double done = 2.0 * threads * STEPS * CHAINS * (sizeof(lanes) / sizeof(float));
        if (done / took > best) best = done / took;
        total += took;
    }
    return best;
}
"""


class Ceilings:
    """Bytes a second by size of the working set."""

    def __init__(self, bytes_per_second: dict[int, float]) -> None:
        self.bytes_per_second = bytes_per_second

    def floor_seconds(self, bytes_moved: float) -> float:
        """The shortest time in which this many bytes could move here, taking the fastest cache they might be in."""
        fitting = [speed for size, speed in self.bytes_per_second.items() if 2 * size >= bytes_moved]
        fastest = max(fitting or [self.bytes_per_second[max(self.bytes_per_second)]])
        return bytes_moved / fastest


def _machine_key() -> str:
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model} x{len(os.sched_getaffinity(0))}"


def load(template: Template) -> Ceilings:
    """This machine's bytes a second, from the cache or measured now."""
    kept = _kept(_machine_key(), lambda: _measure(template))
    return Ceilings({int(size): float(speed) for size, speed in kept.items()})


def raise_again(template: Template) -> Ceilings:
    """Measured once more, the better of both kept: it may have been done when others used the machine."""
    known, now = load(template).bytes_per_second, _measure(template)
    best = {size: max(speed, known[int(size)]) for size, speed in now.items()}
    _keep(_machine_key(), best)
    return load(template)


def load_flops(template: Template) -> float:
    """This machine's fp32 operations a second in fused multiply-adds, from the cache or measured now."""
    kept = _kept(f"{_machine_key()}, flops", lambda: _measure_flops(template))
    return float(kept["fp32"])


def load_device(name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What the device of this name can do at best, from the cache or measured now."""
    return _kept(f"{name}, device", measure)


def _kept(key: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    if key not in _read():
        _keep(key, measure())
    return _read()[key]


def _keep(key: str, found: dict[str, Any]) -> None:
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({**_read(), key: found}, indent=1))
    os.replace(fresh, path)


def _path() -> Path:
    return native.cache_dir() / "ceilings.json"


def _read() -> dict[str, dict[str, Any]]:
    try:
        kept = json.loads(_path().read_text())
        return kept if isinstance(kept, dict) else {}
    except (OSError, ValueError):
        return {}


def _measure(template: Template) -> dict[str, float]:
    order = {"op": "ceilings", "sizes": list(SIZES), "seconds": SECONDS}
    speeds = _ask(template, SOURCE, order)["bytes_per_second"]
    return {str(size): float(speed) for size, speed in speeds.items()}


def _measure_flops(template: Template) -> dict[str, float]:
    answer = _ask(template, FLOPS_SOURCE, {"op": "flop_ceiling", "seconds": FLOPS_SECONDS})
    return {"fp32": float(answer["flops_per_second"])}


def _ask(template: Template, text: str, order: Message) -> Message:
    source = native.Source(language="cpp", text=text, flags=())
    library = native.BuildCache(native.cache_dir() / "build").get(source)
    worker = template.fork("reference", cage=None)
    try:
        answer = worker.ask({**order, "library": str(library)}, timeout=60.0)
    finally:
        worker.finish()
    if answer["op"] != "measured":
        raise InfraError(f"the machine's ceilings could not be measured: {answer.get('message')}")
    return answer
