"""Expressions as lines of Triton: each part once, what is the same all along a row before the row is gone along."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Generic, TypeVar

from kernelwright.propose.builtin._frame import Names, identifier, pointer
from kernelwright.propose.builtin._kernels import Part
from kernelwright.propose.builtin._loops import Access, Apply, Expression, Layout, Number, Place, in_order
from kernelwright.propose.builtin.triton._functions import literal, spelled
from kernelwright.propose.builtin.triton._places import WIDE, Chunk, Places, all_of

P = TypeVar("P", bound=Places)


class Sheet(Generic[P]):
    """A kernel's lines so far. Values along the row belong to a chunk of it."""

    def __init__(self, tile: P) -> None:
        self.tile = tile
        self.lines: list[str] = []
        self._fresh = Names()
        self._names: dict[Expression, str] = {}

    def fresh(self) -> str:
        return self._fresh.fresh()

    def say(self, text: str) -> str:
        """The name of a value of the row, after the line that works it out."""
        name = self.fresh()
        self.lines += [f"{name} = {text}"]
        return name

    def value(self, expression: Expression, chunk: Chunk | None = None) -> str:
        """The text that stands for a value, after the lines that work it out."""
        here = chunk.names if chunk else {}
        for part in in_order(expression, lambda one: one in self._names or one in here):
            if part not in self._names and part not in here:
                self._name(part, chunk)
        return here.get(expression) or self._names[expression]

    def _name(self, part: Expression, chunk: Chunk | None) -> None:
        if isinstance(part, Number):
            self._names[part] = literal(part)
        elif isinstance(part, Access) and part.buffer in self.tile.kernel.own:
            self._names[part] = identifier(part.buffer)
        elif chunk is None or self.tile.frame.is_row_value(part):
            self._names[part] = self.say(self._text(part, None))
        else:
            chunk.names[part] = self.fresh()
            chunk.lines += [f"{chunk.names[part]} = {self._text(part, chunk)}"]

    def _text(self, part: Expression, chunk: Chunk | None) -> str:
        match part:
            case Access():
                return self._load(part, chunk)
            case Place(layout=layout):
                return self._place(layout, chunk)
            case Apply(function=function, parts=parts):
                arguments = [self._known(one, chunk) for one in parts]
                if all(isinstance(one, Number) for one in parts):
                    arguments[0] = f"tl.full([], {arguments[0]}, tl.{_TYPES[parts[0].kind]})"
                return spelled(function, arguments)
        raise AssertionError(part)

    def _known(self, part: Expression, chunk: Chunk | None) -> str:
        return (chunk.names.get(part) if chunk else None) or self._names[part]

    def _place(self, layout: Layout, chunk: Chunk | None) -> str:
        """Counters of loops are plain numbers here and there, which know no types."""
        moves = self.tile.address(replace(layout, offset=0), chunk)
        return f"(tl.full([], {layout.offset}, tl.int32) + {moves}).to(tl.int32)"

    def _load(self, access: Access, chunk: Chunk | None) -> str:
        at = f"{pointer(access.buffer)} + {self.tile.address(access.layout, chunk)}"
        for pick, stride in access.picks:
            wide = ".to(tl.int64)" if prod(access.buffer.shape) >= WIDE else ""
            at += f" + {self._known(pick, chunk)}{wide} * {stride}"
        masks = all_of([*self.tile.masks(access, chunk), *self._inside(access, chunk)])
        masked = f", mask={masks}, other={_beyond(access)}" if masks else ""
        policy = chunk.policy if chunk else ""
        turned = ".to(tl.int32)" if access.kind == "int" and access.buffer.dtype != "int32" else ""
        return f"tl.load({at}{masked}{policy}){turned}"

    def _inside(self, access: Access, chunk: Chunk | None) -> list[str]:
        """Where coordinates lie within their bounds, as far as they leave them anywhere."""
        found = []
        for bound in access.bounds:
            found += [f"{self.value(Place(bound.layout), chunk)} {test}" for test in bound.tests]
        return found

    def store(self, part: Part, value: str, chunk: Chunk | None = None) -> str:
        at = f"{pointer(part.into)} + {self.tile.address(part.layout, chunk)}"
        masks = all_of(self.tile.masks(Place(part.layout), chunk))
        return f"tl.store({at}, {value}{f', mask={masks}' if masks else ''})"


def _beyond(access: Access) -> str:
    return literal(Number(access.beyond, access.kind, ())) if access.bounds else "0"


_TYPES = {"float": "float32", "int": "int32", "bool": "int1"}
