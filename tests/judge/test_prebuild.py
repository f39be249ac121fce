"""What candidates will ask for is compiled ahead of them, and what fails is left for them to be told."""

from collections.abc import Iterator

import pytest

from kernelwright import backends
from kernelwright.judge import Judge, Prebuild, Status
from kernelwright.native._build_cache import build_key
from kernelwright.tasks import load_task
from tests.judge.texts import RELU, TASKS, relu

RIGHT = [relu(f"y[i] = x[i] > 0 ? x[i] : 0; // {number}") for number in range(4)]
WRONG = relu("y[i] = ")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        with Judge() as judge:
            yield judge


def built(judge: Judge, text: str) -> bool:
    (source,) = backends.native_sources(text)
    return (judge.build_cache.directory / f"{build_key(source)}.so").exists()


def test_several_are_compiled_at_a_time_and_need_not_be_again(judge: Judge) -> None:
    steps = []
    with Prebuild(judge, [*RIGHT, WRONG, RIGHT[0], "no python ("]) as prebuild:
        assert len(prebuild) == len(RIGHT) + 1
        assert not prebuild.beside
        prebuild.finish(lambda: steps.append(1))
    assert len(steps) == len(prebuild)
    assert all(built(judge, text) for text in RIGHT)
    before = judge.builder.builds
    verdict = judge.judge(load_task(TASKS / "relu.py"), RIGHT[2], timed=False)
    assert (verdict.status, judge.builder.builds) == (Status.UNTIMED, before)


def test_what_does_not_compile_is_told_when_the_candidate_is_heard(judge: Judge) -> None:
    with Prebuild(judge, [WRONG]) as prebuild:
        prebuild.ready(WRONG)
    verdict = judge.judge(load_task(TASKS / "relu.py"), WRONG, timed=False)
    assert verdict.status is Status.COMPILE_ERROR


def test_on_a_device_it_goes_on_beside_the_judgement(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "belongs_on_device", lambda text: True)
    with Prebuild(judge, [RELU]) as prebuild:
        assert prebuild.beside
        prebuild.ready(RELU)
        assert built(judge, RELU)


def test_a_candidate_that_is_too_long_is_not_compiled(judge: Judge) -> None:
    with Prebuild(judge, [RELU + "#" * judge.limits.source_bytes]) as prebuild:
        assert len(prebuild) == 0
