"""The axis of the algorithm: what is reckoned in which order."""

import re
from collections.abc import Iterator
from collections.abc import Set as Names

from kernelwright.backends._strategy._description import Reading
from kernelwright.backends._strategy._facts import Definitions, Facts
from kernelwright.backends._strategy._program import (
    Expr,
    Loop,
    Place,
    Set,
    base,
    names_in,
    spelled,
    values_in,
    whole,
    within,
)

_GROWING = ("<<=", ">>=", "*=", "/=")
_SAME_VALUE = re.compile(
    r"(?:\w+::)*(?:__\w+2\w+|\w+2(?:half|float|bfloat16)\w*|make_\w+|float|double|half|int|bfloat16|float16_t)"
)
_OF_VECTORS = re.compile(r"^_mm\d*_|_(?:ps|pd|ph|epi\d+)$|f$")


def algorithm(found: list[Facts]) -> Iterator[Reading]:
    """What is fused, reformulated, or done by another machinery, function by function."""
    adders = frozenset(facts.function.name for facts in found if _returns_a_sum(facts))
    for facts in found:
        yield from (Reading("algorithm", 1, words) for words in _fused(facts, adders))
        yield from (Reading("algorithm", 2, words) for words in (*_recurrences(facts), *_scans(facts)))
        yield from (Reading("algorithm", 3, words, ("engine",)) for words in _engines(facts))
        yield from (Reading("algorithm", 3, words) for words in (*_sorts(facts), *_rescaled(facts)))
        yield from (Reading("algorithm", 3, words) for words in (*_butterflies(facts), *_divides(facts)))


# --- fused -----------------------------------------------------------------------------------------------------------


def _returns_a_sum(facts: Facts) -> bool:
    sums = _sums(facts)
    given = [value for place in facts.places if isinstance(value := getattr(place.statement, "value", None), Expr)]
    returned = [value for value in given if value.kind == "op" and value.text == "return"]
    return any(facts.reach(value).names & set(sums) for value in returned)


def _fused(facts: Facts, adders: frozenset[str]) -> Iterator[str]:
    sums = _sums(facts)
    kinds = _kinds(facts, _of_data(facts, sums))
    if len(kinds) > 1:
        yield f"several reductions in one kernel: {', '.join(sorted(kinds))}"
    updates = {id(place) for places in sums.values() for place in places}
    for place, target, value in facts.stores():
        if id(place) not in updates and _goes_on(facts, value, frozenset(sums), adders):
            yield f"what a reduction gave is worked on before it is written to {target}"


def _sums(facts: Facts) -> dict[str, list[Place]]:
    """Names that a loop adds up, and where."""
    found: dict[str, list[Place]] = {}
    for carried in facts.carried.values():
        for name, places in carried.items():
            found.setdefault(name, []).extend(places)
    return found


def _of_data(facts: Facts, sums: dict[str, list[Place]]) -> dict[str, list[Place]]:
    """Without sums of sums, whether these are at hand or were left in memory on the way."""
    left = {facts.root(target) for _, target, value in facts.stores() if facts.reach(value).names & set(sums)}
    kept = {
        name: [each for each in places if not (_is_of(facts, each, left) or _is_of_sums(each, sums.keys() - {name}))]
        for name, places in sums.items()
    }
    return {name: places for name, places in kept.items() if places}


def _is_of_sums(place: Place, others: Names[str]) -> bool:
    """Whether an update adds nothing but other sums."""
    made = place.statement
    assert isinstance(made, Set)
    names = _heads(made.value) if made.value is not None else set()
    return made.operator != "=" and bool(names) and names <= others


def _is_of(facts: Facts, place: Place, left: set[str]) -> bool:
    """Whether all that an update reads was left there by this function."""
    made = place.statement
    assert isinstance(made, Set)
    reach = facts.reach(made.value, stop=left)
    read = [each for part in reach.expressions for each in within(part) if facts.is_main(each)]
    return bool(read) and all(facts.root(base(each)) in left for each in read) and base(made.target) not in left


def _kinds(facts: Facts, sums: dict[str, list[Place]]) -> set[str]:
    """The reductions that differ in kind; a sum kept in several names, or finished by a loop of its own, is one."""
    groups: list[set[str]] = []
    combined = [{f"{_plain(call.text)} of {_argument(facts, call)}"} for call in _combined(facts, sums)]
    for kinds in [*({_kind(facts, place) for place in places} for places in sums.values()), *combined]:
        merged = [group for group in groups if group & kinds]
        groups = [group for group in groups if group not in merged] + [kinds.union(*merged)]
    return {sorted(group)[0] for group in groups}


