"""Everyone who answers without an endpoint, and the text that names who answers."""

import threading
import time
from collections import Counter

import pytest

from kernelwright.propose import (
    Clock,
    Ensemble,
    ExhaustedError,
    Kind,
    Limited,
    Limits,
    Mailbox,
    ProposerError,
    Reply,
    Request,
    Script,
    TakesUp,
    proposer,
)
from kernelwright.propose._mailbox import END


def request(name: str = "run1-0001", prompt: str = "Write a kernel.", kind: Kind = "draft") -> Request:
    return Request(id=name, prompt=prompt, kind=kind, backend="cpp")


def reply(text: str = "answer") -> Reply:
    return Reply(text=text, model="m", tokens_in=1, tokens_out=2, dollars=0.5, seconds=3.0, finish="stop")


class Says:
    """Answers with its own name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def propose(self, request: Request) -> Reply:
        return reply(self.name)


class FastClock(Clock):
    """Time that passes only where somebody waits; what was waited for is written down."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.waited: list[float] = []

    def now(self) -> float:
        return self.time

    def wait(self, seconds: float) -> None:
        super().wait(0)
        self.time += seconds
        self.waited.append(seconds)


# *** script and replay ***


def test_a_script_hands_out_its_files_in_order_and_then_says_that_it_has_ended(tmp_path):
    for name in ("b.py", "a.md", "c.txt", "ignored.bin"):
        (tmp_path / name).write_text(f"text of {name}")
    script = Script(tmp_path)
    replies = [script.propose(request()) for _ in range(3)]
    assert [one.text for one in replies] == ["text of a.md", "text of b.py", "text of c.txt"]
    assert replies[0].model == "script/a.md"
    with pytest.raises(ExhaustedError, match="all 3 candidates"):
        script.propose(request())


def test_a_script_goes_on_where_a_run_was_left_and_has_no_advice(tmp_path):
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(name)
    for script in (Script(tmp_path), proposer(f"script/{tmp_path}:2,script/{tmp_path}:1")):
        assert isinstance(script, TakesUp)
        script.take_up(["script/a.py", "script", "script/b.py"])
        assert script.propose(request(kind="rewrite")).text == ""
        assert script.propose(request()).text == "c.py"


