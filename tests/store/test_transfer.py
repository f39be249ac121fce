"""A run as one file: all of it, from any store into any other, once; and no file that is not what was exported."""

import random
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelwright.store import (
    Asked,
    Event,
    Genome,
    Move,
    Outcome,
    Place,
    Records,
    State,
    Store,
    StoreError,
    export_run,
    import_run,
)
from tests.store.conftest import BOTH, answered, asked, begin, birth, candidate, judged

OLDER = Path(__file__).parents[2] / "examples" / "replays" / "rotary.db"


def fill(store: Store, *, lender: bool = True) -> str:
    """A run with something in every table, and a verdict that another run has paid for."""
    if lender:
        other = begin(store).id
        for number in (3, 9):
            store.keep_candidate(candidate(number), birth(other, number))
            store.keep_verdict(judged(other, number))
        for name, parent in (("g0", None), ("g1", "g0"), ("unrelated", None)):
            store.keep_genome(Genome(hash=name, backend="cpp", regions={"philosophy": name}, parent=parent, run=other))
    run = begin(store).id
    with store.together():
        for number in range(150):  # several pages
            store.note_request(replace(asked(run, number), genome="g2" if number % 2 else None))
            store.keep_reply(answered(run, number, "\x00 \ud800 é" if number == 1 else ""))
    store.keep_genome(Genome(hash="g2", backend="cpp", regions={"philosophy": "x"}, parent="g1", run=run))
    for number in range(5):
        store.keep_candidate(candidate(number), birth(run, number, direction=[0, number]))
        if number != 3:
            store.keep_verdict(judged(run, number))
    store.note_move(Move(run=run, kind="placed", candidate=candidate(0).hash, cell=[1, 2, 3], data={"speed": 1 / 3}))
    store.keep_outcome(Outcome(run=run, genome="g2", backend="cpp", candidate=candidate(0).hash, gain=0.1))
    store.note_event(Event(run=run, kind="k", data={"text": "é", "inf": float("inf")}))
    store.end_run(run, State.STOPPED, "budget")
    return run


def unnumbered(records: list[Any]) -> list[Any]:
    return [replace(record, seq=0) if hasattr(record, "seq") else record for record in records]


def content(place: Place | Path, run: str) -> dict[str, list[Any]]:
    """All that can be read of a run."""
    with Records(place) as records:
        one = records.run(run)
        births = unnumbered(list(records.births(run)))
        return {
            "run": unnumbered([one]),
            "task": [records.task(one.task)],
            "sittings": records.sittings(run),
            "requests": unnumbered(list(records.requests(run))),
            "replies": unnumbered(list(records.replies(run))),
            "births": births,
            "candidates": [records.candidate(birth.candidate) for birth in births],
            "verdicts": unnumbered(list(records.verdicts(run))),
            "judged": [unnumbered(list(records.judged(birth.candidate, one.task))) for birth in births],
            "moves": unnumbered(list(records.moves(run))),
            "genomes": [genome.hash for genome in records.genomes("cpp") if genome.hash != "unrelated"],
            "outcomes": unnumbered(list(records.outcomes("g2", "cpp"))),
            "events": unnumbered(list(records.events(run))),
            "spent": [records.spent(run)],
            "to do": [len(list(todo(run))) for todo in (records.unanswered, records.unused, records.unjudged)],
        }


