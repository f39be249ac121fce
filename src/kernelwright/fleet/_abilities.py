"""What a machine can build and time, in words that can be sent ahead of it."""

from __future__ import annotations

import functools
import hashlib
import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kernelwright import backends, native
from kernelwright.fleet._device import device_name, label
from kernelwright.fleet._error import FleetError
from kernelwright.fleet._job import Job, judge_version
from kernelwright.judge import machine

PYTHON = "python"
NATIVE = ("cpp", "sycl")
PROBE = 'extern "C" int probe() { return 0; }'
PREFIX, BUILD, TIME = "kernelwright-", "build-", "time-"
LABELS = ("node", "device", "toolchain", "judge")
# What a node has one of: a place where one job at a time is timed, or one where others' are built.
SEAT, BENCH = "kernelwright-seat", "kernelwright-bench"


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What a node offers.

    Attributes:
        node: A name for people.
        device: What is timed there, such as `nvidia-h200` or `amd-epyc-7763-2-cores`. Devices of one name are
            interchangeable, and times of different ones are not compared.
        builds: Languages that it compiles. `times`: targets that it judges and times, such as `cpp` or `cuda-sm_90`.
        toolchain: Equal where equal texts come to equal machine code.
        judge: The version of the judge.
    """

    node: str
    device: str
    builds: tuple[str, ...]
    times: tuple[str, ...]
    toolchain: str
    judge: str

    def fits(self, job: Job) -> bool:
        """Whether it can judge this job, on the device that is asked for."""
        return job.device in (None, self.device) and any(_is_of(language(job), target) for target in self.times)

    @property
    def has_gpu(self) -> bool:
        return any("-sm_" in target for target in self.times)

    def builds_for(self, other: Abilities, job: Job) -> bool:
        """Whether what it compiles for this job is what the other would."""
        return language(job) in self.builds and self.toolchain == other.toolchain

    def labels(self) -> dict[str, str]:
        return {f"{PREFIX}{name}": getattr(self, name) for name in LABELS}

    def resources(self) -> dict[str, float]:
        """As a cluster counts them: one job at a time for each."""
        place = SEAT if self.times else BENCH
        return (
            {place: 1.0}
            | {f"{BUILD}{name}": 1.0 for name in self.builds}
            | {f"{TIME}{name}": 1.0 for name in self.times}
        )

    @classmethod
    def told_by(cls, labels: Mapping[str, str], resources: Iterable[str]) -> Abilities | None:
        """What a node of a cluster offers; None where it is none of ours."""
        found = {name: labels.get(f"{PREFIX}{name}") for name in LABELS}
        if any(value is None for value in found.values()):
            return None
        return cls(**found, builds=_named(BUILD, resources), times=_named(TIME, resources))  # type: ignore[arg-type]

    def __str__(self) -> str:
        does = [f"times {', '.join(self.times)}"] if self.times else []
        does += [f"builds {', '.join(self.builds)}"] if self.builds else []
        return f"{self.node} ({self.device}) {' and '.join(does) or 'does nothing'}"


def abilities(offer: Sequence[str] | None = None, *, only_build: bool = False, node: str = "") -> Abilities:
    """This machine's. `offer`: no more than these languages. Raises FleetError where one of them does not work here."""
    works = {name: backends.get(name).available() for name in _offered(offer)}
    for name in offer or ():
        if not works[name].ok:
            raise FleetError(f"this node cannot do {name}: {works[name].detail}", works[name].fix)
    usable = [name for name, available in works.items() if available.ok]
    builds = tuple(name for name in usable if name != PYTHON)
    return Abilities(
        node=label(node or f"{socket.gethostname()}-{os.getpid()}"),
        device=device_name(machine()),
        builds=builds,
        times=() if only_build else tuple(map(_target, usable)),
        toolchain=_toolchain(builds),
        judge=judge_version(),
    )


def _offered(offer: Sequence[str] | None) -> Sequence[str]:
    known = backends.names()
    for name in offer or ():
        if name not in known:
            raise FleetError(f"there is no backend {name!r} to offer", f"say some of: {', '.join(known)}")
    return known if offer is None else offer


def language(job: Job) -> str:
    return job.backend or _detected(job.source)


@functools.lru_cache(maxsize=1024)
def _detected(source: str) -> str:
    """A job that waits is looked at often."""
    return backends.detect(source)


def _target(name: str) -> str:
    """A language, and what its kernels run on where that is not plain."""
    gpu = backends.usable_gpu()
    if backends.get(name).for_device:
        return f"{name}-sm_{gpu.capability[0]}{gpu.capability[1]}" if gpu else f"{name}-untimed"
    return f"{name}-cpu" if name == "sycl" else name


def _is_of(name: str, target: str) -> bool:
    return target.partition("-")[0] == name


def _toolchain(builds: Sequence[str]) -> str:
    """What the build cache tells builds apart by, for a text in each language that names its compiler in its key."""
    keys = [native.build_key(native.Source(name, PROBE)) for name in builds if name in NATIVE]
    return hashlib.sha256("".join(keys).encode()).hexdigest()[:16] if keys else "absent"


def _named(prefix: str, resources: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name.removeprefix(prefix) for name in resources if name.startswith(prefix)))
