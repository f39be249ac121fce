"""The judge: one candidate at a time, many in a life. Holds what hearings share: processes, tasks, ceilings."""

from __future__ import annotations

import resource
from collections.abc import Iterable
from dataclasses import replace

from kernelwright import backends, native
from kernelwright.judge import _ceilings, _compiled, _coverage, _machine
from kernelwright.judge._builder import Builder
from kernelwright.judge._ceilings import Ceilings
from kernelwright.judge._contestant import ROLE, Contestant, cage
from kernelwright.judge._hearing import Hearing
from kernelwright.judge._inventory import Inventory
from kernelwright.judge._limits import Limits
from kernelwright.judge._prebuild import Prebuild
from kernelwright.judge._prepared import Prepared, Seeds
from kernelwright.judge._process import Isolation, Template, Worker
from kernelwright.judge._reference import Reference
from kernelwright.judge._status import InfraError
from kernelwright.judge._turns import turn
from kernelwright.judge._verdict import Verdict
from kernelwright.judge.device import _sanitizer
from kernelwright.judge.device._hearing import DeviceHearing
from kernelwright.judge.device._place import REFEREE, Workshop, referee_cage
from kernelwright.judge.device._place import find as find_place
from kernelwright.judge.device._prepared import DevicePrepared
from kernelwright.judge.project._hearing import ProjectHearing
from kernelwright.judge.project._prepared import PreparedProject
from kernelwright.tasks import Task, TaskError

BASELINES = ("eager", "compile", "max-autotune")
MOST_PREPARED = 8
COMPILE_MODES = {"compile": "default", "max-autotune": "max-autotune"}


