"""A torch extension as torch's own loader builds them: C++ and CUDA files against torch's headers, one library.

What is compiled is what torch would compile, file by file and flag by flag, for the GPU in this machine alone, the
files at the same time, and first against stand-ins for torch's largest headers.
"""

import importlib.util
import json
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath

from kernelwright.native import _extension_headers as headers
from kernelwright.native._errors import CompileError, ToolchainError
from kernelwright.native._extension_flags import host_flags, link_flags, names_architecture, nvcc_flags
from kernelwright.native._language import OUTPUT, Command, Language, Plan, register
from kernelwright.native._nvcc import architecture, nvcc, toolkit_flags
from kernelwright.native._nvcc_halves import halves
from kernelwright.native._source import Source
from kernelwright.native._toolchain import cpu_identity, toolchain

CPP, CUDA = "cpp-extension", "cuda-extension"
HOST_ENDINGS, DEVICE_ENDINGS = (".cpp", ".cc", ".cxx", ".c"), (".cu",)
STAND_INS, ADDED = "kernelwright-stand-ins", "kernelwright-added"
SWITCH = "kernelwright_launches.cpp"
# What torch's own loader passes to nvcc.
NVCC = (
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "--expt-relaxed-constexpr",
    "-Xcompiler=-fPIC",
)
LAUNCHES = (
    "__cudaLaunchKernel",
    "__cudaLaunchKernel_ptsz",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cudaGraphLaunch",
)
LINK = ("-shared", "-Wl,--exclude-libs,ALL")
PATIENCE = 4.0
LARGEST = 4 << 20
_FILE = re.compile(r"[A-Za-z0-9_][\w.+/-]{0,199}")


