"""A folder as a fleet: whatever happens to files and workers, a job has one outcome and a fault is nobody's failure."""

import json
import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.fleet import FleetError, Job, Kind, Result, Spool, Worker, _job, judge_spool, judge_version
from tests.fleet.conftest import LEASE_S, Puppet

Hire = Callable[..., Worker]
MakeJob = Callable[..., Job]
forked = multiprocessing.get_context("fork")


def _work(hire: Hire) -> int:
    with hire() as worker:
        return worker.judge_waiting()


def _files(folder: Path, part: str) -> list[str]:
    return sorted(path.name for path in (folder / part).iterdir())


def _grow_old(path: Path) -> None:
    long_ago = path.stat().st_mtime - 2 * LEASE_S
    os.utime(path, (long_ago, long_ago))


def test_jobs_are_judged_and_come_back(spool: Spool, folder: Path, worker: Hire, job: MakeJob) -> None:
    jobs = [job(text) for text in "abc"]
    for one in jobs:
        spool.submit(one)
    assert len(_files(folder, "tasks")) == 1
    assert spool.finished(0) == []
    assert _work(worker) == 3
    results = spool.finished(0)
    assert {result.job for result in results} == {one.name for one in jobs}
    for result in results:
        assert result.verdict is not None
        assert (result.kind, result.verdict["status"], result.judge) == (Kind.JUDGED, "CORRECT", judge_version())
    assert _files(folder, "waiting") == _files(folder, "taken") == _files(folder, "temp") == []
    assert spool.finished(1e9) == []


def test_a_job_submitted_twice_is_judged_once(spool: Spool, worker: Hire, job: MakeJob) -> None:
    spool.submit(job())
    spool.submit(job())
    assert _work(worker) == 1
    assert len(spool.finished(0)) == 1


def test_a_search_that_was_killed_finds_its_verdicts_when_it_comes_back(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob, puppet: type[Puppet]
) -> None:
    spool.submit(job())
    _work(worker)
    for _ in range(2):  # even one that was killed between reading a verdict and keeping it
        again = Spool(folder)
        again.submit(job())
        assert [result.kind for result in again.finished(0)] == [Kind.JUDGED]
    assert len(puppet.heard) == 1


def test_a_task_that_cannot_be_judged_is_refused(spool: Spool, worker: Hire, job: MakeJob) -> None:
    spool.submit(job("refused"))
    assert _work(worker) == 1
    (result,) = spool.finished(0)
    assert (result.kind, result.reason) == (Kind.REFUSED, "the task is too weak")


# Faults


def test_a_fault_is_tried_again_later_and_then_forgotten(
    spool: Spool, worker: Hire, job: MakeJob, puppet: type[Puppet]
) -> None:
    puppet.recovers_after = 2
    for text in ("fault", "a", "b"):
        spool.submit(job(text))
    assert _work(worker) == 3
    assert {result.kind for result in spool.finished(0)} == {Kind.JUDGED}
    assert puppet.heard.index("fault") < puppet.heard.index("a")
    assert puppet.heard[-2:] == ["fault", "fault"]


def test_a_fault_that_stays_is_infra_and_no_verdict_and_a_new_submission_a_new_chance(
    spool: Spool, worker: Hire, job: MakeJob, puppet: type[Puppet]
) -> None:
    spool.submit(job("fault"))
    assert _work(worker) == 0
    (result,) = spool.finished(0)
    assert (result.kind, result.verdict) == (Kind.INFRA, None)
    assert "the template is gone" in result.reason
    assert result.where
    assert puppet.heard == ["fault"] * 3
    assert _work(worker) == 0
    puppet.recovers_after = 0
    spool.submit(job("fault"))
    assert _work(worker) == 1
    assert [result.kind for result in spool.finished(0)] == [Kind.JUDGED]


@pytest.mark.parametrize("source", ["out of reach", "only compiled"])
def test_what_a_machine_lacks_is_told_at_once(
    spool: Spool, worker: Hire, job: MakeJob, puppet: type[Puppet], source: str
) -> None:
    spool.submit(job(source))
    assert _work(worker) == 0
    assert [result.kind for result in spool.finished(0)] == [Kind.INFRA]
    assert puppet.heard == [source]


def test_a_machine_that_fails_at_everything_stops_and_spares_the_rest(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob
) -> None:
    for number in range(1, 6):
        spool.submit(job("fault", measurement=number))
    with pytest.raises(FleetError, match="failed at 3 jobs in a row"), worker() as broken:
        broken.judge_waiting()
    assert len(_files(folder, "waiting")) == 5
    assert spool.finished(0) == []


# Workers that come and go