class Judge:
    """Judges candidates on tasks. A context manager: leaving it ends every process it started.

    Args:
        limits: What each stage may take.
        baselines: What a candidate is timed against; `eager` is always among them.
        bubblewrap: Whether to use bubblewrap where it is installed.
        seed: A master seed, to come to the same trials again. Secret and random unless given.
        reveal_seeds: Whether verdicts tell the seeds. For the last judgement of a task only: the next candidate
            would meet the same trials.
        device: Where candidates for a device are judged: the GPU here unless given. `host` is host memory in its role.
        sanitize: Whether accepted candidates on a GPU are called once more under compute-sanitizer.
        template: From a judge that has retired here: what it has loaded need not be loaded again.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        baselines: tuple[str, ...] = ("eager",),
        bubblewrap: bool = True,
        seed: int | None = None,
        reveal_seeds: bool = False,
        device: str | None = None,
        sanitize: bool = False,
        template: Template | None = None,
    ) -> None:
        self._sanitize = sanitize
        self.reveal_seeds = reveal_seeds
        unknown = set(baselines) - set(BASELINES)
        if unknown:
            raise ValueError(f"unknown baselines {sorted(unknown)}; known: {', '.join(BASELINES)}")
        self.limits = (limits or Limits()).settled()
        _allow_many_files()
        self.baselines = ("eager", *(name for name in BASELINES[1:] if name in baselines))
        self.seed = Seeds(seed).master
        self._device = device
        on_gpu = device != "host" and backends.usable_gpu() is not None
        self._referees = referee_cage(on_gpu=on_gpu)
        self._template = (
            template.hand_over(self.limits)
            if template
            else Template(
                limits=self.limits,
                allocator=_compiled.library(_compiled.ALLOCATOR),
                bubblewrap=bubblewrap,
                early=(REFEREE, self._referees) if on_gpu else None,
            )
        )
        self.build_cache = native.BuildCache(native.cache_dir() / "build")
        self._builder = Builder(self._template, limits=self.limits, cache=self.build_cache)
        self.inventory = Inventory(self._builder)
        self._prepared: dict[str, Prepared] = {}
        self._projects: dict[str, PreparedProject] = {}
        self._workshop: Workshop | None = None
        self._ceilings: Ceilings | None = None
        self._flops: float | None = None
        self.machine = _machine.describe()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.retire().close()

    def retire(self) -> Template:
        """Ends its workers with all that it knows of tasks; what holds neither is for the next judge, or to be closed.

        Every task will be prepared anew then, from seeds of that judge's own.
        """
        for prepared in self._prepared.values():
            prepared.close()
        self._prepared.clear()
        if self._workshop is not None:
            self._workshop.close()
        return self._template

    @property
    def isolation(self) -> Isolation:
        return self._template.isolation

    def prepare(self, task: Task, *, on_device: bool = False) -> Prepared:
        """Makes a task ready, once. Raises TaskError where it cannot be judged."""
        if task.project is not None:
            what = "this needs a task with a reference that can be called, and a project has none."
            raise TaskError(what, task.origin, "A project is judged by `eval` and searched by `optimize`.")
        name = _device_name(task) if on_device else _host_name(task)
        if name not in self._prepared:
            while len(self._prepared) >= MOST_PREPARED:
                self._prepared.pop(next(iter(self._prepared))).close()
            self._prepared[name] = self._made_ready(task, on_device)
        return self._prepared[name].under(task.library)

    def _made_ready(self, task: Task, on_device: bool) -> Prepared:
        if not on_device:
            return Prepared(self._template, task, seeds=Seeds(self.seed))
        self._forget_devices()  # a device has less room than a host
        return DevicePrepared(self._template, self.workshop, task, seeds=Seeds(self.seed))

    def _forget_devices(self) -> None:
        for name in [name for name, prepared in self._prepared.items() if isinstance(prepared, DevicePrepared)]:
            self._prepared.pop(name).close()

    @property
    def workshop(self) -> Workshop:
        """Where candidates for a device are judged. Raises InfraError where there is none."""
        if self._workshop is None:
            place = find_place(self._device)
            if place is None:
                raise InfraError(f"there is no GPU to judge on: {backends.without_device()}")
            self._workshop = Workshop(self._template, place, self.limits, self._referees)
        return self._workshop

    def try_once(self, task: Task) -> tuple[int, float]:
        """Bytes of all cases' inputs and results, and seconds the reference takes on the slowest. One call each."""
        if task.project is not None:
            raise TaskError("a project is not made smaller.", task.origin, "Set its dims: --set NAME=VALUE.")
        reference = Reference(self._template, task, seed=0)
        try:
            return reference.try_once()
        finally:
            reference.close()

    def forget(self, task: Task) -> None:
        """Ends the task's workers and frees what was drawn for it."""
        for name in (_host_name(task), _device_name(task)):
            prepared = self._prepared.pop(name, None)
            if prepared is not None:
                prepared.close()
        self._projects.pop(task.hash, None)

    def judge(
        self, task: Task, source: str, *, timed: bool = True, backend: str | None = None, on_device: bool = False
    ) -> Verdict:
        """The verdict on one candidate. Raises TaskError or InfraError where there can be none.

        `on_device`: on the device here, if there is one, whatever the candidate is written in.
        """
        is_project = task.project is not None
        on_device = not is_project and (
            self.belongs_on_device(source) or (on_device and backends.usable_gpu() is not None)
        )
        if self._sanitize and not is_project:
            _sanitizer.check_possible(on_device)
        if not on_device:
            with turn() as waited:
                verdict = self._heard(task, source, timed, backend)
            return replace(verdict, seconds=verdict.seconds | {"waited": round(waited, 4)})
        found = self._prepare_for(task, source)
        verdict = DeviceHearing(self, found, source, timed=timed, backend=backend).verdict()
        return _sanitizer.sanitize(self, task, source, verdict) if self._sanitize and verdict.accepted else verdict

    def _heard(self, task: Task, source: str, timed: bool, backend: str | None) -> Verdict:
        if task.project is not None:
            return ProjectHearing(self, self._prepare_project(task), source, timed=timed).verdict()
        return Hearing(self, self.prepare(task), source, timed=timed, backend=backend).verdict()

    def _prepare_project(self, task: Task) -> PreparedProject:
        if task.hash not in self._projects:
            self._projects = {task.hash: PreparedProject(self, task)}
        return self._projects[task.hash]

    def _prepare_for(self, task: Task, source: str) -> DevicePrepared:
        """The task on a device; if that takes time, the candidate is compiled meanwhile."""
        self.workshop.expect(backends.detect(source))
        with Prebuild(self, [] if _device_name(task) in self._prepared else [source]):
            found = self.prepare(task, on_device=True)
        assert isinstance(found, DevicePrepared)
        return found

    def belongs_on_device(self, source: str) -> bool:
        """Whether this candidate is judged on the device here, and not on the processor."""
        if self._device is not None:
            return True
        return backends.get(backends.detect(source)).for_device and backends.usable_gpu() is not None

    def prebuild(self, candidates: Iterable[str]) -> Prebuild:
        """Begins to compile what these will ask for."""
        return Prebuild(self, candidates)

    # For a hearing

    def start(
        self,
        prepared: Prepared,
        source: str,
        *,
        interpret: bool = False,
        mute: bool = False,
        only_build: bool = False,
    ) -> Contestant:
        return Contestant(
            self._template,
            prepared,
            self._builder,
            source,
            limits=self.limits,
            interpret=interpret,
            mute=mute,
            only_build=only_build,
        )

    def start_ahead(self, number: int) -> None:
        """Has processes for the same candidate made ready; `drop_ahead` ends what is left of them."""
        self._template.fork_ahead(ROLE, number, cage=cage(self._template, self.limits))

    def drop_ahead(self) -> None:
        self._template.drop_spares()

    def journey_glue(self, prepared: Prepared) -> float:
        """What torch does in a worker to describe a result of this task; found out once."""
        if prepared.journey_glue is None:
            prepared.call(prepared.worker, prepared.trials[0].inputs)
            prepared.journey_glue = _coverage.journey_glue(prepared.worker)
        return prepared.journey_glue

    @property
    def template(self) -> Template:
        return self._template

    @property
    def builder(self) -> Builder:
        return self._builder

    def ceilings(self) -> Ceilings:
        if self._ceilings is None:
            self._ceilings = _ceilings.load(self._template)
        return self._ceilings

    def raise_ceilings(self) -> Ceilings:
        """The ceilings after another measurement: before a time is called impossible."""
        self._ceilings = _ceilings.raise_again(self._template)
        return self._ceilings

    def flops_ceiling(self) -> float:
        if self._flops is None:
            self._flops = _ceilings.load_flops(self._template)
        return self._flops

    def baseline_workers(self, prepared: Prepared) -> dict[str, Worker]:
        workers = {"eager": prepared.worker}
        for name in self.baselines[1:]:
            workers[name] = prepared.compiled(COMPILE_MODES[name])
        return workers


def _allow_many_files() -> None:
    """Every input set drawn is a descriptor; the usual 1024 are soon used up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1 << 16 if hard == resource.RLIM_INFINITY else min(hard, 1 << 16)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _host_name(task: Task) -> str:
    """The same for tasks that differ in what candidates may call: what is right and what is drawn does not."""
    return replace(task, library="allowed").hash


def _device_name(task: Task) -> str:
    return f"{_host_name(task)} on a device"
