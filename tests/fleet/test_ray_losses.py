"""Three nodes, three hundred candidates in two languages, five nodes killed and the search itself: nothing is lost."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.archive import Archive, Cell
from kernelwright.engine import Means, Recorded, archive_of, recorded_replies, replay
from kernelwright.fleet import Here
from kernelwright.fleet.cluster import Node, abilities, on, start_head, start_node
from kernelwright.store import Records, State, Store, StoreError
from tests.fleet.lost import is_right, search, write_candidates
from tests.fleet.quick import HEARD, Quick, heard

pytest.importorskip("ray")
pytestmark = [pytest.mark.ray, pytest.mark.slow]
CANDIDATES, KILLS, SEED = 300, 5, 1
PATIENCE_S = 1500.0
OFFERS = {
    "both": {},
    "native": {"times": ("cpp",)},
    "plain": {"times": ("python",), "builds": ()},
}


class Cluster:
    """Three nodes with different abilities; one that is killed comes back as another."""

    def __init__(self) -> None:
        self.head = start_head()
        self.offers = {name: replace(abilities(["cpp", "python"]), node=name, **said) for name, said in OFFERS.items()}
        self.nodes = {name: self._start(name) for name in OFFERS}

    def _start(self, name: str) -> Node:
        """On a core of its own, as far as there are any."""
        cores = sorted(os.sched_getaffinity(0))
        with on([cores[list(OFFERS).index(name) % len(cores)]]):
            return start_node(self.head.address, self.offers[name])

    def kill(self, name: str) -> None:
        os.kill(self.nodes[name].raylet, signal.SIGKILL)
        self.nodes[name].close()
        self.nodes[name] = self._start(name)

    def close(self) -> None:
        for node in (*self.nodes.values(), self.head):
            node.close()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    (tmp_path / "heard").mkdir()
    monkeypatch.setenv(HEARD, str(tmp_path / "heard"))
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
    started = Cluster()
    yield started
    started.close()


def _start(judge: str, cluster: Cluster, folder: Path, *run: str) -> subprocess.Popen[bytes]:
    arguments = [judge, cluster.head.address, str(folder / "runs.db"), str(folder / "ready"), *run]
    return subprocess.Popen([sys.executable, "-m", "tests.fleet.lost", *arguments])


def _judged(store: Path) -> int:
    try:
        with Records(store) as records:
            return sum(records.spent(run.id).evaluations for run in records.runs())
    except StoreError:
        return 0


def _wait_for(store: Path, number: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE_S
    while _judged(store) < number:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.1)


def _search_and_kill(judge: str, cluster: Cluster, folder: Path) -> str:
    """Five nodes at random moments, and the search itself once; the run, which has come to its end."""
    (folder / "ready").mkdir()
    write_candidates(folder / "ready", CANDIDATES)
    store, rng = folder / "runs.db", random.Random(SEED)
    moments = sorted(rng.sample(range(10, CANDIDATES - 30), KILLS + 1))
    process, run = _start(judge, cluster, folder), ""
    for place, moment in enumerate(moments):
        _wait_for(store, moment, process)
        if place == KILLS // 2:
            process.kill()
            process.wait()
            with Records(store) as records:
                run = next(iter(records.runs())).id
            process = _start(judge, cluster, folder, run)
        else:
            cluster.kill(rng.choice(list(OFFERS)))
    assert process.wait(PATIENCE_S) == 0
    return run


def _check_nothing_is_lost_or_learned_twice(records: Records, run: str, folder: Path) -> Archive:
    """And an undisturbed replay comes to the same archive, which is returned."""
    assert records.run(run).state is State.FINISHED
    verdicts = list(records.verdicts(run))
    assert len({judged.candidate for judged in verdicts}) == CANDIDATES
    assert set(Counter(judged.job for judged in verdicts).values()) == {1}
    assert "rewrite" in {asked.kind for asked in records.requests(run)}
    # A node that dies with a result that nobody has heard takes it along; no other is judged twice.
    assert 0 <= len(heard()) - len(verdicts) <= KILLS
    found = archive_of(records, run)
    with Store(folder / "again.db") as copy:
        means = Means(store=copy, proposer=recorded_replies(records, run), fleet=Recorded(records, run))
        assert replay(records, run, means).archive.to_json() == found.to_json()
    return found


def test_nodes_and_the_search_are_killed_and_nothing_is_lost_or_learned_twice(cluster: Cluster, tmp_path: Path) -> None:
    """This judge says the same whenever it is asked: every cell has the same elite as if nothing had happened."""
    run = _search_and_kill("quick", cluster, tmp_path)
    with Records(tmp_path / "runs.db") as records:
        found = _check_nothing_is_lost_or_learned_twice(records, run, tmp_path)
    (tmp_path / "undisturbed").mkdir()
    with closing(Here(judges=Quick)) as here:
        undisturbed = search(here, tmp_path / "undisturbed" / "runs.db", tmp_path / "ready")
    assert _elites(found) == _elites(undisturbed.archive)


def test_the_real_judge_says_the_same_of_all_however_often_nodes_are_killed(cluster: Cluster, tmp_path: Path) -> None:
    """Ten minutes on two cores."""
    run = _search_and_kill("real", cluster, tmp_path)
    with Records(tmp_path / "runs.db") as records:
        _check_nothing_is_lost_or_learned_twice(records, run, tmp_path)
        for judged in records.verdicts(run):
            candidate = records.candidate(judged.candidate)
            assert candidate is not None
            assert judged.verdict["accepted"] == is_right(candidate.source), judged.verdict["message"]


def _elites(archive: Archive) -> dict[Cell, tuple[str, float]]:
    """This judge says the same whenever it is asked, so the best of a cell is the same in any order."""
    return {cell: (elite.candidate, elite.log_speedup) for cell, elite in archive.elites.items()}