def test_a_job_whose_worker_died_is_taken_again_when_the_lease_is_over(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob
) -> None:
    spool.submit(job())
    name = f"{job().name}.json"
    (folder / "waiting" / name).rename(folder / "taken" / name)
    assert _work(worker) == 0
    _grow_old(folder / "taken" / name)
    assert _work(worker) == 1
    assert [result.kind for result in spool.finished(0)] == [Kind.JUDGED]


def test_a_job_at_which_every_worker_dies_is_infra(spool: Spool, folder: Path, job: MakeJob) -> None:
    spool.submit(job())
    name = f"{job().name}.json"
    results: list[Result] = []
    for _ in range(3):
        (folder / "waiting" / name).rename(folder / "taken" / name)
        _grow_old(folder / "taken" / name)
        results += spool.finished(0)
    results += spool.finished(0)
    assert [result.kind for result in results] == [Kind.INFRA]
    assert "not heard of again" in results[0].reason


def _judge_for_ever(folder: Path, puppet: type[Puppet], begun: object) -> None:
    def judge(*_: object, **__: object) -> None:
        begun.set()  # type: ignore[attr-defined]
        threading.Event().wait()

    puppet.judge = judge  # type: ignore[assignment,method-assign]
    with Worker(folder, judges=puppet, lease_s=0.3, say=lambda line: None) as worker:
        worker.judge_waiting()


def test_a_worker_that_lives_keeps_its_job_and_one_that_is_killed_loses_it(
    folder: Path, puppet: type[Puppet], job: MakeJob
) -> None:
    spool = Spool(folder, lease_s=0.3)
    spool.submit(job())
    begun = forked.Event()
    process = forked.Process(target=_judge_for_ever, args=(folder, puppet, begun))
    process.start()
    assert begun.wait(30)
    assert spool.finished(1.0) == []
    assert _files(folder, "taken") == [f"{job().name}.json"]
    process.kill()
    process.join()
    while not _files(folder, "waiting"):
        assert spool.finished(0.1) == []
    with Worker(folder, judges=puppet, lease_s=LEASE_S, say=lambda line: None) as worker:
        assert worker.judge_waiting() == 1
    assert [result.kind for result in spool.finished(0)] == [Kind.JUDGED]


