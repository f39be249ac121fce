"""What is kept comes back as it was, once, in order; and what a resumed run still has to do is known."""

import threading

import pytest

from kernelwright.store import Event, Genome, Move, Outcome, Place, Records, Run, State, Store, StoreError
from tests.store.conftest import answered, asked, begin, birth, candidate, judged


def test_a_run_is_known_by_its_id_and_by_the_beginning_of_it(store: Store, run: Run) -> None:
    assert store.run(run.id) == run
    assert store.run(run.id[:10]) == run
    assert store.task(run.task) == {"name": "t1"}
    assert (run.state, run.settings, run.machine) == (State.RUNNING, {"seed": 1}, {"cpu": "x"})


def test_an_unknown_run_is_answered_with_the_latest_ones(store: Store, run: Run) -> None:
    with pytest.raises(StoreError, match="no run 'nothing'") as caught:
        store.run("nothing")
    assert run.id in caught.value.fix


def test_a_beginning_that_two_runs_share_is_not_guessed(store: Store, run: Run) -> None:
    begin(store)
    with pytest.raises(StoreError, match="several runs begin with '2'"):
        store.resume_run("2")


def test_rows_for_a_run_that_does_not_exist_are_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="no run 'x'"):
        store.note_event(Event(run="x", kind="k"))


def test_how_a_run_ended_stays_until_it_is_resumed(store: Store, run: Run) -> None:
    store.end_run(run.id, State.STOPPED, "budget")
    assert (store.run(run.id).state, store.run(run.id).reason) == (State.STOPPED, "budget")
    assert store.resume_run(run.id).state is State.RUNNING
    assert store.run(run.id).reason == ""


def test_a_request_without_a_reply_is_known_on_resume(place: Place) -> None:
    with Store(place) as store:
        run = begin(store).id
        for number in range(4):
            assert store.note_request(asked(run, number))
        store.keep_reply(answered(run, 1))
        store.drop_request(run, "q2", "the endpoint is gone")
    with Store(place) as store:
        assert [request.id for request in store.unanswered(run)] == ["q0", "q3"]
        assert not store.note_request(asked(run, 0))
        assert len(list(store.requests(run))) == 4


def test_a_reply_is_unused_until_something_was_made_of_it(store: Store, run: Run) -> None:
    for number in range(3):
        store.note_request(asked(run.id, number))
        store.keep_reply(answered(run.id, number))
    store.keep_candidate(candidate(0), birth(run.id, 0))
    store.drop_request(run.id, "q1", "no code in it")
    assert [request.id for request in store.unused(run.id)] == ["q2"]


def test_a_second_reply_to_one_request_is_kept_and_counted(store: Store, run: Run) -> None:
    store.note_request(asked(run.id, 0))
    store.keep_reply(answered(run.id, 0, "first"))
    store.keep_reply(answered(run.id, 0, "second"))
    assert [reply.text for reply in store.replies(run.id, "q0")] == ["first", "second"]
    assert store.spent(run.id).replies == 2


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 alone", "é漢🙂\r\n", "x" * 3_000_000])
def test_text_that_others_wrote_comes_back_to_the_letter(store: Store, run: Run, text: str) -> None:
    store.note_request(asked(run.id, 0))
    reply = answered(run.id, 0)
    store.keep_reply(type(reply)(**{**reply.__dict__, "text": text}))
    assert next(store.replies(run.id)).text == text


def test_identical_candidates_are_kept_once_and_every_birth_of_them(store: Store, run: Run) -> None:
    other = begin(store).id
    assert store.keep_candidate(candidate(1), birth(run.id, 1, parent="p", genome="g", direction=[0, 1, 0]))
    assert not store.keep_candidate(candidate(1), birth(run.id, 1))
    assert not store.keep_candidate(candidate(1), birth(other, 1))
    found = store.candidate(candidate(1).hash)
    assert found is not None
    assert (found.source, found.backend) == ("source 1", "cpp")
    first, second = store.births(run.id, candidate(1).hash)
    assert (first.parent, first.genome, first.direction) == ("p", "g", [0, 1, 0])
    assert second.parent is None


