"""What can go wrong between source text and a finished call.

Every error pickles whole, because the process that compiles is not always the one that asked.
"""


class CompileError(Exception):
    """The text did not become a library. `log` is the compiler's whole output, empty if it never ran."""

    def __init__(self, headline: str, log: str = "") -> None:
        super().__init__(headline, log)
        self.headline = headline
        self.log = log

    def __str__(self) -> str:
        says_more = self.log.strip() not in ("", self.headline)
        return f"{self.headline}\n{self.log.rstrip()}" if says_more else self.headline


class ToolchainError(CompileError):
    """There is no usable compiler; the message says how to get one."""


class CudaError(RuntimeError):
    """The CUDA runtime reported an error when a kernel was launched."""


class NativeCallError(TypeError):
    """The arguments do not fit the C function; raised before anything native runs."""


class SyclError(RuntimeError):
    """The device did not run a SYCL kernel to its end."""


def from_log(log: str) -> CompileError:
    """The error whose headline is the first line a compiler or linker complained on."""
    lines = [line for line in log.splitlines() if line.strip()]
    complaints = (line for line in lines if "error:" in line or "undefined reference" in line)
    headline = next(complaints, lines[0] if lines else "the compiler failed and said nothing")
    return CompileError(headline.strip(), log)
