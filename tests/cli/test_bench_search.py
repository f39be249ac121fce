"""`kernelwright bench --search`: a search for every problem of a suite, and the same tables as for given solutions."""

import json
import threading
import time
from pathlib import Path

import pytest

from kernelwright.cli import _bench_search
from kernelwright.cli._bench_search import Ledger, Wish, plan_from
from kernelwright.fleet import Here
from kernelwright.propose import ProposerError, Reply, Request
from kernelwright.propose._mailbox import END
from kernelwright.propose.builtin import CannotWriteError
from kernelwright.store import Place, Records, State
from kernelwright.tasks.suites import VARIABLE, select
from tests.tasks.made_up_suites import ABSOLUTE, DOUBLE, kernelbench, solution

WRONG = solution("7")


@pytest.fixture(autouse=True)
def suite(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = kernelbench(tmp_path / "suite")
    monkeypatch.setenv(VARIABLE, str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


# *** what is said before anything begins ***


@pytest.mark.parametrize(
    ("arguments", "names", "fix"),
    [
        ([], ["nothing is said to be judged"], "--search --model"),
        (["--search"], ["needs someone who writes"], "--model"),
        (["--solutions", ".", "--model", "script/ready"], ["--model says how to search"], "add --search"),
        (["--solutions", ".", "--judge-minutes", "3"], ["--judge-minutes says how to search"], "add --search"),
        (["--search", "--model", "mailbox/m", "--solutions", "."], ["--solutions does not go with"], "leave one"),
        (["--search", "--model", "mailbox/m", "--untimed"], ["--untimed does not go with"], "leave one"),
        (["--search", "--model", "mailbox/m", "--attempted"], ["--attempted does not go with"], "leave one"),
        (["--search", "--model", "mailbox/m", "--method", "beem"], ["did you mean beam"], "docs/config.md"),
        (["--search", "--model", "mailbox/m", "--evaluations", "0"], ["nothing to run on"], "docs/config.md"),
        (["--search", "--model", "mailbox/m", "--backend", "odd"], ["no backend 'odd'", "cpp"], "docs/config.md"),
    ],
)
def test_what_cannot_be_meant_is_said(cannot_judge, arguments, names, fix):
    cannot_judge("bench", "kernelbench:1", *arguments, names=names, fix=fix)


# *** which run belongs to which problem ***


def wish(tmp_path: Path, model: str = "mailbox/m", **said) -> Wish:
    return Wish(
        model=model, base_url=None, plan=plan_from(said, {}), store=Place.at(tmp_path / "runs.db"), fit=False, mode=None
    )


def test_a_ledger_remembers_runs_by_problem_and_by_how_they_are_searched(tmp_path):
    _, problems = select("kernelbench:1", None)
    first, second = problems[:2]
    path = tmp_path / "searches.jsonl"
    ledger = Ledger(path, wish(tmp_path))
    ledger.note(first, first.task(), "run1")
    ledger.note(second, second.task(), "run2")
    ledger.note(second, second.task(), "run2", "enough")
    again = Ledger(path, wish(tmp_path))
    assert [again.run(problem, problem.task()) for problem in problems] == ["run1", "run2", None]
    assert [again.has_ended(problem, problem.task()) for problem in problems] == [False, True, False]
    for other in (wish(tmp_path, "mailbox/other"), wish(tmp_path, evaluations=3), wish(tmp_path / "elsewhere")):
        assert Ledger(path, other).run(first, first.task()) is None
    assert again.run(first, first.task(constants={"rows": "9"})) is None


def test_half_a_line_in_a_ledger_is_passed_over(tmp_path):
    _, (first, *_) = select("kernelbench:1", None)
    path = tmp_path / "searches.jsonl"
    Ledger(path, wish(tmp_path)).note(first, first.task(), "run1")
    path.write_text(path.read_text() + '{"problem": "1/2", "ta')
    Ledger(path, wish(tmp_path)).note(first, first.task(), "run1", "enough")
    assert Ledger(path, wish(tmp_path)).has_ended(first, first.task())


# *** whole searches, with the real judge ***


@pytest.fixture
def ready(tmp_path) -> Path:
    """Candidates that every problem is offered in this order."""
    folder = tmp_path / "ready"
    folder.mkdir()
    for number, text in enumerate((WRONG, DOUBLE, ABSOLUTE)):
        (folder / f"{number}.py").write_text(text)
    return folder


@pytest.fixture
def shared(one_judge, monkeypatch):
    """Searches use the one judge that is there, from their own thread; starting one each would take longer."""

    class Stays:
        def __init__(self, **_):
            self.judge = one_judge.judge

        def close(self): ...

    monkeypatch.setattr(_bench_search, "open_fleet", lambda _: Here(judges=Stays))
    return one_judge


def search(invoke, model: str, *more, problems: str = "kernelbench:1"):
    limits = ("--evaluations", 3, "--in-flight", 1, "--without", "prompt-evolution,seeding")
    return invoke("bench", problems, "--search", "--model", model, *limits, "--store", "runs.db", *more)


def report() -> dict:
    return json.loads(Path("searched/report.json").read_text())


def runs() -> dict[str, tuple[str, State]]:
    """The runs of the store: what each was about, and how it stands."""
    with Records("runs.db") as records:
        return {run.id: (records.task(run.task)["name"], run.state) for run in records.runs()}


def spent() -> list[int]:
    with Records("runs.db") as records:
        return [records.spent(run.id).replies for run in records.runs()]


@pytest.mark.slow
def test_every_problem_is_searched_and_what_was_found_is_judged(shared, ready, invoke):
    result = search(invoke, f"script/{ready}")
    assert result.exit_code == 0, result.output
    whole = report()
    assert [(p["problem"], p["fate"], p["status"]) for p in whole["problems"]] == [
        ("1/2", "accepted", "CORRECT"),
        ("1/19", "accepted", "CORRECT"),
        ("1/100", "weak problem", "TASK_ERROR"),
    ]
    assert whole["problems"][0]["speedup_eager"] > 0
    assert f"script/{ready}" in whole["searched with"]
    assert Path("searched/kernels/1/2.py").read_text() == DOUBLE
    assert Path("searched/kernels/1/19.py").read_text() == ABSOLUTE
    assert list(runs().values()) == [
        ("2_Shifted_double", State.FINISHED),
        ("19_Absolute", State.FINISHED),
    ]
    lines = [json.loads(line) for line in Path("searched/verdicts.jsonl").read_text().splitlines()]
    assert [(line["problem"], line["fate"]) for line in lines] == [
        ("1/2", "accepted"),
        ("1/19", "accepted"),
        ("1/100", "weak problem"),
    ]


@pytest.mark.slow
def test_a_problem_whose_search_has_ended_is_not_searched_again(shared, ready, invoke, monkeypatch):
    search(invoke, f"script/{ready}", problems="kernelbench:1/19")
    before, first = spent(), report()["problems"]
    with monkeypatch.context() as patch:
        patch.setattr(_bench_search, "proposer", lambda *_, **__: pytest.fail("nobody is to be asked"))
        patch.setattr(shared, "judge", lambda *_, **__: pytest.fail("nothing is to be judged"))
        assert search(invoke, f"script/{ready}", problems="kernelbench:1/19").exit_code == 0
    assert spent() == before
    assert report()["problems"] == first
    search(invoke, f"script/{ready}", "--seed", 5, problems="kernelbench:1/19")
    assert len(runs()) == 2


@pytest.mark.slow
def test_a_search_that_finds_nothing_is_a_failure_with_its_reasons(shared, tmp_path, invoke):
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "0.py").write_text(WRONG)
    result = search(invoke, "script/wrong", problems="kernelbench:1/19")
    assert result.exit_code == 0, result.output
    (one,) = report()["problems"]
    assert (one["fate"], one["status"]) == ("rejected", "NOTHING_ACCEPTED")
    assert "1 WRONG_VALUE" in one["message"]
    assert one["speedup_eager"] is None
    assert report()["sets"]["full set"]["correctness"]["value"] == 0


class Unable:
    """Cannot write one of the problems, and offers the others what it has."""

    def __init__(self, *_, **__) -> None: ...

    def propose(self, request: Request) -> Reply:
        if "double" in request.prompt:
            raise CannotWriteError("doubling is beyond it.")
        text = f"```python\n{ABSOLUTE}```"
        return Reply(text=text, model="it", tokens_in=1, tokens_out=1, dollars=0.0, seconds=0.0, finish="stop")


@pytest.mark.slow
def test_a_problem_that_cannot_be_written_is_told_and_the_next_is_searched(shared, invoke, monkeypatch):
    monkeypatch.setattr(_bench_search, "proposer", Unable)
    for _ in range(2):
        result = search(invoke, "script/unable")
        assert result.exit_code == 0, result.output
        found = {one["problem"]: one for one in report()["problems"]}
        assert "doubling is beyond it" in found["1/2"]["message"]
        assert found["1/19"]["fate"] == "accepted"
        assert len(runs()) == 2


def answer(folder: Path, texts: list[str], over: threading.Event) -> None:
    """A person who answers letter by letter, with these texts."""
    answered: set[str] = set()
    while texts and not over.is_set():
        for name in {letter.name for letter in folder.glob("*.request.md")} - answered:
            answered.add(name)
            (folder / name.replace(".request.", ".answer.")).write_text(f"```python\n{texts.pop(0)}```\n{END}\n")
        time.sleep(0.02)


@pytest.mark.slow
def test_an_interrupted_search_goes_on_where_it_was_left(shared, tmp_path, invoke, monkeypatch):
    """Three answers are all there are: one that was asked for twice would be missing at the end."""
    box, over = tmp_path / "box", threading.Event()
    writer = threading.Thread(target=answer, args=(box, [WRONG, ABSOLUTE, DOUBLE], over))

    box.mkdir()
    writer.start()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(_bench_search, "optimize", _left_after_one(_bench_search.optimize))
            result = search(invoke, f"mailbox/{box}", problems="kernelbench:1/19")
        assert result.exit_code == 2
        assert "run the same command to go on" in result.output
        assert list(runs().values()) == [("19_Absolute", State.RUNNING)]
        result = search(invoke, f"mailbox/{box}", problems="kernelbench:1/19")
        assert result.exit_code == 0, result.output
    finally:
        over.set()
        writer.join()
    assert list(runs().values()) == [("19_Absolute", State.FINISHED)]
    assert spent() == [3]
    assert report()["problems"][0]["fate"] == "accepted"


def _left_after_one(optimize):
    """A search that somebody interrupts as soon as a candidate was judged."""

    def leave(task, plan, means):
        def tell(kind, data):
            means.tell(kind, data)
            if kind == "judged":
                raise KeyboardInterrupt

        return optimize(task, plan, _bench_search.Means(**{**vars(means), "tell": tell}))

    return leave


@pytest.mark.slow
def test_a_model_that_fails_ends_the_command_and_the_same_command_goes_on(shared, ready, invoke, monkeypatch):
    class Fails:
        def propose(self, request):
            raise ProposerError("the endpoint is down.", "wait")

    with monkeypatch.context() as patch:
        patch.setattr(_bench_search, "proposer", lambda *_, **__: Fails())
        result = search(invoke, f"script/{ready}", problems="kernelbench:1/19")
    assert result.exit_code == 2
    assert "kernelbench:1/19: the endpoint is down" in result.stderr
    assert "then run the same command" in result.stderr
    assert search(invoke, f"script/{ready}", problems="kernelbench:1/19").exit_code == 0
    assert list(runs().values()) == [("19_Absolute", State.FINISHED)]


@pytest.mark.slow
def test_a_problem_that_cannot_be_read_is_reported_and_the_rest_goes_on(shared, ready, suite, invoke):
    (suite / "KernelBench" / "level1" / "2_Shifted_double.py").write_text("class Model(:\n")
    assert search(invoke, f"script/{ready}", problems="kernelbench:1").exit_code == 0
    assert [p["fate"] for p in report()["problems"]] == ["not judged", "accepted", "weak problem"]
