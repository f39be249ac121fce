"""Whatever goes wrong around a search: a sentence, what to do, exit code 2, and nothing that was paid for is lost."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from kernelwright.store import Records, State, Store
from tests.cli.conftest import Invoke
from tests.cli.court import Court, answers
from tests.judge.texts import TASKS
from tests.propose.endpoint import Answer, TestEndpoint, answer, completion, fault
from tests.store.test_places import on_its_own_disk

TASK = TASKS / "relu.py"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kernelwright.cli._search.open_fleet", lambda address: Court())
    monkeypatch.setattr("kernelwright.cli._optimize.check_backend", lambda name: None)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def search(invoke: Invoke, store: Path) -> Callable[..., Result]:
    """A search at an endpoint that is tried once."""

    def run(url: str, *options: object) -> Result:
        asked = ["--model", "openai/small", "--base-url", url, "--set", "model.tries=1", "--without", "seeding"]
        return invoke("optimize", TASK, *asked, "--store", store, "--in-flight", "1", *options)

    return run


def headline(result: Result) -> str:
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return " ".join(result.stderr.partition("Next:")[0].split())


def resume_words(result: Result) -> list[str]:
    """The command that is told, as a shell would read it, without its program."""
    told = result.stderr.partition("Next:")[2]
    words = shlex.split(told[told.index("kernelwright resume") :])
    return words[1:]


def replies(store: Path) -> list[str]:
    with Records(store) as records:
        (run,) = records.runs()
        return [reply.text for reply in records.replies(run.id)]


def goes_on(invoke: Invoke, words: list[str], *more: object) -> Result:
    result = invoke(*words, *more)
    assert result.exit_code == 0, result.output
    return result


# *** before anything is begun ***

REFUSED = {
    "no model for this language": (["--backend", "cuda"], "nobody is named to write", "--model openai/NAME"),
    "an address and no model": (
        ["--base-url", "http://localhost:1"],
        "nobody is named to write",
        "--model openai/NAME",
    ),
    "an unknown seeder": (["--model", "mailbox/m", "--seed-with", "bulitin"], "did you mean builtin?", ""),
    "seeds and none": (
        ["--model", "mailbox/m", "--seed-with", "builtin", "--without", "seeding"],
        "seeding is asked for and left out",
        "",
    ),
    "no seeds at all": (["--model", "mailbox/m", "--set", "search.seeds=0"], "0 seeds are none", ""),
    "no key": (["--model", "openai/small"], "$OPENAI_API_KEY is not set", "export OPENAI_API_KEY"),
    "a model of no kind": (["--model", "opnai/small"], "no model is called 'opnai/small'", "openai/NAME"),
    "no script folder": (["--model", "script/none"], "none: there is no such folder", "Name a folder"),
    "an empty script folder": (["--model", "script/empty"], "empty: holds no candidates", "Put files there"),
    "a mailbox that is a file": (["--model", "mailbox/file"], "cannot be used as a mailbox", "can be written to"),
    "a mailbox below a file": (["--model", "mailbox/file/in"], "cannot be used as a mailbox", "can be written to"),
    "a budget of zero": (["--model", "mailbox/m", "--evaluations", "0"], "a budget of 0 evaluations is nothing", ""),
    "a budget below zero": (["--model", "mailbox/m", "--dollars", "-3"], "a budget of -3 dollars is nothing", ""),
    "no time": (["--model", "mailbox/m", "--minutes", "0"], "a budget of 0 seconds of wall time is nothing", ""),
    "an unknown search": (["--model", "mailbox/m", "--search", "map-elite"], "did you mean map-elites?", ""),
    "an unknown mechanism": (["--model", "mailbox/m", "--without", "gradient"], "did you mean gradients?", ""),
    "an unknown backend": (["--model", "mailbox/m", "--backend", "tritn"], "did you mean triton?", ""),
    "an unknown setting": (["--set", "model.nam=x"], "no 'nam' in [model]", "did you mean 'name'?"),
    "a setting of no type": (["--set", "budget.tokens=many"], "'many'; expected a whole number", "budget.tokens = 40"),
    "an unknown constant": (["--model", "mailbox/m", "--set", "rowz=3"], "rowz", ""),
    "an unknown fleet": (["--model", "mailbox/m", "--fleet", "spol/x"], "no fleet 'spol/x'", "spool/DIR"),
    "no configuration file": (["--config", "none.toml"], "none.toml cannot be read", "kernelwright config"),
}


@pytest.mark.parametrize(("options", "what", "fix"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_searched_is_said_before_anything_is_begun(
    invoke: Invoke, store: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], what: str, fix: str
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(store.parent)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setattr("kernelwright.cli._optimize.check_backend", lambda name: None)
    Path("empty").mkdir()
    Path("file").write_text("")
    result = invoke("optimize", TASK, "--store", store, *options)
    assert what in headline(result)
    assert fix in result.stderr.partition("Next:")[2]
    if store.exists():
        with Records(store) as records:
            assert list(records.runs()) == []


def test_a_task_that_is_not_there(invoke: Invoke, store: Path) -> None:
    result = invoke("optimize", TASK.with_name("relo.py"), "--model", "mailbox/m", "--store", store)
    assert "there is no such file or folder" in headline(result)
    assert "Did you mean" in result.stderr
    assert not store.exists()


def test_a_backend_that_does_not_work_here(invoke: Invoke, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("KERNELWRIGHT_CXX", "/no/such/compiler")
    monkeypatch.chdir(store.parent)
    result = invoke("optimize", TASK, "--model", "mailbox/m", "--store", store)
    assert "backend cpp does not work here" in headline(result)
    assert "Next:" in result.stderr


# *** stores ***


def test_a_store_from_a_newer_version(search, store: Path) -> None:
    Store(store).close()
    with sqlite3.connect(store) as file:
        file.execute("update about set value = '99' where name = 'form'")
    result = search("http://127.0.0.1:9/v1")
    assert "was written by a newer version (form 99" in headline(result)
    with sqlite3.connect(store) as file:
        assert file.execute("select value from about where name = 'form'").fetchone() == ("99",)


def test_a_store_that_is_no_database(search, store: Path) -> None:
    store.write_text("a diary, and not a short one\n" * 100)
    assert "is no SQLite database" in headline(search("http://127.0.0.1:9/v1"))
    assert store.read_text().startswith("a diary")


def test_two_engines_on_one_store(search, store: Path) -> None:
    with Store(store):
        result = search("http://127.0.0.1:9/v1")
    assert f"is in use by process {os.getpid()}" in headline(result)
    assert "a store of its own" in result.stderr


# *** endpoints ***


def test_an_endpoint_that_is_down_from_the_start(invoke: Invoke, search, store: Path) -> None:
    with TestEndpoint(answer(200, completion(""))) as gone:
        url = gone.url
    result = search(url, "--evaluations", "2")
    assert f"{url} cannot be reached" in headline(result)
    words = resume_words(result)
    with TestEndpoint(*(answer(200, completion(text)) for text in answers(1.2, 1.5))) as endpoint:
        words[words.index("--base-url") + 1] = endpoint.url
        done = goes_on(invoke, words)
    assert "best" in done.output


def test_a_model_that_the_endpoint_does_not_have(invoke: Invoke, search) -> None:
    with TestEndpoint(answer(404, fault("no such model", "model_not_found"))) as endpoint:
        result = search(endpoint.url, "--evaluations", "1")
        assert "has no model 'small' (HTTP 404)" in headline(result)
        assert "It offers: large, small" in result.stderr
        endpoint.answers = [answer(200, completion(answers(1.5)[0]))]
        words = ["openai/large" if word == "openai/small" else word for word in resume_words(result)]
        goes_on(invoke, words)
        assert endpoint.asked[-1]["model"] == "large"


def test_a_key_that_is_refused(search) -> None:
    with TestEndpoint(answer(401, fault("Incorrect API key provided: sk-secret"))) as endpoint:
        result = search(endpoint.url)
    assert "refuses the key (HTTP 401)" in headline(result)
    assert "sk-secret" not in result.output


def test_an_endpoint_that_dies_in_the_middle_loses_nothing(invoke: Invoke, search, store: Path) -> None:
    texts = answers(1.2, -1.0, 1.5, 1.7)
    with TestEndpoint(*(answer(200, completion(text)) for text in texts[:2]), _dies) as endpoint:
        result = search(endpoint.url, "--evaluations", "4")
        assert "broke" in headline(result) or "cannot be reached" in headline(result)
        assert "every reply and verdict so far is kept" in headline(result)
    assert replies(store) == texts[:2]
    with Records(store) as records:
        (run,) = records.runs()
        assert run.state is State.FAILED
    words = resume_words(result)
    with TestEndpoint(*(answer(200, completion(text)) for text in texts[2:])) as endpoint:
        words[words.index("--base-url") + 1] = endpoint.url
        goes_on(invoke, words)
        assert len(endpoint.asked) == 2
    assert replies(store) == texts


def _dies(handler: Any, _: dict) -> None:
    """The machine is gone, in the middle of a sentence."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.connection.close()
    handler.close_connection = True


