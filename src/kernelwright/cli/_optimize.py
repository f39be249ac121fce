"""`kernelwright optimize`: search for a faster kernel."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelwright.cli._eval import LimitOption, SetOption, TaskArgument, changed_limits, fitted
from kernelwright.cli._failure import assignments
from kernelwright.cli._search import (
    STORE,
    BaseUrlOption,
    FleetOption,
    JsonOption,
    ModelOption,
    StoreOption,
    conclude,
    means,
    sentences,
)
from kernelwright.cli._suites import SuiteDirOption
from kernelwright.cli._voices import open_voice
from kernelwright.engine import MECHANISMS, METHODS, Budget, Plan, StopRules, optimize
from kernelwright.judge import Judge
from kernelwright.tasks import load_task

HELP = "Search for a faster kernel. Exit 0 found, 1 nothing was accepted, 2 could not search."
EVALUATIONS = 40
SECONDS_A_MINUTE = 60


def run(
    task: TaskArgument,
    model: ModelOption,
    backend: Annotated[str, typer.Option(help="The language to write in.")] = "cpp",
    evaluations: Annotated[int, typer.Option(help="How many candidates to judge at most.")] = EVALUATIONS,
    tokens: Annotated[int | None, typer.Option(help="How many tokens to spend at most.")] = None,
    dollars: Annotated[float | None, typer.Option(help="How much money to spend at most.")] = None,
    minutes: Annotated[float | None, typer.Option(help="How long to go on at most.")] = None,
    judge_minutes: Annotated[float | None, typer.Option(help="How long to judge at most.")] = None,
    target: Annotated[float | None, typer.Option(help="Enough: a speedup over eager that is certain.")] = None,
    roof: Annotated[float | None, typer.Option(help="Enough: this share of what the hardware can do.")] = None,
    plateau: Annotated[int | None, typer.Option(help="Enough: so many evaluations with nothing better.")] = None,
    search: Annotated[str, typer.Option(help=f"How to search: {', '.join(METHODS)}.")] = "map-elites",
    without: Annotated[str, typer.Option(help=f"What to leave out, comma-separated: {', '.join(MECHANISMS)}.")] = "",
    in_flight: Annotated[int, typer.Option(help="How many requests may be under way at once.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of every choice.")] = 0,
    constants: SetOption = None,
    fit_machine: Annotated[bool, typer.Option("--fit", help="Shrink the task to this machine first.")] = False,
    limit: LimitOption = None,
    base_url: BaseUrlOption = None,
    fleet: FleetOption = "here",
    store: StoreOption = STORE,
    suite_dir: SuiteDirOption = None,
    as_json: JsonOption = False,
) -> None:
    described = load_task(task, constants=assignments(constants or [], "--set"), suite_dir=suite_dir)
    voice = open_voice(as_json)
    with sentences():
        budget = Budget(
            evaluations=evaluations,
            tokens=tokens,
            dollars=dollars,
            wall_seconds=_seconds(minutes),
            judge_seconds=_seconds(judge_minutes),
        )
        plan = Plan(
            backend=backend,
            budget=budget,
            rules=StopRules(target=target, roof_share=roof, plateau=plateau),
            search=search,
            without=tuple(filter(None, without.split(","))),
            lanes=in_flight,
            seed=seed,
            limits=changed_limits(limit or []),
        )
        if fit_machine:
            with Judge() as judge:
                described = fitted(judge, described, voice.console)
        with means(model, base_url, fleet, store, voice, seed) as made:
            found = optimize(described, plan, made)
    conclude(voice, found, store)


def _seconds(minutes: float | None) -> float | None:
    return None if minutes is None else minutes * SECONDS_A_MINUTE
