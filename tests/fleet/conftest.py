"""Jobs, and a judge that does what a candidate's text says: faults of machines cannot be had for the asking."""

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from kernelwright.fleet import Job, Spool, Worker
from kernelwright.judge import InfraError, OutOfReach, Status, Verdict, source_hash
from kernelwright.tasks import Task, TaskError, load_task
from tests.judge.texts import eight_folder

LEASE_S = 60.0


class Puppet:
    """A judge that accepts every text but those that name a misfortune. Counts itself and what it hears.

    `gate`: opened before a text called `gate` is judged. `ahead`: what was built before it was heard.
    """

    made: list["Puppet"]
    heard: list[str]
    recovers_after: int
    gate: threading.Event
    ahead: list[str]
    on_device: bool
    sent_to_device: list[bool]

    def __init__(
        self, *, limits: Any, baselines: tuple[str, ...], reveal_seeds: bool = False, template: str | None = None
    ) -> None:
        self.limits, self.baselines, self.closed, self.retired = limits, baselines, False, False
        self.reveal_seeds, self.template = reveal_seeds, template or f"loaded by {len(self.made)}"
        self.made.append(self)

    def judge(self, task: Task, source: str, *, timed: bool, backend: str | None, on_device: bool) -> Verdict:
        assert not self.closed
        self.heard.append(source)
        self.sent_to_device.append(on_device)
        if source == "gate":
            assert self.gate.wait(30)
        misfortunes: dict[str, Exception] = {
            "refused": TaskError("the task is too weak", flaws=("weak",)),
            "out of reach": OutOfReach("there is no such compiler"),
            "fault": InfraError("the template is gone"),
            "surprise": RuntimeError("nobody thought of this"),
        }
        if source in misfortunes and self.heard.count(source) <= self.recovers_after:
            raise misfortunes[source]
        return Verdict(
            status=Status.CORRECT,
            stage="time",
            message="",
            task=task.hash,
            candidate=source_hash(source),
            checked=source != "only compiled",
            speedup={"eager": {"ratio": 2.0, "low": 1.9, "high": 2.1}},
            seconds={"total": 0.1},
        )

    def belongs_on_device(self, source: str) -> bool:
        return self.on_device

    def prebuild(self, sources: Iterable[str]) -> "Builds":
        builds = Builds(self.ahead)
        for source in sources:
            builds.add(source)
        return builds

    def retire(self) -> str:
        self.retired = True
        return self.template

    def close(self) -> None:
        self.closed = True


class Builds:
    """Builds that are over as soon as they are begun."""

    def __init__(self, begun: list[str]) -> None:
        self.add = begun.append

    def ready(self, source: str) -> None: ...

    def forget(self, source: str) -> None: ...

    def finish(self, each: Callable[[], None]) -> None: ...

    def close(self) -> None: ...

    def __enter__(self) -> "Builds":
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.fixture
def puppet() -> type[Puppet]:
    blank = {
        "made": [],
        "heard": [],
        "recovers_after": 1000,
        "gate": threading.Event(),
        "ahead": [],
        "on_device": False,
        "sent_to_device": [],
    }
    return type("Puppet", (Puppet,), blank)


@pytest.fixture(scope="session")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(eight_folder(tmp_path_factory.mktemp("tasks")))


@pytest.fixture
def job(task: Task) -> Callable[..., Job]:
    def make(source: str = "good", **settings: Any) -> Job:
        return Job(candidate=source_hash(source), source=source, task=task.to_wire(), **settings)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def spool(folder: Path) -> Spool:
    return Spool(folder, lease_s=LEASE_S)


@pytest.fixture
def worker(spool: Spool, folder: Path, puppet: type[Puppet]) -> Callable[[], Worker]:
    def hire(**more: Any) -> Worker:
        return Worker(folder, judges=puppet, say=lambda line: None, **{"lease_s": LEASE_S, **more})

    return hire
