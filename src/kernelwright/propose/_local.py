"""A model file on this machine, run by llama.cpp: an extra, imported when it is used."""

import threading
import time
from pathlib import Path
from typing import Any

from kernelwright.propose._endpoint import Settings
from kernelwright.propose._request import ProposerError, Reply, Request

MAGIC = b"GGUF"
# What the file was trained with.
WHOLE_CONTEXT = 0


class LocalModel:
    """A GGUF file. One answer at a time: the model's state is shared."""

    def __init__(self, path: Path, *, settings: Settings | None = None) -> None:
        _check(path)
        self._path = path
        self._settings = settings or Settings()
        self._lock = threading.Lock()
        self._model = _load(path)

    def propose(self, request: Request) -> Reply:
        begun = time.monotonic()
        with self._lock:
            answer = self._ask(request.prompt)
        choice, usage = answer["choices"][0], answer.get("usage", {})
        return Reply(
            text=choice["message"]["content"] or "",
            model=f"local/{self._path.name}",
            tokens_in=usage.get("prompt_tokens"),
            tokens_out=usage.get("completion_tokens"),
            dollars=0.0,  # nobody is paid
            seconds=time.monotonic() - begun,
            finish=choice.get("finish_reason") or "unknown",
        )

    def _ask(self, prompt: str) -> Any:
        chosen = {"max_tokens": self._settings.max_tokens, "temperature": self._settings.temperature}
        options = {option: value for option, value in chosen.items() if value is not None}
        try:
            return self._model.create_chat_completion([{"role": "user", "content": prompt}], **options)
        except ValueError as fault:  # the prompt is longer than the model can read
            raise ProposerError(f"{self._path}: {fault}", "Ask for shorter prompts, or use a larger model.") from fault


def _check(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as fault:
        raise ProposerError(f"{path}: cannot be read: {fault.strerror}.", "Name a GGUF file.") from fault
    if magic != MAGIC:
        raise ProposerError(f"{path}: this is not a GGUF file.", "Download the model in GGUF form.")


def _load(path: Path) -> Any:
    try:
        from llama_cpp import Llama
    except ImportError as missing:
        what = f"local/{path} needs the package llama-cpp-python, which is not installed."
        raise ProposerError(what, "pip install 'kernelwright[local]'") from missing
    try:
        return Llama(model_path=str(path), n_ctx=WHOLE_CONTEXT, verbose=False)
    except (ValueError, RuntimeError, OSError) as fault:
        raise ProposerError(f"{path}: llama.cpp cannot load it: {fault}.", "Is the file whole?") from fault
