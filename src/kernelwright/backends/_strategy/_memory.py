"""The axis of memory: how data come to the arithmetic."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kernelwright.backends._strategy._description import Reading
from kernelwright.backends._strategy._facts import Facts
from kernelwright.backends._strategy._program import (
    Expr,
    Loop,
    Place,
    Set,
    base,
    names_in,
    own_expressions,
    spelled,
    values_in,
    within,
)

# As many scalars as make a tile rather than a few sums of one pass.
_SCALARS = 4
# How often a buffer is held by those who fill one while they use another.
_STAGES = ("2", "3", "4", "5", "6", "8")


def memory(found: list[Facts]) -> Iterator[Reading]:
    """What is shaped, staged, staged twice, staged ahead."""
    tiles = [tile for facts in found for tile in _tiles(facts)]
    registers = [tile for facts in found for tile in _registers(facts)]
    yield from (shaped for facts in found for shaped in _shaped(facts))
    yield from (*tiles, *registers)
    if tiles and registers:
        words = f"two levels: {tiles[0].words}, and {registers[0].words}"
        yield Reading("memory", 3, words, tiles[0].traces + registers[0].traces)
    if tiles or registers:
        yield from (ahead for facts in found for ahead in _ahead(facts))
    yield from (Reading("memory", 3, words, ("pipelined",)) for facts in found for words in _pipelined(facts))


def _tiles(facts: Facts) -> Iterator[Reading]:
    """Between main memory and registers: what a group shares, or what a processor's caches hold."""
    yield from (Reading("memory", 2, words, ("shared",)) for words in _shared_tiles(facts))
    if not facts.vocabulary.has_groups:
        yield from (Reading("memory", 2, words) for words in (*_blocked(facts), *_packed(facts)))


# --- shaped access ---------------------------------------------------------------------------------------------------


def _shaped(facts: Facts) -> Iterator[Reading]:
    for role, words in (("shape", "wide or hinted access by"), ("ahead", "asks for data ahead by")):
        yield from (Reading("memory", 1, f"{words} {call.text}", (role,)) for _, call in facts.called(role))
        yield from (Reading("memory", 1, text, (role,)) for _, text in facts.ordered(role))
    yield from (Reading("memory", 1, words, facts.traces_of(kind)) for kind, words in _wide(facts))
    hinted = any(each.kind == "load" and each.text.endswith("hinted") for each in _expressions(facts))
    yield from [Reading("memory", 1, "an access with a hint for the cache")] * hinted


def _wide(facts: Facts) -> Iterator[tuple[str, str]]:
    """Types by which several neighbours are reached at once."""
    yield from _copied_vectors(facts)
    mentioned = {name for place in facts.places for each in own_expressions(place.statement) for name in names_in(each)}
    for parameter in facts.function.parameters:
        if parameter.name in mentioned and facts.is_wide(parameter.type):
            yield parameter.type, f"{parameter.name} is read as {parameter.type.strip()}"
    for each in _expressions(facts):
        if each.kind == "cast" and facts.is_wide(each.text):
            yield each.text, f"several neighbours at once as {each.text}"


def _copied_vectors(facts: Facts) -> Iterator[tuple[str, str]]:
    """`memcpy(&lanes, from, 32)` is how a vector type is loaded in plain C++."""
    wide = {made.target.text: made.type for made in _declared(facts) if facts.is_wide(made.type + "*")}
    for each in _expressions(facts):
        if each.kind == "call" and each.text.endswith("memcpy"):
            kinds = [wide[name] for name in names_in(each) if name in wide]
            yield from ((kind, f"several neighbours at once as {kind}") for kind in kinds)


def _declared(facts: Facts) -> Iterator[Set]:
    for place in facts.places:
        if isinstance(place.statement, Set) and place.statement.declares:
            yield place.statement


def _expressions(facts: Facts) -> Iterator[Expr]:
    for place in facts.places:
        for expression in own_expressions(place.statement):
            yield from within(expression)


# --- tiles that a group shares ---------------------------------------------------------------------------------------