def _combined(facts: Facts, sums: dict[str, list[Place]]) -> list[Expr]:
    """What a group adds up that no loop did before."""
    updates = {id(place) for places in sums.values() for place in places}
    return [
        call
        for place, call in facts.called("combine")
        if id(place) not in updates and facts.is_loaded(facts.reach(call, stop=sums)) and not names_in(call) & set(sums)
    ]


def _argument(facts: Facts, call: Expr) -> str:
    """What is added up, in the words of `_term`."""
    return _term(facts, Set(Expr("other"), call.parts[0] if call.parts else None))


def _kind(facts: Facts, place: Place) -> str:
    made = place.statement
    assert isinstance(made, Set)
    calls = {_plain(each.text) for each in within(made.value) if each.kind == "call"}
    chosen = made.operator == "=" and bool(place.tests) and base(made.target) not in names_in(made.value)
    extreme = next((word for word in ("max", "min") if any(word in call for call in calls)), "max" if chosen else "")
    how = extreme or ("product" if made.operator in ("*=", "/=") else "sum")
    return f"{how} of {_term(facts, made)}"


def _term(facts: Facts, made: Set) -> str:
    own, parts = base(made.target), list(values_in(made.value))
    pairs: list[tuple[Expr, ...]] = [each.parts for each in parts if _is_product(each)]
    mixed = [each for each in parts if facts.roles(each) & {"fma", "times"}]
    pairs += [tuple(part for part in each.parts if own not in names_in(part))[:2] for each in mixed]
    functions = sorted(_plain(each.text) for each in parts if _is_function(facts, each))
    if functions:
        return functions[0]
    if any(len(pair) == 2 and spelled(pair[0]) == spelled(pair[1]) for pair in pairs):
        return "squares"
    return "products" if pairs else "values"


def _is_product(each: Expr) -> bool:
    return each.kind == "op" and each.text == "*" and len(each.parts) == 2


def _plain(call: str) -> str:
    return _OF_VECTORS.sub("", call.rpartition("::")[2].lstrip(".").removeprefix("tl."))


def _is_function(facts: Facts, each: Expr) -> bool:
    """A call that makes another value of a value."""
    if each.kind != "call" or _SAME_VALUE.fullmatch(each.text):
        return False
    roles = facts.roles(each)
    moves = roles & {"load", "combine", "exchange", "scan", "meet", "plain", "fma", "times", "shape", "ahead", "engine"}
    return not moves and not re.search(r"max|min|add", _plain(each.text))


def _goes_on(facts: Facts, value: Expr, sums: frozenset[str], adders: frozenset[str]) -> bool:
    """Whether a stored value is a sum that was put through something, or joined with other data."""
    has_sum = works = False
    for each in _since_sums(facts, value, sums, adders):
        adds = _adds(facts, each, adders)
        has_sum |= adds or (each.kind == "name" and each.text in sums)
        works |= not adds and _is_work(facts, each, sums)
    return has_sum and works


def _since_sums(facts: Facts, value: Expr, sums: frozenset[str], adders: frozenset[str]) -> Iterator[Expr]:
    """All that a value is made of, back to what was added up; not how that was."""
    seen, waiting = set(sums), [value]
    while waiting:
        each = waiting.pop()
        yield each
        if each.kind == "name":
            for name in {each.text, whole(each.text)} - seen:
                seen.add(name)
                waiting += [given for given in facts.definitions.get(name, ()) if name not in names_in(given)]
        if not _adds(facts, each, adders):
            waiting += each.parts


def _adds(facts: Facts, each: Expr, adders: frozenset[str]) -> bool:
    """A call that gives a sum of what it is given."""
    if each.kind != "call":
        return False
    return each.text.rpartition("::")[2] in adders or ("combine" in facts.roles(each) and not facts.is_own(each))


def _is_work(facts: Facts, each: Expr, sums: frozenset[str]) -> bool:
    if each.kind == "call":
        extreme = re.search(r"max|min", _plain(each.text)) and not facts.roles(each) & {"combine", "exchange"}
        return bool(extreme) or _is_function(facts, each) or facts.is_main(each) or _is_choice(each)
    return (facts.is_main(each) and base(each) not in sums) or _is_choice(each)


def _is_choice(each: Expr) -> bool:
    """A choice by the value itself; whether a worker has one at all is none."""
    if not (each.kind == "op" and each.text == "?") and each.text not in ("tl.where", "sycl::select"):
        return False
    test, *values = each.parts
    return bool(_heads(test) & {name for value in values for name in _heads(value)})


def _heads(expression: Expr) -> set[str]:
    """The names of an expression, without those that only say which element."""
    if expression.kind == "load":
        return {base(expression)}
    own = {expression.text} if expression.kind == "name" else set()
    return own.union(*(_heads(part) for part in expression.parts))


# --- reformulated ----------------------------------------------------------------------------------------------------


