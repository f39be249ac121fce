"""Triton kernels of a Python file as a program of few kinds of node."""

import ast
from collections.abc import Collection, Iterator

from kernelwright.backends._names import Names
from kernelwright.backends._strategy._program import (
    Branch,
    Do,
    Expr,
    Function,
    Launch,
    Loop,
    Parameter,
    Program,
    Set,
    Statement,
)

_LANGUAGE = "triton.language."
_HINTS = ("eviction_policy", "cache_modifier", "volatile")
_RANGES = ("range", "tl.range", "tl.static_range")
_OTHER = Expr("other")


def read_triton(
    kernels: Collection[ast.FunctionDef], host: Collection[ast.AST], names: Names, launches: tuple[Launch, ...]
) -> Program:
    """The kernels that the living part of the file (`host`) launches, and what they call; all if it launches none."""
    mentioned = {node.id for each in host for node in ast.walk(each) if isinstance(node, ast.Name)}
    functions = [_function(kernel, names, _stages(kernel, host), mentioned) for kernel in kernels]
    waiting, living = [function for function in functions if function.kernel] or functions, list[Function]()
    while waiting:
        living += [function for function in waiting if function not in living]
        called = {name for function in waiting for name in function.mentions}
        waiting = [function for function in functions if function.name in called and function not in living]
    return Program(tuple(living), launches)


def _stages(kernel: ast.FunctionDef, host: Collection[ast.AST]) -> int:
    """How deep its launches, or the configurations it is tuned over, ask for its loops to be pipelined."""
    own = [call for node in host for call in _calls(node) if _starts(call, kernel.name)]
    tuned = [call for mark in kernel.decorator_list for call in _calls(mark)]
    listed = {name.id for mark in kernel.decorator_list for name in ast.walk(mark) if isinstance(name, ast.Name)}
    named = [call for node in host for each in ast.walk(node) if _binds(each) & listed for call in _calls(each)]
    return max((_given_stages(call) for call in (*own, *tuned, *named)), default=1)


def _calls(node: ast.AST) -> list[ast.Call]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)]


def _starts(call: ast.Call, kernel: str) -> bool:
    return isinstance(call.func, ast.Subscript) and ast.unparse(call.func.value) == kernel


def _binds(statement: ast.AST) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
    return set()


def _given_stages(call: ast.Call) -> int:
    """A number that the file does not tell is one that somebody chose."""
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg="num_stages", value=ast.Constant(value=int(stages))):
                return stages
            case ast.keyword(arg="num_stages"):
                return 2
    return 1


def _function(node: ast.FunctionDef, names: Names, stages: int, launched: Collection[str]) -> Function:
    parameters = tuple(Parameter(each.arg, "*") for each in (*node.args.args, *node.args.kwonlyargs))
    mentions = frozenset(
        each.id for statement in node.body for each in ast.walk(statement) if isinstance(each, ast.Name)
    )
    return Function(
        node.name, parameters, _Lowering(names).block(node.body), mentions, kernel=node.name in launched, stages=stages
    )


