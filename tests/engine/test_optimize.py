"""A whole search on this machine, with the real judge; and what stops one before it is paid for."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from kernelwright.engine import Budget, Means, Plan, RunError, optimize, resume
from kernelwright.engine._conductor import Conductor
from kernelwright.engine._docket import Docket
from kernelwright.engine._optimize import preflight
from kernelwright.engine._preflight import trials
from kernelwright.engine._settings import Settings
from kernelwright.fleet import Here, Job, Kind, Result
from kernelwright.judge import source_hash
from kernelwright.prompts import PromptError, seed
from kernelwright.prompts._fit import estimate
from kernelwright.propose import Request, proposer
from kernelwright.store import State, Store
from kernelwright.tasks import Task, load_task
from tests.engine.world import Courts, Frail, Left, Writer, climbing, kernel
from tests.judge.texts import RELU, TASKS, relu

SEVERAL = """
import torch


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x, y):
        rows = self.linear(x) + y
        return rows, {"largest": rows.argmax(dim=1)}


def get_inputs():
    return [torch.randn(64, 32), torch.randn(64, 32)]


def get_init_inputs():
    return [32]
"""


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "relu.py")


def plan(evaluations: int = 3, **more) -> Plan:
    return Plan(backend="cpp", budget=Budget(evaluations=evaluations), lanes=1, **more)


@pytest.mark.slow
def test_ready_kernels_are_searched_through_on_this_machine(tmp_path: Path, task: Task) -> None:
    folder = tmp_path / "ready"
    folder.mkdir()
    for number, source in enumerate((RELU, relu("y[i] = 7;"), relu("y[i] = x[i] < 0 ? 0 : x[i];"))):
        (folder / f"{number}.py").write_text(source)
    fleet = Here()
    try:
        with Store(tmp_path / "runs.db") as store:
            found = optimize(task, plan(), Means(store=store, proposer=proposer(f"script/{folder}"), fleet=fleet))
            assert found.best is not None
            assert "ModelNew" in str(found.source)
            statuses = [judged.status for judged in store.verdicts(found.run)]
            assert statuses.count("WRONG_VALUE") == 1
            assert store.run(found.run).state is State.FINISHED
    finally:
        fleet.close()


@pytest.mark.slow
@pytest.mark.parametrize("text", [SEVERAL], ids=["weights and several results"])
def test_the_preflight_candidates_are_judged_as_what_they_are(open_judge, tmp_path: Path, text: str) -> None:
    path = tmp_path / "task.py"
    path.write_text(text)
    for trial in trials(load_task(path)):
        verdict = open_judge.judge(trial.task, trial.source, timed=False)
        assert verdict.status in trial.expect, f"{trial.name}: {verdict.status} {verdict.message}"


def test_a_judge_that_takes_everything_for_right_stops_the_run_before_it_is_paid_for(tmp_path, task, monkeypatch):
    monkeypatch.setattr("tests.engine.world.speed_of", lambda source: 1.0)
    writer = Writer(climbing)
    with Store(tmp_path / "runs.db") as store:
        with pytest.raises(RunError, match="should have been judged WRONG_VALUE"):
            optimize(task, plan(), Means(store=store, proposer=writer, fleet=Courts()))
        assert writer.asked == []
        assert list(store.runs()) == []


class Looking(Writer):
    """Writes down what it is told of before anything is asked."""

    def look_at(self, task: Task) -> None:
        self.seen = [task.name, len(self.asked)]


def test_who_can_look_ahead_does_so_before_the_judge_is_tried(tmp_path, task, monkeypatch):
    writer, seen = Looking(climbing), []
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: seen.append(writer.seen))
    with Store(tmp_path / "runs.db") as store:
        optimize(task, plan(1), Means(store=store, proposer=writer, fleet=Courts()))
    assert seen == [[task.name, 0]]


def of_two_cells(request: Request, rng: random.Random) -> str:
    return "no edits" if request.kind == "rewrite" else kernel(rng.uniform(1, 2), request.id, team=rng.random() < 0.5)


@pytest.mark.parametrize(
    ("how", "shown", "steered"),
    [
        ({}, True, True),
        ({"without": ("inspirations",)}, False, True),
        ({"search": "refine"}, False, False),
        ({"search": "beam"}, False, False),
        ({"search": "best-of-n"}, False, False),
    ],
)
def test_only_who_takes_the_archive_for_a_map_shows_other_cells_and_says_where_to_go(
    tmp_path, task, monkeypatch, how, shown, steered
):
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    writer = Writer(of_two_cells)
    with Store(tmp_path / "runs.db") as store:
        optimize(task, plan(12, **how), Means(store=store, proposer=writer, fleet=Courts()))
    assert any("### Kernel 1" in request.prompt for request in writer.asked) == shown
    assert any("## Where to go" in request.prompt for request in writer.asked) == steered


def test_a_finished_run_that_is_resumed_has_nothing_more_to_do(tmp_path, task, monkeypatch):
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    writer = Writer(climbing)
    with Store(tmp_path / "runs.db") as store:
        found = optimize(task, plan(5), Means(store=store, proposer=writer, fleet=Courts()))
        again = resume(found.run[:13], Means(store=store, proposer=writer, fleet=Courts()))
    assert again.reason == found.reason == "the budget of 5 evaluations is used up"
    assert again.archive.to_json() == found.archive.to_json()
    assert len(writer.asked) == len({request.id for request in writer.asked})


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"search": "map-elite"}, "did you mean map-elites"),
        ({"without": ("memory-of-elephants",)}, "no mechanism 'memory-of-elephants'"),
        ({"lanes": 0}, "give 1 or more"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(fault, sentence):
    with pytest.raises(ValueError, match=sentence):
        Plan(**{"backend": "cpp", "budget": Budget(evaluations=3), **fault})


def test_a_plan_survives_the_store():
    made = plan(7, search="beam", without=("gradients",), seed=5)
    assert Plan.from_json(made.to_json()) == made


def test_a_run_goes_on_choosing_as_it_was_begun_also_one_that_does_not_say_how():
    kept = plan(7, strategy="curiosity").to_json()
    assert Plan.from_json(kept).strategy == "curiosity"
    del kept["strategy"]
    assert Plan.from_json(kept).strategy == "bandit"


def test_an_unknown_strategy_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="there is no strategy 'foremots'; did you mean foremost"):
        plan(7, strategy="foremots")


def edited(request, rng):
    """A rewriter that adds a sentence; else a climbing writer."""
    if request.kind != "rewrite":
        return climbing(request, rng)
    line = next(line for line in seed("cpp").strategies.splitlines() if len(line) > 40)
    return f"<<<<<<< SEARCH\n{line}\n=======\n{line} Measure twice.\n>>>>>>> REPLACE\n"


def told(path: Path, task: Task, lives: list[int], **more) -> list[tuple[str, str]]:
    """Every request of a run that is left so many times."""
    writer = Writer(edited)
    with Store(path) as store:
        with pytest.raises(Left):
            optimize(task, plan(30, **more), Means(store=store, proposer=writer, fleet=Frail(lives[0])))
        run = next(store.runs()).id
    for life in lives[1:]:
        with Store(path) as store, pytest.raises(Left):
            resume(run, Means(store=store, proposer=writer, fleet=Frail(life)))
    with Store(path) as store:
        resume(run, Means(store=store, proposer=writer, fleet=Courts()))
        return [(asked.kind, asked.prompt) for asked in store.requests(run)]


def test_advice_is_rewritten_at_the_same_places_however_often_a_run_is_left(tmp_path, task, monkeypatch):
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    once, often = (told(tmp_path / f"{len(lives)}.db", task, lives) for lives in ([1], [1, 4, 2, 7, 3]))
    assert often == once
    kinds = [kind for kind, _ in once]
    assert "rewrite" in kinds
    later = once[kinds.index("rewrite") + 1 :]
    assert any("Measure twice." in prompt for kind, prompt in later if kind == "improve")


def test_without_it_prompts_do_not_evolve(tmp_path, task, monkeypatch):
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    requests = told(tmp_path / "runs.db", task, [1], without=("prompt-evolution",))
    assert all(kind != "rewrite" for kind, _ in requests)


def test_a_run_that_is_left_does_not_wait_for_a_mailbox_that_nobody_answers(tmp_path, task, monkeypatch):
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    stop = threading.Event()

    def leave(kind, data):
        raise Left

    silent = proposer(f"mailbox/{tmp_path / 'mail'}", stop=stop)
    listening = Conductor._listen
    monkeypatch.setattr(
        Conductor, "_listen", lambda self, wait: leave("", {}) if self._asking else listening(self, wait)
    )
    with Store(tmp_path / "runs.db") as store:
        with pytest.raises(Left):
            optimize(task, plan(), Means(store=store, proposer=silent, fleet=Courts(), stop=stop))
        assert stop.is_set()
        assert len(list(store.unanswered(next(store.runs()).id))) == 1


class Reader(Writer):
    """A model that can read so many tokens."""

    def __init__(self, tokens: int) -> None:
        super().__init__(climbing)
        self.prompt_tokens = tokens


def test_prompts_are_shortened_to_what_the_model_can_read(tmp_path, task, monkeypatch):
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    longest = {}
    for tokens in (1_000_000, 3_000):
        reader = Reader(tokens)
        with Store(tmp_path / f"{tokens}.db") as store:
            optimize(task, plan(12), Means(store=store, proposer=reader, fleet=Courts()))
        longest[tokens] = max(estimate(request.prompt) for request in reader.asked)
    assert longest[3_000] <= 3_000 < longest[1_000_000]


def test_a_model_that_can_read_hardly_anything_ends_the_run_with_a_sentence(tmp_path, task, monkeypatch):
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    with Store(tmp_path / "runs.db") as store:
        with pytest.raises(PromptError, match="may have 50"):
            optimize(task, plan(), Means(store=store, proposer=Reader(50), fleet=Courts()))
        assert next(store.runs()).state is State.FAILED


class FarOff(Courts):
    """Judges the preflight's candidates as it should, and says where."""

    def finished(self, timeout: float) -> list[Result]:
        job = self._waiting.pop(0)
        status = "STATEFUL" if "kept" in job.source else "WRONG_VALUE" if "new_zeros" in job.source else "CORRECT"
        return [self._result(job, Kind.JUDGED, verdict={"status": status, "machine": {"cpu": "the far one"}})]


