"""Mutants that are no faults: what they change cannot be seen in any result that counts.

`EQUIVALENT` names them by kernel, operator and the line as it stands in the mutant; each has its reason.
"""

from __future__ import annotations

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "relu_view_of_buffer",
        "loop_runs_over",
        "for (int64_t c = 0; c <= cols; c++) {",
    ): "writes one element of the padding, which is no part of the result",
    (
        "row_sum_kahan",
        "difference_added",
        "const float term = x[r * cols + c] + lost;",
    ): "doubles rounding errors instead of cancelling them: no less accurate than plain summation",
    (
        "symmetric_matmul_rows",
        "index_swapped",
        "for (int64_t p = 0; p < n; p++) total += a[i * n + p] * b[p * n + j];",
    ): "b is symmetric",
    (
        "symmetric_matmul_rows",
        "index_swapped",
        "for (int64_t p = 0; p < n; p++) total += a[p * n + i] * b[j * n + p];",
    ): "a is symmetric",
    (
        "linear_gelu_packed",
        "second_call_idle",
        'extern "C" void pack(const float* w, float* packed, int64_t inner, int64_t outer) {'
        " static int calls = 0; if (calls++ > 0) return;",
    ): "is called once: the weights of the task are frozen",
}
