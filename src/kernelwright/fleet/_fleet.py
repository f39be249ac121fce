"""The protocol, and how a fleet is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from kernelwright.fleet._error import FleetError
from kernelwright.fleet._here import Here
from kernelwright.fleet._job import Job, Result
from kernelwright.fleet._ray import local_ray, ray_cluster
from kernelwright.fleet._spool import Spool

HERE = "here"
SPOOL = "spool/"
LOCAL_RAY = "local-ray"
RAY = "ray://"


class Fleet(Protocol):
    """Where judging happens. Used by one thread; jobs may finish in another order than they came."""

    def submit(self, job: Job) -> None:
        """Has it judged, some time. The same job again is no second one."""

    def finished(self, timeout: float) -> Iterable[Result]:
        """What is finished; waits so many seconds for the first, and not at all where nothing is under way."""

    def close(self) -> None:
        """Takes nothing more on. What was submitted and is not finished has to be submitted again."""


def is_here(address: str) -> bool:
    """Whether this machine judges, and has to have what it takes."""
    return address == HERE or address.partition("/")[0] == LOCAL_RAY


def open_fleet(address: str) -> Fleet:
    """`here`, `spool/DIR`, `local-ray`, `local-ray/N` or `ray://HOST:PORT`."""
    if address == HERE:
        return Here()
    if address.startswith(SPOOL) and len(address) > len(SPOOL):
        return Spool(Path(address.removeprefix(SPOOL)))
    name, _, number = address.partition("/")
    if name == LOCAL_RAY and (number or "1").isdigit():
        return local_ray(int(number or "1"))
    if address.startswith(RAY):
        return ray_cluster(address)
    fix = f"say `here`, `{SPOOL}DIR` for workers that open that folder, `{LOCAL_RAY}` or `{RAY}HOST:PORT`"
    raise FleetError(f"there is no fleet {address!r}", fix)
