"""`kernelwright profile`: one screen, its JSON, and what it refuses."""

import json
from dataclasses import replace

import pytest

from kernelwright.cli import _profile
from kernelwright.judge import Profile
from kernelwright.judge._bottleneck import Finding
from kernelwright.tasks import load_task
from tests.corpus import HONEST, TASKS
from tests.judge.texts import EIGHT

SOFTMAX = (TASKS / "softmax.py", HONEST / "softmax_plain.py")


def test_an_honest_kernel_gets_one_screen_and_the_same_as_json(one_judge, tmp_path, invoke):
    target = tmp_path / "profile.json"
    result = invoke("profile", *SOFTMAX, "--json", target)
    assert result.exit_code == 0, result.output
    for word in ("of the roof", "cores busy", "own code", "operations:", "Bottleneck:", "Try next:"):
        assert word in result.output
    assert len(result.output.splitlines()) < 40
    told = json.loads(target.read_text(), parse_constant=pytest.fail)
    assert told["bottleneck"]["sentence"] in result.output
    assert told["verdict"]["status"] == "CORRECT"
    assert told["facts"]["cases"][0]["operations"]["special"] > 0


def test_a_wrong_kernel_is_refused_with_its_verdict(one_judge, eight, tmp_path, invoke):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(EIGHT.replace("+ 1", "+ 2"))
    target = tmp_path / "profile.json"
    result = invoke("profile", eight[0], wrong, "--json", target)
    assert result.exit_code == 1
    assert "WRONG_VALUE" in result.output
    assert "8 of 8 elements wrong" in result.output
    assert "not accepted" in result.output
    assert "Bottleneck" not in result.output
    assert not target.exists()


@pytest.mark.parametrize("checked", [True, False])
def test_what_was_not_timed_has_no_profile_and_is_not_rejected(eight, invoke, one_judge, monkeypatch, checked):
    untimed = one_judge.judge(load_task(eight[0]), EIGHT, timed=False)
    monkeypatch.setattr(_profile, "profile", lambda *_: replace(untimed, checked=checked))
    result = invoke("profile", *eight)
    assert result.exit_code == 2
    assert "was not timed here" in result.output


def test_a_small_kernels_overhead_is_named(one_judge, eight, invoke):
    result = invoke("profile", *eight)
    assert result.exit_code == 0, result.output
    assert "Call overhead dominates" in result.output


REFUSED = {
    "a task that is not there": (["nowhere.py", "CANDIDATE"], ["nowhere.py"], ""),
    "a candidate that is not there": (["TASK", "nowhere.py"], ["candidate", "nowhere.py"], "path"),
    "--set without a value": (["TASK", "CANDIDATE", "--set", "size"], ["--set", "size"], "--set dim=4096"),
    "--set of an unknown name": (["TASK", "CANDIDATE", "--set", "sise=9"], ["sise"], "size"),
    "--limit of an unknown name": (["TASK", "CANDIDATE", "--limit", "patience=3"], ["patience"], "call_s"),
}


@pytest.mark.parametrize(("arguments", "names", "fix"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_profiled_is_said_with_what_to_do(eight, cannot_judge, arguments, names, fix):
    told = {"TASK": eight[0], "CANDIDATE": eight[1]}
    cannot_judge("profile", *[told.get(word, word) for word in arguments], names=names, fix=fix)


def test_a_place_that_cannot_be_written(one_judge, eight, tmp_path, cannot_judge, monkeypatch):
    untimed = one_judge.judge(load_task(eight[0]), EIGHT, timed=False)
    known = Profile(untimed, "cpp", {}, [Finding("overhead", "It is small.", (), 1.0)])
    monkeypatch.setattr(_profile, "profile", lambda *_: known)
    (tmp_path / "file").write_text("")
    cannot_judge("profile", *eight, "--json", tmp_path / "file" / "p.json", names=["p.json"], fix="another place")
