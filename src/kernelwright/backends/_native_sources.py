"""The texts that a candidate will have compiled, as far as they stand in its file. Nothing is executed."""

import ast
import shlex
from collections.abc import Iterator

from kernelwright import native
from kernelwright.backends._names import Names, parse

_VERBS = {f"kernelwright.native.{language}": language for language in ("cpp", "cuda", "sycl")}


def native_sources(candidate_text: str) -> tuple[native.Source, ...]:
    """What `native.cpp`, `native.cuda` and `native.sycl` are called with, where that is written out."""
    tree = parse(candidate_text)
    if tree is None:
        return ()
    written = _written(tree)
    calls = [(_VERBS[origin], call) for origin, call in Names(tree).calls(tree) if origin in _VERBS]
    return tuple(source for language, call in calls for source in _source(language, call, written))


def _written(tree: ast.Module) -> dict[str, object]:
    """Names at the top of the file that stand for literals."""
    found: dict[str, object] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = _literal(value, found)
    return found


def _literal(node: ast.expr, written: dict[str, object]) -> object:
    if isinstance(node, ast.Name):
        return written.get(node.id)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _source(language: str, call: ast.Call, written: dict[str, object]) -> Iterator[native.Source]:
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given = dict(zip(("text", "flags"), call.args, strict=False)) | named
    text = _literal(given["text"], written) if "text" in given else None
    flags = _literal(given["flags"], written) if "flags" in given else ()
    split = _split(flags)
    if isinstance(text, str) and split is not None:
        yield native.Source(language, text, split)


def _split(flags: object) -> tuple[str, ...] | None:
    """Flags as the verbs take them: a list, or one string. None for anything else."""
    if isinstance(flags, str):
        try:
            return tuple(shlex.split(flags))
        except ValueError:
            return None
    if isinstance(flags, list | tuple) and all(isinstance(flag, str) for flag in flags):
        return tuple(flags)
    return None
