# entry: persistent programs
# task: rmsnorm_bf16
# expect: CORRECT
"""As many programs as the GPU runs at once, each taking row after row; bfloat16 in and out, float32 between."""

import torch
import triton
import triton.language as tl


@triton.jit
def rmsnorm(x_ptr, weight_ptr, y_ptr, rows, cols, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < cols
    weight = tl.load(weight_ptr + at, mask=inside, other=0.0).to(tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        place = row.to(tl.int64) * cols + at
        x = tl.load(x_ptr + place, mask=inside, other=0.0).to(tl.float32)
        scale = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / cols + eps)
        tl.store(y_ptr + place, (x * scale * weight).to(tl.bfloat16), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(features, dtype=torch.bfloat16))

    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty_like(x)
        programs = min(rows, 4 * torch.cuda.get_device_properties(x.device).multi_processor_count)
        rmsnorm[(programs,)](x, self.weight, y, rows, cols, 1e-5, BLOCK=triton.next_power_of_2(cols), num_warps=8)
        return y
