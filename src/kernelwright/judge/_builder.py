"""Compiles what candidates ask for, in a cage, and remembers it by content."""

from __future__ import annotations

import os
import time
from pathlib import Path

from kernelwright import backends, native
from kernelwright.judge import _kernel
from kernelwright.judge._channel import ChannelError, Message, Silent
from kernelwright.judge._limits import Limits
from kernelwright.judge._process import Template, Worker
from kernelwright.judge._sandbox import Cage
from kernelwright.judge._status import InfraError, OutOfReach, Rejection, Status

ROLE = "build"
LARGEST_LIBRARY = 256 << 20
LARGEST_LISTING = 64 << 20
MOST_SERVED = 1024


class Builder:
    """Answers a worker's request to compile.

    `seconds` is what compiling has taken since it was last reset; `served`, the libraries handed out, by inode.
    """

    def __init__(self, template: Template, *, limits: Limits, cache: native.BuildCache) -> None:
        self._template, self._limits, self._cache = template, limits, cache
        self.seconds = 0.0
        self.builds = 0
        self.served: dict[int, Path] = {}

    def serve(self, request: Message) -> tuple[Message, tuple[int, ...]]:
        start = time.perf_counter()
        source = _source(request)
        try:
            path = self.compile(source)
            fd = _sealed(path)
            self._note(os.fstat(fd).st_ino, path)
            return {"op": "built"}, (fd,)
        except native.ToolchainError as error:
            fix = backends.get(source.backend).available().fix
            raise OutOfReach(f"the candidate needs the backend {source.backend}: {error.headline}", fix) from error
        except native.CompileError as error:
            return {"op": "failed", "message": error.headline, "log": error.log}, ()
        finally:
            self.seconds += time.perf_counter() - start

    def compile(self, source: native.Source) -> Path:
        """The library of a text, compiled now if it never was."""
        return self._cache.get(source, self._build)

    def _note(self, inode: int, path: Path) -> None:
        """Remembers what was handed out; more than any living worker can hold need not be kept."""
        self.served.pop(inode, None)
        self.served[inode] = path
        while len(self.served) > MOST_SERVED:
            del self.served[next(iter(self.served))]

    def _build(self, source: native.Source, target: Path) -> None:
        self.builds += 1
        native.expect(source)
        worker = self._worker()
        library = os.memfd_create("library")
        try:
            _expect_built(self._order(worker, source, library))
            _copy(library, target)
        finally:
            worker.finish()
            os.close(library)

    def make_ready(self) -> None:
        """Has a worker forked while something else goes on: that takes longer than a small library's listing."""
        self._template.fork_ahead(ROLE, 1, cage=self._cage())

    def _worker(self) -> Worker:
        return self._template.fork(ROLE, cage=self._cage())

    def _cage(self) -> Cage:
        return Cage(
            namespaces=self._template.isolation.namespaces,
            memory_bytes=self._limits.memory_bytes,
            disk_bytes=self._limits.disk_bytes,
            programs=True,
            folders=_toolkits(),
        )

    def list_code(self, library: Path, command: tuple[str, ...]) -> str:
        """What a program prints about a library, in a cage: the library was made from a candidate's text."""
        worker = self._worker()
        text = os.memfd_create("listing")
        try:
            with library.open("rb") as code:
                order = {"op": "list", "command": list(command), "timeout": self._limits.build_s}
                answer = worker.ask(order, (code.fileno(), text), timeout=self._limits.build_s + 5)
            if answer.get("op") != "listed":
                raise InfraError(f"{command[0]} failed: {str(answer.get('message', '')).strip()[:200]}")
            return os.pread(text, LARGEST_LISTING, 0).decode(errors="replace")
        except ChannelError as error:
            raise InfraError(f"{command[0]} gave no answer: {error}") from error
        finally:
            worker.dismiss()
            os.close(text)

    def _order(self, worker: Worker, source: native.Source, library: int) -> Message:
        text = {"language": source.language, "text": source.text, "flags": list(source.flags)}
        settings = native.nvcc_settings() | {"KERNELWRIGHT_CACHE": str(native.cache_dir().resolve())}
        allowed = self._limits.build_s * native.language_of(source).patience
        order = {"op": "compile", "source": text, "timeout": allowed + 5, "settings": settings}
        try:
            return worker.ask(order, (library,), timeout=allowed)
        except Silent as error:
            message = f"compiling took more than {allowed:g} s"
            raise Rejection(Status.TIMEOUT, message, stage="build") from error
        except ChannelError as error:
            raise native.CompileError("the compiler was stopped: it ran out of memory or crashed") from error


def _toolkits() -> tuple[str, ...]:
    """Compilers that lie outside the system's own directories, ours among them, and headers compiled before."""
    folders = (native.toolkit_folder(), native.tools_dir(), native.headers_dir())
    return tuple(str(folder.resolve()) for folder in folders if folder and folder.is_dir())


def _sealed(path: Path) -> int:
    """The library in memory of its own that nobody can change: its inode tells the candidate's code from all other."""
    fd = os.memfd_create("kernel", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, path.read_bytes())
    _kernel.seal(fd)
    return fd


def _source(request: Message) -> native.Source:
    asked = request.get("source")
    try:
        assert isinstance(asked, dict)
        text, flags = asked["text"], tuple(asked["flags"])
        assert isinstance(text, str)
        assert all(isinstance(flag, str) for flag in flags)
        return native.Source(language=str(asked["language"]), text=text, flags=flags)
    except (AssertionError, KeyError, TypeError) as error:
        raise Rejection(Status.TAMPER, "asked for a compilation in a form the library never uses") from error


def _expect_built(answer: Message) -> None:
    if answer.get("op") != "built":
        raise native.CompileError(str(answer.get("message", "")).split("\n")[0], log=str(answer.get("log", "")))


def _copy(library: int, target: Path) -> None:
    size = os.fstat(library).st_size
    if size > LARGEST_LIBRARY:
        raise native.CompileError(f"the library is {size >> 20} MiB, more than {LARGEST_LIBRARY >> 20} allowed")
    target.write_bytes(os.pread(library, size, 0))
