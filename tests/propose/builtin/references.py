"""Small references, one for each thing the synthesiser knows; sizes are odd, so that every loop has an end."""

from __future__ import annotations

from pathlib import Path

from kernelwright.tasks import Task, load_task

FORM = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
{init}

    def forward(self, {parameters}):
        return {result}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
# name: (result, inputs, weights)
REFERENCES: dict[str, tuple[str, str, str]] = {
    "bias gelu": ("F.gelu(x + self.w)", "torch.randn(37, 131)", "torch.randn(131)"),
    "swiglu": ("F.silu(x) * y", "torch.randn(37, 131), torch.randn(37, 131)", ""),
    "tanh gelu between axes": (
        "F.gelu(x * self.w[:, None] + y, approximate='tanh')",
        "torch.randn(5, 7, 33), torch.randn(5, 1, 33)",
        "torch.randn(7)",
    ),
    "many activations": (
        "F.hardswish(x) + F.softplus(x) + F.elu(x) + F.leaky_relu(x) + torch.sigmoid(x) * F.mish(x)",
        "torch.randn(19, 61)",
        "",
    ),
    "softmax": ("torch.softmax(x, -1)", "torch.randn(37, 131)", ""),
    "log softmax": ("torch.log_softmax(x, -1)", "torch.randn(37, 131)", ""),
    "softmax along a middle axis": ("torch.softmax(x, 1)", "torch.randn(3, 17, 9, 11)", ""),
    "causal softmax": (
        "torch.softmax(x.masked_fill(torch.ones(33, 33).tril() == 0, float('-inf')) * 0.25, -1)",
        "torch.randn(3, 2, 33, 33)",
        "",
    ),
    "masked softmax": (
        "torch.softmax(x.masked_fill(y[:, None, :], -1e9), -1)",
        "torch.randn(3, 21, 35), torch.rand(3, 35) < 0.3",
        "",
    ),
    "layer norm of a sum": (
        "F.layer_norm(x + y, (131,), self.w, self.w)",
        "torch.randn(37, 131), torch.randn(37, 131)",
        "torch.randn(131)",
    ),
    "rms norm": (
        "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.w",
        "torch.randn(37, 131)",
        "torch.randn(131)",
    ),
    "group norm": ("F.group_norm(x, 3, self.w, self.w)", "torch.randn(4, 12, 5, 7)", "torch.randn(12)"),
    "group norm and more": (
        "F.relu(F.group_norm(x, 2, self.w) * 2) + x",
        "torch.randn(3, 6, 37)",
        "torch.randn(6)",
    ),
    "logsumexp": ("torch.logsumexp(x, 1)", "torch.randn(37, 131)", ""),
    "cross entropy": ("F.cross_entropy(x, y)", "torch.randn(67, 131), torch.randint(131, (67,))", ""),
    "one of each row": (
        "torch.softmax(x * 2, -1).gather(1, y) + (torch.arange(131.0) * 0.5).expand(67, 131).gather(1, y)",
        "torch.randn(67, 131), torch.randint(131, (67, 3))",
        "",
    ),
    "mean squared error": ("F.mse_loss(x, y)", "torch.randn(256, 160), torch.randn(256, 160)", ""),
    "huber loss": ("F.smooth_l1_loss(x, y)", "torch.randn(64, 33), torch.randn(64, 33)", ""),
    "sum of columns": ("x.sum(0)", "torch.randn(131, 77)", ""),
    "mean and deviation": ("(x.mean(-1), x.std(-1))", "torch.randn(37, 131)", ""),
    "largest of columns": ("x.amax(1) - x.amin(1)", "torch.randn(5, 19, 37)", ""),
    "unit rows": ("F.normalize(x, dim=-1)", "torch.randn(37, 131)", ""),
    "embedding": ("F.embedding(x, self.w) * 2", "torch.randint(50, (6, 9))", "torch.randn(50, 33)"),
    "transposed sum": ("x.transpose(1, 2).reshape(3, -1) + y", "torch.randn(3, 5, 7), torch.randn(3, 35)", ""),
    "product, bias, gelu": ("F.gelu(x @ y + self.w)", "torch.randn(37, 53), torch.randn(53, 67)", "torch.randn(67)"),
    "linear of three axes": ("F.silu(F.linear(x, self.w)) + 1", "torch.randn(3, 21, 45)", "torch.randn(70, 45)"),
    "products": ("torch.bmm(x, y.transpose(1, 2)) * 0.5", "torch.randn(5, 19, 23), torch.randn(5, 33, 23)", ""),
    "one behind the other": (
        "torch.cat([-x[:, 16:], y, x[:, :16]], 1).relu()",
        "torch.randn(9, 33), torch.randn(9, 5)",
        "",
    ),
    "short rows": ("torch.softmax(x, -1)", "torch.randn(131, 5)", ""),
    "long columns": ("x.sum(0)", "torch.randn(2048, 21)", ""),
    "convolution": (
        "F.relu(F.conv2d(x, self.w, padding=1, stride=2))",
        "torch.randn(2, 6, 13, 21)",
        "torch.randn(10, 6, 3, 3)",
    ),
    "convolution in groups": (
        "F.conv1d(x, self.w, dilation=2, groups=3)",
        "torch.randn(3, 6, 70)",
        "torch.randn(9, 2, 3)",
    ),
    "pooling": ("F.max_pool2d(x, 3, 2, 1) + F.avg_pool2d(x, 2)[:, :, :7, :11]", "torch.randn(2, 5, 14, 22)", ""),
    "pooling far apart": (
        "F.max_pool3d(x, 3, 2, 1, 3) + F.avg_pool3d(x, 3, 2, 1)[:, :, :3, :4, :6]",
        "torch.randn(2, 3, 10, 12, 16)",
        "",
    ),
    "pooling along a row": (
        "(F.max_pool1d(x, 8, 1, 4, 3), F.avg_pool1d(x, 5, 2, 2), F.max_pool1d(F.pad(x, (3, 1), value=2.0), 4, 3))",
        "torch.randn(3, 5, 131)",
        "",
    ),
    "pooling side by side": ("F.max_pool2d(x, 4, 1, 2) * 2", "torch.randn(3, 2, 15, 33)", ""),
    "global pooling": ("F.adaptive_avg_pool2d(x, 1)", "torch.randn(3, 7, 9, 11)", ""),
    "largest and where": ("(x.max(1)[0], x.argmax(1), x.argmin(-1), x.min(0)[1])", "torch.randn(37, 131)", ""),
    "the best three": ("torch.topk(x, 3, dim=-1)", "torch.randn(37, 29)", ""),
    "running sums": ("torch.cumsum(x * 2, -1) / 3 + torch.cumsum(x, 1)", "torch.randn(5, 19, 133)", ""),
    "running products": ("torch.cumprod(x, -1) + torch.cumprod(x, 0)", "torch.rand(21, 67) + 0.5", ""),
    "sums from behind": ("torch.cumsum(x.flip(1), 1).flip(1)", "torch.randn(7, 71)", ""),
    "sums of all before": (
        "torch.cat([torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)], 1)",
        "torch.randn(7, 71)",
        "",
    ),
    "sums from behind, scaled": ("torch.cumsum(x.flip(0) * 2, 0).flip(0) + x", "torch.randn(71, 37)", ""),
    "soft and steep": ("F.softplus(x, 3.0, 5.0) + torch.log1p(x.abs())", "torch.randn(19, 61) * 8", ""),
    "a histogram": (
        "torch.zeros(5, 40, dtype=torch.int64).scatter_add(1, x, torch.ones_like(x))",
        "torch.randint(40, (5, 173))",
        "",
    ),
    "messages": (
        "torch.zeros(13, 37).index_add(0, y, x)",
        "torch.randn(51, 37), torch.randint(13, (51,))",
        "",
    ),
    "a diagonal": ("(x @ x.T).diagonal() * 2", "torch.randn(19, 23)", ""),
    "mirrored edges": ("F.pad(x, (2, 3, 1, 2), mode='reflect') * 2", "torch.randn(3, 9, 21)", ""),
    "bytes": ("(x.float() / 255 - 0.5, (x * 2).to(torch.int8))", "torch.randint(64, (9, 33), dtype=torch.uint8)", ""),
    "instance norm": ("F.instance_norm(x)", "torch.randn(3, 4, 9, 11)", ""),
    "average without edges": (
        "F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)",
        "torch.randn(2, 5, 9, 21)",
        "",
    ),
    "transposed convolution": (
        "F.conv_transpose2d(x, self.w, stride=(2, 1), padding=1, output_padding=(1, 0))",
        "torch.randn(2, 6, 7, 13)",
        "torch.randn(6, 5, 3, 4)",
    ),
    "transposed convolution with gaps": (
        "F.conv_transpose1d(x, self.w, stride=3, padding=2, dilation=2, groups=2)",
        "torch.randn(2, 6, 23)",
        "torch.randn(6, 4, 3)",
    ),
    "convolution in space": (
        "F.conv3d(x, self.w, padding=1)",
        "torch.randn(2, 4, 5, 7, 13)",
        "torch.randn(8, 4, 3, 3, 3)",
    ),
    "twice the size": ("F.interpolate(x, scale_factor=2.0, mode='bilinear')", "torch.randn(2, 3, 7, 9)", ""),
    "attention": (
        "F.scaled_dot_product_attention(x, y, y)",
        "torch.randn(2, 3, 19, 16), torch.randn(2, 3, 21, 16)",
        "",
    ),
    "causal attention": (
        "torch.softmax((x @ y.transpose(-1, -2) * 0.25).masked_fill(~torch.ones(37, 37, dtype=torch.bool).tril(), "
        "float('-inf')), -1) @ y",
        "torch.randn(2, 3, 37, 20), torch.randn(2, 3, 37, 20)",
        "",
    ),
    "attention to fewer keys, turned": (
        "(torch.softmax(x @ y.transpose(-1, -2) / 4, -1) @ y).transpose(1, 2).reshape(2, 19, -1) + self.w",
        "torch.randn(2, 3, 19, 16), torch.randn(2, 3, 11, 16)",
        "torch.randn(48)",
    ),
    "steep softmax": ("torch.softmax(x * 0.17677669, -1)", "torch.randn(37, 49) * 1e6", ""),
    "pixels out of channels": ("F.pixel_shuffle(x, 2) * 2", "torch.randn(2, 12, 5, 37)", ""),
    "a step of a state": (
        "(x * torch.exp(-F.softplus(y).unsqueeze(-1) * self.w.exp())).sum(-1)",
        "torch.randn(7, 40, 16), torch.randn(7, 40)",
        "torch.randn(40, 16)",
    ),
    "halves": ("x[:, :32] * torch.cos(y) + x[:, 32:] * torch.sin(y)", "torch.randn(9, 64), torch.randn(9, 32)", ""),
}


def source(name: str) -> str:
    return source_of(*REFERENCES[name])


def source_of(result: str, inputs: str, weights: str = "") -> str:
    count = inputs.count("torch.rand")
    init = f"        self.w = nn.Parameter({weights})" if weights else "        pass"
    return FORM.format(init=init, parameters=", ".join("xy"[:count]), result=result, inputs=inputs)


def reference(name: str, folder: Path) -> Task:
    """The task of this name, by way of a file, as users have it."""

    path = folder / f"{name.replace(' ', '_')}.py"
    path.write_text(source(name))
    return load_task(str(path))
