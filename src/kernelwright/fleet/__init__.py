"""Where judging happens: on this machine, wherever a worker opens a spool folder, or on the nodes of a Ray cluster.

    fleet = open_fleet("here")  # or "spool/DIR", "local-ray", "ray://HOST:PORT"
    fleet.submit(Job(candidate=source_hash(text), source=text, task=task.to_wire()))
    for result in fleet.finished(timeout=60):
        ...
    fleet.close()

A fault of a machine is tried again a few times and comes back as INFRA, never as a verdict on the candidate. Knows
jobs and results; does not know who asks. Imports neither pydantic, typer, rich nor SQLAlchemy, and Ray when it is used.
"""

from kernelwright.fleet._device import device_name
from kernelwright.fleet._error import FleetError
from kernelwright.fleet._fleet import HERE, Fleet, is_here, open_fleet
from kernelwright.fleet._here import Here
from kernelwright.fleet._job import Job, Kind, Result, judge_version
from kernelwright.fleet._ray import RayFleet, local_ray, ray_cluster
from kernelwright.fleet._shift import judge_spool
from kernelwright.fleet._spool import Spool
from kernelwright.fleet._work import Worker

__all__ = [
    "HERE",
    "Fleet",
    "FleetError",
    "Here",
    "Job",
    "Kind",
    "RayFleet",
    "Result",
    "Spool",
    "Worker",
    "device_name",
    "is_here",
    "judge_spool",
    "judge_version",
    "local_ray",
    "open_fleet",
    "ray_cluster",
]
