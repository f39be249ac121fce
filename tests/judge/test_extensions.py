"""Candidates that build a torch extension, before the judge. Those that really compile take seconds each."""

import pytest

from kernelwright.judge import Status
from kernelwright.tasks import load_task
from tests.corpus import TASKS

RELU = '''\
import torch
from torch.utils.cpp_extension import load_inline

source = """
torch::Tensor relu(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const float* in = x.data_ptr<float>();
    float* out = y.data_ptr<float>();
    for (int64_t i = 0, count = x.numel(); i < count; i++) out[i] = std::max(in[i], 0.0f);
    return y;
}
"""
extension = load_inline(name="relu", cpp_sources=source, functions=["relu"], extra_cflags=["-O3"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.relu(x)
'''


@pytest.fixture
def judged(small_judge, relu_task):
    return lambda source: small_judge.judge(relu_task, source, timed=False)


@pytest.mark.parametrize(
    ("flag", "list_of"),
    [("-fplugin=./x.so", "extra_cflags"), ("-Wl,-rpath,/tmp", "extra_ldflags"), ("-B/tmp", "extra_cflags")],
)
def test_a_flag_that_could_load_code_is_refused_by_name(judged, flag, list_of):
    verdict = judged(RELU.replace('extra_cflags=["-O3"]', f'{list_of}=["{flag}"]'))
    assert verdict.status is Status.COMPILE_ERROR
    assert f"'{flag}' is not allowed" in verdict.message


def test_what_cannot_be_judged_is_said_in_a_sentence(judged):
    verdict = judged(RELU.replace("functions=", "sycl_sources='', with_sycl=True, functions="))
    assert verdict.status is Status.COMPILE_ERROR
    assert "write it with native.sycl" in verdict.message


def test_a_request_that_the_library_never_makes_is_answered_and_builds_nothing(judged):
    forged = RELU.replace(
        "extension = load_inline(",
        "from kernelwright.native import Source, _builder\n"
        "_builder.build(Source('cpp-extension', '{\"name\": \"m\"}'))\n"
        "extension = load_inline(",
    )
    verdict = judged(forged)
    assert verdict.status is Status.COMPILE_ERROR
    assert "not the description of an extension" in verdict.message


@pytest.mark.extensions
def test_an_error_of_the_compilers_is_told_whole_and_at_its_own_line(judged):
    verdict = judged(RELU.replace("auto y =", "auto y"))
    assert verdict.status is Status.COMPILE_ERROR
    assert verdict.message.startswith("main.cpp:4:"), verdict.message
    assert "torch::empty_like(x)" in verdict.evidence["log"]


@pytest.mark.extensions
def test_a_function_that_is_only_declared_is_named(judged):
    declared = RELU.replace("torch::Tensor relu(", "torch::Tensor elsewhere(torch::Tensor x);\ntorch::Tensor relu(")
    verdict = judged(declared.replace("return y;", "return elsewhere(y);"))
    assert verdict.status is Status.COMPILE_ERROR
    assert "compiled but does not load" in verdict.message
    assert "elsewhere" in verdict.message


@pytest.mark.extensions
def test_a_part_of_torch_that_the_stand_ins_lack_is_found_in_its_true_headers(judged):
    printing = 'if (!x.numel()) std::cerr << "nothing in " << x;\n    return y;'
    verdict = judged(RELU.replace("return y;", printing))
    assert verdict.accepted, verdict.message


@pytest.mark.extensions
def test_an_extension_beside_which_torch_does_the_work_is_a_decoy(small_judge):
    busy = "[extension.relu(x) for _ in range(20)]\n        return torch.relu(x)"
    verdict = small_judge.judge(
        load_task(TASKS / "relu.py"), RELU.replace("return extension.relu(x)", busy), timed=False
    )
    assert verdict.status is Status.LIBRARY_ONLY
    assert "right even with its own kernels switched off" in verdict.message
