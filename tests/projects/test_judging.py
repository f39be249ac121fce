"""A candidate for a project before the judge: accepted if right and honest, else refused for what it is."""

from dataclasses import replace

import pytest

from kernelwright.judge import ORIGINAL, Judge, Status, certificate
from kernelwright.tasks import TaskError, load_task
from tests.projects.made_up import BENCH, FAST, SOURCE, TEST, TOML, project

SLOW = """\
def squares(n, start):
    return sum([value * value for value in range(start, start + n)])
"""
# What a candidate may do to what surrounds it without naming anything that the screen knows.
BY_NAME = "__import__('os')"


def hidden(body: str) -> str:
    """A right candidate that first does something else, in a way that its text alone does not show."""
    return f'class Hidden:\n    exec("""{body}""")\n\n\n' + FAST


@pytest.fixture
def unscreened(monkeypatch):
    """As if the screen had been deceived."""
    monkeypatch.setattr("kernelwright.judge.project._hearing.reaches", lambda *_: None)


@pytest.mark.slow
def test_a_right_candidate_is_accepted_and_timed_against_the_original(judged, sums):
    verdict = judged(FAST, timed=True)
    assert verdict.status is Status.CORRECT, verdict.message
    assert verdict.speedup[ORIGINAL]["low"] > 1.2
    assert verdict.time_ms[ORIGINAL] > verdict.time_ms["candidate"]
    assert verdict.evidence["project"]["tests"] == ["4"]
    assert verdict.evidence["project"]["results_checked"]
    told = verdict.evidence["witness"]["long"]
    assert told["wall_speedup"] > 1.0
    claim = certificate.read(certificate.issue(sums, FAST, verdict, ("eager",)))
    assert (claim.baselines, claim.asked, claim.task.hash) == ((ORIGINAL,), (), sums.hash)


def test_unless_asked_for_nothing_is_timed(judged):
    verdict = judged(SLOW)
    assert (verdict.status, verdict.speedup) == (Status.UNTIMED, {})


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        (FAST.replace("// 6", "// 7"), Status.WRONG_VALUE, "the test fails (exit code 1)"),
        (FAST.replace("return below(start + n)", "return 1 +"), Status.WRONG_VALUE, "the test fails"),
        ("def circles(): ...\n", Status.WRONG_VALUE, "the test fails"),
        (FAST + "# EVOLVE end\n", Status.WRONG_STRUCTURE, "ends here that never began"),
        (SOURCE.replace("return 2 *", "return 3 *"), Status.WRONG_STRUCTURE, "edits outside its regions: return 3 *"),
        (FAST + "\nimport os\nos._exit(0)\n", Status.TAMPER, "reaches for 'os'"),
        (FAST + "\nprint('{\"seconds\": 1e-9}')\n", Status.TAMPER, "reaches for 'print'"),
        (FAST + "\nfrom time import perf_counter\n", Status.TAMPER, "reaches for 'time'"),
    ],
)
def test_a_wrong_or_dishonest_candidate_is_refused(judged, source, status, words):
    verdict = judged(source)
    assert verdict.status is status, verdict.message
    assert words in verdict.message
    assert not verdict.accepted


def test_right_in_the_tests_and_wrong_in_the_benchmark_is_wrong(judged):
    """Inputs of the timed runs come from a seed that nobody could foresee."""
    source = FAST.replace("return below(start + n)", "if n > 100:\n        return 7\n    return below(start + n)")
    verdict = judged(source)
    assert verdict.status is Status.WRONG_VALUE
    assert "finds other results than the original's on the same inputs: [7, 7, 7]" in verdict.message


@pytest.mark.usefixtures("unscreened")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (f"{BY_NAME}._exit(0)", "the tests pass, but not as many as on the original (4)"),
        ("open('test_sums.py', 'w').write('print(4)')", "the test changed test_sums.py"),
        ("text = open('bench.py').read(); open('bench.py', 'w').write(text)", "the test changed bench.py"),
        (f"{BY_NAME}.remove('bench.py')", "the test changed bench.py"),
        (f"{BY_NAME}.chmod('sums.py', 511)", "the test changed sums.py"),
    ],
)
def test_who_gets_past_the_screen_cannot_touch_tests_or_files(judged, body, words):
    verdict = judged(hidden(body))
    assert verdict.status is Status.TAMPER, verdict.message
    assert words in verdict.message


FORGED = """\
import json, sys
if "bench" in sys.argv[0]:
    import time
    clock, start = time.perf_counter, time.perf_counter()
    time.perf_counter = lambda: start + (clock() - start) / 8
"""