def _shared_tiles(facts: Facts) -> Iterator[str]:
    barriers = facts.does("meet")
    for name in facts.shared:
        gathered = [place for place, call in facts.called("atomic") if _is_element(facts, call, name)]
        written = [*_writes(facts, name), *gathered, *_copies(facts, name)]
        read = _reads(facts, name, written)
        if not _met(written, barriers, read) or _is_exchange(facts, name):
            continue
        if gathered:
            yield f"{name} gathers in the group's memory what is written out later"
        elif name in facts.holding and (_copies(facts, name) or _read_elsewhere(facts, name)):
            yield f"{name} is filled from main memory, and read after a barrier"


def _is_element(facts: Facts, call: Expr, name: str) -> bool:
    """Whether an atomic goes to an element of an array, and not to a single sum."""
    loads = (each for part in call.parts[:1] for each in within(part) if each.kind == "load")
    return any(base(each) == name for each in loads)


def _writes(facts: Facts, name: str) -> list[Place]:
    return [
        place
        for place in facts.places
        if isinstance(made := place.statement, Set) and made.target.kind == "load" and base(made.target) == name
    ]


def _copies(facts: Facts, name: str) -> list[Place]:
    named = [place for place, call in facts.called("copy") if any(name in names_in(part) for part in call.parts)]
    return named or [place for place in facts.does("copy") if name in facts.holding]


def _reads(facts: Facts, name: str, written: list[Place]) -> list[Place]:
    """Where it is read or handed to something that reads it."""
    found = []
    for place in facts.places:
        match place.statement:
            case Set(declares=True, value=None):
                continue
            case Set(target=target, value=value):
                mentioned = names_in(value) | (names_in(target) - {base(target)})
            case statement:
                mentioned = {each for expression in own_expressions(statement) for each in names_in(expression)}
        if name in mentioned and place not in written:
            found.append(place)
    return found + [place for place in written if _reads_itself(place, name)]


def _reads_itself(place: Place, name: str) -> bool:
    return isinstance(place.statement, Set) and name in names_in(place.statement.value)


def _met(written: list[Place], barriers: list[Place], read: list[Place]) -> bool:
    """Whether workers wait for each other between writing and reading, in the text or in a loop's next turn."""
    if not (written and read):
        return False
    first, last = min(place.order for place in written), max(place.order for place in read)
    around = [{loop for place in places for loop in place.loops} for places in (written, barriers, read)]
    return any(first <= barrier.order <= last for barrier in barriers) or bool(set.intersection(*around))


def _is_exchange(facts: Facts, name: str) -> bool:
    """Whether its elements are combined with each other: a tree of sums, no tile."""
    for place in _writes(facts, name):
        made = place.statement
        assert isinstance(made, Set)
        values = facts.reach(made.value).expressions if made.operator != "=" else (made.value,)
        others = [each for value in values for each in within(value) if each.kind == "load" and base(each) == name]
        combines = made.operator != "=" or (made.value is not None and made.value.kind != "load")
        if combines and any(spelled(each) != spelled(made.target) for each in others):
            return True
    return False


def _read_elsewhere(facts: Facts, name: str) -> bool:
    """Whether anything is read at another place than the one that the reader filled."""
    filled = [place.statement for place in _writes(facts, name) if facts.brings(place)]
    own = {
        spelled(made.target) for made in filled if isinstance(made, Set) and name not in facts.reach(made.value).names
    }
    parts = (each for place in facts.places for value in _values(place) for each in within(value))
    return any(_is_read_outside(each, name, own) for each in parts)


def _is_read_outside(each: Expr, name: str, own: set[str]) -> bool:
    """A load of another element, or a call that gets the array or an address in it and may read any."""
    if each.kind == "load":
        return base(each) == name and spelled(each) not in own
    if each.kind == "op":
        return each.text == "&" and len(each.parts) == 1 and base(each) == name
    return each.kind == "call" and any(part.kind == "name" and part.text == name for part in each.parts)


