"""The texts that a candidate will have compiled, as far as they stand in its file. Nothing is executed."""

import ast
import inspect
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kernelwright import native
from kernelwright.backends._names import Names, parse


def native_sources(candidate_text: str) -> tuple[native.Source, ...]:
    """What the verbs that compile are called with, where that is written out."""
    tree = parse(candidate_text)
    if tree is None:
        return ()
    written = _written(tree)
    calls = [(_VERBS[origin], call) for origin, call in Names(tree).calls(tree) if origin in _VERBS]
    return tuple(source for verb, call in calls for source in _source(verb, call, written))


def _cpp(text: str, flags: Sequence[str] | str = ()) -> native.Source:
    return native.Source("cpp", text, _split(flags))


def _sycl(text: str, flags: Sequence[str] | str = ()) -> native.Source:
    return native.Source("sycl", text, _split(flags))


def _split(flags: Sequence[str] | str) -> tuple[str, ...]:
    return tuple(shlex.split(flags) if isinstance(flags, str) else flags)


_VERBS: dict[str, Callable[..., native.Source]] = {
    "kernelwright.native.cpp": _cpp,
    "kernelwright.native.cuda": native.cuda_source,
    "kernelwright.native.sycl": _sycl,
    "torch.utils.cpp_extension.load_inline": native.inline_source,
}
# What of a call changes nothing in what is compiled.
_IDLE = frozenset({"verbose", "build_directory", "keep_intermediates", "use_pch", "is_python_module"})


class _Unwritten(Exception):
    """A value that the file does not tell."""


def _written(tree: ast.Module) -> dict[str, Any]:
    """Names at the top of the file that stand for literals."""
    found: dict[str, Any] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.pop(name, None)
                try:
                    found[name] = _literal(value, found)
                except _Unwritten:
                    continue
    return found


def _literal(node: ast.expr, written: dict[str, Any]) -> Any:
    match node:
        case ast.Name(id=name) if name in written:
            return written[name]
        case ast.JoinedStr(values=parts):
            return "".join(str(_literal(part, written)) for part in parts)
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return _literal(value, written)
        case ast.List(elts=items):
            return [_literal(item, written) for item in items]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise _Unwritten from error


def _source(verb: Callable[..., native.Source], call: ast.Call, written: dict[str, Any]) -> Iterator[native.Source]:
    """Nothing where it is not written out, or makes no sense: the candidate is told when it asks."""
    try:
        given = [_literal(argument, written) for argument in call.args]
        named = {
            str(keyword.arg): _literal(keyword.value, written) for keyword in call.keywords if keyword.arg not in _IDLE
        }
        inspect.signature(verb).bind(*given, **named)
        source = verb(*given, **named)
    except (_Unwritten, native.CompileError, TypeError, ValueError, AttributeError, RecursionError):
        return
    if isinstance(source.text, str) and all(isinstance(flag, str) for flag in source.flags):
        yield source
