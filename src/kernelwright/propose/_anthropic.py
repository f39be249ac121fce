"""Anthropic's models, asked through its own SDK: an extra, imported when it is used."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from kernelwright.propose._endpoint import Answered, Endpoint, Loose, Settings
from kernelwright.propose._request import ProposerError

# The endpoint wants a limit; this is more than a kernel and its reasons take.
MAX_TOKENS = 32_000
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


class _Block(Loose):
    type: str = ""
    text: str = ""


class _Usage(Loose):
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Message(Loose):
    content: list[_Block]
    model: str
    stop_reason: str | None = None
    usage: _Usage


class AnthropicModel(Endpoint):
    """One model, asked through the `anthropic` SDK."""

    provider = "anthropic"
    key_variable = "ANTHROPIC_API_KEY"

    def __init__(self, name: str, *, url: str | None = None, settings: Settings | None = None) -> None:
        try:
            import anthropic
        except ImportError as missing:
            what = f"anthropic/{name} needs the package anthropic, which is not installed."
            raise ProposerError(what, "pip install 'kernelwright[anthropic]'") from missing
        settings = settings or Settings()
        key = os.environ.get(self.key_variable)
        if not key:
            what = f"there is no key for anthropic/{name}: ${self.key_variable} is not set."
            raise ProposerError(what, f"export {self.key_variable}=...")
        super().__init__(name, anthropic, url, settings)
        self._client: Any = anthropic.Anthropic(
            api_key=key, base_url=url, max_retries=0, timeout=max(0.001, settings.seconds)
        )
        warmth = {} if settings.temperature is None else {"temperature": settings.temperature}
        self._options: dict[str, Any] = {"max_tokens": settings.max_tokens or MAX_TOKENS, **warmth}

    def _send(self, prompt: str) -> AbstractContextManager[Any]:
        sent: AbstractContextManager[Any] = self._client.messages.with_streaming_response.create(
            model=self._name, messages=[{"role": "user", "content": prompt}], **self._options
        )
        return sent

    def _known_models(self) -> Iterable[str]:
        return [str(model.id) for model in self._client.with_options(timeout=10).models.list().data]

    def _read(self, body: bytes) -> Answered:
        message = _Message.model_validate_json(body)
        usage = message.usage
        cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        return Answered(
            text="".join(block.text for block in message.content if block.type == "text"),
            model=message.model,
            finish=_FINISH.get(message.stop_reason or "", message.stop_reason or "unknown"),
            tokens_in=usage.input_tokens + cached + written,
            tokens_out=usage.output_tokens,
            cached=cached,
        )
