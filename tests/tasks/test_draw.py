import pytest
import torch

from kernelwright.tasks import DTYPES, LAYOUTS, InputSpec, draw_input

REALS = ["float64", "float32", "float16", "bfloat16"]


def draw(values, *, shape=(64, 128), dtype="float32", layout="contiguous", seed=0):
    spec = InputSpec("x", shape, dtype, values, layout)
    return draw_input(spec, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_shape_and_dtype_are_as_declared(dtype):
    drawn = draw("ones", shape=(3, 5), dtype=dtype)
    assert drawn.dtype == getattr(torch, dtype)
    assert drawn.shape == (3, 5)
    assert bool((drawn == 1).all())


@pytest.mark.parametrize("values", ["normal", "uniform(0, 1)", "integers(0, 9)", "zeros", "constant(2)"])
@pytest.mark.parametrize("shape", [(), (0, 4), (1,)])
def test_tensors_of_no_dimension_or_no_element_can_be_drawn(values, shape):
    assert draw(values, shape=shape).shape == shape


@pytest.mark.parametrize("dtype", REALS)
def test_normal_has_the_mean_and_spread_asked_for(dtype):
    for values, mean, std in [("normal", 0, 1), ("normal(5, 2)", 5, 2)]:
        drawn = draw(values, dtype=dtype).double()
        assert abs(drawn.mean() - mean) < 0.1
        assert abs(drawn.std() - std) < 0.1


@pytest.mark.parametrize("dtype", REALS)
def test_uniform_fills_its_range(dtype):
    drawn = draw("uniform(-2, 3)", dtype=dtype).double()
    assert -2 <= drawn.min() < -1.9
    assert 2.9 < drawn.max() <= 3


def test_lognormal_is_the_exponential_of_a_normal():
    assert abs(draw("lognormal(0.5)").log().std() - 0.5) < 0.05


@pytest.mark.parametrize("dtype", REALS)
def test_pareto_is_heavy_and_finite(dtype):
    drawn = draw("pareto(0.3)", dtype=dtype)
    assert drawn.min() >= 1
    assert drawn.max() > 1000
    assert bool(drawn.isfinite().all())


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "float32"])
def test_integers_reach_both_ends_and_exclude_the_upper(dtype):
    assert draw("integers(-2, 3)", dtype=dtype).unique().tolist() == [-2, -1, 0, 1, 2]


def test_integers_span_whole_dtypes():
    assert draw("integers(0, 256)", dtype="uint8").unique().numel() == 256
    assert draw("integers(-128, 128)", dtype="int8").unique().numel() == 256
    wide = draw("integers(-2**63, 2**63 - 1)", dtype="int64")
    assert wide.min() < -(2**60)
    assert wide.max() > 2**60


def test_bernoulli_is_true_as_often_as_asked():
    assert abs(draw("bernoulli(0.25)", dtype="bool").double().mean() - 0.25) < 0.03
    assert not draw("bernoulli(0)", dtype="bool").any()
    assert draw("bernoulli(1)", dtype="uint8").all()


def test_a_permutation_is_one_in_every_row():
    drawn = draw("permutation", dtype="int64")
    assert bool((drawn.sort(dim=-1).values == torch.arange(128)).all())
    assert not torch.equal(drawn[0], drawn[1])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_changes_no_value_and_the_seed_does(layout):
    assert torch.equal(draw("normal", layout=layout), draw("normal"))
    assert not torch.equal(draw("normal", layout=layout, seed=1), draw("normal"))


def test_layouts_lie_in_memory_as_named():
    assert draw("normal").is_contiguous()
    assert draw("normal", shape=(2, 3, 5), layout="transposed").stride() == (15, 1, 3)
    assert draw("normal", shape=(2, 3), layout="strided").stride() == (6, 2)
    assert draw("normal", layout="offset").is_contiguous()
    assert draw("normal", layout="offset").storage_offset() == 1
    assert draw("normal", shape=(), layout="offset").storage_offset() == 1
