# entry: loss with integer targets
# task: cross_entropy
# expect: CORRECT
"""Every row's loss goes to scratch memory of this call; one program adds them up."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_losses(logits_ptr, targets_ptr, losses_ptr, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits = logits_ptr + row * classes
    top = -float("inf")
    total = 0.0
    for start in range(0, classes, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits + at, mask=at < classes, other=-float("inf"))
        higher = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), axis=0)
        top = higher
    target = tl.load(targets_ptr + row)
    tl.store(losses_ptr + row, tl.log(total) + (top - tl.load(logits + target)))


@triton.jit
def mean_of(losses_ptr, y_ptr, count, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, count, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(losses_ptr + at, mask=at < count, other=0.0)
    tl.store(y_ptr, tl.sum(sums, axis=0) / count)


class ModelNew(torch.nn.Module):
    def forward(self, logits, targets):
        batch, classes = logits.shape
        losses = torch.empty(batch, device=logits.device)
        y = torch.empty((), device=logits.device)
        row_losses[(batch,)](logits, targets, losses, classes, BLOCK=2048, num_warps=4)
        mean_of[(1,)](losses, y, batch, BLOCK=1024)
        return y
