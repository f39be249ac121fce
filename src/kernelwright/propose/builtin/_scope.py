"""Expressions as lines of C++ or SYCL: each part once, in an order in which it finds what it is made of."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.propose.builtin._frame import Frame, Names, identifier, pointer
from kernelwright.propose.builtin._functions import SPELLED
from kernelwright.propose.builtin._lanes import literal
from kernelwright.propose.builtin._loops import Access, Apply, Expression, Layout, Number, Place, dense, in_order, walk


class Scope:
    """A step under way: `lines` happen at each point, `before` once a row, `outside` once for all lanes of a block.

    Args:
        keep: What is to be kept for later passes, and in which buffer.
        saved: What earlier passes have kept.
        hoists: Whether what is the same in all lanes of a block is worked out once, before it.
    """

    def __init__(
        self,
        frame: Frame,
        names: Names,
        keep: Mapping[Expression, int],
        saved: frozenset[Expression] = frozenset(),
        *,
        hoists: bool = False,
    ) -> None:
        self._frame, self._fresh, self._keep, self._saved = frame, names, keep, saved
        self._hoists = hoists
        self.lines: list[str] = []
        self.before: list[str] = []
        self.outside: list[str] = []
        self.kept: set[Expression] = set()
        self._names: dict[Expression, str] = {}
        self._delicate: set[Expression] = set()

    def value(self, expression: Expression) -> str:
        """The text that stands for a value, after the lines that work it out."""
        self._delicate |= _delicate(expression)
        for part in in_order(expression, lambda one: one in self._names or one in self._saved):
            if part not in self._names:
                self._names[part] = self._named(part)
        return self._names[expression]

    def _named(self, part: Expression) -> str:
        if isinstance(part, Number):
            return _number(part)
        if isinstance(part, Access) and part.buffer in self._frame.kernel.own:
            return identifier(part.buffer) if self._frame.rows else f"{identifier(part.buffer)}[u]"
        if self._frame.kernel.inner and self._frame.is_row_value(part):
            return self._once_a_row(part)
        if self._hoists and not self._frame.moves(part, [self._frame.lane_axis]):
            name = self._fresh.fresh()
            self.outside += [f"const {_type(part)} {name} = {self._text(part)};"]
            return name
        return self._at_each_point(part)

    def _at_each_point(self, part: Expression) -> str:
        name = self._fresh.fresh()
        if part in self._saved:
            self.lines += [f"const V {name} = load(whole, {self._kept_at(part)}, n);"]
            return name
        self.lines += [f"const {_type(part)} {name} = {self._text(part)};"]
        if part in self._keep:
            self.lines += [f"save(whole, {self._kept_at(part)}, 1, {name}, n);"]
            self.kept.add(part)
        return name

    def _once_a_row(self, part: Expression) -> str:
        name, text = self._fresh.fresh(), self._text(part)
        if self._frame.rows:
            self.before += [f"const {_type(part)} {name} = {text};"]
            return name
        self.before += [f"{_type(part)} {name}[count.value];", *each([f"{name}[u] = {text};"])]
        return f"{name}[u]"

    def _kept_at(self, part: Expression) -> str:
        strides = dense(self._frame.kernel.inner)[:-1]
        places = "".join(f"j{axis} * {stride} + " for axis, stride in enumerate(strides))
        return f"keep{self._keep[part]} + {places}l"

    def _text(self, part: Expression) -> str:
        match part:
            case Access():
                return self._load(part)
            case Place(layout=layout):
                return self._place(layout)
            case Apply(function=function, parts=parts):
                names = [self._names[one] for one in parts]
                if part in self._delicate:
                    names = [as_rounded(one, name) for one, name in zip(parts, names, strict=True)]
                return SPELLED[function].format(*names)
        raise AssertionError(part)

    def _place(self, layout: Layout) -> str:
        step = layout.strides[self._frame.lane_axis]
        at = f"splat((int64_t)({self._frame.address(layout)}))"
        return f"{at} + lane_numbers() * {step}" if step else at

    def _load(self, access: Access) -> str:
        step = access.layout.strides[self._frame.lane_axis]
        at = f"{pointer(access.buffer)} + {self._frame.address(access.layout)}"
        if any(self._frame.moves(pick, [self._frame.lane_axis]) for pick, _ in access.picks):
            return self._picked(access, at, step)
        for pick, stride in access.picks:
            at += f" + (int64_t)lane({self._names[pick]}, 0) * {stride}"
        if step == 0:
            return f"splat(*({at}))"
        return f"load(whole, {at}, n)" if step == 1 else f"strided(whole, {at}, {step}, n)"

    def _picked(self, access: Access, at: str, step: int) -> str:
        """Each lane reads at a place of its own."""
        if len(access.picks) == 1:
            ((pick, stride),) = access.picks
            return f"picked(whole, {at}, {self._names[pick]}, {stride}, {step}, n)"
        together = " + ".join(f"{self._names[pick]} * {stride}" for pick, stride in access.picks)
        return f"picked(whole, {at}, {together}, 1, {step}, n)"


def as_rounded(part: Expression, name: str) -> str:
    """A product as it is rounded, not joined with what is added to it; anything else as it is."""
    return f"rounded({name})" if isinstance(part, Apply) and part.function == "mul" and part.kind == "float" else name


def _delicate(expression: Expression) -> set[Expression]:
    """Sums and differences of which an exponential is taken. The terms of a softmax and their sum are worked out in
    different places, and agree only if they are rounded alike in all of them."""
    taken = [part for part in walk(expression) if isinstance(part, Apply) and part.function == "exp"]
    found: set[Expression] = set()
    waiting = [inner for part in taken for inner in part.parts]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Apply) and part.function in ("add", "sub") and part not in found:
            found.add(part)
            waiting.extend(part.parts)
    return found


def each(lines: list[str]) -> list[str]:
    """The lines for each vector of a group."""
    head = ["const int64_t l = from + u * APART;", "(void)l;"]
    return ["each<count.value>([&](auto u) STEP {", *indented([*head, *lines]), "});"]


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _type(expression: Expression) -> str:
    return {"float": "V", "int": "I", "bool": "Truth"}[expression.kind]


def _number(number: Number) -> str:
    if number.kind == "float":
        return f"splat({literal(float(number.value))})"
    if number.kind == "bool":
        return "splat(true)" if number.value else "splat(false)"
    return f"splat((int64_t){int(number.value)})"
