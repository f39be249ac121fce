"""How a search is followed and left: JSON for programs, lines for files, a terminal that stays sane."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from rich.console import Console

from kernelwright.cli import _search
from kernelwright.cli._voices import Events, Lines, Screen, open_voice
from tests.cli.conftest import Invoke
from tests.cli.moments import RUN, begun, judged
from tests.cli.moments import kernel as told_kernel
from tests.engine.world import Courts, kernel
from tests.judge.texts import RELU, TASKS, relu

TASK = TASKS / "relu.py"
EVENTS = Path(__file__).parents[2] / "docs" / "events.md"
ALWAYS = ["event", "run", "at"]


def documented() -> dict[str, list[str]]:
    """The fields of every event, as the page has them."""
    rows = re.findall(r"^\| `(\w+)` \| (`.+?`) \|", EVENTS.read_text(), re.MULTILINE)
    return {name: re.findall(r"`(\w+)`", fields) for name, fields in rows}


def heard(result: Result) -> list[dict[str, Any]]:
    """What a program reads; fails where a line is not JSON, or not an event of the documented form."""
    events = [json.loads(line) for line in result.stdout.splitlines()]
    form = documented()
    for event in events:
        assert sorted(event) == sorted([*ALWAYS, *form[event["event"]]]), event
    assert len({event["run"] for event in events}) == 1
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    return events


class Impatient(Courts):
    """A fleet whose owner presses Ctrl-C after so many verdicts."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def finished(self, timeout: float) -> Iterable[Any]:
        if len(self.heard) >= self._most:
            raise KeyboardInterrupt
        return super().finished(timeout)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Four answers; the folder's name needs quoting."""
    folder = tmp_path / "four answers"
    folder.mkdir()
    for number, speed in enumerate((1.5, -1.0, 2.5, 2.0)):
        (folder / f"{number}.md").write_text(kernel(speed, number))
    return folder


@pytest.fixture
def search(invoke: Invoke, tmp_path: Path, ready: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`optimize` in the small world of the engine's tests: its fleet judges by what stands in the texts."""
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)

    def run(*more: object, fleet: Courts | None = None) -> Result:
        monkeypatch.setattr(_search, "open_fleet", lambda address: fleet or Courts())
        model = ("--model", f"script/{ready}", "--in-flight", 1)
        return invoke("optimize", TASK, *model, "--store", tmp_path / "runs.db", *more)

    return run


def test_every_event_is_a_line_of_json_and_the_last_is_the_result(search: Callable[..., Result]) -> None:
    result = search("--json", "--evaluations", 4)
    assert result.exit_code == 0, result.output
    events = heard(result)
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-1]) == ("begun", "result")
    assert {"asked", "answered", "judged", "elite", "settled", "stands"} <= set(kinds)
    last = events[-1]
    assert (last["state"], last["exit"], last["filled"]) == ("finished", 0, 1)
    assert last["best"]["speedup"] == pytest.approx(2.5)
    assert last["next"].startswith(f"kernelwright best {last['run']} ")


