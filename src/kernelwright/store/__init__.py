"""The records of runs: what was asked, answered, born, judged and learned.

    with Store("runs.db") as store:
        run = store.begin_run(task=task.hash, wire=task.to_wire(), settings={}, versions={}, machine={})
        store.note_request(Asked(run=run.id, id="1", kind="draft", backend="cpp", prompt="..."))

One program writes, any number read. What a verb has returned from is on the disk, whatever happens next. Knows
hashes, names and JSON; does not know what a prompt, a cell or a verdict means.
"""

from kernelwright.store._error import StoreError
from kernelwright.store._lock import Owner
from kernelwright.store._read import Records
from kernelwright.store._records import (
    FINAL,
    SEED,
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
from kernelwright.store._store import Store

__all__ = [
    "FINAL",
    "SEED",
    "Answered",
    "Asked",
    "Birth",
    "Candidate",
    "Event",
    "Genome",
    "Judged",
    "Move",
    "Outcome",
    "Owner",
    "Records",
    "Run",
    "Sitting",
    "Spent",
    "State",
    "Store",
    "StoreError",
    "Worth",
]
