# entry: softmax, load from files
# task: softmax
# expect: CORRECT
"""Writes a source and a header of its own and has torch's loader build the files; the other way to import it."""

import os
import tempfile

import torch
import torch.utils.cpp_extension as extensions

HEADER = """
#pragma once
#include <torch/extension.h>
torch::Tensor softmax(const torch::Tensor& x);
"""
SOURCE = """
#include "softmax.h"
#include <cmath>

torch::Tensor softmax(const torch::Tensor& x) {
    auto y = torch::empty(x.sizes(), x.options());
    const int64_t rows = x.size(0), cols = x.size(1);
    const float* in = x.data_ptr<float>();
    float* out = y.data_ptr<float>();
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        float top = -INFINITY;
        for (int64_t c = 0; c < cols; c++) top = std::max(top, in[r * cols + c]);
        double sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += out[r * cols + c] = std::exp(in[r * cols + c] - top);
        for (int64_t c = 0; c < cols; c++) out[r * cols + c] /= sum;
    }
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("softmax", &softmax, "over the last dimension"); }
"""
folder = tempfile.mkdtemp()
for name, text in (("softmax.h", HEADER), ("softmax.cpp", SOURCE)):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
extension = extensions.load(
    name="softmax_files",
    sources=[os.path.join(folder, "softmax.cpp")],
    extra_cflags=["-O3", "-march=native", "-fopenmp"],
    extra_ldflags=["-fopenmp"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.softmax(x)
