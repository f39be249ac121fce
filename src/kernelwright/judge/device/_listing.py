"""What a candidate's GPU kernels were compiled to, listed in a cage: SASS where there is a disassembler, else PTX."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelwright import native
from kernelwright.backends import KernelCode, kernel_counts, read_ptx, read_sass
from kernelwright.judge._builder import Builder
from kernelwright.judge._channel import Message
from kernelwright.judge._status import InfraError
from kernelwright.judge.device._programs import installed

PROGRAM = "cuobjdump"
OPTIONS = ("-sass", "-res-usage")
TO_PTX = ("-x", "cu", "-ptx", "-O3", "-std=c++17")
# A cage has no /dev/stdout.
PRINTED = ("sh", "-c", '"$@" -o kernel.ptx && cat kernel.ptx', "nvcc")
# What is looked at of a compiled Triton kernel, the better first.
ENDINGS = (".cubin", ".ptx")
# A worker hands over no more files than this.
MOST_FILES, LARGEST_PTX = 64, 8 << 20
NO_KERNELS = "the candidate has compiled no kernel of its own"


@dataclass(frozen=True)
class Compiled:
    """A piece of compiled code from Triton's cache: `.cubin` or `.ptx`."""

    name: str
    ending: str
    content: bytes


def taken_apart(files: Any, fd: int) -> list[Compiled]:
    """What a worker said lies in a row behind a descriptor. Raises as nonsense does."""
    found: list[Compiled] = []
    at = 0
    for file in files:
        name, ending, size = str(file["name"])[:300], str(file["ending"]), int(file["nbytes"])
        if size < 0:
            raise ValueError("a file of negative length")
        found.append(Compiled(name, ending, os.pread(fd, size, at)))
        at += size
    return found


def disassembler() -> str | None:
    """cuobjdump: of the toolkit, or the one that Triton brings along."""
    return installed(PROGRAM) or _tritons()


def _tritons() -> str | None:
    triton = importlib.util.find_spec("triton")
    if triton is None or triton.origin is None:
        return None
    return shutil.which(PROGRAM, path=str(Path(triton.origin).parent / "backends" / "nvidia" / "bin"))


def counts_of(builder: Builder, library: Path) -> dict[str, int]:
    """Signs in the kernels of a library. Raises InfraError where there is no disassembler, or no kernel."""
    program = disassembler()
    kernels = read_sass(builder.list_code(library, (program, *OPTIONS))) if program else []
    if not kernels:
        raise InfraError(NO_KERNELS if program else f"{PROGRAM} is not installed")
    return kernel_counts(kernels)


def triton_counts(kept: list[Compiled]) -> dict[str, dict[str, int]]:
    """Signs in what Triton compiled, from its PTX, which needs no program; nothing where that may not be all of it."""
    texts = [piece.content.decode(errors="replace") for piece in kept if piece.ending == ".ptx"]
    kernels = [code for text in texts for code in read_ptx(text)]
    whole = kernels and len(texts) < MOST_FILES and sum(map(len, texts)) < LARGEST_PTX
    return {"triton": kernel_counts(kernels)} if whole else {}


class Lister:
    """Lists what one candidate compiled. `sources`: the CUDA that it had compiled, with the libraries made of it."""

    def __init__(self, builder: Builder, libraries: list[Path], sources: list[Message], kept: list[Compiled]) -> None:
        self._builder, self._libraries, self._sources, self._kept = builder, libraries, sources, kept

    def code(self) -> tuple[str, list[KernelCode]]:
        """The program that listed them, and the kernels. Raises InfraError where there is nothing to list or read."""
        if not self._libraries and not self._kept:
            raise InfraError(NO_KERNELS)
        program = disassembler()
        if program is None:
            return "PTX", [code for text in self._ptx() for code in read_ptx(text)]
        texts = list(self._sass(program))
        return PROGRAM, [code for text in texts for code in read_sass(text)]

    def _sass(self, program: str) -> Iterator[str]:
        """Not every library has code for a device; if none of them has, that is told."""
        command = (program, *OPTIONS)
        refused: list[InfraError] = []
        for library in self._libraries:
            try:
                yield self._builder.list_code(library, command)
            except InfraError as error:
                refused.append(error)
        for piece in self._kept:
            if piece.ending == ".cubin":
                yield self._listed(piece.content, command)
        if refused and len(refused) == len(self._libraries):
            raise refused[0]

    def _ptx(self) -> Iterator[str]:
        for source in self._sources:
            chosen = [] if any(flag.startswith("-arch=") for flag in source["flags"]) else [_architecture()]
            yield self._listed(
                source["text"].encode(), (*PRINTED, str(native.nvcc().path), *TO_PTX, *chosen, *source["flags"])
            )
        for piece in self._kept:
            if piece.ending == ".ptx":
                yield piece.content.decode(errors="replace")

    def _listed(self, content: bytes, command: tuple[str, ...]) -> str:
        with tempfile.NamedTemporaryFile(prefix="kernelwright-") as file:
            file.write(content)
            file.flush()
            return self._builder.list_code(Path(file.name), command)


def _architecture() -> str:
    return f"-arch={native.chosen_architecture()}"