def test_a_script_hands_out_each_file_once_whoever_asks(tmp_path):
    for number in range(40):
        (tmp_path / f"{number:02}.py").write_text(str(number))
    script, texts = Script(tmp_path), []
    threads = [
        threading.Thread(target=lambda: texts.extend(script.propose(request()).text for _ in range(10)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, texts)) == list(range(40))


def test_a_folder_without_candidates_is_said_before_anything_is_asked(tmp_path):
    with pytest.raises(ProposerError, match="holds no candidates"):
        proposer(f"script/{tmp_path}")
    with pytest.raises(ProposerError, match="there is no such folder"):
        proposer(f"script/{tmp_path}/nowhere")


def test_a_replay_gives_back_what_was_stored_and_nothing_else():
    stored = reply("kept")
    replay = proposer("replay", replies={"run1-0001": stored})
    assert replay.propose(request()) is stored
    with pytest.raises(ExhaustedError, match="'run1-0002'"):
        replay.propose(request("run1-0002"))
    with pytest.raises(ProposerError, match="no stored replies"):
        proposer("replay")


def test_a_reply_survives_the_journey_through_json():
    assert Reply.from_json(reply().to_json()) == reply()


# *** mailbox ***


def answering(folder, *texts: str) -> threading.Thread:
    """Someone who answers the next request in these steps, as an editor that saves now and then."""

    def answer() -> None:
        while not (letters := list(folder.glob("*.request.md"))):
            time.sleep(0.005)
        target = folder / letters[0].name.replace(".request.", ".answer.")
        assert target.name in letters[0].read_text()
        for text in texts:
            target.write_text(text)
            time.sleep(0.05)

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


def test_a_request_is_a_letter_that_says_how_to_answer_it(tmp_path):
    thread = answering(tmp_path, f"a kernel\n{END}\n")
    found = Mailbox(tmp_path).propose(request(prompt="Write a softmax.\n"))
    thread.join()
    assert found.text == "a kernel"
    assert found.dollars is None
    assert found.tokens_in is None
    (letter,) = (tmp_path / "answered").glob("*.request.md")
    assert letter.read_text().endswith("---\n\nWrite a softmax.\n")
    assert "Kind: draft. Language: cpp." in letter.read_text()
    assert list(tmp_path.glob("*.md")) == []


def test_half_an_answer_is_not_taken(tmp_path):
    steps = ("", "```python\nclass Mod", f"```python\nclass ModelNew: pass\n```\n{END}")
    thread = answering(tmp_path, *steps)
    assert Mailbox(tmp_path).propose(request()).text == "```python\nclass ModelNew: pass\n```"
    thread.join()


def test_an_answer_without_an_end_is_whole_when_it_has_not_changed_for_a_while(tmp_path):
    clock = FastClock()
    box = Mailbox(tmp_path, clock=clock)
    stem = box_stem(tmp_path)
    (tmp_path / f"{stem}.answer.md").write_text("```python\nclosed\n```")
    assert box.propose(request()).seconds == pytest.approx(2.0, abs=0.5)
    (tmp_path / f"{box_stem(tmp_path, 'other')}.answer.md").write_text("```python\nnever closed")
    assert box.propose(request("other")).seconds == pytest.approx(20.0, abs=0.5)


def box_stem(folder, name: str = "run1-0001") -> str:
    """What the files of a request are called."""
    with pytest.raises(ProposerError, match="no answer within"):
        Mailbox(folder, clock=FastClock(), patience=1).propose(request(name))
    (letter,) = folder.glob(f"{name}*.request.md")
    return letter.name.removesuffix(".request.md")


def test_an_answer_to_another_question_is_never_taken(tmp_path):
    stem = box_stem(tmp_path)
    (tmp_path / f"{stem}.answer.md").write_text(f"stale\n{END}")
    box = Mailbox(tmp_path, clock=FastClock(), patience=1)
    with pytest.raises(ProposerError, match="no answer within 1 s"):
        box.propose(request(prompt="Another question under the same number."))
    assert box.propose(request()).text == "stale"


def test_what_was_answered_before_a_kill_is_not_asked_again(tmp_path):
    thread = answering(tmp_path, f"a kernel\n{END}")
    Mailbox(tmp_path).propose(request())
    thread.join()
    assert Mailbox(tmp_path, clock=FastClock(), patience=0).propose(request()).text == "a kernel"
    assert list(tmp_path.glob("*.md")) == []


def test_waiting_for_a_letter_ends_when_the_run_does(tmp_path):
    stop = threading.Event()
    box = proposer(f"mailbox/{tmp_path}", stop=stop)
    threading.Timer(0.05, stop.set).start()
    with pytest.raises(ProposerError, match="stopped"):
        box.propose(request())


def test_names_of_requests_cannot_leave_the_folder(tmp_path):
    with pytest.raises(ProposerError, match="no answer within"):
        Mailbox(tmp_path / "box", clock=FastClock(), patience=1).propose(request("../../evil/name"))
    (letter,) = (tmp_path / "box").glob("*.request.md")
    assert letter.name.startswith("..-..-evil-name-")


def test_a_file_in_place_of_the_mailbox_and_an_enormous_answer_are_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ProposerError, match="cannot be used as a mailbox"):
        proposer(f"mailbox/{tmp_path}/file")
    stem = box_stem(tmp_path)
    (tmp_path / f"{stem}.answer.md").write_text("x" * 4_000_001)
    with pytest.raises(ProposerError, match="larger than 4000000 bytes"):
        Mailbox(tmp_path, clock=FastClock()).propose(request())


# *** several, and how they are named ***


def test_an_ensemble_keeps_its_weights_and_depends_on_nothing_but_seed_and_request():
    members = [(Says("A"), 2.0), (Says("B"), 1.0)]
    first, second = Ensemble(members, seed=1), Ensemble(members, seed=1)
    names = [first.propose(request(str(number))).text for number in range(900)]
    assert [second.propose(request(str(number))).text for number in reversed(range(900))] == names[::-1]
    assert 540 < Counter(names)["A"] < 660
    assert [Ensemble(members, seed=2).propose(request(str(n))).text for n in range(900)] != names


