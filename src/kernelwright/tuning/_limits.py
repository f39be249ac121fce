"""What this machine can hold, by the names that constraints may use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kernelwright import native

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
KIBIBYTE = 1024
# The widest registers of a processor that has these abilities, widest first.
VECTORS = {"avx512f": 64, "avx": 32}
NARROWEST_VECTOR = 16
# Shared memory that one block may have, in KiB, by compute capability; the last known one below it otherwise.
SHARED_KIB = {(7, 0): 96, (7, 5): 64, (8, 0): 163, (8, 6): 99, (8, 7): 163, (8, 9): 99, (9, 0): 227, (12, 0): 99}
LEAST_SHARED_KIB = 48
MOST_THREADS, WARP = 1024, 32

LIMITS = {
    "CORES": "cores that may be used",
    "LINE_BYTES": "bytes of a cache line",
    "L1_BYTES": "bytes of a core's first data cache",
    "L2_BYTES": "bytes of a core's second cache",
    "L3_BYTES": "bytes of the third cache",
    "VECTOR_BYTES": "bytes of the widest vector register",
    "SMEM_BYTES": "bytes of shared memory that a block may have",
    "BLOCK_THREADS": "threads that a block may have",
    "WARP": "threads of a warp",
}


def limits_here() -> dict[str, int]:
    """What is known of this machine; what it does not have or does not tell is left out."""
    return {"CORES": len(os.sched_getaffinity(0)), **_caches(CACHES), "VECTOR_BYTES": _vector(), **_gpu(native.gpu())}


def _caches(folder: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for cache in sorted(folder.glob("index*")):
        facts = {name: _read(cache / name) for name in ("level", "type", "size", "coherency_line_size")}
        if facts["type"] == "Instruction" or not facts["size"].endswith("K"):
            continue
        found[f"L{facts['level']}_BYTES"] = int(facts["size"][:-1]) * KIBIBYTE
        found.setdefault("LINE_BYTES", int(facts["coherency_line_size"] or 0))
    return {name: size for name, size in found.items() if name in LIMITS and size}


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _vector() -> int:
    abilities = native.cpu_identity().split()
    return next((size for ability, size in VECTORS.items() if ability in abilities), NARROWEST_VECTOR)


def _gpu(here: native.Gpu | None) -> Mapping[str, int]:
    if here is None:
        return {}
    older = [capability for capability in SHARED_KIB if capability <= here.capability]
    shared = SHARED_KIB[max(older)] if older else LEAST_SHARED_KIB
    return {"SMEM_BYTES": shared * KIBIBYTE, "BLOCK_THREADS": MOST_THREADS, "WARP": WARP}
