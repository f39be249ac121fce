"""What a candidate holds after `native.cpp`: functions by name, and calls that check before they jump."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch

from kernelwright import native

TEXT = r"""
#include <cmath>
#include <cstdint>
struct Shape { int rows; };

extern "C" void scale(const float* __restrict__ x, float* __restrict__ y, int64_t n, float by) {
    #pragma omp parallel for
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * by;
}
extern "C" {
double total(const double* x, int n) { double sum = 0; for (int i = 0; i < n; ++i) sum += x[i]; return sum; }
bool is_null(const void* p) { return p == nullptr; }
bool negate(bool value) { return !value; }
int32_t first_int(const int32_t* x) { return x[0]; }
int64_t first_long(const int64_t* x) { return x[0]; }
uint8_t first_byte(const uint8_t* x) { return x[0]; }
uint16_t first_word(const uint16_t* x) { return x[0]; }
int64_t opaque(const Shape* shape) { return shape->rows; }
bool first_bool(const bool* x) { return x[0]; }
uint8_t narrow(uint8_t value) { return value; }
uint64_t wide(uint64_t value) { return value; }
float half_by_value(_Float16 value) { return value; }
float* pointer_back(float* x) { return x; }
float rounded(float value) { return value; }
}
"""


@pytest.fixture
def lib():
    return native.cpp(TEXT)


def test_a_function_reads_and_writes_tensors(lib):
    x, y = torch.arange(100.0), torch.empty(100)
    assert lib.scale(x, y, 100, 3) is None
    assert torch.equal(y, x * 3)


def test_values_come_back_as_python_values(lib):
    assert lib.total(torch.tensor([1.0, 2.5], dtype=torch.float64), 2) == 3.5
    assert lib.negate(False) is True
    assert lib.rounded(0.1) == np.float32(0.1)
    assert lib.wide(2**64 - 1) == 2**64 - 1


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        ("first_int", torch.int32),
        ("first_long", torch.int64),
        ("first_byte", torch.uint8),
        ("first_byte", torch.bool),
        ("first_bool", torch.bool),
        ("opaque", torch.int32),
    ],
)
def test_tensors_whose_type_fits_the_pointer_pass(lib, function, dtype):
    assert getattr(lib, function)(torch.ones(4, dtype=dtype)) == 1


@pytest.mark.parametrize(("dtype", "word"), [(torch.float16, 0x3C00), (torch.bfloat16, 0x3F80)])
def test_half_precision_is_seen_as_its_words(lib, dtype, word):
    assert lib.first_word(torch.ones(1, dtype=dtype)) == word


def test_a_pointer_may_be_an_address_or_nothing(lib):
    x = torch.tensor([7], dtype=torch.int32)
    assert lib.first_int(x.data_ptr()) == 7
    assert lib.is_null(None) is True
    assert lib.is_null(x) is False


def test_a_tensor_that_requires_grad_passes(lib):
    assert lib.total(torch.ones(2, dtype=torch.float64, requires_grad=True), 2) == 2.0


def test_numpy_numbers_pass_as_scalars(lib):
    assert lib.narrow(np.int64(7)) == 7
    assert lib.rounded(np.float32(0.5)) == 0.5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda lib, x: lib.total(x), "takes 2 arguments, 1 given"),
        (lambda lib, x: lib.total(x.float(), 2), "'x' .* torch.float32, takes torch.float64"),
        (lambda lib, x: lib.total(x[::2], 2), r"'x' .* not contiguous .* call \.contiguous\(\) first"),
        (lambda lib, x: lib.total(x.to("meta"), 2), r"'x' .* on meta; .* call \.cpu\(\) first"),
        (lambda lib, x: lib.total(x.to_sparse(), 2), "'x' .* torch.sparse_coo"),
        (lambda lib, x: lib.total(x.numpy(), 2), "'x' .* ndarray; pass a torch tensor"),
        (lambda lib, x: lib.total([1.0], 2), "'x' .* list; pass a torch tensor"),
        (lambda lib, x: lib.total(True, 2), "'x' .* bool True; pass a torch tensor"),
        (lambda lib, x: lib.total(x, 2.0), "'n' .* float 2.0; pass an int"),
        (
            lambda lib, x: lib.total(x, torch.tensor(2)),
            r"'n' .* Tensor; pass an int, such as tensor.item\(\)",
        ),
        (lambda lib, x: lib.total(x, 2**31), "'n' .* 2147483648, outside -2147483648..2147483647"),
        (lambda lib, x: lib.narrow(-1), "'value' .* -1, outside 0..255"),
        (lambda lib, x: lib.rounded("1"), "'value' .* str '1'; pass a float"),
        (lambda lib, x: lib.rounded(10**400), "'value' .* too large"),
        (lambda lib, x: lib.negate(2), "'value' .* int 2; pass True or False"),
        (lambda lib, x: lib.first_bool(torch.ones(1, dtype=torch.uint8)), "takes torch.bool"),
    ],
)
def test_arguments_that_do_not_fit_never_reach_the_function(lib, call, says):
    with pytest.raises(native.NativeCallError, match=says):
        call(lib, torch.ones(4, dtype=torch.float64))


@pytest.mark.parametrize(("function", "says"), [("half_by_value", "_Float16"), ("pointer_back", r"float\*")])
def test_a_function_python_cannot_call_says_so_when_it_is_called(lib, function, says):
    with pytest.raises(native.NativeCallError, match=f"{function}.* {says}"):
        getattr(lib, function)(1)


def test_a_misspelt_function_is_answered_with_the_right_one(lib):
    with pytest.raises(AttributeError, match=r"'scael'; did you mean scale\? the library has: scale, total"):
        _ = lib.scael


def test_the_functions_are_listed_and_described(lib):
    assert {"scale", "total", "negate"} <= set(dir(lib))
    assert lib.scale.__doc__ == "void scale(const float* __restrict__ x, float* __restrict__ y, int64_t n, float by)"


def test_the_library_remembers_what_it_was_made_of(lib):
    assert lib.__kernelwright_source__ == native.Source("cpp", TEXT)
    assert lib.path.is_file()


def test_a_module_that_holds_a_library_can_be_copied_and_pickled(lib):
    assert copy.deepcopy({"lib": lib})["lib"] is lib
    assert pickle.loads(pickle.dumps(lib)).negate(True) is False


def test_text_without_an_exported_function_is_an_error_before_compiling():
    with pytest.raises(native.CompileError, match='no extern "C" function'):
        native.cpp("void plain(int a) { this does not compile }")


def test_a_function_the_build_left_out_is_told_apart_from_a_misspelt_one():
    lib = native.cpp('#ifdef NOT_DEFINED\nextern "C" void f() {}\n#endif\nextern "C" void g() {}')
    with pytest.raises(AttributeError, match="f stands in the text"):
        _ = lib.f


def test_a_file_that_is_no_library_is_a_compile_error(tmp_path):
    fake = tmp_path / "fake.so"
    fake.write_text("not a library")
    native.set_builder(lambda source: fake)
    try:
        with pytest.raises(native.CompileError, match="does not load"):
            native.cpp('extern "C" void f() {}')
    finally:
        native.set_builder(None)


def test_a_builder_set_for_the_process_is_asked_instead_of_the_compiler(lib):
    asked = []

    def builder(source):
        asked.append(source)
        return lib.path

    native.set_builder(builder)
    try:
        assert native.cpp(TEXT, ["-O2"]).negate(True) is False
    finally:
        native.set_builder(None)
    assert asked == [native.Source("cpp", TEXT, ("-O2",))]
    assert native.cpp(TEXT).path == lib.path


def test_no_framework_is_imported_until_a_tensor_is_passed():
    code = "import sys; from kernelwright import native; print({'torch', 'numpy'} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "set()"
