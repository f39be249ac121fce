"""What a search looks like on a terminal, drawn from its events."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kernelwright.cli._screen import duration, picture
from kernelwright.cli._view import View
from kernelwright.engine import Budget, Means, Plan, optimize
from kernelwright.store import Store
from kernelwright.tasks import load_task
from tests.cli.moments import Event, begun, elite, event, judged, kernel, stands
from tests.engine.world import Courts, Writer, climbing
from tests.judge.texts import TASKS

WIDTHS = (80, 120)
HEIGHT = 24
EVIL = "[bold red]boo[/] \x1b[2J\x07\u202edne\x9b2J\r\nlast \ud800"
PLAIN = "[bold red]boo[/] [2Jdne2J last"


def seen(*events: Event) -> View:
    view = View()
    for one in events:
        view = view.after(one)
    return view


def drawn(view: View, *, width: int = 80, height: int = HEIGHT, now: float = 100.0, **how: Any) -> str:
    file = io.StringIO()
    Console(file=file, width=width, height=height, **how).print(picture(view, now, height))
    return file.getvalue()


def row(text: str, label: str) -> str:
    """The rest of the line that begins so."""
    return next(line.removeprefix(label).strip() for line in text.splitlines() if line.startswith(label))


MIDDLE = (
    begun(evaluations=40, dollars=2.0, judge_seconds=600),
    elite(2.31, (2, 1, 0)),
    elite(0.85, (0, 0, 3)),
    judged(11, status="WRONG_VALUE", message="7 of 8 elements wrong"),
    judged(12, **kernel()),
    stands(
        best=kernel(),
        forecast={"part": "evaluations", "seconds": 448.0},
        filled=2,
        evaluations=12,
        tokens_in=40_000,
        tokens_out=8_210,
        dollars=0.31,
        unpriced=2,
        judge_seconds=70.4,
        wall_seconds=192.0,
        asking=3,
        judging=1,
    ),
)


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_is_on_one_screen(width: int) -> None:
    text = drawn(seen(*MIDDLE), width=width)
    assert len(text.splitlines()) < HEIGHT
    assert max(map(len, text.splitlines())) <= width
    assert text.startswith("relu in cpp  run 20261116-072236-ab12")
    assert row(text, "best") == "2.31x eager [2.28, 2.35]  kernel 3fa2b1c09d, cell 210"
    assert row(text, "evaluations").startswith("12 of 40 ")
    assert row(text, "tokens") == "48,210"
    assert row(text, "money").startswith("$0.31 of $2.00, 2 answers unpriced")
    assert row(text, "judge time").startswith("1 min 10 s of 10 min 00 s")
    assert row(text, "time") == "3 min 12 s"
    assert row(text, "pace") == "3.8 evaluations a minute; evaluations used up in about 7 min 28 s"
    assert row(text, "busy") == "3 requests under way, 1 candidate to judge"
    assert row(text, "archive").startswith("2 of 64 cells filled")
    assert "  11  3fa2b1c09d  WRONG_VALUE      cell 210  7 of 8 elements wrong" in text
    assert "      best so far: 2.31x eager [2.28, 2.35]" in text


@pytest.mark.parametrize("width", WIDTHS)
def test_the_archive_is_a_picture(width: int) -> None:
    """Blocks by coordination, in each algorithm across and memory down."""
    text = drawn(seen(*MIDDLE), width=width)
    empty = "." * 4
    assert ["".join(row(text, f"memory {level}").split()) for level in range(4)] == [
        f"{empty}{empty}{empty}.85...",
        empty * 4,
        f".2.3..{empty}{empty}{empty}",
        empty * 4,
    ]
    lines = text.splitlines()
    head = next(line for line in lines if line.startswith("algorithm"))
    fastest = next(line for line in lines if line.startswith("memory 2"))
    assert head[: fastest.index("2.3") + 3].split()[-1] == "1", "its number stands below its algorithm"


def test_a_bar_grows_with_what_is_spent() -> None:
    bars = [
        row(drawn(seen(begun(evaluations=40), stands(evaluations=done)), color_system=None), "evaluations").count("━")
        for done in (0, 10, 40)
    ]
    assert bars[0] == 0
    assert 2 * bars[1] < bars[2]


def test_time_goes_on_between_events() -> None:
    later = drawn(seen(*MIDDLE), now=130.0)
    assert row(later, "time") == "3 min 42 s"
    assert row(later, "pace").endswith("used up in about 6 min 58 s")
    assert row(later, "busy").endswith("quiet for 30 s")


def test_what_has_ended_stands_still() -> None:
    text = drawn(seen(*MIDDLE).ended(), now=5000.0)
    assert row(text, "time") == "3 min 12 s"
    assert row(text, "pace") == "3.8 evaluations a minute"
    assert row(text, "busy") == "nobody, it has ended"


def test_before_there_is_a_run_the_judge_is_tried() -> None:
    assert drawn(View()).strip() == "trying the judge on candidates whose fate is known ..."


def test_at_the_beginning_nothing_is_claimed() -> None:
    text = drawn(seen(begun(evaluations=40), stands()))
    assert row(text, "best") == "no kernel accepted yet"
    assert row(text, "pace") == "nothing judged yet"
    assert row(text, "archive").startswith("0 of 64 cells filled")


def test_a_resumed_run_shows_what_was_found_before() -> None:
    found = (elite(2.31, (2, 1, 0)), stands(best=kernel(), evaluations=12, filled=1, wall_seconds=60))
    text = drawn(seen(begun(resumed=True, evaluations=40), *found))
    assert row(text, "best").startswith("2.31x")
    assert row(text, "evaluations").startswith("12 of 40")
    assert row(text, "memory 2").split()[1] == "2.3"
    assert "before: 12 judged, best 2.31x eager [2.28, 2.35], 1 of 64 cells filled" in text


@pytest.mark.parametrize(
    "last",
    [
        judged(1, status="CRASH", message=EVIL),
        event("unusable", request="7", why=EVIL),
        event("fault", candidate="3fa2b1c09d77", why=EVIL),
    ],
    ids=lambda last: last["event"],
)
@pytest.mark.parametrize("colours", [None, "truecolor"])
def test_what_others_wrote_is_shown_as_letters_and_nothing_more(last: Event, colours: Any) -> None:
    view = seen(begun(evaluations=4), last)
    how = {"color_system": colours, "force_terminal": colours is not None}
    text = drawn(view, width=120, **how)
    assert PLAIN in text
    assert not any(sign in text for sign in ("\x1b[2J", "\x07", "\u202e", "\x9b", "\r"))


def test_a_task_may_have_any_name() -> None:
    assert PLAIN in drawn(seen(begun(task=EVIL, evaluations=4)))


def test_long_messages_do_not_move_the_rest() -> None:
    long = judged(1, status="COMPILE_ERROR", message="error: " + "x" * 1000)
    text = drawn(seen(begun(evaluations=4), long, judged(2, **kernel())))
    assert len(text.splitlines()) == len(drawn(seen(begun(evaluations=4), judged(1), judged(2))).splitlines())


@pytest.mark.parametrize(("height", "lines"), [(24, 5), (50, 8), (12, 2)])
def test_a_taller_terminal_shows_more_of_what_happened(height: int, lines: int) -> None:
    text = drawn(seen(begun(evaluations=40), *(judged(number) for number in range(1, 20))), height=height)
    assert text.count("CORRECT") == lines
    assert f"{19:4}  3fa2b1c09d" in text


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [(0.004, ".00"), (0.85, ".85"), (0.996, "1.0"), (2.31, "2.3"), (9.96, "10"), (310.2, "310"), (1234, "1k+")],
)
def test_a_speedup_fits_its_cell(ratio: float, shown: str) -> None:
    assert row(drawn(seen(begun(evaluations=4), elite(ratio, (0, 0, 0)))), "memory 0").split()[0] == shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.7, "1 min 00 s"), (192, "3 min 12 s"), (7500, "2 h 05 min"), (-3, "0 s")],
)
def test_durations_read_well(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize("width", WIDTHS)
def test_a_recorded_search_fits_the_screen_at_every_moment(tmp_path: Path, monkeypatch: Any, width: int) -> None:
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    told: list[Event] = []
    with Store(tmp_path / "runs.db") as store:
        means = Means(
            store=store,
            proposer=Writer(climbing),
            fleet=Courts(),
            tell=lambda kind, data: told.append({"event": kind, "run": "r", "at": 100.0 + len(told), **data}),
        )
        plan = Plan(backend="cpp", budget=Budget(evaluations=30, dollars=5.0), lanes=3)
        found = optimize(load_task(TASKS / "relu.py"), plan, means)
    view = View()
    for one in told:
        view = view.after(one)
        lines = drawn(view, width=width, now=one["at"]).splitlines()
        assert len(lines) < HEIGHT
        assert max(map(len, lines)) <= width
    text = drawn(view, width=width)
    assert row(text, "evaluations").startswith("30 of 30")
    assert found.best is not None
    assert row(text, "best").startswith(found.best.speed)
    assert row(text, "archive").startswith(f"{len(found.archive.elites)} of 64")
    assert row(text, "busy") == "0 requests under way, 0 candidates to judge"


def test_seeds_are_counted_beside_the_evaluations_that_the_budget_pays_for() -> None:
    text = drawn(seen(begun(evaluations=40), stands(evaluations=11, seeds=8)))
    assert row(text, "evaluations").startswith("3 of 40, 8 seeds beside them")


def test_the_end_of_seeding_and_its_failure_are_told_in_a_line() -> None:
    told = seen(
        begun(),
        event("seeded", seeds=0, filled=0, results=0),
        event("unseeded", request="1", why="the built-in synthesiser does not know the operator aten.sort.default."),
        event("seeded", seeds=8, filled=3, results=8),
    )
    assert [line.strip() for line in told.lines] == [
        "no seeds: the built-in synthesiser does not know the operator aten.sort.default. The search goes on without",
        "seeded: 8 kernels that no model wrote, 3 cells filled; now the model",
    ]
