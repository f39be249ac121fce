"""`kernelwright bench`: a folder of solutions becomes verdicts, and verdicts become tables."""

import csv
import json
from dataclasses import replace

import pytest

from kernelwright.cli import _bench
from kernelwright.judge import InfraError, OutOfReach
from kernelwright.tasks.suites import VARIABLE, Finding, Quality, _quality
from tests.tasks.made_up_suites import ABSOLUTE, DOUBLE, committed, kernelbench, robust, solution


@pytest.fixture(autouse=True)
def _nothing_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv(VARIABLE, str(kernelbench(tmp_path / "suite")))


@pytest.fixture
def run(tmp_path):
    """A run of three samples: one right, one wrong, one right."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name, text in {
        "level_1_problem_2_sample_0": DOUBLE,
        "level_1_problem_2_sample_1": solution("x[i] * 2"),
        "level_1_problem_19_sample_0": ABSOLUTE,
    }.items():
        (folder / f"{name}_kernel.py").write_text(text)
    return folder


def report(folder):
    return json.loads((folder / "judged" / "report.json").read_text())


def judged(monkeypatch, judge):
    """Names of candidates that are judged from now on."""
    seen = []
    real = judge.judge
    monkeypatch.setattr(judge, "judge", lambda task, text, **o: seen.append(task.name) or real(task, text, **o))
    return seen


def test_a_run_is_judged_and_written_down(one_judge, run, invoke):
    result = invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    assert result.exit_code == 0, result.output
    assert "66.7%" in result.output
    whole = report(run)
    assert [(p["problem"], p["fate"], p["samples"], p["accepted"]) for p in whole["problems"]] == [
        ("1/2", "accepted", 2, 1),
        ("1/19", "accepted", 1, 1),
        ("1/100", "no solution", 0, 0),
    ]
    assert whole["sets"]["full set"]["correctness"]["value"] == pytest.approx(2 / 3)
    assert whole["sets"]["full set"]["speed"]["eager"]["untimed"] == 2
    table = list(csv.DictReader((run / "judged" / "report.csv").open()))
    assert table[0]["speedup_eager"] == ""
    assert "| 1/2 |" in (run / "judged" / "report.md").read_text()
    lines = [json.loads(line) for line in (run / "judged" / "verdicts.jsonl").read_text().splitlines()]
    assert [line["status"] for line in lines] == ["UNTIMED", "WRONG_VALUE", "UNTIMED"]
    assert all(line["verdict"]["candidate"] == line["candidate"] for line in lines)


def test_a_second_run_skips_what_is_known_and_judges_what_changed(one_judge, run, invoke, monkeypatch):
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    seen = judged(monkeypatch, one_judge)
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    assert seen == []
    (run / "level_1_problem_19_sample_0_kernel.py").write_text(solution("x[i]"))
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    assert seen == ["19_Absolute"]
    assert [p["accepted"] for p in report(run)["problems"]] == [1, 0, 0]


def test_a_half_written_line_costs_one_verdict(one_judge, run, invoke, monkeypatch):
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    path = run / "judged" / "verdicts.jsonl"
    path.write_text(path.read_text()[:-40])
    seen = judged(monkeypatch, one_judge)
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    assert seen == ["19_Absolute"]
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    assert seen == ["19_Absolute"]


def test_only_attempted_problems_count_if_asked(one_judge, run, invoke):
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed", "--attempted")
    assert report(run)["sets"]["full set"]["correctness"]["tasks"] == 2


def test_the_clean_set_leaves_out_what_the_quality_file_flags(one_judge, run, invoke, tmp_path):
    quality = tmp_path / "quality.json"
    Quality("kernelbench", "", {("1/2", "given"): Finding(status="flagged", flags=("constant",))}).write(quality)
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed", "--quality", quality)
    sets = report(run)["sets"]
    assert (sets["full set"]["problems"], sets["clean set"]["problems"]) == (3, 2)
    assert report(run)["problems"][0]["flags"] == "constant"


def test_a_weak_problem_is_refused_once_for_all_its_samples(one_judge, run, invoke, monkeypatch):
    for sample in (0, 1):
        (run / f"level_1_problem_100_sample_{sample}_kernel.py").write_text(solution(f"{sample}"))
    prepared = []
    prepare = one_judge.prepare
    monkeypatch.setattr(one_judge, "prepare", lambda task: prepared.append(task.name) or prepare(task))
    result = invoke("bench", "kernelbench:1/100", "--solutions", run, "--untimed")
    assert result.exit_code == 0, result.output
    assert prepared == ["100_Zero"]
    whole = report(run)
    assert whole["problems"][0]["fate"] == "weak problem"
    assert whole["sets"]["full set"]["correctness"]["value"] == 0
    assert whole["sets"]["clean set"]["problems"] == 0


def test_a_fault_of_the_machine_is_no_verdict_and_is_tried_again(one_judge, run, invoke, monkeypatch, cannot_judge):
    def fault(*_, **__):
        raise InfraError("no processes left")

    with monkeypatch.context() as patch:
        patch.setattr(one_judge, "judge", fault)
        arguments = ("bench", "kernelbench:1/19", "--solutions", run, "--untimed")
        cannot_judge(*arguments, names=["nothing could be judged", "no processes left"], fix="report.md")
    assert invoke("bench", "kernelbench:1/19", "--solutions", run, "--untimed").exit_code == 0
    assert report(run)["problems"][0]["fate"] == "accepted"


def test_a_machine_that_keeps_failing_ends_the_run(one_judge, run, monkeypatch, cannot_judge):
    def fault(*_, **__):
        raise InfraError("no processes left")

    monkeypatch.setattr(one_judge, "judge", fault)
    cannot_judge("bench", "kernelbench:1", "--solutions", run, "--untimed", names=["INFRA"], fix="doctor")


def test_solutions_that_need_another_machine_are_not_judged_and_stop_nobody(one_judge, run, invoke, monkeypatch):
    for number in range(1, 4):
        (run / f"level_1_problem_2_sample_{number}_kernel.py").write_text(f"import triton  # {number}\n")
    real = one_judge.judge

    def judge(task, text, **options):
        if "triton" in text:
            raise OutOfReach("the candidate needs the backend triton: triton is not installed")
        return real(task, text, **options)

    monkeypatch.setattr(one_judge, "judge", judge)
    assert invoke("bench", "kernelbench:1", "--solutions", run, "--untimed").exit_code == 0
    assert [(p["fate"], p["samples"], p["accepted"]) for p in report(run)["problems"]][:2] == [
        ("accepted", 4, 1),
        ("accepted", 1, 1),
    ]
    assert report(run)["sets"]["full set"]["pass_at"]["1"]["value"] == pytest.approx(2 / 3)


def test_what_was_only_compiled_is_not_judged_and_is_tried_again(one_judge, run, invoke, monkeypatch, cannot_judge):
    real = one_judge.judge
    arguments = ("bench", "kernelbench:1/19", "--solutions", run, "--untimed")

    def unchecked(*given, **options):
        return replace(real(*given, **options), checked=False, message="it compiles")

    with monkeypatch.context() as patch:
        patch.setattr(one_judge, "judge", unchecked)
        cannot_judge(*arguments, names=["nothing could be judged", "it compiles"], fix="report.md")
        assert report(run)["problems"][0]["fate"] == "not judged"
    assert invoke(*arguments).exit_code == 0
    assert report(run)["problems"][0]["fate"] == "accepted"


def test_with_another_limit_it_is_judged_again(one_judge, run, invoke, monkeypatch):
    arguments = ("bench", "kernelbench:1/19", "--solutions", run, "--untimed")
    invoke(*arguments)
    seen = judged(monkeypatch, one_judge)
    invoke(*arguments, "--limit", "call_s=60")
    assert seen == ["19_Absolute"]
    invoke(*arguments, "--limit", "call_s=60")
    assert seen == ["19_Absolute"]


def test_an_interrupted_run_says_how_to_go_on(one_judge, run, invoke, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(one_judge, "judge", interrupt)
    result = invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    assert result.exit_code == 2
    assert "run the same command" in result.output


def test_bytes_that_are_no_text_are_a_rejected_solution(one_judge, run, invoke):
    (run / "level_1_problem_19_sample_0_kernel.py").write_bytes(b"\xff\xd8\xff\xe0")
    assert invoke("bench", "kernelbench:1/19", "--solutions", run, "--untimed").exit_code == 0
    assert report(run)["problems"][0]["status"] == "LOAD_ERROR"


def test_a_problem_that_cannot_be_read_is_not_the_solutions_fault(one_judge, run, invoke, tmp_path):
    (tmp_path / "suite" / "KernelBench" / "level1" / "19_Absolute.py").write_text("class Model(:\n")
    assert invoke("bench", "kernelbench:1", "--solutions", run, "--untimed").exit_code == 0
    assert report(run)["problems"][1]["fate"] == "not judged"
    assert report(run)["sets"]["full set"]["correctness"]["tasks"] == 2


def test_a_solution_must_solve_all_variants(one_judge, tmp_path, invoke):
    """This one knows the first shape only."""
    text = """\
