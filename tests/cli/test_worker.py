"""`worker spool`: what it says where there is nothing to judge, or no spool."""

from collections.abc import Callable
from pathlib import Path

from kernelwright.fleet import Spool
from tests.cli.conftest import Invoke


def test_a_folder_that_is_no_spool_is_told(cannot_judge: Callable[..., str], tmp_path: Path) -> None:
    cannot_judge("worker", "spool", tmp_path, names=[str(tmp_path), "is no spool folder"], fix="give the DIR")


def test_an_empty_spool_is_soon_judged(invoke: Invoke, tmp_path: Path) -> None:
    Spool(tmp_path)
    result = invoke("worker", "spool", tmp_path)
    assert result.exit_code == 0
    assert "0 judged; nothing more waits" in result.output


def test_the_kinds_of_workers_are_listed(invoke: Invoke) -> None:
    assert "spool" in invoke("worker").output
