"""Whether candidates for a GPU can be judged on one here, and if not why, in words that are true on this machine."""

import functools
import importlib.util
import re
from pathlib import Path

from kernelwright import native


def usable_gpu() -> native.Gpu | None:
    """The GPU that candidates are judged on, if there is one and torch can use it."""
    here = native.gpu()
    return here if here and torch_has_cuda() else None


@functools.cache
def torch_has_cuda() -> bool:
    """Whether the torch installed here is built for CUDA. Read, not imported: that takes seconds."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return False
    text = (Path(found.origin).parent / "version.py").read_text()
    return re.search(r"^cuda\b[^=\n]*= *['\"]", text, re.MULTILINE) is not None


def without_device() -> str:
    """The reason, as the end of a sentence."""
    here = native.gpu()
    if here is None:
        return "this machine has no GPU"
    return f"the torch installed here is built without CUDA and cannot use the {here.name}"


def more() -> str:
    """What it would take to do the rest."""
    if usable_gpu():
        return ""
    if native.gpu():
        return "install a torch built for CUDA"
    return "judge on a machine with an NVIDIA GPU and its driver (`nvidia-smi` answers there)"
