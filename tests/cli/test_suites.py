"""`kernelwright suites`: what is found, and which problems are too weak."""

import json
import os

import pytest

from kernelwright.cli import _suites_audit
from kernelwright.tasks import TaskError
from kernelwright.tasks.suites import VARIABLE, Finding, Quality
from tests.tasks.made_up_suites import ABSOLUTE, committed, kernelbench, robust, solution

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _nothing_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def place(tmp_path):
    committed(kernelbench(tmp_path / "suites" / "kb"), COMMIT)
    robust(tmp_path / "suites" / "rkb")
    return tmp_path / "suites"


def test_what_is_found_is_listed_with_counts_and_versions(place, invoke):
    result = invoke("suites", "--suite-dir", place)
    assert result.exit_code == 0
    for word in ("kernelbench", "1: 3, 2: 1", COMMIT[:12], "robust", "unknown"):
        assert word in result.output


def test_the_second_of_two_checkouts_is_said_to_be_unused(place, invoke):
    kernelbench(place / "zz")
    assert "not used" in invoke("suites", "--suite-dir", place).output


def test_a_dataset_that_cannot_be_read_is_listed_with_the_reason(tmp_path, monkeypatch, invoke):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "level_1.parquet").write_bytes(b"PAR1")
    result = invoke("suites", "--suite-dir", tmp_path)
    assert result.exit_code == 0
    assert "unreadable" in result.output
    assert "pyarrow" in result.output


def test_nothing_found_says_where_to_put_it(tmp_path, cannot_judge):
    cannot_judge("suites", "--suite-dir", tmp_path, names=["no suite"], fix=VARIABLE)


def test_an_audit_says_which_problems_are_weak_and_why(one_judge, place, tmp_path, invoke):
    out = tmp_path / "quality.json"
    result = invoke("suites", "audit", "kernelbench", "--suite-dir", place, "--out", out)
    assert result.exit_code == 0, result.output
    assert "2 clean, 2 flagged, 0 unjudged" in result.output
    found = Quality.read(out)
    assert found.version == COMMIT[:12]
    assert {key: finding.status for (key, _), finding in found.findings.items()} == {
        "1/2": "clean",
        "1/19": "clean",
        "1/100": "flagged",
        "2/3": "flagged",
    }
    assert found.findings["1/19", "given"].inputs == ("float32",)
    assert set(found.findings["1/100", "given"].flags) >= {"null-candidate", "constant"}
    assert found.findings["2/3", "given"].flags == ("stochastic",)
    assert found.findings["2/3", "given"].mode == "train"
    assert found.findings["1/2", "given"].machine["torch"]


def test_a_second_audit_tries_only_what_is_new(one_judge, place, tmp_path, invoke, monkeypatch):
    out = tmp_path / "quality.json"
    invoke("suites", "--suite-dir", place, "audit", "kernelbench:1/19", "--out", out)
    tried = []
    examine = _suites_audit.examine
    monkeypatch.setattr(_suites_audit, "examine", lambda j, t, **o: tried.append(t.name) or examine(j, t, **o))
    invoke("suites", "audit", "kernelbench:1/19", "kernelbench:1/2", "--suite-dir", place, "--out", out)
    assert tried == ["2_Shifted_double"]
    invoke("suites", "audit", "kernelbench:1/19", "--suite-dir", place, "--out", out, "--mode", "eval")
    assert tried[1:] == ["19_Absolute"]
    assert len(Quality.read(out).findings) == 2


