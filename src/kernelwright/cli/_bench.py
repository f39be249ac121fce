"""`kernelwright bench`: judge solutions for a suite, given or searched for, and say what they amount to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.cli._bench_search import AGAIN, Searches, UnsearchableError, Wish, plan_from
from kernelwright.cli._eval import (
    FIT_SECONDS,
    BaselineOption,
    LimitOption,
    baselines_from,
    changed_limits,
    limits_from,
)
from kernelwright.cli._failure import CANNOT_JUDGE, UsageError, write_text
from kernelwright.cli._journal import Journal, Record, key
from kernelwright.cli._progress import progress
from kernelwright.cli._search import STORE, WHERE, BaseUrlOption, as_place, usual_store
from kernelwright.cli._selection import check_mode, selected
from kernelwright.cli._suites import SuiteDirOption
from kernelwright.engine import MECHANISMS, METHODS
from kernelwright.judge import InfraError, Judge, OutOfReach, Prebuild, Status, Verdict, fit, source_hash
from kernelwright.report import Bench, Fate, Result, attempts, summary_rows, to_csv, to_json, to_markdown
from kernelwright.store import Place
from kernelwright.tasks import Task, TaskError
from kernelwright.tasks.suites import Problem, Quality, Solution, Suite, find_solutions

HELP = "Judge solutions for a suite, or search for them: correctness, fast_p, means. Resumable. Exit 0 or 2."
MOST_FAULTS = 3
SEARCHED = Path("searched")
TASK_ERROR, NOTHING = "TASK_ERROR", "NOTHING_ACCEPTED"
# How Python says that a function takes other arguments, and the judge that a model has other weights.
_ARGUMENTS = re.compile(r"(__init__|forward)\(\) (takes|missing|got)|do not have the reference's names")

SuiteArgument = Annotated[
    list[str], typer.Argument(help="What to judge: kernelbench, kernelbench:1, kernelbench:1/19.")
]

BenchStoreOption = Annotated[
    Place | None,
    typer.Option(
        "--store", metavar="PLACE", parser=as_place, help=f"Where runs are kept: {WHERE}; {STORE} if not said."
    ),
]


def run(
    suite: SuiteArgument,
    solutions: Annotated[
        Path | None, typer.Option("--solutions", help="Folder of solutions, in KernelBench's run layout.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write; SOLUTIONS/judged or ./searched if not said.")
    ] = None,
    baseline: BaselineOption = "eager",
    quality: Annotated[
        Path | None, typer.Option("--quality", help="A file by `suites audit`, for the clean set.")
    ] = None,
    attempted: Annotated[
        bool, typer.Option("--attempted", help="Count only problems that have a solution, not all that were named.")
    ] = False,
    fit_machine: Annotated[bool, typer.Option("--fit", help="Shrink every task to this machine first.")] = False,
    mode: Annotated[str | None, typer.Option(help="Put the models in train or eval mode.")] = None,
    untimed: Annotated[bool, typer.Option("--untimed", help="Check only; do not time.")] = False,
    suite_dir: SuiteDirOption = None,
    limit: LimitOption = None,
    search: Annotated[bool, typer.Option("--search", help="Search for solutions; the options below say how.")] = False,
    model: Annotated[str | None, typer.Option(help="Who writes, as for optimize.")] = None,
    backend: Annotated[str | None, typer.Option(help="The language to write in; cpp if not said.")] = None,
    evaluations: Annotated[int | None, typer.Option(help="Of each problem: candidates to judge at most.")] = None,
    tokens: Annotated[int | None, typer.Option(help="Of each problem: tokens to spend at most.")] = None,
    dollars: Annotated[float | None, typer.Option(help="Of each problem: money to spend at most.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Of each problem: how long to go on at most.")] = None,
    judge_minutes: Annotated[float | None, typer.Option(help="Of each problem: how long to judge at most.")] = None,
    target: Annotated[float | None, typer.Option(help="Enough: a speedup over eager that is certain.")] = None,
    roof: Annotated[float | None, typer.Option(help="Enough: this share of what the hardware can do.")] = None,
    plateau: Annotated[int | None, typer.Option(help="Enough: so many evaluations with nothing better.")] = None,
    method: Annotated[str | None, typer.Option(help=f"How to search: {', '.join(METHODS)}.")] = None,
    without: Annotated[str | None, typer.Option(help=f"What to leave out: {', '.join(MECHANISMS)}.")] = None,
    in_flight: Annotated[int | None, typer.Option(help="How many requests may be under way at once.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every choice.")] = None,
    base_url: BaseUrlOption = None,
    store: BenchStoreOption = None,
) -> None:
    options: dict[str, Any] = {
        "model": model,
        "backend": backend,
        "evaluations": evaluations,
        "tokens": tokens,
        "dollars": dollars,
        "minutes": minutes,
        "judge_minutes": judge_minutes,
        "target": target,
        "roof": roof,
        "plateau": plateau,
        "method": method,
        "without": without,
        "in_flight": in_flight,
        "seed": seed,
        "base_url": base_url,
        "store": store,
    }
    said = {option: value for option, value in options.items() if value is not None}
    check_mode(mode)
    _check_together(solutions, search=search, attempted=attempted, untimed=untimed)
    wish = _wish(said, limit or [], search=search, fitted=fit_machine, mode=mode)
    found, problems = selected(suite, suite_dir)
    audited = _audited(quality, found)
    console = Console(highlight=False)
    answers = _answers(solutions, problems, console) if solutions else ()
    if attempted:
        answered = {solution.problem for solution in answers}
        problems = [problem for problem in problems if problem.id in answered]
    folder = out or (solutions / "judged" if solutions else SEARCHED)
    settings = _Settings(_baselines(baseline), fit_machine, mode, not untimed, tuple(limit or []))
    journal = Journal(folder / "verdicts.jsonl")
    with Judge(limits=limits_from(list(settings.limits)), baselines=settings.baselines) as judge:
        with Prebuild(judge, _unheard(answers, journal)) as prebuild:
            _compile_first(prebuild)
            court = _Court(judge, settings, journal, prebuild)
            if wish is None:
                records = _judged(court, problems, answers, console)
            else:
                records = _searched(court, Searches(wish, folder, judge, console), problems, console)
        context = _context(" ".join(suite), found, settings, judge) | _clean_by(audited) | _searched_with(wish)
    bench = _bench(problems, records, settings, audited, context)
    _write(bench, folder)
    _show(console, bench, folder)
    if records and all(record["fate"] == Fate.UNJUDGED for record in records):
        raise UsageError(f"nothing could be judged: {records[0]['message']}", "see report.md for each problem")


def _check_together(solutions: Path | None, *, search: bool, attempted: bool, untimed: bool) -> None:
    if not search and solutions is None:
        raise UsageError("nothing is said to be judged", "give --solutions DIR, or --search --model NAME")
    beside = {"--solutions": solutions is not None, "--attempted": attempted, "--untimed": untimed}
    for option, given in beside.items():
        if search and given:
            raise UsageError(f"{option} does not go with --search", "leave one of them out")


def _wish(said: Mapping[str, Any], limit: list[str], *, search: bool, fitted: bool, mode: str | None) -> Wish | None:
    """How to search; None where nothing is to be searched."""
    if not search and said:
        option = next(iter(said)).replace("_", "-")
        raise UsageError(f"--{option} says how to search, and nothing is searched", "add --search, or leave it out")
    if not search:
        return None
    if "model" not in said:
        raise UsageError("--search needs someone who writes", "add --model, such as --model openai/NAME")
    return Wish(
        model=said["model"],
        base_url=said.get("base_url"),
        plan=plan_from(said, changed_limits(limit)),
        store=said.get("store") or usual_store(),
        fit=fitted,
        mode=mode,
    )


def _answers(solutions: Path, problems: list[Problem], console: Console) -> tuple[Solution, ...]:
    answers = find_solutions(solutions, problems)
    if answers.others:
        console.print(f"[dim]left out, for they answer none of these problems: {len(answers.others)} of the files[/]")
    return answers.found


def _searched_with(wish: Wish | None) -> dict[str, str]:
    return {"searched with": wish.in_words()} if wish else {}


@dataclass(frozen=True)
class _Settings:
    baselines: tuple[str, ...]
    fit: bool
    mode: str | None
    timed: bool
    limits: tuple[str, ...]


def _baselines(text: str) -> tuple[str, ...]:
    """Eager comes first, asked for or not: the judge times it always, and it chooses between samples."""
    return tuple(dict.fromkeys(["eager", *baselines_from(text)]))


def _audited(path: Path | None, suite: Suite) -> Quality | None:
    if path is None:
        return Quality.shipped(suite.name, suite.version)
    quality = Quality.read(path)
    if quality.suite != suite.name:
        raise UsageError(f"{path} is about {quality.suite}, not {suite.name}", "give the quality file of this suite")
    return quality


# Judging


def _judged(
    court: _Court, problems: Iterable[Problem], solutions: tuple[Solution, ...], console: Console
) -> list[Record]:
    records: list[Record] = []
    try:
        with progress("judging", len(solutions)) as bar:
            for problem in problems:
                mine = [solution for solution in solutions if solution.problem == problem.id]
                bar.now(problem.address)
                records += court.hear(problem, mine) if mine else []
                bar.advance(len(mine))
    except KeyboardInterrupt:
        console.print("[bold red]Stopped:[/] every verdict so far is kept; run the same command to go on.")
        raise typer.Exit(CANNOT_JUDGE) from None
    return records


def _searched(court: _Court, searches: Searches, problems: list[Problem], console: Console) -> list[Record]:
    """Searches problem by problem, and judges once more what was found: the best of many was lucky, too."""
    records: list[Record] = []
    try:
        for number, problem in enumerate(problems, start=1):
            console.print(f"[bold]{escape(problem.address)}[/] ({number} of {len(problems)})", soft_wrap=True)
            records += _sought(court, searches, problem)
            console.print(f"  {records[-1]['status']}: {escape(records[-1]['message'])}", soft_wrap=True)
    except KeyboardInterrupt:
        console.print(f"[bold red]Stopped:[/] every reply and verdict so far is kept; {AGAIN}.")
        raise typer.Exit(CANNOT_JUDGE) from None
    return records


def _sought(court: _Court, searches: Searches, problem: Problem) -> list[Record]:
    try:
        best = searches.best(problem)
    except TaskError as error:
        return [court.note(problem, _refusal(error))]
    except UnsearchableError as error:
        return [court.note(problem, {"fate": str(Fate.UNJUDGED), "status": TASK_ERROR, "message": str(error)})]
    if isinstance(best, Path):
        return court.hear(problem, [Solution(problem.id, 0, best)])
    return [court.note(problem, {"fate": str(Fate.REJECTED), "status": NOTHING, "message": best})]


def _compile_first(prebuild: Prebuild) -> None:
    """Where compilers would disturb what is timed."""
    if not prebuild.beside:
        with progress("compiling", len(prebuild)) as bar:
            prebuild.finish(bar.advance)


class _Court:
    """Hears the solutions of one problem after the other, and writes down every verdict before it counts."""

    def __init__(self, judge: Judge, settings: _Settings, journal: Journal, prebuild: Prebuild) -> None:
        self._judge, self._settings, self._journal, self._prebuild = judge, settings, journal, prebuild
        self._faults = 0

    def hear(self, problem: Problem, solutions: list[Solution]) -> list[Record]:
        """A record for each solution and variant. After a rejection the other variants need not be tried."""
        pleas = [(solution, _text(solution.path)) for solution in solutions]
        try:
            tasks = problem.tasks(mode=self._settings.mode)
        except TaskError as error:
            return [{**self._blank(solution, text, 1, None), **_refusal(error)} for solution, text in pleas]
        records: list[Record] = []
        for variant, task in enumerate(tasks, start=1):
            ready = _Ready(self._judge, task, fitted=self._settings.fit)
            heard = [(plea, self._one(ready, *plea, variant)) for plea in pleas]
            ready.close()
            records += [record for _, record in heard]
            pleas = [plea for plea, record in heard if record["fate"] != Fate.REJECTED]
        return records

    def note(self, problem: Problem, fate: Record) -> Record:
        """A record for a problem of which there is no solution to hear; in the journal once."""
        blank = self._blank(Solution(problem.id, 0, Path()), "", 1, None)
        record = {**blank, "file": "", "candidate": "", **fate}
        known = self._journal.get(key(record))
        if known is None or known["message"] != record["message"]:
            self._journal.append(record)
        return record

    def _one(self, ready: _Ready, solution: Solution, text: str, variant: int) -> Record:
        blank = self._blank(solution, text, variant, ready.task)
        known = self._journal.get(key(blank))
        if known is not None:
            # The same text for the same task: only its name may have changed.
            return {**known, "sample": solution.sample, "file": blank["file"]}
        record = {**blank, **self._verdict(ready, text)}
        self._journal.append(record)
        return record

    def _verdict(self, ready: _Ready, text: str) -> Record:
        try:
            task, changes = ready.get(text)
            self._prebuild.ready(text)
            verdict = self._judge.judge(task, text, timed=self._settings.timed)
        except TaskError as error:
            ready.refuse(text, error)
            return _refusal(error)
        except OutOfReach as error:
            return _unjudged(error)
        except InfraError as error:
            self._faults += 1
            if self._faults >= MOST_FAULTS:
                raise
            return _unjudged(error)
        self._faults = 0
        return {**_told(verdict), "changes": changes, "judged": task.hash}

    def _blank(self, solution: Solution, text: str, variant: int, task: Task | None) -> Record:
        return {
            "format": 1,
            "problem": solution.problem,
            "variant": variant,
            "sample": solution.sample,
            "file": str(solution.path),
            "task": task.hash if task else "",
            "candidate": source_hash(text),
            "fit": self._settings.fit,
            "timed": self._settings.timed,
            "baselines": list(self._settings.baselines),
            "limits": list(self._settings.limits),
            "cpu": self._judge.machine["cpu"],
            "gpu": self._judge.machine["gpu"],
            "date": date.today().isoformat(),
            "speedup": {},
            "flaws": [],
            "changes": [],
        }


class _Ready:
    """A task at the size that is judged: one size for all, and refused once for all that are judged in one place."""

    def __init__(self, judge: Judge, task: Task, *, fitted: bool) -> None:
        self.task, self._judge, self._fitted = task, judge, fitted
        self._smaller: tuple[Task, list[str]] | None = None
        self._refusals: dict[bool, TaskError] = {}

    def get(self, text: str) -> tuple[Task, list[str]]:
        """The task for this candidate, and in words what was changed. Raises what an earlier one met."""
        refusal = self._refusals.get(self._judge.belongs_on_device(text))
        if refusal is not None:
            raise refusal
        if self._smaller is None:
            fits = fit(self._judge, self.task, seconds=FIT_SECONDS) if self._fitted else (self.task, [])
            self._smaller = fits
        return self._smaller

    def refuse(self, text: str, error: TaskError) -> None:
        self._refusals[self._judge.belongs_on_device(text)] = error

    def close(self) -> None:
        if self._smaller is not None:
            self._judge.forget(self._smaller[0])


def _unheard(solutions: Iterable[Solution], journal: Journal) -> list[str]:
    """Texts of which no verdict is known."""
    texts = [_text(solution.path) for solution in solutions]
    return [text for text in texts if not journal.has_heard(source_hash(text))]


def _text(path: Path) -> str:
    """A solution's text. Bytes that are none are left for the judge to reject."""
    try:
        return path.read_bytes().decode(errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"solution {path} cannot be read: {error.strerror}", "check its permissions") from error


