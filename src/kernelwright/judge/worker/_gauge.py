"""Is a result right? The same questions as the judge asks of numbers in its own memory, asked by torch on a device.

Error is measured against the oracle in units of the local size of the answer (see `_compare.py`), in double precision
and in pieces, so that a result of any size needs little room beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from kernelwright.judge._compare import EXACT, ROUNDOFF, Deviation, allowed, smallest_scale
from kernelwright.judge._nulls import longer_axes
from kernelwright.judge._ruler import BLOCK
from kernelwright.judge.worker import _fused
from kernelwright.judge.worker._tensors import dtype_name

PIECE = BLOCK << 14
# An answer in pieces: from where, to where.
Guess = Callable[[int, int], torch.Tensor]


@dataclass(frozen=True)
class Facts:
    """What is known of an answer once it has been looked at: small, and kept when the answer itself is not."""

    scales: torch.Tensor | None
    finite: bool
    sound: bool
    own: Deviation


class Gauge:
    """The right answer for one output, ready to be held against results."""

    def __init__(self, right: torch.Tensor, dtype: str, shape: list[int], facts: Facts | None = None) -> None:
        """`right` is the oracle's; the rest is the form of the task's own answer, and what is known of it."""
        self.dtype, self.shape = dtype, shape
        self.exact = dtype not in ROUNDOFF
        self.right = right.reshape(-1)
        self.facts = facts or self._looked_at()

    @classmethod
    def of(cls, right: torch.Tensor, plain: torch.Tensor) -> Gauge:
        """With what the reference's own answer, in the task's precision, shows."""
        gauge = cls(right, dtype_name(plain.dtype), list(plain.shape))
        if not gauge.exact:
            own = gauge.measure(plain)
            sound = math.isfinite(own.peak) if gauge.facts.finite else gauge._is_sound(plain)
            gauge.facts = replace(gauge.facts, own=own, sound=sound)
        return gauge

    def like(self, other: Facts) -> Gauge:
        """This answer, with the reference's own error taken from another of the same kind."""
        self.facts = replace(self.facts, own=other.own, sound=other.sound)
        return self

    def _looked_at(self) -> Facts:
        if self.exact:
            return Facts(None, True, True, EXACT)
        finite = bool(torch.isfinite(self.right.sum())) or bool(torch.isfinite(self.right).all())
        return Facts(_scales(self.right, self.dtype), finite, True, EXACT)

    @property
    def own(self) -> Deviation:
        return self.facts.own

    @property
    def sound(self) -> bool:
        """Whether the reference can compute this at all in its precision: finite where the oracle is."""
        return self.facts.sound

    def _is_sound(self, plain: torch.Tensor) -> bool:
        return all(
            bool((torch.isfinite(mine) == torch.isfinite(right)).all()) and not bool(torch.isnan(mine).any())
            for mine, right, _ in self._pieces(plain)
        )

    def budget(self, reduction: float, precision: str) -> Deviation:
        return EXACT if self.exact else allowed(self.own, self.dtype, reduction, precision)

    @property
    def nbytes(self) -> int:
        return self.right.numel() * self.right.element_size()

    def _pieces(self, result: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]]:
        flat = result.reshape(-1)
        for start in range(0, flat.numel(), PIECE):
            known = self.facts.scales
            scales = None if known is None else known[start // BLOCK : (start + PIECE) // BLOCK]
            yield flat[start : start + PIECE], self.right[start : start + PIECE], scales

    def measure(self, result: torch.Tensor) -> Deviation:
        if result.numel() == 0:
            return EXACT
        if self.exact:
            same = all(torch.equal(mine, right) for mine, right, _ in self._pieces(result))
            return EXACT if same else Deviation(math.inf, math.inf)
        if self._at_once(result):
            return self._total(result.numel(), *_fused.deviation(result.reshape(-1), self.right, self._scales))
        totals, peaks = [], []
        for mine, right, scales in self._pieces(result):
            errors = self._errors(mine, right, scales)
            totals.append(torch.dot(errors, errors))
            peaks.append(errors.max())
        total, peak = float(torch.stack(totals).sum()), float(torch.stack(peaks).max())
        return self._total(result.numel(), total, peak)

    def _at_once(self, *others: torch.Tensor) -> bool:
        """Whether one pass on the device will do."""
        return self.right.is_cuda and all(values.is_contiguous() for values in (self.right, *others))

    @property
    def _scales(self) -> torch.Tensor:
        assert self.facts.scales is not None
        return self.facts.scales

    def _total(self, number: int, total: float, peak: float) -> Deviation:
        return Deviation(math.sqrt(total / number) if total >= 0 else math.nan, peak)

    def _errors(self, mine: torch.Tensor, right: torch.Tensor, scales: torch.Tensor | None) -> torch.Tensor:
        assert scales is not None
        got = mine.double()
        errors = (got - right).abs_()
        errors /= _units(right, scales)
        if not self.facts.finite:
            met = (got == right) | (got.isnan() & right.isnan())
            special = torch.where(met, 0.0, math.inf).to(errors)
            errors = torch.where(torch.isfinite(right), errors, special)
        return errors

    def used(self, result: torch.Tensor, budget: Deviation) -> float:
        """1 is the whole budget; NaN counts as infinitely over."""
        found = self.measure(result)
        if self.exact:
            return 0.0 if found.within(budget) else math.inf
        if result.numel() == 0:
            return 0.0
        parts = [found.rms / budget.rms, found.peak / budget.peak]
        return max(parts) if all(part == part for part in parts) else math.inf

    def accepts(self, guess: Guess, budget: Deviation) -> bool:
        """Whether an answer that is made piece by piece is within the budget; the first piece that is not decides."""
        number, total = self.right.numel(), 0.0
        for start in reversed(range(0, number, PIECE)):
            stop = min(start + PIECE, number)
            mine, right = guess(start, stop), self.right[start:stop]
            if self.exact:
                if not torch.equal(mine, right):
                    return False
                continue
            errors = self._errors(mine, right, self._scales[start // BLOCK : math.ceil(stop / BLOCK)])
            total += float(torch.dot(errors, errors))
            # Written so that NaN is over the budget.
            if not (float(errors.max()) <= budget.peak and total <= budget.rms**2 * number):
                return False
        return True

    def grow(self, moves: torch.Tensor, there: torch.Tensor) -> None:
        """Notes how far an answer to moved inputs lies from this one, where that is farther than known before."""
        if self.exact or there.numel() != moves.numel():
            return
        there = there.reshape(-1)
        if self._at_once(there) and there.dtype == self.right.dtype:
            _fused.grow(moves, there, self.right)
            return
        for start in range(0, moves.numel(), PIECE):
            part = slice(start, start + PIECE)
            far = (there[part] - self.right[part]).abs_().nan_to_num_(0.0, 0.0, 0.0)
            torch.maximum(moves[part], far.to(moves.dtype), out=moves[part])

    def forgives(self, result: torch.Tensor, moves: torch.Tensor, times: float, budget: Deviation) -> bool:
        """Whether it is right once every element may be off by so many times its own move."""
        flat = result.reshape(-1)
        if flat.numel() != moves.numel():
            return False
        if self._at_once(flat):
            total, peak = _fused.pardoned(flat, self.right, self._scales, moves, times)
            return self._total(flat.numel(), total, peak).within(budget)

        def pardoned(start: int, stop: int) -> torch.Tensor:
            got, right, room = flat[start:stop].double(), self.right[start:stop], moves[start:stop] * times
            gap = got - right
            return torch.where(gap.abs() <= room, right, got - torch.copysign(room.double(), gap))

        return self.accepts(pardoned, budget)

    def bad(self, result: torch.Tensor, budget: Deviation) -> torch.Tensor:
        """Which elements are off by more than the budget (by more than its RMS part if no peak stands out)."""
        if self.exact:
            return torch.cat([mine != right for mine, right, _ in self._pieces(result)])
        over = torch.cat([~(self._errors(*piece) <= budget.peak) for piece in self._pieces(result)])
        if bool(over.any()):
            return over
        return torch.cat([~(self._errors(*piece) <= budget.rms) for piece in self._pieces(result)])

    def describe_bad(self, result: torch.Tensor, budget: Deviation) -> dict[str, Any]:
        """What a person needs to find the fault: how many, how far, where."""
        bad = self.bad(result, budget)
        flat = result.reshape(-1)
        first = int(bad.to(torch.uint8).argmax())
        number = int(bad.sum())
        worst = max(
            float((mine.double() - right.double()).abs()[bad[start : start + PIECE]].max())
            for start, (mine, right, _) in zip(range(0, bad.numel(), PIECE), self._pieces(result), strict=True)
            if bool(bad[start : start + PIECE].any())
        )
        index = [int(place) for place in np.unravel_index(first, self.shape)] if self.shape else []
        return {
            "bad_elements": number,
            "elements": bad.numel(),
            "bad_share": number / bad.numel(),
            "max_abs_error": _plain(worst),
            "box": _box(bad.reshape(self.shape)),
            "first": {"index": index, "got": _plain(flat[first].item()), "expected": _plain(self.right[first].item())},
        }


def _units(right: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Every element's own size plus its block's."""
    units = right.abs()
    full = units.numel() // BLOCK
    units[: full * BLOCK].view(full, BLOCK).add_(scales[:full, None])
    units[full * BLOCK :].add_(scales[full:].sum())
    return units


def _scales(right: torch.Tensor, dtype: str) -> torch.Tensor:
    """The RMS of every block."""
    if right.numel() == 0:
        return right.new_zeros(0)
    squares = _fused.squares(right) if right.is_cuda else _squares(right)
    last = right.numel() - BLOCK * (squares.numel() - 1)
    whole = math.sqrt((BLOCK * float(squares[:-1].sum()) + last * float(squares[-1])) / right.numel())
    return squares.sqrt_().clamp_(min=smallest_scale(dtype, whole))


def _squares(right: torch.Tensor) -> torch.Tensor:
    """The mean square of every block, what is not finite counting as zero."""
    sums = []
    for start in range(0, right.numel(), PIECE):
        piece = torch.where(torch.isfinite(right[start : start + PIECE]), right[start : start + PIECE], 0.0).square_()
        full = piece.numel() // BLOCK * BLOCK
        sums.append(piece[:full].view(-1, BLOCK).mean(dim=1))
        if full < piece.numel():
            sums.append(piece[full:].mean().reshape(1))
    return torch.cat(sums)


def _box(bad: torch.Tensor) -> list[list[int]]:
    """Along each axis, the first and the last place where anything is bad."""
    box = []
    for axis in range(bad.dim()):
        others = [other for other in range(bad.dim()) if other != axis]
        along = (bad.any(dim=others) if others else bad).nonzero()
        box.append([int(along[0]), int(along[-1])])
    return box


def _plain(value: float | int | bool) -> float | int | bool | str:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# *** null candidates: answers that take no work ***


def passing_nulls(mine: list[Gauge], others: list[Gauge], budgets: list[Deviation]) -> list[str]:
    """Which null candidates would be accepted, given what is right here and for other inputs."""
    found = []
    for name in NULLS:
        verdicts = [
            gauge.accepts(guess, budget)
            for gauge, other, budget in zip(mine, others, budgets, strict=True)
            if (guess := _guess(name, gauge, other)) is not None
        ]
        if verdicts and all(verdicts):
            found.append(name)
    return found


NULLS = (
    "all zeros",
    "all ones",
    "the mean of the answer",
    "the answer's mean along its last axis",
    "the answer to other inputs",
    "the right numbers in the wrong places",
    "an answer whose second half is stale",
)


def _guess(name: str, mine: Gauge, other: Gauge) -> Guess | None:
    right, stale = mine.right, other.right
    number = right.numel()
    if number == 0 or number != stale.numel():
        return None
    if name == "all zeros":
        return lambda start, stop: torch.zeros_like(right[start:stop])
    if name == "all ones":
        return lambda start, stop: torch.ones_like(right[start:stop])
    if name == "the answer to other inputs":
        return lambda start, stop: stale[start:stop]
    if name == "an answer whose second half is stale":
        return lambda start, stop: _joined(right, stale, number // 2, start, stop)
    if number == 1:
        return None  # on a single number the others are the right answer itself
    if name == "the right numbers in the wrong places":
        shift = max(1, number // 3)
        return lambda start, stop: _rolled(right, shift, start, stop)
    if name == "the mean of the answer":
        mean = right.mean(dtype=torch.float64).to(right.dtype)
        return lambda start, stop: mean.expand(stop - start)
    axes = longer_axes(mine.shape)
    means = right.reshape(axes).mean(dim=-1, dtype=torch.float64).to(right.dtype).reshape(-1)
    width = axes[-1]
    return lambda start, stop: means[torch.arange(start, stop, device=right.device) // width]


def _joined(first: torch.Tensor, second: torch.Tensor, seam: int, start: int, stop: int) -> torch.Tensor:
    seam = min(max(seam, start), stop)
    return torch.cat([first[start:seam], second[seam:stop]])


def _rolled(values: torch.Tensor, shift: int, start: int, stop: int) -> torch.Tensor:
    """That part of the values moved on by `shift`; what falls off the end comes in at the beginning."""
    seam = min(max(shift, start), stop)
    number = values.numel()
    return torch.cat([values[number - shift + start : number - shift + seam], values[seam - shift : stop - shift]])


# *** ties ***


def only_ties(mine: torch.Tensor, right: torch.Tensor, inputs: list[torch.Tensor]) -> bool:
    """Integer outputs may be indices: where several elements are equal, any of them is right."""
    if mine.dtype != torch.int64:
        return False
    return any(
        _same_choice(data, axis, mine, right.reshape(mine.shape))
        for data in inputs
        if data.is_floating_point()
        for axis in range(data.dim())
    )


def _same_choice(data: torch.Tensor, axis: int, mine: torch.Tensor, theirs: torch.Tensor) -> bool:
    """Whether both choices, taken as indices along `axis`, pick equal values everywhere."""
    rest = [size for index, size in enumerate(data.shape) if index != axis]
    if list(mine.shape) == rest:
        mine, theirs = mine.unsqueeze(axis), theirs.unsqueeze(axis)
    if mine.dim() != data.dim() or [s for index, s in enumerate(mine.shape) if index != axis] != rest:
        return False
    for choice in (mine, theirs):
        if not bool(((choice >= 0) & (choice < data.shape[axis])).all()):
            return False
        if bool((choice.sort(dim=axis).values.diff(dim=axis) == 0).any()):
            return False  # the same element chosen twice is not a tie
    return torch.equal(data.gather(axis, mine), data.gather(axis, theirs))
