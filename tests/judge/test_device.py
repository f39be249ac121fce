"""Judging on a device, with host memory in the device's role: everything but the GPU itself."""

import socket
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from kernelwright import native
from kernelwright.judge import Judge, Limits, Status, Verdict
from kernelwright.judge._channel import Channel, Message
from kernelwright.judge._check import FRESH_PROCESSES
from kernelwright.judge._compare import Yardstick
from kernelwright.judge._process import Worker
from kernelwright.judge._reference import too_large
from kernelwright.judge._status import Rejection
from kernelwright.judge.device._kernels import Work, judge_work
from kernelwright.judge.device._place import Place, Workshop, referee_cage
from kernelwright.judge.device._prepared import Drawn, _slot_bytes
from kernelwright.judge.device._timing import FEW_ROUNDS, MANY_ROUNDS, _plan
from kernelwright.judge.worker import _gauge
from kernelwright.judge.worker._device import Host
from kernelwright.judge.worker._gauge import Gauge
from kernelwright.judge.worker._referee import Referee, Sentence, Swayed
from kernelwright.tasks import load_task
from tests.judge.texts import RELU, TASKS, forward, relu

Hear = Callable[..., Verdict]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(device="host", limits=Limits(call_s=10, load_s=20, total_s=120)) as judge:
        yield judge


@pytest.fixture
def hear(judge: Judge) -> Hear:
    return lambda source, **options: judge.judge(load_task(TASKS / "relu.py"), source, **options)


def test_an_honest_kernel_is_accepted_and_timed(hear: Hear) -> None:
    verdict = hear(RELU)
    assert verdict.status is Status.CORRECT, verdict.message
    assert set(verdict.time_ms) == {"candidate", "eager"}
    timing = verdict.evidence["timing"][0]
    assert timing["calls_a_round"] >= 1
    assert timing["verified_fully"] >= 3


def test_one_that_is_wrong_takes_no_process_that_would_have_timed_it(
    judge: Judge, hear: Hear, monkeypatch: pytest.MonkeyPatch
) -> None:
    hear(RELU)
    taken: list[bool] = []
    candidate = judge.workshop.candidate

    def take(*, profiler: bool = False) -> Worker:
        taken.append(profiler)
        return candidate(profiler=profiler)

    monkeypatch.setattr(judge.workshop, "candidate", take)
    assert hear(relu("y[i] = 7;")).status is Status.WRONG_VALUE
    assert taken == [False] * (1 + FRESH_PROCESSES)  # to be checked, and to see whether it is wrong there too


def test_processes_open_the_device_one_by_one_and_whoever_is_needed_first(judge: Judge) -> None:
    workshop = Workshop(judge.template, Place("host", None), judge.limits, referee_cage(on_gpu=False))
    try:
        workshop.open_ahead(3, watched=0)
        first, second, third = workshop._opening
        assert until(first.answered)
        assert not second.answered()
        assert not third.answered()
        assert workshop.opened(third) is third  # past the second, which still waits
        workshop.attend()
        assert until(second.answered)
    finally:
        workshop.close()


def test_who_takes_all_memory_is_to_blame_and_not_the_task(
    judge: Judge, hear: Hear, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = judge.prepare(load_task(TASKS / "relu.py"), on_device=True)
    ask = prepared.ask

    def starved(message: Message, fds: tuple[int, ...] = ()) -> Message:
        if message["op"] == "measure":
            raise too_large("relu.py", "the reference runs out of memory")
        return ask(message, fds)

    monkeypatch.setattr(prepared, "ask", starved)
    verdict = hear(RELU)
    assert verdict.status is Status.OOM
    assert "no room" in verdict.message
    monkeypatch.undo()
    assert hear(RELU).status is Status.CORRECT


def until(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return true()


def test_it_need_not_be_timed(hear: Hear) -> None:
    verdict = hear(RELU, timed=False)
    assert verdict.status is Status.UNTIMED
    assert not verdict.speedup


def test_a_wrong_value_is_shown_where_it_is(hear: Hear) -> None:
    verdict = hear(relu("y[i] = i == 70 ? 7 : x[i] > 0 ? x[i] : 0;"))
    assert verdict.status is Status.WRONG_VALUE
    assert verdict.evidence["bad_elements"] == 1
    assert verdict.evidence["first"]["got"] == 7


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["return torch.relu(x)"], Status.LIBRARY_ONLY),
        (["return x"], Status.WRONG_STRUCTURE),
        (["return torch.relu(x)[:-1]"], Status.WRONG_STRUCTURE),
        (["return torch.relu(x).double()"], Status.WRONG_STRUCTURE),
        (["raise ValueError('no')"], Status.CRASH),
        (["os._exit(0)"], Status.CRASH),
        (["return torch.empty_like(x)"], Status.WRONG_VALUE),
        (["self.y = getattr(self, 'y', torch.relu(x))", "return self.y.clone()"], Status.STATEFUL),
        (
            [
                "self.y = getattr(self, 'y', torch.empty_like(x))",
                "return torch.clamp(x, min=0, out=self.y)",
            ],
            Status.STATEFUL,
        ),
        (
            [
                "if os.fork() == 0:",
                "    time.sleep(60)",
                "return torch.relu(x)",
            ],
            None,
        ),
    ],
)
def test_what_is_not_honest_is_rejected(hear: Hear, lines: list[str], status: Status | None) -> None:
    verdict = hear(forward(*lines))
    assert not verdict.accepted
    if status:
        assert verdict.status is status, verdict.message


