# entry: relu, load_inline
# task: relu
# expect: CORRECT
"""As published solutions are written, in C++: text in, bindings by name, flags in lists."""

import torch
from torch.utils.cpp_extension import load_inline

source = """
torch::Tensor relu(torch::Tensor x) {
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    auto y = torch::empty_like(x);
    const float* in = x.data_ptr<float>();
    float* out = y.data_ptr<float>();
    const int64_t count = x.numel();
    #pragma omp parallel for simd
    for (int64_t i = 0; i < count; i++) out[i] = in[i] < 0 ? 0.0f : in[i];
    return y;
}
"""
extension = load_inline(
    name="relu_extension",
    cpp_sources=source,
    functions=["relu"],
    extra_cflags=["-O3 -march=native", "-fopenmp"],
    extra_ldflags=["-fopenmp"],
    verbose=False,
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.relu(x)
