"""`kernelwright init`: a task that already runs, and nothing overwritten."""

import pytest


@pytest.mark.slow
def test_what_is_written_can_be_judged_at_once(one_judge, tmp_path, invoke):
    folder = tmp_path / "deep" / "my-task"
    result = invoke("init", folder)
    assert result.exit_code == 0
    assert f"Next: kernelwright eval {folder} {folder / 'candidate.py'}" in result.output
    assert {path.name for path in folder.iterdir()} == {"task.toml", "reference.py", "candidate.py", "README.md"}
    judged = invoke("eval", folder, folder / "candidate.py", "--untimed")
    assert judged.exit_code == 0, judged.output


def test_nothing_is_overwritten(tmp_path, cannot_judge):
    (tmp_path / "candidate.py").write_text("mine")
    cannot_judge("init", tmp_path, names=["candidate.py"], fix="another folder")
    assert (tmp_path / "candidate.py").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["candidate.py"]


def test_a_file_is_no_folder(tmp_path, cannot_judge):
    (tmp_path / "file").write_text("")
    cannot_judge("init", tmp_path / "file", names=["file"], fix="folder")
