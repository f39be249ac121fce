"""A kernel's sizes and arguments are checked before anything is launched. No device is needed here."""

import ctypes
import struct

import pytest
import torch

from kernelwright.native import NativeCallError, SyclError
from kernelwright.native._signatures import signatures
from kernelwright.native._sycl_library import Kernel, SyclLibrary, program_of

MARK = 'extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<{}>)) '
LINE = MARK.format(1) + "void line(const float* x, sycl::half* y, int n, double scale) {}"
PLANE = MARK.format(2) + "void plane(float* x) {}"


class Device:
    """Takes down what it is asked to launch."""

    def __init__(self, fault=None):
        self.launches = []
        self.fault = fault

    def __call__(self, addresses, dimensions, whole, group):
        self.launches.append((list(addresses), dimensions, list(whole), list(group)))
        self.words = [ctypes.string_at(address, 4) for address in addresses]
        return self.fault


def kernel(text, device=None):
    (signature,) = signatures(text).values()
    return Kernel(signature, device or Device())


def test_the_property_says_how_many_dimensions_a_kernel_has():
    assert signatures(LINE)["line"].dimensions == 1
    assert signatures(PLANE)["plane"].dimensions == 2
    assert signatures('extern "C" void helper(float* x) {}')["helper"].dimensions == 0


def test_a_property_behind_a_macro_is_seen():
    text = "#define KERNEL SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((nd_range_kernel<3>))\n"
    assert signatures(text + 'extern "C" KERNEL void cube(float* x) {}')["cube"].dimensions == 3


def test_arguments_arrive_in_the_order_of_the_text():
    device = Device()
    kernel(MARK.format(1) + "void f(int a, float b, const float* c) {}", device)[(8,), (4,)](7, 0.5, 1234)
    assert device.words == [struct.pack("i", 7), struct.pack("f", 0.5), struct.pack("i", 1234)]
    assert device.launches[0][1:] == (1, [8], [4])


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
        (((10,), (4,)), r"cannot divide 10 work-items into groups of 4; ask for 12"),
        (((8, 8), (4, 4)), "has 1 dimensions, 2 given"),
        (((0,), (1,)), "positive ints"),
        (((8,), (-4,)), "positive ints"),
        (((8.0,), (4,)), "positive ints"),
        (((True,), (1,)), "positive ints"),
        ((2**63, 1), "positive ints"),
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
    (signature,) = signatures(MARK.format(1) + "void f(sycl::float4 x) {}").values()
    with pytest.raises(NativeCallError, match="sycl::float4"):
        SyclLibrary._bind(None, signature, Device())(0)


def test_what_the_device_says_is_raised_with_kernel_and_range():
    with pytest.raises(SyclError, match=r"plane over \(4, 4\) in groups of \(1, 1\): out of breath"):
        kernel(PLANE, Device(b"out of breath"))[(4, 4), (1, 1)](None)


def test_the_drivers_program_is_found_behind_the_launcher():
    assert program_of(b"launcher" + b"abc" + (3).to_bytes(8, "little")) == b"abc"
