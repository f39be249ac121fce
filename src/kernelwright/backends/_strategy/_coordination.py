"""The axis of coordination: who waits for whom, and how far values travel between workers."""

import re
from collections.abc import Iterator

from kernelwright.backends._strategy._description import Reading
from kernelwright.backends._strategy._facts import Facts
from kernelwright.backends._strategy._program import (
    Do,
    Expr,
    Launch,
    Loop,
    Program,
    base,
    own_expressions,
    spelled,
    within,
)


def coordination(found: list[Facts], program: Program) -> Iterator[Reading]:
    """Workers that meet, that exchange values, that reach across groups."""
    sharing = any(facts.shared for facts in found)
    for facts in found:
        yield from (Reading("coordination", 1, words, (trace,)) for trace, words in _meetings(facts, sharing))
        yield from (Reading("coordination", 2, words, ("exchange",)) for words in _exchanges(facts))
        yield from (Reading("coordination", 3, words, (trace,)) for trace, words in _across(facts))
        yield from (Reading("coordination", 3, words) for words in _persistent(facts))
    yield from (Reading("coordination", 3, words) for words in _finished_later(found, program))


def _meetings(facts: Facts, sharing: bool) -> Iterator[tuple[str, str]]:
    """A barrier counts where there is something that the workers share. With the trace that each leaves."""
    if sharing:
        yield from (("meet", f"workers wait at {call.text}") for _, call in facts.called("meet"))
        yield from (("meet", f"workers wait at {text}") for _, text in facts.ordered("meet"))
        local = (call for _, call in facts.called("atomic") if _is_local(facts, call))
        yield from (("meet", f"{call.text} on memory of the group") for call in local)
    if facts.vocabulary.has_groups:
        yield from (("engine group", f"a group works together in {call.text}") for _, call in facts.called("engine"))
        yield from (("engine group", f"a group works together in {text}") for _, text in facts.ordered("engine"))
    yield from (("team", f"workers meet in {call.text}") for _, call in facts.called("team"))
    yield from (("team", f"workers meet in {text}") for _, text in facts.ordered("team"))
    yield from (("team", f"workers meet in {made.type}") for _, made in facts.declared("team"))


def _exchanges(facts: Facts) -> Iterator[str]:
    for role in ("exchange", "combine", "scan", "sort"):
        for place, call in facts.called(role):
            if not (isinstance(place.statement, Do) and place.statement.value is call):
                yield f"values pass between workers by {call.text}"
        yield from (f"values pass between workers by {text}" for _, text in facts.ordered(role))


def _across(facts: Facts) -> Iterator[tuple[str, str]]:
    """With the trace that each leaves."""
    atomics = (call for _, call in facts.called("atomic") if not _is_local(facts, call))
    yield from (("atomic", f"{call.text} in main memory") for call in atomics)
    declared = (made for _, made in facts.declared("atomic") if not _is_on_shared(facts, made.value))
    yield from (("atomic type", f"{made.type} in main memory") for made in declared)
    for role in ("atomic", "across"):
        yield from ((role, f"across groups by {text}") for _, text in facts.ordered(role))
    yield from (("across", f"across groups by {call.text}") for _, call in facts.called("across"))
    everyone = (call for _, call in facts.called("meet") if _is_for_everyone(facts, call))
    yield from (("meet", f"everyone waits at {call.text}") for call in everyone)
    yield from (("across", f"across workers by {made.type}") for _, made in facts.declared("across"))


def _is_for_everyone(facts: Facts, call: Expr) -> bool:
    written = (spelled(each) for part in call.parts for each in facts.reach(part).expressions)
    return any(re.search(facts.vocabulary.everyone, text) for text in written)


def _is_local(facts: Facts, call: Expr) -> bool:
    """An atomic on memory of the group, or through a reference to it."""
    return bool(call.parts) and _is_on_shared(facts, call.parts[0])


def _is_on_shared(facts: Facts, value: Expr | None) -> bool:
    reach = facts.reach(value)
    return value is not None and (
        base(value) in facts.shared or any(base(each) in facts.shared for each in reach.expressions)
    )