def _values(place: Place) -> tuple[Expr, ...]:
    match place.statement:
        case Set(target=target, value=value):
            return (*target.parts[1:], *((value,) if value else ()))
    return own_expressions(place.statement)


# --- tiles of a processor's caches -----------------------------------------------------------------------------------


def _blocked(facts: Facts) -> Iterator[str]:
    """A loop over blocks, one over a block's inside, and another that goes over the block again and again."""
    for loop in facts.loops:
        if _is_step(loop) and loop.variable:
            inner = _loops_inside(facts, loop)
            points = [each for each in inner if loop.variable in _header(facts, each)]
            again = [each for each in inner if each not in points]
            if points and again:
                yield f"the loop over {loop.variable} goes block by block"


def _is_step(loop: Loop) -> bool:
    return loop.step == "+=" and loop.stride is not None and spelled(loop.stride) not in ("1", "")


def _loops_inside(facts: Facts, loop: Loop) -> list[Loop]:
    return [place.statement for place in facts.inside(loop) if isinstance(place.statement, Loop)]


def _header(facts: Facts, loop: Loop) -> set[str]:
    """What the bounds of a loop are made of."""
    return {name for part in (loop.start, loop.bound) for name in facts.reach(part).names}


def _packed(facts: Facts) -> Iterator[str]:
    """A buffer filled from main memory and gone over again and again."""
    for name in facts.arrays:
        if name in facts.holding and any(_is_gone_over(facts, name, place, each) for place, each in _uses(facts, name)):
            yield f"{name} is a buffer filled once and read many times"


def _uses(facts: Facts, name: str) -> Iterator[tuple[Place, Expr]]:
    for place in facts.places:
        for expression in _values(place):
            for each in within(expression):
                is_handed = each.kind == "call" and "load" in facts.roles(each) and name in names_in(each)
                if (each.kind == "load" and base(each) == name) or is_handed:
                    yield place, each


def _is_gone_over(facts: Facts, name: str, place: Place, use: Expr) -> bool:
    """Whether a loop around the reading, that is none around the filling, does not choose the element."""
    filling = [loop for each in _writes(facts, name) for loop in each.loops]
    chosen = {each for part in use.parts for each in facts.reach(part).names}
    around = [loop for loop in place.loops if loop not in filling]
    return len(around) > 1 and any(loop.variable and loop.variable not in chosen for loop in around)


# --- tiles of registers ----------------------------------------------------------------------------------------------


def _registers(facts: Facts) -> Iterator[Reading]:
    engines = [*(call.text for _, call in facts.called("engine")), *(text for _, text in facts.ordered("engine"))]
    yield from (Reading("memory", 2, f"{text} keeps its tile in registers", ("engine tile",)) for text in engines)
    yield from (Reading("memory", 2, words) for words in _register_tiles(facts))


def _register_tiles(facts: Facts) -> Iterator[str]:
    if facts.vocabulary.has_groups:
        yield from _packed(facts)
    for loop, carried in facts.carried.items():
        products = [each for name, updates in carried.items() for each in _products(facts, name, updates)]
        for each in products:
            if _is_tile_of_array(facts, each, products) or _is_outer_product(facts, each.made):
                yield f"{each.name} is a tile of sums in registers"
        if _are_tile_of_scalars(facts, products):
            yield f"sums of one loop over {loop.variable or 'the data'} share their factors"


@dataclass(frozen=True)
class _Product:
    """A sum of products: its name, where it is updated."""

    name: str
    made: Set
    loops: tuple[Loop, ...]


def _products(facts: Facts, name: str, updates: list[Place]) -> list[_Product]:
    found = [_Product(name, made, place.loops) for place in updates if isinstance(made := place.statement, Set)]
    return [each for each in found if _factors(facts, each.made)]


def _factors(facts: Facts, made: Set) -> list[tuple[Expr, ...]]:
    """What is multiplied in an update."""
    own = base(made.target)
    found: list[tuple[Expr, ...]] = []
    for each in values_in(made.value):
        if each.kind == "op" and each.text == "*" and len(each.parts) == 2:
            found.append(each.parts)
        elif facts.roles(each) & {"fma", "times"}:
            found.append(tuple(part for part in each.parts if own not in names_in(part)))
    return [factors for factors in found if len(factors) == 2 and all(names_in(factor) for factor in factors)]