def test_an_ensemble_is_named_with_weights(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.py").write_text(name)
    both = proposer(f"script/{tmp_path}/a:1e9, script/{tmp_path}/b:1")
    assert both.propose(request()).text == "a"


def test_a_name_may_hold_colons(tmp_path):
    (tmp_path / "qwen:7b").mkdir()
    (tmp_path / "qwen:7b" / "one.py").write_text("found")
    assert proposer(f"script/{tmp_path}/qwen:7b").propose(request()).text == "found"
    assert proposer(f"script/{tmp_path}/qwen:7b:2").propose(request()).text == "found"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", "no model is called ''"),
        ("gpt-4o", "no model is called 'gpt-4o'"),
        ("opanai/gpt-4o", r"openai/NAME, anthropic/NAME, local/FILE.gguf"),
        ("openai/", "names no model"),
        ("replay:0", "is not positive"),
        ("replay:-1", "is not positive"),
        ("replay:nan", "is not positive"),
        ("replay:1,,replay", "no model is called ''"),
        ("local/nowhere.gguf", "cannot be read: No such file"),
    ],
)
def test_a_name_that_means_nothing_is_an_error_that_says_what_to_write(spec, sentence):
    with pytest.raises(ProposerError, match=sentence):
        proposer(spec, replies={})


def test_a_file_that_is_no_model_is_said_before_anything_is_loaded(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(ProposerError, match="not a GGUF file"):
        proposer(f"local/{tmp_path}/model.gguf")


# *** limits ***


class Fails:
    """Fails with these errors, one a call, then answers."""

    def __init__(self, *errors: ProposerError) -> None:
        self.errors = list(errors)
        self.calls = 0

    def propose(self, request: Request) -> Reply:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return reply()


def busy(after: float | None = None) -> ProposerError:
    return ProposerError("busy.", retryable=True, after=after)


def test_what_may_succeed_later_is_tried_again_after_doubling_waits():
    clock, inner = FastClock(), Fails(*[busy() for _ in range(4)])
    assert Limited(inner, clock=clock).propose(request()) == reply()
    assert inner.calls == 5
    for number, waited in enumerate(clock.waited):
        assert 0.5 * 2**number <= waited <= 2**number


def test_the_other_side_is_never_asked_sooner_than_it_said():
    clock = FastClock()
    Limited(Fails(busy(after=17)), clock=clock).propose(request())
    assert clock.time >= 17


def test_what_one_call_is_told_to_wait_the_next_one_waits_too():
    clock = FastClock()
    limited = Limited(Fails(busy(after=40)), Limits(tries=1), clock=clock)
    with pytest.raises(ProposerError, match="busy"):
        limited.propose(request())
    assert clock.time == 0
    limited.propose(request("another"))
    assert clock.time == 40


def test_a_wait_longer_than_allowed_ends_the_request_with_a_sentence():
    with pytest.raises(ProposerError, match=r"asks to wait 3600 s, more than the 300 s allowed") as caught:
        Limited(Fails(busy(after=3600)), clock=FastClock()).propose(request())
    assert not caught.value.retryable


def test_what_cannot_succeed_is_tried_once():
    inner = Fails(ProposerError("wrong key."))
    with pytest.raises(ProposerError, match="wrong key"):
        Limited(inner, clock=FastClock()).propose(request())
    assert inner.calls == 1


def test_after_the_last_try_the_last_error_is_told():
    inner = Fails(*[busy() for _ in range(9)])
    with pytest.raises(ProposerError, match="busy"):
        Limited(inner, Limits(tries=3), clock=FastClock()).propose(request())
    assert inner.calls == 3


def test_calls_are_spread_over_the_minute():
    clock = FastClock()
    limited = Limited(Fails(), Limits(a_minute=6), clock=clock)
    for number in range(4):
        limited.propose(request(str(number)))
    assert clock.time == pytest.approx(30)


def test_no_more_calls_are_under_way_than_allowed():
    lock, under_way, most = threading.Lock(), [0], [0]

    class Slow:
        def propose(self, request: Request) -> Reply:
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            time.sleep(0.01)
            with lock:
                under_way[0] -= 1
            return reply()

    limited = Limited(Slow(), Limits(at_once=3))
    threads = [threading.Thread(target=limited.propose, args=(request(str(n)),)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 3


def test_waiting_for_a_turn_ends_when_the_run_does():
    stop = threading.Event()
    stop.set()
    with pytest.raises(ProposerError, match="stopped"):
        Limited(Fails(busy()), clock=Clock(stop)).propose(request())


@pytest.mark.parametrize("wrong", [{"at_once": 0}, {"tries": 0}, {"a_minute": 0}])
def test_limits_that_allow_nothing_are_refused(wrong):
    with pytest.raises(ProposerError, match="must be positive"):
        Limits(**wrong)
