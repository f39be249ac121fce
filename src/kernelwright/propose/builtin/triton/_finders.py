"""How a reduction is found: of a chunk at once, or step by step in every lane, and then across lanes.

What is found of a chunk is a state, some values of the row; two states make one.
"""

from __future__ import annotations

from math import prod

from kernelwright.propose.builtin._frame import identifier
from kernelwright.propose.builtin._kernels import Part
from kernelwright.propose.builtin._loops import Buffer, Expression
from kernelwright.propose.builtin.triton._pairs import PLACE, SOFTMAX, VARIANCE, Pair
from kernelwright.propose.builtin.triton._places import Chunk
from kernelwright.propose.builtin.triton._sheet import Sheet
from kernelwright.propose.builtin.triton._tile import Tile

NEUTRAL = {"sum": "0.0", "max": 'float("-inf")', "min": 'float("inf")', "prod": "1.0"}
JOIN = {"sum": "{0} + {1}", "max": "larger({0}, {1})", "min": "smaller({0}, {1})", "prod": "{0} * {1}"}
LOWEST = "-3.4028234663852886e38"
NOWHERE = "2147483647"
State = tuple[str, ...]


class Finder:
    """One reduction, or a pair of them."""

    expression: Expression

    def __init__(self, sheet: Sheet[Tile]) -> None:
        self.sheet, self.tile = sheet, sheet.tile

    def value(self, chunk: Chunk) -> str:
        """What is reduced, at every place of a chunk."""
        found = self.sheet.value(self.expression, chunk)
        if not self.tile.frame.is_row_value(self.expression):
            return found
        shape = f"[{self.tile.rows}, {chunk.block}]" if self.tile.spread else f"[{chunk.block}]"
        return self.at(chunk, f"{found} + tl.zeros({shape}, tl.float32)")

    def at(self, chunk: Chunk, text: str) -> str:
        """A new name for a value along the row."""
        name = self.sheet.fresh()
        chunk.lines += [f"{name} = {text}"]
        return name

    def only(self, chunk: Chunk, value: str, otherwise: str) -> str:
        return f"tl.where({chunk.mask}, {value}, {otherwise})" if chunk.mask else value

    def across(self, how: str, value: str) -> str:
        """A value of every place made one of the row."""
        axis, keep = self.tile.axis.split(", ")
        if how in ("max", "min"):
            return f"{'largest' if how == 'max' else 'smallest'}({value}, {self.tile.axis})"
        kept = ", keep_dims=True" if keep == "True" else ""
        return f"tl.sum({value}, {axis}{kept})" if how == "sum" else f"tl.reduce({value}, {axis}, times{kept})"

    def accumulator(self, begin: str, kind: str = "float32") -> str:
        return self.sheet.say(f"tl.full({self.tile.shape}, {begin}, tl.{kind})")

    # What each kind knows

    def at_once(self, chunk: Chunk) -> State:
        raise NotImplementedError

    def begin(self) -> None:
        raise NotImplementedError

    def step(self, chunk: Chunk) -> None:
        raise NotImplementedError

    def end(self) -> State:
        raise NotImplementedError

    def joined(self, one: State, other: State) -> State:
        """Both in one; the other is found further along the row. Lines follow those of the row."""
        raise NotImplementedError

    def results(self, state: State) -> list[tuple[Buffer, str]]:
        raise NotImplementedError

    def settle(self, states: list[State]) -> None:
        """What was found goes by its buffer's name from now on."""
        state = states[0] if len(states) == 1 else self.joined(*states)
        self.sheet.lines += [f"{identifier(buffer)} = {text}" for buffer, text in self.results(state)]


