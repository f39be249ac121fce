"""C++, CUDA and SYCL text as a program of few kinds of node, parsed with tree-sitter.

The grammar of CUDA holds that of C++; one serves for all three. Broken text gives what can still be made out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from kernelwright.backends._strategy._preprocess import evaluate, preprocess
from kernelwright.backends._strategy._program import (
    Assembly,
    Branch,
    Directive,
    Do,
    Expr,
    Function,
    Launch,
    Loop,
    Parameter,
    Program,
    Set,
    Statement,
    base,
    own_expressions,
    places,
    spelled,
    within,
)
from kernelwright.backends._strategy._vocabulary import Vocabulary

if TYPE_CHECKING:
    from tree_sitter import Node

# Deeper than anyone writes, shallow enough for Python's own stack.
_DEEPEST = 120
_CASTS = ("reinterpret_cast", "static_cast", "const_cast", "sycl::bit_cast", "std::bit_cast")
_OTHER = Expr("other")


def read_c_family(text: str, vocabulary: Vocabulary, entries: Collection[str]) -> Program:
    """What of this text can run; `entries`: the names that its user calls, none where that is not known."""
    code = preprocess(text, vocabulary.predefined)
    root = _parsed(code)
    top = _Top(root, vocabulary)
    functions = [_function(node, vocabulary, top) for node in _definitions(root)]
    living = _reached(functions, entries)
    launches = tuple(launch for function in living for launch in _launches(function))
    return Program(tuple(living), launches, frozenset(_wide_types(code, vocabulary)))


def _wide_types(code: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Types of the text's own that hold several neighbours: aliases of wide ones, vectors, structures made to align."""
    yield from re.findall(r"\b(?:struct|class)\s+(?:alignas|__align__)\s*\([^()]*\)\s*(\w+)", code)
    yield from re.findall(r"\btypedef\s+\w+\s+(\w+)\s+__attribute__\s*\(\(\s*(?:__)?vector_size", code)
    yield from re.findall(r"\busing\s+(\w+)\s+__attribute__\s*\(\(\s*(?:__)?vector_size", code)
    for name, meaning in re.findall(r"\busing\s+(\w+)\s*=([^;\n]{1,99});", code):
        if vocabulary.is_wide(meaning + "*") or "vector_size" in meaning:
            yield name


def _parsed(text: str) -> Node:
    # Here, not above: whoever describes nothing need not have the parser.
    import tree_sitter
    import tree_sitter_cuda

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
    return parser.parse(text.encode("utf-8", "replace")).root_node


