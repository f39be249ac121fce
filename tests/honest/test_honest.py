import pytest

from kernelwright.judge import Judge, Verdict
from kernelwright.tasks import Task
from tests.conftest import over
from tests.corpus import EXTENSION_HONEST, HONEST, SYCL_HONEST, Specimen, specimens
from tests.sycl import needs_sycl

# A timed judgement holds every check of one that is not timed.
TIMED = specimens(HONEST)[::6]
UNTIMED = [specimen for specimen in specimens(HONEST) if specimen not in TIMED]
TRIES = 3


@pytest.mark.slow
@over(UNTIMED)
def test_honest_kernel_passes_every_check(judge: Judge, task: Task, specimen: Specimen) -> None:
    verdict = _judged(judge, task, specimen, timed=False)
    assert verdict.accepted, verdict.message


@pytest.mark.slow
@over(TIMED)
def test_honest_kernel_is_accepted_and_timed(judge: Judge, task: Task, specimen: Specimen) -> None:
    """Every sixth; `make trust` times them all."""
    verdict = _judged(judge, task, specimen, timed=True)
    assert str(verdict.status) in specimen.expect, verdict.message


@pytest.mark.extensions
@over(specimens(EXTENSION_HONEST))
def test_honest_extension_is_accepted_and_timed(judge: Judge, task: Task, specimen: Specimen) -> None:
    verdict = _judged(judge, task, specimen, timed=True)
    assert str(verdict.status) in specimen.expect, verdict.message
    assert verdict.coverage is not None
    assert verdict.coverage > 0.5


@pytest.mark.slow
@needs_sycl
@over(specimens(SYCL_HONEST)[::4])
def test_honest_sycl_kernel_is_accepted_and_timed(judge: Judge, task: Task, specimen: Specimen) -> None:
    """Every fourth; `make trust` judges them all."""
    verdict = _judged(judge, task, specimen, timed=True)
    assert str(verdict.status) in specimen.expect, verdict.message
    assert verdict.coverage is not None
    assert verdict.coverage > 0.5


def _judged(judge: Judge, task: Task, specimen: Specimen, *, timed: bool) -> Verdict:
    """The best of a few judgements: tests share their machine, and `make trust` counts every single one."""
    for _ in range(TRIES):
        verdict = judge.judge(task, specimen.source, timed=timed)
        if verdict.accepted:
            break
    return verdict