class Plain(Finder):
    def __init__(self, sheet: Sheet[Tile], part: Part) -> None:
        super().__init__(sheet)
        assert part.how is not None
        self._how, self._into, self.expression = part.how, part.into, part.expression

    def _value(self, chunk: Chunk) -> str:
        return self.only(chunk, self.value(chunk), NEUTRAL[self._how])

    def at_once(self, chunk: Chunk) -> State:
        return (self.at(chunk, self.across(self._how, self._value(chunk))),)

    def begin(self) -> None:
        self._so_far = self.accumulator(NEUTRAL[self._how])

    def step(self, chunk: Chunk) -> None:
        chunk.lines += [f"{self._so_far} = {JOIN[self._how].format(self._so_far, self._value(chunk))}"]

    def end(self) -> State:
        return (self.sheet.say(self.across(self._how, self._so_far)),)

    def joined(self, one: State, other: State) -> State:
        return (self.sheet.say(JOIN[self._how].format(one[0], other[0])),)

    def results(self, state: State) -> list[tuple[Buffer, str]]:
        return [(self._into, state[0])]


class _OfPair(Finder):
    def __init__(self, sheet: Sheet[Tile], pair: Pair) -> None:
        super().__init__(sheet)
        self.pair, self.expression = pair, pair.value


class Softmax(_OfPair):
    """A maximum, and the sum of exponentials below it: put right as the maximum grows, by one exponential a place."""

    def at_once(self, chunk: Chunk) -> State:
        value = self.at(chunk, self.only(chunk, self.value(chunk), NEUTRAL["max"]))
        top = self.at(chunk, f"larger({self.across('max', value)}, {LOWEST})")
        return (top, self.at(chunk, self.across("sum", f"tl.exp({value} - {top})")))

    def begin(self) -> None:
        self._top, self._sum = self.accumulator(LOWEST), self.accumulator("0.0")

    def step(self, chunk: Chunk) -> None:
        value = self.at(chunk, self.only(chunk, self.value(chunk), NEUTRAL["max"]))
        above = self.at(chunk, f"{value} - {self._top}")
        less = self.at(chunk, f"tl.exp(-tl.abs({above}))")
        chunk.lines += [
            f"{self._sum} = tl.where({above} > 0.0, {self._sum} * {less} + 1.0, {self._sum} + {less})",
            f"{self._top} = larger({self._top}, {value})",
        ]

    def end(self) -> State:
        top = self.sheet.say(self.across("max", self._top))
        return (top, self.sheet.say(self.across("sum", f"{self._sum} * tl.exp({self._top} - {top})")))

    def joined(self, one: State, other: State) -> State:
        top = self.sheet.say(f"larger({one[0]}, {other[0]})")
        both = [f"{total} * tl.exp({at} - {top})" for at, total in (one, other)]
        return (top, self.sheet.say(" + ".join(both)))

    def results(self, state: State) -> list[tuple[Buffer, str]]:
        top, total = state
        endless = f'float("{self.pair.endless}")'
        return [(self.pair.first, top), (self.pair.second, f'tl.where({top} == float("inf"), {endless}, {total})')]


class Variance(_OfPair):
    """A sum, and the sum of squared distances from the mean: every lane keeps the mean of what it has met so far."""

    def at_once(self, chunk: Chunk) -> State:
        value, count = self.value(chunk), min(self.tile.kept, prod(self.tile.kernel.inner))
        mean = self.at(chunk, f"{self.across('sum', self.only(chunk, value, '0.0'))} / {float(count)}")
        away = self.at(chunk, self.only(chunk, f"{value} - {mean}", "0.0"))
        return (mean, self.at(chunk, self.across("sum", f"{away} * {away}")))

    def begin(self) -> None:
        self._mean, self._squares = self.accumulator("0.0"), self.accumulator("0.0")
        self._count = self.accumulator("0.0") if self.tile.uneven else ""

    def step(self, chunk: Chunk) -> None:
        value, mean = self.value(chunk), self._mean
        away = self.at(chunk, self.only(chunk, f"{value} - {mean}", "0.0"))
        if chunk.mask:
            chunk.lines += [f"{self._count} = {self._count} + tl.where({chunk.mask}, 1.0, 0.0)"]
        share = f"{away} / larger({self._count}, 1.0)" if chunk.mask else f"{away} * (1.0 / (step + 1))"
        chunk.lines += [
            f"{mean} = {mean} + {share}",
            f"{self._squares} = {self._squares} + {away} * {self.only(chunk, f'({value} - {mean})', '0.0')}",
        ]

    def end(self) -> State:
        met = f"{self._count} * " if self._count else f"{float(self.tile.steps)} * "
        total = self.sheet.say(self.across("sum", f"{met}{self._mean}"))
        mean = self.sheet.say(f"{total} / {float(self._looped)}")
        away = self.sheet.say(f"{self._mean} - {mean}")
        return (mean, self.sheet.say(self.across("sum", f"{self._squares} + {met}{away} * {away}")))

    @property
    def _looped(self) -> int:
        return prod(self.tile.kernel.inner) - self.tile.kept

    def joined(self, one: State, other: State) -> State:
        count = prod(self.tile.kernel.inner)
        share = self._looped / count
        apart = self.sheet.say(f"{other[0]} - {one[0]}")
        mean = self.sheet.say(f"{one[0]} + {apart} * {share!r}")
        return (mean, self.sheet.say(f"{one[1]} + {other[1]} + {apart} * {apart} * {self.tile.kept * share!r}"))

    def results(self, state: State) -> list[tuple[Buffer, str]]:
        count = float(prod(self.tile.kernel.inner))
        return [(self.pair.first, f"{state[0]} * {count}"), (self.pair.second, state[1])]


