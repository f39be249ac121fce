"""Searching from a program: `kernelwright.optimize`.

    found = kernelwright.optimize("softmax.py", model="openai/NAME", evaluations=40)
    print(found.speedup, found.source)

The same as the command, by the same names. Loaded when it is first used.
"""

from __future__ import annotations

import math
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from kernelwright import backends, engine
from kernelwright.config import ConfigError, Configuration, Options, configured
from kernelwright.engine import Found, Means
from kernelwright.fleet import Fleet, is_here, open_fleet
from kernelwright.judge import Judge, fit
from kernelwright.propose import Proposer, proposer
from kernelwright.store import Place, Store
from kernelwright.tasks import Task, load_task

STORE = "kernelwright-runs.db"
FIT_SECONDS = 0.25

Tell = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True)
class Speedup:
    """How many times as fast as eager PyTorch, and the ends of the interval in which that lies."""

    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.ratio:.2f}x [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Result:
    """What a search came to.

    Attributes:
        run: Its name; `kernelwright show`, `best` and `resume` take it.
        reason: Why it ended.
        source: The best kernel's text; None where none was accepted.
        speedup: What that kernel is worth; None where there is none.
        store: The file, or the address without its password, that holds every request, reply and verdict.
    """

    run: str
    reason: str
    source: str | None
    speedup: Speedup | None
    store: Path | str


def optimize(
    task: str | Path | Task,
    *,
    model: str | Proposer | None = None,
    fleet: str | Fleet | None = None,
    store: str | Path = STORE,
    config: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    suite_dir: Path | None = None,
    tell: Tell | None = None,
    **options: Unpack[Options],
) -> Result:
    """Searches for a faster kernel, until the budget is used up or enough is found.

    Args:
        task: A file in KernelBench form, a task folder, a suite's problem, or a loaded task.
        model: Who writes, as `--model` says it; or anything with a method `propose`.
        fleet: Who judges, as `--fleet` says it; or an open fleet, which stays open.
        store: A file, or `postgresql://USER@HOST/DATABASE`.
        config: A TOML file.
        settings: By dotted keys, such as `{"model.tries": 3}`.
        tell: Called with the name and the facts of whatever happens.
        options: As the command's: `backend`, `evaluations`, `dollars`, `target`, `search` and so on.

    Raises:
        ConfigError, TaskError: Before anything is begun.
        ProposerError, FleetError, StoreError, RunError: When it cannot begin or go on. Where a run had begun, a note on
            the error says how to go on with it.
    """
    configuration = configured(
        file=Path(config) if config else None,
        settings=settings,
        model=model if isinstance(model, str) else None,
        fleet=fleet if isinstance(fleet, str) else None,
        **options,
    )
    described = _described(task, configuration, suite_dir)
    place = Place.at(store)
    with _opened(configuration, place, model, fleet, _Ear(tell)) as means:
        found = engine.optimize(_fitted(described, configuration), configuration.plan(), means)
    return _result(found, place)


def _result(found: Found, store: Place) -> Result:
    best = found.best
    speedup = Speedup(*(math.exp(value) for value in (best.log_speedup, best.low, best.high))) if best else None
    return Result(found.run, found.reason, found.source, speedup, store.path or str(store))


# *** the task ***


def _described(task: str | Path | Task, configuration: Configuration, suite_dir: Path | None) -> Task:
    constants = configuration.task.constants
    if not isinstance(task, Task):
        return load_task(task, constants=constants, suite_dir=suite_dir)
    if constants:
        raise ConfigError("constants can be set in a task that is yet to be loaded", "give them to load_task")
    return task


def _fitted(task: Task, configuration: Configuration) -> Task:
    if not configuration.task.fit:
        return task
    with Judge() as judge:
        return fit(judge, task, seconds=FIT_SECONDS)[0]


# *** what a run is made with ***


class _Ear:
    """Hears the run's name, and passes on whatever is told."""

    def __init__(self, tell: Tell | None) -> None:
        self._tell, self.run = tell, ""

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        self.run = data.get("run", self.run)
        if self._tell:
            self._tell(kind, data)


@contextmanager
def _opened(
    configuration: Configuration, store: Place, model: str | Proposer | None, fleet: str | Fleet | None, ear: _Ear
) -> Iterator[Means]:
    stop = threading.Event()
    writer = _writer(configuration, stop) if model is None or isinstance(model, str) else model
    judges = _judges(configuration) if fleet is None or isinstance(fleet, str) else nullcontext(fleet)
    try:
        with Store(store) as records, judges as court:
            yield Means(store=records, proposer=writer, fleet=court, tell=ear, stop=stop)
    except BaseException as error:
        if ear.run:
            again = shlex.join(["kernelwright", "resume", ear.run, "--store", str(store)])
            error.add_note(f"go on with: {again}")
        raise


def _writer(configuration: Configuration, stop: threading.Event) -> Proposer:
    asked = configuration.model
    return proposer(
        asked.who(),
        base_url=asked.base_url,
        settings=asked.settings(),
        limits=asked.limits(),
        seed=configuration.search.seed,
        stop=stop,
    )


def _judges(configuration: Configuration) -> Any:
    address, backend = configuration.fleet.address, configuration.search.backend
    available = backends.get(backend).available() if is_here(address) else None
    if available is not None and not available.ok:
        raise ConfigError(f"backend {backend} does not work here: {available.detail}", available.fix)
    return closing(open_fleet(address))
