"""SYCL candidates in the judge: built in the builder's cage, run and timed on the processor."""

import pytest

from kernelwright.judge import Judge, Limits, OutOfReach, Status
from tests.sycl import needs_sycl

CANDIDATE = '''\
import torch

from kernelwright import native

lib = native.sycl(r"""
#include <sycl/sycl.hpp>

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>))
void run(const float* x, float* y, long n) {
    long i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
    if (i >= n) return;
    BODY
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.run[-(-x.numel() // 64) * 64, 64](x, y, x.numel())
        return y
'''


@pytest.fixture
def judged(small_judge, relu_task):
    return lambda body: small_judge.judge(relu_task, CANDIDATE.replace("BODY", body))


@pytest.mark.slow
@needs_sycl
def test_a_right_kernel_is_timed_and_its_work_is_its_own(judged):
    verdict = judged("y[i] = x[i] > 0 ? x[i] : 0.0f;")
    assert verdict.status is Status.CORRECT, verdict.message
    assert verdict.evidence["backend"] == "sycl"
    assert verdict.time_ms["candidate"] > 0
    assert verdict.coverage > 0.5


@pytest.mark.slow
@needs_sycl
def test_time_in_vector_maths_is_the_kernels(judged):
    """The value is right; thirty calls into the driver's maths come to nothing."""
    verdict = judged(
        "float v = x[i]; for (int k = 0; k < 30; k++) v = sycl::lgamma(2 + sycl::sin(v));\n"
        "y[i] = x[i] > 0 ? x[i] : v == 12345.0f ? v : 0.0f;"
    )
    assert verdict.status is Status.CORRECT, verdict.message
    assert verdict.coverage > 0.5


@needs_sycl
def test_what_does_not_compile_is_a_compile_error_with_the_whole_log(judged):
    verdict = judged("y[i] = undeclared_name;\n    y[i] = another_name;")
    assert verdict.status is Status.COMPILE_ERROR
    assert "undeclared_name" in verdict.message
    assert "another_name" in verdict.evidence["log"]


@needs_sycl
def test_the_compiler_sees_no_file_of_the_users(judged, tmp_path):
    (tmp_path / "secret.h").write_text("#error secret\n")
    verdict = judged(f'\n#include "{tmp_path}/secret.h"\n')
    assert verdict.status is Status.COMPILE_ERROR
    assert "file not found" in verdict.message


@needs_sycl
def test_a_kernel_that_reads_nowhere_is_a_crash(judged):
    verdict = judged("y[i] = *(volatile float*)nullptr;")
    assert verdict.status is Status.CRASH, verdict.message
    assert "SIGSEGV" in verdict.message


@needs_sycl
def test_a_kernel_that_never_ends_is_stopped(relu_task):
    with Judge(limits=Limits(call_s=1)) as judge:
        verdict = judge.judge(relu_task, CANDIDATE.replace("BODY", "volatile int more = 1; while (more) {}"))
    assert verdict.status is Status.TIMEOUT, verdict.message


def test_without_the_packages_nobody_is_judged_and_the_command_is_named(judged, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    with pytest.raises(OutOfReach, match="needs the backend sycl: SYCL is not installed") as caught:
        judged("")
    assert caught.value.fix == "pip install 'kernelwright[sycl]'"