# --- groups that outlive their first piece of work -------------------------------------------------------------------


def _persistent(facts: Facts) -> Iterator[str]:
    for place in facts.places:
        loop = place.statement
        if isinstance(loop, Loop) and _strides_by_groups(facts, loop) and _is_group_work(facts, loop):
            yield f"groups stay and take piece after piece: the loop over {loop.variable}"


def _strides_by_groups(facts: Facts, loop: Loop) -> bool:
    start = loop.start or Expr("name", loop.variable)
    begins = " ".join(spelled(each) for each in facts.reach(start).expressions)
    steps = " ".join(spelled(each) for each in facts.reach(loop.stride).expressions)
    words = facts.vocabulary
    whole = re.search(words.group, begins) and not re.search(words.member, begins) and "*" not in begins
    return bool(whole) and bool(re.search(words.groups, steps)) and not re.search(words.member, steps)


def _is_group_work(facts: Facts, loop: Loop) -> bool:
    inside = facts.inside(loop)
    together = [place for role in ("meet", "exchange", "combine", "engine") for place in facts.does(role)]
    return any(isinstance(place.statement, Loop) or place in together for place in inside)


# --- what one launch begins and another ends -------------------------------------------------------------------------


def _finished_later(found: list[Facts], program: Program) -> Iterator[str]:
    """Sums that the groups of one launch leave in memory, added up by a later one."""
    by_name = {facts.function.name: facts for facts in found}
    for place, first in enumerate(program.launches):
        for second in program.launches[place + 1 :]:
            begins, ends = by_name.get(first.kernel), by_name.get(second.kernel)
            if begins and ends and begins is not ends:
                yield from _partials(begins, first, ends, second)


def _partials(begins: Facts, first: Launch, ends: Facts, second: Launch) -> Iterator[str]:
    left = {argument for argument, name in _bound(first, begins) if _leaves_sums(begins, name)}
    taken = {argument for argument, name in _bound(second, ends) if _sums_up(ends, name)}
    for argument in sorted(left & taken):
        yield f"{first.kernel} leaves sums in {argument}, {second.kernel} adds them up"


def _bound(launch: Launch, facts: Facts) -> list[tuple[str, str]]:
    names = [parameter.name for parameter in facts.function.parameters]
    return [(argument, name) for argument, name in zip(launch.arguments, names, strict=False) if argument]


def _leaves_sums(facts: Facts, parameter: str) -> bool:
    sums = {name for carried in facts.carried.values() for name in carried}
    for _, target, value in facts.stores():
        if parameter == facts.root(target):
            reach = facts.reach(value)
            combined = any("combine" in facts.roles(each) for part in reach.expressions for each in within(part))
            if reach.names & sums or combined:
                return True
    return False


def _sums_up(facts: Facts, parameter: str) -> bool:
    """Whether a loop, or the workers of a group, go over what it points to and add it up."""
    for loop, carried in facts.carried.items():
        updates = [place for places in carried.values() for place in places]
        values = [part for place in updates for part in own_expressions(place.statement)[1:]]
        if any(loop.variable in names for value in values for names in _addresses(facts, value, parameter)):
            return True
    calls = [call for _, call in facts.called("combine")]
    return any(_is_by_lanes(facts, each, parameter) for call in calls for each in _loads(facts, call))


def _loads(facts: Facts, value: Expr) -> Iterator[Expr]:
    for part in facts.reach(value).expressions:
        yield from (each for each in within(part) if facts.is_main(each))


def _addresses(facts: Facts, value: Expr, parameter: str) -> Iterator[frozenset[str]]:
    """What the addresses are made of from which a value reads this parameter's memory."""
    for each in _loads(facts, value):
        if parameter == facts.root(base(each)):
            yield facts.reach(each).names


def _is_by_lanes(facts: Facts, load: Expr, parameter: str) -> bool:
    reach = facts.reach(load)
    written = " ".join(spelled(each) for each in reach.expressions)
    return parameter == facts.root(base(load)) and re.search(facts.vocabulary.member, written) is not None
