"""Tiny suites in the layouts of the public ones, made up for tests, and solutions for them."""

import json
from pathlib import Path

_FORM = """\
import torch
import torch.nn as nn

rows = 256
cols = 512


class Model(nn.Module):
    def forward(self, x):
        return {expression}


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
"""

_SOLUTION = '''\
import torch

from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>

extern "C" void run(const float* x, float* y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = EXPRESSION;
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.run(x, y, x.numel())
        return y
'''

PROBLEMS = {
    "level1/2_Shifted_double.py": "x * 2 + 1",
    "level1/19_Absolute.py": "x.abs()",
    "level1/100_Zero.py": "x * 0",
    "level2/3_Noise.py": "nn.functional.dropout(x, 0.5, self.training)",
}


def problem(expression: str) -> str:
    return _FORM.format(expression=expression)


def solution(expression: str) -> str:
    """A C++ kernel that computes this of x[i]."""
    return _SOLUTION.replace("EXPRESSION", expression)


DOUBLE = solution("x[i] * 2 + 1")
ABSOLUTE = solution("x[i] < 0 ? -x[i] : x[i]")


def kernelbench(folder: Path) -> Path:
    """A checkout like KernelBench's."""
    for name, expression in PROBLEMS.items():
        path = folder / "KernelBench" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(problem(expression))
    (folder / "KernelBench" / "level1" / "helper.py").write_text("")
    return folder


def committed(folder: Path, commit: str) -> Path:
    """What git leaves in a checkout, as far as it is read."""
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "packed-refs").write_text(f"# pack-refs\n{commit} refs/heads/main\n")
    return folder


def dataset(path: Path) -> Path:
    """The same problems as rows of a dataset."""
    rows = []
    for name, expression in PROBLEMS.items():
        level, _, title = name.removesuffix(".py").partition("/")
        number = int(title.partition("_")[0])
        rows.append({"code": problem(expression), "level": int(level[-1]), "name": title, "problem_id": number})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


ROBUST = """\
import torch
import torch.nn as nn


def forward_fn(x, weight, shift):
    return torch.tanh(x * weight) + shift


class Model(nn.Module):
    def __init__(self, features: int, shift: float = 0.5, spread: str = "wide"):
        super(Model, self).__init__()
        self.weight = nn.Parameter(torch.randn(features) * (2 if spread == "wide" else 1))
        self.unused = nn.Parameter(torch.zeros(3))
        self.shift = shift

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.shift)


def get_inputs(batch: int = 4, tokens: int = 600, features: int = 8):
    x = torch.randn(batch, tokens, features, requires_grad=True)
    return [x]


input_names = ["x"]
"""

ROBUST_CONFIG = {
    "single_input_configs": [{"batch": 2}],
    "single_init_configs": [{}],
    "single_shared_configs": [{"features": 16}],
    "multi_input_configs": [{"batch": 2}, {"batch": 5}],
    "multi_init_configs": [{"spread": "wide"}, {"spread": "narrow"}, {"spread": "narrow"}],
    "multi_shared_configs": [{"features": 16}, {"features": 32}],
}


def robust(folder: Path) -> Path:
    """A checkout like robust-kbench's."""
    for name, passes in {"scaled": ("forward", "backward"), "borrowed/level_1/task_7": ("forward",)}.items():
        task = folder / "tasks" / name
        task.mkdir(parents=True)
        for direction in passes:
            (task / f"func_{direction}.py").write_text(ROBUST)
            (task / f"config_{direction}.json").write_text(json.dumps(ROBUST_CONFIG))
    return folder