@pytest.fixture(params=BOTH)
def there(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Another store than `place`."""
    if request.param == "sqlite":
        return Place.at(tmp_path / "there.db")
    return Place.at(request.getfixturevalue("server").fresh())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "moved" / "run.kwr"


@pytest.fixture
def exported(path: Path, file: Path) -> str:
    """The name of the run that was exported into `file`."""
    with Store(path) as store:
        run = fill(store)
        export_run(store, run, file)
    return run


def test_a_run_moves_with_all_that_it_leans_on(place: Place, there: Place, file: Path) -> None:
    with Store(place) as store:
        run = fill(store)
    with Records(place) as records:
        assert export_run(records, run[:-1], file).id == run
    assert list(file.parent.iterdir()) == [file]
    assert import_run(file, there).new
    before = content(place, run)
    assert before["judged"][3], "a verdict that another run has paid for"
    assert content(file, run) == content(there, run) == before
    with Records(there) as records:
        assert [one.id for one in records.runs()] == [run]
        assert [genome.hash for genome in records.genomes()] == ["g0", "g1", "g2"]


def test_a_second_time_changes_nothing(there: Place, exported: str, file: Path) -> None:
    assert import_run(file, there).new
    before = content(there, exported)
    assert not import_run(file, there).new
    assert content(there, exported) == before


def test_a_run_that_went_on_is_not_written_over(there: Place, exported: str, file: Path) -> None:
    import_run(file, there)
    with Store(there) as store:
        store.resume_run(exported)
        store.note_event(Event(run=exported, kind="later"))
    with pytest.raises(StoreError, match="has other rows there") as caught:
        import_run(file, there)
    assert "nothing was changed" in caught.value.fix
    assert content(there, exported)["events"][-1].kind == "later"


def test_an_imported_run_goes_on_and_moves_back(there: Place, exported: str, file: Path, tmp_path: Path) -> None:
    import_run(file, there)
    with Store(there) as store:
        store.resume_run(exported)
        store.note_request(Asked(run=exported, id="later", kind="draft", backend="cpp", prompt="p"))
    with Records(there) as records:
        export_run(records, exported, tmp_path / "back.kwr")
    assert import_run(tmp_path / "back.kwr", tmp_path / "home.db").new
    assert content(tmp_path / "home.db", exported) == content(there, exported)


def test_what_is_there_already_is_not_kept_twice(there: Place, exported: str, file: Path) -> None:
    with Store(there) as store:
        mine = fill(store)
    before = content(there, mine)
    assert import_run(file, there).new
    with Records(there) as records:
        assert len(list(records.genomes("cpp"))) == 4
        assert len(list(records.verdicts(exported))) == 4
    after = content(there, mine)
    assert {**after, "judged": 0, "outcomes": 0} == {**before, "judged": 0, "outcomes": 0}


def test_the_lender_may_come_later(path: Path, there: Place, exported: str, file: Path, tmp_path: Path) -> None:
    import_run(file, there)
    with Records(path) as records:
        lender = next(iter(records.runs())).id
        export_run(records, lender, tmp_path / "lender.kwr")
    assert import_run(tmp_path / "lender.kwr", there).new
    assert not import_run(tmp_path / "lender.kwr", there).new
    assert not import_run(file, there).new
    with Records(path) as before, Records(there) as after:
        assert unnumbered(list(before.verdicts(lender))) == unnumbered(list(after.verdicts(lender)))
        assert len(list(after.judged(candidate(3).hash, "t1"))) == 1


def test_what_is_written_meanwhile_is_not_half_in_the_file(place: Place, file: Path) -> None:
    """Who exports sees the store at one moment: a run that is being written is cut between two transactions."""
    with Store(place) as store:
        run = begin(store).id
        store.note_event(Event(run=run, kind="before"))
        with Records(place) as records, records.at_one_moment():
            assert len(list(records.events(run))) == 1
            store.note_event(Event(run=run, kind="after"))
            assert export_run(records, run, file).state is State.RUNNING
    with Records(file) as records:
        assert [event.kind for event in records.events(run)] == ["before"]


def test_an_older_store_is_exported_as_it_is(tmp_path: Path, there: Place, file: Path) -> None:
    before = OLDER.read_bytes()
    with Records(OLDER) as records:
        (run,) = records.runs()
        export_run(records, run.id, file)
    assert OLDER.read_bytes() == before
    import_run(file, there)
    assert content(there, run.id) == content(OLDER, run.id)


# Files that are not what was exported


def refused(file: Path, match: str, tmp_path: Path) -> StoreError:
    """Nothing is made of it: neither rows nor a store."""
    target = tmp_path / "target" / "runs.db"
    with pytest.raises(StoreError, match=match) as caught:
        import_run(file, target)
    assert not target.parent.exists()
    assert caught.value.fix
    return caught.value


def test_rows_that_were_changed_are_noticed(exported: str, file: Path, tmp_path: Path) -> None:
    changes = (
        "update verdicts set verdict = replace(verdict, '2.0', '1.0') where job = 'j1'",
        "delete from replies where request = 'q140'",
        "update candidates set source = cast('other' as blob)",
        "insert into events (run, kind, data, noted) select id, 'x', '{}', 1 from runs",
        "drop table moves",
    )
    for number, change in enumerate(changes):
        copy = shutil.copy(file, tmp_path / f"{number}.kwr")
        with sqlite3.connect(copy) as changed:
            changed.execute(change)
        changed.close()
        refused(copy, "is damaged: it does not hold what was exported", tmp_path)


@pytest.mark.slow
def test_bytes_that_were_changed_or_lost_are_noticed(exported: str, file: Path, tmp_path: Path) -> None:
    """Wherever they are; those that hold nothing may change, and then the run is the same."""
    whole, chance = file.read_bytes(), random.Random(1)
    before, noticed = content(file, exported), 0
    pieces = [whole[: chance.randrange(len(whole))] for _ in range(6)]
    for _ in range(24):
        at = chance.randrange(len(whole))
        pieces.append(whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :])
    for number, piece in enumerate(pieces):
        copy, target = tmp_path / f"{number}.kwr", tmp_path / f"{number}" / "runs.db"
        copy.write_bytes(piece)
        try:
            import_run(copy, target)
        except StoreError:
            assert not target.exists()
            noticed += 1
        else:
            assert content(target, exported) == before
    assert noticed > 10  # half of so small a file is room that holds nothing


def test_files_of_something_else_are_refused(path: Path, exported: str, tmp_path: Path) -> None:
    told = refused(path, "is a store, and not a run that was exported", tmp_path)
    assert "kernelwright store export" in told.fix
    refused(tmp_path / "none.kwr", "there is no store at", tmp_path)
    diary = tmp_path / "diary.kwr"
    diary.write_text("a diary, and not a short one\n" * 100)
    refused(diary, "no SQLite database", tmp_path)
    with sqlite3.connect(tmp_path / "guests.kwr") as guests:
        guests.execute("create table guests (name text)")
    refused(tmp_path / "guests.kwr", "a database of something else", tmp_path)


def test_a_file_by_a_newer_version_is_refused(exported: str, file: Path, tmp_path: Path) -> None:
    with sqlite3.connect(file) as newer:
        newer.execute("update about set value = '99' where name = 'form'")
    refused(file, r"newer version \(form 99", tmp_path)


def test_a_file_in_which_a_run_went_on_is_a_store_like_any_other(exported: str, file: Path, tmp_path: Path) -> None:
    with Store(file) as store:
        store.resume_run(exported)
    refused(file, "is a store, and not a run that was exported", tmp_path)
    with Records(file) as records:
        export_run(records, exported, tmp_path / "again.kwr")
    assert import_run(tmp_path / "again.kwr", tmp_path / "home.db").new


def test_a_file_is_neither_written_over_nor_imported_into_itself(path: Path, exported: str, file: Path) -> None:
    before = file.read_bytes()
    with Records(path) as records, pytest.raises(StoreError, match="is there already"):
        export_run(records, exported, file)
    with pytest.raises(StoreError, match="into itself"):
        import_run(file, file)
    assert file.read_bytes() == before


def test_an_export_that_fails_leaves_no_file(path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(path) as store:
        run = fill(store)
        with pytest.raises(StoreError, match="there is no run 'x'"):
            export_run(store, "x", file)
        monkeypatch.setattr("kernelwright.store._transfer._seal", lambda _: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(StoreError, match="cannot be used"):
            export_run(store, run, file)
    assert list(file.parent.iterdir()) == []
