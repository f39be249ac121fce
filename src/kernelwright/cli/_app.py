"""The `kernelwright` command: its sub-commands, and how failures leave it."""

from __future__ import annotations

import sys

import typer

from kernelwright import __version__
from kernelwright.cli import (
    _bench,
    _best,
    _compare,
    _config,
    _demo,
    _doctor,
    _eval,
    _init,
    _optimize,
    _port,
    _profile,
    _prompts,
    _replay,
    _report,
    _resume,
    _runs,
    _store,
    _suites,
    _suites_audit,
    _suites_quality,
    _trace,
    _tune,
    _verify,
    _worker,
    _worker_ray,
)
from kernelwright.cli._failure import guarded

app = typer.Typer(
    name="kernelwright",
    help="Takes a computation, returns a faster kernel, with proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("eval", help=_eval.HELP)(guarded(_eval.run))
app.command("verify", help=_verify.HELP)(guarded(_verify.run))
app.command("profile", help=_profile.HELP)(guarded(_profile.run))
app.command("trace", help=_trace.HELP, context_settings=_trace.CONTEXT)(guarded(_trace.run))
app.command("tune", help=_tune.HELP)(guarded(_tune.run))
app.command("bench", help=_bench.HELP)(guarded(_bench.run))
app.command("optimize", help=_optimize.HELP)(guarded(_optimize.run))
app.command("resume", help=_resume.HELP)(guarded(_resume.run))
app.command("port", help=_port.HELP)(guarded(_port.run))
app.command("replay", help=_replay.HELP)(guarded(_replay.run))
app.command("runs", help=_runs.HELP)(guarded(_runs.run))
app.command("show", help=_runs.SHOW_HELP)(guarded(_runs.show))
app.command("best", help=_best.HELP)(guarded(_best.run))
app.command("config", help=_config.HELP)(guarded(_config.run))
app.command("report", help=_report.HELP)(guarded(_report.run))
app.command("compare", help=_compare.HELP)(guarded(_compare.run))
app.command("init", help=_init.HELP)(guarded(_init.run))
app.command("doctor", help=_doctor.HELP)(guarded(_doctor.run))
app.command("demo", help=_demo.HELP)(guarded(_demo.run))

suites = typer.Typer(pretty_exceptions_enable=False)
suites.callback(invoke_without_command=True)(guarded(_suites.run))
suites.command("audit", help=_suites_audit.HELP)(guarded(_suites_audit.run))
suites.command("quality", help=_suites_quality.HELP)(guarded(_suites_quality.run))
app.add_typer(suites, name="suites", help=_suites.HELP)

prompts = typer.Typer(pretty_exceptions_enable=False)
prompts.command("list", help=_prompts.LIST_HELP)(guarded(_prompts.list_all))
prompts.command("show", help=_prompts.SHOW_HELP)(guarded(_prompts.show))
prompts.command("diff", help=_prompts.DIFF_HELP)(guarded(_prompts.diff))
app.add_typer(prompts, name="prompts", help=_prompts.HELP, no_args_is_help=True)

store = typer.Typer(pretty_exceptions_enable=False)
store.command("info", help=_store.INFO_HELP)(guarded(_store.info))
store.command("export", help=_store.EXPORT_HELP)(guarded(_store.export))
store.command("import", help=_store.IMPORT_HELP)(guarded(_store.take_in))
store.command("migrate", help=_store.MIGRATE_HELP)(guarded(_store.migrate))
app.add_typer(store, name="store", help=_store.HELP, no_args_is_help=True)

worker = typer.Typer(pretty_exceptions_enable=False)
worker.command("spool", help=_worker.SPOOL_HELP)(guarded(_worker.run))
worker.command("head", help=_worker_ray.HEAD_HELP)(guarded(_worker_ray.head))
worker.command("join", help=_worker_ray.JOIN_HELP)(guarded(_worker_ray.join))
app.add_typer(worker, name="worker", help=_worker.HELP, no_args_is_help=True)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kernelwright {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    sys.exit(app())
