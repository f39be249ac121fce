"""Error is measured in local units, and the budget separates rounding from wrongness."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernelwright.judge import _ruler
from kernelwright.judge._compare import BLOCK, Deviation, Yardstick, allowed, describe_bad
from kernelwright.judge._expected import Output
from kernelwright.judge._memory import as_float

HUGE = Deviation(1e300, 1e300)
LENGTHS = st.integers(1, 3 * BLOCK)
SEEDS = st.integers(0, 2**32 - 1)


def noise(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def bfloat16(values: np.ndarray) -> np.ndarray:
    """The nearest bfloat16, as the bits that stand in memory."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def budget_for(oracle: np.ndarray, plain: np.ndarray, reduction: float, precision: str = "strict") -> Deviation:
    return allowed(Yardstick(oracle, "float32").measure(plain), "float32", reduction, precision)


# Measuring


@given(hnp.arrays(np.float32, st.integers(1, 300), elements=st.floats(-1e6, 1e6, width=32)))
def test_the_right_values_deviate_by_nothing(values):
    assert Yardstick(values.astype(np.float64), "float32").measure(values) == Deviation(0.0, 0.0)


@given(seed=SEEDS, length=LENGTHS, power=st.integers(-30, 30))
def test_scaling_answer_and_result_alike_changes_nothing(seed, length, power):
    right = noise(seed, length)
    result = (right + 1e-3 * noise(seed + 1, length)).astype(np.float32)
    scale = 2.0**power
    plain = Yardstick(right, "float32").measure(result)
    scaled = Yardstick(right * scale, "float32").measure(result * np.float32(scale))
    assert scaled.rms == pytest.approx(plain.rms, rel=1e-4)
    assert scaled.peak == pytest.approx(plain.peak, rel=1e-4)


@given(seed=SEEDS, length=LENGTHS, data=st.data(), bad=st.sampled_from([math.nan, math.inf, -math.inf]))
def test_nan_and_infinity_in_a_result_are_in_no_budget(seed, length, data, bad):
    right = noise(seed, length)
    result = right.astype(np.float32)
    result[data.draw(st.integers(0, length - 1))] = bad
    assert not Yardstick(right, "float32").measure(result).within(HUGE)


@pytest.mark.parametrize("expected", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("got", [math.nan, math.inf, -math.inf, 0.0, 3e38])
def test_an_expected_nan_or_infinity_must_be_met_exactly(expected, got):
    right = np.array([1.0, expected, 2.0])
    result = np.array([1.0, got, 2.0], dtype=np.float32)
    same = got == expected or (math.isnan(got) and math.isnan(expected))
    assert Yardstick(right, "float32").measure(result).within(HUGE) is same


def test_an_expected_infinity_in_another_place_is_wrong():
    right = np.array([math.inf, 1.0, 2.0])
    assert not Yardstick(right, "float32").measure(np.array([1.0, math.inf, 2.0], np.float32)).within(HUGE)


def test_finite_neighbours_of_an_expected_infinity_are_still_measured():
    stick = Yardstick(np.array([math.inf, 1.0, 2.0]), "float32")
    assert stick.measure(np.array([math.inf, 1.0, 2.0], np.float32)) == Deviation(0.0, 0.0)
    assert stick.measure(np.array([math.inf, 1.0, 3.0], np.float32)).peak > 0.1


def test_one_bad_element_among_many_raises_the_peak():
    right = noise(0, 50_000)
    result = right.astype(np.float32)
    result[31_415] += 0.01
    found = Yardstick(right, "float32").measure(result)
    assert found.peak > 1e-3
    assert found.rms < 1e-4


def test_small_outputs_are_judged_as_sharply_as_large_ones():
    """A whole block of tiny numbers beside ordinary ones: absolute error would never notice it."""
    right = noise(0, 2 * BLOCK)
    right[:BLOCK] *= 1e-3
    result = right.astype(np.float32)
    result[:BLOCK] *= 2
    assert Yardstick(right, "float32").measure(result).peak > 0.1


def test_an_error_where_the_answer_is_zero_counts():
    right = noise(0, 3 * BLOCK)
    right[BLOCK : 2 * BLOCK] = 0.0
    result = right.astype(np.float32)
    assert Yardstick(right, "float32").measure(result).peak < 1e-6
    result[BLOCK + 7] = 0.5
    assert Yardstick(right, "float32").measure(result).peak > 0.1


def test_all_zeros_expected_tolerates_zeros_and_nothing_visible():
    stick = Yardstick(np.zeros(BLOCK + 5), "float32")
    assert stick.measure(np.zeros(BLOCK + 5, np.float32)) == Deviation(0.0, 0.0)
    assert not stick.measure(np.full(BLOCK + 5, 1e-6, np.float32)).within(Deviation(1.0, 1.0))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "bool"])
