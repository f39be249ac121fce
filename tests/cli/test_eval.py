"""`kernelwright eval`: exit codes, the JSON other programs read, and every option."""

import json
import subprocess
import sys

import pytest

from tests.judge.test_verdict import KEYS
from tests.judge.texts import EIGHT, REFERENCE, TASKS, forward, task_folder

WRONG = EIGHT.replace("+ 1", "+ 2")


@pytest.fixture
def wrong(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    return path


def test_an_accepted_candidate_is_exit_code_zero(one_judge, eight, invoke):
    result = invoke("eval", *eight, "--untimed")
    assert result.exit_code == 0
    assert "UNTIMED" in result.output
    assert "eight_elements" in result.output
    assert "of the error budget used" in result.output


def test_a_rejected_candidate_is_exit_code_one_with_a_next_step(one_judge, eight, wrong, invoke):
    result = invoke("eval", eight[0], wrong, "--untimed")
    assert result.exit_code == 1
    assert "WRONG_VALUE" in result.output
    assert "8 of 8 elements wrong" in result.output
    assert "Next:" in result.output


def test_a_task_that_is_not_there_is_exit_code_two(eight, invoke):
    assert invoke("eval", "nowhere.py", eight[1]).exit_code == 2


def test_the_compilers_words_are_shown(one_judge, eight, tmp_path, invoke):
    (tmp_path / "typo.py").write_text(EIGHT.replace("z[i] =", "zz[i] ="))
    result = invoke("eval", eight[0], tmp_path / "typo.py", "--untimed")
    assert result.exit_code == 1
    assert "COMPILE_ERROR" in result.output
    assert "zz" in result.output


def test_ties_decided_otherwise_are_shown_as_accepted(one_judge, tmp_path, invoke):
    """Among equal largest elements any index is right; that uses up no error budget."""
    folder = task_folder(tmp_path / "argmax", (TASKS / "argmax_few_values.py").read_text())
    (tmp_path / "last.py").write_text(forward("return x.shape[1] - 1 - x.flip(1).argmax(dim=1)"))
    result = invoke("eval", folder, tmp_path / "last.py", "--untimed")
    assert result.exit_code == 0, result.output
    assert "UNTIMED" in result.output


@pytest.mark.slow
def test_the_json_holds_what_other_programs_rely_on(eight, tmp_path):
    """In a process of its own, as other programs call it."""
    target = tmp_path / "new" / "verdict.json"
    command = [
        sys.executable,
        "-m",
        "kernelwright",
        "eval",
        *eight,
        "--baseline",
        "eager",
        "--json",
        target,
        "--seed",
        "5",
    ]
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(target.read_text())
    assert told.keys() >= KEYS
    assert told["status"] == "CORRECT"
    assert told["accepted"] is True
    assert told["time_ms"].keys() == {"candidate", "eager"}
    assert told["speedup"]["eager"].keys() == {"ratio", "low", "high"}
    assert told["seconds"].keys() >= {"build", "check", "time", "total"}
    assert 0 <= told["coverage"] <= 1
    assert isinstance(told["specialised"], bool)
    assert told["evidence"]["seed"] == 5
    assert len(told["task"]) == len(told["candidate"]) == 64


def test_the_json_of_a_failure_holds_no_number(one_judge, eight, wrong, tmp_path, invoke):
    target = tmp_path / "verdict.json"
    assert invoke("eval", eight[0], wrong, "--untimed", "--json", target).exit_code == 1
    told = json.loads(target.read_text(), parse_constant=pytest.fail)
    assert told.keys() >= KEYS
    assert told["status"] == "WRONG_VALUE"
    assert told["accepted"] is False
    assert told["speedup"] == {}
    assert told["time_ms"] == {}
    assert told["evidence"]["box"] == [[0, 7]]


def test_set_changes_a_constant_of_the_task(one_judge, eight, wrong, tmp_path, invoke):
    hashes = []
    for size in ("8", "21"):
        target = tmp_path / f"{size}.json"
        result = invoke("eval", eight[0], wrong, "--untimed", "--set", f"size={size}", "--json", target)
        assert f"{size} of {size} elements wrong" in result.output
        hashes.append(json.loads(target.read_text())["task"])
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize(("mode", "code"), [("train", 0), ("eval", 1)])
def test_mode_puts_both_models_in_it(one_judge, tmp_path, invoke, mode, code):
    reference = REFERENCE.replace("* 2", "* (2 if self.training else 3)")
    folder = task_folder(tmp_path / "task", reference)
    (tmp_path / "candidate.py").write_text(forward("return torch.tanh(x) * 2"))
    assert invoke("eval", folder, tmp_path / "candidate.py", "--untimed", "--mode", mode).exit_code == code


def test_fit_says_what_it_shrank(one_judge, tmp_path, invoke, monkeypatch):
    monkeypatch.setattr("kernelwright.judge._fit.available_memory", lambda: 24 << 20)
    reference = REFERENCE.replace("rows = 32", "rows = 100_000")
    folder = task_folder(tmp_path / "task", reference)
    (tmp_path / "candidate.py").write_text(forward("return torch.tanh(x) * 2"))
    result = invoke("eval", folder, tmp_path / "candidate.py", "--untimed", "--fit")
    assert result.exit_code == 0, result.output
    assert "--fit: rows 100000 -> " in result.output


def test_fit_says_when_nothing_had_to_shrink(one_judge, eight, invoke):
    result = invoke("eval", *eight, "--untimed", "--fit")
    assert result.exit_code == 0
    assert "--fit: it fits as it is" in result.output


def test_a_limit_can_be_changed(eight, tmp_path, invoke):
    (tmp_path / "slow.py").write_text(
        EIGHT.replace("        z = ", "        import time\n        time.sleep(9)\n        z = ")
    )
    result = invoke("eval", eight[0], tmp_path / "slow.py", "--untimed", "--limit", "call_s=0.5")
    assert result.exit_code == 1
    assert "TIMEOUT" in result.output
    assert "0.5 s" in result.output


def test_a_backend_that_the_candidate_does_not_use_rejects_it(one_judge, eight, tmp_path, invoke):
    (tmp_path / "plain.py").write_text(forward("return x * y + 1").replace("(self, x)", "(self, x, y)"))
    result = invoke("eval", eight[0], tmp_path / "plain.py", "--untimed", "--backend", "cpp")
    assert result.exit_code == 1
    assert "LOAD_ERROR" in result.output
    assert invoke("eval", *eight, "--untimed", "--backend", "cpp").exit_code == 0


def test_the_sanitizer_is_for_gpu_candidates(eight, invoke):
    result = invoke("eval", *eight, "--sanitize")
    assert result.exit_code == 2
    assert "the sanitizer looks at kernels on a GPU" in result.output
    assert "leave --sanitize out" in result.output
