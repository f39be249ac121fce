"""Workers that are dismissed end: nothing of them waits for anybody, or has anything to say."""

import os
import stat
import time
from pathlib import Path

import pytest

from kernelwright.judge import Judge, template
from kernelwright.judge._contestant import ROLE, cage

SOME = 20


def test_dismissed_workers_leave_neither_processes_nor_words(small_judge: Judge) -> None:
    template = small_judge.template
    children = Path(f"/proc/{template._process.pid}/task/{template._process.pid}/children")
    before, said = set(children.read_text().split()), os.fstat(template._stderr.fileno()).st_size
    for _ in range(SOME):
        template.fork(ROLE, cage=cage(template, small_judge.limits)).dismiss()
    deadline = time.monotonic() + 30
    while not set(children.read_text().split()) <= before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert set(children.read_text().split()) <= before
    assert os.fstat(template._stderr.fileno()).st_size == said


def test_what_workers_say_cannot_block_them(small_judge: Judge) -> None:
    assert stat.S_ISREG(os.fstat(small_judge.template._stderr.fileno()).st_mode)


def test_no_worker_is_begun_while_too_many_are_on_their_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([template.MOST_CHILDREN + 2, template.MOST_CHILDREN + 1, template.MOST_CHILDREN])
    monkeypatch.setattr(template, "_children", lambda: next(counts))
    template._await_room()
    assert next(counts, None) is None