@dataclass(frozen=True)
class Extension:
    """The files of an extension by name, and the flags that torch's loader takes for them."""

    name: str
    files: Mapping[str, str]
    cflags: tuple[str, ...] = ()
    cuda_cflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    cuda: bool = field(default=False)

    def source(self) -> Source:
        return Source(CUDA if self.cuda else CPP, json.dumps(asdict(self), sort_keys=True))

    @classmethod
    def read(cls, source: Source) -> "Extension":
        """The extension that a source says it is. Raises CompileError where it is none, or one with odd names."""
        try:
            said = json.loads(source.text)
            found = cls(
                name=_text(said["name"]),
                files={_text(name): _text(text) for name, text in said["files"].items()},
                cflags=tuple(map(_text, said["cflags"])),
                cuda_cflags=tuple(map(_text, said["cuda_cflags"])),
                ldflags=tuple(map(_text, said["ldflags"])),
                cuda=source.language == CUDA,
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise CompileError(f"not the description of an extension: {error}") from error
        return found.checked()

    def checked(self) -> "Extension":
        if not self.name.isidentifier() or not self.name.isascii():
            raise CompileError(f"the extension's name is {self.name!r}; it must be a name that Python and C++ allow")
        for name in self.files:
            if not _FILE.fullmatch(name) or ".." in PurePosixPath(name).parts:
                raise CompileError(f"a file of the extension is named {name!r}; use letters, digits, _ and .")
        if sum(map(len, self.files.values())) > LARGEST:
            raise CompileError(f"the extension's files are larger than {LARGEST >> 20} MiB together")
        if not self.units(HOST_ENDINGS) + self.units(DEVICE_ENDINGS):
            raise CompileError("the extension has no file to compile; give it C++ or CUDA sources")
        return self

    def units(self, endings: tuple[str, ...]) -> list[str]:
        """The files to compile, of one kind."""
        return [name for name in self.files if name.endswith(endings)]

    @property
    def text(self) -> str:
        return "\n".join(self.files.values())


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


# *** plans ***


def _plans(source: Source) -> Iterable[Plan]:
    extension = Extension.read(source)
    torch = _torch()
    added = {f"{ADDED}/{name}": text for name, text in headers.missing_headers(torch / "include").items()}
    if headers.suffice(extension.text):
        small = headers.stand_ins(extension.text, torch / "include")
        files = {f"{STAND_INS}/{name}": text for name, text in small.items()}
        yield _plan(extension, torch, {**added, **files}, lacks=True)
    yield _plan(extension, torch, added, lacks=False)


def _plan(extension: Extension, torch: Path, added: Mapping[str, str], *, lacks: bool) -> Plan:
    """`lacks`: against stand-ins, which may lack a declaration."""
    switch = {SWITCH: Path(__file__).with_name("_extension_launches.cpp").read_text()} if extension.cuda else {}
    own = [f"-I{STAND_INS}", "-DAT_PER_OPERATOR_HEADERS"] if lacks else []
    host, device = [*_host(extension, torch, own), *_switch(extension)], _device(extension, torch, own)
    link = _link(extension, torch, [command[-1] for command in (*host, *device.values())])
    parts = [halves(command, unit) for unit, command in device.items()]
    first = [*host, *(half for part in parts for half in part.first)]
    named = {file: text for part in parts for file, text in part.files.items()}
    then = [command for part in parts for command in part.then]
    return Plan(
        {**extension.files, **switch, **added, **named},
        [first, then, [link]] if then else [first, [link]],
        gives_way=lambda error: lacks and headers.may_lack(error.log, torch / "include"),
    )


def _host(extension: Extension, torch: Path, own: list[str]) -> list[Command]:
    flags = ["-fPIC", f"-std={_standard(torch)}", *host_flags(extension.cflags), "-fdiagnostics-color=never"]
    return [
        [str(toolchain().path), *own, *_common(extension, unit, torch), *flags, "-c", unit, "-o", f"{unit}.o"]
        for unit in extension.units(HOST_ENDINGS)
    ]


def _device(extension: Extension, torch: Path, own: list[str]) -> dict[str, Command]:
    flags = nvcc_flags(extension.cuda_cflags)
    if not extension.units(DEVICE_ENDINGS):
        return {}
    if not names_architecture(flags):
        flags.append(f"-arch={architecture()}")
    if not any(flag.startswith("-std=") for flag in flags):
        flags.append(f"-std={_standard(torch)}")
    return {
        unit: [str(nvcc().path), *own, *_common(extension, unit, torch), *NVCC, *flags, "-c", unit, "-o", f"{unit}.o"]
        for unit in extension.units(DEVICE_ENDINGS)
    }


def _switch(extension: Extension) -> list[Command]:
    """The object that stands between the extension and the CUDA runtime wherever a kernel is launched."""
    if not extension.cuda:
        return []
    return [[str(toolchain().path), "-O2", "-fPIC", *toolkit_flags()[0], "-c", SWITCH, "-o", f"{SWITCH}.o"]]


def _common(extension: Extension, unit: str, torch: Path) -> list[str]:
    include = torch / "include"
    system = [include, include / "torch/csrc/api/include", Path(sysconfig.get_path("include"))]
    python = [f"-D{headers.PYTHON}"] if headers.makes_bindings(extension.files[unit]) else []
    named = [f"-DTORCH_EXTENSION_NAME={extension.name}", "-DTORCH_API_INCLUDE_EXTENSION_H", *python]
    cuda = toolkit_flags()[0] if extension.cuda else []
    return [*named, f"-I{ADDED}", "-I.", *(word for folder in system for word in ("-isystem", str(folder))), *cuda]


def _link(extension: Extension, torch: Path, objects: list[str]) -> Command:
    searched, libraries, extra = [f"-L{torch / 'lib'}"], ["c10", "torch_cpu", "torch", "torch_python"], list[str]()
    if extension.cuda:
        searched += toolkit_flags()[1]
        libraries += ["c10_cuda", "torch_cuda"]
        extra = [*(f"-Wl,--wrap={launch}" for launch in LAUNCHES), "-lcudart_static", "-lrt", "-lpthread", "-ldl"]
    # A torch without CUDA lacks some: then the library links, and cannot be loaded.
    there = [f"-l{name}" for name in libraries if (torch / f"lib/lib{name}.so").exists()]
    flags = (*LINK, *objects, *searched, *link_flags(extension.ldflags), *there, *extra)
    return [str(toolchain().path), *flags, "-o", OUTPUT]


# *** what is installed ***


def _torch() -> Path:
    """Torch's folder, found without importing it. Raises ToolchainError where an extension cannot be compiled."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise ToolchainError("torch is not installed; run `pip install torch`")
    folder = Path(found.origin).parent
    if not (folder / "include/torch/extension.h").exists():
        raise ToolchainError("the torch installed here has no headers, so no extension can be compiled; reinstall it")
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise ToolchainError("Python's headers are not installed, so no extension can be compiled: no Python.h")
    return folder


def _standard(torch: Path) -> str:
    """The C++ standard that this torch's own loader compiles for."""
    found = re.search(r"'-std=(c\+\+\d\d)'", (torch / "utils/cpp_extension.py").read_text())
    return found[1] if found else "c++17"


def _identity(source: Source) -> str:
    torch = _torch()
    version = (torch / "version.py").read_text()
    flags = (*NVCC, *LAUNCHES, *LINK, headers.IDENTITY)
    return "\n".join((toolchain().version, cpu_identity(), str(torch), version, sys.version, *flags))


def _cuda_identity(source: Source) -> str:
    switch = Path(__file__).with_name("_extension_launches.cpp").read_text()
    return "\n".join((_identity(source), nvcc().version, architecture(), switch))


register(Language(name=CPP, identity=_identity, plans=_plans, patience=PATIENCE))
register(Language(name=CUDA, identity=_cuda_identity, plans=_plans, patience=PATIENCE))
