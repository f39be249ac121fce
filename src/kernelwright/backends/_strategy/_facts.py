"""What is known of one function: where its arrays lie, what its names are made of, what its loops carry along."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kernelwright.backends._strategy._program import (
    Assembly,
    Directive,
    Expr,
    Function,
    Loop,
    Place,
    Program,
    Set,
    base,
    names_in,
    own_expressions,
    places,
    whole,
    within,
)
from kernelwright.backends._strategy._vocabulary import Vocabulary

# A function longer than this is read up to here.
_LONGEST = 2000
# A value that nobody reads may be all that another was for, and so on, so many times.
_LINKS = 4
_BUFFER = re.compile(r"\bvector\b|\bunique_ptr\b|\barray\b")
_ALLOCATED = re.compile(r"(?:\w+::)*(?:aligned_alloc|alloca|__builtin_alloca|malloc|calloc|_mm_malloc)")
_EFFECTS = frozenset(("atomic", "meet", "copy", "across", "engine", "team", "store"))
_OF_HELPERS = frozenset(("meet", "exchange", "combine", "scan", "engine", "copy", "load", "shape"))

Definitions = Mapping[str, list[Expr]]


@dataclass(frozen=True)
class Reach:
    """What a value is made of: the names, and the expressions in which they stand."""

    names: frozenset[str]
    expressions: tuple[Expr, ...]


class Facts:
    """One function, read once. `helpers`: by name what the text's own functions do."""

    def __init__(
        self, function: Function, vocabulary: Vocabulary, helpers: Mapping[str, frozenset[str]], wide: frozenset[str]
    ) -> None:
        self.function = function
        self.vocabulary = vocabulary
        self._helpers = helpers
        self._wide = wide
        self._reached: dict[tuple[int, frozenset[str], frozenset[str]], tuple[Definitions, Reach]] = {}
        self._defined: dict[Loop, Definitions] = {}
        self.places = self._living(places(function.body)[:_LONGEST])
        self.loops = [place.statement for place in self.places if isinstance(place.statement, Loop)]
        self._inside: dict[Loop, list[Place]] = {loop: [] for loop in self.loops}
        for place in self.places:
            for loop in place.loops:
                self._inside.setdefault(loop, []).append(place)

    # --- words -------------------------------------------------------------------------------------------------------

    def roles(self, call: Expr) -> frozenset[str]:
        """What a call does; the text's own functions do what is in them, whatever they are called."""
        if call.kind != "call":
            return frozenset()
        own = self._helpers.get(call.text.rpartition("::")[2].lstrip("."))
        return self.vocabulary.roles(call.text) if own is None else own

    def is_own(self, call: Expr) -> bool:
        return call.text.rpartition("::")[2].lstrip(".") in self._helpers

    def called(self, role: str) -> Iterator[tuple[Place, Expr]]:
        """The calls that do this, where they stand."""
        for place in self.places:
            for expression in own_expressions(place.statement):
                for each in within(expression):
                    if role in self.roles(each) and not self.is_own(each):
                        yield place, each

    def _all_calls(self) -> Iterator[Expr]:
        for place in self.places:
            yield from (each for each in _all(own_expressions(place.statement)) if each.kind == "call")

    def ordered(self, role: str) -> Iterator[tuple[Place, str]]:
        """Directives and assembly that do this."""
        for place in self.places:
            match place.statement:
                case Directive(text=text) if role in self.vocabulary.roles_of_directive(text):
                    yield place, text
                case Assembly(text=text) if role in self.vocabulary.roles_of_assembly(text):
                    yield place, _instruction(text)

    def declared(self, role: str) -> Iterator[tuple[Place, Set]]:
        """Variables whose type does this."""
        pattern = self.vocabulary.types.get(role)
        for place in self.places:
            match place.statement:
                case Set(declares=True, type=kind) as made if pattern and re.search(pattern, kind):
                    yield place, made

    def does(self, role: str) -> list[Place]:
        """Every place that does this, by whatever means, helpers of the text included."""
        found = [place for place, _ in self.ordered(role)]
        for place in self.places:
            calls = (each for expression in own_expressions(place.statement) for each in within(expression))
            found += [place for each in calls if role in self.roles(each)]
        return found

    def is_wide(self, kind: str) -> bool:
        words = set(re.findall(r"\w+", kind))
        return self.vocabulary.is_wide(kind) or ("*" in kind and bool(words & self._wide))

    def traces_of(self, kind: str) -> tuple[str, ...]:
        """What access through a pointer of a wide type leaves in compiled code."""
        return ("wide",) if re.search(self.vocabulary.seen_type, kind) else ()

    def _living(self, found: list[Place]) -> list[Place]:
        """Without values that nobody reads."""
        for _ in range(_LINKS):
            read = self._read(found)
            found = [place for place in found if not self._is_idle(place.statement, read)]
        return found

    def _read(self, found: list[Place]) -> set[str]:
        read: set[str] = set()
        for place in found:
            match place.statement:
                case Set(target=Expr(kind="name", text=name), value=value):
                    read |= names_in(value) - {name}
                case statement:
                    read |= {name for each in own_expressions(statement) for name in names_in(each)}
        return read

    def _is_idle(self, statement: object, read: set[str]) -> bool:
        match statement:
            case Set(target=Expr(kind="name", text=name), value=value, sizes=None, type=kind) if (
                not {name, whole(name)} & read
            ):
                guards = any(re.search(pattern, kind) for pattern in self.vocabulary.types.values())
                calls = [each for each in within(value) if each.kind in ("call", "launch")]
                return not guards and not any(self.is_own(call) or self.roles(call) & _EFFECTS for call in calls)
        return False

    # --- where arrays lie --------------------------------------------------------------------------------------------

    @cached_property
    def shared(self) -> dict[str, tuple[Expr, ...]]:
        """What lies in the memory of a group, and other names for it."""
        given = [each.name for each in self.function.parameters if self.vocabulary.is_fast_memory(each.type)]
        found: dict[str, tuple[Expr, ...]] = dict.fromkeys(given, ())
        for made in self._sets():
            if (
                made.shared
                or (made.declares and self._is_given_fast_memory(made))
                or (made.declares and made.value is not None and base(made.value) in found and _is_alias(made))
            ):
                found[made.target.text] = made.sizes or ()
        return found

    def _is_given_fast_memory(self, made: Set) -> bool:
        return any(each.kind == "call" and self.vocabulary.is_fast_memory(each.text) for each in within(made.value))

    @cached_property
    def arrays(self) -> dict[str, tuple[Expr, ...]]:
        """What a worker has to itself: arrays declared here, and buffers it allocates."""
        found: dict[str, tuple[Expr, ...]] = {}
        for made in self._sets():
            if made.declares and not made.shared and (made.sizes is not None or _is_buffer(made)):
                found[made.target.text] = made.sizes or ()
        return found

    def _sets(self) -> Iterator[Set]:
        for place in self.places:
            if isinstance(place.statement, Set):
                yield place.statement

    def is_main(self, expression: Expr) -> bool:
        """Whether this reads main memory."""
        if expression.kind == "load":
            return base(expression) not in self.shared and base(expression) not in self.arrays
        return "load" in self.roles(expression)

    def stores(self) -> Iterator[tuple[Place, str, Expr]]:
        """What is written to main memory: where, from which base, which value."""
        for place in self.places:
            match place.statement:
                case Set(target=Expr(kind="load") as target, value=Expr() as value) if self.is_main(target):
                    yield place, base(target), value
        for role in ("store", "atomic"):
            for place, call in self.called(role):
                if len(call.parts) > 1 and base(call.parts[0]) not in self.shared:
                    yield place, base(call.parts[0]), call.parts[-1]

    # --- what values are made of -------------------------------------------------------------------------------------

    @cached_property
    def definitions(self) -> Definitions:
        return definitions(self.places)

    @cached_property
    def _named(self) -> Definitions:
        """Of names alone, not of what they point to."""
        return definitions(
            place for place in self.places if isinstance(made := place.statement, Set) and made.target.kind == "name"
        )

    @cached_property
    def holding(self) -> frozenset[str]:
        """Arrays of a group or a worker that hold what was loaded, and not what was reckoned from sums."""
        held = {
            base(made.target)
            for place in self.places
            if isinstance(made := place.statement, Set) and self.brings(place)
        }
        held |= {name for call in self._all_calls() if "copy" in self.roles(call) for name in names_in(call)}
        if any(True for _ in self.ordered("copy")):
            held |= set(self.shared)
        return frozenset(name for name in held if name in self.shared or name in self.arrays)

    def brings(self, place: Place) -> bool:
        """Whether this puts into an array what was loaded."""
        match place.statement:
            case Set(target=Expr(kind="load") as target, operator="=", value=Expr() as value):
                sums = self.accumulated - {base(target)}
                reach = self.reach(value, stop=sums)
                return not reach.names & sums and any(self.is_main(each) for each in _all(reach.expressions))
        return False

    @cached_property
    def accumulated(self) -> frozenset[str]:
        """Names that a loop updates from themselves; not addresses that it moves along."""
        found = set()
        parts = (each for place in self.places for each in _all(own_expressions(place.statement)))
        addresses = {base(each) for each in parts if each.kind == "load"}
        for place in self.places:
            match place.statement:
                case Set(target=target, operator=sign, value=value) as made if place.loops and not made.declares:
                    name = base(target)
                    chosen = any(name in names_in(test) for test in place.tests)
                    if target.kind != "load" and (sign != "=" or chosen or name in names_in(value)):
                        found.add(name)
        return frozenset(found - addresses)

    def reach(self, value: Expr | None, known: Definitions | None = None, stop: Iterable[str] = ()) -> Reach:
        """Everything that a value is made of, through the names in it, but not through those in `stop`."""
        known = self.definitions if known is None else known
        key = (id(known), frozenset(names_in(value)), frozenset(stop))
        if key not in self._reached:
            # The definitions are kept too: their identity is part of the key.
            self._reached[key] = (known, _closure(known, key[1], key[2]))
        beyond = self._reached[key][1]
        return beyond if value is None else Reach(beyond.names, (value, *beyond.expressions))

    def root(self, name: str) -> str:
        """The first name of an address: `x` of `row`, where `row` is `x + r * cols`."""
        for _ in range(8):
            given = [base(value) for value in self._named.get(name, ()) if base(value) not in ("", name)]
            if not given:
                break
            name = given[0]
        return name

    def is_loaded(self, reach: Reach) -> bool:
        """Whether data from memory is in it."""
        return bool(reach.names & self.holding) or any(self.is_main(each) for each in _all(reach.expressions))

    # --- what loops carry --------------------------------------------------------------------------------------------

    def inside(self, loop: Loop) -> list[Place]:
        return self._inside[loop]

    def defined_in(self, loop: Loop) -> Definitions:
        """By name, the values it is given inside a loop."""
        if loop not in self._defined:
            self._defined[loop] = definitions(self.inside(loop))
        return self._defined[loop]

    @cached_property
    def carried(self) -> dict[Loop, dict[str, list[Place]]]:
        """By loop: the names that go from one turn into the next, made of data, and where they are updated."""
        return {loop: self._carried(loop) for loop in self.loops}

    def _carried(self, loop: Loop) -> dict[str, list[Place]]:
        inside, known = self.inside(loop), self.defined_in(loop)
        by_name: dict[str, list[Place]] = {}
        fresh = {base(made.target) for place in inside if isinstance(made := place.statement, Set) and made.declares}
        for place in inside:
            if isinstance(place.statement, Set) and whole(base(place.statement.target)) not in fresh:
                by_name.setdefault(base(place.statement.target), []).append(place)
        return {
            name: updates
            for name, updates in by_name.items()
            if name not in self.shared and self._is_carried(name, updates, loop, known)
        }

    def _is_carried(self, name: str, updates: list[Place], loop: Loop, known: Definitions) -> bool:
        sets = [place.statement for place in updates if isinstance(place.statement, Set)]
        steady = all(self._stays(made.target, loop, known) for made in sets)
        kept = steady and all(self._is_update(name, place, known) for place in updates)
        return kept and any(
            self.is_loaded(self.reach(made.value, known)) or self._is_chosen(made, updates) for made in sets
        )

    def _is_chosen(self, made: Set, updates: list[Place]) -> bool:
        """Loaded above the loop's own text: `v` of a value that was read before it."""
        return (
            made.value is not None and any(place.tests for place in updates) and self.is_loaded(self.reach(made.value))
        )

    def _stays(self, target: Expr, loop: Loop, known: Definitions) -> bool:
        """Whether turn after turn the same place is meant."""
        if target.kind != "load":
            return True
        moved = {name for part in _address(target) for name in self.reach(part, known).names}
        return loop.variable not in moved

    def _is_update(self, name: str, place: Place, known: Definitions) -> bool:
        made = place.statement
        if not isinstance(made, Set):
            return False
        tested = any(name in names_in(test) for test in place.tests)
        return made.operator != "=" or tested or name in self.reach(made.value, known).names