class _Lowering:
    def __init__(self, names: Names) -> None:
        self._names = names

    def block(self, body: list[ast.stmt]) -> tuple[Statement, ...]:
        """The statements of a body; what follows a return at the same depth never runs."""
        found: list[Statement] = []
        for statement in body:
            found += self._statement(statement)
            if isinstance(statement, ast.Return | ast.Break | ast.Continue):
                break
        return tuple(found)

    def _statement(self, node: ast.stmt) -> Iterator[Statement]:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from self._assigned(target, self.expression(value))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield from self._assigned(target, self.expression(value))
            case ast.AugAssign(target=target, op=sign, value=value):
                yield Set(self.expression(target), self.expression(value), f"{_SIGNS.get(type(sign), '?')}=")
            case ast.For():
                yield self._for(node)
            case ast.While(test=ast.Constant(value=False | 0)):
                return
            case ast.While(test=test, body=body):
                yield Loop("", None, self.expression(test), "", None, self.block(body))
            case ast.If(test=test, body=body, orelse=otherwise):
                yield from self._if(test, body, otherwise)
            case ast.With(body=body):
                yield from self.block(body)
            case ast.Return(value=value) if value is not None:
                yield Do(Expr("op", "return", (self.expression(value),)))
            case ast.Expr(value=value):
                yield self._effect(self.expression(value))

    def _effect(self, value: Expr) -> Statement:
        """A store is an assignment to what lies there."""
        if value.kind == "call" and value.text in ("tl.store", ".store", "tl.store hinted") and len(value.parts) > 1:
            return Set(Expr("load", value.text, (value.parts[0],)), value.parts[-1])
        return Do(value)

    def _assigned(self, target: ast.expr, value: Expr) -> Iterator[Statement]:
        if isinstance(target, ast.Tuple):
            parts = value.parts if value.kind == "tuple" and len(value.parts) == len(target.elts) else None
            for place, each in enumerate(target.elts):
                yield from self._assigned(each, parts[place] if parts else value)
        else:
            yield Set(self.expression(target), value)

    def _for(self, node: ast.For) -> Loop:
        over = self.expression(node.iter)
        start, bound, stride = _range(over)
        variable = node.target.id if isinstance(node.target, ast.Name) else ""
        stages = isinstance(node.iter, ast.Call) and over.text == "tl.range" and _given_stages(node.iter) > 1
        return Loop(variable, start, bound, "pipelined" if stages else "+=", stride, self.block(node.body))

    def _if(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt]) -> Iterator[Statement]:
        known = _known(test)
        if known is None:
            yield Branch(self.expression(test), self.block(body), self.block(otherwise))
        else:
            yield from self.block(body if known else otherwise)

    def expression(self, node: ast.expr) -> Expr:
        match node:
            case ast.Name(id=name):
                return Expr("name", name)
            case ast.Constant(value=value):
                return Expr("number", "" if isinstance(value, str) else str(value))
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left=left, op=sign, right=right):
                return Expr("op", _SIGNS.get(type(sign), "?"), (self.expression(left), self.expression(right)))
            case ast.UnaryOp(operand=operand):
                return Expr("op", "-", (self.expression(operand),))
            case ast.Compare(left=left, comparators=others):
                return Expr("op", "<", tuple(self.expression(each) for each in (left, *others)))
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                return Expr("op", "?", tuple(self.expression(each) for each in (test, body, otherwise)))
            case ast.Subscript(value=value, slice=index):
                return Expr("spread", ast.unparse(index), (self.expression(value),))
            case ast.Attribute(value=value, attr=attribute):
                return Expr("member", attribute, (self.expression(value),))
            case ast.Tuple(elts=items):
                return Expr("tuple", "", tuple(self.expression(item) for item in items))
        return Expr(
            "other",
            "",
            tuple(self.expression(each) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)),
        )

    def _call(self, node: ast.Call) -> Expr:
        parts = tuple(self.expression(each) for each in node.args)
        named = {keyword.arg: self.expression(keyword.value) for keyword in node.keywords}
        hinted = any(keyword.arg in _HINTS and _is_given(keyword.value) for keyword in node.keywords)
        name = self._called(node.func)
        if name.startswith("."):
            parts = (self.expression(node.func.value), *parts) if isinstance(node.func, ast.Attribute) else parts
        if name in _RANGES:
            return Expr("call", name, parts)
        if name == "tl.load":
            return Expr("load", "hinted" if hinted else "", parts[:1] or tuple(named.values())[:1])
        if name == "tl.store":
            return Expr(
                "call",
                "tl.store hinted" if hinted else name,
                (*parts, *(named[key] for key in ("value",) if key in named))[:2],
            )
        if name == "tl.reduce" and parts and parts[0].kind == "tuple":
            return Expr("call", "tl.reduce several", parts)
        return Expr("call", name, (*parts, *(value for key, value in named.items() if key != "axis")))

    def _called(self, node: ast.expr) -> str:
        origin = self._names.of(node) or ""
        if origin.startswith(_LANGUAGE) and "(" not in origin:
            return "tl." + origin.removeprefix(_LANGUAGE)
        if isinstance(node, ast.Name):
            return origin or node.id
        if isinstance(node, ast.Attribute):
            return f".{node.attr}"
        return ""


def _is_given(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Constant) and not node.value)


def _known(test: ast.expr) -> bool | None:
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
            return not value
    return None


def _range(over: Expr) -> tuple[Expr | None, Expr | None, Expr | None]:
    if over.kind != "call" or over.text not in _RANGES:
        return None, over, None
    match over.parts[:3]:
        case (bound,):
            return Expr("number", "0"), bound, Expr("number", "1")
        case (start, bound):
            return start, bound, Expr("number", "1")
        case (start, bound, stride):
            return start, bound, stride
    return None, None, None


_SIGNS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "/",
    ast.Mod: "%",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}
