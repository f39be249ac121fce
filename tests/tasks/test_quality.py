"""Quality files come back as they were written, and broken ones are refused."""

import json

import pytest

from kernelwright.judge import _nulls
from kernelwright.tasks import FLAWS, TaskError
from kernelwright.tasks.suites import Finding, Quality

FOUND = {
    ("1/19", "given"): Finding(status="clean", inputs=("float32",), task="abc", fit=True, changes=("rows 8 -> 4",)),
    ("1/2", "given"): Finding(
        status="flagged", flags=("null-candidate", "constant"), reason="zeros pass", machine={"cpu": "x"}
    ),
    ("1/2", "float16"): Finding(status="flagged", flags=("undefined",), nulls=("all zeros",), machine={"cpu": "y"}),
    ("1/3", "given"): Finding(status="unjudged", reason="too large"),
    ("2/1#1", "given"): Finding(status="clean"),
    ("2/1#2", "given"): Finding(status="flagged", flags=("stochastic",)),
    ("2/1#3", "given"): Finding(status="flagged", flags=("stochastic", "constant")),
}


def test_a_quality_file_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "new" / "quality.json"
    Quality("kernelbench", "0123", dict(FOUND), {"1/2": "2_Sum"}).write(path)
    read = Quality.read(path)
    assert (read.suite, read.version, read.findings) == ("kernelbench", "0123", FOUND)
    keys = ["1/2", "1/2", "1/3", "1/19", "2/1#1", "2/1#2", "2/1#3"]
    assert [key for key, _ in read.findings] == keys
    assert read.titles == {"1/2": "2_Sum"}
    assert read.dtypes == ("given", "float16")
    assert [child.name for child in path.parent.iterdir()] == ["quality.json"]


def test_one_flawed_variant_flags_the_problem():
    flagged = Quality("kernelbench", "", dict(FOUND)).flagged()
    assert flagged == {"1/2": ("null-candidate", "constant"), "2/1": ("stochastic", "constant")}
    assert Quality("kernelbench", "", dict(FOUND)).flagged("float16") == {"1/2": ("undefined",)}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda whole: whole.update(format=1), "format"),
        (lambda whole: whole.pop("problems"), "problems"),
        (lambda whole: whole["problems"]["1/2"]["given"].update(status="fine"), "fine"),
        (lambda whole: whole["problems"]["1/2"]["given"].update(colour="red"), "colour"),
        (lambda whole: whole["problems"]["1/2"].update(float7={}), "float7"),
        (lambda whole: whole["problems"]["1/2"]["given"].update(machine=9), "index"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, change, word):
    path = tmp_path / "quality.json"
    Quality("kernelbench", "0123", dict(FOUND)).write(path)
    whole = json.loads(path.read_text())
    change(whole)
    path.write_text(json.dumps(whole))
    with pytest.raises(TaskError, match=word):
        Quality.read(path)


def test_text_that_is_no_json_is_refused(tmp_path):
    (tmp_path / "quality.json").write_text("clean")
    with pytest.raises(TaskError, match="no quality file"):
        Quality.read(tmp_path / "quality.json")


def test_every_flaw_that_the_judge_names_is_explained():
    named = set(_nulls.flaws([*_nulls.NULLS, "an input, returned unchanged"]))
    assert named <= FLAWS.keys()
    assert _nulls.flaws(["all zeros"]) == ("null-candidate",)


def test_flaws_survive_the_places_that_errors_pass():
    from kernelwright.tasks._error import about, located

    with pytest.raises(TaskError) as caught, located("here"), about("this"):
        raise TaskError("weak", flaws=("constant",))
    assert caught.value.flaws == ("constant",)
