"""A folder as the model: requests are written there, answers are awaited there.

Whoever reads Markdown and writes a file can answer, a person or any coding tool. File names hold a hash of id and
prompt: an answer to another question is never taken for this one's, and an answer that is already there, from a run
that was killed, is not waited for again.
"""

import hashlib
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from kernelwright.propose._clock import Clock
from kernelwright.propose._request import ProposerError, Reply, Request

END = "<!-- end of answer -->"
ANSWERED = "answered"
# How often the folder is looked at, and how long a file must stay as it is to count as written; longer if its last
# block is still open.
LOOK_SECONDS = 0.2
SETTLED_SECONDS = 2.0
OPEN_SECONDS = 20.0
LARGEST_BYTES = 4_000_000
_SAFE = re.compile(r"[^A-Za-z0-9._-]+")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)

_LETTER = """# Request {id}

Kind: {kind}. Language: {backend}.

Write the answer to `{answer}` in this folder: to another name first and then renamed, or with this as its last line:

    {end}

What is to be answered is everything below the line.

---

{prompt}"""


class Mailbox:
    """Writes each request into a folder and waits until its answer lies beside it."""

    def __init__(self, folder: Path, *, clock: Clock | None = None, patience: float | None = None) -> None:
        """`patience`: seconds to wait for an answer; None: as long as it takes."""
        self._folder = folder
        self._clock = clock or Clock()
        self._patience = patience
        try:
            (folder / ANSWERED).mkdir(parents=True, exist_ok=True)
            for place in (folder, folder / ANSWERED):
                tempfile.TemporaryFile(dir=place).close()
        except OSError as fault:
            what = f"{folder}: cannot be used as a mailbox: {fault.strerror}."
            raise ProposerError(what, "Name a folder that can be written to.") from fault

    def propose(self, request: Request) -> Reply:
        stem = _stem(request)
        begun = self._clock.now()
        text = self._kept(stem)
        if text is None:
            self._write(f"{stem}.request.md", _letter(request, f"{stem}.answer.md"))
            text = self._await(stem, begun)
            self._keep(stem)
        seconds = self._clock.now() - begun
        return Reply(
            text=text, model="mailbox", tokens_in=None, tokens_out=None, dollars=None, seconds=seconds, finish="stop"
        )

    def _kept(self, stem: str) -> str | None:
        """The answer to the very same request, given earlier."""
        path = self._folder / ANSWERED / f"{stem}.answer.md"
        return _without_end(_read(path)) if path.exists() else None

    def _write(self, name: str, text: str) -> None:
        """All at once: nobody ever sees half a request."""
        try:
            with tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False, encoding="utf-8") as file:
                file.write(text)
            # Others may be the ones to answer.
            os.chmod(file.name, 0o644)
            os.replace(file.name, self._folder / name)
        except OSError as fault:
            what = f"{self._folder}: the request cannot be written: {fault.strerror}."
            raise ProposerError(what, "Make room or name another folder.") from fault

    def _await(self, stem: str, begun: float) -> str:
        path = self._folder / f"{stem}.answer.md"
        seen: tuple[int, int] | None = None
        since = begun
        while True:
            stamp = _stamp(path)
            if stamp != seen:
                seen, since = stamp, self._clock.now()
            if stamp is not None:
                text = _read(path)
                if _finished(text, self._clock.now() - since):
                    return _without_end(text)
            self._check_patience(path, begun)
            self._clock.wait(LOOK_SECONDS)

    def _check_patience(self, path: Path, begun: float) -> None:
        if self._patience is not None and self._clock.now() - begun > self._patience:
            what = f"{path}: no answer within {self._patience:g} s."
            raise ProposerError(what, "Answer the request and resume, or be more patient.", retryable=True)

    def _keep(self, stem: str) -> None:
        """What was answered goes out of the way, and stays."""
        for name in (f"{stem}.request.md", f"{stem}.answer.md"):
            with suppress(OSError):  # the answer is in hand, and whoever gave it may have tidied up
                os.replace(self._folder / name, self._folder / ANSWERED / name)


def _stem(request: Request) -> str:
    content = f"{request.id}\n{request.prompt}".encode(errors="surrogatepass")
    return f"{_SAFE.sub('-', request.id)[:80]}-{hashlib.sha256(content).hexdigest()[:10]}"


def _letter(request: Request, answer: str) -> str:
    return _LETTER.format(
        id=request.id, kind=request.kind, backend=request.backend, answer=answer, end=END, prompt=request.prompt
    )


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as fault:
        raise ProposerError(f"{path}: cannot be read: {fault.strerror}.") from fault
    if len(raw) > LARGEST_BYTES:
        raise ProposerError(f"{path}: the answer is larger than {LARGEST_BYTES} bytes.", "Answer with one kernel.")
    return raw.decode("utf-8", errors="replace")


def _finished(text: str, unchanged: float) -> bool:
    """Whether an answer that has not changed for so long is whole."""
    if text.rstrip().endswith(END):
        return True
    is_open = len(_FENCE.findall(text)) % 2 == 1
    return bool(text.strip()) and unchanged >= (OPEN_SECONDS if is_open else SETTLED_SECONDS)


def _without_end(text: str) -> str:
    return text.rstrip().removesuffix(END).rstrip()
