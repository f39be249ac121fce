"""Standard headers compiled once: reading them again takes most of the time in which a small kernel is compiled.

Only what a text includes before anything else, and only headers of the standard library: then it means the same
whether they are read here or there. Done by g++ alone.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kernelwright.native._build_cache import cache_dir
from kernelwright.native._toolchain import cpu_identity, toolchain

KNOWN = frozenset(
    "algorithm array atomic bit cassert cfloat chrono climits cmath complex cstddef cstdint cstdio cstdlib cstring "
    "functional limits memory mutex numbers numeric thread tuple type_traits utility vector "
    "assert.h float.h limits.h math.h stddef.h stdint.h stdio.h stdlib.h string.h "
    "immintrin.h omp.h x86intrin.h".split()
)
INCLUDE = re.compile(r"\s*#\s*include\s*<([\w.]+)>\s*(?://.*)?")
SKIPPED = re.compile(r"\s*(?://.*)?")
HEADER = "first.h"
SECONDS = 60.0
# Compiled headers are large: so many are kept, and so many made in the life of a process.
MOST_KEPT, MOST_MADE = 24, 12
_met: Counter[Path] = Counter()


def leading(text: str) -> tuple[str, ...]:
    """The standard headers that a text begins with."""
    found = []
    for line in text.splitlines():
        match = INCLUDE.fullmatch(line)
        if match and match[1] in KNOWN:
            found.append(match[1])
        elif not SKIPPED.fullmatch(line):
            break
    return tuple(found)


def headers_dir() -> Path:
    return cache_dir() / "headers"


def options(text: str, flags: Sequence[str]) -> list[str]:
    """What to add to a compilation with these flags so that compiled headers are used, if they are there."""
    place = _place(leading(text), flags) / HEADER
    return ["-include", str(place)] if place.with_suffix(".h.gch").exists() else []


def met(text: str, flags: Sequence[str]) -> None:
    """Says that a text is to be compiled. Headers that come up again are compiled now."""
    headers = leading(text)
    place = _place(headers, flags)
    _met[place] += 1
    made = sum(times > 1 for times in _met.values())
    if headers and _met[place] == 2 and made <= MOST_MADE and "clang" not in toolchain().version:
        if not place.exists():
            _compile(headers, flags, place)
        _forget_oldest()


def _place(headers: tuple[str, ...], flags: Sequence[str]) -> Path:
    made_for = "\n".join((toolchain().version, cpu_identity(), *flags, *headers))
    return headers_dir() / hashlib.sha256(made_for.encode()).hexdigest()[:24]


def _compile(headers: tuple[str, ...], flags: Sequence[str], place: Path) -> None:
    """Compiles them; where that fails, texts are compiled as if nothing had been tried."""
    headers_dir().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=headers_dir(), prefix="new-") as name:
        path = Path(name) / "made" / HEADER
        path.parent.mkdir()
        path.write_text("".join(f"#include <{header}>\n" for header in headers))
        command = [str(toolchain().path), *flags, "-x", "c++-header", str(path), "-o", f"{path}.gch"]
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=SECONDS)
            os.rename(path.parent, place)
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(path.parent, ignore_errors=True)


def _forget_oldest() -> None:
    kept = sorted(headers_dir().iterdir(), key=lambda place: place.stat().st_mtime)
    for place in kept[:-MOST_KEPT]:
        shutil.rmtree(place, ignore_errors=True)
