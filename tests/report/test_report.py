"""From records to tables: what counts, what does not, and where a failure is a number."""

import csv
import io
import json

import pytest

from kernelwright.report import (
    Bench,
    Fate,
    Result,
    attempts,
    rows,
    summarise,
    summary_rows,
    to_csv,
    to_json,
    to_markdown,
)


def record(problem, sample=0, *, fate=Fate.ACCEPTED, eager=None, compiled=None, variant=1, **more):
    speedup = {name: _speedup(value) for name, value in (("eager", eager), ("compile", compiled)) if value}
    status = {"accepted": "CORRECT", "rejected": "WRONG_VALUE"}.get(str(fate), "TASK_ERROR")
    told = {"status": status, "message": "a | b", "flaws": [], "changes": []}
    where = {"problem": problem, "sample": sample, "variant": variant, "file": f"{problem}_{sample}.py"}
    return {**where, **told, "fate": str(fate), "speedup": speedup, **more}


def _speedup(ratio):
    return {"ratio": ratio, "low": ratio / 2, "high": ratio * 2}


def results(*records, problems=("a", "b", "c", "d", "e")):
    tried = attempts(records)
    return [Result(name, name.upper(), tuple(one for one in tried if one.problem == name)) for name in problems]


FIVE = (
    record("a", eager=4.0, compiled=1.5),
    record("b", eager=1.1, compiled=0.5),
    record("c", fate=Fate.REJECTED),
    record("d", fate=Fate.WEAK, flaws=["constant"]),
)


@pytest.fixture
def bench():
    return Bench(tuple(results(*FIVE)), ("eager", "compile"), None, {"selection": "made:up", "machine": {"cpu": "x"}})


def test_failures_missing_and_weak_problems_count_in_the_full_set(bench):
    summary = summarise(bench.full(), bench.baselines)
    assert summary.correctness.value == pytest.approx(2 / 5)
    assert summary.speed["eager"].fast[1.0].value == pytest.approx(2 / 5)
    assert summary.speed["compile"].fast[1.2].value == pytest.approx(1 / 5)
    assert summary.speed["eager"].mean.value == pytest.approx(4.4 ** (1 / 5))
    assert summary.speed["eager"].mean_of_solved.value == pytest.approx(4.4**0.5)
    assert summary.speed["eager"].median.value == 1.0
    assert summary.fates == {Fate.ACCEPTED: 2, Fate.REJECTED: 1, Fate.WEAK: 1, Fate.MISSING: 1}


def test_weak_and_flagged_problems_are_not_in_the_clean_set(bench):
    assert [result.problem for result in bench.clean()] == ["a", "b", "c", "e"]
    flagged = Bench(bench.results, bench.baselines, {"a": ("constant",)}, {})
    assert [result.problem for result in flagged.clean()] == ["b", "c", "e"]


def test_a_failed_problem_is_told_by_a_sample_that_failed():
    (result,) = results(record("a", 0, fate=Fate.UNJUDGED), record("a", 1, fate=Fate.REJECTED), problems=("a",))
    (row,) = rows(Bench((result,), ("eager",)))
    assert (row["fate"], row["status"], row["best_file"]) == ("rejected", "WRONG_VALUE", "a_1.py")


def test_what_could_not_be_judged_is_in_no_rate():
    summary = summarise(results(*FIVE, record("e", fate=Fate.UNJUDGED)), ("eager",))
    assert summary.correctness.tasks == 4
    assert summary.fates[Fate.UNJUDGED] == 1


def test_of_several_samples_the_fastest_accepted_one_counts():
    (only,) = results(
        record("a", 0, eager=1.5),
        record("a", 1, fate=Fate.REJECTED),
        record("a", 2, eager=3.0),
        record("a", 3, fate=Fate.UNJUDGED),
        problems=["a"],
    )
    assert only.best("eager").sample == 2
    assert only.fate is Fate.ACCEPTED
    summary = summarise([only], ("eager",))
    assert summary.speed["eager"].mean.value == pytest.approx(3.0)
    assert summary.pass_at[1].value == pytest.approx(2 / 3)
    assert summary.pass_at[2].value == pytest.approx(1.0)
    assert set(summary.pass_at) == {1, 2}


