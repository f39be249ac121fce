"""Value families: what the judge does to drawn floats so that no single distribution can be gamed.

Every family keeps zeros zero (two step aside where there are more than chance puts there) and square matrices
symmetric if they were, so that triangular, symmetric, diagonal or masked inputs keep the structure an honest kernel
may rely on.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

SAMPLE = 4096
# Of larger tensors the size is estimated: it only has to be about right, and the same when they are drawn again.
SIZED = 1 << 16
# Rows are sorted as far as this many elements go.
MOST_SORTED = 1 << 26
# The share of elements that may be zero by chance: torch.rand gives one in sixteen million.
CHANCE = 1e-5

Family = Callable[[torch.Tensor], torch.Tensor | None]


def _rms(x: torch.Tensor) -> float:
    if x.numel() > SIZED:
        x = x.reshape(-1)[torch.randint(x.numel(), (SIZED,), device=x.device)]
    finite = torch.isfinite(x)
    squares = torch.where(finite, x, 0).double().square_()
    return float((squares.sum() / finite.sum().clamp(min=1)).sqrt())


def _heavy(x: torch.Tensor) -> torch.Tensor | None:
    """Tails like a log-normal's: a few elements carry most of the mass."""
    scale = _rms(x)
    if not scale:
        return None
    grown = _wide(x).abs_().mul_(1.5 / scale).expm1_().mul_(scale)
    return torch.copysign(grown, x).to(x.dtype)


def _spikes(x: torch.Tensor) -> torch.Tensor | None:
    """One element in a thousand, chosen by its own value, grows a thousandfold: sub-sampling misses it."""
    size = x.abs().flatten()
    sample = size if size.numel() <= SAMPLE else size[torch.randint(size.numel(), (SAMPLE,), device=x.device)]
    threshold = torch.quantile(sample.double(), 0.999)
    return torch.where(x.abs() >= threshold, x * 1000, x)


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
    noise = torch.rand(rows, dtype=torch.float64, device=x.device)
    scale = torch.logspace(-2, 2, rows, dtype=torch.float64, device=x.device) * (0.5 + noise)
    wide = _wide(x)
    return wide.mul_(scale.to(wide.dtype).view(-1, *[1] * (x.dim() - 1))).to(x.dtype)


def _plateau(x: torch.Tensor) -> torch.Tensor | None:
    """A third of the elements nearly equal and large: no few stand out."""
    scale = _rms(x)
    return torch.where(x.abs() >= scale, x.sign() * scale * 5 + x / 2, x / 10) if scale else None


def _wide(x: torch.Tensor) -> torch.Tensor:
    """A copy that can be calculated with: single precision, or double if it is that."""
    return x.to(torch.promote_types(x.dtype, torch.float32), copy=True)


def _square(x: torch.Tensor) -> bool:
    return x.dim() >= 2 and x.shape[-1] == x.shape[-2]


def _sorted(x: torch.Tensor) -> torch.Tensor | None:
    if x.dim() == 0:
        return None
    if x.numel() <= MOST_SORTED or x.dim() == 1:
        return x.sort(dim=-1).values
    rows = x.reshape(-1, x.shape[-1]).clone()
    first = rows[: max(1, MOST_SORTED // x.shape[-1])]
    first.copy_(first.sort(dim=-1).values)
    return rows.view(x.shape)


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
