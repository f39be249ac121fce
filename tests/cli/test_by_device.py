"""`show --by-device`, `port`, `worker join`: what is said of devices, and of those that are not there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.engine import Budget, Means, Plan, resume
from kernelwright.store import Store
from kernelwright.tasks import load_task
from tests.cli.conftest import Invoke
from tests.engine.test_devices import DEVICES, Lame, luck, teams
from tests.engine.world import Courts, Writer
from tests.judge.texts import TASKS, relu_folder


def _played(path: Path, devices: tuple[str, ...], courts: type[Courts] = Courts) -> str:
    task, budget = load_task(TASKS / "relu.py"), Budget(evaluations=6)
    plan = Plan(backend="cpp", budget=budget, lanes=1, devices=devices, without=("profile",))
    with Store(path) as store:
        about = {"task": task.hash, "wire": task.to_wire(), "settings": plan.to_json()}
        run = store.begin_run(**about, versions={}, machine={}).id
        resume(run, Means(store=store, proposer=Writer(teams), fleet=courts(luck=luck)))
    return run


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("runs") / "runs.db"
    return path, _played(path, DEVICES)


def test_a_column_for_each_device_and_who_wins_there(invoke: Invoke, kept: tuple[Path, str]) -> None:
    path, run = kept
    shown = invoke("show", run, "--store", path, "--by-device").output
    assert all(device in shown for device in DEVICES)
    assert shown.count("*") == len(DEVICES)
    assert "large: best" in shown
    assert "small: best" in shown


def test_a_device_that_nobody_has_is_named_with_the_reason(invoke: Invoke, tmp_path: Path) -> None:
    run = _played(tmp_path / "runs.db", DEVICES, Lame)
    shown = invoke("show", run, "--store", tmp_path / "runs.db", "--by-device").output
    assert "small: best nothing accepted" in shown
    assert "not everything was judged there: no node of this fleet judges cpp on small" in shown


def test_a_task_for_a_device_that_is_not_here_is_told_before_anything_is_begun(
    cannot_judge: Callable[..., str], tmp_path: Path
) -> None:
    folder = relu_folder(tmp_path)
    (folder / "task.toml").write_text('targets = ["a-toaster"]\n' + (folder / "task.toml").read_text())
    command = ["optimize", folder, "--model", "builtin", "--store", tmp_path / "runs.db", "--evaluations", 1]
    cannot_judge(*command, names=["preflight: this is", "and not a-toaster"], fix="nothing was paid for")


def test_a_run_without_devices_is_told(cannot_judge: Callable[..., str], tmp_path: Path) -> None:
    run = _played(tmp_path / "runs.db", ())
    command = ["show", run, "--store", tmp_path / "runs.db", "--by-device"]
    cannot_judge(*command, names=["names no devices"], fix="--devices A,B")


def test_a_port_to_a_device_that_is_not_here_is_told_before_anything_is_begun(
    cannot_judge: Callable[..., str], kept: tuple[Path, str], tmp_path: Path
) -> None:
    path, run = kept
    (tmp_path / "kernel.py").write_text("import torch\n")
    command = ["port", run, "--to", "nvidia-h200", "--store", path, "--model", f"script/{tmp_path}"]
    cannot_judge(*command, names=["preflight: this is", "and not nvidia-h200"], fix="nothing was paid for")
    with Store(path) as store:
        assert [one.id for one in store.runs()] == [run]


@pytest.mark.parametrize(
    ("options", "what", "fix"),
    [
        (["127.0.0.1:1"], "nobody answers at 127.0.0.1:1", "worker head"),
        (["somewhere"], "is no address of a cluster", "HOST:PORT"),
        (["127.0.0.1:1", "--offer", "cobol"], "no backend 'cobol' to offer", "python"),
        (["127.0.0.1:1", "--cores", "99"], "--cores 99: not cores of this machine", "say some of"),
    ],
)
def test_what_a_node_cannot_join_with_is_told(
    cannot_judge: Callable[..., str], monkeypatch: pytest.MonkeyPatch, options: list[str], what: str, fix: str
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    cannot_judge("worker", "join", *options, names=[what], fix=fix)


def test_a_node_joins_with_a_token_or_not_at_all(
    cannot_judge: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    cannot_judge("worker", "join", "127.0.0.1:1", names=["no token for the cluster was given"], fix="RAY_AUTH_TOKEN")


def test_a_node_that_lacks_what_it_shall_offer_says_what_to_install(
    cannot_judge: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    monkeypatch.setenv("KERNELWRIGHT_CXX", "/nowhere/g++")
    names = ["this node cannot do cpp"]
    cannot_judge("worker", "join", "127.0.0.1:1", "--offer", "cpp", names=names, fix="unset KERNELWRIGHT_CXX")
