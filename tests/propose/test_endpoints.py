"""Clients against a real server: what they send, what they make of every kind of answer, and what it cost."""

import importlib.util
import json
import socket
import threading

import pytest

from kernelwright.propose import Limits, ProposerError, Request, Settings, proposer
from kernelwright.propose._endpoint import retry_after
from kernelwright.propose._openai import OpenAIModel
from kernelwright.propose._prices import cost
from tests.propose.endpoint import TestEndpoint, answer, completion, fault

KERNEL = Request(id="r1", prompt="Write a kernel.", kind="draft", backend="cpp")
QUICK = Limits(tries=3, first_wait=0.001)
KEY = "sk-secret-of-the-test"


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def ask(endpoint: TestEndpoint, *, settings: Settings | None = None, limits: Limits = QUICK):
    return proposer("openai/gpt-4o", base_url=endpoint.url, settings=settings, limits=limits).propose(KERNEL)


def refused(*answers, **more) -> tuple[ProposerError, TestEndpoint]:
    with TestEndpoint(*answers) as endpoint, pytest.raises(ProposerError) as caught:
        ask(endpoint, **more)
    return caught.value, endpoint


# *** an answer ***


def test_a_model_is_asked_and_its_answer_comes_back_whole():
    with TestEndpoint(answer(200, completion("```python\nclass ModelNew: pass\n```"))) as endpoint:
        reply = ask(endpoint)
    assert reply.text == "```python\nclass ModelNew: pass\n```"
    assert (reply.model, reply.finish) == ("gpt-4o-2024-08-06", "stop")
    assert (reply.tokens_in, reply.tokens_out) == (1000, 200)
    assert reply.seconds > 0
    assert endpoint.asked == [{"model": "gpt-4o", "messages": [{"role": "user", "content": "Write a kernel."}]}]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


def test_settings_are_sent_only_where_they_are_given():
    with TestEndpoint(answer(200, completion("x"))) as endpoint:
        ask(endpoint, settings=Settings(max_tokens=500, temperature=0.7))
    assert (endpoint.asked[0]["max_tokens"], endpoint.asked[0]["temperature"]) == (500, 0.7)


def test_options_that_a_model_does_not_know_are_renamed_or_left_out():
    answers = [
        answer(400, fault("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")),
        answer(200, completion("x")),
        answer(400, fault("Unsupported value: 'temperature' does not support 0.7 with this model.")),
        answer(200, completion("y")),
    ]
    with TestEndpoint(*answers) as endpoint:
        model = OpenAIModel("o9", url=endpoint.url, settings=Settings(max_tokens=500, temperature=0.7))
        assert [model.propose(KERNEL).text for _ in range(2)] == ["x", "y"]
    assert endpoint.asked[1]["max_completion_tokens"] == 500
    assert "temperature" not in endpoint.asked[3]


def test_an_answer_cut_off_by_its_limit_says_so():
    with TestEndpoint(answer(200, completion("```python\nclass Mod", finish="length"))) as endpoint:
        assert ask(endpoint).finish == "length"


@pytest.mark.parametrize("content", ["", None])
def test_an_empty_answer_that_was_paid_for_is_a_reply(content):
    with TestEndpoint(answer(200, completion(content, finish="length"))) as endpoint:
        reply = ask(endpoint)
    assert (reply.text, reply.tokens_out) == ("", 200)


def test_an_answer_in_parts_without_usage_or_model_is_read():
    body = completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], model=None, usage=None)
    with TestEndpoint(answer(200, body)) as endpoint:
        reply = ask(endpoint)
    assert (reply.text, reply.model, reply.tokens_in, reply.dollars) == ("ab", "gpt-4o", None, None)


def test_a_large_answer_is_a_reply():
    with TestEndpoint(answer(200, completion("x" * 3_000_000))) as endpoint:
        assert len(ask(endpoint).text) == 3_000_000


# *** tried again ***