def test_a_helper_process_does_not_live_through_the_timing(hear: Hear) -> None:
    helper = "if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)\n    "
    source = RELU.replace("import torch\n", "import os\nimport time\n\nimport torch\n", 1).replace(
        "        y = torch.empty_like(x)", f"        {helper.replace(chr(10), chr(10) + '    ')}y = torch.empty_like(x)"
    )
    verdict = hear(source)
    assert verdict.status is Status.TAMPER, verdict.message


def test_weights_are_given_by_name(judge: Judge) -> None:
    source = (TASKS / "linear_gelu.py").read_text().replace("class Model(", "class ModelNew(")
    verdict = judge.judge(load_task(TASKS / "linear_gelu.py"), source, timed=False)
    assert verdict.status is Status.LIBRARY_ONLY, verdict.message


# *** the gauge says what the host's yardstick says ***


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("length", [1, 4095, 4096, 10_000])
def test_gauge_and_yardstick_agree(dtype: str, length: int) -> None:
    torch.manual_seed(length)
    right = torch.randn(length, dtype=torch.float64) * torch.logspace(-3, 3, length, dtype=torch.float64)
    result = (right * (1 + 1e-3 * torch.randn(length))).to(getattr(torch, dtype))
    raw = result.view(torch.uint16) if dtype == "bfloat16" else result
    theirs = Yardstick(right.numpy(), dtype).measure(raw.numpy())
    mine = Gauge.of(right, result).measure(result)
    assert (mine.rms, mine.peak) == pytest.approx((theirs.rms, theirs.peak))


def test_infinities_are_met_or_missed() -> None:
    right = torch.tensor([1.0, float("inf"), 3.0], dtype=torch.float64)
    gauge = Gauge.of(right, right.float())
    assert gauge.measure(right.float()).peak == 0
    assert gauge.measure(torch.tensor([1.0, 2.0, 3.0])).peak == float("inf")
    assert not gauge.measure(torch.tensor([float("nan"), float("inf"), 3.0])).within(gauge.budget(1, "strict"))


def test_integers_are_equal_or_not() -> None:
    right = torch.arange(5)
    gauge = Gauge.of(right, right)
    assert gauge.used(right.clone(), gauge.budget(1, "strict")) == 0
    assert gauge.used(right + 1, gauge.budget(1, "strict")) == float("inf")


def test_the_bad_region_is_boxed() -> None:
    right = torch.zeros(4, 6, dtype=torch.float64) + 1
    result = right.float()
    result[1:3, 2] = 5
    found = Gauge.of(right, right.float()).describe_bad(result, Gauge.of(right, right.float()).budget(1, "strict"))
    assert found["box"] == [[1, 2], [2, 2]]
    assert (found["bad_elements"], found["first"]["index"], found["max_abs_error"]) == (2, [1, 2], 4.0)


def test_no_work_passes_only_where_there_is_nothing_to_tell() -> None:
    flat = Gauge.of(torch.ones(100, dtype=torch.float64), torch.ones(100))
    budget = [flat.budget(1, "strict")]
    assert "all ones" in _gauge.passing_nulls([flat], [flat], budget)
    varied = [torch.randn(100, dtype=torch.float64) for _ in range(2)]
    gauges = [Gauge.of(values, values.float()) for values in varied]
    assert _gauge.passing_nulls(gauges[:1], gauges[1:], [gauges[0].budget(1, "strict")]) == []