def test_a_model_that_says_nothing_is_not_asked_for_ever(invoke: Invoke, search, store: Path) -> None:
    with TestEndpoint(answer(200, completion("", finish="length"))) as endpoint:
        result = search(endpoint.url, "--evaluations", "2")
        assert "the last 30 answers held no new kernel; the last one: the answer is empty" in headline(result)
        assert "model.max_tokens" in result.stderr
        assert len(endpoint.asked) == 30
    assert replies(store) == [""] * 30
    with TestEndpoint(*(answer(200, completion(text)) for text in answers(1.2, 1.5))) as endpoint:
        words = resume_words(result)
        words[words.index("--base-url") + 1] = endpoint.url
        goes_on(invoke, words, "--set", "model.max_tokens=500")


def test_a_model_that_repeats_itself_ends_the_run_with_what_it_has(search) -> None:
    with TestEndpoint(answer(200, completion(answers(1.5)[0]))) as endpoint:
        result = search(endpoint.url)
    assert result.exit_code == 0, result.output
    assert "the last 30 answers held no new kernel" in result.output
    assert "best" in result.output


def test_a_model_that_drafts_the_same_kernel_again_and_again_ends_the_run_too(search) -> None:
    with TestEndpoint(answer(200, completion(answers(1.5)[0]))) as endpoint:
        result = search(endpoint.url, "--search", "best-of-n")
        assert len(endpoint.asked) == 31
    assert result.exit_code == 0, result.output
    assert "the last one: the answer is a kernel of this run" in result.output