def test_a_worker_that_is_stopped_gives_its_job_back_without_a_fault(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob, puppet: type[Puppet], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    spool.submit(job())
    with monkeypatch.context() as patch:
        patch.setattr(puppet, "judge", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _work(worker)
    assert _files(folder, "waiting") == [f"{job().name}.json"]
    assert _files(folder, "faults") == []


def test_a_worker_that_is_stopped_between_taking_a_job_and_hearing_it_gives_it_back(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Worker, "_hear", stopped)
    spool.submit(job())
    with pytest.raises(KeyboardInterrupt), worker() as hired:
        hired.judge_waiting()
    assert _files(folder, "waiting") == [f"{job().name}.json"]
    assert not _files(folder, "taken")


def test_many_workers_judge_every_job_once(spool: Spool, worker: Hire, job: MakeJob, puppet: type[Puppet]) -> None:
    for number in range(60):
        spool.submit(job(f"text {number}"))
    threads = [threading.Thread(target=_work, args=(worker,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(puppet.heard) == sorted(f"text {number}" for number in range(60))
    assert len(spool.finished(0)) == 60


# Files that are late, twice, torn or another version's


def test_a_verdict_that_comes_late_and_twice_counts_once(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob
) -> None:
    spool.submit(job())
    with worker() as slow:
        name = slow._take()
        assert name is not None
        _grow_old(folder / "taken" / f"{name}.json")
        assert _work(worker) == 1
        first = (folder / "verdicts" / f"{name}.json").read_bytes()
        assert len(spool.finished(0)) == 1
        slow._finish(job(), slow._courtroom.hear(job()))
    assert (folder / "verdicts" / f"{name}.json").read_bytes() == first
    assert spool.finished(0) == []
    assert _work(worker) == 0


def test_half_a_verdict_is_waited_for_and_put_aside_when_it_stays_half(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob
) -> None:
    spool.submit(job())
    _work(worker)
    file = folder / "verdicts" / f"{job().name}.json"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert spool.finished(0) == []
    file.write_bytes(whole)
    assert [result.kind for result in spool.finished(0)] == [Kind.JUDGED]
    again = Spool(folder, lease_s=LEASE_S)
    file.write_bytes(whole[:-1])
    _grow_old(file)
    again.submit(job())
    again.finished(0)
    again.finished(0)
    assert len(_files(folder, "aside")) == 1
    assert _work(worker) == 1
    assert [result.kind for result in again.finished(0)] == [Kind.JUDGED]


@pytest.mark.parametrize("key", ["candidate", "job"])
def test_a_verdict_about_something_else_is_not_taken(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob, key: str
) -> None:
    spool.submit(job())
    _work(worker)
    file = folder / "verdicts" / f"{job().name}.json"
    content = json.loads(file.read_text())
    content["result"][key] = "other"
    file.write_text(json.dumps(content))
    assert spool.finished(0) == []


def test_a_verdict_by_another_version_is_kept_not_used_and_the_job_goes_on(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.submit(job())
    _work(worker)
    file = folder / "verdicts" / f"{job().name}.json"
    content = json.loads(file.read_text())
    content["result"]["judge"] = "0.0.1"
    file.write_text(json.dumps(content))
    (foreign,) = spool.finished(0)
    assert (foreign.kind, foreign.judge) == (Kind.FOREIGN, "0.0.1")
    assert foreign.verdict is not None
    assert "is by judge 0.0.1" in foreign.reason
    assert "not used" in foreign.reason
    assert len(_files(folder, "aside")) == 1
    assert _work(worker) == 1
    assert [result.kind for result in spool.finished(0)] == [Kind.JUDGED]


def test_a_verdict_in_an_unknown_form_is_another_versions(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob
) -> None:
    spool.submit(job())
    (folder / "verdicts" / f"{job().name}.json").write_text('{"format": 2}')
    (foreign,) = spool.finished(0)
    assert foreign.kind is Kind.FOREIGN
    assert "format 2" in foreign.reason
    assert _work(worker) == 1


def test_a_worker_of_another_version_leaves_the_jobs_and_says_so(
    spool: Spool, folder: Path, job: MakeJob, puppet: type[Puppet], monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.submit(job("a"))
    spool.submit(job("b"))
    for file in (folder / "waiting").iterdir():
        file.write_text(json.dumps({**json.loads(file.read_text()), "judge": "9.9"}))
    lines: list[str] = []
    with pytest.raises(FleetError, match=r"2 for judge 9\.9; this is") as caught:
        judge_spool(folder, watch=False, say=lines.append)
    assert "install that version" in caught.value.fix
    assert lines == ["0 judged"]
    assert len(_files(folder, "waiting")) == 2


def test_half_a_job_is_left_until_it_is_whole_and_written_again_when_it_never_is(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob
) -> None:
    spool.submit(job())
    file = folder / "waiting" / f"{job().name}.json"
    file.write_bytes(file.read_bytes()[:-40])
    assert _work(worker) == 0
    assert file.exists()
    _grow_old(file)
    assert _work(worker) == 0
    assert not file.exists()
    assert spool.finished(0) == []
    assert _work(worker) == 1


@pytest.mark.parametrize("part", ["job", "task"])
def test_what_was_changed_on_the_way_is_put_aside_and_written_again(
    spool: Spool, folder: Path, worker: Hire, job: MakeJob, puppet: type[Puppet], part: str
) -> None:
    spool.submit(job())
    file = next((folder / ("waiting" if part == "job" else "tasks")).iterdir())
    right, changed = ("good", "evil") if part == "job" else ('"strict"', '"bf16"')
    assert right in file.read_text()
    file.write_text(file.read_text().replace(right, changed))
    assert _work(worker) == 0
    assert len(_files(folder, "aside")) == 1
    assert spool.finished(0) == []
    assert _work(worker) == 1
    assert puppet.heard == ["good"]


def test_a_folder_carried_elsewhere_and_back_brings_the_verdicts(
    spool: Spool, folder: Path, job: MakeJob, puppet: type[Puppet], tmp_path: Path
) -> None:
    spool.submit(job())
    there = tmp_path / "there"
    shutil.copytree(folder, there)
    for part in there.iterdir():  # as tools do that leave empty folders behind
        if part.is_dir() and not any(part.iterdir()):
            part.rmdir()
    with Worker(there, judges=puppet, say=lambda line: None) as worker:
        assert worker.judge_waiting() == 1
    shutil.copytree(there, folder, dirs_exist_ok=True)
    assert [result.kind for result in spool.finished(0)] == [Kind.JUDGED]
    assert _files(folder, "waiting") == []


# Folders that cannot be used


def test_a_folder_that_is_no_spool_is_refused_by_both_sides(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("dear")
    with pytest.raises(FleetError, match="holds other things"):
        Spool(tmp_path)
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FleetError, match="no spool folder"):
            Worker(place)
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


def test_a_spool_of_another_form_is_refused(spool: Spool, folder: Path) -> None:
    (folder / "spool.json").write_text('{"kind": "kernelwright spool", "format": 7}')
    for opened in (Spool, Worker):
        with pytest.raises(FleetError, match="format 7, known here is 1"):
            opened(folder)


def test_a_folder_that_vanishes_is_told_in_a_sentence(spool: Spool, folder: Path, job: MakeJob) -> None:
    shutil.rmtree(folder)
    with pytest.raises(FleetError, match="cannot be used: No such file") as caught:
        spool.submit(job())
    assert caught.value.fix


def test_the_version_of_the_judge_is_the_packages() -> None:
    assert judge_version() == _job.kernelwright.__version__
