"""The sections of a configuration, their keys and what they are if nobody says otherwise.

A section that stands for a value makes it when it is checked: what a budget may be is the budget's to say.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from kernelwright.config._error import ConfigError
from kernelwright.engine import SEEDING, SEEDS, Budget, Plan, StopRules, TuningBudget, check_name
from kernelwright.fleet import HERE
from kernelwright.judge import BASELINES, limit_names
from kernelwright.propose import Limits, Settings, asks_a_model, builtin, model_at_hand
from kernelwright.tasks import Task

# TOML has no word for what is not set.
NONE = "none"
SECONDS_A_MINUTE = 60
BASELINE = "eager"
# Where a model is asked, the built-in synthesiser writes the first kernels and several requests are under way; where it
# is all there is, and judged here, one kernel is built while another is timed, and more would wait for nothing.
AUTO = "auto"
IN_FLIGHT, ANSWERED_AT_ONCE = 4, 2
_ASKED, _PRESSED, _TUNED = Settings(), Limits(), TuningBudget()

_or_none = BeforeValidator(lambda value: None if value == NONE else value)
Text = Annotated[str | None, _or_none]
Whole = Annotated[int | None, _or_none]
Number = Annotated[float | None, _or_none]
Above = Annotated[float, Field(gt=0)]
WholeAbove = Annotated[int, Field(gt=0)]


def _seconds(minutes: float | None) -> float | None:
    return None if minutes is None else minutes * SECONDS_A_MINUTE


def _public(url: str | None) -> str | None:
    parts = urlsplit(url or "")
    return url and parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ModelSection(Section):
    """Who writes, and how he is asked. Keys to endpoints are taken from the environment, never from here."""

    name: Text = None
    base_url: Text = None
    seconds: Above = _ASKED.seconds
    max_tokens: Annotated[WholeAbove | None, _or_none] = _ASKED.max_tokens
    temperature: Annotated[Annotated[float, Field(ge=0)] | None, _or_none] = _ASKED.temperature
    at_once: WholeAbove = _PRESSED.at_once
    a_minute: Annotated[Above | None, _or_none] = _PRESSED.a_minute
    tries: WholeAbove = _PRESSED.tries
    longest_wait: Above = _PRESSED.longest_wait

    def who(self) -> str:
        """The name, which nobody can do without."""
        if self.name is None:
            fix = (
                'say --model openai/NAME, or put name = "openai/NAME" below [model]; docs/models.md says who can. '
                "--model builtin writes C++, SYCL and Triton with no model"
            )
            raise ConfigError("nobody is named to write the kernels", fix)
        return self.name

    def settings(self) -> Settings:
        return Settings(seconds=self.seconds, max_tokens=self.max_tokens, temperature=self.temperature)

    def limits(self) -> Limits:
        return Limits(at_once=self.at_once, a_minute=self.a_minute, tries=self.tries, longest_wait=self.longest_wait)


class SearchSection(Section):
    """In which language, by which method, without what, how many at once, by which seed; and who writes first."""

    backend: str = "cpp"
    method: str = "map-elites"
    without: list[str] = []
    in_flight: int | Literal["auto"] = "auto"
    seed: int = 0
    seed_with: Text = AUTO
    seeds: int = SEEDS
    strategy: str = Plan.strategy

    def parts(self) -> dict[str, Any]:
        """As a plan calls them."""
        return {
            "backend": self.backend,
            "search": self.method,
            "without": tuple(self.without),
            "seed": self.seed,
            "seeds": self.seeds,
            "strategy": self.strategy,
        }

    def lanes(self, model: str | None, fleet: str) -> int:
        """How many requests may be under way at once to this model, where candidates are judged there."""
        if isinstance(self.in_flight, int):
            return self.in_flight
        return ANSWERED_AT_ONCE if model == builtin.NAME and fleet == HERE else IN_FLIGHT

    def seeder(self, model: str | None) -> str | None:
        """Who writes the first kernels of a run, before this model is asked for any; None for nobody."""
        if SEEDING in self.without:
            return None
        if self.seed_with != AUTO:
            return self.seed_with
        return builtin.NAME if model and asks_a_model(model) else None

    @model_validator(mode="after")
    def _possible(self) -> Self:
        said = None if self.seed_with == AUTO else self.seed_with
        lanes = self.in_flight if isinstance(self.in_flight, int) else IN_FLIGHT
        Plan(budget=Budget(evaluations=1), seed_with=said, lanes=lanes, **self.parts())
        return self


class BudgetSection(Section):
    """The most that may be spent of each."""

    evaluations: Whole = 40
    tokens: Whole = None
    dollars: Number = None
    minutes: Number = None
    judge_minutes: Number = None

    def budget(self) -> Budget:
        return Budget(
            evaluations=self.evaluations,
            tokens=self.tokens,
            dollars=self.dollars,
            wall_seconds=_seconds(self.minutes),
            judge_seconds=_seconds(self.judge_minutes),
        )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self.budget()
        return self


class StopSection(Section):
    """When enough is found."""

    target: Number = None
    roof: Number = None
    plateau: Whole = None

    def rules(self) -> StopRules:
        return StopRules(target=self.target, roof_share=self.roof, plateau=self.plateau)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self.rules()
        return self


class TuningSection(Section):
    """What racing the parameters of the best kernels may take, after the search and beside its budget."""

    seconds: Above = _TUNED.seconds
    kernels: WholeAbove = _TUNED.kernels
    finalists: WholeAbove = _TUNED.finalists

    def budget(self) -> TuningBudget:
        return TuningBudget(seconds=self.seconds, kernels=self.kernels, finalists=self.finalists)


class JudgeSection(Section):
    """What candidates are timed against, and the limits of one judgement that differ from the usual ones."""

    baselines: list[str] = [BASELINE]
    limits: dict[str, Above] = {}

    def whole_limits(self) -> dict[str, float]:
        """Seconds may have a fraction; bytes have none."""
        return {name: value if name.endswith("_s") else int(value) for name, value in self.limits.items()}

    @model_validator(mode="after")
    def _known(self) -> Self:
        for names, known, what in ((self.limits, limit_names(), "limit"), (self.baselines, BASELINES, "baseline")):
            for name in names:
                check_name(what, name, known)
        if BASELINE not in self.baselines:
            raise ValueError(f"a search compares with {BASELINE}: leave it among the baselines")
        return self


class FleetSection(Section):
    """Where candidates are judged: `here`, `spool/DIR`, `local-ray`, `local-ray/N` or `ray://HOST:PORT`; and on which
    devices: the search is about the first, and what is right there is judged on the others too.
    """

    address: str = HERE
    devices: list[str] = []

    @model_validator(mode="after")
    def _different(self) -> Self:
        if len(set(self.devices)) < len(self.devices):
            raise ValueError("a device is named twice: name each once")
        return self


class TaskSection(Section):
    """Other values for the task's own constants, and whether it is shrunk to this machine first."""

    constants: dict[str, str | int | float | bool] = {}
    fit: bool = False


