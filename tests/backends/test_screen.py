"""What in a candidate is pointed out for a closer look, and what is left alone."""

import textwrap

import pytest

from kernelwright import backends


def screen(text, backend="python"):
    return backends.get(backend).screen(textwrap.dedent(text).strip("\n"))


def in_forward(body):
    head = "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
    return head + textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)


HONEST = '''
import torch
import torch.nn as nn
from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>
static inline float square(float a) { return a * a; }
static constexpr int WIDTH = 16;
extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; ++r) { y[r] = square(x[r]); }
}
""")


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        self.lib = lib

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        self.lib.softmax(y, x, *x.shape)
        return y.view(-1)
'''


def test_a_kernel_that_only_calls_its_library_has_nothing_to_show():
    assert screen(HONEST, "cpp") == ()


@pytest.mark.parametrize(
    ("family", "line", "text"),
    [
        ("threads", 2, "import threading\nthreading.Thread(target=print).start()"),
        ("threads", 2, "from concurrent.futures import ThreadPoolExecutor as Pool\nPool()"),
        ("subprocess", 2, "import os\nos.system('true')"),
        ("subprocess", 2, "import os\nos.execvp('a', [])"),
        ("subprocess", 2, "import os\ngetattr(os, 'system')('true')"),
        ("subprocess", 1, "__import__('subprocess').run('true')"),
        ("subprocess", 3, "import os\nrun = os.popen\nrun('true')"),
        ("ctypes", 2, "import ctypes\nctypes.CDLL(None)"),
        ("gc-walk", 2, "import gc\ngc.get_objects()"),
        ("frame-walk", 2, "import sys\nsys._getframe(1)"),
        ("frame-walk", 2, "def f(e):\n    return e.__traceback__.tb_frame"),
        ("environment", 2, "import os\nos.environ['A'] = 'b'"),
        ("sleep", 2, "from time import sleep as rest\nrest(1)"),
        ("clock", 2, "import time\ntime.perf_counter()"),
        ("files", 1, "open('answers')"),
        ("files", 2, "import torch\ntorch.load('answers')"),
        ("network", 2, "import socket\nsocket.socket()"),
        ("dynamic-code", 1, "eval('1')"),
        ("torch-compile", 2, "import torch\nf = torch.compile(print)"),
        ("process-control", 2, "import os\nos._exit(0)"),
        ("exit-hook", 2, "class A:\n    def __del__(self): pass"),
        ("streams", 2, "import torch\ns = torch.cuda.Stream()"),
        ("global-setting", 2, "import torch\ntorch.backends.cudnn.allow_tf32 = True"),
        ("internals", 2, "from kernelwright import native\nnative.set_builder(None)"),
        ("internals", 2, "import kernelwright.judge\nkernelwright.judge.x"),
        ("monkey-patch", 2, "import torch\ntorch.allclose = lambda *a: True"),
        ("monkey-patch", 2, "import torch\nsetattr(torch.cuda, 'synchronize', print)"),
        ("monkey-patch", 2, "import sys\nsys.modules['torch'] = None"),
        ("monkey-patch", 2, "def f(x):\n    x.__class__ = int"),
        ("tensor-subclass", 2, "import torch\nclass Lazy(torch.Tensor): pass"),
        ("tensor-subclass", 2, "class A:\n    def __torch_function__(self): pass"),
        ("except-fallback", 3, "try:\n    pass\nexcept Exception:\n    x = 1"),
        ("except-fallback", 2, "import contextlib\nwith contextlib.suppress(OSError): pass"),
        ("caches-global", 2, "import functools\n@functools.lru_cache\ndef f(): pass"),
        ("caches-global", 3, "seen = {}\ndef f(x):\n    seen[x] = 1"),
        ("caches-global", 2, "def f():\n    global seen"),
        ("caches-global", 1, "def f(x, seen={}): pass"),
        ("star-import", 1, "from os import *"),
        ("large-literal", 1, f"blob = {'A' * 300!r}"),
        ("large-literal", 1, f"blob = {b'A' * 300!r}"),
        ("large-literal", 1, f"table = {list(range(64))}"),
        ("large-literal", 1, f"code = 'float t[] = {{{'0.25f, ' * 64}}};'"),
    ],
)
def test_a_family_is_named_with_its_line(family, line, text):
    assert f"{family}:{line}" in screen(text)


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("matmul", "return x @ x"),
        ("mm", "return torch.mm(x, x)"),
        ("softmax", "return F.softmax(x, -1)"),
        ("relu", "return x.relu_()"),
        ("norm", "return torch.linalg.norm(x)"),
        ("sum", "y = torch.empty(3)\nreturn y.sum()"),
        ("mm", "return torch.ops.aten.mm(x, x)"),
    ],
)
def test_work_left_to_torch_is_named_by_its_operation(operation, body):
    text = "import torch\nimport torch.nn.functional as F\n" + in_forward(body)
    assert f"torch-compute:{operation}" in {flag.rpartition(":")[0] for flag in screen(text)}