@pytest.mark.parametrize("name", _gauge.NULLS)
def test_an_answer_in_pieces_is_the_answer(name: str) -> None:
    mine, other = (Gauge.of(values, values.float()) for values in torch.randn(2, 12, 25, dtype=torch.float64))
    guess = _gauge._guess(name, mine, other)
    assert guess is not None
    whole = guess(0, 300)
    assert torch.equal(torch.cat([guess(0, 70), guess(70, 150), guess(150, 220), guess(220, 300)]), whole)
    right, stale = mine.right, other.right
    if name == "the right numbers in the wrong places":
        assert torch.equal(whole, right.roll(100))
    if name == "an answer whose second half is stale":
        assert torch.equal(whole, torch.cat([right[:150], stale[150:]]))
    if name == "the answer's mean along its last axis":
        torch.testing.assert_close(whole.view(12, 25)[3], right.view(12, 25)[3].mean().expand(25))


def test_one_bad_piece_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_gauge, "PIECE", 2 * _gauge.BLOCK)
    right = torch.randn(9 * _gauge.BLOCK + 5, dtype=torch.float64)
    gauge = Gauge.of(right, right.float())
    budget = gauge.budget(1, "strict")
    assert gauge.accepts(lambda start, stop: right[start:stop].float(), budget)
    for place in (0, 4 * _gauge.BLOCK, right.numel() - 1):
        result = right.float()
        result[place] = torch.nan
        assert not gauge.accepts(lambda start, stop, result=result: result[start:stop], budget)


def test_an_ill_conditioned_element_gets_the_room_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_gauge, "PIECE", _gauge.BLOCK)
    right = torch.randn(2 * _gauge.BLOCK, dtype=torch.float64) + 3
    gauge = Gauge.of(right, right.float())
    budget, result = gauge.budget(1, "strict"), right.float()
    result[5000] += 0.1
    moves = torch.zeros(right.numel())
    assert not gauge.forgives(result, moves, 2.0, budget)
    there = right.clone()
    there[5000] += 0.06
    gauge.grow(moves, there)
    assert gauge.forgives(result, moves, 2.0, budget)
    assert not gauge.forgives(result, moves, 1.0, budget)


@pytest.mark.parametrize(("off", "excused", "looks"), [(5e-5, True, 1), (1e-4, True, 2), (5e-4, False, 3)])
def test_an_excuse_is_looked_for_until_it_is_found(off, excused, looks, monkeypatch) -> None:
    """Every look finds the element farther away."""
    here, there = socket.socketpair()
    with here, there:
        referee = Referee(Channel(here))
    referee.device = Host()
    right = torch.randn(2 * _gauge.BLOCK, dtype=torch.float64) + 3
    gauge, seen = Gauge.of(right, right.float()), []

    def look(arguments: list[torch.Tensor]) -> tuple[SimpleNamespace, str]:
        seen.append(arguments)
        moved = right.clone()
        moved[5000] += 6e-5 * len(seen)
        return SimpleNamespace(leaves=[moved]), "double"

    monkeypatch.setattr(referee, "_in_double", look)
    monkeypatch.setattr(referee, "_arguments_of", lambda message: [])
    result = right.float()
    result[5000] += off
    asked = (result, Sentence([gauge], {}), gauge.budget(1, "strict"), 0, {"key": {"seed": 1}, "reduction": 1})
    assert referee._excused(*asked) == excused
    assert len(seen) == looks
    assert referee._excused(*asked) == excused
    assert len(seen) == looks  # they are remembered


@pytest.mark.parametrize(("free", "kept"), [(0.9, True), (0.1, False)])
def test_sways_are_kept_while_much_of_the_device_is_free(free: float, kept: bool, monkeypatch) -> None:
    here, there = socket.socketpair()
    with here, there:
        referee = Referee(Channel(here))
    referee.device = Host()
    monkeypatch.setattr(referee.device, "free_bytes", lambda: int(free * referee.device.total_bytes()))
    monkeypatch.setattr(referee, "_room", lambda: 0)  # so that they are large
    referee._swayed = Swayed("known", [torch.zeros(8)])
    assert referee._keep_sways() == kept


def test_who_is_wrong_on_wild_inputs_once_it_is_timed_is_found(hear: Hear) -> None:
    """After so many calls on tame inputs it takes itself to be timed."""
    verdict = hear(
        relu(
            "static int tame; static bool wild;"
            "if (i == 0) { wild = false; for (int64_t k = 0; k < n; k++) wild |= x[k] > 20; tame += !wild; }"
            "y[i] = x[i] > 0 && !(wild && tame > 8) ? x[i] : 0;"
        )
    )
    assert verdict.status in (Status.WRONG_VALUE, Status.STATEFUL, Status.NONDETERMINISTIC)
    assert verdict.stage == "time"