class Configuration(Section):
    """Everything that can be said about a search but its task."""

    model: ModelSection = ModelSection()
    search: SearchSection = SearchSection()
    budget: BudgetSection = BudgetSection()
    stop: StopSection = StopSection()
    tuning: TuningSection = TuningSection()
    judge: JudgeSection = JudgeSection()
    fleet: FleetSection = FleetSection()
    task: TaskSection = TaskSection()

    def to_json(self) -> dict[str, Any]:
        """What is kept with a run, which others may see: without a password in an address."""
        told = self.model_dump()
        told["model"]["base_url"] = _public(self.model.base_url)
        return told

    def with_somebody(self, task: Task | None = None) -> Configuration:
        """The same; where nobody is named to write and no model is at hand, the built-in synthesiser is, if it can."""
        alone = self.model.name is None and self.model.base_url is None and not model_at_hand()
        able = self.search.backend in builtin.BACKENDS and (task is None or task.project is None)
        if not (alone and able):
            return self
        return self.model_copy(update={"model": self.model.model_copy(update={"name": builtin.NAME})})

    def plan(self) -> Plan:
        """What the engine needs of it; the whole goes along, for who shows or resumes the run."""
        return Plan(
            seed_with=self.search.seeder(self.model.name),
            lanes=self.search.lanes(self.model.name, self.fleet.address),
            budget=self.budget.budget(),
            rules=self.stop.rules(),
            tuning=self.tuning.budget(),
            baselines=tuple(self.judge.baselines),
            limits=self.judge.whole_limits(),
            config=self.to_json(),
            devices=tuple(self.fleet.devices),
            **self.search.parts(),
        )
