import pytest

from kernelwright.judge import Judge
from kernelwright.tasks import Task
from tests.conftest import over
from tests.corpus import HONEST, Specimen


@pytest.mark.slow
@over(HONEST)
def test_honest_kernel_is_accepted(judge: Judge, task: Task, specimen: Specimen) -> None:
    verdict = judge.judge(task, specimen.source)
    assert str(verdict.status) in specimen.expect, verdict.message
