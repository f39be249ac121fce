"""Plain PyTorch in Python: a candidate with no native code. Always there, since the program itself is."""

import platform

from kernelwright.backends._backend import Availability, Backend
from kernelwright.backends._names import Names, parse
from kernelwright.backends._registry import register

_NATIVE = ("kernelwright.native.", "torch.utils.cpp_extension.")


@register
class Python(Backend):
    """Python calling PyTorch; also what a candidate counts as when no other language claims it."""

    name = "python"

    def available(self) -> Availability:
        return Availability(True, f"Python {platform.python_version()}")

    def recognises(self, candidate_text: str) -> bool:
        tree = parse(candidate_text)
        return tree is not None and not any(origin.startswith(_NATIVE) for origin, _ in Names(tree).calls(tree))
