"""`kernelwright tune`: a table, its JSON, the tuned kernel, and what it refuses."""

import json

import pytest

from tests.judge.texts import relu_folder
from tests.tuning.candidates import RELU

BRIEF = ("--seconds", "0.01", "--finalists", "1")


@pytest.fixture
def relu(tmp_path):
    """A task, and a right candidate with parameters."""
    candidate = tmp_path / "candidate.py"
    candidate.write_text(RELU)
    return relu_folder(tmp_path), candidate


def test_tuning_gives_a_table_a_file_and_json_and_can_be_replayed(one_judge, relu, tmp_path, invoke):
    cache, out, told = (tmp_path / name for name in ("cache.jsonl", "tuned.py", "tuned.json"))
    result = invoke("tune", *relu, *BRIEF, "--cache", cache, "--out", out, "--json", told)
    assert result.exit_code == 0, result.output
    for words in ("11 configurations, 1 more ruled out", "over eager", "(as written)", "as fast as written"):
        assert words in result.output
    found = json.loads(told.read_text(), parse_constant=pytest.fail)
    assert found["best"]["status"] == "CORRECT"
    assert found["gain"] >= 1
    assert "tune: 16, 64, 256, 1024" in out.read_text()
    again = invoke("tune", *relu, *BRIEF, "--cache", cache, "--replay", "--json", told)
    assert again.exit_code == 0, again.output
    assert json.loads(told.read_text())["best"] == found["best"]


def test_a_candidate_that_is_wrong_is_refused_with_its_verdict(one_judge, relu, tmp_path, invoke):
    relu[1].write_text(RELU.replace("x[j] : 0;", "x[j] : 1;"))
    result = invoke("tune", *relu, *BRIEF, "--cache", tmp_path / "cache.jsonl")
    assert result.exit_code == 1
    assert "WRONG_VALUE" in result.output
    assert "not accepted as written" in result.output


BAD = {
    "nothing declared": (("tune", "tuned"), ["candidate.py", "declares no parameters"], "# tune: 4, 8"),
    "a bad constraint": (("CHUNK * UNROLL", "CHUNK * SIZE"), ["candidate.py:9", "names SIZE"], "CHUNK"),
    "an empty space": (("CHUNK * UNROLL <=", "CORES * CHUNK * UNROLL < 0 *"), ["space is empty"], "loosen"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_declaration_is_one_sentence_with_its_line(name, relu, tmp_path, one_judge, cannot_judge):
    (old, new), names, fix = BAD[name]
    relu[1].write_text(RELU.replace(old, new))
    cannot_judge("tune", *relu, "--cache", tmp_path / "cache.jsonl", names=names, fix=fix)


def test_a_sampler_that_there_is_not(relu, cannot_judge):
    cannot_judge("tune", *relu, "--sampler", "best", names=["no sampler 'best'"], fix="auto, own, optuna")


def test_a_replay_of_nothing(relu, tmp_path, cannot_judge):
    cache = tmp_path / "none.jsonl"
    cannot_judge("tune", *relu, "--replay", "--cache", cache, names=["holds nothing"], fix="without --replay")


@pytest.mark.parametrize("option", [("--seconds", "0"), ("--seconds", "-3"), ("--finalists", "0")])
def test_a_race_of_nothing(option, relu, cannot_judge):
    cannot_judge("tune", *relu, *option, names=["more than nothing"], fix="--seconds 60")
