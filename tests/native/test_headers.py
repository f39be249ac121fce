"""Standard headers are compiled once, and a text means the same with them as without."""

import pytest

from kernelwright import native
from kernelwright.native import _headers
from kernelwright.native._cpp import COMPILE


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(_headers, "_met", type(_headers._met)())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#include <cmath>\n#include <cstdint>\nint x;", ("cmath", "cstdint")),
        ("\n// a kernel\n#  include <omp.h>  // threads\nint x;\n#include <cmath>", ("omp.h",)),
        ("#define NDEBUG\n#include <cassert>", ()),
        ("#include <cmath>\n#include <unheard/of.h>\n#include <vector>", ("cmath",)),
        ('#include <cmath>\n#include "mine.h"', ("cmath",)),
        ("/* long */ #include <cmath>", ()),
    ],
)
def test_what_a_text_begins_with(text, found):
    assert _headers.leading(text) == found


def test_headers_are_compiled_when_they_come_up_again_and_are_used(tmp_path):
    text = '#include <cmath>\nextern "C" double root(double x) { return std::sqrt(x); }'
    source = native.Source("cpp", text)
    native.expect(source)
    assert _headers.options(text, COMPILE) == []
    native.expect(source)
    include, header = _headers.options(text, COMPILE)
    assert include == "-include"
    with open(header, "a") as file:
        file.write("#error gcc reads this where the compiled form does not fit\n")
    native.compile_source(source, tmp_path / "kernel.so")


def test_every_set_of_flags_has_headers_of_its_own():
    text = "#include <cmath>\nint x;"
    for _ in range(2):
        native.expect(native.Source("cpp", text, ("-ffast-math",)))
    assert _headers.options(text, COMPILE) == []
    assert _headers.options(text, (*COMPILE, "-ffast-math"))


@pytest.mark.parametrize("flag", ["-Dfloat=double", "-fplugin=mine.so", "-include/etc/passwd"])
def test_no_headers_are_compiled_with_macros_or_flags_that_are_not_allowed(flag):
    for _ in range(2):
        native.expect(native.Source("cpp", "#include <cmath>\nint x;", (flag,)))
    assert not _headers.headers_dir().exists()


def test_few_are_kept(monkeypatch):
    monkeypatch.setattr(_headers, "MOST_KEPT", 1)
    for text in ("#include <cmath>\nint x;", "#include <cstdint>\nint x;"):
        for _ in range(2):
            native.expect(native.Source("cpp", text))
    assert _headers.options("#include <cmath>\nint x;", COMPILE) == []
    assert _headers.options("#include <cstdint>\nint x;", COMPILE)


def test_headers_that_cannot_be_compiled_cost_nothing_but_time(monkeypatch):
    monkeypatch.setattr(_headers, "KNOWN", _headers.KNOWN | {"no_such_header"})
    text = "#include <no_such_header>\nint x;"
    for _ in range(3):
        native.expect(native.Source("cpp", text))
    assert _headers.options(text, COMPILE) == []
    assert list(_headers.headers_dir().iterdir()) == []
