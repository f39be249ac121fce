"""A Ray cluster as a fleet: every job to somebody who can do it, once; nobody's death is a candidate's fault."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.fleet import FleetError, Job, Kind, RayFleet, Result, judge_version, open_fleet, ray_cluster
from kernelwright.fleet.cluster import Abilities, Node, abilities, start_head, start_node
from kernelwright.store import Records
from tests.fleet.quick import HEARD, Quick, heard
from tests.judge.texts import RELU, TASKS

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.ray
LONG, PATIENCE = 60.0, 500.0
PYTHON = "import torch\n"
CPP = "from kernelwright import native\nlib = native.cpp('')\n"


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where judges of all nodes write down whom they heard; and a token, for all of this file."""
    folder = tmp_path_factory.mktemp("heard")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HEARD, str(folder))
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        yield folder


@pytest.fixture(scope="module")
def head(notes: Path) -> Iterator[Node]:
    node = start_head()
    yield node
    node.close()


@pytest.fixture(scope="module")
def offers() -> Abilities:
    return abilities(["cpp", "python"])


@pytest.fixture
def joined() -> Iterator[list[Node]]:
    nodes: list[Node] = []
    yield nodes
    for node in nodes:
        node.close()


@pytest.fixture
def join(head: Node, offers: Abilities, joined: list[Node]) -> Callable[..., Node]:
    """Nodes on this machine with the abilities that are said."""

    def start(name: str, **said: object) -> Node:
        joined.append(start_node(head.address, replace(offers, node=name, **said)))  # type: ignore[arg-type]
        return joined[-1]

    return start


@pytest.fixture
def fleet(head: Node, joined: list[Node], notes: Path) -> Iterator[Callable[..., RayFleet]]:
    opened: list[RayFleet] = []

    def start(patience_s: float = LONG) -> RayFleet:
        opened.append(RayFleet(head, judges=Quick, patience_s=patience_s))
        _wait_until(lambda: _there() <= len(joined))  # those of the test before are missed after a while
        return opened[-1]

    for note in notes.iterdir():
        note.unlink()
    yield start
    for one in opened:
        one.close()


def _there() -> int:
    """Nodes that judge, as far as the cluster knows."""
    return sum(node["Alive"] and "kernelwright-node" in node["Labels"] for node in ray.nodes())


def _wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def _all(fleet: RayFleet) -> list[Result]:
    found: list[Result] = []
    while some := fleet.finished(LONG):
        found += some
    return found


def _kinds(results: list[Result]) -> list[str]:
    return [str(result.kind) for result in results]


