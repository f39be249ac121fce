"""What the synthesiser says when it cannot write a kernel."""

from kernelwright.propose._request import ProposerError

FIX = "Name a model with --model, or take this operator out of the task."


class CannotWriteError(ProposerError):
    """One sentence that names what is not known how to write."""

    def __init__(self, what: str, fix: str = FIX) -> None:
        super().__init__(what, fix)
