"""`kernelwright optimize`: search for a faster kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kernelwright.cli._config import DEFAULTS, ConfigOption, SettingOption, settings_from
from kernelwright.cli._eval import LimitOption, TaskArgument, changed_limits, check_backend, fitted
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
from kernelwright.cli._voices import Voice, open_voice
from kernelwright.config import BASELINE, Configuration, configured, to_toml
from kernelwright.engine import MECHANISMS, METHODS, optimize
from kernelwright.fleet import is_here
from kernelwright.judge import BASELINES, Judge
from kernelwright.store import Place
from kernelwright.tasks import Task, load_task

HELP = "Search for a faster kernel. Exit 0 found, 1 nothing was accepted, 2 could not search."


def _default(value: object) -> str:
    return f"; {value} if not said."


def run(
    task: TaskArgument,
    model: ModelOption = None,
    backend: Annotated[
        str | None, typer.Option(help="The language to write in" + _default(DEFAULTS.search.backend))
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(help="How many candidates to judge at most" + _default(DEFAULTS.budget.evaluations)),
    ] = None,
    tokens: Annotated[int | None, typer.Option(help="How many tokens to spend at most.")] = None,
    dollars: Annotated[float | None, typer.Option(help="How much money to spend at most.")] = None,
    minutes: Annotated[float | None, typer.Option(help="How long to go on at most.")] = None,
    judge_minutes: Annotated[float | None, typer.Option(help="How long to judge at most.")] = None,
    target: Annotated[float | None, typer.Option(help="Enough: a speedup over eager that is certain.")] = None,
    roof: Annotated[float | None, typer.Option(help="Enough: this share of what the hardware can do.")] = None,
    plateau: Annotated[int | None, typer.Option(help="Enough: so many evaluations with nothing better.")] = None,
    search: Annotated[
        str | None,
        typer.Option(help=f"How to search: {', '.join(METHODS)}" + _default(DEFAULTS.search.method)),
    ] = None,
    without: Annotated[
        str | None, typer.Option(help=f"What to leave out, comma-separated: {', '.join(MECHANISMS)}.")
    ] = None,
    in_flight: Annotated[
        int | None,
        typer.Option(help="How many requests may be under way at once" + _default(DEFAULTS.search.in_flight)),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every choice" + _default(DEFAULTS.search.seed))] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help=f"What to time against, comma-separated: {', '.join(BASELINES)}" + _default(BASELINE)),
    ] = None,
    pairs: SettingOption = None,
    config_file: ConfigOption = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the configuration that would be used, and do nothing.")
    ] = False,
    fit_machine: Annotated[bool, typer.Option("--fit", help="Shrink the task to this machine first.")] = False,
    limit: LimitOption = None,
    base_url: BaseUrlOption = None,
    fleet: FleetOption = None,
    devices: Annotated[
        str | None,
        typer.Option(help="Devices by name, comma-separated: search on the first, judge what is right on all."),
    ] = None,
    store: StoreOption = STORE,
    suite_dir: SuiteDirOption = None,
    as_json: JsonOption = False,
) -> None:
    settings, constants = settings_from(pairs)
    with sentences():
        configuration = configured(
            file=config_file,
            settings=settings,
            model=model,
            base_url=base_url,
            backend=backend,
            search=search,
            without=_names(without),
            in_flight=in_flight,
            seed=seed,
            evaluations=evaluations,
            tokens=tokens,
            dollars=dollars,
            minutes=minutes,
            judge_minutes=judge_minutes,
            target=target,
            roof=roof,
            plateau=plateau,
            baselines=_names(baseline),
            limits=changed_limits(limit or []),
            fleet=fleet,
            devices=_names(devices),
            constants=constants,
            fit=fit_machine or None,
        )
    if print_config:
        typer.echo(to_toml(configuration), nl=False)
        return
    _search(task, configuration, store, suite_dir, open_voice(as_json))


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _search(task: str, configuration: Configuration, store: Place, suite_dir: Path | None, voice: Voice) -> None:
    described = load_task(task, constants=configuration.task.constants, suite_dir=suite_dir)
    asked, seed, fleet = configuration.model, configuration.search.seed, configuration.fleet.address
    if is_here(fleet):
        check_backend(configuration.search.backend)
    with sentences(), means(asked.who(), asked.base_url, fleet, store, voice, seed, asked) as made:
        described = _fitted(described, configuration, voice.console)
        found = optimize(described, configuration.plan(), made)
    conclude(voice, found, store)


def _fitted(task: Task, configuration: Configuration, console: Console) -> Task:
    if not configuration.task.fit:
        return task
    with Judge() as judge:
        return fitted(judge, task, console)
