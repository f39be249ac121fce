"""A job is known by its content; one that cannot be meant is refused where it is made."""

import json
from collections.abc import Callable

import pytest

from kernelwright.fleet import FleetError, Here, Job, Spool, open_fleet
from kernelwright.judge import source_hash
from kernelwright.tasks import Task


def test_the_name_follows_from_the_content(job: Callable[..., Job]) -> None:
    same = job("a")
    assert same.name == job("a").name
    others = [job("b"), job("a", timed=False), job("a", baselines=("eager", "compile")), job("a", measurement=2)]
    others += [job("a", limits={"call_s": 1.0}), job("a", backend="cpp"), job("a", final=True)]
    others += [job("a", profile_of={"status": "CORRECT"}), job("a", profile_of={"status": "UNTIMED"})]
    assert len({same.name, *(other.name for other in others)}) == 10
    assert same.name.startswith(f"{same.task_hash[:12]}-{same.candidate[:12]}-")


def test_the_name_of_a_task_is_no_part_of_it(task: Task, job: Callable[..., Job]) -> None:
    renamed = Job(candidate=source_hash("a"), source="a", task={**task.to_wire(), "name": "other", "origin": "there"})
    assert renamed.name == job("a").name


@pytest.mark.parametrize("source", ["text", "\x00", "\ud800", "é\r\n"])
def test_it_travels_as_json(job: Callable[..., Job], source: str) -> None:
    sent = job(source, baselines=("eager", "compile"), limits={"call_s": 2.0})
    final = job(source, final=True)
    for one in (sent, final, job(source, profile_of={"status": "CORRECT"})):
        assert Job.from_wire(json.loads(json.dumps(one.to_wire())), one.task) == one


def test_a_source_of_another_candidate_is_refused(task: Task) -> None:
    with pytest.raises(ValueError, match="not that of candidate"):
        Job(candidate=source_hash("a"), source="b", task=task.to_wire())


def test_unknown_names_are_refused_with_the_known_ones(job: Callable[..., Job]) -> None:
    with pytest.raises(ValueError, match="unknown baseline 'fast'; known: eager, compile"):
        job(baselines=("fast",))
    with pytest.raises(ValueError, match="unknown limit 'calls'; known: build_s"):
        job(limits={"calls": 1})


def test_a_fleet_is_opened_by_its_name(folder: object) -> None:
    here = open_fleet("here")
    assert isinstance(here, Here)
    here.close()
    assert isinstance(open_fleet(f"spool/{folder}"), Spool)
    for wrong in ("spool/", "ray", ""):
        with pytest.raises(FleetError, match="no fleet") as caught:
            open_fleet(wrong)
        assert "here" in caught.value.fix
