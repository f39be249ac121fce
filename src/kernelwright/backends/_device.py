"""Why candidates for a GPU are not run on one, in words that are true on this machine."""

from kernelwright import native


def without_device() -> str:
    """The reason, as the end of a sentence."""
    here = native.gpu()
    return f"this version does not judge on the {here.name} here" if here else "this machine has no GPU"


def more() -> str:
    """What it would take to do the rest."""
    return "" if native.gpu() else "judge on a machine with an NVIDIA GPU and its driver (`nvidia-smi` answers there)"
