"""Kernels whose lanes run along rows: one or more passes over each, with what they find joined across lanes."""

from __future__ import annotations

from math import prod

from kernelwright.propose.builtin._crew import Crew
from kernelwright.propose.builtin._emit import GROUP, JOIN, NEUTRAL, Emission, accumulated, cleared, coordinates, loop
from kernelwright.propose.builtin._frame import Frame, identifier, pointer
from kernelwright.propose.builtin._functions import is_costly
from kernelwright.propose.builtin._genome import LaneGenes
from kernelwright.propose.builtin._kernels import Part, levels, online_pairs
from kernelwright.propose.builtin._loops import Apply, Buffer, Expression, walk
from kernelwright.propose.builtin._scope import Scope, as_rounded, each, indented

# Elements of a row that are summed in float before they go to a sum in double.
LONG = 1 << 14
LOWEST = "-3.40282347e+38f"


class Rows(Emission):
    """`online`: sums of exponentials that are found in the pass that finds the maximum, by that maximum."""

    def __init__(self, frame: Frame, genome: LaneGenes, crew: Crew, in_memory: set[Buffer], name: str) -> None:
        super().__init__(frame, genome, crew, in_memory, name)
        self.online = online_pairs(self.kernel) if genome.online else {}
        self.levels = levels(self.kernel, self.online)
        self._tops = set(self.online.values())
        self._keep = self._worth_keeping()
        self._saved: set[Expression] = set()

    def body(self) -> list[str]:
        return self.crew.parallel(self.kernel, prod(self.kernel.outer), self.row("t"), self.kept)

    def row(self, index: str) -> list[str]:
        """All that is done to the row of this number."""
        lines = coordinates(index, self.kernel.outer)
        for level in self.passes():
            lines += self._pass(level)
        return lines + self._results()

    @property
    def kept(self) -> list[str]:
        """Rooms for a row that each thread needs."""
        return [f"keep{place}" for place in range(len(self._keep))]

    @property
    def end(self) -> str:
        """How far a row goes."""
        return str(self.kernel.inner[-1])

    def scope(self) -> Scope:
        return Scope(self.frame, self.names, self._keep, frozenset(self._saved))

    # A pass

    def _pass(self, level: int) -> list[str]:
        parts = [part for part in self.in_pass(level) if part.into not in self._tops]
        if not parts:
            return []
        scope = self.scope()
        at_start, at_end = [], []
        for part in parts:
            if part.into in self.online:
                at_start += [f"V {identifier(part.into)}_in[count.value];"]
                at_end += self._online_update(part)
            scope.lines += [self._at_point(part, scope)]
        self._saved |= scope.kept
        counters = [f"int64_t j{place} = 0;" for place in range(len(self.kernel.inner) - 1)]
        group = [GROUP, *indented([*at_start, *each(scope.lines), *at_end]), "};"]
        body = ["{", *indented([*counters, *group, *self._loops(parts)]), "}"]
        return ["// a pass over the row", *scope.before, *self._accumulators(parts), *body, *self._totals(parts)]

    def _at_point(self, part: Part, scope: Scope) -> str:
        name = identifier(part.into)
        if part.into in self.online:
            shifted = _shifted(part.expression)
            return f"{name}_in[u] = only(whole, {as_rounded(shifted, scope.value(shifted))}, n, -INFINITY);"
        value = scope.value(part.expression)
        if not part.how:
            return self.saving(part, value)
        neutral = NEUTRAL[part.how]
        return accumulated(part, f"{name}_at[u]", f"only(whole, {value}, n, {neutral})")

    def _online_update(self, part: Part) -> list[str]:
        """The sum so far is put in terms of the new maximum; one more exponential for a whole group."""
        name, top = identifier(part.into), identifier(self.online[part.into])
        return [
            f"V {name}_top = {top}_at;",
            f"for (const V& v : {name}_in) {name}_top = v > {name}_top ? v : {name}_top;",
            f"V {name}_new = {name}_at * exp_({top}_at - {name}_top);",
            f"each<count.value>([&](auto u) STEP {{ {name}_new += exp_({name}_in[u] - {name}_top); }});",
            f"{top}_at = {name}_top;",
            f"{name}_at = {name}_new;",
        ]

    # Loops along the row

    def _loops(self, parts: list[Part]) -> list[str]:
        """Long sums of floats are emptied into double ones now and then."""
        inner = self.kernel.inner
        empty = [line for part in parts for line in self._emptied(part)] if prod(inner) > LONG else []
        if len(inner) == 1 and empty:
            return self._stretches(inner[0], empty)
        inside = self.crew.lane_loop("0", self.end)
        for place in reversed(range(len(inner) - 1)):
            inside = loop(f"j{place}", inner[place], [*inside, *(empty if place == 0 else [])])
        return inside

    def _stretches(self, size: int, empty: list[str]) -> list[str]:
        end = f"const int64_t end = start + {LONG} < {size} ? start + {LONG} : {size};"
        inside = [end, *self.crew.lane_loop("start", "end"), *empty]
        return [f"for (int64_t start = 0; start < {size}; start += {LONG}) {{", *indented(inside), "}"]

    def _emptied(self, part: Part) -> list[str]:
        name = identifier(part.into)
        if part.how != "sum" or part.into in self.online:
            return []
        return [f"for (V& v : {name}_at) {{", f"    {name}_sum += across_sum(v);", "    v = splat(0.0f);", "}"]

    # What a pass finds

    def _accumulators(self, parts: list[Part]) -> list[str]:
        lines = []
        for part in parts:
            name = identifier(part.into)
            if part.into in self.online:
                lines += [f"V {identifier(self.online[part.into])}_at = splat({LOWEST}), {name}_at = {{}};"]
            elif part.how:
                lines += cleared(part, f"{name}_at", str(self.genome.unroll))
                lines += [f"double {name}_sum = 0.0;"] if part.how == "sum" else []
        return lines

    def _totals(self, parts: list[Part]) -> list[str]:
        return [line for part in parts if part.how for line in self._total(part)]

    def _total(self, part: Part) -> list[str]:
        assert part.how is not None
        name, at = identifier(part.into), f"{identifier(part.into)}_at"
        if part.into in self.online:
            top = identifier(self.online[part.into])
            largest = self.crew.joined("max", f"across_max({top}_at)")
            total = self.crew.joined("sum", f"across_sum({at} * exp_({top}_at - {top}))")
            return [f"const V {top} = splat({largest});", f"const V {name} = splat((float){total});"]
        joined = JOIN[part.how].format(f"{at}[0]", f"{at}[k]")
        found = f"{name}_sum + " if part.how == "sum" else ""
        found = self.crew.joined(part.how, f"{found}across_{part.how}({at}[0])")
        return [
            f"for (int k = 1; k < {self.genome.unroll}; k++) {at}[0] = {joined};",
            f"const V {name} = splat((float)({found}));",
        ]

    def _results(self) -> list[str]:
        scope, lines = self.scope(), []
        for part in self.row_results():
            value = identifier(part.into) if part.how else scope.value(part.expression)
            truth = " != 0" if part.into.dtype == "bool" else ""
            lines += [f"{pointer(part.into)}[{self.frame.address(part.layout)}] = lane({value}, 0){truth};"]
        return [*scope.before, *self.crew.once(lines)] if lines else []

    # Values kept for later passes

    def _worth_keeping(self) -> dict[Expression, int]:
        if self.genome.keep == "none" or prod(self.kernel.inner) > self.crew.room:
            return {}
        keep: dict[Expression, int] = {}
        seen: set[Expression] = set()
        for level in self.passes():
            worked_out = [self._worked_out(part) for part in self.in_pass(level)]
            for expression in worked_out:
                for found in self._repeated(expression, seen):
                    keep.setdefault(found, len(keep))
            seen |= {part for expression in worked_out for part in walk(expression)}
        return keep

    def _worked_out(self, part: Part) -> Expression:
        return _shifted(part.expression) if part.into in self.online else part.expression

    def _repeated(self, expression: Expression, seen: set[Expression]) -> list[Expression]:
        """The largest parts that an earlier pass has worked out already and that are worth keeping."""
        if not isinstance(expression, Apply):
            return []
        worth = expression.kind == "float" and not self.frame.is_row_value(expression)
        if worth and expression in seen and (self.genome.keep == "all" or is_costly(expression)):
            return [expression]
        return [found for part in expression.parts for found in self._repeated(part, seen)]


def _shifted(expression: Expression) -> Expression:
    """x, of exp(x - m)."""
    return expression.parts[0].parts[0]
