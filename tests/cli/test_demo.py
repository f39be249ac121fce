"""`demo`: everyday fusions made faster on this machine, shown with what did not come out well."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kernelwright.archive import Archive, Entry
from kernelwright.cli import _demo
from kernelwright.cli._demo import BASELINES, FUSIONS, SUITE
from kernelwright.cli._demo_screen import Row, show
from kernelwright.engine import Budget, Found, Winner
from kernelwright.judge import certificate
from kernelwright.tasks import Task, load_task
from tests.cli.conftest import Invoke

CELL = (1, 0, 3)
AHEAD = ((3.0, 2.9, 3.1), (1.5, 1.4, 1.6))


def verdict(eager: tuple[float, float, float], compiled: tuple[float, float, float]) -> dict[str, Any]:
    speedup = {
        name: dict(zip(("ratio", "low", "high"), found, strict=True))
        for name, found in zip(BASELINES, (eager, compiled), strict=True)
    }
    check = {"calls": 40, "trials": [1] * 20, "error_budget_used": 0.25}
    told = {"status": "CORRECT", "speedup": speedup, "time_ms": {"candidate": 1.0}, "machine": {"cpu": "a processor"}}
    return {**told, "evidence": {"check": check}}


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(f"{SUITE}:bias_gelu")


def row(task: Task, name: str, eager: tuple[float, float, float], compiled: tuple[float, float, float]) -> Row:
    entry = Entry("f" * 64, CELL, 0.5, 0.4, 0.6)
    archive = Archive()
    archive.offer(entry)
    found = Found("run", "time is up", archive, "source", Winner(entry, "job", verdict(eager, compiled)))
    return Row(words=FUSIONS[name], task=replace(task, name=name), judged=5, found=found)


def shown(*rows: Row) -> str:
    console = Console(file=io.StringIO(), record=True, width=100, highlight=False)
    show(console, rows, Path("demo"), 61.0)
    return console.export_text()


def test_whoever_is_behind_or_unclear_is_named(task: Task) -> None:
    text = shown(
        row(task, "bias_gelu", (3.0, 2.9, 3.1), (1.5, 1.4, 1.6)),
        row(task, "linear_relu", (0.8, 0.7, 0.9), (1.0, 0.9, 1.1)),
        Row(words=FUSIONS["self_attention"], task=task, judged=3, why="2 of 1632 elements wrong"),
    )
    assert "Against eager PyTorch: 1 of 3 clearly ahead; behind: matmul + bias + ReLU." in text
    assert "Against torch.compile: 1 of 3 clearly ahead; unclear: matmul + bias + ReLU." in text
    assert "small attention: no kernel: 2 of 1632 elements wrong" in text
    assert re.search(r"bias \+ GELU +1 +3\.00x \[2\.90, 3\.10\] +1\.50x \[1\.40, 1\.60\] +5", text)


def test_the_archive_and_the_certificate_of_the_best_are_shown(task: Task) -> None:
    text = shown(
        row(task, "linear_relu", (0.8, 0.7, 0.9), (1.0, 0.9, 1.1)),
        row(task, "bias_gelu", (3.0, 2.9, 3.1), (1.5, 1.4, 1.6)),
    )
    assert "1 of 64 cells filled" in text
    assert "kernelwright verify demo/bias_gelu.json" in text
    assert "40 calls on 20 trials, 25% of the error budget used" in text


def test_where_nothing_was_accepted_there_is_no_certificate(task: Task) -> None:
    text = shown(Row(words="x", task=task, why="the compiler is gone"))
    assert "x: no kernel: the compiler is gone" in text
    assert "certificate" not in text


@pytest.mark.parametrize(
    ("arguments", "names", "fix"),
    [
        (["bias_gelo"], ["no fusion 'bias_gelo'"], "bias_gelu"),
        (["--evaluations", "0"], ["0 kernels"], "--evaluations 1"),
    ],
)
def test_what_it_does_not_have_is_said(cannot_judge, tmp_path: Path, arguments, names, fix) -> None:
    cannot_judge("demo", *arguments, "--out", tmp_path / "demo", names=names, fix=fix)
    assert not (tmp_path / "demo").exists()


class Punctual:
    """A timetable with room for so many, every search of which has four seconds."""

    def __init__(self, room: int) -> None:
        self.room = room

    def has_room(self) -> bool:
        return self.room > 0

    def seconds(self) -> float:
        return 4.0

    def kernels(self, seconds: float) -> int:
        return 2

    def passed(self, planned: float, taken: float) -> None:
        self.room -= 1


def test_what_there_is_no_time_for_is_named_with_how_to_search_it(task: Task, monkeypatch) -> None:
    asked: list[Budget] = []
    monkeypatch.setattr(_demo, "_row", lambda task, stage, budget: asked.append(budget) or row(task, task.name, *AHEAD))
    tasks = [task, replace(task, name="rmsnorm_scale")]
    stage = _demo.Stage(fleet=None, store=None, writer=None, evaluations=12)  # type: ignore[arg-type]
    first, second = _demo._rows(tasks, stage, Punctual(1))  # type: ignore[arg-type]
    assert asked == [Budget(evaluations=2, wall_seconds=4.0)]
    assert first.winner is not None
    text = shown(first, second)
    assert "RMSNorm + scale: no kernel: six minutes do not suffice" in text
    assert "kernelwright demo rmsnorm_scale" in " ".join(text.split())
    assert "1 searches in" in text


def test_every_fusion_is_a_task_of_the_suite() -> None:
    assert [load_task(f"{SUITE}:{name}").name for name in FUSIONS] == list(FUSIONS)


@pytest.mark.long
def test_the_demo_with_a_small_budget(invoke: Invoke, tmp_path: Path) -> None:
    out, picture = tmp_path / "demo", tmp_path / "demo.svg"
    result = invoke("demo", "bias_gelu", "rmsnorm_scale", "--evaluations", 1, "--out", out, "--svg", picture)
    assert result.exit_code == 0, result.output
    for words in ("bias + GELU", "RMSNorm + scale", "over torch.compile", "cells filled", "kernelwright verify"):
        assert words in result.stdout
    claim = certificate.read((out / "bias_gelu.json").read_text())
    assert claim.baselines == BASELINES
    assert claim.candidate == (out / "bias_gelu.py").read_text()
    assert "torch.compile" in picture.read_text()