def test_equal_elements_may_be_chosen_otherwise() -> None:
    data = torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]])
    first, last = torch.tensor([1, 0]), torch.tensor([2, 1])
    assert _gauge.only_ties(first, last, [data])
    assert not _gauge.only_ties(torch.tensor([0, 0]), last, [data])


# *** whose kernels ***


def test_kernels_are_told_apart_by_name() -> None:
    work = Work.of({"my_softmax(float*)": 3.0, "void at::native::reduce_kernel<512>": 1.0, "Memcpy DtoD": 9.0})
    assert (work.share, work.moves) == (0.75, 9.0)
    judge_work("forbidden", work)


@pytest.mark.parametrize(
    ("policy", "kernels", "accepted"),
    [
        ("forbidden", {"mine": 9.0, "sm90_xmma_gemm_f32": 1.0}, False),
        ("gemm-only", {"mine": 1.0, "sm90_xmma_gemm_f32": 9.0}, True),
        ("gemm-only", {"mine": 1.0, "void at::native::elementwise": 9.0}, False),
        ("allowed", {"void at::native::elementwise": 9.0}, True),
        ("forbidden", {"triton_poi_fused_relu_0": 1.0}, False),
    ],
)
def test_the_policy_holds_on_a_device(policy: str, kernels: dict[str, float], accepted: bool) -> None:
    if accepted:
        judge_work(policy, Work.of(kernels))
    else:
        with pytest.raises(Rejection):
            judge_work(policy, Work.of(kernels))


# *** plans and places ***


@pytest.mark.parametrize(
    ("kind", "backend", "ready"), [("cuda", "triton", ["triton"]), ("cuda", "cuda", []), ("host", "triton", [])]
)
def test_triton_is_imported_once_for_all_workers_where_it_will_be_used(
    kind, backend, ready, monkeypatch, judge
) -> None:
    had: list[str] = []
    monkeypatch.setattr(judge.template, "have", had.append)
    workshop = Workshop(judge.template, Place(kind, None), judge.limits, referee_cage(on_gpu=False))
    workshop.expect(backend)
    workshop.open_ahead(0, watched=0)
    assert had == ready


@pytest.mark.parametrize(("memory", "slots"), [(None, 2 << 30), (8 << 30, 2 << 30), (128 << 30, 8 << 30)])
def test_a_large_device_has_room_for_more_inputs(memory, slots, monkeypatch) -> None:
    monkeypatch.setattr(native, "gpu", lambda: memory and native.Gpu("made up", (9, 0), memory))
    assert _slot_bytes() == slots


def test_short_calls_are_made_many_to_a_go() -> None:
    assert _plan(1e-5, [1e-5], 64) == (32, MANY_ROUNDS)
    assert _plan(1e-5, [1e-5], 3) == (3, MANY_ROUNDS)
    assert _plan(1e-2, [1e-5], 64) == (10, MANY_ROUNDS)
    assert _plan(0.3, [2e-3], 64) == (1, FEW_ROUNDS)
    assert _plan(3e-3, [2e-3], 64) == (2, FEW_ROUNDS)
    assert _plan(3e-3, [3e-3], 64) == (1, FEW_ROUNDS)
    assert _plan(0.0, [-1e-5], 64) == (32, MANY_ROUNDS)


def test_inputs_lie_apart_and_inside_their_slot() -> None:
    leaf = {"dtype": "float32", "shape": [100], "strides": [1], "nbytes": 400}
    drawn = Drawn({"seed": 1}, {}, [leaf, leaf])
    for _ in range(20):
        first, second = (placed["offset"] for placed in drawn.at(4096, shifted=True)["leaves"])
        assert first >= 4096
        assert first + 400 <= second
        assert second + 400 <= 4096 + drawn.room
    assert np.all([offset["offset"] % 512 == 0 for offset in drawn.at(0, shifted=False)["leaves"]])


def test_results_of_earlier_calls_make_room_for_those_of_later_ones() -> None:
    device = Host()
    shown = set()
    for value in range(50):
        device.settle()
        blocks = [device.block_of(torch.full((64,), float(value))) for _ in range(4)]
        assert len({block.number for block in blocks if block}) == 4
        shown |= {block.number for block in blocks if block}
    assert len(shown) == 4
