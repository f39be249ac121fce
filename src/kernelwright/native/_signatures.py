"""Reads the `extern "C"` functions out of C++ text. A reader of declarations, no compiler: what the compiler
rejects may pass here, and what a macro with parameters generates is not seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernelwright.native._ctype import Aliases, CType, read_type, type_and_name
from kernelwright.native._tokens import closing, is_word, tokens

# What marks a SYCL kernel: its parenthesis names the kind and the dimensions.
_SYCL_PROPERTY = "SYCL_EXT_ONEAPI_FUNCTION_PROPERTY"
# Each of these is followed by a parenthesis that says nothing about how arguments are passed.
_ANNOTATIONS = frozenset(
    f"""
    {_SYCL_PROPERTY} __attribute__ __attribute __declspec alignas noexcept throw _Pragma __asm__
    __launch_bounds__ __cluster_dims__ __maxnreg__ __align__
    """.split()
)
# CUDA's words for where a function runs: kernels are started from outside, device functions are not.
_KERNEL, _DEVICE, _HOST = "__global__", "__device__", "__host__"
_PLACES = frozenset({_KERNEL, _DEVICE, _HOST})
# Functions so marked are not exported, or only where something inside the library uses them.
_INLINE = {"inline", "__inline", "__inline__", "__forceinline"}
_LOCAL = frozenset({"static", "constexpr", "consteval", *_INLINE})
_OPENERS = frozenset("({[")


@dataclass(frozen=True)
class Parameter:
    name: str
    type: CType


@dataclass(frozen=True)
class Signature:
    """One function that can be called from outside.

    `kernel`: of CUDA, which has to be launched. `dimensions`: of the range a SYCL kernel is launched over, else 0.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: CType
    kernel: bool = False
    dimensions: int = 0

    def __str__(self) -> str:
        inside = ", ".join(f"{parameter.type.spelling} {parameter.name}" for parameter in self.parameters)
        return f"{self.returns.spelling} {self.name}({inside})"


def signatures(text: str) -> dict[str, Signature]:
    """The exported `extern "C"` function definitions of a C++ text, by name, in order of appearance."""
    items = tokens(text)
    aliases = _aliases(items)
    found: dict[str, Signature] = {}
    for head in _heads(items):
        signature = _signature(head, aliases)
        if signature:
            found.setdefault(signature.name, signature)
    return found


# *** declarations ***


def _heads(items: Sequence[str]) -> Iterator[list[str]]:
    """What stands before the body of every function defined with C linkage."""
    index = 0
    while index < len(items):
        if tuple(items[index : index + 2]) == ("extern", '"C"'):
            heads, index = _linkage(items, index + 2)
            yield from heads
        else:
            index += 1


def _linkage(items: Sequence[str], start: int) -> tuple[list[list[str]], int]:
    """The heads governed by the `extern "C"` before `start`, and where it ends."""
    if items[start : start + 1] == ["{"]:
        end = closing(items, start)
        return list(_block(items[start + 1 : end])), end + 1
    stop = _stop(items, start)
    if items[stop : stop + 1] == ["{"]:
        return [list(items[start:stop])], closing(items, stop) + 1
    return [], stop + 1


def _block(items: Sequence[str]) -> Iterator[list[str]]:
    """Heads of the functions directly in a linkage block, namespaces within it included."""
    start = 0
    while start < len(items):
        stop = _stop(items, start)
        head = list(items[start:stop])
        if items[stop : stop + 1] != ["{"]:
            start = stop + 1
            continue
        end = closing(items, stop)
        yield from _block(items[stop + 1 : end]) if _is_scope(head) else [head]
        start = end + 1


def _is_scope(head: Sequence[str]) -> bool:
    return head[:1] == ["namespace"] or head == ["extern", '"C"']


def _stop(items: Sequence[str], start: int) -> int:
    """Where a declaration's head ends: at its body, or at the semicolon after it or its initialiser."""
    index, initialiser = start, False
    while index < len(items) and items[index] != ";":
        if items[index] == "{" and not initialiser:
            return index
        initialiser = initialiser or items[index] == "="
        index = closing(items, index) + 1 if items[index] in _OPENERS else index + 1
    return index


