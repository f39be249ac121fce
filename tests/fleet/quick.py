"""A judge for nodes of a cluster on this machine: does what a candidate's text says, and writes down whom it heard."""

import os
import time
from pathlib import Path
from typing import Any

from kernelwright.judge import InfraError, Judge, OutOfReach, Status, Verdict, source_hash
from kernelwright.tasks import Task, TaskError

HEARD = "TEST_HEARD"  # a folder; in the environment of whoever starts the nodes


class Quick:
    """Accepts every text but those whose first words are a misfortune: `# fault`, `# die`, `# wait 0.5`."""

    def __init__(self, **_: Any) -> None: ...

    def judge(self, task: Task, source: str, *, timed: bool, backend: str | None, on_device: bool) -> Verdict:
        words = source.partition("\n")[0].removeprefix("#").split()
        _happen(words)
        note(source)
        speed = 1 + int(source_hash(source)[:4], 16) / 65536
        return Verdict(
            status=Status.CORRECT,
            stage="time",
            message="",
            task=task.hash,
            candidate=source_hash(source),
            speedup={"eager": {"ratio": speed, "low": speed * 0.999, "high": speed * 1.001}},
            seconds={"total": 0.1},
            machine={"threads": os.environ.get("OMP_NUM_THREADS", "all"), "cores": len(os.sched_getaffinity(0))},
        )

    def belongs_on_device(self, source: str) -> bool:
        return False

    def close(self) -> None: ...


class Witnessed(Judge):
    """The real one; writes down whom it heard, as the other does."""

    def judge(self, task: Task, source: str, **how: Any) -> Verdict:
        found = super().judge(task, source, **how)
        note(source)
        return found


def _happen(words: list[str]) -> None:
    match words:
        case ["wait", seconds, *_]:
            time.sleep(float(seconds))
        case ["fault", *_]:
            raise InfraError("the template is gone")
        case ["lacks", *_]:
            raise OutOfReach("there is no such compiler")
        case ["refused", *_]:
            raise TaskError("the task is too weak", flaws=("weak",))
        case ["die", *_]:
            os._exit(1)
        case _:
            time.sleep(0.01)


def note(source: str) -> None:
    """Once for every time that a text was judged to its end."""
    name = f"{source_hash(source)}.{os.getpid()}.{time.monotonic_ns()}"
    (Path(os.environ[HEARD]) / name).touch()


def heard() -> list[str]:
    """Hashes of texts, as often as they were judged."""
    return sorted(path.name.partition(".")[0] for path in Path(os.environ[HEARD]).iterdir())
