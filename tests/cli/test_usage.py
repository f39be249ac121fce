"""What the command cannot do it says, with what it can, before anything is started."""

import pytest


@pytest.fixture
def eval_with(eight, cannot_judge):
    def run(*options, names, fix):
        return cannot_judge("eval", *eight, *options, names=names, fix=fix)

    return run


USAGE = {
    "an unknown backend": (["--backend", "fortran"], ["fortran"], "cpp"),
    "an unknown baseline": (["--baseline", "eager,psychic"], ["psychic"], "max-autotune"),
    "--set without a value": (["--set", "size"], ["--set", "size"], "--set dim=4096"),
    "--set without a name": (["--set", "=3"], ["--set", "=3"], "--set dim=4096"),
    "--set of an unknown name": (["--set", "sise=9"], ["sise"], "size"),
    "--set to no literal": (["--set", "size=large"], ["large"], "Write a number"),
    "--limit without a value": (["--limit", "call_s"], ["--limit", "call_s"], "--limit"),
    "--limit of an unknown name": (["--limit", "patience=3"], ["patience"], "call_s"),
    "--limit that is no number": (["--limit", "call_s=soon"], ["call_s=soon"], "--limit call_s=10"),
    "--limit of nothing": (["--limit", "call_s=0"], ["call_s=0"], "--limit call_s=10"),
    "--limit below nothing": (["--limit", "call_s=-1"], ["call_s=-1"], "--limit call_s=10"),
    "--limit of no number at all": (["--limit", "call_s=nan"], ["call_s=nan"], "--limit call_s=10"),
    "--limit without end": (["--limit", "memory_bytes=inf"], ["memory_bytes=inf"], "--limit memory_bytes=10"),
    "an unknown mode": (["--mode", "dreaming"], ["dreaming"], "train"),
}


@pytest.mark.parametrize(("options", "names", "fix"), USAGE.values(), ids=USAGE)
def test_what_cannot_be_done_is_said_with_what_can(eval_with, options, names, fix):
    eval_with(*options, names=names, fix=fix)


def test_a_candidate_that_is_not_there(eight, tmp_path, cannot_judge):
    cannot_judge("eval", eight[0], tmp_path / "nowhere.py", names=["candidate", "nowhere.py"], fix="path")


def test_a_candidate_that_is_a_folder(eight, tmp_path, cannot_judge):
    cannot_judge("eval", eight[0], tmp_path, names=["candidate"], fix="text file")


def test_a_candidate_that_is_no_text(eight, tmp_path, cannot_judge):
    (tmp_path / "photo.py").write_bytes(b"\xff\xd8\xff\xe0")
    cannot_judge("eval", eight[0], tmp_path / "photo.py", names=["photo.py"], fix="text file")


def test_a_place_that_cannot_be_written(one_judge, eight, tmp_path, cannot_judge):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "verdict.json"
    cannot_judge("eval", *eight, "--untimed", "--json", target, names=["verdict.json"], fix="another place")


@pytest.mark.parametrize("arguments", [["eval"], ["eval", "task.py"], ["evaluate"], ["eval", "a", "b", "--fast"]])
def test_a_command_that_is_none_ends_with_code_two(invoke, arguments):
    assert invoke(*arguments).exit_code == 2
