"""Host and device halves of a compilation, side by side: the same object as from nvcc itself."""

import shutil
import subprocess

import pytest

from kernelwright.native import _compile, _nvcc_halves

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc, the CUDA compiler, is not installed")
COMMAND = ["nvcc", "-std=c++17", "-Xcompiler=-fPIC", "-arch=sm_90", "-c", "k.cu", "-o", "k.cu.o"]
TEXT = """
namespace {
__device__ float table[4] = {1, 2, 3, 4};
__global__ void hidden(float* x) { x[threadIdx.x] *= table[threadIdx.x % 4]; }
}
__constant__ float scale;
template <typename T>
__global__ void scaled(T* x) { x[threadIdx.x] *= scale; }
void run(float* x, cudaStream_t stream) {
    hidden<<<1, 32, 0, stream>>>(x);
    scaled<float><<<1, 32, 0, stream>>>(x);
}
"""


@needs_nvcc
def test_the_object_is_the_one_that_nvcc_makes(tmp_path):
    whole, apart = tmp_path / "whole", tmp_path / "apart"
    for folder in (whole, apart):
        folder.mkdir()
        (folder / "k.cu").write_text(TEXT)
    subprocess.run([*COMMAND, "--keep"], cwd=whole, check=True)
    halves = _nvcc_halves.halves(COMMAND, "k.cu")
    assert len(halves.first) == 2
    assert list(halves.files) == ["k.module_id"]
    (apart / "k.module_id").write_bytes((whole / "k.module_id").read_bytes())  # the only thing that may differ
    _compile._run_together(halves.first, apart, None)
    _compile._run_together(halves.then, apart, None)
    assert (apart / "k.cu.o").read_bytes() == (whole / "k.cu.o").read_bytes()


def stub(folder, lines):
    """An nvcc that says this when asked what it would do."""
    path = folder / "nvcc"
    path.write_text("#!/bin/sh\ncat >&2 <<'END'\n" + lines + "\nEND\n")
    path.chmod(0o755)
    return [str(path), "-c", "k.cu", "-o", "k.cu.o"]


def test_a_compilation_of_another_form_stays_whole(tmp_path):
    command = stub(tmp_path, '#$ gcc -E "k.cu" -o "k.ii"\n#$ something-new "k.ii"')
    assert _nvcc_halves.halves(command, "k.cu") == _nvcc_halves.Halves([command])


def test_the_halves_are_told_apart_whatever_their_order(tmp_path):
    said = """#$ PATH=/somewhere
#$ gcc -D__CUDA_ARCH__=900 -E "k.cu" -o "k.cpp1.ii"
#$ cicc "k.cpp1.ii" -o "k.ptx"
#$ gcc -E "k.cu" -o "k.cpp4.ii"
#$ cudafe++ --gen_module_id_file --module_id_file_name "k.module_id" "k.cpp4.ii"
#$ gcc -c "k.cudafe1.cpp" -o "k.cu.o"
#$ rm k.ptx"""
    halves = _nvcc_halves.halves(stub(tmp_path, said), "k.cu")
    host, device = (command[-1].splitlines() for command in halves.first)
    assert host == [
        "export PATH=/somewhere",
        'gcc -E "k.cu" -o "k.cpp4.ii"',
        'cudafe++ --module_id_file_name "k.module_id" "k.cpp4.ii"',
    ]
    assert device[1:] == ['gcc -D__CUDA_ARCH__=900 -E "k.cu" -o "k.cpp1.ii"', 'cicc "k.cpp1.ii" -o "k.ptx"']
    assert halves.then[0][-1].splitlines()[1:] == ['gcc -c "k.cudafe1.cpp" -o "k.cu.o"']