def _endless(megabytes: int) -> Answer:
    def give(handler: Any, _: dict) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(megabytes << 20))
        handler.end_headers()
        with suppress(OSError):
            for _ in range(megabytes):
                handler.wfile.write(b"x" * (1 << 20))

    return give


def test_a_giant_reply_is_not_read_to_its_end(invoke: Invoke, search, store: Path) -> None:
    with TestEndpoint(_endless(100)) as endpoint:
        result = search(endpoint.url, "--evaluations", "1")
        assert "sent more than 16000000 bytes" in headline(result)
        endpoint.answers = [answer(200, completion(answers(1.5)[0]))]
        goes_on(invoke, resume_words(result), "--set", "model.max_tokens=9000")
        assert endpoint.asked[-1]["max_tokens"] == 9000


def test_a_long_reply_that_is_no_kernel_is_kept_and_said(search, store: Path) -> None:
    texts = ["x" * 5_000_000, answers(1.5)[0]]
    with TestEndpoint(*(answer(200, completion(text)) for text in texts)) as endpoint:
        result = search(endpoint.url, "--evaluations", "1")
    assert result.exit_code == 0
    assert "5000000 characters, more than 400000" in result.output
    assert replies(store) == texts


def test_a_giant_letter_is_named_and_can_be_answered_again(invoke: Invoke, store: Path, tmp_path: Path) -> None:
    mail, done = tmp_path / "mail", threading.Event()

    def answer_at_length() -> None:
        while not done.wait(0.01):
            for letter in mail.glob("*.request.md"):
                with letter.with_name(letter.name.replace(".request.", ".answer.")).open("ab") as file:
                    file.truncate(100 << 20)

    answering = threading.Thread(target=answer_at_length, daemon=True)
    answering.start()
    asked = ["--model", f"mailbox/{mail}", "--evaluations", "1", "--in-flight", "1", "--without", "seeding"]
    result = invoke("optimize", TASK, *asked, "--store", store)
    done.set()
    answering.join()
    (given,) = mail.glob("*.answer.md")
    assert f"{given}: the answer is larger than 4000000 bytes" in headline(result)
    given.write_text(answers(1.5)[0] + "\n<!-- end of answer -->\n")
    goes_on(invoke, resume_words(result))


