"""The command line in this process: what it prints, how it ends, and a judge that outlives one command."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from kernelwright.cli import _bench, _doctor, _eval, _profile, _suites_audit, _trace, _tune, _verify
from kernelwright.cli._app import app
from kernelwright.judge import Judge
from tests.judge.texts import EIGHT, eight_folder

Invoke = Callable[..., Result]


@pytest.fixture(scope="module", autouse=True)
def _cache_here(throwaway_cache: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(throwaway_cache))
        patch.delenv("KERNELWRIGHT_CXX", raising=False)
        patch.setenv("COLUMNS", "200")
        yield


@pytest.fixture(scope="module")
def kept_judge(_cache_here: None, open_judge: Judge) -> Judge:
    return open_judge


@pytest.fixture
def one_judge(kept_judge: Judge, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Commands of this test use one judge that is already there, and leave it the tasks they have prepared.

    Starting one takes longer than the test, and preparing a task as long.
    """
    monkeypatch.setattr(kept_judge, "forget", lambda task: None)
    for command in (_bench, _doctor, _eval, _profile, _suites_audit, _trace, _tune, _verify):
        monkeypatch.setattr(command, "Judge", lambda **_: contextlib.nullcontext(kept_judge))
    return kept_judge


@pytest.fixture(scope="session")
def invoke() -> Invoke:
    """Runs the command. A traceback is never how it may end."""

    def run(*arguments: object) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def cannot_judge(invoke: Invoke) -> Callable[..., str]:
    """Runs a command that must end with exit code 2, a sentence with these words and a line that says what to do."""

    def run(*arguments: object, names: list[str], fix: str) -> str:
        result = invoke(*arguments)
        assert result.exit_code == 2, result.output
        headline, _, rest = result.stderr.partition("Next:")
        for word in names:
            assert word in headline
        assert fix in rest
        assert rest.strip()
        assert "Traceback" not in result.output
        return str(result.stderr)

    return run


@pytest.fixture
def eight(tmp_path: Path) -> tuple[Path, Path]:
    """A small task and a right candidate for it."""
    candidate = tmp_path / "candidate.py"
    candidate.write_text(EIGHT)
    return eight_folder(tmp_path), candidate
