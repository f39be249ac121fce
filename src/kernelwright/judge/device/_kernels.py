"""Whose kernels ran? By their names, as the driver's own tracing gives them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kernelwright.judge._status import Rejection, Status

# Names that NVIDIA's libraries and torch give their kernels, and Inductor those it generates.
LIBRARY = re.compile(
    r"at::native|at_cuda_detail|c10::|cutlass|cublas|cudnn|cusparse|cufft|cusolver|thrust::|nvjet|flash_fwd|flash_bwd|"
    r"pytorch_flash|fmha_|^(void )?(gemv|gemm|dot_kernel|reduce_1Block|splitKreduce)|implicit_convolve|"
    r"precomputed_convolve|"
    r"^(ampere|volta|turing|hopper|maxwell|sm\d\d)_|xmma_|_cudnn|elementwise_kernel|winograd|"
    r"^triton_(poi|red|per|tem|unk|mm|for)_"
)
GEMM = re.compile(
    r"gemm|gemv|nvjet|xmma|cutlass|convolve|conv|winograd|dot_kernel|splitKreduce|fmha|flash", re.IGNORECASE
)
MOVES = re.compile(r"^Mem(cpy|set)")
MOST_SHARE, MOST_GEMM_SHARE = 0.5, 0.02


@dataclass(frozen=True)
class Work:
    """Seconds on the device in one call, by who did the work."""

    own: dict[str, float]
    library: dict[str, float]
    moves: float

    @classmethod
    def of(cls, kernels: dict[str, float]) -> Work:
        computing = {name: seconds for name, seconds in kernels.items() if not MOVES.match(name)}
        library = {name: seconds for name, seconds in computing.items() if LIBRARY.search(name)}
        own = {name: seconds for name, seconds in computing.items() if name not in library}
        return cls(own, library, sum(kernels.values()) - sum(computing.values()))

    @property
    def share(self) -> float:
        """The candidate's part of the computing."""
        mine, theirs = sum(self.own.values()), sum(self.library.values())
        return mine / (mine + theirs) if mine + theirs else 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "own_ms": {name: seconds * 1e3 for name, seconds in self.own.items()},
            "library_ms": {name: seconds * 1e3 for name, seconds in self.library.items()},
            "moves_ms": self.moves * 1e3,
        }


def judge_work(policy: str, work: Work) -> None:
    """Raises where libraries did what the kernels were meant to do."""
    if policy == "allowed":
        return
    total = sum(work.own.values()) + sum(work.library.values())
    gemm = sum(seconds for name, seconds in work.library.items() if GEMM.search(name))
    theirs = sum(work.library.values()) - (gemm if policy == "gemm-only" else 0.0)
    names = ", ".join(sorted(work.library, key=lambda name: -work.library[name])[:3])
    if total and (theirs > MOST_SHARE * total or (policy == "forbidden" and gemm > MOST_GEMM_SHARE * total)):
        message = (
            f"leaves its work to libraries: {100 * (theirs or gemm) / total:.0f} % of the time is in {names[:300]}"
        )
        raise Rejection(Status.LIBRARY_ONLY, message, **work.to_json())
