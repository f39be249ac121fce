"""One search from beginning to end: preflight, the run, and what came of it."""

from __future__ import annotations

import platform
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import kernelwright
from kernelwright import backends, judge
from kernelwright.archive import DEFAULT_STRATEGY, Archive, Entry, strategy_names
from kernelwright.engine._author import Author, Known
from kernelwright.engine._budget import Budget
from kernelwright.engine._conductor import REWRITE, Conductor
from kernelwright.engine._finals import Winner
from kernelwright.engine._found import archive_of
from kernelwright.engine._methods import EARLIER_STRATEGY, method
from kernelwright.engine._names import check_name
from kernelwright.engine._preflight import Trial, trials
from kernelwright.engine._seeding import SEEDERS, SEEDING, SEEDS
from kernelwright.engine._settings import RunError, Settings, Tell
from kernelwright.engine._stop import StopRules
from kernelwright.engine._tuning import TuningBudget
from kernelwright.fleet import Fleet, Job, Kind, Result
from kernelwright.judge import source_hash
from kernelwright.prompts import Family, Genome, Parts, PromptError, measured, seed
from kernelwright.prompts import backends as advised
from kernelwright.propose import LooksAhead, Proposer, TakesUp, prompt_limit, proposer
from kernelwright.store import Birth, Records, Run, State, Store
from kernelwright.tasks import Task

# What can be left out, to see what it is worth.
MECHANISMS = ("gradients", "inspirations", "prompt-evolution", "profile", SEEDING, "tuning")
PREFLIGHT_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a user asks for; kept with the run, so that resuming needs nothing but its name.

    Attributes:
        baselines: What the winner is measured against at the end; the search itself measures against eager.
        devices: Names of devices: the search is about the first; what is right there is judged on the others too.
        config: The whole configuration that it was made of; kept for who shows or resumes the run, not used here.
        strategy: How map-elites chooses whom to build on and where to take it.
        seed_with: Who writes the first kernels, before the model is asked; None for nobody. `seeds`: how many at most.
        tuning: What racing the parameters of the best kernels may take, after the search; None for nothing.
    """

    backend: str
    budget: Budget
    rules: StopRules = field(default_factory=StopRules)
    search: str = "map-elites"
    without: tuple[str, ...] = ()
    lanes: int = 4
    seed: int = 0
    baselines: tuple[str, ...] = ("eager",)
    limits: dict[str, float] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    tuning: TuningBudget | None = field(default_factory=TuningBudget)
    devices: tuple[str, ...] = ()
    seed_with: str | None = None
    seeds: int = SEEDS
    strategy: str = DEFAULT_STRATEGY

    def __post_init__(self) -> None:
        check_name("backend", self.backend, advised())
        for name in self.without:
            check_name("mechanism", name, MECHANISMS)
        if self.lanes < 1:
            raise ValueError(f"{self.lanes} requests at once is none; give 1 or more")
        if self.seed_with is not None:
            check_name("seeder", self.seed_with, SEEDERS)
        if self.seed_with is not None and SEEDING in self.without:
            raise ValueError(f"{SEEDING} is asked for and left out; leave out seed_with, or {SEEDING} in without")
        if self.seeds < 1:
            raise ValueError(f"{self.seeds} seeds are none; give 1 or more, or leave {SEEDING} out")
        check_name("strategy", self.strategy, strategy_names())
        method(self.search)

    @property
    def tunes(self) -> TuningBudget | None:
        """What tuning may take in this run."""
        return None if "tuning" in self.without else self.tuning

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Plan:
        parts = dict(told)
        parts["budget"], parts["rules"] = Budget(**told["budget"]), StopRules(**told["rules"])
        tuning = told.get("tuning")  # runs of earlier versions have none
        parts["tuning"] = TuningBudget(**tuning) if tuning else None
        parts["without"], parts["baselines"] = tuple(told["without"]), tuple(told["baselines"])
        parts["devices"] = tuple(told.get("devices", ()))
        parts["strategy"] = told.get("strategy", EARLIER_STRATEGY)
        return cls(**parts)


@dataclass(frozen=True)
class Found:
    """What a run came to.

    Attributes:
        reason: Why it ended.
        source: The best kernel's text, where there is one. `winner`: the same as it was measured at the end.
        said: Sentences on those that seemed better and did not hold when they were measured again.
    """

    run: str
    reason: str
    archive: Archive
    source: str | None
    winner: Winner | None = None
    said: tuple[str, ...] = ()

    @property
    def best(self) -> Entry | None:
        return self.winner.entry if self.winner else None


def _silence(kind: str, data: dict[str, Any]) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a run is made with.

    `stop`: the proposer's own; set when the run is left. `rehearsed`: who came back when in the run that is repeated.
    `seeder`: who writes the seeds that a plan asks for; made from its name where it is None.
    """

    store: Store
    proposer: Proposer
    fleet: Fleet
    tell: Tell = _silence
    stop: threading.Event = field(default_factory=threading.Event)
    rehearsed: list[dict[str, Any]] | None = None
    seeder: Proposer | None = None