@pytest.mark.slow
@pytest.mark.usefixtures("unscreened")
def test_a_slowed_down_clock_is_contradicted_by_the_judges_own(judged):
    """All results are right and every file is as it was; only the numbers are not."""
    source = SOURCE.partition("# EVOLVE begin squares\n")[2].partition("# EVOLVE end")[0]
    verdict = judged(FORGED + source, timed=True)
    assert verdict.status is Status.TAMPER, verdict.message
    assert "the numbers are forged" in verdict.message
    assert verdict.evidence["witness"]["claimed_speedup"] > 4
    assert verdict.evidence["witness"]["wall_speedup"] < 1.5


@pytest.mark.usefixtures("unscreened")
def test_a_forged_line_in_place_of_the_work_is_refused(judged):
    """The results of this seed are not known to who does not compute them."""
    forged = '{\\\\"seconds\\\\": [1e-9, 1e-9, 1e-9], \\\\"check\\\\": [1, 2, 3]}'
    body = f"import sys; 'bench' in sys.argv[0] and (print('{forged}', flush=True), {BY_NAME}._exit(0))"
    verdict = judged(hidden(body))
    assert verdict.status is Status.WRONG_VALUE, verdict.message
    assert "finds other results" in verdict.message


# Projects that cannot be judged

ADAPTIVE = BENCH.replace("range(3)", "range(1 + time.time_ns() // 1000 % 1000)").replace("size, seed))", "9, seed))")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"test_sums_dot_py": TEST.replace("== 14", "== 15")}, "before any change, the test fails (exit code 1)"),
        ({"bench_dot_py": BENCH.partition("print")[0]}, "prints no number: its output holds no JSON object"),
        ({"bench_dot_py": BENCH.replace('"seconds"', '"time"')}, 'prints no number: its output holds no "seconds"'),
        ({"bench_dot_py": BENCH.replace(": seconds", ": [0.0]")}, "times that are none"),
        ({"bench_dot_py": ADAPTIVE}, "fix the number"),
        ({"bench_dot_py": BENCH.replace("append(time", "append(1e6 * time")}, "must be seconds of one call"),
        ({"bench_dot_py": BENCH.replace("check.append(", "check.append(time.time_ns() + ")}, "gives another check"),
        ({"task_dot_toml": TOML.replace("test =", 'build = "false"\ntest =')}, "before any change, the build fails"),
        (
            {"task_dot_toml": TOML.replace("test =", 'build = "touch sums.py"\ntest =')},
            "the build changed sums.py, a file of the project",
        ),
    ],
)
def test_a_project_that_does_not_work_before_any_change_is_no_task(tmp_path, judge: Judge, files, words):
    with pytest.raises(TaskError) as caught:
        judge.judge(load_task(project(tmp_path, **files)), FAST, timed=False)
    assert words in str(caught.value)
    assert "fix:" in str(caught.value)


def test_what_needs_a_reference_says_so(judge: Judge, sums):
    with pytest.raises(TaskError, match="needs a task with a reference"):
        judge.prepare(sums)


def test_commands_see_neither_the_users_files_nor_the_network(tmp_path, judge: Judge):
    (tmp_path / "secret").write_text("mine")
    looks = f"import pathlib, socket\nassert not pathlib.Path({str(tmp_path)!r}).exists()\n"
    task = load_task(project(tmp_path / "project", test_sums_dot_py=looks + TEST))
    assert judge.judge(task, FAST, timed=False).accepted


def test_a_command_that_takes_too_long_says_which_limit_to_raise(tmp_path, judge: Judge, monkeypatch):
    monkeypatch.setattr(judge, "limits", replace(judge.limits, total_s=0.5))
    task = load_task(project(tmp_path, test_sums_dot_py="import time\ntime.sleep(60)\n"))
    with pytest.raises(TaskError, match=r"the test took more than 0.5 s(.|\n)*total_s"):
        judge.judge(task, FAST, timed=False)


def test_numbers_can_come_in_a_file(tmp_path, judge: Judge):
    bench = BENCH.replace("print(", "open(sys.argv[3], 'w').write(")
    toml = TOML.replace("{seed}", "{seed} {output}")
    assert judge.judge(load_task(project(tmp_path, bench_dot_py=bench, task_dot_toml=toml)), FAST, timed=False).accepted


def test_by_the_clock_alone_nothing_is_read(tmp_path, judge: Judge):
    toml = TOML.replace("[[case]]", 'output = "wall"\n[[case]]')
    task = load_task(project(tmp_path, bench_dot_py="import sums\nsums.squares(400000, 1)\n", task_dot_toml=toml))
    verdict = judge.judge(task, FAST, timed=False)
    assert verdict.accepted
    assert not verdict.evidence["project"]["results_checked"]
    assert "says nothing of its results" in verdict.message
