"""`kernelwright verify`: a certificate is judged again, and tampering is noticed."""

import contextlib
import json

import pytest

from kernelwright.cli import _eval
from tests.judge.texts import EIGHT, eight_folder


@pytest.fixture(scope="module")
def issued(kept_judge, tmp_path_factory, invoke):
    """The text of a certificate for a small task, issued once."""
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "candidate.py").write_text(EIGHT)
    target = folder / "certificate.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_eval, "Judge", lambda **_: contextlib.nullcontext(kept_judge))
        result = invoke("eval", eight_folder(folder), folder / "candidate.py", "--certificate", target)
    assert result.exit_code == 0, result.output
    return target.read_text()


@pytest.fixture
def changed(issued, tmp_path):
    """A file with the certificate after a change."""

    def write(change):
        content = json.loads(issued)
        change(content)
        path = tmp_path / "certificate.json"
        path.write_text(json.dumps(content))
        return path

    return write


def claiming(low, ratio, high):
    return lambda c: c["verdict"].update(speedup={"eager": {"ratio": ratio, "low": low, "high": high}})


@pytest.mark.slow
def test_a_claim_that_is_found_again_holds(one_judge, changed, invoke):
    # How fast this machine is at the moment is no part of the statement: the claim leaves room.
    result = invoke("verify", changed(claiming(1e-3, 1.0, 1e3)))
    assert result.exit_code == 0, result.output
    assert "The claim holds" in result.output


@pytest.mark.slow
def test_an_inflated_claim_does_not_hold(one_judge, changed, invoke):
    result = invoke("verify", changed(claiming(90.0, 100.0, 110.0)))
    assert result.exit_code == 1
    assert "The claim does not hold" in result.output
    assert "100.00x" in result.output


def test_a_candidate_changed_afterwards_cannot_be_verified(changed, cannot_judge):
    path = changed(lambda c: c.update(candidate=c["candidate"] + "# faster\n"))
    cannot_judge("verify", path, names=["certificate.json", "changed after"], fix="eval")


def test_a_task_changed_afterwards_cannot_be_verified(changed, cannot_judge):
    path = changed(lambda c: c["task"].update(library="gemm-only"))
    cannot_judge("verify", path, names=["certificate.json", "changed after"], fix="eval")


@pytest.mark.parametrize("text", ["", "not JSON at all", "[]", '{"kind": "shopping list"}'])
def test_what_is_no_certificate_cannot_be_verified(tmp_path, cannot_judge, text):
    (tmp_path / "notes.json").write_text(text)
    cannot_judge("verify", tmp_path / "notes.json", names=["notes.json"], fix="eval")


def test_an_unknown_baseline_cannot_be_verified(changed, cannot_judge):
    cannot_judge("verify", changed(lambda c: c.update(baselines=["psychic"])), names=["certificate.json"], fix="eval")


def test_a_certificate_that_is_not_there_cannot_be_verified(tmp_path, cannot_judge):
    cannot_judge("verify", tmp_path / "nowhere.json", names=["nowhere.json"], fix="path")


def test_a_certificate_holds_everything_needed_to_check_it(issued):
    content = json.loads(issued)
    assert content["kind"] == "kernelwright certificate"
    assert content["candidate"].startswith("import torch")
    assert "class Model" in content["task"]["source"]
    assert content["verdict"]["status"] == "CORRECT"
    assert content["verdict"]["evidence"]["check"]["trials"]
