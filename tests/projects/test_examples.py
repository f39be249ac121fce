"""Each worked example, from a clean checkout to a patch that holds: searched with its own candidates."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke, invoke  # noqa: F401
from tests.projects.made_up import FAST, SOURCE, project
from tests.projects.test_init import EXAMPLES

AS_SOMEBODY = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *AS_SOMEBODY, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def checkout(name: str, folder: Path) -> Path:
    """The example in a repository of its own, without what its README needs."""
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("candidates", "build", "__pycache__"))
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "As it is")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "winner", "wrong"),
    [
        ("box_blur", ("rows", "double"), 1),
        ("nearest", ("np.einsum",), 1),
        ("tiny_transformer", ("is_causal=True",), 1),
    ],
)
def test_from_a_clean_checkout_to_a_patch_that_holds(tmp_path, invoke: Invoke, name, winner, wrong):  # noqa: F811
    if name == "box_blur" and not shutil.which("ctest"):
        pytest.skip("needs CMake")
    folder, store = checkout(name, tmp_path / name), tmp_path / "runs.db"
    script = f"script/{EXAMPLES / name / 'candidates'}"
    done = invoke("optimize", folder, "--model", script, "--in-flight", 1, "--store", store, "--json")
    assert done.exit_code == 0, done.output
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    judged = [event["status"] for event in events if event["event"] == "judged"]
    assert judged.count("CORRECT") == len(judged) - wrong
    run = events[0]["run"]
    patch = tmp_path / "winner.patch"
    assert invoke("best", run, "--store", store, "--patch", "--out", patch).exit_code == 0
    git(folder, "am", str(patch))
    changed = git(folder, "show", "--format=%s%n%b")
    assert "times as fast" in changed
    assert "Certificate:" in changed
    assert any(words in changed for words in winner)
    assert git(folder, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_run_of_a_project_is_shown_reported_and_certified(tmp_path, invoke: Invoke):  # noqa: F811
    folder, store = project(tmp_path / "sums"), tmp_path / "runs.db"
    candidates = tmp_path / "candidates"
    candidates.mkdir()
    (candidates / "1.py").write_text(FAST)
    (candidates / "2.md").write_text(f"Outside:\n```python\n{SOURCE.replace('2 *', '3 *')}```\n")
    done = invoke("optimize", folder, "--model", f"script/{candidates}", "--in-flight", 1, "--store", store)
    assert done.exit_code == 0, done.output
    assert "WRONG_STRUCTURE" in done.output
    assert "x original [" in done.output
    run = done.output.split("run ")[1].split()[0]
    assert "over the original" in invoke("show", run, "--store", store).output
    page, claim = tmp_path / "page.html", tmp_path / "claim.json"
    assert invoke("report", run, "--store", store, "--out", page).exit_code == 0
    assert "over original" in page.read_text()
    assert invoke("best", run, "--store", store, "--certificate", claim).exit_code == 0
    checked = invoke("verify", claim)
    assert "holds: status CORRECT claimed, CORRECT found" in checked.output
