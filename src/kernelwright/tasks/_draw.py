"""Draws declared inputs.

The one module of this room that runs torch on contents. Knows how each draw is made and each layout is laid
out; equal generators give equal values in every layout.
"""

import torch

from kernelwright.tasks._input_spec import InputSpec
from kernelwright.tasks._values import Values, parse_values


def draw_input(spec: InputSpec, generator: torch.Generator) -> torch.Tensor:
    """A fresh tensor for the spec, on the generator's device."""
    dtype: torch.dtype = getattr(torch, spec.dtype)
    drawn = _drawn(parse_values(spec.values), spec.shape, dtype, generator)
    return _laid_out(drawn, spec.layout)


def _drawn(values: Values, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    device = generator.device
    match values:
        case Values("zeros"):
            return torch.zeros(shape, dtype=dtype, device=device)
        case Values("ones"):
            return torch.ones(shape, dtype=dtype, device=device)
        case Values("constant", (c,)):
            return torch.full(shape, c, dtype=dtype, device=device)
        case Values("integers", (lo, hi)):
            return torch.randint(int(lo), int(hi), shape, generator=generator, device=device).to(dtype)
        case Values("bernoulli", (p,)):
            return (_uniform(shape, generator) < p).to(dtype)
        case Values("permutation"):
            return _uniform(shape, generator).argsort(dim=-1).to(dtype)
    return _real(values, shape, dtype, generator)


def _real(values: Values, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    # Half-precision uniforms reach 1.0, where pareto is infinite: draw wide, then round.
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    real = torch.empty(shape, dtype=wide, device=generator.device)
    match values:
        case Values("normal", (mean, std)):
            real.normal_(mean, std, generator=generator)
        case Values("uniform", (lo, hi)):
            real.uniform_(lo, hi, generator=generator)
        case Values("lognormal", (sigma,)):
            real.normal_(0.0, sigma, generator=generator).exp_()
        case Values("pareto", (alpha,)):
            real.uniform_(generator=generator).neg_().add_(1.0).pow_(-1.0 / alpha)
        case _:
            real.normal_(generator=generator)
    largest = torch.finfo(dtype).max
    return real.clamp_(-largest, largest).to(dtype)


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)


def _laid_out(drawn: torch.Tensor, layout: str) -> torch.Tensor:
    match layout:
        case "transposed":
            return drawn.transpose(-1, -2).contiguous().transpose(-1, -2)
        case "strided":
            buffer = _filler(drawn, (*drawn.shape[:-1], 2 * drawn.shape[-1]))
            return buffer[..., ::2].copy_(drawn)
        case "offset":
            return drawn.new_zeros(drawn.numel() + 1)[1:].view(drawn.shape).copy_(drawn)
    return drawn


def _filler(like: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """What lies between strided elements: nothing that could pass for a harmless zero."""
    if like.is_floating_point():
        return like.new_full(shape, float("nan"))
    return like.new_full(shape, True if like.dtype == torch.bool else torch.iinfo(like.dtype).max)
