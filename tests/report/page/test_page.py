"""A run as a page: its numbers are the store's, its markup is whole, and nothing in it is obeyed or fetched."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.archive import Archive
from kernelwright.propose import Request
from kernelwright.report.page import Story, Worth, page, read
from kernelwright.store import Genome, Records, Store
from kernelwright.tasks import Task, load_task
from tests.engine.world import Courts, kernel, speed_of
from tests.judge.texts import TASKS
from tests.report.page.reader import Element, Reader
from tests.report.page.runs import Leaving, played, varied

SECTIONS = ("result", "progress", "archive", "lineage", "winner", "tried", "cost", "advice")
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><style>*{}</style>"
# Nothing that a parser of Python lets pass, but a message may hold it.
UNSEEN = "\x00\udc80\u202e"


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "relu.py")


def told(path: Path) -> tuple[Story, Element]:
    with Records(path) as records:
        story = read(records, next(iter(records.runs())).id)
    return story, Reader(page(story, {})).root


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, task: Task) -> Path:
    path = tmp_path_factory.mktemp("report") / "runs.db"
    played(path, task)
    return path


@pytest.fixture(scope="module")
def story(store: Path) -> Story:
    return told(store)[0]


@pytest.fixture(scope="module")
def root(store: Path) -> Element:
    return told(store)[1]


def test_the_page_has_its_parts_in_order_and_the_result_first(root: Element) -> None:
    assert [section.attributes["id"] for section in root.all("section")] == list(SECTIONS)
    elements = [element for name in ("section", "h2", "title", "desc") for element in root.all(name)]
    names = [element.attributes["id"] for element in elements if "id" in element.attributes]
    assert len(names) == len(set(names))


def test_nothing_is_fetched_and_nothing_is_run(root: Element, store: Path) -> None:
    with Records(store) as records:
        text = page(read(records, ""), {})
    assert not root.all("script")
    assert "://" not in text
    assert "url(" not in text
    assert "@import" not in text
    for name in ("a", "link", "img", "iframe", "object", "embed", "use", "image"):
        for element in root.all(name):
            assert name == "a"
            assert str(element.attributes["href"]).startswith("#")


def test_every_link_leads_somewhere(root: Element) -> None:
    places = {section.attributes["id"] for section in root.all("section")}
    assert {str(link.attributes["href"])[1:] for link in root.all("a")} <= places


def test_every_picture_says_in_words_what_it_shows(root: Element) -> None:
    pictures = root.all("svg")
    assert len(pictures) == 5
    for picture in pictures:
        named = [element.attributes.get("id") for element in (*picture.all("title"), *picture.all("desc"))]
        assert set(str(picture.attributes["aria-labelledby"]).split()) <= set(named)
        assert picture.one("desc").text


# Numbers


def section(root: Element, name: str) -> Element:
    return root.one("section", id=name)


def archive_of(store: Path) -> Archive:
    archive = Archive()
    with Records(store) as records:
        for move in records.moves(next(iter(records.runs())).id):
            archive.replay(move.data)
    return archive


def test_the_result_is_the_best_of_the_archive(root: Element, store: Path, task: Task) -> None:
    best = archive_of(store).best
    assert best
    said = section(root, "result").text
    assert f"{math.exp(best.log_speedup):.2f}x over eager" in said
    assert f"[{math.exp(best.low):.2f}, {math.exp(best.high):.2f}]" in said
    assert task.name in said
    assert best.candidate[:10] in said
    assert "finished: the budget of 30 evaluations is used up" in said


def test_the_cost_is_what_the_store_has_counted(root: Element, store: Path) -> None:
    with Records(store) as records:
        spent = records.spent(next(iter(records.runs())).id)
    said = section(root, "cost").text
    assert f"{spent.tokens_in + spent.tokens_out:,} tokens, ${spent.dollars:.3g}" in said
    assert f"{spent.requests} requests, {spent.replies} replies" in said
    assert f"{spent.judge_seconds / 60:.1f} min of judging" in said
    rows = section(root, "cost").rows()
    assert sum(int(row[2]) for row in rows[:-1]) == int(rows[-1][2]) == spent.replies
    assert sum(int(row[3].replace(",", "")) for row in rows[:-1]) == spent.tokens_in


def test_every_cell_bears_the_speedup_of_its_elite(root: Element, store: Path) -> None:
    elites = archive_of(store).elites
    assert len(elites) > 1
    panels = section(root, "archive").all("table")
    assert len(panels) == 4
    shown = {}
    for level, panel in enumerate(panels):
        for memory, row in enumerate(panel.one("tbody").all("tr")):
            for algorithm, cell in enumerate(row.all("td")):
                if cell.attributes["class"] != "none":
                    shown[memory, algorithm, level] = cell.one("b").text
    assert shown == {cell: f"{math.exp(elite.log_speedup):.2f}x" for cell, elite in elites.items()}


def test_verdicts_are_counted_with_a_true_example(root: Element, store: Path) -> None:
    with Records(store) as records:
        verdicts = {judged.candidate: judged for judged in records.verdicts(next(iter(records.runs())).id)}
    counts = Counter(judged.status for judged in verdicts.values())
    first = section(root, "tried").all("table")[0]
    rows = [[cell.text for cell in row.all("td")] for row in first.one("tbody").all("tr")]
    assert {row[0]: int(row[1]) for row in rows} == counts
    assert next(row[3] for row in rows if row[0] == "WRONG_VALUE").endswith(": 7 of 8 elements wrong")


def test_the_curve_has_a_mark_for_every_candidate(root: Element, story: Story) -> None:
    curve = section(root, "progress").one("svg")
    accepted = sum(attempt.ruling.accepted for attempt in story.attempts.values())
    assert len([dot for dot in curve.all("circle") if dot.attributes["class"] == "dot"]) == accepted
    bad = [mark for mark in curve.all("path") if mark.attributes["class"] == "bad"]
    assert len(bad) == len(story.attempts) - accepted > 0


def test_the_best_so_far_ends_at_the_best_and_never_skips_an_evaluation(story: Story) -> None:
    assert story.progress
    assert story.archive.best
    assert story.progress[-1].candidate == story.archive.best.candidate
    counts = [best.evaluations for best in story.progress]
    assert counts == list(range(counts[0], len(story.attempts) + 1))


def test_the_line_of_the_winner_goes_back_to_a_draft(root: Element, story: Story, store: Path) -> None:
    best = archive_of(store).best
    assert best
    line = story.lineage(best.candidate)
    assert line[0].kind == "draft"
    assert [one.candidate for one in line[:-1]] == [one.parent for one in line[1:]]
    assert len(line) > 2
    first = section(root, "lineage").all("table")[0]
    assert [row.all("td")[0].text for row in first.one("tbody").all("tr")] == [f"#{one.number}" for one in line]


def test_everybody_stands_once_in_the_tree(root: Element, story: Story) -> None:
    last = section(root, "lineage").all("table")[-1]
    names = [row.all("td")[0].text for row in last.one("tbody").all("tr")]
    assert sorted(names) == sorted(f"#{number + 1}" for number in range(len(story.attempts)))


def test_the_winner_stands_beside_its_parent(root: Element, story: Story) -> None:
    assert story.winner
    assert story.before
    shown = section(root, "winner")
    (diff,) = (table for table in shown.all("table") if table.attributes.get("class") == "diff")
    removed = [cell.text for cell in diff.all("td") if cell.attributes.get("class") == "del"]
    added = [cell.text for cell in diff.all("td") if cell.attributes.get("class") == "ins"]
    assert any(f"{speed_of(story.before.source)}f" in line for line in removed)
    assert any(f"{speed_of(story.winner.source)}f" in line for line in added)
    assert shown.one("pre").text == story.winner.source


def test_repairs_are_told_with_what_became_of_them(root: Element, story: Story) -> None:
    repairs = [attempt for attempt in story.attempts.values() if attempt.kind == "repair"]
    assert repairs
    table = section(root, "tried").all("table")[2]
    (row,) = ([cell.text for cell in each.all("td")] for each in table.one("tbody").all("tr"))
    mended = sum(attempt.ruling.accepted for attempt in repairs)
    assert row[:3] == ["WRONG_VALUE", str(len(repairs)), str(mended)]


def test_answers_without_a_kernel_are_counted(root: Element, store: Path) -> None:
    with Records(store) as records:
        unusable = sum(event.kind == "unusable" for event in records.events(next(iter(records.runs())).id))
    assert unusable
    rows = [[cell.text for cell in row.all("td")] for row in section(root, "tried").all("table")[-1].all("tr")]
    assert sum(int(row[1]) for row in rows if row and row[0] == "answer without a kernel") == unusable


def test_the_gains_of_advice_are_those_of_this_run(root: Element, store: Path) -> None:
    with Records(store) as records:
        (worth,) = records.worth("cpp")
    (row,) = section(root, "advice").rows()
    assert row[0] == worth.genome[:10]
    assert row[3:5] == [str(worth.uses), str(worth.accepted)]
    assert worth.mean is not None
    assert row[5] == f"{math.exp(worth.mean):.2f}x"


def test_the_worth_of_advice_is_told_as_it_was_given(story: Story) -> None:
    (name,) = story.gains
    text = page(story, {name: Worth(7, math.log(1.5), math.log(1.25), math.log(1.75))})
    assert "1.50x [1.25, 1.75] of 7" in text


def test_what_was_changed_in_advice_is_shown(story: Story) -> None:
    old = Genome(hash="a" * 64, backend="cpp", regions={"pitfalls": "Mind the gap.\nStay."})
    new = Genome(hash="b" * 64, backend="cpp", regions={"pitfalls": "Mind the step.\nStay."}, parent=old.hash)
    both = replace(story, genomes={old.hash: old, new.hash: new}, gains={new.hash: [0.1, None]})
    shown = section(Reader(page(both, {})).root, "advice")
    assert "-Mind the gap.\n+Mind the step." in shown.one("pre").text


# Others' texts


def test_what_others_wrote_is_shown_and_never_obeyed(tmp_path: Path, task: Task) -> None:
    """In the name of a task, a model and a machine, in a candidate, a message, a reason to stop and an answer."""

    def evil(request: Request, rng: random.Random) -> str:
        if request.id == "3":
            return EVIL
        return varied(request, rng).replace("import torch\n", f"import torch\n# {EVIL}\n", 1)

    class EvilCourts(Courts):
        def _result(self, job, kind, **what):  # type: ignore[no-untyped-def]
            if "verdict" in what:
                what["verdict"] |= {"message": EVIL + UNSEEN}
            return super()._result(job, kind, **what)

    played(tmp_path / "runs.db", replace(task, name=EVIL), evil, fleet=EvilCourts(), evaluations=12)
    told_of, root = told(tmp_path / "runs.db")
    charges = [replace(charge, model=EVIL) for charge in told_of.charges]
    run = replace(told_of.run, reason=EVIL)
    text = page(replace(told_of, run=run, machine={"cpu": EVIL}, charges=charges), {})
    for element in (root, Reader(text).root):
        assert not element.all("script")
        assert not element.all("img")
        assert len(element.all("style")) == 1
    assert root.one("h1").text.startswith("<script>alert(1)</script>")
    assert "<script>alert(1)</script>" in section(root, "winner").text
    assert "<script>alert(1)</script>" in section(root, "tried").text
    text.encode()
    assert not re.search("[\x00\u202e\udc80]", text)
    assert "\\u0000\\udc80\\u202e" in text


# Runs of every kind


def test_a_run_that_was_interrupted_says_how_to_go_on(tmp_path: Path, task: Task) -> None:
    run = played(tmp_path / "runs.db", task, fleet=Leaving(after=6))
    told_of, root = told(tmp_path / "runs.db")
    assert told_of.state == "interrupted"
    assert f"kernelwright resume {run} --model MODEL" in section(root, "result").text
    assert f"{told_of.waiting} candidate had not been judged" in section(root, "tried").text


def test_a_run_that_found_nothing_says_so_and_why(tmp_path: Path, task: Task) -> None:
    played(tmp_path / "runs.db", task, lambda request, rng: kernel(-1.0, request.id), evaluations=5)
    _, root = told(tmp_path / "runs.db")
    assert "No kernel was accepted and timed; 5 candidates judged." in section(root, "result").text
    assert "0 of 64" in section(root, "archive").text
    assert "7 of 8 elements wrong" in section(root, "tried").text


def test_a_run_with_one_candidate_has_a_page(tmp_path: Path, task: Task) -> None:
    played(tmp_path / "runs.db", task, lambda request, rng: kernel(1.5), evaluations=1)
    _, root = told(tmp_path / "runs.db")
    assert "1.50x" in section(root, "result").text
    assert "It was a first draft and has no parent." in section(root, "winner").text


@pytest.mark.parametrize(
    ("speed", "width", "said"),
    [
        (1.5, 0.01, "[1.48, 1.52]"),
        (1.02, 0.1, ": perhaps no faster than the baseline"),
        (0.5, 0.01, ": slower than the baseline"),
    ],
)
def test_a_speedup_that_is_none_is_not_praised(
    tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch, speed: float, width: float, said: str
) -> None:
    monkeypatch.setattr("tests.engine.world.verdict.__defaults__", (width, ("eager",)))
    played(tmp_path / "runs.db", task, lambda request, rng: kernel(speed), evaluations=1)
    shown = section(told(tmp_path / "runs.db")[1], "result").all("p")[0].text
    assert shown.endswith(said)


def test_a_run_in_which_nothing_has_happened_yet_has_a_page(tmp_path: Path, task: Task) -> None:
    with Store(tmp_path / "runs.db") as store:
        store.begin_run(task=task.hash, wire=task.to_wire(), settings={}, versions={}, machine={})
        _, root = told(tmp_path / "runs.db")
        assert "It is running" in section(root, "result").text
    assert "Nothing was judged." in section(root, "result").text


def test_a_text_too_long_to_be_laid_beside_another_is_left_out(story: Story) -> None:
    assert story.winner
    long = replace(story, winner=replace(story.winner, source="x = 1\n" * 100_000))
    text = page(long, {})
    assert "too long to be laid side by side" in text
    assert len(text) < 500_000


def test_a_text_that_an_earlier_run_had_judged_counts_in_this_one(tmp_path: Path, task: Task) -> None:
    played(tmp_path / "runs.db", task, lambda request, rng: kernel(1.5), evaluations=1)
    first = told(tmp_path / "runs.db")[0]
    texts = iter([kernel(1.5), kernel(1.8)])
    played(tmp_path / "runs.db", task, lambda request, rng: next(texts), evaluations=1)
    with Records(tmp_path / "runs.db") as records:
        second = read(records, list(records.runs())[-1].id)
    assert list(second.attempts)[:1] == list(first.attempts)
    assert [attempt.speed.times for attempt in second.attempts.values() if attempt.speed] == ["1.50x", "1.80x"]


@pytest.mark.parametrize("chain", [False, True], ids=["wide", "one long line"])
def test_five_thousand_candidates_fit_on_a_page(story: Story, chain: bool) -> None:
    many = grown(story, 5000, chain=chain)
    text = page(many, {})
    assert len(text) < 3_000_000
    root = Reader(text).root
    assert len(section(root, "lineage").all("table")[-1].one("tbody").all("tr")) == 5000


def grown(story: Story, number: int, *, chain: bool) -> Story:
    """The same run with many more candidates: each made from the one before, or from one of the first."""
    first = list(story.attempts.values())
    template = next(attempt for attempt in first if attempt.kind == "improve" and attempt.ruling.accepted)
    attempts = {attempt.candidate: attempt for attempt in first}
    before = first[-1].candidate
    for count in range(len(first) + 1, number + 1):
        parent = before if chain else first[count % len(first)].candidate
        before = f"{count:064x}"
        assert template.came_of
        came_of = replace(template.came_of, parent=parent)
        attempts[before] = replace(template, number=count, candidate=before, came_of=came_of)
    progress = [
        replace(story.progress[-1], evaluations=count) for count in range(story.progress[0].evaluations, number + 1)
    ]
    return replace(story, attempts=attempts, progress=progress)