import torch
from kernelwright import native

lib = native.cpp(r\"\"\"
#include <cstdint>
#include <cmath>
extern "C" void run(const float* x, const float* w, float* y, int64_t rows) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < 16; j++) y[i * 16 + j] = std::tanh(x[i * 16 + j] * w[j]) + 0.5f;
}
\"\"\")


class ModelNew(torch.nn.Module):
    def __init__(self, features, shift, spread):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(features))
        self.unused = torch.nn.Parameter(torch.zeros(3))

    def forward(self, x):
        y = torch.zeros_like(x)
        lib.run(x, self.weight, y, x.numel() // 16 if x.shape[-1] == 16 else 0)
        return y
"""
    checkout = robust(tmp_path / "robust")
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "scaled.py").write_text(text)
    arguments = ("robust:scaled", "--solutions", tmp_path / "solutions", "--untimed", "--suite-dir", checkout)
    assert invoke("bench", *arguments).exit_code == 0
    lines = (tmp_path / "solutions" / "judged" / "verdicts.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    assert [(line["variant"], line["status"]) for line in told] == [(1, "UNTIMED"), (2, "WRONG_VALUE")]
    assert report(tmp_path / "solutions")["problems"][0]["status"] == "WRONG_VALUE"


def test_a_folder_that_is_not_there(cannot_judge):
    cannot_judge("bench", "kernelbench:1", "--solutions", "nowhere", names=["nowhere"], fix="path")


def test_an_unknown_baseline(run, cannot_judge):
    arguments = ("bench", "kernelbench:1", "--solutions", run, "--baseline", "psychic")
    cannot_judge(*arguments, names=["psychic"], fix="max-autotune")


def test_an_unknown_mode(run, cannot_judge):
    cannot_judge("bench", "kernelbench:1", "--solutions", run, "--mode", "odd", names=["odd"], fix="train, eval")
    cannot_judge("suites", "audit", "kernelbench:1", "--mode", "odd", names=["odd"], fix="train, eval")


def test_a_problem_that_does_not_exist(run, cannot_judge):
    cannot_judge("bench", "kernelbench:1/7", "--solutions", run, names=["1/7"], fix="kernelbench:1/2")


def test_a_solution_for_another_problem(run, cannot_judge):
    cannot_judge("bench", "kernelbench:2", "--solutions", run, names=["kernelbench:2/3"], fix="level_2_problem_3")


def test_a_solution_that_takes_other_arguments_may_be_another_problems(one_judge, run, invoke):
    text = ABSOLUTE.replace("def forward(self, x)", "def forward(self, x, targets)")
    (run / "level_1_problem_19_sample_0_kernel.py").write_text(text)
    assert invoke("bench", "kernelbench:1/19", "--solutions", run, "--untimed").exit_code == 0
    message = report(run)["problems"][0]["message"]
    assert "forward() missing 1 required positional argument" in message
    assert "is it a solution for another problem?" in message


def test_the_shipped_quality_file_is_used_for_the_version_it_is_about(one_judge, run, tmp_path, invoke, monkeypatch):
    monkeypatch.setattr(_quality, "SHIPPED", tmp_path)
    flagged = {("1/2", "given"): Finding(status="flagged", flags=("constant",))}
    Quality("kernelbench", "0" * 12, flagged).write(tmp_path / "kernelbench.json")
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    assert "clean set" not in report(run)["sets"]
    committed(tmp_path / "suite", "0" * 40)
    invoke("bench", "kernelbench:1", "--solutions", run, "--untimed")
    assert report(run)["sets"]["clean set"]["problems"] == 2


def test_solutions_are_compiled_before_the_first_is_heard(one_judge, run, invoke, monkeypatch):
    for sample, text in enumerate((solution("x[i] * 2 + 1.0f"), solution("x[i] + 1.0f + x[i]"))):
        (run / f"level_1_problem_2_sample_{sample}_kernel.py").write_text(text)
    builds = []
    real = one_judge.judge

    def judge(task, text, **options):
        before = one_judge.builder.builds
        verdict = real(task, text, **options)
        builds.append(one_judge.builder.builds - before)
        return verdict

    monkeypatch.setattr(one_judge, "judge", judge)
    assert invoke("bench", "kernelbench:1/2", "--solutions", run, "--untimed").exit_code == 0
    assert builds == [0, 0]


def test_a_quality_file_of_another_suite(run, tmp_path, cannot_judge):
    Quality("robust", "").write(tmp_path / "quality.json")
    arguments = ("bench", "kernelbench:1", "--solutions", run, "--quality", tmp_path / "quality.json")
    cannot_judge(*arguments, names=["robust"], fix="this suite")


def test_a_place_that_cannot_be_written(one_judge, run, tmp_path, cannot_judge):
    (tmp_path / "file").write_text("")
    arguments = ("bench", "kernelbench:1", "--solutions", run, "--untimed", "--out", tmp_path / "file" / "out")
    cannot_judge(*arguments, names=["verdicts.jsonl"], fix="--out")


def test_eval_takes_a_suites_problem(one_judge, run, invoke):
    candidate = run / "level_1_problem_19_sample_0_kernel.py"
    result = invoke("eval", "kernelbench:1/19", candidate, "--untimed", "--set", "rows=9")
    assert result.exit_code == 0, result.output
    assert "19_Absolute" in result.output


@pytest.mark.slow
def test_timed_solutions_have_speedups_with_intervals(run, invoke):
    """With a judge that the command starts itself."""
    result = invoke("bench", "kernelbench:1/19", "--solutions", run, "--attempted")
    assert result.exit_code == 0, result.output
    first = report(run)["problems"][0]
    assert 0 < first["low_eager"] <= first["speedup_eager"] <= first["high_eager"]
    assert "fast_1 over eager" in result.output


def test_the_judge_is_asked_for_the_baselines_named(run, invoke, monkeypatch):
    class Asked(Exception):
        pass

    def refuse(**options):
        raise Asked(options["baselines"])

    monkeypatch.setattr(_bench, "Judge", refuse)
    with pytest.raises(Asked, match=r"eager.*compile"):
        invoke("bench", "kernelbench:1", "--solutions", run, "--baseline", "compile")
