"""From a program to what it proves on each axis."""

from collections.abc import Iterator

from kernelwright.backends._strategy._algorithm import algorithm
from kernelwright.backends._strategy._coordination import coordination
from kernelwright.backends._strategy._description import Reading
from kernelwright.backends._strategy._facts import Facts, every
from kernelwright.backends._strategy._memory import memory
from kernelwright.backends._strategy._program import Program
from kernelwright.backends._strategy._vocabulary import Vocabulary


def levels(program: Program, vocabulary: Vocabulary) -> Iterator[Reading]:
    """All that is found, each with the level it proves."""
    found = every(program, vocabulary)
    for kernel in _kernels(found):
        yield from memory(kernel)
    yield from algorithm(found)
    yield from coordination(found, program)


def _kernels(found: list[Facts]) -> Iterator[list[Facts]]:
    """Each kernel with the functions it calls: a tile of one and the registers of another are not two levels."""
    inside: set[Facts] = set()
    for facts in sorted(found, key=lambda each: not each.function.kernel):
        if facts not in inside:
            group = _with_helpers(facts, found)
            inside.update(group)
            yield group


def _with_helpers(head: Facts, found: list[Facts]) -> list[Facts]:
    by_name: dict[str, list[Facts]] = {}
    for facts in found:
        if not facts.function.kernel:
            by_name.setdefault(facts.function.name, []).append(facts)
    group, waiting = [head], [head]
    while waiting:
        mentioned = waiting.pop().function.mentions & by_name.keys()
        fresh = [facts for name in mentioned for facts in by_name.pop(name) if facts is not head]
        group += fresh
        waiting += fresh
    return group
