"""Value families: what the judge does to drawn floats so that no single distribution can be gamed.

Every family keeps zeros zero (two step aside where there are more than chance puts there) and square matrices
symmetric if they were, so that triangular, symmetric, diagonal or masked inputs keep the structure an honest kernel
may rely on.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

# The share of elements that may be zero by chance: torch.rand gives one in sixteen million.
CHANCE = 1e-5

Family = Callable[[torch.Tensor], torch.Tensor | None]


def _rms(x: torch.Tensor) -> float:
    finite = x[torch.isfinite(x)].double()
    return float(finite.square().mean().sqrt()) if finite.numel() else 0.0


def _heavy(x: torch.Tensor) -> torch.Tensor | None:
    """Tails like a log-normal's: a few elements carry most of the mass."""
    scale = _rms(x)
    if not scale:
        return None
    wide = x.double()
    return (wide.sign() * torch.expm1(1.5 * wide.abs() / scale) * scale).to(x.dtype)


def _spikes(x: torch.Tensor) -> torch.Tensor | None:
    """One element in a thousand, chosen by its own value, grows a thousandfold: sub-sampling misses it."""
    size = x.abs().flatten().double()
    sample = size[torch.randperm(size.numel())[:4096]]
    threshold = torch.quantile(sample, 0.999)
    return torch.where(x.abs().double() >= threshold, x * 1000, x)


def _moved(x: torch.Tensor, new: torch.Tensor) -> torch.Tensor | None:
    """The new values; zeros stay zero where they are few enough to have come by chance, else there are none."""
    zero = x == 0
    return torch.where(zero, x, new) if int(zero.sum()) <= CHANCE * x.numel() else None


def _shifted(x: torch.Tensor) -> torch.Tensor | None:
    return _moved(x, x + 4 * _rms(x))


def _below(x: torch.Tensor) -> torch.Tensor | None:
    """Everything far below zero: what starts from zero is never reached."""
    return _moved(x, -64 * (x.abs() + 1.5 * _rms(x)))


def _ends(x: torch.Tensor) -> torch.Tensor | None:
    """The first and last elements of every row carry nearly everything; in square matrices, the corners."""
    changed = x.clone()
    if _square(x):
        changed[..., 0, 0] *= 1000
        changed[..., -1, -1] *= 1000
        return changed
    edge = min(2, x.shape[-1])
    changed[..., :edge] *= 1000
    if x.shape[-1] >= 2 * edge:
        changed[..., -edge:] *= 1000
    for corner in (0, -1):  # and most of all the very first and the very last
        changed[(corner,) * x.dim()] *= 30
    return changed


def _mixed(x: torch.Tensor) -> torch.Tensor | None:
    """Rows of very different size, small ones first: what a look at the beginning would misjudge."""
    if x.dim() < 2 or _square(x):
        return None
    rows = x.shape[0]
    scale = torch.logspace(-2, 1.5, rows, dtype=torch.float64) * (0.5 + torch.rand(rows, dtype=torch.float64))
    return (x.double() * scale.view(-1, *[1] * (x.dim() - 1))).to(x.dtype)


def _plateau(x: torch.Tensor) -> torch.Tensor | None:
    """A third of the elements nearly equal and large: no few stand out."""
    scale = _rms(x)
    return torch.where(x.abs() >= scale, x.sign() * scale * 5 + x / 2, x / 10) if scale else None


def _square(x: torch.Tensor) -> bool:
    return x.dim() >= 2 and x.shape[-1] == x.shape[-2]


def _sorted(x: torch.Tensor) -> torch.Tensor | None:
    return x.sort(dim=-1).values if x.dim() else None


FAMILIES: dict[str, Family] = {
    "given": lambda x: x,
    "heavy": _heavy,
    "spikes": _spikes,
    "large": lambda x: x * 64,
    "small": lambda x: x / 64,
    "shifted": _shifted,
    "below": _below,
    "ends": _ends,
    "mixed": _mixed,
    "plateau": _plateau,
    "constant": lambda x: torch.full_like(x, _rms(x)),
    "sorted": _sorted,
}


def apply_family(name: str, tensors: list[torch.Tensor]) -> list[torch.Tensor] | None:
    """The tensors in that family; None where it does not apply to them."""
    family = FAMILIES[name]
    changed: list[torch.Tensor] = []
    touched = name == "given"
    for tensor in tensors:
        new = family(tensor) if tensor.is_floating_point() and tensor.numel() > 1 else None
        if new is None and name in ("shifted", "below") and tensor.is_floating_point():
            return None
        touched |= new is not None
        new = tensor if new is None else new
        changed.append(_like(new, tensor))
    return changed if touched else None


def _like(new: torch.Tensor, old: torch.Tensor) -> torch.Tensor:
    """The new values in the old layout."""
    if new.stride() == old.stride() and new.is_contiguous():
        return new
    return old.copy_(new)
