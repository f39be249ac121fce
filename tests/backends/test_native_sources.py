"""The texts that a candidate will have compiled are read from its file; what is not written there is left."""

import pytest

from kernelwright.backends import native_sources
from kernelwright.native import Source

HEAD = "from kernelwright import native\nTEXT = 'int f();'\nFLAGS = ['-O2']\n"


@pytest.mark.parametrize(
    ("call", "source"),
    [
        ("native.cpp('int f();')", Source("cpp", "int f();")),
        ("native.cuda(TEXT)", Source("cuda", "int f();")),
        ("native.sycl(text=TEXT, flags='-DN=1 -O1')", Source("sycl", "int f();", ("-DN=1", "-O1"))),
        ("native.cpp(TEXT, FLAGS)", Source("cpp", "int f();", ("-O2",))),
    ],
)
def test_what_is_written_out_is_found(call, source):
    assert native_sources(f"{HEAD}lib = {call}\n") == (source,)


@pytest.mark.parametrize(
    "call",
    [
        "native.cpp(TEXT % 3)",
        "native.cpp(make())",
        "native.cpp(TEXT, flags=[3])",
        "native.cpp(TEXT, flags='\"')",
        "native.cpp()",
        "native.cpp(7)",
        "other.cpp(TEXT)",
    ],
)
def test_what_is_not_is_left_to_the_candidate(call):
    assert native_sources(f"{HEAD}lib = {call}\n") == ()


def test_no_python_no_texts():
    assert native_sources("class (:") == ()