def test_a_flaw_of_its_own_inputs_is_told_and_the_problem_is_judged_all_the_same(one_judge, place, tmp_path, invoke):
    problem = place / "kb" / "KernelBench" / "level1" / "19_Absolute.py"
    problem.write_text(problem.read_text().replace("torch.randn", "torch.rand"))
    out = tmp_path / "quality.json"
    invoke("suites", "audit", "kernelbench:1/19", "--suite-dir", place, "--out", out)
    assert Quality.read(out).findings["1/19", "given"].flags == ("identity",)
    verdicts = {}
    for name, text in {"right": ABSOLUTE, "unchanged": solution("x[i]")}.items():
        (tmp_path / f"{name}.py").write_text(text)
        arguments = ("kernelbench:1/19", tmp_path / f"{name}.py", "--suite-dir", place, "--untimed")
        verdicts[name] = invoke("eval", *arguments).exit_code
    assert verdicts == {"right": 0, "unchanged": 1}


def test_in_eval_mode_nothing_is_left_to_chance(one_judge, place, tmp_path, invoke):
    out = tmp_path / "quality.json"
    invoke("suites", "audit", "kernelbench:2/3", "--suite-dir", place, "--out", out, "--mode", "eval")
    assert Quality.read(out).findings["2/3", "given"].flags == ("null-candidate", "identity")


def test_what_cannot_be_tried_is_unjudged_not_flagged(one_judge, place, tmp_path, invoke):
    (place / "kb" / "KernelBench" / "level1" / "2_Shifted_double.py").write_text("import nowhere\n")
    out = tmp_path / "quality.json"
    result = invoke("suites", "audit", "kernelbench:1/2", "--suite-dir", place, "--out", out)
    assert "1 unjudged" in result.output
    assert "no class 'Model'" in Quality.read(out).findings["1/2", "given"].reason
    assert Quality.read(out).flagged() == {}


def test_with_fit_the_changes_are_written_down(one_judge, place, tmp_path, invoke, monkeypatch):
    from kernelwright.judge import _fit

    monkeypatch.setattr(_fit, "available_memory", lambda: 64 * 512 * 1024)
    out = tmp_path / "quality.json"
    invoke("suites", "audit", "kernelbench:1/19", "--suite-dir", place, "--out", out, "--fit")
    found = Quality.read(out).findings["1/19", "given"]
    assert (found.status, found.fit) == ("clean", True)
    assert found.changes == ("cols 512 -> 256",)


def test_a_quality_file_of_another_version_is_not_overwritten(place, tmp_path, cannot_judge):
    out = tmp_path / "quality.json"
    Quality("kernelbench", "another").write(out)
    arguments = ("suites", "audit", "kernelbench", "--suite-dir", place, "--out", out)
    cannot_judge(*arguments, names=["another", COMMIT[:12]], fix="--out")
    assert json.loads(out.read_text())["version"] == "another"


def test_two_suites_at_once_and_single_variants_are_refused(place, cannot_judge):
    cannot_judge("suites", "audit", "kernelbench", "robust", "--suite-dir", place, names=["different"], fix="one suite")
    cannot_judge("suites", "audit", "robust:scaled#2", "--suite-dir", place, names=["one variant"], fix="whole")


# *** other numbers, several at a time ***


def test_problems_are_tried_in_the_numbers_asked_for(one_judge, place, tmp_path, invoke):
    out = tmp_path / "quality.json"
    arguments = ("suites", "audit", "kernelbench:1", "--suite-dir", place, "--out", out)
    result = invoke(*arguments, "--dtype", "given", "--dtype", "float16", "--jobs", "2")
    assert result.exit_code == 0, result.output
    for line in ("as given: 2 clean, 1 flagged, 0 unjudged", "in float16: 2 clean, 1 flagged, 0 unjudged"):
        assert line in result.output
    found = Quality.read(out)
    assert found.findings["1/19", "float16"].inputs == ("float16",)
    assert found.findings["1/19", "given"].task == found.findings["1/19", "float16"].task
    assert "the answer to other inputs" in found.findings["1/100", "given"].nulls
    assert found.titles["1/19"] == "19_Absolute"


