"""The records of runs: what was asked, answered, born, judged and learned.

    with Store("runs.db") as store:
        run = store.begin_run(task=task.hash, wire=task.to_wire(), settings={}, versions={}, machine={})
        store.note_request(Asked(run=run.id, id="1", kind="draft", backend="cpp", prompt="..."))

A file is written by one program at a time, on a PostgreSQL server every run by one; any number read. What a verb has
returned from is on the disk, whatever happens next. Knows hashes, names and JSON; does not know what a prompt, a cell
or a verdict means.
"""

from kernelwright.store._error import StoreError
from kernelwright.store._owner import Owner
from kernelwright.store._place import ENVIRONMENT, Place
from kernelwright.store._read import Records
from kernelwright.store._records import (
    FINAL,
    Answered,
    Asked,
    Birth,
    Candidate,
    Event,
    Genome,
    Judged,
    Move,
    Outcome,
    Run,
    Sitting,
    Spent,
    State,
    Worth,
)
from kernelwright.store._store import Store, bring_up_to_date
from kernelwright.store._transfer import Imported, export_run, import_run

__all__ = [
    "ENVIRONMENT",
    "FINAL",
    "Answered",
    "Asked",
    "Birth",
    "Candidate",
    "Event",
    "Genome",
    "Imported",
    "Judged",
    "Move",
    "Outcome",
    "Owner",
    "Place",
    "Records",
    "Run",
    "Sitting",
    "Spent",
    "State",
    "Store",
    "StoreError",
    "Worth",
    "bring_up_to_date",
    "export_run",
    "import_run",
]