def by_hand() -> None:
    """As Ctrl-C does; the signal itself may be ignored where tests run in the background."""
    raise KeyboardInterrupt


def by_a_scheduler() -> None:
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("interrupt", [by_hand, by_a_scheduler])
def test_a_run_that_is_interrupted_says_how_to_go_on(
    interrupt: Callable[[], None], invoke: Invoke, search, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Court):
        def finished(self, timeout: float) -> Any:
            if len(self.heard) == 1:
                interrupt()
            return super().finished(timeout)

    with TestEndpoint(*(answer(200, completion(text)) for text in answers(1.2, 1.5))) as endpoint:
        with monkeypatch.context() as patch:
            patch.setattr("kernelwright.cli._search.open_fleet", lambda address: Interrupted())
            result = search(endpoint.url, "--evaluations", "2")
        assert "interrupted" in headline(result).lower()
        assert "every reply and verdict so far is kept" in headline(result)
        goes_on(invoke, resume_words(result))
    assert len(replies(store)) == 2


# *** resuming ***


def test_what_was_settled_stays_settled(invoke: Invoke, search, store: Path) -> None:
    with TestEndpoint(answer(200, completion(answers(1.5)[0]))) as endpoint:
        search(endpoint.url, "--evaluations", "1")
    result = invoke("resume", "2", "--store", store, "--set", "budget.evaluations=9")
    assert "budget.evaluations: this was settled when the run began" in headline(result)


def test_a_run_goes_on_with_nothing_but_its_name(invoke: Invoke, search, store: Path) -> None:
    texts = answers(1.2, 1.5)
    with TestEndpoint(answer(200, completion(texts[0])), answer(503, fault("later"))) as endpoint:
        result = search(endpoint.url, "--evaluations", "2")
        assert "HTTP 503" in headline(result)
        endpoint.answers = [answer(200, completion(texts[1]))]
        goes_on(invoke, resume_words(result)[:2], "--store", store)


def test_a_store_that_is_not_there_is_not_made_by_resuming(invoke: Invoke, store: Path) -> None:
    assert "there is no store" in headline(invoke("resume", "1", "--store", store))
    assert not store.exists()


# *** disks, for real ***