def test_what_found_no_room_beside_others_is_tried_again_alone(one_judge, place, tmp_path, invoke, monkeypatch):
    examine, tried = _suites_audit.examine, []

    def crowded(judge, task, **options):
        tried.append(task.name)
        if tried.count(task.name) == 1:
            raise TaskError("the task does not fit in this machine's memory: it is full")
        return examine(judge, task, **options)

    monkeypatch.setattr(_suites_audit, "examine", crowded)
    out = tmp_path / "quality.json"
    invoke("suites", "audit", "kernelbench:1", "--suite-dir", place, "--out", out, "--jobs", "2")
    assert sorted(tried) == sorted(2 * ["2_Shifted_double", "19_Absolute", "100_Zero"])
    assert {finding.status for finding in Quality.read(out).findings.values()} == {"clean", "flagged"}


def test_a_problem_that_runs_out_of_memory_is_written_down_and_the_audit_goes_on(one_judge, place, tmp_path, invoke):
    problem = place / "kb" / "KernelBench" / "level1" / "2_Shifted_double.py"
    problem.write_text(problem.read_text().replace("x * 2 + 1", "x + torch.zeros(1 << 44).sum()"))
    out = tmp_path / "quality.json"
    result = invoke("suites", "audit", "kernelbench:1", "--suite-dir", place, "--out", out)
    assert "1 clean, 1 flagged, 1 unjudged" in result.output
    assert "does not fit in this machine's memory" in Quality.read(out).findings["1/2", "given"].reason


def test_numbers_that_there_are_not(place, cannot_judge):
    arguments = ("suites", "audit", "kernelbench", "--suite-dir", place, "--dtype", "float7")
    cannot_judge(*arguments, names=["float7"], fix="bfloat16")


def test_judges_that_work_side_by_side_share_the_cores(monkeypatch):
    monkeypatch.setattr(_suites_audit.os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with _suites_audit._cores_shared(3):
        assert os.environ["OMP_NUM_THREADS"] == "2"
    assert "OMP_NUM_THREADS" not in os.environ
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    with _suites_audit._cores_shared(3):
        assert os.environ["OMP_NUM_THREADS"] == "5"
    assert os.environ["OMP_NUM_THREADS"] == "5"


# *** quality files as pages ***


def test_a_quality_file_as_a_page(tmp_path, invoke):
    machine = {"gpu": "H200", "torch": "2.11"}
    weak = {"flags": ("null-candidate", "constant"), "nulls": ("all zeros",), "reason": "passes: all zeros"}
    findings = {
        ("1/2", "given"): Finding(status="clean", machine=machine, date="2026-11-16"),
        ("1/2", "float16"): Finding(status="unjudged", reason="no | room", machine=machine, date="2026-11-16"),
        ("2/3", "given"): Finding(status="flagged", **weak, machine=machine, date="2026-11-16"),
    }
    Quality("kernelbench", "0123", findings, {"1/2": "2_Sum"}).write(tmp_path / "quality.json")
    assert invoke("suites", "quality", tmp_path / "quality.json", "--out", tmp_path / "page.md").exit_code == 0
    page = (tmp_path / "page.md").read_text()
    assert page == invoke("suites", "quality", tmp_path / "quality.json").output
    for line in (
        "kernelbench at commit `0123`, measured 2026-11-16 on H200, torch 2.11.",
        "| kernelbench:1 | float16 | 1 | 0 | 0 | 1 |",
        "| all | as given | 2 | 1 | 1 | 0 |",
        "| `constant` | the answer hardly depends on the inputs | 1 | 0 |",
        "| all zeros | 1 | 0 |",
        "| 1/2 | 2_Sum | float16 | no \\| room |",
        "| 2/3 |  | null-candidate, constant |  |",
    ):
        assert line in page


def test_a_suite_for_which_no_quality_file_comes_along(cannot_judge):
    cannot_judge("suites", "quality", "robust", names=["robust"], fix="suites audit robust")


def test_a_quality_file_that_is_not_there(cannot_judge):
    cannot_judge("suites", "quality", "nowhere.json", names=["nowhere.json"], fix="suites audit")
