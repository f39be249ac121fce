"""Stores that cannot be used: a sentence each, and the file is left as it was."""

import os
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from kernelwright.store import Event, Records, Store, StoreError
from tests.store.conftest import begin


def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    path.write_text("a diary, and not a short one\n" * 100)
    for kind in (Store, Records):
        with pytest.raises(StoreError, match="no SQLite database") as caught:
            kind(path)
        assert caught.value.fix
    assert path.read_text().startswith("a diary")


def test_a_database_of_something_else_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("create table guests (name text)")
    for kind in (Store, Records):
        with pytest.raises(StoreError, match="a database of something else"):
            kind(path)
    with sqlite3.connect(path) as other:
        assert other.execute("select name from sqlite_master").fetchall() == [("guests",)]


def test_reading_where_there_is_nothing_makes_nothing(path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        Records(path)
    assert not path.exists()


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path)


def test_names_with_odd_letters_are_names(tmp_path: Path) -> None:
    path = tmp_path / "100% sure? #1 & é.db"
    with Store(path) as store:
        begin(store)
    with Records(path) as records:
        assert len(list(records.runs())) == 1
    assert path.is_file()


def test_a_store_from_which_a_piece_was_cut_is_called_damaged(path: Path) -> None:
    with Store(path) as store:
        run = begin(store).id
        with store.together():
            for number in range(300):
                store.note_event(Event(run=run, kind=f"{number}" * 50))
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * 8192 + whole[3 * 4096 :])
    with pytest.raises(StoreError, match="is damaged"), Records(path) as records:
        list(records.runs())


# Disks, for real: a small file system of one's own, in a namespace of one's own.

WITHOUT = subprocess.run(
    ["unshare", "-Urm", "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True, check=False
).returncode
on_its_own_disk = pytest.mark.skipif(bool(WITHOUT), reason="no namespaces of one's own here")


def _on_a_disk(tmp_path: Path, size: str, program: str) -> str:
    """What a program prints that has DISK, a file system of this size."""
    disk = tmp_path / "disk"
    disk.mkdir()
    text = f"import os, subprocess\nfrom pathlib import Path\nDISK = Path({str(disk)!r})\n" + textwrap.dedent(program)
    (tmp_path / "program.py").write_text(text)
    mount = f'mount -t tmpfs -o size={size} none "{disk}" && exec "{sys.executable}" "{tmp_path}/program.py"'
    search = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.returncode, done.stderr
    return done.stdout


@on_its_own_disk
def test_a_full_disk_loses_nothing_that_was_acknowledged_and_room_lets_it_go_on(tmp_path: Path) -> None:
    program = """
        from kernelwright.store import Event, Records, Store, StoreError
        from tests.store.conftest import begin
        filler = DISK / "filler"
        filler.write_bytes(bytes(1 << 20))
        with Store(DISK / "runs.db") as store:
            run = begin(store).id
            number = 0
            try:
                while True:
                    store.note_event(Event(run=run, kind=str(number), data={"text": "x" * 5000}))
                    number += 1
            except StoreError as error:
                print(error.what)
            kept = [event.kind for event in store.events(run)]
            assert kept == [str(n) for n in range(number)] and number > 10, (number, kept)
            filler.unlink()
            store.note_event(Event(run=run, kind="later"))
        with Records(DISK / "runs.db") as records:
            assert [event.kind for event in records.events(run)] == [*kept, "later"]
    """
    said = _on_a_disk(tmp_path, "2m", program)
    assert "nothing that was acknowledged is lost" in said
    assert "disk" in said


@on_its_own_disk
def test_a_read_only_disk_is_refused_for_writing_and_can_be_read(tmp_path: Path) -> None:
    program = """
        from kernelwright.store import Records, Store, StoreError
        from tests.store.conftest import begin
        with Store(DISK / "runs.db") as store:
            run = begin(store)
        subprocess.run(["mount", "-o", "remount,ro", str(DISK)], check=True)
        for path in (DISK / "runs.db", DISK / "new.db"):
            try:
                Store(path)
            except StoreError as error:
                print(error.what, "|", error.fix)
        with Records(DISK / "runs.db") as records:
            assert list(records.runs()) == [run]
            assert records.writer(run.id) is None
    """
    for line in _on_a_disk(tmp_path, "2m", program).splitlines():
        assert "Read-only file system" in line
        assert "choose another place" in line