# *** one function ***


def _signature(head: Sequence[str], aliases: Aliases) -> Signature | None:
    if head[:2] == ["extern", '"C"']:
        head = head[2:]
    marked = without_annotations(head)
    plain = [token for token in marked if token not in _PLACES]
    if "(" not in plain or _LOCAL.intersection(plain) or _only_on_device(marked):
        return None
    start = plain.index("(")
    end = closing(plain, start)
    if start == 0 or not is_word(plain[start - 1]):
        return None
    parameters = _parameters(plain[start + 1 : end], aliases)
    returns = _return_tokens(plain[: start - 1], plain[end + 1 :])
    return Signature(plain[start - 1], parameters, read_type(returns, aliases), _KERNEL in marked, _dimensions(head))


def _dimensions(head: Sequence[str]) -> int:
    """What a SYCL property says: `nd_range_kernel<2>` has two."""
    if _SYCL_PROPERTY not in head or "nd_range_kernel" not in head:
        return 0
    said = head[head.index("nd_range_kernel") + 2 :][:1]
    return int(said[0]) if said and said[0] in ("1", "2", "3") else 0


def _only_on_device(marked: Sequence[str]) -> bool:
    return _DEVICE in marked and _HOST not in marked


def without_annotations(head: Sequence[str]) -> list[str]:
    """The tokens of a declaration that say how it is called."""
    plain: list[str] = []
    index = 0
    while index < len(head):
        following = head[index + 1] if index + 1 < len(head) else ""
        if head[index] in _ANNOTATIONS:
            index = closing(head, index + 1) if following == "(" else index
        elif head[index] == "[" and following == "[":
            index = closing(head, index)
        else:
            plain.append(head[index])
        index += 1
    return plain


def _return_tokens(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    if list(before) == ["auto"] and after[:1] == ["->"]:
        return after[1:]
    return before


def _parameters(items: Sequence[str], aliases: Aliases) -> tuple[Parameter, ...]:
    if list(items) in ([], ["void"]):
        return ()
    return tuple(_parameter(part, index, aliases) for index, part in enumerate(_commas(items)))


def _parameter(items: Sequence[str], index: int, aliases: Aliases) -> Parameter:
    declared = items[: items.index("=")] if "=" in items else items
    bracket = declared.index("[") if "[" in declared else len(declared)
    type_tokens, name = type_and_name(declared[:bracket])
    return Parameter(name or f"arg{index}", read_type(type_tokens, aliases, array=bracket < len(declared)))


def _commas(items: Sequence[str]) -> Iterator[list[str]]:
    """Split at the commas outside every bracket."""
    start = index = 0
    while index < len(items):
        if items[index] in _OPENERS or items[index] == "<":
            index = closing(items, index)
        elif items[index] == ",":
            yield list(items[start:index])
            start = index + 1
        index += 1
    yield list(items[start:])


# *** aliases ***


def _aliases(items: Sequence[str]) -> dict[str, list[str]]:
    """Names given to types by `using` and `typedef`; a name given twice with two meanings is left unknown."""
    meanings: dict[str, list[list[str]]] = {}
    for name, meaning in _alias_declarations(items):
        meanings.setdefault(name, []).append(meaning)
    return {name: all_[0] for name, all_ in meanings.items() if all(other == all_[0] for other in all_)}


def _alias_declarations(items: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for index, item in enumerate(items):
        if item in ("using", "typedef"):
            name, meaning = _alias(item, items[index + 1 : _stop(items, index)])
            # Brackets make an array, a function or a vector type: not something to look through.
            if meaning and is_word(name) and not {"(", "[", "{"}.intersection(meaning):
                yield name, meaning


def _alias(keyword: str, declared: Sequence[str]) -> tuple[str, list[str]]:
    if keyword == "typedef":
        return (declared[-1], list(declared[:-1])) if declared else ("", [])
    return (declared[0], list(declared[2:])) if declared[1:2] == ["="] else ("", [])
