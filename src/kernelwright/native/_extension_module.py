"""A built torch extension in this process: a Python module, or one whose functions do nothing. Compiles nothing."""

import ctypes
import importlib.util
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelwright.native._errors import CompileError
from kernelwright.native._extension import Extension
from kernelwright.native._mute import is_muted


def open_module(extension: Extension, path: Path) -> ModuleType:
    """The extension as torch's loader would give it."""
    if extension.cuda and not _torch_has_cuda():
        return _Unopened(extension.name)
    module = _import(extension.name, path)
    return _muted(module, path, extension) if is_muted() else module


def open_library(extension: Extension, path: Path) -> None:
    """Loads an extension that registers operators and is no module."""
    if extension.cuda and not _torch_has_cuda():
        return
    try:
        library = ctypes.CDLL(str(path))
    except OSError as fault:
        raise _does_not_load(fault) from fault
    if is_muted() and extension.cuda:
        library.kernelwright_mute_launches()


class _Unopened(ModuleType):
    """Stands for an extension with CUDA where torch has none: it was compiled, and nothing of it can be called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def refuse(*values: Any, **named: Any) -> Any:
            raise RuntimeError(f"{name} is for a GPU; the torch installed here is built without CUDA")

        return refuse


def _torch_has_cuda() -> bool:
    import torch

    return torch.version.cuda is not None


def _import(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path, loader=ExtensionFileLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as fault:
        raise _does_not_load(fault) from fault
    return module


def _does_not_load(fault: Exception) -> CompileError:
    return CompileError(f"the extension compiled but does not load: {fault}", str(fault))


def _muted(module: ModuleType, path: Path, extension: Extension) -> ModuleType:
    """With CUDA its functions run and its launches do not; without, its functions are those that do nothing."""
    if extension.cuda:
        ctypes.CDLL(str(path)).kernelwright_mute_launches()
        return module
    silent = ModuleType(module.__name__)
    for name in (name for name in dir(module) if not name.startswith("__")):
        value = getattr(module, name)
        setattr(silent, name, _nothing if callable(value) else value)
    return silent


def _nothing(*values: Any, **named: Any) -> None:
    """Stands in for a function of a module: does nothing, returns nothing."""