def _is_tile_of_array(facts: Facts, product: _Product, products: list[_Product]) -> bool:
    if not facts.arrays.get(product.name) or product.made.target.kind != "load":
        return False
    moving = {name for part in product.made.target.parts[1:] for name in names_in(part)}
    if moving:
        near = facts.defined_in(product.loops[-1])
        pairs = _factors(facts, product.made)
        return any(not moving <= facts.reach(factor, near).names for pair in pairs for factor in pair)
    others = [each.made for each in products if each.name == product.name and each is not product]
    return bool(others) and _share_a_factor(facts, [product.made, *others])


def _are_tile_of_scalars(facts: Facts, products: list[_Product]) -> bool:
    scalars = [each for each in products if each.made.target.kind == "name" and each.name not in facts.arrays]
    names = {each.name for each in scalars}
    return len(names) >= _SCALARS and _share_a_factor(facts, [each.made for each in scalars])


def _share_a_factor(facts: Facts, updates: list[Set]) -> bool:
    seen: set[str] = set()
    for made in updates:
        factors = {spelled(factor) for pair in _factors(facts, made) for factor in pair}
        if factors & seen:
            return True
        seen |= factors
    return False


def _is_outer_product(facts: Facts, made: Set) -> bool:
    """`a[:, None] * b[None, :]`, in one step or by names."""
    for left, right in _factors(facts, made):
        spreads = [{each.text for each in within(part) if each.kind == "spread"} for part in (left, right)]
        if all(any("None" in text for text in spread) for spread in spreads) and spreads[0] != spreads[1]:
            return True
    return False


# --- tiles filled ahead ----------------------------------------------------------------------------------------------


def _ahead(facts: Facts) -> Iterator[Reading]:
    for role in ("copy", "ahead"):
        called = (call.text for place, call in facts.called(role) if place.loops or role == "copy")
        ordered = (text for _, text in facts.ordered(role))
        yield from (Reading("memory", 3, f"filled ahead: {text}", (role,)) for text in (*called, *ordered))
    for traces, names in ((("shared",), facts.shared), ((), facts.arrays)):
        for name in names:
            if _is_doubled(facts, name):
                yield Reading("memory", 3, f"filled ahead: {name} is held twice", traces)


def _is_doubled(facts: Facts, name: str) -> bool:
    """Whether one half is filled while the other is in use."""
    sizes = {**facts.shared, **facts.arrays}[name]
    if name not in facts.holding or len(sizes) < 2 or spelled(sizes[0]) not in _STAGES:
        return False
    firsts = [
        each.parts[1]
        for place in facts.places
        if place.loops
        for expression in own_expressions(place.statement)
        for each in within(expression)
        if each.kind == "load" and base(each) == name and len(each.parts) > 2
    ]
    kinds = {spelled(first) for first in firsts}
    return len(kinds) > 1 and any(_turns(facts, first) for first in firsts)


def _turns(facts: Facts, index: Expr) -> bool:
    """Whether an index goes round: `k & 1`, `1 - stage`, `stage ^= 1`, `(k + 1) % 3`."""
    reach = facts.reach(index)
    written = " ".join(spelled(each) for each in reach.expressions)
    flipped = any(
        isinstance(made := place.statement, Set) and base(made.target) in reach.names and made.operator in ("^=", "%=")
        for place in facts.places
    )
    return flipped or re.search(r" [%^] | & 1\b|\(1 - ", written) is not None


def _pipelined(facts: Facts) -> Iterator[str]:
    for loop in facts.loops:
        asked = loop.step == "pipelined" or facts.function.stages > 1
        loads = any(
            facts.is_main(each)
            for place in facts.inside(loop)
            for part in own_expressions(place.statement)
            for each in within(part)
        )
        if asked and loads:
            yield f"the loop over {loop.variable or 'the data'} is pipelined"
            return