def test_what_waits_for_a_verdict_is_known_each_once_by_judge_and_device(store: Store, run: Run) -> None:
    for number in (1, 2, 3, 1):
        store.keep_candidate(candidate(number), birth(run.id, number))
    store.keep_verdict(judged(run.id, 2))
    store.keep_verdict(judged(run.id, 3, used=False))

    def waiting(**by: str) -> list[str]:
        return [one.candidate for one in store.unjudged(run.id, **by)]

    assert waiting() == [candidate(1).hash, candidate(3).hash]
    assert waiting(device="cpu", judge="1") == waiting()
    assert len(waiting(device="gpu")) == len(waiting(judge="2")) == 3


def test_a_verdict_on_another_task_is_none_on_this_one(store: Store, run: Run) -> None:
    store.keep_candidate(candidate(1), birth(run.id, 1))
    store.keep_verdict(judged(run.id, 1, task="t2"))
    assert len(list(store.unjudged(run.id))) == 1


def test_several_measurements_are_kept_and_the_same_one_twice_is_not(store: Store, run: Run) -> None:
    store.keep_candidate(candidate(1), birth(run.id, 1))
    assert store.keep_verdict(judged(run.id, 1, job="a"))
    assert store.keep_verdict(judged(run.id, 1, job="b"))
    assert not store.keep_verdict(judged(run.id, 1, job="a"))
    found = list(store.judged(candidate(1).hash, "t1"))
    assert [one.job for one in found] == ["a", "b"]
    assert found[0].verdict == judged(run.id, 1).verdict


def test_a_verdict_that_another_run_paid_for_serves_this_one(store: Store, run: Run) -> None:
    other = begin(store).id
    store.keep_candidate(candidate(1), birth(other, 1))
    store.keep_verdict(judged(other, 1))
    store.keep_candidate(candidate(1), birth(run.id, 1))
    assert not list(store.unjudged(run.id))
    assert store.spent(run.id).evaluations == 0


def test_a_fault_of_the_machine_cannot_become_a_verdict(store: Store, run: Run) -> None:
    store.keep_candidate(candidate(1), birth(run.id, 1))
    with pytest.raises(ValueError, match="no verdict"):
        store.keep_verdict(judged(run.id, 1, status="INFRA"))
    assert len(list(store.unjudged(run.id))) == 1


def test_moves_and_events_come_in_order_and_from_where_one_stopped(store: Store, run: Run) -> None:
    with store.together():
        for number in range(200):
            store.note_move(Move(run=run.id, kind="placed", candidate=str(number), cell=[0, 1, 2], data={"n": number}))
    store.note_event(Event(run=run.id, kind="first"))
    store.note_event(Event(run=run.id, kind="second", data={"why": "x"}))
    assert [move.data["n"] for move in store.moves(run.id)] == list(range(200))
    first, second = store.events(run.id)
    assert list(store.events(run.id, after=first.seq)) == [second]


def test_what_was_spent_is_counted_from_the_rows(store: Store, run: Run) -> None:
    for number, dollars in enumerate((0.5, None, 0.25)):
        store.note_request(asked(run.id, number))
        store.keep_reply(answered(run.id, number, dollars=dollars))
        store.keep_candidate(candidate(number), birth(run.id, number))
        store.keep_verdict(judged(run.id, number, used=number > 0))
    spent = store.spent(run.id)
    assert (spent.requests, spent.replies, spent.tokens_in, spent.tokens_out) == (3, 3, 30, 60)
    assert (spent.dollars, spent.unpriced) == (0.75, 1)
    assert (spent.evaluations, spent.judge_seconds) == (2, 4.0)
    assert spent.wall_seconds > 0


