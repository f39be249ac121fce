"""The machine in words, from what a verdict and a profile say of it."""

from collections.abc import Mapping
from typing import Any

from kernelwright.prompts._parts import Hardware

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def measured(
    machine: Mapping[str, Any], facts: Mapping[str, Any] | None = None, *, on_device: bool = False
) -> Hardware:
    """From `machine` of a verdict and, where there is one, `facts` of a profile: what was measured comes first.

    `on_device`: kernels are for its GPU, if it has one, whether or not anything was measured there yet.
    """
    facts = facts or {}
    if "device" in facts or (on_device and _shown(machine.get("gpu"))):
        device = facts.get("device", {})
        return Hardware(str(device.get("name", machine.get("gpu"))), _of_device(device, machine))
    return Hardware(str(machine.get("cpu", "unknown processor")), _of_processor(facts, machine))


def _of_processor(facts: Mapping[str, Any], machine: Mapping[str, Any]) -> dict[str, str]:
    ceilings = facts.get("ceilings", {})
    speeds = [
        f"{_large(speed)}B/s for {_large(int(size))}B" for size, speed in ceilings.get("bytes_per_second", {}).items()
    ]
    found = {
        "cores": _shown(machine.get("cores")),
        "vector registers": _shown(facts.get("vector_bits"), " bits"),
        "reading, measured": ", ".join(speeds),
        "fp32 multiply-adds, measured": _rate(ceilings.get("fp32_flops_per_second")),
        "memory": _shown(machine.get("memory_gb"), " GB"),
        "compiler": _shown(machine.get("compiler")),
    }
    return {name: value for name, value in found.items() if value}


def _of_device(device: Mapping[str, Any], machine: Mapping[str, Any]) -> dict[str, str]:
    rates = {f"products in {unit}, measured": _rate(rate) for unit, rate in device.get("rates", {}).items()}
    limits = {name.replace("_", " "): _shown(value) for name, value in device.get("limits", {}).items()}
    found = {
        "memory, measured": _rate(device.get("bytes_per_second"), "B/s"),
        **rates,
        **limits,
        "triton": _shown(machine.get("triton")),
    }
    return {name: value for name, value in found.items() if value}


def _shown(value: object, unit: str = "") -> str:
    return "" if value in (None, "", "absent") else f"{value}{unit}"


def _rate(value: float | None, unit: str = "FLOP/s") -> str:
    return "" if not value else f"{_large(value)}{unit}"


def _large(value: float) -> str:
    for size, letter in _UNITS:
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g} "
