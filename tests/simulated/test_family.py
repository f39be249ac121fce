"""The families: real kernels of many kinds, judged."""

import math
import random

import pytest

from tests.simulated import FAMILIES, JUDGED
from tests.simulated._family import Family, Member
from tests.simulated.model import cell_of
from tests.simulated.table import Table, measured_again

families = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
judged = pytest.mark.parametrize("family", JUDGED.values(), ids=JUDGED)
# As many members as a test has patience for, of a family that is larger.
PATIENCE = 300


def some(members: list[Member]) -> list[Member]:
    return members if len(members) <= PATIENCE else random.Random(0).sample(members, PATIENCE)


@families
def test_every_member_is_another_text_and_is_known_by_it(family: Family) -> None:
    every = list(family)
    assert len({family.source(member) for member in every}) == len(every) >= 200
    for member in some(every):
        assert family.recognised(family.source(member, remark="3-14")) == member
    assert family.find("something else") is None


@families
def test_members_fall_into_many_cells(family: Family) -> None:
    cells = {cell_of(family, member) for member in some(family.whole)}
    assert len(cells) >= 10
    for axis in range(3):
        assert len({cell[axis] for cell in cells}) >= 2


@judged
def test_every_member_was_judged_and_broken_ones_were_rejected(family: Family) -> None:
    table = Table.read(family)
    assert set(table.verdicts) == {member.key for member in family}
    assert {"cpu", "day", "judge"} <= set(table.about)
    statuses = {member.key: table.verdicts[member.key]["status"] for member in family}
    assert {statuses[member.key] for member in family if member.broken} == {"COMPILE_ERROR", "WRONG_VALUE"}
    right = [member for member in family.whole if statuses[member.key] == "CORRECT"]
    assert len(right) >= 0.95 * len(family.whole)


@judged
def test_kernels_differ_by_far_more_than_measurements_do(family: Family) -> None:
    table = Table.read(family)
    speeds = [kept["speedup"]["ratio"] for kept in table.verdicts.values() if "speedup" in kept]
    assert max(speeds) > 10 * min(speeds)


@judged
def test_small_steps_to_something_faster_do_not_always_lead_to_the_best(family: Family) -> None:
    """Some kernels are faster than all that are one step away, and slower by a tenth than the best."""
    table = Table.read(family)
    speed = {one: table.log_speedup(one) for one in family.whole if "speedup" in table.verdicts[one.key]}
    best = max(speed.values())
    tops = [one for one in speed if all(speed[one] >= speed[other] for other in speed if _one_step(family, one, other))]
    assert any(speed[one] < best - math.log(1.1) for one in tops)


def _one_step(family: Family, one: Member, other: Member) -> bool:
    pairs = zip(family.choices.values(), one.answers, other.answers, strict=True)
    return sum(abs(values.index(mine) - values.index(its)) for values, mine, its in pairs) == 1


def test_measured_again_a_kernel_is_about_as_fast_and_not_the_same() -> None:
    family = FAMILIES["matmul"]
    kept = next(told for told in Table.read(family).verdicts.values() if "speedup" in told)
    again = [measured_again(kept, random.Random(number))["ratio"] for number in range(50)]
    assert len(set(again)) > 5
    logs = [math.log(ratio / kept["speedup"]["ratio"]) for ratio in again]
    samples = [one for block in kept["log_ratios"] for one in block]
    assert max(map(abs, logs)) <= max(samples) - min(samples)
