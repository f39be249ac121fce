"""A candidate's file: what of its Python can run, which native texts it has compiled, which names of them it calls."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from kernelwright.backends._names import Names, parse, path
from kernelwright.backends._strategy._c_family import read_c_family
from kernelwright.backends._strategy._program import Launch, Program
from kernelwright.backends._strategy._triton_text import read_triton
from kernelwright.backends._strategy._vocabulary import Vocabulary

_VERBS = {
    "kernelwright.native.cpp": ("cpp",),
    "kernelwright.native.cuda": ("cuda",),
    "kernelwright.native.sycl": ("sycl",),
    "torch.utils.cpp_extension.load_inline": ("cpp", "cuda"),
}
_JIT = ("triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit", "triton.experimental.gluon.jit")
# Stands for a value that an f-string or a template would put in.
_SOME_NUMBER = "16"
# Longer texts are read up to here.
LONGEST = 400_000


def native_programs(source: str, language: str, vocabulary: Vocabulary) -> Iterator[Program]:
    """The programs that a candidate has compiled in a language; a text that is no Python is taken for the program."""
    tree = parse(source[:LONGEST])
    if tree is None:
        yield read_c_family(source[:LONGEST], vocabulary, ())
        return
    living = _living(tree)
    called = {node.attr for each in living for node in ast.walk(each) if isinstance(node, ast.Attribute)}
    launches = tuple(launch for node in living for launch in _launches(node))
    for text in _compiled(tree, living, language):
        program = read_c_family(text[:LONGEST], vocabulary, called)
        yield replace(program, launches=program.launches + launches)


def _launches(node: ast.AST) -> Iterator[Launch]:
    """Kernels started from Python: `lib.kernel[sizes](x, y)`."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    for call in sorted(calls, key=lambda each: (each.lineno, each.col_offset)):
        match call.func:
            case ast.Subscript(value=ast.Attribute(attr=kernel)) | ast.Subscript(value=ast.Name(id=kernel)):
                yield Launch(kernel, tuple(path(argument) or "" for argument in call.args))


def triton_programs(source: str) -> Iterator[Program]:
    """The kernels of a file that it launches."""
    tree = parse(source[:LONGEST])
    if tree is None:
        return
    names = Names(tree)
    kernels = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_kernel(node, names)]
    host = [node for node in _living(tree) if node not in kernels]
    if kernels:
        launches = tuple(launch for node in host for launch in _launches(node))
        yield read_triton(kernels, host, names, launches)


def _is_kernel(node: ast.FunctionDef, names: Names) -> bool:
    return any(names.of(mark.func if isinstance(mark, ast.Call) else mark) in _JIT for mark in node.decorator_list)


# --- which Python runs -----------------------------------------------------------------------------------------------


class _WithoutDeadBranches(ast.NodeTransformer):
    """`if False:` never runs, nor does a method that nobody calls."""

    def __init__(self, called: set[str]) -> None:
        self._called = called

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return (node.body if node.test.value else node.orelse) or [ast.Pass()]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.body = [each for each in node.body if self._runs(each)] or [ast.Pass()]
        return node

    def _runs(self, node: ast.stmt) -> bool:
        if not isinstance(node, ast.FunctionDef):
            return True
        return node.name == "forward" or node.name.startswith("__") or node.name in self._called


def _living(tree: ast.Module) -> list[ast.stmt]:
    """The statements of a file that run, and the functions and classes that they mention."""
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    tree = _WithoutDeadBranches(called).visit(tree)
    definitions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    waiting: list[ast.stmt] = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    waiting += [node for node in definitions if node.name == "ModelNew"] or definitions
    living: list[ast.stmt] = []
    while waiting:
        mentioned = {name.id for node in waiting for name in ast.walk(node) if isinstance(name, ast.Name)}
        living += waiting
        waiting = [node for node in definitions if node.name in mentioned and node not in living]
    return living


# --- which texts are compiled ----------------------------------------------------------------------------------------


def _compiled(tree: ast.Module, living: list[ast.stmt], language: str) -> Iterator[str]:
    """By call, all its text in one piece: `load_inline` takes several."""
    names, written = Names(tree), _written(living)
    for node in living:
        for origin, call in names.calls(node):
            if language in _VERBS.get(origin, ()) and _is_in(language, call, len(_VERBS[origin])):
                given = [*call.args, *(keyword.value for keyword in call.keywords if _is_text(keyword.arg))]
                yield "\n".join(text for argument in given for text in _texts(argument, written))


def _is_in(language: str, call: ast.Call, languages: int) -> bool:
    """`load_inline` is C++ unless it is given CUDA."""
    if languages == 1:
        return True
    cuda = [keyword.value for keyword in call.keywords if keyword.arg == "cuda_sources"] or call.args[2:3]
    return (language == "cuda") == any(not (isinstance(each, ast.Constant) and not each.value) for each in cuda)


def _is_text(name: str | None) -> bool:
    return name in ("text", "cpp_sources", "cuda_sources")


def _written(living: list[ast.stmt]) -> dict[str, ast.expr]:
    """What names stand for, the last time they are assigned."""
    return {
        target.id: node.value
        for each in living
        for node in ast.walk(each)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _texts(node: ast.expr, written: dict[str, ast.expr], depth: int = 0) -> Iterator[str]:
    """The text of an expression as far as the file tells it."""
    if depth > 20:
        return
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else _SOME_NUMBER for each in values)
        case ast.Name(id=name) if name in written:
            yield from _texts(written[name], written, depth + 1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield "".join(text for each in (left, right) for text in _texts(each, written, depth + 1))
        case ast.BinOp(left=left) | ast.Call(func=ast.Attribute(value=left)):
            yield from _texts(left, written, depth + 1)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                yield from _texts(item, written, depth + 1)
