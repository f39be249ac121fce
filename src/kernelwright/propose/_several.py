"""Answers in several pieces, put together into the one file that is wanted.

A block may read a sibling block as a file, import it as a module, or simply go on where an earlier block left off.
"""

import ast
import re
from collections.abc import Sequence
from pathlib import PurePath

from kernelwright.propose._fences import Block
from kernelwright.propose._python import bound, defines, lacking, tree_of

_READERS = frozenset({"read", "read_text"})
_FUTURE = re.compile(r"^from __future__ import .*\n", re.MULTILINE)


def joined(main: str, others: Sequence[Block]) -> str:
    """The main text with whatever it needs of the other blocks; the text itself if it needs nothing."""
    named = {block.name: block.text for block in others if block.name}
    text = _with_files(main, named)
    text = _with_modules(text, {name.removesuffix(".py"): part for name, part in named.items() if name.endswith(".py")})
    text = _with_earlier(text, [block.text for block in others if block.is_python])
    return _future_first(text) if text != main and defines(text) else main


def _future_first(text: str) -> str:
    """Imports from the future must stand before everything else, wherever they stood in their piece."""
    imports = dict.fromkeys(_FUTURE.findall(text))
    return "".join([*imports, _FUTURE.sub("", text)])


# *** files that are read ***


def _with_files(main: str, files: dict[str, str]) -> str:
    """`open("kernel.cu").read()` becomes the text itself, where the answer brought that file."""
    tree = tree_of(main)
    if tree is None or not files:
        return main
    found = [(node, name) for node in ast.walk(tree) if isinstance(node, ast.Call) for name in _file_read(node, files)]
    for node, name in sorted(found, key=lambda pair: (-pair[0].lineno, -pair[0].col_offset)):
        main = _spliced(main, node, repr(files[name]))
    return main


def _file_read(call: ast.Call, files: dict[str, str]) -> list[str]:
    """The sibling file that a call like `open(...).read()` or `Path(...).read_text()` reads."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in _READERS):
        return []
    texts = [node.value for node in ast.walk(call.func.value) if isinstance(node, ast.Constant)]
    names = [PurePath(text).name for text in texts if isinstance(text, str)]
    return [name for name in names if name in files][:1]


def _spliced(text: str, node: ast.expr, new: str) -> str:
    """The text with an expression replaced. Offsets of the tree count bytes."""
    lines = [line.encode() for line in text.split("\n")]
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    head, tail = lines[node.lineno - 1][: node.col_offset], lines[node.end_lineno - 1][node.end_col_offset :]
    made = [*lines[: node.lineno - 1], head + new.encode() + tail, *lines[node.end_lineno :]]
    return b"\n".join(made).decode()


# *** modules that are imported ***


def _with_modules(main: str, modules: dict[str, str]) -> str:
    """`from kernels import f` becomes the module's text, where the answer brought `kernels.py`."""
    tree = tree_of(main)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)] if tree else []
    for node in sorted(imports, key=lambda node: -node.lineno):
        name = (node.module or "").rpartition(".")[2]
        if name in modules and not any(alias.asname for alias in node.names):
            main = modules[name] + "\n\n\n" + _without(main, node)
    return main


def _without(text: str, node: ast.stmt) -> str:
    lines = text.split("\n")
    return "\n".join([*lines[: node.lineno - 1], *lines[node.end_lineno or node.lineno :]])


# *** one file in several blocks ***


def _with_earlier(main: str, earlier: Sequence[str]) -> str:
    """The blocks before that bind what the main text lacks, the last that does for each name, in their order."""
    needed: set[int] = set()
    wanted = lacking(main)
    for place in reversed(range(len(earlier))):
        tree = tree_of(earlier[place])
        if tree is not None and bound(tree) & wanted:
            needed.add(place)
            wanted = (wanted - bound(tree)) | lacking(earlier[place])
    return "\n\n\n".join([*(earlier[place].strip("\n") for place in sorted(needed)), main])