@pytest.mark.slow
def test_a_whole_search_on_this_machine_is_told_in_json(invoke: Invoke, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ready.mkdir()
    sources = (relu("y[i] = 7;"), RELU, "no kernel at all")
    for number, source in enumerate(sources):
        (ready / f"{number}.{'py' if 'ModelNew' in source else 'txt'}").write_text(source)
    store = tmp_path / "runs.db"
    result = invoke("optimize", TASK, "--model", f"script/{ready}", "--store", store, "--json")
    assert result.exit_code == 0, result.output
    events = heard(result)
    assert {event["status"] for event in events if event["event"] == "judged"} == {"CORRECT", "WRONG_VALUE"}
    assert [event["request"] for event in events if event["event"] == "unusable"] == ["3"]
    assert events[-1]["event"] == "result"
    assert events[-1]["best"]["low"] <= events[-1]["best"]["speedup"] <= events[-1]["best"]["high"]


def test_a_search_that_finds_nothing_says_so_in_its_result(search: Callable[..., Result], ready: Path) -> None:
    for path in ready.iterdir():
        path.write_text(kernel(-1.0, path.name))
    result = search("--json", "--evaluations", 3)
    last = heard(result)[-1]
    assert (result.exit_code, last["exit"], last["state"], last["best"]) == (1, 1, "failed", None)
    assert last["next"].startswith("kernelwright show ")


def test_a_run_that_fails_has_a_result_too(search: Callable[..., Result]) -> None:
    result = search("--json", fleet=Courts(faults=99))
    last = heard(result)[-1]
    assert (result.exit_code, last["event"], last["exit"], last["state"]) == (2, "result", 2, "failed")
    assert "the machine coughed" in last["reason"]
    assert "the machine coughed" in result.stderr


def test_what_stops_a_command_before_there_is_a_run_leaves_the_standard_output_empty(invoke: Invoke) -> None:
    result = invoke("optimize", TASK, "--model", "nosuch/x", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no model is called" in result.stderr


def test_every_documented_event_is_told_by_somebody() -> None:
    source = "".join(path.read_text() for path in Path(_search.__file__).parents[1].glob("*/*.py"))
    for name in documented():
        assert re.search(rf'(_tell|_note|\btell|self)\(\s*"{name}"', source), name


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_who_interrupts_a_search_is_given_the_command_that_goes_on_with_it(
    search: Callable[..., Result], invoke: Invoke, monkeypatch: pytest.MonkeyPatch, extra: list[str]
) -> None:
    result = search(*extra, "--base-url", "http://localhost:1/v1", fleet=Impatient(2))
    assert result.exit_code == 2
    assert "every reply and verdict so far is kept" in result.stderr
    command = result.stderr.split("Next: ")[1].strip()
    assert "--base-url http://localhost:1/v1" in command
    monkeypatch.setattr(_search, "open_fleet", lambda address: Courts())
    again = invoke(*shlex.split(command)[1:])
    assert again.exit_code == 0, again.output
    assert "before: 2 judged, best 1.50x eager" in again.output
    assert "   3  " in again.output
    if extra:
        assert heard(result)[-1]["state"] == "interrupted"
        assert heard(result)[-1]["next"] == command


def test_a_search_that_is_interrupted_twice_still_says_how_to_go_on(search: Callable[..., Result]) -> None:
    class Pressed(Impatient):
        def close(self) -> None:
            raise KeyboardInterrupt

    result = search(fleet=Pressed(1))
    assert result.exit_code == 2
    assert "kernelwright resume " in result.stderr
    assert "nothing was written" not in result.stderr


def test_without_a_terminal_there_are_plain_lines(search: Callable[..., Result]) -> None:
    result = search("--evaluations", 4)
    assert "\x1b" not in result.stdout
    assert re.search(r"^   2  \w{10}  WRONG_VALUE      cell \d{3}  7 of 8 elements wrong$", result.stdout, re.MULTILINE)
    assert "best so far: 1.50x eager [" in result.stdout
    assert result.stdout.count("best so far") == 2
    assert re.search(r"^      \w{10} beats \w{10} in cell \d{3}: 2.50x to 1.50x$", result.stdout, re.MULTILINE)


def test_lines_show_what_others_wrote_as_letters() -> None:
    file = io.StringIO()
    voice = Lines(Console(file=file, width=80, force_terminal=True, highlight=False))
    voice("begun", begun(evaluations=4))
    voice("judged", judged(1, status="CRASH", message="[red]a[/red] \x1b[2J\r\nb"))
    assert "[red]a[/red] [2J b" in file.getvalue()
    assert "\x1b[2J" not in file.getvalue()


def test_a_terminal_that_understands_nothing_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes any output for a terminal
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(open_voice(False), Screen)
    assert isinstance(open_voice(True), Events)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(open_voice(False), Lines)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, None])
def test_the_cursor_is_back_however_a_screen_is_left(error: type[BaseException] | None) -> None:
    file = io.StringIO()
    screen = Screen(Console(file=file, width=80, height=24, force_terminal=True, color_system=None, _environ={}))

    def leave() -> None:
        with screen:
            screen("begun", begun(evaluations=4))
            screen("judged", judged(1, **told_kernel()))
            if error is not None:
                raise error

    if error is None:
        leave()
    else:
        with pytest.raises(error):
            leave()
    text = file.getvalue()
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    drawing = text[text.rindex(RUN) :]
    assert "nobody, it has ended" in drawing, "the last drawing stays"
    assert "3fa2b1c09d  CORRECT" in drawing