def test_every_job_comes_back_once_and_is_judged_by_a_node_that_can(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("with a compiler", times=("cpp",))
    join("without", times=("python",), builds=())
    court = fleet()
    jobs = [job(f"# {number}\n{text}") for number in range(6) for text in (PYTHON, CPP)]
    for one in [*jobs, jobs[0]]:
        court.submit(one)
    results = _all(court)
    assert sorted(result.job for result in results) == sorted(one.name for one in jobs)
    assert set(_kinds(results)) == {"judged"}
    assert all(result.verdict and result.judge == judge_version() for result in results)
    assert heard() == sorted(one.candidate for one in jobs)


def test_a_node_uses_the_threads_of_its_machine_and_not_those_that_ray_allows(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("one")
    court = fleet()
    court.submit(job(PYTHON))
    (result,) = _all(court)
    assert result.verdict is not None
    assert result.verdict["machine"]["threads"] == os.environ.get("OMP_NUM_THREADS", "all")


def test_nothing_listens_where_others_could_reach_it(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    node = join("one")
    court = fleet()
    court.submit(job(PYTHON))
    _all(court)
    listening = subprocess.run(["ss", "-tlnp"], capture_output=True, text=True, check=True).stdout.splitlines()
    ours = [line.split() for line in listening if any(f"pid={pid}," in line for pid in _family(os.getpid()))]
    assert any(f"pid={node.raylet}," in line[-1] for line in ours)
    assert [line[3] for line in ours if not line[3].startswith(("127.0.0.1:", "[::ffff:127.0.0.1]:", "[::1]:"))] == []


def _family(pid: int) -> list[int]:
    """A process and all below it."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [pid, *(one for child in children.stdout.split() for one in _family(int(child)))]


# What can happen


def test_a_node_that_is_killed_is_told_and_its_job_is_judged_elsewhere(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    first = join("first")
    court = fleet()
    court.submit(job(f"# wait 8\n{PYTHON}"))
    court.finished(2.0)
    join("second")
    os.kill(first.raylet, signal.SIGKILL)
    _wait_until(lambda: not first.alive())  # what runs there ends once somebody has noticed
    results = _all(court)
    assert _kinds(results) == ["retried", "judged"]
    assert "first was lost while it judged" in results[0].reason
    assert len(heard()) == 1


def test_a_device_that_fails_twice_is_not_used_any_more_and_that_is_said(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("one")
    court = fleet(patience_s=0.0)
    court.submit(job(f"# fault\n{PYTHON}"))
    results = _all(court)
    assert _kinds(results) == ["retried", "retried", "infra"]
    assert "one failed 2 times and is not used any more: InfraError: the template is gone" in results[1].reason
    court.submit(job(PYTHON))
    (result,) = _all(court)
    assert result.kind is Kind.INFRA
    assert "no node of this fleet judges python" in result.reason
    assert "one failed 2 times" in result.reason


def test_a_fault_goes_to_another_node_first(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("one")
    join("two")
    court = fleet(patience_s=0.0)
    court.submit(job(f"# fault\n{PYTHON}"))
    results = _all(court)
    assert {"one failed", "two failed"} <= {result.reason.partition(":")[0] for result in results}


def test_a_judge_that_takes_its_process_down_is_a_fault_of_the_device(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("one")
    court = fleet(patience_s=0.0)
    court.submit(job(f"# die\n{PYTHON}"))
    results = _all(court)
    assert results[-1].kind is Kind.INFRA
    assert any("not used any more" in result.reason for result in results)


def test_what_no_node_has_is_told_with_what_there_is(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("poor", times=("python",), builds=())
    court = fleet(patience_s=1.5)
    court.submit(job(CPP))
    (result,) = _all(court)
    assert result.kind is Kind.INFRA
    assert "no node of this fleet judges cpp: poor (" in result.reason
    assert "times python" in result.reason


def test_what_a_node_lacks_after_all_is_not_its_fault(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("one")
    court = fleet()
    for text in (f"# lacks\n{PYTHON}", f"# lacks more\n{PYTHON}", f"# lacks most\n{PYTHON}", PYTHON):
        court.submit(job(text))
    assert sorted(_kinds(_all(court))) == ["infra", "infra", "infra", "judged"]


def test_a_task_that_cannot_be_judged_is_refused(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("one")
    court = fleet()
    court.submit(job(f"# refused\n{PYTHON}"))
    (result,) = _all(court)
    assert (result.kind, result.reason) == (Kind.REFUSED, "the task is too weak")


def test_a_search_that_is_killed_and_asks_again_has_nothing_judged_twice(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("one")
    jobs = [job(f"# {number}\n{PYTHON}") for number in range(4)]
    for _ in range(2):
        court = fleet()
        for one in jobs:
            court.submit(one)
        assert len(_all(court)) == len(jobs)
        court.close()
    assert heard() == sorted(one.candidate for one in jobs)


def test_a_bench_that_fails_holds_nobody_up(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    """This judge cannot compile ahead: whoever is judged then is compiled there."""
    join("one")
    join("bench", times=())
    court = fleet()
    for number in range(4):
        court.submit(job(f"# wait 1 {number}\n{CPP}"))
    assert _kinds(_all(court)) == ["judged"] * 4


# Devices


def test_a_job_goes_to_the_device_that_is_asked_for(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("small", device="small-cpu")
    join("large", device="large-cpu", times=("cpp",))
    court = fleet(patience_s=1.5)
    court.submit(job(CPP, device="large-cpu"))
    court.submit(job(CPP, device="none-such"))
    results = {str(result.kind): result for result in _all(court)}
    assert set(results) == {"judged", "infra"}
    assert "no node of this fleet judges cpp on none-such" in results["infra"].reason


def test_times_of_different_devices_are_not_mixed(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    """Where nobody says which, the one that most nodes have, and that one alone."""
    join("a", device="common")
    join("b", device="common")
    join("c", device="rare")
    court = fleet()
    for number in range(9):
        court.submit(job(f"# wait 0.2 {number}\n{PYTHON}"))
    _all(court)
    pids = {path.name.split(".")[1] for path in Path(os.environ[HEARD]).iterdir()}
    assert len(pids) == 2


# Who is let in


def test_a_node_of_another_version_is_not_let_in(
    head: Node, offers: Abilities, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelwright.__version__", "99.0")
    with pytest.raises(FleetError, match=r"the cluster judges with kernelwright .* and this is 99\.0"):
        start_node(head.address, offers)


def test_a_node_that_says_it_is_of_another_version_is_not_used(
    join: Callable[..., Node], fleet: Callable[..., RayFleet], job: Callable[..., Job]
) -> None:
    join("old", judge="0.0.1")
    court = fleet(patience_s=1.5)
    court.submit(job(PYTHON))
    (result,) = _all(court)
    assert "old judges with kernelwright 0.0.1" in result.reason


def test_a_wrong_token_is_told(head: Node) -> None:
    code = f"from kernelwright.fleet import ray_cluster; ray_cluster('ray://{head.address}')"
    environment = os.environ | {"RAY_AUTH_TOKEN": "f" * 64}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONG, check=False)
    assert "the cluster does not accept this token" in done.stderr.splitlines()[-2]


def test_no_token_is_told(head: Node, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RAY_AUTH_TOKEN")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(FleetError, match="no token for the cluster was given"):
        ray_cluster(f"ray://{head.address}")


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("ray://127.0.0.1:1", "nobody answers at 127.0.0.1:1"),
        ("ray://nowhere", "is no address of a cluster"),
        ("local-ray/99", "99 nodes cannot share"),
        ("local-ray/x", "there is no fleet"),
    ],
)
def test_a_wrong_address_is_told(notes: Path, address: str, what: str) -> None:
    with pytest.raises(FleetError, match=what):
        open_fleet(address)


# The commands, with the real judge


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: object) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", "from kernelwright.cli import main; main()", *map(str, arguments)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def _line(process: "subprocess.Popen[str]", beginning: str) -> str:
    assert process.stdout is not None
    told = []
    for line in process.stdout:
        told.append(line)
        if line.startswith(beginning):
            return line
    raise AssertionError("".join(told))


def test_a_head_a_node_and_a_search_in_three_processes(
    start: Callable[..., "subprocess.Popen[str]"], notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "ready").mkdir()
    (tmp_path / "ready" / "0.py").write_text(RELU)
    head = start("worker", "head", "--port", 0)
    address = _line(head, "The cluster is at").split()[-1]
    node = start("worker", "join", address, "--offer", "cpp,python", "--name", "worker-one")
    assert "worker-one" in _line(node, "joined:")
    where = ["--fleet", f"ray://{address}", "--store", tmp_path / "runs.db"]
    search = start("optimize", TASKS / "relu.py", "--model", f"script/{tmp_path / 'ready'}", *where)
    output, _ = search.communicate(timeout=PATIENCE)
    assert search.returncode == 0, output
    with Records(tmp_path / "runs.db") as records:
        (run,) = records.runs()
        (verdict, *_) = (judged.verdict for judged in records.verdicts(run.id))
    assert {"cpu", "driver", "torch", "compiler", "kernelwright"} <= set(verdict["machine"])
    node.send_signal(signal.SIGTERM)
    assert "stopped" in node.communicate(timeout=PATIENCE)[0]
    assert node.returncode == 0