def test_nights_between_two_sittings_are_not_spent(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 1000.0
    monkeypatch.setattr("time.time", lambda: clock)
    with Store(place) as store:
        run = begin(store).id
        clock += 10
        store.note_event(Event(run=run, kind="k"))
        clock += 50_000
        store.resume_run(run)
        clock += 5
        store.note_event(Event(run=run, kind="k"))
        assert store.spent(run).wall_seconds == 15
        assert [(each.noted, each.seen) for each in store.sittings(run)] == [(1000, 1010), (51_010, 51_015)]


def test_nothing_spent_is_zero(store: Store, run: Run) -> None:
    spent = store.spent(run.id)
    assert (spent.dollars, spent.judge_seconds, spent.evaluations, spent.tokens_in) == (0.0, 0.0, 0, 0)


def test_genomes_and_what_they_are_worth_outlive_their_run(place: Place) -> None:
    with Store(place) as store:
        run = begin(store).id
        assert store.keep_genome(Genome(hash="a", backend="cpp", regions={"philosophy": "x"}, run=run))
        assert store.keep_genome(Genome(hash="a", backend="cuda", regions={"philosophy": "x"}, run=run))
        assert not store.keep_genome(Genome(hash="a", backend="cpp", regions={"philosophy": "x"}, parent="b"))
        for gain in (1.0, 3.0, None):
            store.keep_outcome(Outcome(run=run, genome="a", backend="cpp", candidate="c", gain=gain))
    with Store(place) as store:
        store.keep_outcome(Outcome(run=begin(store).id, genome="a", backend="cpp", candidate="c", gain=2.0))
        (worth,) = store.worth("cpp")
        assert (worth.uses, worth.accepted, worth.mean, worth.variance) == (4, 3, 2.0, 1.0)
        assert store.worth("cuda") == []
        assert [genome.parent for genome in store.genomes("cpp")] == [None]
        assert [outcome.gain for outcome in store.outcomes("a", "cpp")] == [1.0, 3.0, None, 2.0]


def test_a_prompt_that_never_succeeded_has_no_mean(store: Store, run: Run) -> None:
    store.keep_outcome(Outcome(run=run.id, genome="a", backend="cpp", candidate="c", gain=None))
    (worth,) = store.worth("cpp")
    assert (worth.uses, worth.mean, worth.variance) == (1, None, None)


def test_together_is_all_or_nothing(store: Store, run: Run) -> None:
    def fail() -> None:
        with store.together():
            store.keep_candidate(candidate(1), birth(run.id, 1))
            assert store.candidate(candidate(1).hash) is not None  # who writes sees it
            raise OSError("elsewhere")

    with pytest.raises(OSError, match="elsewhere"):
        fail()
    assert store.candidate(candidate(1).hash) is None
    assert not list(store.births(run.id))


def test_reading_goes_on_while_somebody_writes_and_sees_only_what_is_kept(store: Store, run: Run) -> None:
    store.note_event(Event(run=run.id, kind="before"))
    with Records(store.place) as records, store.together():
        store.note_event(Event(run=run.id, kind="during"))
        assert [event.kind for event in records.events(run.id)] == ["before"]
    assert [event.kind for event in store.events(run.id)] == ["before", "during"]


def test_writing_goes_on_while_somebody_is_in_the_middle_of_reading(store: Store, run: Run) -> None:
    store.note_event(Event(run=run.id, kind="1"))
    with Records(store.place) as records:
        reading = records.events(run.id)
        next(reading)
        store.note_event(Event(run=run.id, kind="2"))
        assert [event.kind for event in reading] == ["2"]


def test_threads_share_a_store(store: Store, run: Run) -> None:
    def write(thread: int) -> None:
        for number in range(25):
            store.note_event(Event(run=run.id, kind=f"{thread}.{number}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kinds = [event.kind for event in store.events(run.id)]
    assert sorted(kinds) == sorted(f"{thread}.{number}" for thread in range(8) for number in range(25))
    for thread in range(8):
        assert [kind for kind in kinds if kind.startswith(f"{thread}.")] == [f"{thread}.{n}" for n in range(25)]
