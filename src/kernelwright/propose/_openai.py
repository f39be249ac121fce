"""Models behind endpoints that speak OpenAI's protocol: its own, vLLM, SGLang, llama.cpp, Ollama, OpenRouter."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from kernelwright.propose._endpoint import Answered, Endpoint, Loose, Settings
from kernelwright.propose._request import ProposerError

_SERVER_FAULT = 500
_TOO_MANY = 429


class _Part(Loose):
    text: str = ""


class _Message(Loose):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(Loose):
    message: _Message
    finish_reason: str | None = None


class _Details(Loose):
    cached_tokens: int | None = None


class _Usage(Loose):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Completion(Loose):
    choices: list[_Choice]
    model: str | None = None
    usage: _Usage | None = None


class _Fault(Loose):
    message: str = "no explanation"
    code: int | str | None = None


class _Failed(Loose):
    """Some gateways report a failure with status 200."""

    error: _Fault | None = None


class OpenAIModel(Endpoint):
    """One model, asked through the `openai` SDK."""

    provider = "openai"
    key_variable = "OPENAI_API_KEY"
    url_variable = "OPENAI_BASE_URL"

    def __init__(self, name: str, *, url: str | None = None, settings: Settings | None = None) -> None:
        import openai  # half a second, which only those pay who ask a model

        settings = settings or Settings()
        url = url or os.environ.get(self.url_variable) or None
        key = os.environ.get(self.key_variable)
        if not key and not url:
            what = f"there is no key for openai/{name}: ${self.key_variable} is not set."
            raise ProposerError(what, f"export {self.key_variable}=..., or name a local endpoint with --base-url.")
        super().__init__(name, openai, url, settings)
        # Local servers want no key; the SDK wants one all the same.
        self._client = openai.OpenAI(
            api_key=key or "none", base_url=url, max_retries=0, timeout=max(0.001, settings.seconds)
        )
        chosen = {"max_tokens": settings.max_tokens, "temperature": settings.temperature}
        self._options: dict[str, Any] = {option: value for option, value in chosen.items() if value is not None}

    def _send(self, prompt: str) -> AbstractContextManager[Any]:
        return self._client.chat.completions.with_streaming_response.create(
            model=self._name, messages=[{"role": "user", "content": prompt}], **self._options
        )

    def _fetch(self, prompt: str) -> bytes:
        try:
            return super()._fetch(prompt)
        except ProposerError as refused:
            if refused.retryable or not self._adapt(refused.what):
                raise
            return super()._fetch(prompt)

    def _adapt(self, said: str) -> bool:
        """Newer models know some options by another name or not at all, and say which; whether anything was changed."""
        options = dict(self._options)
        if "max_tokens" in options and "max_completion_tokens" in said:
            options["max_completion_tokens"] = options.pop("max_tokens")
        elif "temperature" in options and "temperature" in said:
            del options["temperature"]
        changed = options != self._options
        self._options = options
        return changed

    def _known_models(self) -> Iterable[str]:
        return [model.id for model in self._client.with_options(timeout=10).models.list().data]

    def _read(self, body: bytes) -> Answered:
        self._check_failed(body)
        completion = _Completion.model_validate_json(body)
        if not completion.choices:
            raise ProposerError(f"{self._where} sent an answer without a choice.", retryable=True)
        choice, usage = completion.choices[0], completion.usage or _Usage()
        details = usage.prompt_tokens_details or _Details()
        return Answered(
            text=_text(choice.message),
            model=completion.model or self._name,
            finish=choice.finish_reason or "unknown",
            tokens_in=usage.prompt_tokens,
            tokens_out=usage.completion_tokens,
            cached=details.cached_tokens or 0,
        )

    def _check_failed(self, body: bytes) -> None:
        fault = _Failed.model_validate_json(body).error
        if fault:
            code = int(str(fault.code)) if str(fault.code).isdigit() else 0
            later = code == _TOO_MANY or code >= _SERVER_FAULT
            raise ProposerError(f"{self._where} answered with an error: {fault.message}", retryable=later)


def _text(message: _Message) -> str:
    if isinstance(message.content, list):
        return "".join(part.text for part in message.content)
    return message.content or message.refusal or ""
