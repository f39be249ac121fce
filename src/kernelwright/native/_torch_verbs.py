"""`load_inline` and `load` as torch has them, for a process that may not compile: same names, arguments and results.

The files are put together as torch does and built by this process's builder. What torch's functions say about folders
and progress (`build_directory`, `verbose`, `keep_intermediates`, `use_pch`) has nothing to act on here.
"""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelwright.native._builder import build
from kernelwright.native._errors import CompileError
from kernelwright.native._extension import DEVICE_ENDINGS, HOST_ENDINGS, Extension
from kernelwright.native._extension_module import open_library, open_module
from kernelwright.native._source import Source

MODULE = "torch.utils.cpp_extension"
CUDA_INCLUDES = ("#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>")
Texts = str | Sequence[str]
_INCLUDED = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)


def load_inline(
    name: str,
    cpp_sources: Texts,
    cuda_sources: Texts | None = None,
    sycl_sources: Texts | None = None,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
) -> Any:
    """Compile C++ and CUDA given as text, with bindings for `functions`, and import it. Raises CompileError."""
    _no_sycl(sycl_sources, with_sycl)
    files = _inline_files(cpp_sources, cuda_sources, functions, with_pytorch_error_handling, no_implicit_headers)
    found = dict(_headers(files.values(), _folders(extra_include_paths)))
    flags = (extra_cflags, extra_cuda_cflags, extra_ldflags)
    return _built(_described(name, {**found, **files}, flags, with_cuda), is_python_module)


def inline_source(
    name: str,
    cpp_sources: Texts,
    cuda_sources: Texts | None = None,
    functions: Any = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    with_cuda: bool | None = None,
    with_pytorch_error_handling: bool = True,
    no_implicit_headers: bool = False,
) -> Source:
    """What is compiled where `load_inline` is called with these, and with no headers of the author's own."""
    files = _inline_files(cpp_sources, cuda_sources, functions, with_pytorch_error_handling, no_implicit_headers)
    return _described(name, files, (extra_cflags, extra_cuda_cflags, extra_ldflags), with_cuda).source()


def _inline_files(
    cpp_sources: Texts, cuda_sources: Texts | None, functions: Any, handle_errors: bool, bare: bool
) -> dict[str, str]:
    cpp = [*([] if bare else ["#include <torch/extension.h>"]), *_texts(cpp_sources)]
    files = {"main.cpp": "\n".join([*cpp, *_bindings(functions, handle_errors)])}
    if cuda_sources:
        files["cuda.cu"] = "\n".join([*([] if bare else CUDA_INCLUDES), *_texts(cuda_sources)])
    return files


def load(
    name: str,
    sources: str | Sequence[str],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
) -> Any:
    """Compile C++ and CUDA files and import them. Raises CompileError."""
    paths = [Path(path) for path in ([sources] if isinstance(sources, str) else sources)]
    _no_sycl([path for path in paths if path.suffix == ".sycl"], with_sycl)
    if is_standalone:
        raise CompileError("a standalone program cannot be judged; leave is_standalone away")
    files = {path.name: _read(path) for path in paths}
    if len(files) < len(paths):
        raise CompileError("two sources of the extension have the same file name; rename one")
    folders = [*dict.fromkeys(path.parent for path in paths), *_folders(extra_include_paths)]
    found = dict(_headers(files.values(), folders))
    flags = (extra_cflags, extra_cuda_cflags, extra_ldflags)
    return _built(_described(name, {**found, **files}, flags, with_cuda), is_python_module)


def take_over_extensions() -> None:
    """From now on, in this process, `torch.utils.cpp_extension` is a module with these two functions.

    Torch's own is not even imported: it looks for compilers, and takes long.
    """
    import torch

    module = ModuleType(MODULE, "Torch's extension loader, as far as candidates need it.")
    module.__dict__.update(load=load, load_inline=load_inline, CUDA_HOME=_cuda_home())
    sys.modules[MODULE] = module
    setattr(torch.utils, "cpp_extension", module)  # noqa: B010


def _cuda_home() -> str | None:
    found = shutil.which("nvcc")
    return str(Path(found).resolve().parents[1]) if found else None


def _described(
    name: str, files: Mapping[str, str], flags: tuple[Sequence[str] | None, ...], with_cuda: bool | None
) -> Extension:
    cuda = any(file.endswith(DEVICE_ENDINGS) for file in files) if with_cuda is None else bool(with_cuda)
    cflags, cuda_cflags, ldflags = (tuple(map(str, _texts(given or ()))) for given in flags)
    return Extension(name, files, cflags, cuda_cflags, ldflags, cuda).checked()


def _built(extension: Extension, is_python_module: bool) -> Any:
    path = build(extension.source())
    if is_python_module:
        return open_module(extension, path)
    open_library(extension, path)
    return str(path)


def _texts(given: Texts) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _no_sycl(sources: object, with_sycl: bool | None) -> None:
    if sources or with_sycl:
        raise CompileError("SYCL in a torch extension cannot be judged; write it with native.sycl")


def _bindings(functions: Any, handle_errors: bool) -> list[str]:
    """The module that torch writes around functions it is given by name."""
    if functions is None:
        return []
    named = {functions: functions} if isinstance(functions, str) else functions
    if not isinstance(named, dict | list | tuple):
        raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")
    documented = named if isinstance(named, dict) else {name: name for name in named}
    wrap = "torch::wrap_pybind_function({})" if handle_errors else "{}"
    lines = [f'm.def("{name}", {wrap.format(name)}, "{text}");' for name, text in documented.items()]
    return ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *lines, "}"]


def _folders(paths: Sequence[str] | None) -> list[Path]:
    return [Path(path) for path in paths or ()]


def _headers(texts: Iterable[str], folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The headers of the author's own that texts include in quotes, and what those include."""
    waiting, seen = list(texts), set[str]()
    while waiting:
        for name in _INCLUDED.findall(waiting.pop()):
            path = next((folder / name for folder in folders if (folder / name).is_file()), None)
            if path is not None and name not in seen and not name.endswith((*HOST_ENDINGS, *DEVICE_ENDINGS)):
                seen.add(name)
                waiting.append(_read(path))
                yield name, waiting[-1]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"a source of the extension cannot be read: {error}") from error
