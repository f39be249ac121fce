"""`trace` on real programs, in processes of their own; `--check` with winners that the judge has accepted, and not."""

import contextlib
import json
from pathlib import Path

import pytest

from kernelwright.cli import _trace
from kernelwright.judge import Status, Verdict, certificate, source_hash
from kernelwright.tasks import load_task
from tests.judge.texts import EIGHT, eight_folder

PROGRAM = '''
import sys
import torch
from torch import nn


class Slow(nn.Module):
    """Far from what the memory could do, however fast the rest of the machine is at that moment."""

    def forward(self, x):
        for _ in range(3):
            x = torch.sin(x + 0.1) * 0.999
        return x


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.slow, self.last = nn.Linear(width, width), Slow(), nn.Linear(width, 1)

    def forward(self, x):
        return self.last(self.slow(self.first(x)))


torch.manual_seed(0)
net = Net(256).eval()
with torch.no_grad():
    for number in range(int(sys.argv[1])):
        net(torch.randn(1024 if number % 3 else 512, 256))
'''
WINNER = """
import torch
from kernelwright import native

lib = native.cpp(r\"\"\"
#include <cmath>
#include <cstdint>
extern "C" void shrink(const float* x, float* y, int64_t n) {
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float v = x[i];
        for (int k = 0; k < 3; k++) v = std::sin(v + 0.1f) * 0.999f;
        y[i] = v;
    }
}
\"\"\")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.shrink(x, y, x.numel())
        return y
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def traced(program, invoke, kept_judge) -> tuple[Path, str]:
    """The tasks of the program, and what was said about them."""
    out = program.parent / "tasks"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_trace, "Judge", lambda: contextlib.nullcontext(kept_judge))
        result = invoke("trace", program, 6, "--no-operators", "--out", out, "--top", 3)
    assert result.exit_code == 0, result.output
    return out, result.output


def certified(task_folder: Path, source: str, path: Path, status: Status = Status.CORRECT) -> Path:
    """A certificate as the judge would have issued it."""
    task = load_task(task_folder)
    verdict = Verdict(status=status, stage="time", message="", task=task.hash, candidate=source_hash(source))
    path.write_text(certificate.issue(task, source, verdict, ()))
    return path


def test_a_program_is_traced_and_its_spots_become_tasks(traced, program):
    out, said = traced
    task = load_task(out / "slow")
    assert [(case.name, case.weight) for case in task.cases] == [("1: 1024x256", 4), ("2: 512x256", 2)]
    assert "class Slow" in task.source
    assert "program.py" in task.source
    assert "Slow()" in said
    assert "in Net" in said


def test_the_written_task_is_judged(traced, invoke, one_judge, tmp_path):
    out, _ = traced
    (tmp_path / "winner.py").write_text(WINNER)
    result = invoke("eval", out / "slow", tmp_path / "winner.py", "--untimed")
    assert result.exit_code == 0, result.output


@pytest.mark.slow
def test_operators_and_everything_as_json(program, invoke, one_judge, tmp_path):
    result = invoke("trace", "--json", tmp_path / "found.json", program, "2")
    found = json.loads((tmp_path / "found.json").read_text())
    assert {"add", "mul"} <= {one["name"] for one in found["operators"]}
    assert any("float32 1024x256" in one["tensors"] for one in found["operators"])
    assert {one["spot"]["name"] for one in found["spots"]} >= {"Net", "Slow"}
    assert "Operators by their own time" in result.output


@pytest.mark.slow
def test_a_winner_is_swapped_in_and_the_gain_is_measured(traced, program, invoke, tmp_path):
    """A kernel that does nine passes in one, in a program that does little else."""
    out, _ = traced
    claim = certified(out / "slow", WINNER, tmp_path / "claim.json")
    result = invoke("trace", "--check", program, "60", "--with", claim, "--rounds", 3, "--json", tmp_path / "c.json")
    found = json.loads((tmp_path / "c.json").read_text())
    assert found["swapped"][0]["calls"] == 60
    assert found["outputs"]["calls"] == 60
    assert found["outputs"]["furthest"] < 1e-3
    assert found["low"] <= found["ratio"] <= found["high"]
    assert result.exit_code == (0 if found["low"] > 1 else 1)
    assert ("The whole program runs" if found["low"] > 1 else "No gain is shown") in result.output
    assert "ACCEPTED for this very task" in result.output


@pytest.mark.slow
def test_outputs_that_differ_are_said_and_the_time_counts_for_nothing(traced, program, invoke, tmp_path):
    out, _ = traced
    wrong = certified(out / "slow", WINNER.replace("k < 3", "k < 2"), tmp_path / "claim.json")
    result = invoke("trace", "--check", program, "3", "--with", wrong, "--rounds", 3)
    assert result.exit_code == 1
    assert "The outputs do not agree" in result.output


def test_what_the_judge_did_not_accept_never_runs(traced, program, cannot_judge, tmp_path):
    out, _ = traced
    trap = "open('ran', 'w')\n" + WINNER
    claim = certified(out / "slow", trap, tmp_path / "claim.json", Status.WRONG_VALUE)
    cannot_judge("trace", "--check", program, "--with", claim, names=["did not accept", "WRONG_VALUE"], fix="eval")
    forged = claim.with_name("forged.json")
    forged.write_text(certified(out / "slow", WINNER, claim).read_text().replace("0.999f", "0.998f"))
    cannot_judge("trace", "--check", program, "--with", forged, names=["was changed after"], fix="judged again")
    plain = tmp_path / "winner.py"
    plain.write_text(trap)
    cannot_judge("trace", "--check", program, "--with", plain, names=["says nothing of whether"], fix="--certificate")
    assert not Path("ran").exists()


def test_a_winner_of_a_task_that_no_trace_wrote_is_refused(program, cannot_judge, tmp_path):
    claim = certified(eight_folder(tmp_path / "eight"), EIGHT, tmp_path / "claim.json")
    cannot_judge("trace", "--check", program, "--with", claim, names=["which no trace has written"], fix="trace --out")


@pytest.mark.slow
def test_a_winner_of_another_program_is_refused(traced, cannot_judge, tmp_path):
    out, _ = traced
    claim = certified(out / "slow", WINNER, tmp_path / "claim.json")
    other = tmp_path / "other.py"
    other.write_text("import torch\nwith torch.no_grad():\n    torch.nn.Linear(4, 4)(torch.ones(2, 4))\n")
    cannot_judge("trace", "--check", other, "--with", claim, names=["takes no call", "never calls"], fix="trace")
    changed = tmp_path / "program.py"
    changed.write_text(PROGRAM.replace("0.999", "0.99"))
    cannot_judge("trace", "--check", changed, "3", "--with", claim, names=["not the module"], fix="trace")


@pytest.mark.slow
def test_shapes_that_were_never_proven_are_refused(traced, program, cannot_judge, tmp_path):
    out, _ = traced
    claim = certified(out / "slow", WINNER, tmp_path / "claim.json")
    narrow = program.with_name("narrow") / "program.py"
    narrow.parent.mkdir()
    narrow.write_text(PROGRAM.replace("512", "511").replace("1024", "1023"))
    cannot_judge("trace", "--check", narrow, "2", "--with", claim, names=["2 calls", "shapes are none"], fix="trace")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, ["there is no script"]),
        ("def (", ["no Python program"]),
        pytest.param("import sys\nsys.exit(3)\n", ["failed", "exit code 3"], marks=pytest.mark.slow),
        ("import torch\n\nraise ValueError('no data')\n", ["ValueError: no data (line 3)"]),
        pytest.param("import os\nos._exit(0)\n", ["ended early"], marks=pytest.mark.slow),
        pytest.param("print('hello')\n", ["never calls torch"], marks=pytest.mark.slow),
        pytest.param("import torch\ntorch.ones(3) + 1\n", ["but no module"], marks=pytest.mark.slow),
    ],
)
def test_programs_that_cannot_be_traced(text, names, cannot_judge, one_judge, tmp_path):
    script = tmp_path / "script.py"
    if text is not None:
        script.write_text(text)
    cannot_judge("trace", script, names=names, fix="")


@pytest.mark.slow
def test_a_program_with_nothing_to_gain(invoke, one_judge, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import time, torch\ntorch.nn.ReLU()(torch.ones(4))\ntime.sleep(0.5)\n")
    result = invoke("trace", script, "--no-operators")
    assert result.exit_code == 1
    assert "No module is worth a kernel" in result.output


def test_check_and_with_belong_together(cannot_judge, program):
    cannot_judge("trace", program, "--check", names=["belong together"], fix="--with")
    cannot_judge("trace", program, "--with", "run", names=["belong together"], fix="--check")


def test_a_run_that_is_not_there(cannot_judge, program, tmp_path):
    cannot_judge(
        "trace", "--check", program, "--with", "20260101", "--store", tmp_path / "no.db", names=["no store"], fix="run"
    )