def _definitions(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "function_definition":
            yield node
        elif node.type not in ("declaration", "expression_statement", "preproc_call"):
            waiting.extend(reversed(node.named_children))


# --- what can run ----------------------------------------------------------------------------------------------------


def _reached(functions: list[Function], entries: Collection[str]) -> list[Function]:
    by_name: dict[str, list[Function]] = {}
    for function in functions:
        by_name.setdefault(function.name, []).append(function)
    waiting, living = _roots(functions, entries), set[Function]()
    while waiting:
        function = waiting.pop()
        if function not in living:
            living.add(function)
            waiting += [other for name in function.mentions & by_name.keys() for other in by_name[name]]
    return [function for function in functions if function in living]


def _roots(functions: list[Function], entries: Collection[str]) -> list[Function]:
    """What is called from outside; where nobody tells, whatever nothing else mentions."""
    called = [function for function in functions if function.name in entries and not function.helper]
    bindings = [function for function in functions if function.name.startswith(("PYBIND11_MODULE", "TORCH_LIBRARY"))]
    if called or bindings:
        return called or bindings
    mentioned = {name for function in functions for name in function.mentions - {function.name}}
    launched = any(function.kernel and function.name in mentioned for function in functions)
    free = [function for function in functions if function.name not in mentioned]
    return [function for function in free if not (function.helper or (launched and function.kernel))] or free


def _launches(function: Function) -> Iterator[Launch]:
    for place in places(function.body):
        for expression in own_expressions(place.statement):
            for each in within(expression):
                if each.kind == "launch":
                    yield Launch(each.text, tuple(part.text if part.kind == "name" else "" for part in each.parts))


# --- functions -------------------------------------------------------------------------------------------------------


class _Top:
    """What stands at the top of a file: names for numbers, and memory that groups share."""

    def __init__(self, root: Node, vocabulary: Vocabulary) -> None:
        lowering = _Lowering(vocabulary, {})
        declared = [node for node in root.named_children if node.type == "declaration"]
        made = [each for node in declared for each in lowering.block(node)]
        self.constants = lowering.constants
        self.shared = [each for each in made if isinstance(each, Set) and each.shared]


def _function(node: Node, vocabulary: Vocabulary, top: _Top) -> Function:
    heads = [child for child in node.children if child.type != "compound_statement"]
    marks = {child.type for child in heads} | {_text(child) for child in heads}
    declarator = _inner(node.child_by_field_name("declarator"), "function_declarator")
    parameters = declarator.child_by_field_name("parameters") if declarator else None
    body = node.child_by_field_name("body")
    mentions = _mentions(body)
    shared = [made for made in top.shared if made.target.text in mentions]
    return Function(
        _plain_name(declarator.child_by_field_name("declarator")) if declarator else "",
        tuple(_parameters(parameters)) if parameters else (),
        (*shared, *_Lowering(vocabulary, top.constants).block(body)) if body else (),
        mentions,
        kernel="__global__" in marks,
        helper=bool(marks & {"__device__", "static", "inline", "__forceinline__"}) and "__global__" not in marks,
    )


def _inner(node: Node | None, kind: str) -> Node | None:
    while node is not None and node.type != kind:
        node = node.child_by_field_name("declarator") or next(
            (child for child in node.named_children if "declarator" in child.type), None
        )
    return node


def _plain_name(node: Node | None) -> str:
    """`kernel` of `ns::kernel<4>`."""
    return _called(node).rpartition("::")[2] if node else ""


def _parameters(node: Node) -> Iterator[Parameter]:
    for each in node.named_children:
        declarator = each.child_by_field_name("declarator")
        name = _declared_name(declarator)
        written = _text(each)
        yield Parameter(name, written[: written.rfind(name)] if name else written)


def _mentions(node: Node | None) -> frozenset[str]:
    found, waiting = set(), [node] if node else []
    while waiting:
        each = waiting.pop()
        if each.type in ("identifier", "field_identifier", "type_identifier"):
            found.add(_text(each))
        waiting.extend(each.named_children)
    return frozenset(found)


def _declared_name(node: Node | None) -> str:
    while node is not None and node.type not in ("identifier", "field_identifier"):
        node = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
    return _text(node) if node else ""


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


# --- statements and expressions --------------------------------------------------------------------------------------


class _Lowering:
    """One function's body. Assignments inside expressions become statements before the one they stand in."""

    def __init__(self, vocabulary: Vocabulary, constants: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._before: list[Statement] = []
        self.constants = dict(constants)
        self._depth = 0

    def block(self, node: Node) -> tuple[Statement, ...]:
        """The statements of a body; what follows a return at the same depth never runs."""
        found: list[Statement] = []
        for child in node.named_children if node.type in _BLOCKS else [node]:
            found += self._statement(child)
            if child.type in ("return_statement", "break_statement", "continue_statement"):
                break
        return tuple(found)

    def _statement(self, node: Node) -> list[Statement]:
        if self._depth > _DEEPEST:
            return []
        self._depth += 1
        outer, self._before = self._before, []
        made = list(self._made(node))
        before, self._before = self._before, outer
        self._depth -= 1
        return [*before, *made]

    def _made(self, node: Node) -> Iterator[Statement]:
        match node.type:
            case "declaration":
                yield from self._declared(node)
            case "for_statement":
                yield from self._for(node)
            case "while_statement" | "do_statement" | "for_range_loop":
                yield from self._while(node)
            case "if_statement":
                yield from self._if(node)
            case "preproc_call":
                yield Directive(" ".join(_text(node).split()))
            case "expression_statement":
                yield from self._effects(node)
            case "return_statement":
                yield from (Do(Expr("op", "return", (self.expression(child),))) for child in node.named_children)
            case _ if node.type in _NESTED:
                for child in node.named_children:
                    yield from self._statement(child)
            case _ if node.type not in _SILENT:
                yield Do(self.expression(node))

    def _effects(self, node: Node) -> Iterator[Statement]:
        for child in node.named_children:
            if child.type in ("assignment_expression", "update_expression"):
                yield self._assignment(child)
            elif child.type == "comma_expression":
                yield from self._effects(child)
            else:
                yield Do(self.expression(child))

    def _assignment(self, node: Node) -> Set:
        if node.type == "update_expression":
            sign = "+=" if "++" in _text(node) else "-="
            return Set(self._child(node, "argument"), Expr("number", "1"), sign)
        sign = next((child.type for child in node.children if child.type.endswith("=")), "=")
        return _declaring(Set(self._child(node, "left"), self._child(node, "right"), sign))

    def _declared(self, node: Node) -> Iterator[Statement]:
        kind = node.child_by_field_name("type")
        head = _text(node)[: (kind.end_byte - node.start_byte)] if kind else ""
        shared = "__shared__" in head or self._vocabulary.is_fast_memory(head)
        for declarator in node.children_by_field_name("declarator"):
            made = self._one_declared(declarator, head, shared)
            self._remember(made)
            yield made

    def _one_declared(self, node: Node, head: str, shared: bool) -> Set:
        given = node.child_by_field_name("value") if node.type == "init_declarator" else None
        name = _declared_name(node)
        before = _text(node).partition(name)[0] if name else ""
        stars = "".join(letter for letter in before if letter in "*&")
        declarator = node.child_by_field_name("declarator") if node.type == "init_declarator" else node
        sizes = self._sizes(declarator)
        value = None if given is None else self.expression(given)
        return Set(Expr("name", name), value, "=", True, head + stars, sizes or None, shared)

    def _sizes(self, node: Node | None) -> tuple[Expr, ...]:
        found: list[Expr] = []
        while node is not None and node.type in ("array_declarator", "pointer_declarator", "parenthesized_declarator"):
            if node.type == "array_declarator":
                size = node.child_by_field_name("size")
                found.insert(0, self.expression(size) if size else _OTHER)
            node = node.child_by_field_name("declarator")
        return tuple(found)

    def _remember(self, made: Set) -> None:
        if "const" in made.type and made.value is not None and made.sizes is None:
            value = evaluate(spelled(made.value), self.constants.get)
            if value is not None:
                self.constants[made.target.text] = value

    def _for(self, node: Node) -> Iterator[Statement]:
        test = node.child_by_field_name("condition")
        if test is not None and self._never(test):
            return
        started = self._started(node.child_by_field_name("initializer"))
        moves = list(self._moves(node.child_by_field_name("update")))
        variable, step, stride = _step(moves)
        start = next((made for made in started if isinstance(made, Set) and base(made.target) == variable), None)
        yield from (made for made in started if made is not start)
        bound = self.expression(test) if test else None
        body = (*self._body(node), *moves[1:])
        yield Loop(variable, start.value if start else None, bound, step, stride, body)

    def _started(self, node: Node | None) -> list[Statement]:
        if node is None or node.type == "declaration":
            return self._statement(node) if node else []
        return list(self._moves(node))

    def _moves(self, node: Node | None) -> Iterator[Set]:
        """The assignments in a loop's head."""
        if node is not None and node.type == "comma_expression":
            for part in ("left", "right"):
                yield from self._moves(node.child_by_field_name(part))
        elif node is not None and node.type in ("assignment_expression", "update_expression"):
            yield self._assignment(node)

    def _while(self, node: Node) -> Iterator[Statement]:
        test = node.child_by_field_name("condition") or node.child_by_field_name("right")
        if test is not None and node.type == "while_statement" and self._never(test):
            return
        variable = _declared_name(node.child_by_field_name("declarator"))
        bound = self.expression(test) if test else None
        yield Loop(variable, None, bound, "", None, self._body(node))

    def _body(self, node: Node) -> tuple[Statement, ...]:
        body = node.child_by_field_name("body")
        return self.block(body) if body else ()

    def _if(self, node: Node) -> Iterator[Statement]:
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        other = node.child_by_field_name("alternative")
        known = self._known(test) if test else None
        then = self.block(body) if body and known != 0 else ()
        otherwise = self.block(other) if other and not known else ()
        if known is not None:
            yield from then or otherwise
        else:
            yield Branch(self.expression(test) if test else _OTHER, then, otherwise)

    def _never(self, test: Node) -> bool:
        return self._known(test) == 0

    def _known(self, test: Node) -> int | None:
        text = _text(test).strip()
        while text.startswith("(") and text.endswith(")"):
            text = text[1:-1].strip()
        return evaluate(text, self.constants.get) if len(text) < 200 else None

    def _child(self, node: Node, field: str) -> Expr:
        child = node.child_by_field_name(field)
        return _OTHER if child is None else self.expression(child)

    def expression(self, node: Node) -> Expr:
        if self._depth > _DEEPEST:
            return _OTHER
        self._depth += 1
        made = self._expression(node)
        self._depth -= 1
        return made

    def _expression(self, node: Node) -> Expr:
        match node.type:
            case "identifier" | "this" | "type_identifier" | "field_identifier":
                value = self.constants.get(_text(node))
                return Expr("name", _text(node)) if value is None else Expr("number", str(value))
            case "number_literal" | "true" | "false" | "char_literal":
                return Expr("number", _text(node))
            case "call_expression":
                return self._call(node)
            case "subscript_expression":
                return self._load(node)
            case "pointer_expression":
                return _pointed(_text(node)[:1], self._child(node, "argument"))
            case "field_expression":
                return self._member(node)
            case "cast_expression":
                kind = node.child_by_field_name("type")
                return Expr("cast", _text(kind) if kind else "", (self._child(node, "value"),))
            case "assignment_expression" | "update_expression":
                made = self._assignment(node)
                self._before.append(made)
                return made.target
            case "binary_expression":
                sign = node.child_by_field_name("operator")
                return Expr("op", sign.type if sign else "", (self._child(node, "left"), self._child(node, "right")))
            case "unary_expression":
                sign = node.child_by_field_name("operator")
                return Expr("op", sign.type if sign else "", (self._child(node, "argument"),))
            case "conditional_expression":
                parts = ("condition", "consequence", "alternative")
                return Expr("op", "?", tuple(self._child(node, part) for part in parts))
            case "lambda_expression":
                body = node.child_by_field_name("body")
                self._before += self.block(body) if body else ()
                return _OTHER
            case "gnu_asm_expression":
                self._before.append(self._assembly(node))
                return _OTHER
            case "parenthesized_expression" | "condition_clause" if node.named_child_count == 1:
                return self.expression(node.named_children[0])
            case "qualified_identifier" | "template_function":
                return Expr("name", _called(node))
            case "string_literal" | "raw_string_literal" | "concatenated_string":
                return _OTHER
        return Expr("other", "", tuple(self.expression(child) for child in node.named_children))

    def _member(self, node: Node) -> Expr:
        field = node.child_by_field_name("field")
        name, owner = _text(field) if field else "", self._child(node, "argument")
        return Expr("name", f"{owner.text}.{name}") if owner.kind == "name" else Expr("member", name, (owner,))

    def _load(self, node: Node) -> Expr:
        indices = node.child_by_field_name("indices")
        found = tuple(self.expression(child) for child in indices.named_children) if indices else ()
        array = self._child(node, "argument")
        return Expr(
            "load", "", (*array.parts, *found) if array.kind == "load" and len(array.parts) > 1 else (array, *found)
        )

    def _call(self, node: Node) -> Expr:
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        parts = tuple(self.expression(child) for child in given.named_children) if given else ()
        if function is None:
            return Expr("other", "", parts)
        if function.type == "field_expression":
            field = function.child_by_field_name("field")
            name = _plain_name(field) if field else ""
            return Expr("call", f".{name}", (self._child(function, "argument"), *parts))
        name = _called(function)
        if name in _CASTS:
            return Expr("cast", _template_arguments(function), parts)
        if any(child.type == "kernel_call_syntax" for child in node.children):
            return Expr("launch", _plain_name(function), parts)
        if function.type == "lambda_expression":
            self.expression(function)
        return Expr("call", name, parts)

    def _assembly(self, node: Node) -> Assembly:
        code = node.child_by_field_name("assembly_code")
        lists = (node.child_by_field_name(f"{way}put_operands") for way in ("out", "in"))
        operands = [each.child_by_field_name("value") for found in lists if found for each in found.named_children]
        return Assembly(_text(code) if code else "", tuple(self.expression(each) for each in operands if each))


_BLOCKS = ("compound_statement", "else_clause")
_NESTED = (
    "compound_statement",
    "else_clause",
    "switch_statement",
    "case_statement",
    "labeled_statement",
    "try_statement",
    "catch_clause",
    "attributed_statement",
    "init_statement",
    "ERROR",
)
_SILENT = (
    "comment",
    "type_definition",
    "alias_declaration",
    "using_declaration",
    "break_statement",
    "continue_statement",
    "static_assert_declaration",
)


def _pointed(sign: str, inside: Expr) -> Expr:
    """`*p` and `&x`; what is pointed to by an address just taken is the thing itself."""
    if sign != "*":
        return Expr("op", "&", (inside,))
    taken = inside.kind == "op" and inside.text == "&" and len(inside.parts) == 1
    return inside.parts[0] if taken else Expr("load", "", (inside,))


def _declaring(made: Set) -> Set:
    """`float (&tile)[16][16] = memory` declares, though it parses as an assignment to what a call gave."""
    match made.target:
        case Expr("load", _, (Expr("call", kind, (Expr("op", "&", (Expr("name") as name,)),)), *sizes)) if sizes:
            return Set(name, made.value, "=", True, f"{kind}&", tuple(sizes))
    return made


def _step(moves: list[Set]) -> tuple[str, str, Expr | None]:
    """The variable that a loop moves first, and how."""
    if not moves:
        return "", "", None
    name, value = base(moves[0].target), moves[0].value
    if moves[0].operator == "=" and value is not None and value.kind == "op" and len(value.parts) == 2:
        return name, value.text + "=", value.parts[1]
    return name, moves[0].operator, value


def _called(node: Node) -> str:
    """`sycl::reduce_over_group` of `sycl::reduce_over_group<float>`."""
    return "".join(_without_brackets(_text(node)).split()).removeprefix("::")


def _without_brackets(text: str) -> str:
    """Without template arguments, innermost first."""
    shorter = re.sub(r"<[^<>]*>", "", text)
    return shorter if shorter == text else _without_brackets(shorter)


def _template_arguments(node: Node) -> str:
    text = _text(node)
    return text[text.find("<") + 1 : text.rfind(">")].strip()
