"""The simulated model: it reads what a prompt says, and does as models do."""

import random
from collections import Counter

import pytest

from kernelwright.prompts import apply_edits, seed
from kernelwright.propose import Request, parse
from tests.simulated import FAMILIES
from tests.simulated._family import Member
from tests.simulated.model import OBEYING, SimulatedModel, _direction, cell_of

FAMILY = FAMILIES["matmul"]
PARENT = Member(("rows", "none", "none", "plain", "static"))
UP = "## Where to go\n\n- memory: now plain loops. Go on to accesses made wide.\n\n## Analysis"
STAY = "## Where to go\n\nStay with the kernel's strategy and make the most of it."
NUMBER = 300


def answered(prompt: str, kind="improve", parent: Member | None = PARENT) -> list[Member]:
    model = SimulatedModel(FAMILY, seed=1)
    source = FAMILY.source(parent) if parent else None
    replies = [
        model.propose(Request(id=str(number), prompt=prompt, kind=kind, backend="cpp", parent=source))
        for number in range(NUMBER)
    ]
    return [FAMILY.recognised(str(parse(reply.text, source).source)) for reply in replies]


def share(members: list[Member], fits) -> float:
    return sum(map(fits, members)) / len(members)


def _cell(member: Member) -> tuple[int, int, int]:
    return cell_of(FAMILY, member.mended)


def test_the_same_question_gets_the_same_answer_and_another_seed_another() -> None:
    assert answered(UP) == answered(UP)
    other = SimulatedModel(FAMILY, seed=2).propose(Request(id="1", prompt="", kind="draft", backend="cpp"))
    mine = SimulatedModel(FAMILY, seed=1).propose(Request(id="1", prompt="", kind="draft", backend="cpp"))
    assert other.text != mine.text


def test_it_goes_where_it_is_told_more_often_than_not_and_otherwise_hardly_ever() -> None:
    here = _cell(PARENT)
    assert share(answered(UP), lambda member: _cell(member)[0] > here[0]) > OBEYING
    told, free = answered(STAY), answered("no target")
    assert share(told, lambda member: _cell(member) == here) > 2 * share(free, lambda member: _cell(member) == here)


def test_whether_it_does_as_told_has_nothing_to_do_with_what_the_search_drew() -> None:
    """The engine draws from the run's seed and the request's id: what it drew low must not be what is obeyed."""
    here = _cell(PARENT)
    obeyed = [_cell(member)[0] > here[0] for member in answered(UP)]
    low = [random.Random(f"1 {number}").random() < OBEYING for number in range(NUMBER)]
    rates = [[did for did, was_low in zip(obeyed, low, strict=True) if was_low is which] for which in (True, False)]
    assert sum(rates[0]) / len(rates[0]) == pytest.approx(sum(rates[1]) / len(rates[1]), abs=0.15)


def test_it_changes_something_every_time_and_seldom_much() -> None:
    changes = Counter(sum(a != b for a, b in zip(PARENT.answers, one.answers, strict=True)) for one in answered(""))
    assert changes[0] == 0
    assert changes[1] > changes[2] > changes[3]


def test_it_makes_mistakes_and_mends_most_of_them() -> None:
    assert 0.1 < share(answered(""), lambda member: member.broken) < 0.4
    mended = answered("", kind="repair", parent=Member(PARENT.answers, broken=True))
    assert {member.answers for member in mended} == {PARENT.answers}
    assert 0.5 < share(mended, lambda member: not member.broken) < 0.9


def test_drafts_are_plain_by_and_large_and_go_wrong_more_often() -> None:
    drafts = answered("", kind="draft", parent=None)
    assert share(drafts, lambda member: member.answers[-1] == "alone") > 0.4
    assert share(drafts, lambda member: member.broken) > share(answered(""), lambda member: member.broken)


def test_it_borrows_from_kernels_that_it_is_shown() -> None:
    shown = Member(("8x48", "none", "panels", "simd", "dynamic"))
    prompt = f"```python\n{FAMILY.source(shown)}```\n"
    loops = [share(answered(text), lambda member: member.answers[0] == "8x48") for text in (prompt, "")]
    assert loops[0] > loops[1]


def test_it_heeds_advice() -> None:
    shares = [
        share(answered(text), lambda member: member.answers[4] == "dynamic")
        for text in ("- It pays: team = dynamic.\n", "")
    ]
    assert shares[0] > shares[1]


def test_it_advises_what_the_kernels_that_gained_have_in_common() -> None:
    gained = [Member(("4x32", "none", "none", "simd", team)) for team in ("static", "dynamic")]
    advice = seed("cpp")
    shown = "".join(
        f"### Gained, {number}: x\n\n```python\n{FAMILY.source(one)}```\n" for number, one in enumerate(gained)
    )
    prompt = f"## strategies\n\n{advice.regions['strategies']}\n\n{shown}"
    reply = SimulatedModel(FAMILY, 1).propose(Request(id="9", prompt=prompt, kind="rewrite", backend="cpp"))
    made = apply_edits(advice, reply.text)
    assert made.refused == ()
    assert made.genome is not None
    assert "It pays: " in made.genome.regions["strategies"]
    assert "team" not in reply.text.split("It pays: ")[1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- algorithm: now fused: a. b. Go on to reformulated.", ("algorithm", 1)),
        ("- coordination: now a team. Simplify to one thread: less machinery is often faster.", ("coordination", -1)),
        ("whatever you like", None),
    ],
)
def test_it_reads_where_to_go(text: str, told: object) -> None:
    assert _direction(text) == told


def test_it_never_writes_what_does_not_go_together() -> None:
    rng = random.Random(0)
    for number in range(50):
        parent = rng.choice(FAMILY.whole)
        request = Request(id=str(number), prompt=UP, kind="improve", backend="cpp", parent=FAMILY.source(parent))
        reply = SimulatedModel(FAMILY, 5).propose(request)
        assert FAMILY.find(str(parse(reply.text, None).source)) is not None