def _told(verdict: Verdict) -> Record:
    return {
        "fate": str(_fate(verdict)),
        "status": str(verdict.status),
        "message": verdict.message + _misplaced(verdict),
        "speedup": verdict.speedup,
        "verdict": verdict.to_json(),
    }


def _misplaced(verdict: Verdict) -> str:
    """What a person should look at first where a solution does not even take what the problem gives it."""
    if verdict.accepted or not _ARGUMENTS.search(verdict.message):
        return ""
    return " (is it a solution for another problem? its file name says for which)"


def _fate(verdict: Verdict) -> Fate:
    """What this machine could only compile is not judged."""
    if verdict.accepted:
        return Fate.ACCEPTED
    return Fate.REJECTED if verdict.checked else Fate.UNJUDGED


def _unjudged(error: InfraError) -> Record:
    return {"fate": str(Fate.UNJUDGED), "status": str(Status.INFRA), "message": str(error)}


def _refusal(error: TaskError) -> Record:
    fate = Fate.WEAK if error.flaws else Fate.UNJUDGED
    return {"fate": str(fate), "status": TASK_ERROR, "message": error.what, "flaws": list(error.flaws)}


# Reporting


def _context(selection: str, suite: Suite, settings: _Settings, judge: Judge) -> dict[str, Any]:
    return {
        "selection": selection,
        "suite": suite.name,
        "version": suite.version or "unknown",
        "date": date.today().isoformat(),
        "settings": {"fit": settings.fit, "mode": settings.mode or "as the suite says", "timed": settings.timed},
        "machine": judge.machine,
    }


def _clean_by(audited: Quality | None) -> dict[str, str]:
    return {"clean set": f"by an audit of version {audited.version or 'unknown'}"} if audited else {}


def _bench(
    problems: Iterable[Problem],
    records: list[Record],
    settings: _Settings,
    audited: Quality | None,
    context: Mapping[str, Any],
) -> Bench:
    tried = attempts(records)
    results = [
        Result(problem.id, problem.title, tuple(attempt for attempt in tried if attempt.problem == problem.id))
        for problem in problems
    ]
    return Bench(tuple(results), settings.baselines, audited.flagged() if audited else None, context)


def _write(bench: Bench, folder: Path) -> None:
    write_text(folder / "report.json", to_json(bench))
    write_text(folder / "report.csv", to_csv(bench))
    write_text(folder / "report.md", to_markdown(bench))


def _show(console: Console, bench: Bench, folder: Path) -> None:
    heading, rows = summary_rows(bench)
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(heading[0])
    for name in heading[1:]:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    console.print("[dim]95 % intervals over problems; a failure counts as 1.0 only where the row says so[/]")
    console.print(f"wrote report.json, report.csv, report.md, verdicts.jsonl in {escape(str(folder))}", soft_wrap=True)
