"""Whatever happens, in whatever order: no elite is lost, no cell worsens, coverage and QD score never fall."""

import json
import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kernelwright.archive import CELLS, Archive, Choice, Entry, Outcome, Repair, Selector, beats
from kernelwright.archive._repair_pool import ATTEMPTS, DEEPEST, MOST

# Few cells, so that they are contested; and a coarse scale, so that there are ties.
PLACES = st.sampled_from(CELLS[:3])
SPEEDS = st.integers(-40, 12).map(lambda quarter: quarter / 4)
TINY = 1e-9


class Life(RuleBasedStateMachine):
    """An archive, told of kernels whose true speed the test knows and the archive does not."""

    noise = 0.5

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed):
        self.rng = random.Random(seed)
        self.selector = Selector()
        self.archive = Archive()
        self.events = []
        self.truth = {}
        self.broken = set()
        self.occupants = {}
        self.before = set(), 0.0, 0.0

    def measure(self, candidate, cell) -> Entry:
        found = self.truth[candidate] + self.rng.uniform(-self.noise, self.noise)
        return Entry(candidate, cell, found, found - self.noise, found + self.noise)

    def choose(self) -> Choice | Repair | None:
        choice = self.selector.choose(self.archive, self.rng)
        if isinstance(choice, Choice):
            assert choice.parent == self.archive.elites[choice.cell].candidate
        elif isinstance(choice, Repair):
            assert choice.parent in self.broken
        return choice

    def keep(self, event):
        self.events.append(json.loads(json.dumps(event)))

    @rule(cell=PLACES, speed=SPEEDS)
    def offer(self, cell, speed):
        candidate, came_of = f"k{len(self.truth)}", self.choose()
        self.truth[candidate] = speed
        entry, elite = self.measure(candidate, cell), self.archive.elites.get(cell)
        outcome = self.archive.offer(entry, came_of)
        self.keep({"event": "offer", "entry": entry.to_json(), "came_of": came_of and came_of.to_json()})
        assert (outcome is Outcome.PLACED) == (elite is None)
        assert self.archive.elites[cell] == (elite or entry)

    @rule(promise=st.floats(0, 1))
    def fail(self, promise):
        candidate, came_of = f"b{len(self.broken)}", self.choose()
        self.broken.add(candidate)
        self.archive.failed(candidate, promise, came_of)
        came_of_told = came_of and came_of.to_json()
        self.keep({"event": "failed", "candidate": candidate, "promise": promise, "came_of": came_of_told})

    @precondition(lambda self: self.archive.contests)
    @rule(data=st.data())
    def settle(self, data):
        challenger = data.draw(st.sampled_from(self.archive.contests))
        cell, elite = challenger.cell, self.archive.elites[challenger.cell]
        # Whoever was measured beside it may have lost the cell since.
        rival = data.draw(st.sampled_from(self.occupants[cell]))
        elite_again, challenger_again = self.measure(rival, cell), self.measure(challenger.candidate, cell)
        outcome = self.archive.settle(cell, challenger.candidate, elite_again, challenger_again)
        told = {"elite_again": elite_again.to_json(), "challenger_again": challenger_again.to_json()}
        self.keep({"event": "confirmed", "cell": cell, "challenger": challenger.candidate, **told})
        if rival != elite.candidate:
            assert outcome is (
                Outcome.CONTESTED if challenger_again.log_speedup > elite.log_speedup else Outcome.REJECTED
            )
            assert self.archive.elites[cell] == elite
        else:
            won = beats(challenger_again, elite_again)
            assert outcome is (Outcome.PLACED if won else Outcome.REJECTED)
            assert self.archive.elites[cell] == (challenger_again if won else elite_again)

    @precondition(lambda self: self.archive.elites)
    @rule(data=st.data())
    def remeasure(self, data):
        cell = data.draw(st.sampled_from(sorted(self.archive.elites)))
        entry = self.measure(self.archive.elites[cell].candidate, cell)
        self.archive.remeasured(entry)
        self.keep({"event": "remeasured", "entry": entry.to_json()})

    @invariant()
    def nothing_is_lost_and_nothing_falls(self):
        """Corrections apart, which change no elite."""
        archive = self.archive
        now = (set(archive.elites), archive.coverage, archive.qd_score - archive.corrections)
        filled, coverage, score = self.before
        assert now[0] >= filled
        assert now[1] >= coverage
        assert now[2] >= score - TINY
        self.before = now

    @invariant()
    def who_has_lost_a_cell_does_not_come_back(self):
        for cell, elite in self.archive.elites.items():
            former = self.occupants.setdefault(cell, [])
            if elite.candidate not in former[-1:]:
                assert elite.candidate not in former
                former.append(elite.candidate)

    @invariant()
    def only_the_accepted_are_elites_and_only_the_failed_are_in_the_pool(self):
        assert {elite.candidate for elite in self.archive.elites.values()} <= set(self.truth)
        assert {broken.candidate for broken in self.archive.pool} <= self.broken
        assert len(self.archive.pool) <= MOST
        assert all(broken.attempts < ATTEMPTS and broken.depth < DEEPEST for broken in self.archive.pool)

    @invariant()
    def every_contest_is_about_a_filled_cell_and_not_with_its_own_elite(self):
        for challenger in self.archive.contests:
            assert self.archive.elites[challenger.cell].candidate != challenger.candidate

    @invariant()
    def the_state_survives_json(self):
        told = json.dumps(self.archive.to_json())
        assert json.dumps(Archive.from_json(json.loads(told)).to_json()) == told

    def teardown(self):
        replayed = Archive()
        for event in self.events:
            replayed.replay(event)
        assert json.dumps(replayed.to_json()) == json.dumps(self.archive.to_json())


class ExactLife(Life):
    """The same where measurements are exact: then the score itself never falls, and no cell ever gets slower."""

    noise = 0.0

    @invariant()
    def no_cell_worsens(self):
        assert self.archive.corrections == 0
        for cell, elite in self.archive.elites.items():
            assert elite.log_speedup == max(
                self.truth[each] for each in [*self.occupants.get(cell, []), elite.candidate]
            )


TestLife = Life.TestCase
TestExactLife = ExactLife.TestCase
TestLife.settings = TestExactLife.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
