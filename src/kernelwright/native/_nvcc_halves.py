"""The two halves of an nvcc compilation, host and device, side by side.

nvcc reads a file once for the host and once for the device, one after the other; with torch's headers each takes
seconds. The halves meet only in the last step, and in a name for the file that both must use.
"""

import hashlib
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from kernelwright.native._language import Command

NEEDED = ("PATH", "LD_LIBRARY_PATH", "CICC_PATH", "NVVMIR_LIBRARY_DIR")
NAMING = "--gen_module_id_file"
_VARIABLE = re.compile(r"(\w+)=(.*)")
_PREPROCESSED = re.compile(r'"([^"]+\.ii)"')
_NO_WORD = re.compile(r"\W")


@dataclass(frozen=True)
class Halves:
    """What to run at the same time, what to run then, and files that must be there before."""

    first: Sequence[Command]
    then: Sequence[Command] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def halves(command: Command, unit: str) -> Halves:
    """An nvcc command that compiles `unit`, taken apart; or whole, where nvcc would not do it in the known way."""
    settings, steps = _dry_run(command)
    parsing = [line for line in steps if line.startswith("cudafe++ ") and NAMING in line]
    read = [f'-o "{name}"' for line in parsing for name in _PREPROCESSED.findall(line)]
    reading = [line for line in steps if " -E " in line and any(name in line for name in read)]
    last = [line for line in steps if " -c " in line and ".cudafe1.cpp" in line]
    if not len(parsing) == len(reading) == len(last) == 1 or "/" in unit:
        return Halves([command])
    host = [*reading, parsing[0].replace(f"{NAMING} ", "")]
    device = [line for line in steps if line not in (*reading, *parsing, *last)]
    name = {f"{PurePosixPath(unit).stem}.module_id": _name(command, unit)}
    return Halves([_script(settings, host), _script(settings, device)], [_script(settings, last)], name)


def _dry_run(command: Command) -> tuple[str, list[str]]:
    """The variables that nvcc would set, as lines of a shell, and the programs it would run with files kept here."""
    asked = subprocess.run([*command, "--keep", "--dryrun"], capture_output=True, text=True, timeout=30, check=False)
    lines = [line.removeprefix("#$ ").strip() for line in asked.stderr.splitlines() if line.startswith("#$ ")]
    found = {match[1]: match[2] for match in map(_VARIABLE.fullmatch, lines) if match}
    settings = "\n".join(f"export {name}={shlex.quote(found[name].strip())}" for name in NEEDED if name in found)
    steps = [line for line in lines if not _VARIABLE.fullmatch(line) and not line.startswith("rm ")]
    return settings, [] if asked.returncode else steps


def _name(command: Command, unit: str) -> str:
    """What both halves call the file, in nvcc's own form."""
    digest = hashlib.sha256("\n".join(command).encode()).hexdigest()[:8]
    return f"_{digest}_{len(unit)}_{_NO_WORD.sub('_', unit)}_kernelwright"


def _script(settings: str, lines: list[str]) -> Command:
    return ["sh", "-e", "-c", "\n".join((settings, *lines))]
