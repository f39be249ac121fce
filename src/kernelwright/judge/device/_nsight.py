"""What the GPU counted during one call, by Nsight Compute (`ncu`), where it is installed and may count."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kernelwright.judge.device._inspection import REPORT, Tool, at
from kernelwright.judge.device._programs import installed

STALLS = ("long_scoreboard", "barrier", "mio_throttle", "short_scoreboard", "lg_throttle", "math_pipe_throttle")
# Our words for Nsight's.
METRICS = {
    "seconds": "gpu__time_duration.sum",
    "bytes_read": "dram__bytes_read.sum",
    "bytes_written": "dram__bytes_write.sum",
    "memory_busy": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "compute_busy": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "tensor_busy": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "warps_active": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue_active": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "load_sector_use": "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "store_sector_use": "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "l1_hits": "l1tex__t_sector_hit_rate.pct",
    "l2_hits": "lts__t_sector_hit_rate.pct",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
} | {f"stall_{name}": f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio" for name in STALLS}
SUMMED = frozenset({"seconds", "bytes_read", "bytes_written", "bank_conflicts"})
NANO = 1e-9
MOST_LAUNCHES = 32
# Clocks stay as they are; only what the called program marks is looked at.
OPTIONS = (
    *("--csv", "--page", "raw", "--print-units", "base", "--log-file", REPORT),
    *("--clock-control", "none", "--profile-from-start", "off", "--launch-count", str(MOST_LAUNCHES)),
)
# Where the tool keeps its versions, beside the toolkit.
FOLDERS = ("/opt/nvidia/nsight-compute",)


class NoCounters(Exception):
    """Why there are none, in one line."""


def find() -> Tool:
    """Nsight Compute's command line. Raises NoCounters where it is not installed."""
    found = installed("ncu")
    if found is None:
        raise NoCounters("ncu (Nsight Compute) is not installed")
    folders = tuple(folder for folder in FOLDERS if Path(folder).is_dir())
    return Tool("ncu", (found, *OPTIONS, "--metrics", ",".join(METRICS.values())), (*at(Path(found)), *folders))


def read(report: str) -> list[dict[str, Any]]:
    """The launches of a report, each with its name and what was counted. Raises NoCounters where there are none."""
    lines = report.splitlines()
    table = [line for line in lines if line.startswith('"')]
    if len(table) < 3:
        raise NoCounters(f"ncu counts nothing here: {_reason(lines)}")
    names, units, *rows = csv.reader(io.StringIO("\n".join(table)))
    del units  # asked for in base units
    return [_launch(dict(zip(names, row, strict=False))) for row in rows]


def _reason(lines: list[str]) -> str:
    """What ncu said went wrong. Its first line about it often says no more than that something did."""
    said = [line.removeprefix("==ERROR==").strip() for line in lines if line.startswith("==ERROR==")]
    told = [line for line in said if not line.startswith("An error was reported")]
    return next(iter(told or said), "it wrote nothing")[:300]


def _launch(row: Mapping[str, str]) -> dict[str, Any]:
    values = {ours: _number(row.get(theirs, "")) for ours, theirs in METRICS.items()}
    counted: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    if "seconds" in counted:
        counted["seconds"] *= NANO
    return {"name": row.get("Kernel Name", "")[:300], **counted}


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def by_kernel(launches: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What was counted, by kernel: sums of bytes and seconds, means by time of the rest."""
    return {
        name: _together([launch for launch in launches if launch["name"] == name])
        for name in dict.fromkeys(launch["name"] for launch in launches)
    }


def _together(launches: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"launches": len(launches)}
    for name in METRICS:
        values = list(_weighted(launches, name))
        if values and name in SUMMED:
            found[name] = sum(value for value, _ in values)
        elif values:
            found[name] = sum(v * w for v, w in values) / max(1e-30, sum(w for _, w in values))
    return found


def _weighted(launches: list[dict[str, Any]], name: str) -> Iterator[tuple[float, float]]:
    yield from ((launch[name], launch.get("seconds", 1.0)) for launch in launches if name in launch)