def _on_a_disk(tmp_path: Path, options: str, program: str) -> str:
    """What a program prints that has DISK, a small file system of its own, and the search of this file."""
    disk = tmp_path / "disk"
    disk.mkdir()
    head = f"""
        import os, subprocess, sys
        from pathlib import Path
        DISK = Path({str(disk)!r})
        import kernelwright.cli._optimize as optimize, kernelwright.cli._search as search
        from kernelwright.cli._app import app
        from kernelwright.store import Records
        from tests.cli.court import Court, answers
        from tests.propose.endpoint import TestEndpoint, answer, completion
        from typer.testing import CliRunner
        search.open_fleet, optimize.check_backend = lambda address: Court(), lambda name: None
        def run(*words):
            return CliRunner().invoke(app, [str(word) for word in words])
        def words_of(result):
            told = result.stderr.partition("Next:")[2]
            return told[told.index("kernelwright resume"):].split()[1:]
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(head) + textwrap.dedent(program))
    mount = f'mount -t tmpfs -o {options} none "{disk}" && exec "{sys.executable}" "{tmp_path}/program.py"'
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount],
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "400"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.returncode, done.stderr
    return done.stdout


@on_its_own_disk
def test_a_disk_that_fills_up_in_the_middle_loses_no_reply(tmp_path: Path) -> None:
    program = f"""
        texts = [text + "#" * 200_000 for text in answers(*(1 + 0.1 * n for n in range(12)))]
        filler, store = DISK / "filler", DISK / "runs.db"
        def fills(handler, asked):
            # The last of the room goes while the model thinks.
            with filler.open("wb") as file:
                try:
                    while True: os.write(file.fileno(), bytes(1 << 12))
                except OSError: pass
            answer(200, completion(texts[3]))(handler, asked)
        with TestEndpoint(*(answer(200, completion(text)) for text in texts[:3]), fills) as endpoint:
            asked = ["--model", "openai/small", "--base-url", endpoint.url, "--in-flight", "1", "--evaluations", "6",
                     "--without", "seeding"]
            result = run("optimize", {str(TASK)!r}, *asked, "--store", store)
        assert result.exit_code == 2, result.output
        print(" ".join(result.stderr.split()))
        with Records(store) as records:
            (one,) = records.runs()
            assert [reply.text for reply in records.replies(one.id)] == texts[:4]
        filler.unlink()
        with TestEndpoint(*(answer(200, completion(text)) for text in texts[4:])) as endpoint:
            words = words_of(result)
            words[words.index("--base-url") + 1] = endpoint.url
            done = run(*words)
            assert done.exit_code == 0, done.output
            assert len(endpoint.asked) == 2
        with Records(store) as records:
            assert [reply.text for reply in records.replies(one.id)] == texts[:6]
            assert records.spent(one.id).evaluations == 6
    """
    said = _on_a_disk(tmp_path, "size=12m", program)
    assert "cannot grow, the disk is full; nothing that was acknowledged is lost" in said
    assert "make room, then resume; then: kernelwright resume" in said


@on_its_own_disk
def test_a_disk_that_is_full_from_the_start(tmp_path: Path) -> None:
    program = f"""
        with (DISK / "filler").open("wb") as file:
            try:
                while True: os.write(file.fileno(), bytes(1 << 12))
            except OSError: pass
        result = run("optimize", {str(TASK)!r}, "--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1",
                     "--store", DISK / "runs.db")
        assert result.exit_code == 2, result.output
        print(" ".join(result.stderr.split()))
    """
    assert "No space left on device" in _on_a_disk(tmp_path, "size=1m", program)


@on_its_own_disk
def test_a_mailbox_that_cannot_be_written_is_found_out_before_anything_is_begun(tmp_path: Path) -> None:
    program = f"""
        (DISK / "mail" / "answered").mkdir(parents=True)
        subprocess.run(["mount", "-o", "remount,ro", str(DISK)], check=True)
        store = DISK.parent / "runs.db"
        result = run("optimize", {str(TASK)!r}, "--model", f"mailbox/{{DISK / 'mail'}}", "--store", store)
        assert result.exit_code == 2, result.output
        assert not store.exists()
        print(" ".join(result.stderr.split()))
    """
    said = _on_a_disk(tmp_path, "size=1m", program)
    assert "cannot be used as a mailbox: Read-only file system" in said
    assert "can be written to" in said


def test_files_that_may_not_grow_keep_what_they_hold(tmp_path: Path) -> None:
    """A limit on the size of files, as batch systems set it."""
    program = f"""
        import resource, sys
        import kernelwright.cli._optimize as optimize, kernelwright.cli._search as search
        from kernelwright.cli._app import app
        from tests.cli.court import Court, answers
        from tests.propose.endpoint import TestEndpoint, answer, completion
        search.open_fleet, optimize.check_backend = lambda address: Court(), lambda name: None
        texts = [text + "#" * 100_000 for text in answers(*(1 + 0.1 * n for n in range(40)))]
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        with TestEndpoint(*(answer(200, completion(text)) for text in texts)) as endpoint:
            sys.argv = ["kernelwright", "optimize", {str(TASK)!r}, "--model", "openai/a", "--base-url", endpoint.url,
                        "--store", "runs.db", "--in-flight", "1", "--without", "seeding"]
            app()
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "400"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "the disk refuses; nothing that was acknowledged is lost" in done.stderr
    assert "kernelwright resume" in done.stderr
    kept = replies(tmp_path / "runs.db")
    assert len(kept) >= 3