def _closure(known: Definitions, first: frozenset[str], stop: frozenset[str]) -> Reach:
    names, visited = set(first), list[Expr]()
    waiting = list(first - stop)
    while waiting:
        for given in known.get(waiting.pop(), ()):
            visited.append(given)
            fresh = names_in(given) - names
            names |= fresh
            waiting.extend(fresh - stop)
    return Reach(frozenset(names), tuple(visited))


def _address(target: Expr) -> tuple[Expr, ...]:
    return target.parts[1:] or target.parts


def _all(expressions: Iterable[Expr]) -> Iterator[Expr]:
    for expression in expressions:
        yield from within(expression)


def definitions(found: Iterable[Place]) -> dict[str, list[Expr]]:
    """By name, the values it is given."""
    known: dict[str, list[Expr]] = {}
    for place in found:
        match place.statement:
            case Set(target=target, value=Expr() as value):
                known.setdefault(base(target), []).append(value)
            case Loop(variable=variable, start=Expr() as start) if variable:
                known.setdefault(variable, []).append(start)
    return known


def _is_alias(made: Set) -> bool:
    value = made.value
    assert value is not None
    return value.kind != "load" and ("*" in made.type or "&" in made.type or "auto" in made.type)


def _is_buffer(made: Set) -> bool:
    if _BUFFER.search(made.type) and "*" not in made.type:
        return True
    calls = [each.text for each in within(made.value) if each.kind == "call"]
    return "*" in made.type and any(_ALLOCATED.fullmatch(call) for call in calls)


