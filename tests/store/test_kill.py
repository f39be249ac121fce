"""`kill -9` at any moment: what a verb has returned from is there, whole, and what belongs together came together."""

import multiprocessing
import os
import random
from typing import Any

import pytest

from kernelwright.store import Event, Move, Outcome, Place, Store
from tests.store.conftest import answered, asked, begin, birth, candidate, judged

KILLS = 60
forked = multiprocessing.get_context("fork")


def _long(number: int) -> str:
    """Sources of some pages, so that many writes are under way when the end comes."""
    return f"source {number} " + "x" * (number * 7919 % 30_000)


def _write(place: Place, first: int, acknowledged: Any) -> None:
    """Writes rows for ever, and says of each when the store has taken it."""

    def say(*words: object) -> None:
        os.write(acknowledged.fileno(), (" ".join(map(str, words)) + "\n").encode())

    with Store(place) as store:
        say("opened")
        run = store.resume_run(next(store.runs()).id).id if first else begin(store).id
        for number in range(first, first + 10_000):
            store.note_request(asked(run, number))
            say("request", number)
            store.keep_reply(answered(run, number, _long(number)))
            say("reply", number)
            store.keep_candidate(candidate(number), birth(run, number))
            say("candidate", number)
            store.keep_verdict(judged(run, number))
            say("verdict", number)
            with store.together():
                store.note_move(Move(run=run, kind="placed", candidate=str(number)))
                store.keep_outcome(Outcome(run=run, genome="g", backend="cpp", candidate=str(number), gain=0.5))
                store.note_event(Event(run=run, kind=str(number)))
            say("together", number)


def _until_killed(place: Place, first: int, chance: random.Random) -> list[str]:
    """What a child had acknowledged when it was killed: while opening, in a transaction, or in between."""
    reads, writes = forked.Pipe(duplex=False)
    process = forked.Process(target=_write, args=(place, first, writes))
    process.start()
    writes.close()
    with os.fdopen(os.dup(reads.fileno()), "rb", buffering=0) as lines:
        heard = [lines.readline() for _ in range(chance.choice((0, 1, *(chance.randrange(2, 50) for _ in range(8)))))]
        process.join(chance.choice((0, chance.uniform(0, 0.004))))  # at once, the next row is just being written
        process.kill()
        process.join()
        heard += lines.readlines()
    reads.close()
    assert process.exitcode == -9
    return [line.decode().strip() for line in heard if line.endswith(b"\n")]


@pytest.mark.slow
def test_sixty_kills_lose_nothing(place: Place) -> None:
    chance = random.Random()
    acknowledged: list[str] = []
    for _ in range(KILLS):
        known = [int(line.split()[1]) for line in acknowledged if " " in line]
        acknowledged += _until_killed(place, _unused(place, known), chance)
    with Store(place) as store:
        (run,) = store.runs()
        _check(store, run.id, [line.split() for line in acknowledged if " " in line])
    assert len(acknowledged) > 5 * KILLS


def _unused(place: Place, known: list[int]) -> int:
    """The next number; zero until there is a run. An unacknowledged row may be there: its number is left out."""
    with Store(place) as store:
        return max(known, default=0) + 2 if list(store.runs()) else 0


def _check(store: Store, run: str, acknowledged: list[list[str]]) -> None:
    said: dict[str, set[int]] = {}
    for kind, number in acknowledged:
        said.setdefault(kind, set()).add(int(number))
    replies = {reply.request: reply.text for reply in store.replies(run)}
    verdicts = {judged.candidate: judged.verdict["number"] for judged in store.verdicts(run)}
    assert {f"q{number}" for number in said["request"]} <= {request.id for request in store.requests(run)}
    assert all(replies[f"q{number}"] == _long(number) for number in said["reply"])
    for number in said["candidate"]:
        found = store.candidate(candidate(number).hash)
        assert found is not None
        assert found.source == candidate(number).source
    assert all(verdicts[candidate(number).hash] == number for number in said["verdict"])
    moves = {int(move.candidate) for move in store.moves(run)}
    assert said["together"] <= moves
    assert moves == {int(event.kind) for event in store.events(run)}
    assert moves == {int(outcome.candidate) for outcome in store.outcomes("g", "cpp")}
