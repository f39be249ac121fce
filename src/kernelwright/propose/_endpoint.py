"""What clients of paid endpoints share: one call, its answer read to the end, its failures in plain words, its cost.

Knows HTTP statuses. The SDKs differ in how they are asked and in what they call the parts of an answer; that is in
`_openai.py` and `_anthropic.py`. Retries are `_limited.py`'s: the SDKs make none.
"""

import email.utils
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from kernelwright.propose._prices import cost
from kernelwright.propose._request import ProposerError, Reply, Request

LARGEST_BYTES = 16_000_000
QUOTED = 300
_LATER = frozenset({408, 409, 425, 429})
_SERVER_FAULT = 500
# The account is empty: waiting does not fill it.
_NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_credits"})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is asked.

    Attributes:
        seconds: A whole answer of an endpoint may take.
        max_tokens: Of an answer; None: what the endpoint allows, or a quarter of what a model on this machine can read.
        temperature: None: the model's own.
    """

    seconds: float = 600.0
    max_tokens: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, kw_only=True)
class Answered:
    """An answer as an endpoint gives it."""

    text: str
    model: str
    finish: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cached: int = 0


class Endpoint(ABC):
    """A model behind an address."""

    provider: str
    key_variable: str

    def __init__(self, name: str, sdk: Any, url: str | None, settings: Settings) -> None:
        """`sdk`: the imported package, for the names of its errors. `url`: None for the provider's own address."""
        self._name = name
        self._sdk = sdk
        self._url = url
        self._settings = settings

    @abstractmethod
    def _send(self, prompt: str) -> AbstractContextManager[Any]:
        """A response whose body is still to be read."""

    @abstractmethod
    def _read(self, body: bytes) -> Answered:
        """Raises ValidationError, or ProposerError for a failure that came as an answer."""

    @abstractmethod
    def _known_models(self) -> Iterable[str]:
        """Names that the endpoint offers; may fail."""

    def propose(self, request: Request) -> Reply:
        begun = time.monotonic()
        answered = self._understand(self._fetch(request.prompt))
        found = cost(
            answered.model,
            answered.tokens_in,
            answered.tokens_out,
            provider=self.provider,
            url=self._url,
            cached=answered.cached,
        )
        return Reply(
            text=answered.text,
            model=answered.model,
            tokens_in=answered.tokens_in,
            tokens_out=answered.tokens_out,
            dollars=found.dollars if found else None,
            seconds=time.monotonic() - begun,
            finish=answered.finish,
            price=found.price if found else None,
        )

    @property
    def _where(self) -> str:
        return self._url or f"{self.provider}'s endpoint"

    def _understand(self, body: bytes) -> Answered:
        try:
            return self._read(body)
        except ValidationError as fault:
            start = body[:QUOTED].decode("utf-8", errors="replace")
            what = f"{self._where} sent an answer that cannot be read ({len(body)} bytes): {start!r}."
            raise ProposerError(what, "Is this the address of a compatible endpoint?", retryable=True) from fault

    def _fetch(self, prompt: str) -> bytes:
        try:
            with self._send(prompt) as response:
                return self._body(response.iter_bytes())
        except self._sdk.APIStatusError as error:
            raise self._refusal(error) from error
        except self._sdk.APITimeoutError as error:
            raise self._too_slow() from error
        except self._sdk.APIConnectionError as error:
            what = f"{self._where} cannot be reached: {_cause(error)}."
            raise ProposerError(what, "Is it running, and is the address right?", retryable=True) from error

    def _body(self, chunks: Iterable[bytes]) -> bytes:
        deadline = time.monotonic() + self._settings.seconds
        body = bytearray()
        try:
            for chunk in chunks:
                body += chunk
                if len(body) > LARGEST_BYTES:
                    what = f"{self._where} sent more than {LARGEST_BYTES} bytes."
                    raise ProposerError(what, "Set a limit for the tokens of an answer.")
                if time.monotonic() > deadline:
                    raise self._too_slow()
        except ProposerError:
            raise
        # The SDK passes on whatever its HTTP library raises while a body is read.
        except Exception as fault:
            if "Timeout" in type(fault).__name__:
                raise self._too_slow() from fault
            what = f"the connection to {self._where} broke while the answer came: {fault}."
            raise ProposerError(what, retryable=True) from fault
        return bytes(body)

    def _too_slow(self) -> ProposerError:
        what = f"{self._where} gave no whole answer within {self._settings.seconds:g} s."
        return ProposerError(what, "Allow more seconds, or ask for fewer tokens.", retryable=True)

    # *** refusals ***

    def _refusal(self, error: Any) -> ProposerError:
        """What an HTTP status means for whoever started the run."""
        status, said = int(error.status_code), _said(error)
        if status in (401, 403):
            # What the endpoint says here may quote the key.
            what = f"{self._where} refuses the key (HTTP {status})."
            return ProposerError(what, f"Check ${self.key_variable} and what the key may be used for.")
        if status == 404:
            return self._unknown_model(said)
        if status == 402 or getattr(error, "code", None) in _NO_CREDIT:
            return ProposerError(f"{self._where} wants to be paid first: {said}", "Add credit to the account.")
        later = status in _LATER or status >= _SERVER_FAULT
        what = f"{self._where} answered HTTP {status}: {said}"
        return ProposerError(what, retryable=later, after=retry_after(error.response.headers) if later else None)

    def _unknown_model(self, said: str) -> ProposerError:
        try:
            known = sorted(self._known_models())
        except Exception:  # it is only for the sentence
            known = []
        fix = f"It offers: {', '.join(known[:20])}." if known else "Check the model's name and the address."
        return ProposerError(f"{self._where} has no model {self._name!r} (HTTP 404): {said}", fix)


def _said(error: Any) -> str:
    """The endpoint's own words, without their wrapping."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner) if isinstance(inner, dict) else inner
    return " ".join(str(body or "no explanation").split())[:QUOTED]


def _cause(error: BaseException) -> str:
    return str(error.__cause__ or error)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the other side asks to wait, as milliseconds, seconds or a date; None if it does not or babbles."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        seconds = _number(headers.get(name))
        if seconds is not None:
            return max(0.0, seconds * unit)
    try:
        then = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, then.timestamp() - time.time())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class Loose(BaseModel):
    """Text from outside: what is needed is checked, what is more is let be."""

    model_config = {"extra": "ignore"}
