"""Faults that people make in kernels, each a function from code to the edits that make it.

An operator sees code with comments and strings blanked out. It need not be clever about equivalence where the
compiler can tell (see `_equivalent.py`), but it leaves alone what is known not to matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.mutants._text import Edit, in_brackets, in_headers

Operator = Callable[[str], Iterator[Edit]]

NATIVE: dict[str, Operator] = {}
PYTHON: dict[str, Operator] = {}

_FOR = re.compile(r"for \((?P<start>[^;{]*);(?P<test>[^;{]*);(?P<step>[^;{\n]*?)\)(?= |\n)")
_PLACE = r"[A-Za-z_]\w*(?:\[[^\[\]]*(?:\[[^\[\]]*\])?[^\[\]]*\])?"
_ACCUMULATION = re.compile(rf"(?<![\w\])])(?P<target>{_PLACE}) \+= (?P<term>[^;]+);")
_NUMBER = r"\d+\.\d*(?:e-?\d+)?f?|\d+e-\d+f?"
_FACTOR = rf"(?:{_PLACE}|{_NUMBER})(?![\w(.:])"
_ZERO = re.compile(r"\b(?P<type>float|double|int64_t) (?P<name>\w+) = (?P<zero>0(?:\.0f?)?)(?=[;,])")
_COARSE = """static inline float coarse(float v) {
    unsigned bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    bits = (bits + 0x8000u) & 0xffff0000u;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}
