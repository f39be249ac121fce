"""`kernelwright tune`: find the values of a candidate's parameters that are fastest here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.cli._eval import REJECTED, CandidateArgument, LimitOption, SetOption, TaskArgument, limits_from
from kernelwright.cli._failure import CANNOT_JUDGE, UsageError, assignments, read_text, write_text
from kernelwright.cli._render import render as render_verdict
from kernelwright.cli._suites import SuiteDirOption
from kernelwright.judge import Judge, Limits, Verdict
from kernelwright.tasks import Task, load_task
from kernelwright.tuning import SAMPLERS, Judged, Rejected, Rules, Tuned, TuningError, tune

HELP = (
    "Find the values of a candidate's parameters that are fastest here. "
    "Exit 0 tuned, 1 the candidate is rejected as written, 2 cannot tune."
)
CACHE = Path("kernelwright-tuning.jsonl")
DEFAULTS = Rules()
MOST_FAILURES = 3


def run(
    task: TaskArgument,
    candidate: CandidateArgument,
    seconds: Annotated[float, typer.Option(help="What the race may take; judgements come on top.")] = DEFAULTS.seconds,
    finalists: Annotated[int, typer.Option(help="How many of the fastest are judged in full.")] = DEFAULTS.finalists,
    out: Annotated[Path | None, typer.Option(help="Write the tuned candidate here.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything that was found here.")] = None,
    cache: Annotated[Path, typer.Option(help="The file that keeps every time measured, to go on from.")] = CACHE,
    replay: Annotated[bool, typer.Option("--replay", help="Run nothing: race on what the cache holds.")] = False,
    seed: Annotated[int, typer.Option(help="Of the choice of configurations.")] = DEFAULTS.seed,
    sampler: Annotated[
        str, typer.Option(help=f"Who says what to try: {', '.join(SAMPLERS)}; Optuna is an extra, for large spaces.")
    ] = DEFAULTS.sampler,
    constants: SetOption = None,
    limit: LimitOption = None,
    suite_dir: SuiteDirOption = None,
) -> None:
    if not seconds > 0 or finalists < 1:
        raise UsageError("--seconds and --finalists must be more than nothing", "for example: --seconds 60")
    if sampler not in SAMPLERS:
        raise UsageError(f"there is no sampler {sampler!r}", f"known: {', '.join(SAMPLERS)}")
    described = load_task(task, constants=assignments(constants or [], "--set"), suite_dir=suite_dir)
    source = read_text(candidate, "candidate")
    rules = Rules(seconds=seconds, finalists=finalists, seed=seed, sampler=sampler)
    console = Console(highlight=False)
    try:
        tuned = _tuned(console, described, source, None if replay else limits_from(limit or []), cache, rules)
    except TuningError as error:
        where = f"{candidate}:{error.line}: " if error.line else f"{candidate}: "
        raise UsageError(where + error.what, error.fix) from error
    except KeyboardInterrupt as stopped:
        console.print(
            f"[bold]Interrupted:[/] what was measured is in {escape(str(cache))}; the same command goes on from it"
        )
        raise typer.Exit(CANNOT_JUDGE) from stopped
    except Rejected as rejected:
        raise typer.Exit(_say_rejected(console, rejected.verdict, described, candidate)) from rejected
    if json_file is not None:
        write_text(json_file, json.dumps(tuned.to_json(), indent=1) + "\n")
    if out is not None:
        write_text(out, tuned.best.text)
    _render(console, tuned, out)


def _tuned(console: Console, task: Task, source: str, limits: Limits | None, cache: Path, rules: Rules) -> Tuned:
    """`limits`: the judge's; None to replay."""
    with console.status("tuning ...") as status:

        def tell(news: str) -> None:
            status.update(news)

        if limits is None:
            return tune(task, source, judge=None, cache=cache, rules=rules, tell=tell)
        with Judge(limits=limits) as judge:
            return tune(task, source, judge=judge, cache=cache, rules=rules, tell=tell)


def _say_rejected(console: Console, verdict: Verdict, task: Task, candidate: Path) -> int:
    render_verdict(console, verdict, task.name, str(candidate))
    rejected = verdict.checked and not verdict.accepted
    why = "is not accepted as written" if rejected else "cannot be timed on this machine"
    console.print(f"  Only a kernel that is right is worth tuning; this one {why}.")
    return REJECTED if rejected else CANNOT_JUDGE


# *** what was found ***


def _render(console: Console, tuned: Tuned, out: Path | None) -> None:
    console.print(_headline(tuned), soft_wrap=True)
    console.print(_table(tuned))
    _render_failures(console, tuned)
    if len(tuned.winners) > 1:
        for case, name in tuned.winners.items():
            console.print(f"  fastest on {escape(case)}: {escape(name)}", soft_wrap=True)
    for sentence in tuned.said:
        console.print(f"  {escape(sentence)}", soft_wrap=True)
    where = f"in {out}" if out else "written with --out FILE"
    console.print(f"  [bold]best:[/] {escape(tuned.best.name)}, {tuned.gain:.2f}x as fast as written; {where}")


def _headline(tuned: Tuned) -> str:
    space, race = tuned.space, tuned.outcome
    ruled_out = space.combinations - len(space)
    tried = f"{len(race.forms)} tried in {race.heats} heats, {race.spent:.1f} s"
    kept = f" ({tuned.replayed} laps from the cache)" if tuned.replayed else ""
    return f"{len(space)} configurations, {ruled_out} more ruled out before compiling; {tried}{kept}"


def _table(tuned: Tuned) -> Table:
    table = Table("configuration", "verdict", "ms", "over eager", "95 % interval", box=None, padding=(0, 2))
    as_written = [] if tuned.as_written in tuned.finalists else [tuned.as_written]
    chosen = [] if tuned.best in (*tuned.finalists, *as_written) else [tuned.best]
    for judged in (*chosen, *tuned.finalists, *as_written):
        name = f"{judged.name} ({_role(tuned)})" if judged == tuned.as_written else judged.name
        table.add_row(escape(name), *_cells(judged))
    return table


def _role(tuned: Tuned) -> str:
    """Where a limit of this machine rules the values as written out, another configuration stands in for them."""
    return "as written" if tuned.as_written.text == tuned.template.source else "instead of as written"


def _cells(judged: Judged) -> tuple[str, ...]:
    if not judged.ratio:
        return (str(judged.verdict.status), "", "", "")
    ratio = judged.verdict.speedup["eager"]
    interval = f"{ratio['low']:.2f} to {ratio['high']:.2f}"
    return (
        str(judged.verdict.status),
        f"{judged.verdict.time_ms['candidate']:.4g}",
        f"{ratio['ratio']:.2f}x",
        interval,
    )


def _render_failures(console: Console, tuned: Tuned) -> None:
    failed = [form for form in tuned.outcome.forms if not form.ran]
    if failed:
        console.print(f"  {len(failed)} of those tried failed:")
    for form in failed[:MOST_FAILURES]:
        console.print(f"    {escape(str(form.configuration))}: {escape(form.failure)}", soft_wrap=True)
