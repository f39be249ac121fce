"""Answers as models and people really write them, and what should come of each.

`whole`: the source that must come out, but for white space at its ends; `holds`: pieces it must hold; `lacks`: pieces
it must not; `problem`: a piece of the sentence where nothing usable comes out.
"""

import json
from dataclasses import dataclass

KERNEL = '''import torch

from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>
extern "C" void relu(const float* x, float* y, int64_t n) {
    #pragma omp parallel for simd
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
""")


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = torch.empty_like(x)
        lib.relu(x, y, x.numel())
        return y
'''

FASTER = KERNEL.replace("parallel for simd", "parallel for simd schedule(static)")
REFERENCE = "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    parent: str | None = None
    whole: str | None = None
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    problem: str = ""


def _fenced(text: str, info: str = "python", fence: str = "```") -> str:
    return f"{fence}{info}\n{text}{fence}\n"


USABLE = [
    Case("plain block", f"Fused into one pass.\n\n{_fenced(KERNEL)}", whole=KERNEL),
    Case("nothing but the block", _fenced(KERNEL), whole=KERNEL),
    Case("block without a language", _fenced(KERNEL, ""), whole=KERNEL),
    Case("tildes", _fenced(KERNEL, "python", "~~~"), whole=KERNEL),
    Case("four backticks", _fenced(KERNEL, "python", "````"), whole=KERNEL),
    Case("info with attributes", _fenced(KERNEL, 'python title="model_new.py" linenos'), whole=KERNEL),
    Case("capital letters and a blank", _fenced(KERNEL, " Python "), whole=KERNEL),
    Case("prose after the block", f"{_fenced(KERNEL)}\nThis should reach about 90 % of bandwidth.", whole=KERNEL),
    Case(
        "draft first, the better one last",
        f"First idea:\n\n{_fenced(KERNEL)}\nStatic scheduling is better. Final answer:\n\n{_fenced(FASTER)}",
        whole=FASTER,
    ),
    Case(
        "a usage example behind it",
        f"{_fenced(KERNEL)}\nTry it:\n\n```python\nmodel = ModelNew()\nprint(model(torch.randn(4)))\n```\n",
        whole=KERNEL,
    ),
    Case(
        "a shell command behind it",
        f"{_fenced(KERNEL)}\n```bash\nkernelwright eval task.py kernel.py\n```\n",
        whole=KERNEL,
    ),
    Case("the reference quoted first", f"You gave\n\n{_fenced(REFERENCE)}\nso\n\n{_fenced(KERNEL)}", whole=KERNEL),
    Case("the parent quoted last", f"{_fenced(FASTER)}\nwhich replaces\n\n{_fenced(KERNEL)}", KERNEL, whole=FASTER),
    Case("thoughts", f"<think>\nMaybe {_fenced(FASTER)} or not.\n</think>\n\n{_fenced(KERNEL)}", whole=KERNEL),
    Case("thoughts whose first tag is missing", f"Hm. {_fenced(FASTER)}\n</think>\n{_fenced(KERNEL)}", whole=KERNEL),
    Case("thoughts twice", f"<thinking>a</thinking>\n{_fenced(KERNEL)}\n<Thinking>good?</Thinking>", whole=KERNEL),
    Case(
        "channels of a chat format",
        "<|channel|>analysis<|message|>We need a kernel.<|end|><|start|>assistant<|channel|>final<|message|>"
        f"{_fenced(KERNEL)}<|return|>",
        whole=KERNEL,
    ),
    Case("an end token", f"{_fenced(KERNEL)}<|im_end|>", whole=KERNEL),
    Case("Windows line ends", f"Here:\n\n{_fenced(KERNEL)}".replace("\n", "\r\n"), whole=KERNEL),
    Case("a byte order mark and no fence", "\ufeff" + KERNEL, whole=KERNEL),
    Case("no fence", KERNEL, whole=KERNEL),
    Case("no fence, prose around", f"Sure! Here is the file.\n\n{KERNEL}\nIt is memory bound now.\n", whole=KERNEL),
    Case(
        "fences inside a docstring",
        _fenced(f'"""Softmax.\n\n```\nkernelwright eval task.py\n```\n"""\n{KERNEL}'),
        whole=f'"""Softmax.\n\n```\nkernelwright eval task.py\n```\n"""\n{KERNEL}',
    ),
    Case(
        "fences inside the kernel's text",
        _fenced(KERNEL.replace("#include <cstdint>", "/*\n```\ny = max(x, 0)\n```\n*/\n#include <cstdint>")),
        holds=("y = max(x, 0)", "class ModelNew", "lib.relu(x, y, x.numel())"),
    ),
    Case(
        "a fence in a list, indented",
        "1. Fuse.\n2. The file:\n\n   ```python\n"
        + "".join(f"   {line}\n" for line in KERNEL.splitlines())
        + "   ```\n",
        whole=KERNEL,
    ),
    Case(
        "quoted as in a letter",
        "> ```python\n" + "".join(f"> {line}".rstrip() + "\n" for line in KERNEL.splitlines()) + "> ```\n",
        holds=("class ModelNew", "return y"),
    ),
    Case("the closing fence is missing", f"Here:\n\n```python\n{KERNEL}", whole=KERNEL),
    Case(
        "cut off in what follows the class",
        f"```python\n{KERNEL}\n\ndef get_inputs():\n    return [torch.randn(1024,",
        whole=KERNEL,
    ),
    Case(
        "a complete block, then one that was cut off",
        f"{_fenced(KERNEL)}\nEven better:\n\n```python\n{FASTER[:200]}",
        whole=KERNEL,
    ),
    Case(
        "in pieces",
        "The kernel:\n\n"
        + _fenced(KERNEL.split("\n\n\nclass")[0] + "\n")
        + "\nand the module:\n\n"
        + _fenced("class" + KERNEL.split("\n\n\nclass")[1]),
        holds=("import torch", "native.cpp(", "class ModelNew", "return y"),
    ),
    Case(
        "two files, one read by the other",
        "### relu.cu\n\n```cuda\n__global__ void relu(float* y) { y[threadIdx.x] = 0; }\n```\n\n### model_new.py\n\n"
        "```python\nimport torch\nfrom pathlib import Path\nfrom kernelwright import native\n\n"
        'lib = native.cuda(Path(__file__).with_name("relu.cu").read_text())\n\n\n'
        "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n```\n",
        holds=("__global__ void relu", "class ModelNew", "native.cuda("),
        lacks=("read_text",),
    ),
    Case(
        "two files, one opened by the other",
        "`kernel.cpp`:\n```cpp\n// kernel.cpp\nint one() { return 1; }\n```\n"
        '```python\nimport torch\nsource = open("kernel.cpp").read()\n\n\n'
        "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n```\n",
        holds=("int one() { return 1; }", "class ModelNew"),
        lacks=("open(",),
    ),
    Case(
        "two modules, one imported by the other",
        "```python\n# kernels.py\nimport triton\n\n\n@triton.jit\ndef relu_kernel(x):\n    pass\n```\n\n"
        "```python\n# model.py\nimport torch\nfrom kernels import relu_kernel\n\n\n"
        "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        relu_kernel[(1,)](x)\n"
        "        return x\n```\n",
        holds=("@triton.jit", "def relu_kernel", "class ModelNew"),
        lacks=("from kernels import",),
    ),
    Case(
        "in pieces, with an import from the future in the second",
        _fenced("import torch\n\nSCALE = 2\n")
        + "\nthen\n\n"
        + _fenced(
            "from __future__ import annotations\n\n\nclass ModelNew(torch.nn.Module):\n"
            "    def forward(self, x):\n        return x * SCALE\n"
        ),
        holds=("import torch", "SCALE = 2", "class ModelNew"),
    ),
    Case(
        "a module imported inside a function is left to the judge",
        _fenced("# helpers.py\ndef f(x):\n    return x\n")
        + _fenced(
            "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        def load():\n"
            "            from helpers import f\n        return x\n"
        ),
        holds=("from helpers import f",),
    ),
    Case(
        "edits",
        "Static scheduling.\n\n<<<<<<< SEARCH\n    #pragma omp parallel for simd\n=======\n"
        "    #pragma omp parallel for simd schedule(static)\n>>>>>>> REPLACE\n",
        KERNEL,
        whole=FASTER,
    ),
    Case(
        "edits in a fence, with a file's name",
        "```python\n<<<<<<< SEARCH model.py\n    #pragma omp parallel for simd\n=======\n"
        "    #pragma omp parallel for simd schedule(static)\n>>>>>>> REPLACE\n```\n",
        KERNEL,
        whole=FASTER,
    ),
    Case(
        "edits with Windows line ends, indented as in the request",
        "    <<<<<<< SEARCH\r\n        #pragma omp parallel for simd\r\n    =======\r\n"
        "        #pragma omp parallel for simd schedule(static)\r\n    >>>>>>> REPLACE\r\n",
        KERNEL,
        whole=FASTER,
    ),
    Case(
        "edits whose indentation is lost",
        "<<<<<<< SEARCH\n#pragma omp parallel for simd\n=======\n"
        "#pragma omp parallel for simd schedule(static)\n>>>>>>> REPLACE\n",
        KERNEL,
        whole=FASTER,
    ),
    Case(
        "two edits of which one takes lines away",
        "<<<<<<< SEARCH\n    #pragma omp parallel for simd\n=======\n>>>>>>> REPLACE\n\nand\n\n"
        "<<<<<<< SEARCH\n        y = torch.empty_like(x)\n=======\n        x = x.contiguous()\n"
        "        y = torch.empty_like(x)\n>>>>>>> REPLACE",
        KERNEL,
        holds=("x = x.contiguous()",),
        lacks=("#pragma",),
    ),
    Case(
        "the parent quoted in full, then edits",
        f"{_fenced(KERNEL)}\n<<<<<<< SEARCH\n    #pragma omp parallel for simd\n=======\n"
        "    #pragma omp parallel for simd schedule(static)\n>>>>>>> REPLACE\n",
        KERNEL,
        whole=FASTER,
    ),
    Case("JSON", '{"reason": "fused", "code": ' + json.dumps(KERNEL) + "}", whole=KERNEL),
    Case(
        "JSON in a fence, code fenced inside",
        "```json\n" + json.dumps({"answer": [{"text": _fenced(KERNEL)}]}) + "\n```\n",
        whole=KERNEL,
    ),
    Case("a syntax error is left to the judge", _fenced(KERNEL.replace("return y", "return y)")), holds=("return y)",)),
    Case(
        "ModelNew is another name for a class",
        _fenced(f"{REFERENCE}\n\nModelNew = Model\n"),
        holds=("ModelNew = Model",),
    ),
]