def test_integers_and_booleans_are_right_or_wrong(dtype):
    right = np.arange(100).astype(np.dtype(dtype))
    stick = Yardstick(right, dtype)
    assert stick.measure(right.copy()) == Deviation(0.0, 0.0)
    other = right.copy()
    other[50] = not other[50]
    assert not stick.measure(other).within(HUGE)


def test_large_integers_are_not_compared_as_floats():
    right = np.array([2**60], dtype=np.int64)
    assert not Yardstick(right, "int64").measure(right + 1).within(HUGE)


# Decoding


@given(hnp.arrays(np.float32, st.integers(1, 50), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_bfloat16_decodes_to_within_its_roundoff(values):
    assert np.allclose(as_float(bfloat16(values), "bfloat16"), values, rtol=2**-8, atol=2e-38)


def test_bfloat16_decodes_its_special_values():
    bits = np.array([0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x0000], dtype=np.uint16)
    assert np.array_equal(as_float(bits, "bfloat16"), [1.0, -1.0, math.inf, -math.inf, math.nan, 0.0], equal_nan=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_results_correctly_rounded_are_within_budget_and_coarser_ones_are_not(dtype):
    right = noise(1, 5000)
    rounded = right.astype(np.float16) if dtype == "float16" else bfloat16(right)
    stick = Yardstick(right, dtype)
    budget = allowed(stick.measure(rounded), dtype, 1.0, "strict")
    assert stick.measure(rounded).within(budget)
    coarse = right * (1 + 2.0**-5 * np.sign(noise(2, 5000)))
    assert not stick.measure(coarse.astype(np.float16) if dtype == "float16" else bfloat16(coarse)).within(budget)


# Compiled and interpreted


def measured_both_ways(right: np.ndarray, result: np.ndarray, monkeypatch) -> tuple[Deviation, Deviation]:
    compiled = Yardstick(right, str(result.dtype)).measure(result)
    with monkeypatch.context() as patch:
        patch.setattr(_ruler, "_library", lambda: None)
        return compiled, Yardstick(right, str(result.dtype)).measure(result)


@pytest.mark.parametrize("length", [1, BLOCK - 1, BLOCK + 1, 40 * BLOCK + 17, 600_000])
@pytest.mark.parametrize("kinds", ["f4 f8", "f4 f4", "f8 f8"])
@pytest.mark.parametrize("special", [False, True])
def test_the_compiled_ruler_agrees_with_numpy(length, kinds, special, monkeypatch):
    got, expected = kinds.split()
    right = noise(length, length).astype(expected)
    result = (right + 1e-3 * noise(1, length)).astype(got)
    if special:
        right[length // 2], result[length // 2] = math.inf, math.inf
    compiled, by_numpy = measured_both_ways(right, result, monkeypatch)
    assert compiled.rms == pytest.approx(by_numpy.rms, rel=1e-6)
    assert compiled.peak == pytest.approx(by_numpy.peak, rel=1e-6)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_neither_ruler_lets_a_stray_nan_or_infinity_through(bad, monkeypatch):
    right = noise(0, 600_000)
    result = right.astype(np.float32)
    result[-1] = bad
    assert not any(found.within(HUGE) for found in measured_both_ways(right, result, monkeypatch))


# The budget

SUM_LENGTH = 1000
SUMS = {
    "forwards": lambda x: np.add.accumulate(x, axis=1)[:, -1],
    "backwards": lambda x: np.add.accumulate(x[:, ::-1], axis=1)[:, -1],
    "shuffled": lambda x: np.add.accumulate(x[:, np.random.default_rng(9).permutation(x.shape[1])], axis=1)[:, -1],
    "in eight lanes": lambda x: np.add.accumulate(x.reshape(len(x), -1, 8), axis=1)[:, -1].sum(axis=1),
    "pairwise": lambda x: x.sum(axis=1),
}


@pytest.mark.parametrize("order", SUMS)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_every_order_of_summation_is_within_budget(order, seed, draw):
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal((256, SUM_LENGTH)) if draw == "normal" else rng.random((256, SUM_LENGTH))).astype("f4")
    oracle = x.astype(np.float64).sum(axis=1)
    budget = budget_for(oracle, x.sum(axis=1), SUM_LENGTH)
    assert Yardstick(oracle, "float32").measure(SUMS[order](x)).within(budget)


def test_a_sum_that_swallows_small_terms_behind_a_large_one_is_within_budget():
    """One row in a thousand; the reference, which sums in lanes, loses almost nothing."""
    terms = np.zeros((1000, 1000))
    terms[7] = 2.9e-8
    terms[:, 0] = 1.0
    oracle = terms.sum(axis=1)
    narrow = terms.astype(np.float32)
    lanes = narrow.reshape(1000, -1, 8).cumsum(axis=1, dtype=np.float32)[:, -1].sum(axis=1, dtype=np.float32)
    one_by_one = narrow.cumsum(axis=1, dtype=np.float32)[:, -1]
    assert one_by_one[7] == 1.0  # everything else is gone
    found = Yardstick(oracle, "float32").measure(one_by_one)
    assert found.within(budget_for(oracle, lanes, 1000))
    dropped = 0.5 * narrow.sum(axis=1, dtype=np.float32)
    assert not Yardstick(oracle, "float32").measure(dropped).within(budget_for(oracle, lanes, 1000))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("coarse", [lambda x: x.astype("f2"), lambda x: as_float(bfloat16(x), "bfloat16")])
def test_inputs_rounded_to_half_precision_are_over_budget(seed, coarse):
    x = noise(seed, 256, SUM_LENGTH).astype(np.float32)
    oracle = x.astype(np.float64).sum(axis=1)
    budget = budget_for(oracle, x.sum(axis=1), SUM_LENGTH)
    cheap = coarse(x).astype(np.float64).sum(axis=1).astype(np.float32)
    assert not Yardstick(oracle, "float32").measure(cheap).within(budget)


def test_a_task_that_allows_bfloat16_accepts_inputs_rounded_to_it():
    x = noise(3, 256, SUM_LENGTH).astype(np.float32)
    oracle = x.astype(np.float64).sum(axis=1)
    cheap = as_float(bfloat16(x), "bfloat16").astype(np.float64).sum(axis=1).astype(np.float32)
    budget = budget_for(oracle, x.sum(axis=1), SUM_LENGTH, precision="bf16")
    assert Yardstick(oracle, "float32").measure(cheap).within(budget)


@given(rms=st.floats(0, 1e-2), peak=st.floats(0, 1e-1), reduction=st.floats(1, 1e7))
def test_the_reference_itself_is_always_within_the_budget(rms, peak, reduction):
    own = Deviation(rms, peak)
    assert own.within(allowed(own, "float32", reduction, "strict"))


@given(
    reduction=st.floats(1, 1e6), more=st.floats(1, 100), precision=st.sampled_from(["strict", "tf32", "bf16", "fp16"])
)
def test_longer_sums_and_looser_classes_are_never_allowed_less(reduction, more, precision):
    none = Deviation(0.0, 0.0)
    short = allowed(none, "float32", reduction, "strict")
    assert short.within(allowed(none, "float32", reduction * more, "strict"))
    assert short.within(allowed(none, "float32", reduction, precision))


# What a person is told


def test_wrong_elements_are_counted_boxed_and_the_first_is_shown():
    right = np.arange(1.0, 61.0).reshape(3, 4, 5)
    wrong = right.astype(np.float32)
    wrong[1, 2, 3] = -1.0
    wrong[2, 1, 3] = 0.0
    stick = Yardstick(right.reshape(-1), "float32")
    result = wrong.reshape(-1)
    told = describe_bad(stick.bad(result, Deviation(1e-6, 1e-5)), result, stick, [3, 4, 5])
    assert told["bad_elements"] == 2
    assert told["elements"] == 60
    assert told["bad_share"] == pytest.approx(2 / 60)
    assert told["box"] == [[1, 2], [1, 2], [3, 3]]
    assert told["first"] == {"index": [1, 2, 3], "got": -1.0, "expected": 34.0}
    assert told["max_abs_error"] == pytest.approx(right[2, 1, 3])


def test_a_wrong_scalar_has_no_box():
    stick = Yardstick(np.array([2.0]), "float32")
    result = np.array([3.0], np.float32)
    told = describe_bad(stick.bad(result, Deviation(1e-6, 1e-6)), result, stick, [])
    assert told["box"] == []
    assert told["first"] == {"index": [], "got": 3.0, "expected": 2.0}


def test_nan_is_named_so_that_json_can_hold_it():
    stick = Yardstick(np.array([1.0, 2.0]), "float32")
    result = np.array([1.0, math.nan], np.float32)
    told = describe_bad(stick.bad(result, Deviation(1e-6, 1e-6)), result, stick, [2])
    assert told["first"]["got"] == "nan"
    assert told["max_abs_error"] == "nan"


def test_a_missing_infinity_is_among_the_bad_elements():
    stick = Yardstick(np.array([1.0, math.inf, 2.0]), "float32")
    bad = stick.bad(np.array([1.0, 5.0, 2.0], np.float32), Deviation(1e-6, 1e-6))
    assert bad.tolist() == [False, True, False]


def test_an_error_spread_thinly_is_still_located():
    """Over the budget as a whole, nowhere over its peak: the elements above the average allowed are shown."""
    right = np.ones(1000)
    stick = Yardstick(right, "float32")
    budget = Deviation(1e-5, 1e-3)
    result = np.full(1000, 1.0001, np.float32)
    assert not stick.measure(result).within(budget)
    assert stick.bad(result, budget).all()


@given(seed=SEEDS, length=st.integers(1, 200), data=st.data())
def test_whatever_is_over_budget_has_a_bad_element(seed, length, data):
    right = noise(seed, length)
    result = right.astype(np.float32)
    place = data.draw(st.integers(0, length - 1))
    result[place] = data.draw(st.floats(width=32))
    stick = Yardstick(right, "float32")
    budget = Deviation(1e-6, 1e-5)
    if not stick.measure(result).within(budget):
        assert stick.bad(result, budget)[place]


# Ill-conditioned elements


def output(oracle: np.ndarray, plain: np.ndarray, reduction: float = 100.0) -> Output:
    return Output(
        dtype="float32",
        shape=[len(oracle)],
        dense=True,
        contiguous=True,
        aliases_input=False,
        oracle=Yardstick(oracle, "float32"),
        plain=plain,
        reduction=reduction,
        precision="strict",
    )


def test_an_element_gets_the_room_that_its_condition_asks_for_and_no_more():
    oracle = noise(0, 5000)
    found, sway = oracle.astype(np.float32), np.zeros(5000)
    found[7] += np.float32(1e-2)
    sway[7] = 1e-3  # ten such errors, in a sum of a hundred terms, are one percent
    right = output(oracle, oracle.astype(np.float32))
    assert not right.oracle.measure(found).within(right.budget)
    assert right.forgives(found, sway * 1.01)
    assert not right.forgives(found, sway * 0.5)
    assert not right.forgives(found, np.roll(sway, 1))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_no_condition_excuses_what_is_not_finite(bad):
    oracle = noise(0, 5000)
    found = oracle.astype(np.float32)
    found[7] = bad
    assert not output(oracle, oracle.astype(np.float32)).forgives(found, np.full(5000, 1e-3))
