"""What goes wrong on a device without dishonesty: other devices, too little memory, another problem's solution."""

from collections.abc import Callable, Iterator

import pytest

from kernelwright.judge import Judge, Limits, Status, Verdict
from kernelwright.judge._memory import Packed
from kernelwright.tasks import TaskError, load_task
from kernelwright.tasks._load import task_from_text
from tests.judge.texts import RELU, TASKS, forward
from tests.tasks.made_up_suites import problem

Hear = Callable[..., Verdict]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(device="host", limits=Limits(call_s=10, load_s=20, total_s=120)) as judge:
        yield judge


@pytest.fixture
def hear(judge: Judge) -> Hear:
    return lambda source: judge.judge(load_task(TASKS / "relu.py"), source, timed=False)


def test_a_result_on_another_device(hear: Hear) -> None:
    verdict = hear(forward("return torch.empty_like(x, device='meta')"))
    assert verdict.status is Status.WRONG_STRUCTURE
    what, where = "a Tensor on meta (torch.strided)", "a plain tensor on the device of the inputs"
    assert verdict.message == f"returns {what} where the reference returns {where}"


def test_work_on_two_devices(hear: Hear) -> None:
    verdict = hear(forward("return x + torch.empty(x.shape, device='meta')"))
    assert verdict.status is Status.CRASH
    assert "device" in verdict.message


@pytest.mark.parametrize(
    "line", ["torch.empty(1 << 46).fill_(1)", "raise torch.OutOfMemoryError('CUDA out of memory')"]
)
def test_a_candidate_that_needs_more_memory_than_there_is(hear: Hear, line: str) -> None:
    verdict = hear(forward(line, "return torch.relu(x)"))
    assert verdict.status is Status.OOM
    assert "memory" in verdict.message


def test_a_task_that_needs_more_memory_than_there_is(judge: Judge) -> None:
    task = task_from_text(problem("x + torch.zeros(1 << 44).sum()"), "large", "large.py", {}, "train")
    with pytest.raises(TaskError, match="does not fit in this machine's memory") as caught:
        judge.judge(task, RELU, timed=False)
    assert "--fit" in caught.value.fix


def test_a_solution_for_another_problem(judge: Judge) -> None:
    verdict = judge.judge(load_task(TASKS / "linear_gelu.py"), RELU, timed=False)
    assert not verdict.accepted
    assert "__init__() takes" in verdict.message


def test_what_is_timed_beside_a_candidate_has_the_weights_that_it_is_checked_by(judge: Judge) -> None:
    prepared = judge.prepare(load_task(TASKS / "linear_gelu.py"), on_device=True)
    order = {"op": "weights", "seed": 7, "touch": False}
    shown = []
    for worker in (prepared.worker, prepared.runners({"eager": None})["eager"].worker):  # type: ignore[attr-defined]
        worker.say(order)
        answer, fds = worker.answer_fds(timeout=60)
        packed = Packed.from_fd(fds[0], {}, answer["leaves"])
        shown.append([packed.values(index).tobytes() for index in range(len(packed.leaves))])
    judge.forget(prepared.task)
    assert shown[0] == shown[1]
