"""A model file on this machine, run by llama.cpp: an extra, imported when it is used, in a process of its own."""

import importlib.util
import json
import random
import re
import select
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Any

from kernelwright.propose._clock import Clock
from kernelwright.propose._endpoint import Settings
from kernelwright.propose._gguf import context_of
from kernelwright.propose._request import ProposerError, Reply, Request

PACKAGE = "xllamacpp"
PROGRAM = Path(__file__).with_name("_llama.py")
# More is seldom needed, and every token of it takes memory from the start.
LARGEST_CONTEXT = 32_768
# Of the context, this share is left for the answer, and no answer is longer than so many tokens.
ANSWER_SHARE, LONGEST_ANSWER = 0.25, 4_096
LOOK_SECONDS = 0.1
LONGEST_REASON = 300
SEED_BITS = 31
# What llama.cpp puts before its messages: when, and how grave.
_STAMP = re.compile(r"^[\d.]+ [A-Z] +")


class LocalModel:
    """A GGUF file. One answer at a time: the machine is busy with one.

    Attributes:
        prompt_tokens: How long a prompt may be, so that there is room for an answer.
    """

    def __init__(
        self, path: Path, *, settings: Settings | None = None, seed: int = 0, clock: Clock | None = None
    ) -> None:
        """`seed`: with the request's id it decides the answer, on one machine."""
        context = min(context_of(path) or LARGEST_CONTEXT, LARGEST_CONTEXT)
        self._name = f"local/{path.name}"
        self._settings = settings or Settings()
        self._longest = self._settings.max_tokens or min(LONGEST_ANSWER, int(context * ANSWER_SHARE))
        self.prompt_tokens = max(1, context - self._longest)
        self._seed = seed
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._process = _Process(path, context, self._clock)

    def propose(self, request: Request) -> Reply:
        begun = self._clock.now()
        with self._lock:
            self._clock.wait(0)
            answer = self._process.ask(self._question(request))
        if "error" in answer:
            raise self._refused(answer["error"])
        choice, usage = answer["choices"][0], answer["usage"]
        return Reply(
            text=choice["message"].get("content") or "",
            model=self._name,
            tokens_in=usage["prompt_tokens"],
            tokens_out=usage["completion_tokens"],
            dollars=0.0,  # nobody is paid
            seconds=self._clock.now() - begun,
            finish=choice.get("finish_reason") or "unknown",
        )

    def _question(self, request: Request) -> dict[str, Any]:
        chance = random.Random(f"{self._seed} {request.id}")
        question = {
            "messages": [{"role": "user", "content": request.prompt}],
            "max_tokens": self._longest,
            "seed": chance.getrandbits(SEED_BITS),
            "cache_prompt": False,  # what was asked before must not change what is answered now
        }
        warmth = self._settings.temperature
        return question if warmth is None else {**question, "temperature": warmth}

    def _refused(self, error: dict[str, Any]) -> ProposerError:
        if "n_prompt_tokens" in error:
            lengths = f"the prompt has {error['n_prompt_tokens']} tokens, and the model reads {error['n_ctx']}"
            return ProposerError(f"{self._name}: {lengths}.", "Use a model that reads more.")
        return ProposerError(f"{self._name}: {error.get('message', error)}")


class _Process:
    """The program that holds the model, from outside. Ended when nobody needs it any more."""

    def __init__(self, path: Path, context: int, clock: Clock) -> None:
        if importlib.util.find_spec(PACKAGE) is None:
            what = f"local/{path} needs the package {PACKAGE}, which is not installed."
            raise ProposerError(what, "pip install 'kernelwright[local]'")
        self._path, self._clock = path, clock
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        self._folder = tempfile.TemporaryDirectory()  # of the process, which is ended too suddenly to tidy up
        self._program = subprocess.Popen(
            [sys.executable, "-P", str(PROGRAM), str(path), str(context), self._folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # an interrupt is for the run to obey
        )
        weakref.finalize(self, _end, self._program)
        self._hear("llama.cpp cannot load it", "Is the file whole, and is there memory for it?")

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        pipe = self._program.stdin
        assert pipe is not None
        if pipe.closed:
            raise ProposerError(f"{self._path}: the model's process was ended.", "Resume the run to start it again.")
        try:
            pipe.write(json.dumps(question).encode() + b"\n")
            pipe.flush()
        except OSError:
            pass  # it has ended; what is heard next says so
        return self._hear("the model's process has ended", "Is there enough memory? Resume the run to start it again.")

    def _hear(self, silence: str, fix: str) -> dict[str, Any]:
        """The next line. A process cannot be asked to stop in the middle of a prompt: it is ended."""
        pipe = self._program.stdout
        assert pipe is not None
        try:
            while not _readable(pipe.fileno(), LOOK_SECONDS):
                self._clock.wait(0)
        except BaseException:
            _end(self._program)
            raise
        line = pipe.readline()
        if not line.endswith(b"\n"):
            raise ProposerError(f"{self._path}: {silence}{self._why()}.", fix)
        self._forget_errors()
        heard: dict[str, Any] = json.loads(line)
        return heard

    def _forget_errors(self) -> None:
        """The process writes at the place that is set here: both have the same file open."""
        self._errors.seek(0)
        self._errors.truncate()

    def _why(self) -> str:
        """How it ended, and its first error since it was last heard of: those that follow are of its making."""
        code = self._program.wait()
        self._errors.seek(0)
        lines = map(str.strip, self._errors.read().decode("utf-8", errors="replace").split("\n"))
        first = _STAMP.sub("", next(filter(None, lines), ""))
        how = f" (signal {-code})" if code < 0 else ""
        return f"{how}: {first[:LONGEST_REASON].rstrip('.')}" if first else how


def _end(program: "subprocess.Popen[bytes]") -> None:
    """At once: it holds nothing but a model."""
    program.kill()
    program.wait()
    for pipe in (program.stdin, program.stdout):
        if pipe is not None:
            pipe.close()


def _readable(fd: int, seconds: float) -> bool:
    """By poll: `select` knows the first 1024 files alone."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