class Placed(_OfPair):
    """The largest or smallest, and the first place where it is."""

    def __init__(self, sheet: Sheet[Tile], pair: Pair, how: str) -> None:
        super().__init__(sheet, pair)
        self._how, self._beyond = how, ">" if how == "max" else "<"

    def _place(self, chunk: Chunk) -> str:
        assert self.pair.place is not None
        return self.sheet.value(self.pair.place, chunk)

    def at_once(self, chunk: Chunk) -> State:
        value = self.at(chunk, self.only(chunk, self.value(chunk), NEUTRAL[self._how]))
        top = self.at(chunk, self.across(self._how, value))
        there = f"({value} == {top}) | ({value} != {value})"
        there = f"({chunk.mask}) & ({there})" if chunk.mask else there
        return (top, self.at(chunk, self._first(f"tl.where({there}, {self._place(chunk)}, {NOWHERE})")))

    def _first(self, places: str) -> str:
        axis, keep = self.tile.axis.split(", ")
        return f"tl.min({places}, {axis}, keep_dims={keep})"

    def begin(self) -> None:
        self._top, self._at = self.accumulator(NEUTRAL[self._how]), self.accumulator(NOWHERE, "int32")

    def step(self, chunk: Chunk) -> None:
        value, place = self.value(chunk), self._place(chunk)
        better = f"{self._better(value, self._top)} | ({self._at} == {NOWHERE})"
        better = self.at(chunk, f"({chunk.mask}) & ({better})" if chunk.mask else better)
        chunk.lines += [
            f"{self._top} = tl.where({better}, {value}, {self._top})",
            f"{self._at} = tl.where({better}, {place}, {self._at})",
        ]

    def _better(self, value: str, top: str) -> str:
        return f"({value} {self._beyond} {top}) | (({value} != {value}) & ({top} == {top}))"

    def end(self) -> State:
        top = self.sheet.say(self.across(self._how, self._top))
        there = f"({self._top} == {top}) | ({self._top} != {self._top})"
        return (top, self.sheet.say(self._first(f"tl.where({there}, {self._at}, {NOWHERE})")))

    def joined(self, one: State, other: State) -> State:
        better = self.sheet.say(self._better(other[0], one[0]))
        top, at = (f"tl.where({better}, {new}, {old})" for old, new in zip(one, other, strict=True))
        return (self.sheet.say(top), self.sheet.say(at))

    def results(self, state: State) -> list[tuple[Buffer, str]]:
        return [(self.pair.first, state[0]), (self.pair.second, f"{state[1]}.to(tl.float32)")]


def finder(sheet: Sheet[Tile], part: Part, pair: Pair | None) -> Finder:
    if pair is None:
        return Plain(sheet, part)
    if pair.kind == PLACE:
        first = next(one for one in sheet.tile.kernel.parts if one.into == pair.first)
        assert first.how is not None
        return Placed(sheet, pair, first.how)
    return {SOFTMAX: Softmax, VARIANCE: Variance}[pair.kind](sheet, pair)
