"""A kernel's sizes and arguments are checked before anything is launched. No device is needed here."""

import ctypes

import pytest
import torch

from kernelwright.native import LaunchError, NativeCallError
from kernelwright.native._launch import Kernel, layout_of
from kernelwright.native._signatures import signatures

MARK = 'extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<{}>)) '
LINE = MARK.format(1) + "void line(const float* x, sycl::half* y, int n, double scale) {}"
PLANE = MARK.format(2) + "void plane(float* x) {}"


class Device:
    """Takes down what it is asked to launch."""

    def __init__(self, fault=None):
        self.launches = []
        self.fault = fault

    def __call__(self, block, dimensions, whole, group):
        self.launches.append((block, dimensions, list(whole), list(group)))
        return self.fault


def kernel(text, device=None):
    (signature,) = signatures(text).values()
    return Kernel(signature, device or Device())


def test_the_property_says_how_many_dimensions_a_kernel_has():
    assert signatures(LINE)["line"].dimensions == 1
    assert signatures(PLANE)["plane"].dimensions == 2
    assert signatures('extern "C" void helper(float* x) {}')["helper"].dimensions is None


def test_a_property_behind_a_macro_is_seen():
    text = "#define KERNEL SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((nd_range_kernel<3>))\n"
    assert signatures(text + 'extern "C" KERNEL void cube(float* x) {}')["cube"].dimensions == 3


def test_arguments_arrive_in_the_order_of_the_text():
    device = Device()
    x, y = torch.zeros(8), torch.zeros(8, dtype=torch.float16)
    kernel(LINE, device)[(8,), (4,)](x, y, 8, 0.5)
    ((block, dimensions, whole, group),) = device.launches
    assert (block.a0, block.a1, block.a2, block.a3) == (x.data_ptr(), y.data_ptr(), 8, 0.5)
    assert (dimensions, whole, group) == (1, [8], [4])


def test_pointers_and_scalars_are_told_apart_by_size():
    offsets, sizes = layout_of(signatures(LINE)["line"])
    assert list(offsets) == [0, 8, 16, 24]
    assert list(sizes) == [0, 0, ctypes.sizeof(ctypes.c_int), 8]


def test_the_last_dimension_runs_fastest():
    device = Device()
    kernel(PLANE, device)[(6, 32), (2, 16)](torch.zeros(1))
    assert device.launches[0][2:] == ([32, 6], [16, 2])


def test_plain_numbers_do_for_one_dimension():
    device = Device()
    kernel(MARK.format(1) + "void f(float* x) {}", device)[64, 8](torch.zeros(1))
    assert device.launches[0][2:] == ([64], [8])


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        (((10,), (4,)), r"cannot divide 10 work-items into groups of 4 \(dimension 0\); ask for 12"),
        (((8, 8), (4, 4)), "has 1 dimensions, 2 given"),
        (((0,), (1,)), "positive ints"),
        (((8,), (-4,)), "positive ints"),
        (((8.0,), (4,)), "positive ints"),
        (((True,), (1,)), "positive ints"),
        ((16384, 16384), "groups of 16384 work-items; at most 8192"),
        (8, "takes two sizes"),
        ((8, 4, 2), "takes two sizes"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_in_words(sizes, says):
    device = Device()
    with pytest.raises(NativeCallError, match=says):
        kernel(LINE, device)[sizes]
    assert not device.launches


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ((torch.zeros(8, dtype=torch.float64), None, 8, 1.0), "'x' .*float64, takes torch.float32"),
        ((torch.zeros(8, 2).t(), None, 8, 1.0), "'x' .*not contiguous"),
        ((torch.zeros(8, device="meta"), None, 8, 1.0), "'x' .*on meta"),
        ((None, torch.zeros(8), 8, 1.0), "'y' .*float32, takes torch.float16"),
        ((None, None, 2**40, 1.0), "'n' .*outside"),
        ((None, None, 8, "1"), "'scale' .*pass a float"),
        ((None, None, 8), "takes 4 arguments, 3 given"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_before_the_launch(values, says):
    device = Device()
    with pytest.raises(NativeCallError, match=says):
        kernel(LINE, device)[8, 4](*values)
    assert not device.launches


def test_a_kernel_called_without_a_range_says_how_to_give_one():
    with pytest.raises(NativeCallError, match=r"plane\[\(global,\), \(local,\)\]\(\.\.\.\)"):
        kernel(PLANE)(torch.zeros(1))


def test_a_parameter_that_python_cannot_pass_is_named():
    with pytest.raises(NativeCallError, match="sycl::float4"):
        kernel(MARK.format(1) + "void f(sycl::float4 x) {}")[1, 1](0)


def test_what_the_device_says_is_raised_with_kernel_and_range():
    with pytest.raises(LaunchError, match=r"plane over \(4, 4\) in groups of \(1, 1\): out of breath"):
        kernel(PLANE, Device(b"out of breath"))[(4, 4), (1, 1)](None)
