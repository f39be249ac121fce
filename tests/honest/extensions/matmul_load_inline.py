# entry: matmul, load_inline with bindings of its own
# task: matmul
# expect: CORRECT
"""Two texts, named arguments, a struct of its own; built when the model is made."""

import torch
import torch.utils.cpp_extension

KERNEL = """
struct Shape { int64_t m, k, n; };

static void multiply(const float* a, const float* b, float* c, Shape shape) {
    #pragma omp parallel for
    for (int64_t i = 0; i < shape.m; i++)
        for (int64_t p = 0; p < shape.k; p++)
            for (int64_t j = 0; j < shape.n; j++) c[i * shape.n + j] += a[i * shape.k + p] * b[p * shape.n + j];
}
"""
BINDING = """
at::Tensor matmul(at::Tensor a, at::Tensor b) {
    auto c = at::zeros({a.size(0), b.size(1)}, a.options());
    multiply(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), {a.size(0), a.size(1), b.size(1)});
    return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("matmul", &matmul, py::arg("a"), py::arg("b")); }
"""


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.extension = torch.utils.cpp_extension.load_inline(
            "matmul_extension",
            [KERNEL, BINDING],
            extra_cflags=["-O3", "-march=native", "-ffast-math", "-fopenmp"],
            extra_ldflags=["-fopenmp"],
        )

    def forward(self, a, b):
        return self.extension.matmul(a=a, b=b)