UNUSABLE = [
    Case("nothing", "", problem="the answer is empty"),
    Case("blanks", " \n\n\t", problem="the answer is empty"),
    Case("only thoughts", f"<think>{_fenced(KERNEL)}", problem="but thoughts"),
    Case("a refusal", "I'm sorry, I can't help with that.", problem="holds no code"),
    Case("prose about ModelNew", "ModelNew should use tiles of 128 x 128.", problem="holds no code"),
    Case("only the native part", "```cpp\nint main() {}\n```\n", problem="no block of the answer defines ModelNew"),
    Case("Model in place of ModelNew", _fenced(REFERENCE), problem="defines Model, not ModelNew"),
    Case("the parent unchanged", f"It is optimal.\n\n{_fenced(KERNEL)}", KERNEL, problem="changes nothing"),
    Case("cut off inside the kernel", f"```python\n{KERNEL[:150]}", problem="cut off before ModelNew"),
    Case("cut off inside forward", f"```python\n{KERNEL[: KERNEL.index('        lib.relu')]}", problem="cut off"),
    Case("cut off inside a line", f"```python\n{KERNEL[: KERNEL.index('numel')]}", problem="cut off"),
    Case("cut off inside an edit", "<<<<<<< SEARCH\n    #pragma\n=======\n    #pra", KERNEL, problem="cut off inside"),
    Case("edits and no parent", "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", problem="edits of no kernel"),
    Case("an edit that fits nowhere", "<<<<<<< SEARCH\nfoo()\n=======\nb\n>>>>>>> REPLACE", KERNEL, problem="'foo()'"),
    Case("an edit that fits twice", "<<<<<<< SEARCH\ny\n=======\nz\n>>>>>>> REPLACE", KERNEL, problem="more than one"),
    Case("an edit of nothing", "<<<<<<< SEARCH\n\n=======\nz\n>>>>>>> REPLACE", KERNEL, problem="empty SEARCH"),
    Case(
        "edits that change nothing",
        "<<<<<<< SEARCH\n        return y\n=======\n        return y\n>>>>>>> REPLACE",
        KERNEL,
        problem="the edits change nothing",
    ),
    Case(
        "an edit that takes the class's name",
        "<<<<<<< SEARCH\nclass ModelNew(torch.nn.Module):\n=======\nclass Fast(torch.nn.Module):\n>>>>>>> REPLACE",
        KERNEL,
        problem="take ModelNew away",
    ),
    Case(
        "a diff",
        "```diff\n--- a/model.py\n+++ b/model.py\n@@ -1,2 +1,2 @@\n-a\n+b\n```\n",
        KERNEL,
        problem="is a diff",
    ),
    Case("far too long", "x" * 400_001, problem="more than 400000"),
]
