"""Small tasks and candidates as texts, shared by the tests of the judge and of the command line."""

from pathlib import Path

TASKS = Path(__file__).parents[1] / "corpus" / "tasks"

_NATIVE = '''\
import torch

from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>

extern "C" void run(const float* x, float* y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        BODY
    }
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.run(x, y, x.numel())
        return y
'''
_FORWARD = """\
import os
import time

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        BODY
"""


def relu(body: str) -> str:
    """A candidate for `relu` whose loop does this with element i of n."""
    return _NATIVE.replace("BODY", body)


def forward(*lines: str) -> str:
    """A candidate in plain Python whose forward(x) is these lines."""
    return _FORWARD.replace("BODY", "\n        ".join(lines))


RELU = relu("y[i] = x[i] > 0 ? x[i] : 0;")

# For the task eight_elements: x * y + 1.
EIGHT = '''\
import torch

from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>

extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
    for (int64_t i = 0; i < n; i++) z[i] = x[i] * y[i] + 1;
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        z = torch.empty_like(x)
        lib.run(x, y, z, x.numel())
        return z
'''

REFERENCE = """\
import torch
import torch.nn as nn

rows = 32
cols = 48


class Model(nn.Module):
    def forward(self, x):
        return torch.tanh(x) * 2


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
"""


RELU_SETTINGS = """\
library = "allowed"
neighbours = ["rows", "cols"]

[[case]]
name = "given"
dims = { rows = 300, cols = 401 }
"""


def task_folder(folder: Path, reference: str, settings: str = 'library = "allowed"\n') -> Path:
    """A task in a new folder; plain torch may do its work unless the settings say otherwise."""
    folder.mkdir(parents=True)
    (folder / "reference.py").write_text(reference)
    (folder / "task.toml").write_text(settings)
    return folder


def relu_folder(parent: Path) -> Path:
    """The task relu with a library policy that no statement about something else depends on."""
    return task_folder(parent / "relu", (TASKS / "relu.py").read_text(), RELU_SETTINGS)


def eight_folder(parent: Path) -> Path:
    """The task eight_elements, likewise."""
    return task_folder(parent / "eight_elements", (TASKS / "eight_elements.py").read_text())