def test_too_many_requests_is_tried_again_after_the_wait_that_was_asked_for():
    with TestEndpoint(answer(429, fault("slow down"), Retry_After="0.01"), answer(200, completion("x"))) as endpoint:
        assert ask(endpoint).text == "x"
    error, _ = refused(answer(429, fault("slow down"), Retry_After="30"), limits=Limits(tries=1))
    assert error.retryable
    assert error.after == 30


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 529])
def test_a_fault_of_the_server_is_tried_again(status):
    with TestEndpoint(answer(status, b"oops"), answer(200, completion("x"))) as endpoint:
        assert ask(endpoint).text == "x"
    assert len(endpoint.asked) == 2


def test_a_server_that_stays_broken_is_said_after_the_last_try():
    error, endpoint = refused(answer(500, fault("out of memory")))
    assert len(endpoint.asked) == 3
    assert "HTTP 500: out of memory" in error.what


def test_a_failure_reported_with_status_200_is_a_failure():
    overloaded = json.dumps({"error": {"message": "provider overloaded", "code": 502}}).encode()
    with TestEndpoint(answer(200, overloaded), answer(200, completion("x"))) as endpoint:
        assert ask(endpoint).text == "x"
    error, _ = refused(answer(200, json.dumps({"error": {"message": "bad input", "code": 400}}).encode()))
    assert "bad input" in error.what
    assert not error.retryable


@pytest.mark.parametrize(
    "body", [b"", b"<html>gateway</html>", completion("x" * 999)[:500], b'{"choices": []}', b"null"]
)
def test_a_body_that_is_no_answer_is_tried_again_and_then_said(body):
    with TestEndpoint(answer(200, body), answer(200, completion("x"))) as endpoint:
        assert ask(endpoint).text == "x"
    error, _ = refused(answer(200, body))
    assert "sent an answer" in error.what


def _breaks_off(handler, _):
    body = completion("x" * 999)
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[:300])
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)


def test_a_connection_that_breaks_while_the_answer_comes_is_tried_again():
    with TestEndpoint(_breaks_off, answer(200, completion("x"))) as endpoint:
        assert ask(endpoint).text == "x"
    error, _ = refused(_breaks_off)
    assert "broke while the answer came" in error.what


def test_an_endpoint_that_is_down_is_said_with_its_address():
    with TestEndpoint(answer(200, b"")) as endpoint:
        pass
    with pytest.raises(ProposerError, match=f"{endpoint.url} cannot be reached") as caught:
        ask(endpoint)
    assert caught.value.retryable


# *** slow, endless ***


def _holding(until: threading.Event):
    def give(handler, _):
        until.wait(10)

    return give


def _trickling(until: threading.Event):
    def give(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while not until.wait(0.02):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    return give


@pytest.mark.parametrize("slow", [_holding, _trickling])
def test_an_answer_that_does_not_come_or_only_trickles_ends_by_its_time_limit(slow):
    done = threading.Event()
    try:
        error, _ = refused(slow(done), settings=Settings(seconds=0.2), limits=Limits(tries=1))
    finally:
        done.set()
    assert "no whole answer within 0.2 s" in error.what
    assert error.retryable


def _endless(handler, _):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    try:
        while True:
            handler.wfile.write(piece)
    except OSError:
        handler.close_connection = True


def test_an_endless_answer_is_stopped():
    error, endpoint = refused(_endless)
    assert "sent more than 16000000 bytes" in error.what
    assert len(endpoint.asked) == 1


# *** refused ***


def test_a_wrong_key_is_said_at_once_and_never_repeated():
    error, endpoint = refused(answer(401, fault(f"Incorrect API key provided: {KEY}")))
    assert "refuses the key (HTTP 401)" in error.what
    assert "$OPENAI_API_KEY" in error.fix
    assert KEY not in str(error)
    assert len(endpoint.asked) == 1


def test_a_wrong_model_is_said_with_those_there_are():
    error, endpoint = refused(answer(404, fault("The model `gpt-4o` does not exist", "model_not_found")))
    assert "has no model 'gpt-4o'" in error.what
    assert error.fix == "It offers: large, small."
    assert len(endpoint.asked) == 1


def test_a_wrong_address_is_said():
    error, _ = refused(answer(404, b"<html>nothing here</html>"))
    assert "HTTP 404" in error.what


@pytest.mark.parametrize(("status", "code"), [(402, None), (429, "insufficient_quota")])
def test_an_empty_account_is_not_waited_for(status, code):
    error, endpoint = refused(answer(status, fault("You exceeded your current quota", code)))
    assert "wants to be paid first" in error.what
    assert len(endpoint.asked) == 1


def test_a_prompt_that_is_too_long_is_not_tried_again():
    error, endpoint = refused(answer(400, fault("maximum context length is 8192 tokens", "context_length_exceeded")))
    assert "maximum context length is 8192 tokens" in error.what
    assert len(endpoint.asked) == 1


def test_no_key_is_said_before_anything_is_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ProposerError, match=r"\$OPENAI_API_KEY is not set.*\n.*--base-url"):
        proposer("openai/gpt-4o")


