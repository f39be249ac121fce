import pytest

from kernelwright.judge import Judge
from kernelwright.tasks import Task
from tests.conftest import over
from tests.corpus import HONEST, Specimen, specimens

TIMED = specimens(HONEST)[::6]


@pytest.mark.slow
@over(specimens(HONEST))
def test_honest_kernel_passes_every_check(judge: Judge, task: Task, specimen: Specimen) -> None:
    verdict = judge.judge(task, specimen.source, timed=False)
    assert verdict.accepted, verdict.message


@pytest.mark.slow
@over(TIMED)
def test_honest_kernel_is_accepted_and_timed(judge: Judge, task: Task, specimen: Specimen) -> None:
    """Every sixth; `make trust` times them all."""
    verdict = judge.judge(task, specimen.source)
    assert str(verdict.status) in specimen.expect, verdict.message