def _instruction(text: str) -> str:
    """The first word of assembly that says something."""
    found = re.search(r"[a-z][\w.]*\.[\w.:]+", text)
    return found[0][:60] if found else text[:60]


def every(program: Program, vocabulary: Vocabulary) -> list[Facts]:
    """The facts of all functions that can run."""
    helpers = _helpers(program, vocabulary)
    return [Facts(function, vocabulary, helpers, program.wide) for function in program.functions]


def _helpers(program: Program, vocabulary: Vocabulary) -> dict[str, frozenset[str]]:
    """By name what the text's own functions do, those they call included."""
    named = {function.name: function for function in program.functions if function.name}
    found: dict[str, frozenset[str]] = {
        name: _own_roles(function, vocabulary, named) for name, function in named.items()
    }
    for _ in range(4):
        found = {
            name: roles.union(*(found[other] for other in named[name].mentions if other in found))
            for name, roles in found.items()
        }
    return found


def _own_roles(function: Function, vocabulary: Vocabulary, named: Mapping[str, Function]) -> frozenset[str]:
    roles: set[str] = set()
    for place in places(function.body)[:_LONGEST]:
        if isinstance(place.statement, Assembly):
            roles |= vocabulary.roles_of_assembly(place.statement.text)
        for each in _all(own_expressions(place.statement)):
            if each.kind == "call" and each.text.rpartition("::")[2] not in named:
                roles |= vocabulary.roles(each.text)
    return frozenset(roles & _OF_HELPERS)