def _recurrences(facts: Facts) -> Iterator[str]:
    """Two things that a loop carries, one corrected by the other: a running maximum and a sum, a mean and squares."""
    for loop in facts.carried:
        for name, other in _corrected(facts, loop):
            yield f"{name} is corrected as {other} changes, in one pass"


def _corrected(facts: Facts, loop: Loop) -> Iterator[tuple[str, str]]:
    carried = facts.carried[loop]
    known = facts.defined_in(loop)
    for name, updates in carried.items():
        for place in updates:
            made = place.statement
            if isinstance(made, Set):
                others = facts.reach(made.value, known).names & set(carried) - {name}
                yield from ((name, other) for other in sorted(others))


def _scans(facts: Facts) -> Iterator[str]:
    yield from (f"a running state by {call.text}" for _, call in facts.called("scan"))
    for loop in facts.loops:
        if loop.step in _GROWING and any(_adds_from_behind(facts, place, loop) for place in facts.inside(loop)):
            yield f"a scan in steps of growing {loop.variable}"


def _adds_from_behind(facts: Facts, place: Place, loop: Loop) -> bool:
    """`v += s[t - offset]`."""
    made = place.statement
    if not isinstance(made, Set):
        return False
    reach = facts.reach(made.value, facts.defined_in(loop))
    return any(
        each.kind == "load"
        and base(each) in facts.shared
        and re.search(rf" - {re.escape(loop.variable)}\b", spelled(each))
        for part in reach.expressions
        for each in within(part)
    )


# --- other machinery -------------------------------------------------------------------------------------------------


def _engines(facts: Facts) -> Iterator[str]:
    yield from (f"matrix engine by {call.text}" for _, call in facts.called("engine"))
    yield from (f"matrix engine by {text}" for _, text in facts.ordered("engine"))


def _sorts(facts: Facts) -> Iterator[str]:
    yield from (f"sorting network by {call.text}" for _, call in facts.called("sort"))


def _rescaled(facts: Facts) -> Iterator[str]:
    """A whole vector of sums rescaled as a running value changes: attention in one pass."""
    for loop in facts.carried:
        known = facts.defined_in(loop)
        others = {other for pair in _corrected(facts, loop) for other in pair}
        for name, updates in facts.carried[loop].items():
            if name in facts.arrays and any(_rescales(facts, place, name, others - {name}, known) for place in updates):
                yield f"{name}, a vector of sums, is rescaled as the data come"


def _rescales(facts: Facts, place: Place, name: str, others: set[str], known: Definitions) -> bool:
    made = place.statement
    if not isinstance(made, Set) or made.value is None:
        return False
    if made.operator == "*=":
        return bool(facts.reach(made.value, known).names & others)
    products = [
        each for each in within(made.value) if (each.kind == "op" and each.text == "*") or "fma" in facts.roles(each)
    ]
    for each in products:
        factors = [part for part in each.parts if name not in names_in(part)]
        if len(factors) < len(each.parts) and any(facts.reach(part, known).names & others for part in factors):
            return True
    return False


def _butterflies(facts: Facts) -> Iterator[str]:
    """Pairs of elements at a distance that doubles or halves, both rewritten."""
    for loop in facts.loops:
        if loop.step in _GROWING and loop.variable and _rewrites_pairs(facts, loop):
            yield f"pairs at distance {loop.variable} are rewritten: n log n"


def _rewrites_pairs(facts: Facts, loop: Loop) -> bool:
    inside = facts.inside(loop)
    known = facts.defined_in(loop)
    targets: dict[str, set[str]] = {}
    far: set[str] = set()
    for place in inside:
        made = place.statement
        for target in _rewritten(made) if not isinstance(made, Loop) else ():
            targets.setdefault(base(target), set()).add(spelled(target))
            if loop.variable in {name for part in target.parts for name in facts.reach(part, known).names}:
                far.add(base(target))
    return any(len(places) > 1 and name in far for name, places in targets.items())


def _rewritten(statement: object) -> tuple[Expr, ...]:
    match statement:
        case Set(target=Expr(kind="load") as target):
            return (target,)
    value = getattr(statement, "value", None)
    if isinstance(value, Expr) and value.kind == "call" and value.text.endswith("swap"):
        return tuple(part for part in value.parts if part.kind == "load")
    return ()


def _divides(facts: Facts) -> Iterator[str]:
    name = facts.function.name
    calls = [
        each
        for place in facts.places
        for expression in (getattr(place.statement, "value", None),)
        if isinstance(expression, Expr)
        for each in within(expression)
        if each.kind == "call" and each.text.rpartition("::")[2] == name
    ]
    if name and len(calls) > 1:
        yield f"{name} calls itself on parts: divide and conquer"