def test_a_problem_without_solutions_passes_at_no_k():
    found = results(record("a", 0), record("a", 1), problems=["a", "b"])
    assert summarise(found, ("eager",)).pass_at[2].value == 0.5


def test_all_variants_must_be_accepted_and_speedups_are_averaged():
    (good,) = attempts([record("a", eager=2.0, variant=1), record("a", eager=8.0, compiled=3.0, variant=2)])
    assert good.fate is Fate.ACCEPTED
    assert good.ratios.keys() == {"eager"}
    assert good.ratios["eager"].value == pytest.approx(4.0)
    assert good.ratios["eager"].low == pytest.approx(2.0)
    (bad,) = attempts([record("a", eager=2.0, variant=1), record("a", fate=Fate.REJECTED, variant=2)])
    assert (bad.fate, bad.status, bad.ratios) == (Fate.REJECTED, "WRONG_VALUE", {})


def test_a_correct_solution_that_was_not_timed_has_no_speedup():
    summary = summarise(results(record("a"), record("b", eager=2.0), problems=["a", "b"]), ("eager",))
    assert summary.correctness.value == 1.0
    assert summary.speed["eager"].untimed == 1
    assert summary.speed["eager"].mean.value == 2.0


def test_no_failure_is_a_number_in_the_rows(bench):
    table = {row["problem"]: row for row in rows(bench)}
    assert [table[name]["speedup_eager"] for name in "abcde"] == [4.0, 1.1, None, None, None]
    assert table["e"]["fate"] == "no solution"
    assert table["d"]["flags"] == "constant"


def test_the_csv_holds_one_row_a_problem(bench):
    table = list(csv.DictReader(io.StringIO(to_csv(bench))))
    assert [row["problem"] for row in table] == list("abcde")
    assert [row["speedup_compile"] for row in table] == ["1.5", "0.5", "", "", ""]


def test_the_json_holds_sets_and_problems(bench):
    whole = json.loads(to_json(bench))
    assert whole["selection"] == "made:up"
    assert whole["sets"].keys() == {"full set", "clean set"}
    assert whole["sets"]["full set"]["speed"]["compile"]["fast"]["1.2"]["value"] == pytest.approx(0.2)
    assert whole["sets"]["full set"]["fates"]["rejected"] == 1
    assert whole["problems"][2]["speedup_eager"] is None


def test_the_words_say_where_a_failure_is_a_number(bench):
    heading, table = summary_rows(bench)
    assert heading == ["", "full set", "clean set"]
    cells = {name: full for name, full, _ in table}
    assert cells["correct"].startswith("40.0% [")
    assert cells["fast_1.5 over eager"].startswith("20.0% [")
    assert cells["geometric mean over eager, failures as 1.0"].startswith("1.34x [")
    assert cells["geometric mean over eager, correct ones only"].startswith("2.10x [")
    assert cells["rejected"] == cells["without a solution"] == "1"
    assert "pass@1" not in cells


def test_a_set_without_flaws_is_shown_once():
    one = Bench(tuple(results(record("a", eager=2.0), problems=["a"])), ("eager",))
    assert summary_rows(one)[0] == ["", "full set"]
    audited = Bench(one.results, one.baselines, {})
    assert summary_rows(audited)[0] == ["", "full set", "clean set"]


def test_nothing_judged_is_said_in_words():
    nothing = Bench(tuple(results(record("a", fate=Fate.UNJUDGED), problems=["a"])), ("eager",))
    cells = {row[0]: row[1] for row in summary_rows(nothing)[1]}
    assert cells["correct"] == "none judged"
    assert cells["median over eager, correct ones only"] == "none timed"


def test_the_markdown_has_a_line_for_every_problem(bench):
    lines = to_markdown(bench).splitlines()
    assert lines[0] == "# made:up"
    assert any(line.startswith("| a | A | CORRECT | 1 / 1 | 4.00x [2.00, 8.00] |") for line in lines)
    assert any(line.startswith("| c | C | WRONG_VALUE |") and "a \\| b" in line for line in lines)
