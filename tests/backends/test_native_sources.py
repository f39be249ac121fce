"""The texts that a candidate will have compiled are read from its file; what is not written there is left."""

import pytest

from kernelwright.backends import native_sources
from kernelwright.native import Source, cuda_source, inline_source

HEAD = """\
from kernelwright import native
from torch.utils.cpp_extension import load_inline
TEXT = 'int f();'
KERNEL = '__global__ void k() {}'
FLAGS = ['-O2']
TILE = 8
"""


@pytest.mark.parametrize(
    ("call", "source"),
    [
        ("native.cpp('int f();')", Source("cpp", "int f();")),
        ("native.cuda(TEXT)", cuda_source("int f();")),
        ("native.cuda(KERNEL)", cuda_source("__global__ void k() {}")),
        ("load_inline('a', [TEXT], functions=['f'], verbose=loud())", inline_source("a", "int f();", functions=["f"])),
        ("native.sycl(text=TEXT, flags='-DN=1 -O1')", Source("sycl", "int f();", ("-DN=1", "-O1"))),
        ("native.cpp(TEXT, FLAGS)", Source("cpp", "int f();", ("-O2",))),
        ("native.cpp(TEXT, [f'-DTILE={TILE}'])", Source("cpp", "int f();", ("-DTILE=8",))),
    ],
)
def test_what_is_written_out_is_found(call, source):
    assert native_sources(f"{HEAD}lib = {call}\n") == (source,)


@pytest.mark.parametrize(
    "call",
    [
        "native.cpp(TEXT % 3)",
        "native.cpp(make())",
        "native.cpp(TEXT, [f'-DN={n()}'])",
        "native.cpp(TEXT, [f'-DN={TILE:x}'])",
        "native.cpp(TEXT, flags=[3])",
        "native.cpp(TEXT, flags='\"')",
        "native.cpp()",
        "native.cpp(7)",
        "native.cuda(7)",
        "load_inline('no name', TEXT)",
        "load_inline('a', TEXT, extra_include_paths=['.'])",
        "other.cpp(TEXT)",
    ],
)
def test_what_is_not_is_left_to_the_candidate(call):
    assert native_sources(f"{HEAD}lib = {call}\n") == ()


def test_no_python_no_texts():
    assert native_sources("class (:") == ()


def test_what_is_compiled_ahead_is_what_torchs_verb_asks_for(monkeypatch):
    from kernelwright.native import _torch_verbs

    asked = []
    monkeypatch.setattr(_torch_verbs, "build", asked.append)
    monkeypatch.setattr(_torch_verbs, "open_module", lambda *_: None)
    call = "load_inline(name='a', cpp_sources=TEXT, cuda_sources=KERNEL, functions=['f'], extra_cuda_cflags=FLAGS)"
    named = {"name": "a", "cpp_sources": "int f();", "cuda_sources": "__global__ void k() {}"}
    _torch_verbs.load_inline(**named, functions=["f"], extra_cuda_cflags=["-O2"])
    assert native_sources(f"{HEAD}lib = {call}\n") == tuple(asked)