def optimize(task: Task, plan: Plan, means: Means) -> Found:
    """Begins a run and plays it to its end. Nothing is asked of a model before the judge has shown that it works."""
    plan = _fitting(plan, task)
    return play(_begin(task, plan, means), task, plan, means)


def port(name: str, plan: Plan, means: Means) -> Found:
    """Begins a run on other hardware with the elites of one that is kept in the same store; they are judged first."""
    store = means.store
    before = store.run(name)
    elites = sorted(archive_of(store, before.id).elites.values(), key=lambda elite: -elite.log_speedup)
    wire = store.task(before.task)
    if not elites or wire is None:
        raise RunError(f"run {before.id} has no kernel to begin with", "name one that has found something")
    task = Task.from_wire(wire)
    plan = _fitting(plan, task)
    run = _begin(task, plan, means)
    for elite in elites:
        candidate = store.candidate(elite.candidate)
        assert candidate is not None
        store.keep_candidate(candidate, Birth(run=run.id, candidate=candidate.hash))
    return play(run, task, plan, means)


def _fitting(plan: Plan, task: Task) -> Plan:
    """A project's sources are written in what they are, whatever was asked for; a task may name devices of its own."""
    plan = replace(plan, devices=plan.devices or task.targets)
    return plan if task.project is None else replace(plan, backend=task.project.backend)


def _begin(task: Task, plan: Plan, means: Means) -> Run:
    if isinstance(means.proposer, LooksAhead):
        means.proposer.look_at(task)
    machine = preflight(task, means.fleet, plan)
    return means.store.begin_run(
        task=task.hash,
        wire=task.to_wire(),
        settings=plan.to_json(),
        versions={"kernelwright": kernelwright.__version__, "python": platform.python_version()},
        machine=machine or judge.machine(),
    )


def resume(name: str, means: Means) -> Found:
    """Goes on with a run where it was left."""
    run = means.store.resume_run(name)
    wire = means.store.task(run.task)
    assert wire is not None
    if isinstance(means.proposer, TakesUp):
        means.proposer.take_up([reply.model for reply in means.store.replies(run.id)])
    return play(run, Task.from_wire(wire), Plan.from_json(run.settings), means, resumed=True)


def play(run: Run, task: Task, plan: Plan, means: Means, *, resumed: bool = False) -> Found:
    """A run that the store has begun, to its end."""
    store = means.store
    means.tell("begun", _beginning(run, task, plan, resumed))
    conductor = _conductor(run, task, plan, means)
    try:
        reason = conductor.play()
        final = conductor.measure_best(plan.baselines)
    except (RunError, PromptError) as error:
        store.end_run(run.id, State.FAILED, str(error))
        raise
    if not isinstance(final, Winner):
        store.end_run(run.id, State.FAILED, reason)
        return Found(run.id, reason, conductor.archive, None, said=final)
    store.end_run(run.id, State.FINISHED, reason)
    source = conductor.recall(final.candidate).source
    return Found(run.id, reason, conductor.archive, source, final, final.said)


def _beginning(run: Run, task: Task, plan: Plan, resumed: bool) -> dict[str, Any]:
    """What is told of a run before it does anything."""
    what = {"run": run.id, "resumed": resumed, "task": task.name, "backend": plan.backend, "search": plan.search}
    return {**what, "in_flight": plan.lanes, "budget": asdict(plan.budget)}