"""


def native(function: Operator) -> Operator:
    """Registers an operator on C++."""
    NATIVE[function.__name__] = function
    return function


def python(function: Operator) -> Operator:
    """Registers an operator on the Python around it."""
    PYTHON[function.__name__] = function
    return function


def _replaced(pattern: str, new: str, code: str) -> Iterator[Edit]:
    for match in re.finditer(pattern, code, re.MULTILINE):
        yield Edit(match.start(), match.end(), match.expand(new))


def _outside(code: str, edits: Iterator[Edit]) -> Iterator[Edit]:
    """Those edits that touch neither an index nor the header of a loop, nor arithmetic on bit patterns."""
    brackets, headers = in_brackets(code), in_headers(code)
    for edit in edits:
        if not brackets[edit.start] and not headers[edit.start] and "0x" not in _line(code, edit.start):
            yield edit


def _line(code: str, place: int) -> str:
    return code[code.rfind("\n", 0, place) + 1 : code.find("\n", place)]


# *** loops ***


def _bound(code: str, step: str, new: str) -> Iterator[Edit]:
    """Changes the test `name < bound` of loops with such a step."""
    for loop in _FOR.finditer(code):
        test = re.fullmatch(r" (\w+) < ([^&|]+)", loop["test"])
        stepped = re.fullmatch(step, loop["step"])
        if test and stepped:
            by = stepped[1] if stepped.groups() else "1"
            yield Edit(loop.start("test"), loop.end("test"), new.format(name=test[1], bound=test[2], by=by))


@native
def loop_ends_early(code: str) -> Iterator[Edit]:
    yield from _bound(code, r" \w+\+\+", " {name} < {bound} - 1")


@native
def loop_skips_last_block(code: str) -> Iterator[Edit]:
    yield from _bound(code, r" \w+ \+= (\w+)", " {name} < {bound} - {by}")


@native
def loop_runs_over(code: str) -> Iterator[Edit]:
    yield from _bound(code, r" \w+\+\+", " {name} <= {bound}")


@native
def loop_skips_diagonal(code: str) -> Iterator[Edit]:
    for loop in _FOR.finditer(code):
        test = re.fullmatch(r" (\w+) <= (\w+)", loop["test"])
        if test:
            yield Edit(loop.start("test"), loop.end("test"), test.expand(r" \1 < \2"))


@native
def loop_starts_late(code: str) -> Iterator[Edit]:
    for loop in _FOR.finditer(code):
        start = re.search(r"= (\d)$", loop["start"])
        if start:
            place = loop.start("start")
            yield Edit(place + start.start(1), place + start.end(1), str(int(start[1]) + 1))


@native
def remainder_forgotten(code: str) -> Iterator[Edit]:
    yield from _replaced(r"for \(; (\w+) < (\w+); \1\+\+\)", r"for (; \1 < 0; \1++)", code)


@native
def last_block_forgotten(code: str) -> Iterator[Edit]:
    yield from _replaced(r"\((\w+) \+ (\w+) - 1\) / \2\b", r"\1 / \2", code)


@native
def border_test_off_by_one(code: str) -> Iterator[Edit]:
    for match in re.finditer(r"if \(([^{}\n]*)\) continue;", code):
        inside, place = match[1], match.start(1)
        yield from (_moved(e, place) for e in _replaced(r" < 0\b", r" < 1", inside))
        yield from (_moved(e, place) for e in _replaced(r" >= (\w+)", r" > \1", inside))


def _moved(edit: Edit, by: int) -> Edit:
    return Edit(edit.start + by, edit.stop + by, edit.new, edit.helper)


# *** arithmetic ***


def _accumulations(code: str) -> Iterator[re.Match[str]]:
    headers = in_headers(code)
    return (match for match in _ACCUMULATION.finditer(code) if not headers[match.start()])


@native
def accumulation_overwrites(code: str) -> Iterator[Edit]:
    for match in _accumulations(code):
        yield Edit(match.start(), match.end(), match.expand(r"\g<target> = \g<term>;"))


@native
def accumulation_dropped(code: str) -> Iterator[Edit]:
    for match in _accumulations(code):
        yield Edit(match.start(), match.end(), "(void)0;")


@native
def accumulation_subtracts(code: str) -> Iterator[Edit]:
    for match in _accumulations(code):
        yield Edit(match.start(), match.end(), match.expand(r"\g<target> -= \g<term>;"))


@native
def accumulator_coarse(code: str) -> Iterator[Edit]:
    """Rounds a float accumulator to bfloat16 after every addition."""
    for match in _accumulations(code):
        name = re.match(r"\w+", match["target"])
        if name and re.search(rf"\b(?:float|double)\b[^;(){{}}]*\b{name[0]}\b", code):
            new = match.expand(r"\g<target> = coarse(\g<target> + (\g<term>));")
            yield Edit(match.start(), match.end(), new, _COARSE)


@native
def term_dropped(code: str) -> Iterator[Edit]:
    yield from _outside(code, _replaced(rf" \+ {_FACTOR}(?: [*/] {_FACTOR})*(?! [*/])", "", code))


@native
def factor_dropped(code: str) -> Iterator[Edit]:
    yield from _outside(code, _replaced(rf" [*/] {_FACTOR}", "", code))


@native
def difference_added(code: str) -> Iterator[Edit]:
    yield from _outside(code, _replaced(r"(?<=[\w\])]) - (?=[\w(])", " + ", code))


@native
def constant_changed(code: str) -> Iterator[Edit]:
    for match in re.finditer(rf"(?<![\w.])(?:{_NUMBER})(?![\w.])", code):
        value = float(match[0].removesuffix("f"))
        if value:
            suffix = "f" if match[0].endswith("f") else ""
            yield Edit(match.start(), match.end(), f"{value * (100 if value < 1e-3 else 1.1):.8g}{suffix}")


@native
def extremes_swapped(code: str) -> Iterator[Edit]:
    other = {"min": "max", "max": "min"}
    for match in re.finditer(r"\bstd::f?(min|max)\b", code):
        yield Edit(match.start(1), match.end(1), other[match[1]])


@native
def comparison_turned(code: str) -> Iterator[Edit]:
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    for match in re.finditer(r"(?:if \(|&& |= |return |\()[\w\[\]* +]+ (<=?|>=?) [\w\[\]* +.]+(?: \?|\)|;)", code):
        if not in_headers(code)[match.start()]:
            yield Edit(match.start(1), match.end(1), turned[match[1]])


# *** indices ***


@native
def index_swapped(code: str) -> Iterator[Edit]:
    brackets = in_brackets(code)
    for edit in _replaced(r"\b([A-Za-z]\w*) \* (\w+) \+ ([A-Za-z]\w*)\b(?! \*)", r"\3 * \2 + \1", code):
        if brackets[edit.start]:
            yield edit


@native
def write_misplaced(code: str) -> Iterator[Edit]:
    yield from _replaced(r"(?<=[\w\])] = )?(\b[A-Za-z_]\w*)\[([^\[\];]+)\] = ", r"\1[\2 + 1] = ", code)


# *** state and threads ***


def _zeros(code: str) -> Iterator[re.Match[str]]:
    headers = in_headers(code)
    return (match for match in _ZERO.finditer(code) if not headers[match.start()])


@native
def accumulator_starts_wrong(code: str) -> Iterator[Edit]:
    for match in _zeros(code):
        yield Edit(match.start("zero"), match.end("zero"), match["zero"].replace("0", "1", 1))


@native
def accumulator_uninitialised(code: str) -> Iterator[Edit]:
    for match in _zeros(code):
        yield Edit(match.end("name"), match.end(), "")


@native
def accumulator_static(code: str) -> Iterator[Edit]:
    for match in _zeros(code):
        yield Edit(match.start(), match.start(), "static ")


@native
def extreme_starts_at_zero(code: str) -> Iterator[Edit]:
    yield from _replaced(r"-INFINITY\b", "0.0f", code)
    yield from _replaced(r"\b(top|best|most|least) = \w+\[[^\]]+\](?=[;,])", r"\1 = 0.0f", code)


@native
def second_call_idle(code: str) -> Iterator[Edit]:
    for match in re.finditer(r"^extern +void \w+\([^)]*\) \{", code, re.MULTILINE):
        yield Edit(match.end(), match.end(), " static int calls = 0; if (calls++ > 0) return;")


@native
def reduction_forgotten(code: str) -> Iterator[Edit]:
    yield from _replaced(r"(?<=#pragma omp parallel for) reduction\([^)]*\)", "", code)


@native
def atomic_forgotten(code: str) -> Iterator[Edit]:
    yield from _replaced(r"^ *#pragma omp (?:atomic|critical)\n", "", code)


@native
def scratch_shared(code: str) -> Iterator[Edit]:
    yield from _replaced(r"static thread_local ", "static ", code)
    yield from _replaced(r"(#pragma omp parallel\n *\{\n *)(?=std::vector<)", r"\1static ", code)


@native
def threads_not_joined(code: str) -> Iterator[Edit]:
    yield from _replaced(r"\.join\(\)", ".detach()", code)


# *** Python ***


@python
def outputs_swapped(code: str) -> Iterator[Edit]:
    yield from _replaced(r"return (\w+), (\w+)$", r"return \2, \1", code)


@python
def output_repeated(code: str) -> Iterator[Edit]:
    yield from _replaced(r"return (\w+), (\w+)$", r"return \1, \1", code)
    yield from _replaced(r'return (\{"\w+": (\w+), "\w+": )\w+', r"return \1\2", code)


@python
def sizes_swapped(code: str) -> Iterator[Edit]:
    yield from _replaced(r"\b(\w+)\.shape\[0\], \1\.shape\[1\]", r"\1.shape[1], \1.shape[0]", code)


@python
def result_kept(code: str) -> Iterator[Edit]:
    """Returns the first result for ever."""
    for match in re.finditer(r"def forward\(self[^)]*\):\n(.*)\n        return ([^\n]+)\n?\Z", code, re.DOTALL):
        kept = "        if hasattr(self, 'kept'):\n            return self.kept\n"
        body = f"{kept}{match[1]}\n        self.kept = {match[2]}\n        return self.kept\n"
        yield Edit(match.start(1), match.end(), body)


@python
def last_block_not_allocated(code: str) -> Iterator[Edit]:
    yield from _replaced(r"\((\w+(?:\.numel\(\))?) \+ (\w+) - 1\) // \2\b", r"\1 // \2", code)