def test_a_local_endpoint_needs_no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with TestEndpoint(answer(200, completion("x"))) as endpoint:
        assert ask(endpoint).text == "x"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_is_asked_for_is_read_in_every_form(headers, seconds):
    assert retry_after(headers) == seconds


# *** money ***


def test_a_known_model_has_a_price_that_is_kept_beside_the_sum():
    found = cost("gpt-4o-2024-08-06", 1_000_000, 100_000, provider="openai", url=None)
    assert found.dollars == pytest.approx(float(found.price["input_mtok"]) + 0.1 * float(found.price["output_mtok"]))
    assert found.price["provider"] == "openai"
    assert found.price["table"].startswith("genai-prices ")
    json.dumps(found.price)


def test_what_the_endpoint_remembers_costs_less():
    whole = cost("gpt-4o", 1_000_000, 0, provider="openai", url=None)
    assert cost("gpt-4o", 1_000_000, 0, provider="openai", url=None, cached=900_000).dollars < whole.dollars


@pytest.mark.parametrize(
    ("model", "tokens", "url"),
    [
        ("a-model-of-my-own", (10, 10), None),
        ("gpt-4o", (None, 10), None),
        ("gpt-4o", (10, 10), "http://localhost:8000/v1"),
    ],
)
def test_what_is_not_known_is_none_and_never_0(model, tokens, url):
    assert cost(model, *tokens, provider="openai", url=url) is None


def test_the_price_of_an_address_is_that_provider_s():
    found = cost("deepseek-chat", 1_000_000, 0, provider="openai", url="https://api.deepseek.com")
    assert found.price["provider"] == "deepseek"


def test_an_endpoint_of_one_s_own_has_no_price():
    with TestEndpoint(answer(200, completion("x"))) as endpoint:
        reply = ask(endpoint)
    assert reply.dollars is None
    assert reply.price is None


# *** extras ***

has_anthropic = importlib.util.find_spec("anthropic") is not None
MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-20250514",
    "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "a kernel"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 900},
}


@pytest.mark.skipif(has_anthropic, reason="the package is installed")
def test_a_missing_package_for_anthropic_is_said_with_the_command_that_helps():
    with pytest.raises(
        ProposerError, match=r"needs the package anthropic.*\n.*pip install 'kernelwright\[anthropic\]'"
    ):
        proposer("anthropic/claude-sonnet-4")


@pytest.mark.skipif(not has_anthropic, reason="the package anthropic is not installed")
def test_anthropic_s_models_are_asked_in_their_own_form():
    from kernelwright.propose._anthropic import AnthropicModel

    with TestEndpoint(answer(200, json.dumps(MESSAGE).encode())) as endpoint:
        reply = AnthropicModel("claude-sonnet-4", url=endpoint.root).propose(KERNEL)
    assert (reply.text, reply.finish, reply.tokens_in, reply.tokens_out) == ("a kernel", "stop", 1000, 20)
    assert endpoint.asked[0]["messages"] == [{"role": "user", "content": "Write a kernel."}]
    with (
        TestEndpoint(answer(529, fault("Overloaded"), Retry_After="3")) as endpoint,
        pytest.raises(ProposerError) as caught,
    ):
        AnthropicModel("claude-sonnet-4", url=endpoint.root).propose(KERNEL)
    assert (caught.value.retryable, caught.value.after) == (True, 3)
