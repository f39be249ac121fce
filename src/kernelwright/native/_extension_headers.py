"""Small stand-ins for torch's largest headers, so that an extension compiles in seconds and not in a minute.

`torch/extension.h` declares all of torch, and nvcc reads it three times; a kernel's host code needs tensors, a few
factories and a few macros. The stand-ins include torch's own headers for just what a text names. Whatever they leave
out is an error of the compiler's, and then the true headers are used.
"""

import re
from collections.abc import Mapping
from pathlib import Path

# Set while the stand-ins are read: headers that every operator's header includes and few need are left out then.
_GUARD = "KERNELWRIGHT_STAND_IN"
# Set for a file that makes Python bindings.
PYTHON = "KERNELWRIGHT_PYTHON"
_QUALIFIED = re.compile(r"\b(?:torch|at)\s*::\s*([a-z_]\w*)")
_WORD = re.compile(r"\b[a-z_]\w*")
_OPENED = re.compile(r"\busing\s+namespace\s+(?:torch|at)\b")
_BINDS = re.compile(r"\bPYBIND11_|\bpybind11\b|\bpy::|\bPyObject\b")
# Parts of torch that the stand-ins do not have, or of which they have something else.
_NEEDS_ALL = re.compile(
    r"""
      \btorch\s*::\s*(?:nn|autograd|optim|jit|data|fft|linalg|special|serialize|python|tensor|indexing)\b
    | \bTORCH_LIBRARY | \brequires_grad\b | \bat::native\b
    | \bgetCurrentCUDA(?:Blas|Sparse|Solver)\w* | \bCUDAGeneratorImpl\b | \bPhilox\w*
    """,
    re.VERBOSE,
)
_BEFORE = f"""#pragma once
#define {_GUARD}
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/Dispatch.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>
"""
_AFTER = f"""#include <ATen/TensorOperators.h>
#undef {_GUARD}
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <vector>
#include <torch/version.h>
"""
_EXTENSION = f"""#pragma once
#include <torch/types.h>
#ifdef {PYTHON}
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
#endif
"""
_TYPES_ONLY = "#pragma once\n#include <torch/types.h>\n"
_CUDA_CONTEXT = """#pragma once
#include <cuda_runtime_api.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#define AT_CUDA_CHECK(expression) C10_CUDA_CHECK(expression)
namespace at::cuda {
inline bool is_available() { return c10::cuda::device_count() > 0; }
TORCH_CUDA_CPP_API cudaDeviceProp* getCurrentDeviceProperties();
TORCH_CUDA_CPP_API cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
TORCH_CUDA_CPP_API int warp_size();
}
"""
# A torch built without CUDA has all of its CUDA headers but this one, which a build writes.
_CUDA_MACROS = "c10/cuda/impl/cuda_cmake_macros.h"
_FIXED = {
    "torch/extension.h": _EXTENSION,
    "torch/all.h": _EXTENSION,
    "torch/torch.h": _EXTENSION,
    "ATen/ATen.h": _TYPES_ONLY,
    "ATen/cuda/CUDAContext.h": _CUDA_CONTEXT,
    "ATen/Context.h": f"#ifndef {_GUARD}\n#include_next <ATen/Context.h>\n#endif\n",
    "ATen/TensorUtils.h": f"#ifndef {_GUARD}\n#include_next <ATen/TensorUtils.h>\n#endif\n",
    "ATen/DeviceGuard.h": f"#ifdef {_GUARD}\n#include <c10/core/DeviceGuard.h>\n#else\n"
    "#include_next <ATen/DeviceGuard.h>\n#endif\n",
}
IDENTITY = "\n".join((_BEFORE, _AFTER, *_FIXED, *_FIXED.values(), _NEEDS_ALL.pattern, _QUALIFIED.pattern))
# What more declarations cannot mend.
_OWN_FAULT = re.compile(
    r"error:? *(?:#\d+: )?(?:expected |missing |unrecognized token|unterminated |stray )"
    r"|already been defined|redefinition of"
)
_UNKNOWN = re.compile(r"identifier \"(\w+)\" is undefined|'(\w+)' was not declared in this scope")
_ERROR = re.compile(r"\berror:")


def suffice(text: str) -> bool:
    """Whether stand-ins are worth a try for this text."""
    return not _NEEDS_ALL.search(text)


def makes_bindings(text: str) -> bool:
    return _BINDS.search(text) is not None


def stand_ins(text: str, include: Path) -> Mapping[str, str]:
    """The stand-ins for a text, by name; `include` is the folder of torch's own headers."""
    return {"torch/types.h": _types(text, include), **_FIXED}


def missing_headers(include: Path) -> Mapping[str, str]:
    """Headers without which nothing for CUDA compiles, and which this torch lacks."""
    return {} if (include / _CUDA_MACROS).exists() else {_CUDA_MACROS: "#pragma once\n"}


def may_lack(log: str, include: Path) -> bool:
    """Whether the compiler's first complaint, from which others follow, may be for want of a declaration of torch's."""
    first = next(filter(_ERROR.search, log.splitlines()), "")
    unknown = _UNKNOWN.search(first)
    return _mentions(include, unknown[1] or unknown[2]) if unknown else not _OWN_FAULT.search(first)


def _mentions(include: Path, name: str) -> bool:
    """Whether any of torch's headers has this word; a second or two, against most of a minute for another try."""
    word = re.compile(rf"\b{name}\b".encode())
    return any(word.search(header.read_bytes()) for header in include.rglob("*.h"))


def _types(text: str, include: Path) -> str:
    operators = sorted(_operators(text, include))
    lists = any("ITensorListRef" in (include / header).read_text() for header in operators)
    wanted = ["ATen/core/IListRef.h", *operators] if lists else operators
    own = (include / "torch/csrc/api/include/torch/types.h").read_text()
    names = "\n".join(line for line in own.splitlines() if not line.startswith(("#include", "#pragma once")))
    return _BEFORE + "".join(f"#include <{header}>\n" for header in wanted) + _AFTER + names + "\n"


def _operators(text: str, include: Path) -> set[str]:
    """Headers of the operators that a text calls as functions."""
    found = set((_WORD if _OPENED.search(text) else _QUALIFIED).findall(text))
    headers = (f"ATen/ops/{name}.h" for name in found)
    return {header for header in headers if (include / header).exists()}
