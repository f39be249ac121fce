"""Which names of the outside world belong to which family of things worth a look."""

_FAMILIES: dict[str, tuple[str, ...]] = {
    "threads": (
        "threading",
        "_thread",
        "concurrent",
        "multiprocessing",
        "asyncio",
        "torch.multiprocessing",
        "torch.jit.fork",
        "torch.futures",
    ),
    "subprocess": ("subprocess", "pty", "os.system", "os.popen", "os.fork", "os.forkpty", "os.posix_spawn"),
    "ctypes": ("ctypes", "_ctypes", "cffi", "mmap"),
    "gc-walk": ("gc",),
    "frame-walk": (
        "inspect",
        "traceback",
        "sys._getframe",
        "sys._current_frames",
        "sys.exc_info",
        "sys.settrace",
        "sys.setprofile",
        "globals",
        "locals",
    ),
    "environment": ("os.environ", "os.environb", "os.getenv", "os.putenv", "os.unsetenv"),
    "sleep": ("time.sleep", "torch.cuda._sleep"),
    "clock": ("time", "timeit", "datetime", "torch.utils.benchmark", "torch.cuda.Event", "torch.profiler"),
    "streams": ("torch.cuda.Stream", "torch.cuda.stream", "torch.cuda.set_stream", "torch.cuda.CUDAGraph"),
    "files": (
        "open",
        "io",
        "glob",
        "pathlib",
        "shutil",
        "tempfile",
        "pickle",
        "os.open",
        "os.listdir",
        "os.walk",
        "torch.load",
        "torch.save",
        "numpy.load",
        "numpy.save",
        "numpy.memmap",
    ),
    "network": ("socket", "urllib", "http", "requests", "ssl"),
    "dynamic-code": ("eval", "exec", "compile", "__import__", "importlib", "builtins"),
    "torch-compile": ("torch.compile", "torch.jit"),
    "process-control": ("exit", "quit", "signal", "resource", "sys.exit", "os._exit", "os.kill", "os.abort"),
    "exit-hook": ("atexit", "weakref.finalize"),
    "monkey-patch": ("sys.modules", "sys.meta_path", "unittest.mock", "torch.library"),
    "caches-global": ("functools.lru_cache", "functools.cache", "functools.cached_property"),
    "except-fallback": ("contextlib.suppress",),
    "tensor-subclass": (
        "torch.overrides",
        "torch.utils._python_dispatch",
        "torch.Tensor._make_subclass",
        "torch.Tensor._make_wrapper_subclass",
    ),
    "global-setting": (
        "torch.backends",
        "torch.set_num_threads",
        "torch.set_num_interop_threads",
        "torch.set_default_dtype",
        "torch.set_default_device",
        "torch.set_flush_denormal",
        "torch.set_float32_matmul_precision",
        "torch.use_deterministic_algorithms",
        "torch.manual_seed",
        "numpy.random.seed",
        "random.seed",
    ),
    "internals": ("kernelwright", "torch._C", "torch._dynamo", "torch._inductor"),
}
_BY_NAME = {name: family for family, members in _FAMILIES.items() for name in members}
# Whole families of functions that the operating system module names by prefix.
_BY_PREFIX = {"os.exec": "subprocess", "os.spawn": "subprocess"}
# Inside `kernelwright`, this much is made for candidates.
_FOR_CANDIDATES = (
    "kernelwright",
    "kernelwright.native",
    "kernelwright.native.cpp",
    "kernelwright.native.cuda",
    "kernelwright.native.sycl",
    "kernelwright.native.Library",
)


def family_of(origin: str) -> str | None:
    """The family of a dotted origin: that of the longest listed name it starts with.

    What a call returned has none: the call itself has been seen, and its result may be used on many lines.
    """
    if origin in _FOR_CANDIDATES or "()" in origin:
        return None
    parts = origin.split(".")
    beginnings = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    listed = next((_BY_NAME[name] for name in beginnings if name in _BY_NAME), None)
    return listed or next((family for prefix, family in _BY_PREFIX.items() if origin.startswith(prefix)), None)