def test_a_run_is_told_of_the_machine_that_judges_and_not_of_the_one_that_asks(tmp_path, task, monkeypatch):
    machine = preflight(task, FarOff(), plan())
    assert machine == {"cpu": "the far one"}
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: machine)
    writer = Writer(climbing)
    with Store(tmp_path / "runs.db") as store:
        found = optimize(task, plan(1), Means(store=store, proposer=writer, fleet=Courts()))
        assert store.run(found.run).machine == machine
    assert "the far one" in writer.asked[0].prompt


def test_a_preflight_passes_over_what_is_left_of_a_run_before(task):
    fleet = FarOff()
    fleet.submit(Job(candidate=source_hash(RELU), source=RELU, task=task.to_wire()))
    assert preflight(task, fleet, plan()) == {"cpu": "the far one"}


@pytest.mark.parametrize(("backend", "on_device"), [("cpp", False), ("triton", True), ("cuda", True)])
def test_a_search_for_a_device_has_its_preflight_and_all_answers_judged_there(backend, on_device, task):
    """An answer in plain torch is as wrong an answer on the device; on the host, other inputs would be tried."""

    class Halted(Exception): ...

    class Seen:
        def __init__(self) -> None:
            self.jobs: list[Job] = []

        def submit(self, job: Job) -> None:
            self.jobs.append(job)

        def finished(self, timeout: float) -> list[Result]:
            raise Halted

    fleet, wanted = Seen(), Plan(backend=backend, budget=Budget(evaluations=1))
    with pytest.raises(Halted):
        preflight(task, fleet, wanted)
    settings = Settings(backend=backend, budget=wanted.budget)
    fleet.jobs.append(Docket(fleet, task, settings).job(source_hash(RELU), RELU))
    assert [job.on_device for job in fleet.jobs] == [on_device] * 4
