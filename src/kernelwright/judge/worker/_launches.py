"""What ran on a device in a call, launch by launch, as the driver's tracing tells it; and what Triton compiled."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from kernelwright.judge._channel import Message

MOST_LAUNCHES, LONGEST_NAME = 4096, 300
MOST_FILES, LARGEST_FILE = 64, 16 << 20
# What a trace calls work on a device.
KINDS = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})


def record(call: Callable[[], Any], settle: Callable[[], None], *, on_gpu: bool) -> list[Message]:
    """The launches of a call."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if on_gpu:
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as profile:
        call()
        settle()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        return launches(json.loads(path.read_text(errors="replace")))


def launches(trace: dict[str, Any]) -> list[Message]:
    """The launches in a trace, in order."""
    events = [event for event in trace.get("traceEvents", []) if event.get("cat") in KINDS and "dur" in event]
    return [_launch(event) for event in sorted(events, key=lambda event: float(event["ts"]))][:MOST_LAUNCHES]


def _launch(event: dict[str, Any]) -> Message:
    about = event.get("args", {})
    return {
        "name": str(event["name"])[:LONGEST_NAME],
        "kernel": event["cat"] == "kernel",
        "start_us": float(event["ts"]),
        "seconds": float(event["dur"]) / 1e6,
        "grid": about.get("grid", []),
        "block": about.get("block", []),
        "registers": about.get("registers per thread", 0),
        "shared_bytes": about.get("shared memory", 0),
    }


def compiled(folder: Path, endings: Sequence[str]) -> tuple[list[Message], int]:
    """What Triton keeps of its kernels in files with these endings, the first the most wanted.

    Names, endings and lengths, and a file with all of them in a row.
    """
    found: list[Message] = []
    with tempfile.TemporaryFile() as joined:
        for path in _kept(folder, endings):
            content = path.read_bytes()[:LARGEST_FILE]
            joined.write(content)
            found.append({"name": path.stem, "ending": path.suffix, "nbytes": len(content)})
        joined.flush()
        return found, os.dup(joined.fileno())


def _kept(folder: Path, endings: Sequence[str]) -> Iterable[Path]:
    paths = [path for path in folder.rglob("*") if path.suffix in endings and path.is_file()]
    return sorted(paths, key=lambda path: (endings.index(path.suffix), path.name))[:MOST_FILES]


def triton_cache() -> Path:
    return Path(os.environ.get("TRITON_CACHE_DIR") or Path(os.environ["HOME"]) / ".triton" / "cache")