def test_a_layer_counts_when_it_is_called_not_when_it_is_made():
    made = """
    from torch import nn
    class ModelNew(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(3, 3)
        def forward(self, x):
            return self.fc.weight
    """
    assert screen(made) == ()
    assert screen("import torch\nlayer = torch.nn.Linear(3, 3)") == ()
    assert screen(made.replace("self.fc.weight", "self.fc(x)")) == ("torch-compute:Linear:6",)


def test_writing_to_self_counts_after_construction_only():
    text = """
    class ModelNew:
        def __init__(self):
            self.a = 1
        def forward(self, x):
            self.last = x
            self.seen[x] = 1
            return x
    """
    assert screen(text) == ("caches-on-self:5", "caches-on-self:6")


def test_an_exception_passed_on_is_no_fallback():
    assert screen("try:\n    pass\nexcept ValueError as fault:\n    raise RuntimeError('no') from fault") == ()


def test_what_a_call_returned_is_not_reported_at_each_use():
    assert screen("import time\nstart = time.time()\nprint(start)\nprint(start)") == ("clock:2",)


def test_writing_to_a_tensor_of_ones_own_is_no_patch():
    assert screen("import torch\ny = torch.empty(3)\ny.requires_grad = True") == ()


def test_an_import_alone_is_not_reported():
    assert screen("import os, time, threading, subprocess") == ()


def test_a_local_object_with_a_telling_name_is_not_the_module():
    assert screen("def f(time, lib):\n    return lib.system(1)") == ()


def test_flags_come_in_the_order_of_the_file_and_once_a_line():
    text = "import gc, os\nos.getenv('a'), os.getenv('b'), gc.collect()\nos.getenv('c')"
    assert screen(text) == ("environment:2", "gc-walk:2", "environment:3")


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("native-include", '#include "/etc/hostname"'),
        ("native-include", "#include <../secret.h>"),
        ("native-files", 'asm(".incbin \\"answers\\"");'),
        ("native-asm", '__asm__ volatile("nop");'),
        ("native-on-load", "__attribute__((constructor)) void early() {}"),
        ("native-threads", "std::thread worker(run);"),
        ("native-process", 'system("true");'),
        ("native-loader", "dlsym(nullptr, name);"),
        ("native-environment", 'getenv("HOME");'),
        ("native-sleep", "usleep(100);"),
        ("native-clock", "std::chrono::steady_clock::now();"),
        ("native-static", "static float kept[64];"),
        ("native-static", "static std::vector<float> kept;"),
        ("native-static", "thread_local bool ready = false;"),
    ],
)
def test_cpp_text_is_looked_at_too_with_lines_of_the_candidate(family, code):
    text = f"from kernelwright import native\nlib = native.cpp(r'''\n{code}\nextern \"C\" void f() {{}}\n''')\n"
    assert f"{family}:3" in screen(text, "cpp")


def test_screening_a_hostile_text_ends_soon():
    padding = "static " * 20_000 + "#include <" * 20_000
    assert screen(f"text = '''extern \"C\" {padding}'''", "cpp") == ()