def _conductor(run: Run, task: Task, plan: Plan, means: Means) -> Conductor:
    made: list[Conductor] = []
    author = _author(run, task, plan, means, lambda candidate: made[0].recall(candidate))
    settings = Settings(
        backend=plan.backend,
        budget=plan.budget,
        rules=plan.rules,
        lanes=plan.lanes,
        seed=plan.seed,
        limits=plan.limits,
        devices=plan.devices,
    )
    made.append(
        Conductor(
            run=run.id,
            task=task,
            settings=settings,
            store=means.store,
            method=method(plan.search, strategy=plan.strategy, without=plan.without),
            author=author,
            proposer=means.proposer,
            fleet=means.fleet,
            tell=means.tell,
            stop=means.stop,
            profile="profile" not in plan.without and task.project is None,
            tuning=plan.tunes if task.project is None else None,
            rehearsed=means.rehearsed,
            seeder=_seeder(plan, means),
            seeds=plan.seeds,
        )
    )
    return made[0]


def _seeder(plan: Plan, means: Means) -> Proposer | None:
    if plan.seed_with is None:
        return None
    return means.seeder or proposer(plan.seed_with, seed=plan.seed, stop=means.stop)


def _author(run: Run, task: Task, plan: Plan, means: Means, recall: Callable[[str], Known]) -> Author:
    """With what this run and others have learned about advice so far."""
    store = means.store
    known = family(store, plan.backend)
    evolve = "prompt-evolution" not in plan.without
    tokens = min(Parts.tokens, prompt_limit(means.proposer) or Parts.tokens)
    author = Author(
        task,
        plan.backend,
        measured(run.machine, on_device=backends.get(plan.backend).for_device),
        recall,
        known,
        evolve=evolve,
        inspire="inspirations" not in plan.without,
        tokens=tokens,
        machine=run.machine,
        templates=plan.tunes is not None and task.project is None,
    )
    rewritings = Counter(asked.genome for asked in store.requests(run.id) if asked.kind == REWRITE)
    for genome in known:
        outcomes = store.outcomes(genome.hash, plan.backend)
        written = [outcome.candidate for outcome in outcomes if outcome.run == run.id]
        author.take_up(genome.hash, written, rewritings[genome.hash])
    return author


def family(store: Records, backend: str) -> Family:
    """All advice that runs have left for a backend, with what it has gained; the seed first."""
    kept = [Genome(backend=backend, **genome.regions, parent=genome.parent) for genome in store.genomes(backend)]
    genomes = [seed(backend), *kept]
    gains = {one.hash: [outcome.gain for outcome in store.outcomes(one.hash, backend)] for one in genomes}
    return Family(genomes, gains)


# Preflight


def preflight(task: Task, fleet: Fleet, plan: Plan) -> dict[str, Any]:
    """Has candidates judged whose fate is known, where those of the run will be; raises if one is judged otherwise.

    What the verdicts say of the machine.
    """
    machine: dict[str, Any] = {}
    known = {job.name: (job, trial) for trial in trials(task) for job in [_job(trial, plan)]}
    for job, _ in known.values():
        fleet.submit(job)
    for result in _all(fleet, set(known)):
        machine = _checked(known[result.job][1], result).get("machine", {})
    return machine


def _job(trial: Trial, plan: Plan) -> Job:
    return Job(
        candidate=source_hash(trial.source),
        source=trial.source,
        task=trial.task.to_wire(),
        timed=False,
        limits=plan.limits,
        on_device=backends.get(plan.backend).for_device,
        device=plan.devices[0] if plan.devices else None,
    )


def _all(fleet: Fleet, jobs: set[str]) -> Iterable[Result]:
    """The results of these jobs; those of a run before, which was left, are nobody's any more."""
    left = set(jobs)
    while left:
        found = list(fleet.finished(PREFLIGHT_SECONDS))
        if not found:
            raise RunError("nobody judged the preflight's candidates", "start a worker for this fleet")
        mine = [result for result in found if not result.kind.goes_on and result.job in left]
        left -= {result.job for result in mine}
        yield from mine


def _checked(trial: Trial, result: Result) -> dict[str, Any]:
    if result.kind is not Kind.JUDGED or result.verdict is None:
        raise RunError(f"preflight: {result.reason}", "mend the task or the machine; nothing was paid for yet")
    if result.verdict["status"] not in trial.expect:
        wanted = " or ".join(sorted(trial.expect))
        said = f"{result.verdict['status']}: {result.verdict['message']}"
        raise RunError(
            f"preflight: {trial.name} should have been judged {wanted}, and was {said}",
            "the task cannot be searched with this judge; nothing was paid for yet",
        )
    return result.verdict
