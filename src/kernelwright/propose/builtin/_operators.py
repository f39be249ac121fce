"""What torch's operators mean: arithmetic, choices and reductions."""

from __future__ import annotations

import math
from math import prod
from typing import Any, Literal

from kernelwright.propose.builtin._capture import Node
from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._loops import KINDS, Apply, Expression, Kind, Layout, Number, Place, Shape
from kernelwright.propose.builtin._lower import Lowering, Value, argument, operator, plain
from kernelwright.propose.builtin._views import reshape

_UNARY = (
    "exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh erf sqrt rsqrt reciprocal neg abs "
    "sigmoid tanh floor ceil round trunc sign"
).split()
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "maximum": "max", "minimum": "min"}


def of(function: str, *parts: Expression) -> Expression:
    """A function of floats."""
    return Apply(function, parts, "float")


def constant(value: float, like: Expression) -> Number:
    return Number(float(value), "float", like.shape)


def choose(mask: Expression, one: Expression, other: Expression) -> Expression:
    return Apply("where", (mask, one, other), one.kind)


def compare(function: str, one: Expression, other: Expression) -> Expression:
    return Apply(function, (one, other), "bool")


# *** arithmetic ***


def _unary(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0])
    function = node.op.split(".")[1]
    if value.kind == "int" and function in ("neg", "abs"):
        return Apply(function, (value,), "int")
    return of(function, lowering.cast(value, "float"))


operator(*(f"{name}.default" for name in _UNARY))(_unary)


def _binary(lowering: Lowering, node: Node) -> Value:
    function = node.op.split(".")[1]
    kind: Kind = "float" if node.dtype == "float32" else "int"
    one, other = lowering.operands(node, *node.args[:2], kind=kind)
    alpha = node.kwargs.get("alpha", 1)
    if alpha != 1:
        other = Apply("mul", (other, lowering.cast(Number(plain(alpha), "float", other.shape), other.kind)), other.kind)
    if function == "div" and kind == "int":
        raise CannotWriteError(f"the built-in synthesiser does not know the operator {node.op} of integers.")
    return Apply(_ARITHMETIC[function], (one, other), one.kind)


operator(*(f"{name}.{form}" for name in _ARITHMETIC for form in ("Tensor", "Scalar", "default")))(_binary)


@operator("rsub.Scalar", "rsub.Tensor")
def _rsub(lowering: Lowering, node: Node) -> Value:
    one, other = lowering.operands(node, *node.args[:2], kind="float")
    return of("sub", other, one)


def _comparison(lowering: Lowering, node: Node) -> Value:
    return compare(node.op.split(".")[1], *lowering.operands(node, *node.args[:2]))


operator(*(f"{name}.{form}" for name in _COMPARISONS for form in ("Tensor", "Scalar")))(_comparison)


@operator("logical_and.default", "bitwise_and.Tensor")
def _and(lowering: Lowering, node: Node) -> Value:
    return Apply("and", tuple(lowering.operands(node, *node.args[:2], kind="bool")), "bool")


@operator("logical_or.default", "bitwise_or.Tensor")
def _or(lowering: Lowering, node: Node) -> Value:
    return Apply("or", tuple(lowering.operands(node, *node.args[:2], kind="bool")), "bool")


@operator("logical_not.default", "bitwise_not.default")
def _not(lowering: Lowering, node: Node) -> Value:
    return Apply("not", tuple(lowering.operands(node, node.args[0], kind="bool")), "bool")


@operator("isnan.default")
def _isnan(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0])
    return compare("ne", value, value)


@operator("isinf.default")
def _isinf(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0])
    return compare("eq", of("abs", value), constant(math.inf, value))


@operator("where.self", "where.ScalarOther", "where.ScalarSelf")
def _where(lowering: Lowering, node: Node) -> Value:
    (mask,) = lowering.operands(node, node.args[0], kind="bool")
    return choose(mask, *lowering.operands(node, *node.args[1:3]))


@operator("pow.Tensor_Scalar")
def _pow(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0], kind="float")
    exponent = float(plain(node.args[1]))
    known = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal", 1.0: "same"}
    if exponent in known:
        return value if exponent == 1.0 else of(known[exponent], value)
    if exponent in (2.0, 3.0, 4.0):
        return _times(value, int(exponent))
    return of("pow", value, constant(exponent, value))


def _times(value: Expression, count: int) -> Expression:
    square = of("mul", value, value)
    return {2: square, 3: of("mul", square, value), 4: of("mul", square, square)}[count]


@operator("pow.Tensor_Tensor", "pow.Scalar")
def _pow_of_two(lowering: Lowering, node: Node) -> Value:
    return of("pow", *lowering.operands(node, *node.args[:2], kind="float"))


@operator("clamp.default", "clamp.Tensor", "clamp_min.default", "hardtanh.default")
def _clamp(lowering: Lowering, node: Node) -> Value:
    usual = (-1.0, 1.0) if node.op.startswith("aten.hardtanh") else (None, None)
    low, high = argument(node, 1, "min", usual[0]), argument(node, 2, "max", usual[1])
    kind = KINDS[node.dtype or "float32"]
    (value,) = lowering.operands(node, node.args[0], kind=kind)
    for function, limit in (("max", low), ("min", high)):
        if limit is not None:
            value = Apply(function, (value, *lowering.operands(node, limit, kind=kind)), kind)
    return value


@operator("clamp_max.default")
def _clamp_max(lowering: Lowering, node: Node) -> Value:
    kind = KINDS[node.dtype or "float32"]
    return Apply("min", tuple(lowering.operands(node, *node.args[:2], kind=kind)), kind)


# *** activations ***


@operator("relu.default")
def _relu(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0], kind="float")
    return of("max", value, constant(0, value))


@operator("gelu.default")
def _gelu(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0], kind="float")
    half = of("mul", constant(0.5, value), value)
    if node.kwargs.get("approximate", "none") == "none":
        inside = of("erf", of("mul", value, constant(math.sqrt(0.5), value)))
    else:
        cubic = of("mul", constant(0.044715, value), _times(value, 3))
        inside = of("tanh", of("mul", constant(math.sqrt(2 / math.pi), value), of("add", value, cubic)))
    return of("mul", half, of("add", constant(1, value), inside))


@operator("leaky_relu.default")
def _leaky_relu(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0], kind="float")
    slope = constant(plain(argument(node, 1, "negative_slope", 0.01)), value)
    return choose(compare("gt", value, constant(0, value)), value, of("mul", value, slope))


@operator("elu.default")
def _elu(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0], kind="float")
    names = ("alpha", "scale", "input_scale")
    alpha, scale, inside = (constant(plain(argument(node, 1 + i, name, 1)), value) for i, name in enumerate(names))
    below = of("mul", of("mul", alpha, scale), of("expm1", of("mul", value, inside)))
    return choose(compare("gt", value, constant(0, value)), of("mul", value, scale), below)


@operator("softplus.default")
def _softplus(lowering: Lowering, node: Node) -> Value:
    (value,) = lowering.operands(node, node.args[0], kind="float")
    steep, limit = plain(argument(node, 1, "beta", 1)), plain(argument(node, 2, "threshold", 20))
    beta = constant(steep, value)
    scaled = value if steep == 1 else of("mul", value, beta)
    soft = of("log1p", of("exp", scaled))
    return choose(compare("gt", scaled, constant(limit, value)), value, soft if steep == 1 else of("div", soft, beta))


# *** reductions ***


def _axes(node: Node, place: int = 1, name: str = "dim") -> list[int] | None:
    found = argument(node, place, name)
    return [found] if isinstance(found, int) else found


def _count(shape: Shape, axes: list[int] | None) -> int:
    return prod(shape) if not axes else prod(shape[axis] for axis in axes)


@operator("sum.dim_IntList", "sum.default", "amax.default", "amin.default", "prod.dim_int", "prod.default")
def _reduction(lowering: Lowering, node: Node) -> Value:
    how: Any = {"sum": "sum", "amax": "max", "amin": "min", "prod": "prod"}[node.op.split(".")[1]]
    axes = None if node.op.endswith(("sum.default", "prod.default")) else _axes(node)
    found = lowering.reduce(how, lowering.operand(node.args[0]), axes, bool(argument(node, 2, "keepdim", False)))
    return found if node.dtype == "float32" else lowering.cast(found, "int")


@operator("mean.dim", "mean.default")
def _mean(lowering: Lowering, node: Node) -> Value:
    axes = None if node.op.endswith("mean.default") else _axes(node)
    return mean(lowering, lowering.operand(node.args[0]), axes, bool(argument(node, 2, "keepdim", False)))


def mean(lowering: Lowering, value: Expression, axes: list[int] | None, keep: bool) -> Expression:
    total = lowering.reduce("sum", value, axes, keep)
    return of("div", total, constant(_count(value.shape, axes), total))


@operator("var.correction", "var_mean.correction")
def _var(lowering: Lowering, node: Node) -> Value:
    value, axes = lowering.operand(node.args[0]), _axes(node)
    correction = node.kwargs.get("correction", 1)
    keep = bool(node.kwargs.get("keepdim", False))
    centre = mean(lowering, value, axes, keep=True)
    away = of("sub", value, lowering.operand_over(centre, value.shape))
    total = lowering.reduce("sum", of("mul", away, away), axes, keep)
    left = _count(value.shape, axes) - plain(1 if correction is None else correction)
    found = of("div", total, constant(left, total))
    return (found, mean(lowering, value, axes, keep)) if node.op.startswith("aten.var_mean") else found


@operator("logsumexp.default")
def _logsumexp(lowering: Lowering, node: Node) -> Value:
    value, axes = lowering.operand(node.args[0]), _axes(node)
    keep = bool(argument(node, 2, "keepdim", False))
    away = of("exp", of("sub", value, lowering.operand_over(_finite(_top(lowering, value, axes, True)), value.shape)))
    total = of("log", lowering.reduce("sum", away, axes, keep))
    return of("add", total, _finite(_top(lowering, value, axes, keep)))


def _top(lowering: Lowering, value: Expression, axes: list[int] | None, keep: bool) -> Expression:
    return lowering.reduce("max", value, axes, keep)


def _finite(value: Expression) -> Expression:
    """Infinity less itself is no number, so nothing is taken off where the largest is infinite."""
    endless = compare("eq", of("abs", value), constant(math.inf, value))
    return choose(endless, constant(0, value), value)


@operator("linalg_vector_norm.default")
def _norm(lowering: Lowering, node: Node) -> Value:
    (value,) = [lowering.cast(lowering.operand(node.args[0]), "float")]
    order, axes, keep = plain(argument(node, 1, "ord", 2)), _axes(node, 2), bool(argument(node, 3, "keepdim", False))
    if order == 1:
        return lowering.reduce("sum", of("abs", value), axes, keep)
    if order == math.inf:
        return lowering.reduce("max", of("abs", value), axes, keep)
    if order == 2:
        return of("sqrt", lowering.reduce("sum", of("mul", value, value), axes, keep))
    raise CannotWriteError(f"the built-in synthesiser knows norms of order 1, 2 and infinity, not {order}.")


@operator("native_group_norm.default")
def _group_norm(lowering: Lowering, node: Node) -> Value:
    value, (batch, channels, size, groups, eps) = lowering.operand(node.args[0]), node.args[3:8]
    grouped = lowering.view(value, reshape((batch, groups, channels // groups, size)))
    centre = mean(lowering, grouped, [2, 3], keep=True)
    away = of("sub", grouped, lowering.operand_over(centre, grouped.shape))
    spread = mean(lowering, of("mul", away, away), [2, 3], keep=True)
    scale = of("rsqrt", of("add", spread, constant(eps, spread)))
    found = of("mul", away, lowering.operand_over(scale, away.shape))
    for function, given in (("mul", node.args[1]), ("add", node.args[2])):
        if given is not None:
            channel = lowering.view(lowering.operand(given), reshape((1, groups, channels // groups, 1)))
            found = of(function, found, lowering.operand_over(channel, found.shape))
    found = lowering.view(found, reshape(value.shape))
    return (found,)


# *** products ***


@operator("mm.default", "bmm.default")
def _product(lowering: Lowering, node: Node) -> Value:
    return lowering.multiply(lowering.operand(node.args[0]), lowering.operand(node.args[1]))


# *** the largest, and where it is ***

MOST_CHOSEN = 8
# Places are counted in float, which knows every integer below this.
MOST_PLACES = 1 << 24


def _extreme(
    lowering: Lowering, value: Expression, how: Literal["max", "min"], axis: int, left: Expression | None = None
) -> tuple[Expression, Expression]:
    """The largest or smallest along an axis, and the first place where it is; of what is `left` alone, if said."""
    if value.shape[axis] >= MOST_PLACES:
        raise CannotWriteError(f"the built-in synthesiser finds places on axes below {MOST_PLACES} elements only.")
    end = constant(-math.inf if how == "max" else math.inf, value)
    top = lowering.reduce(how, value if left is None else choose(left, value, end), [axis], keep=True)
    there = compare("eq", value, lowering.operand_over(top, value.shape))
    hit = Apply("or", (there, compare("ne", value, value)), "bool")
    if left is not None:
        hit = Apply("and", (hit, left), "bool")
    place = lowering.cast(place_along(value.shape, axis), "float")
    first = lowering.reduce("min", choose(hit, place, constant(value.shape[axis], value)), [axis], keep=True)
    return top, lowering.cast(first, "int")


def place_along(shape: Shape, axis: int) -> Place:
    """The number of each point along an axis."""
    return Place(Layout(shape, 0, tuple(int(place == axis) for place in range(len(shape)))))


@operator("argmax.default", "argmin.default")
def _arg(lowering: Lowering, node: Node) -> Value:
    value = lowering.cast(lowering.operand(node.args[0]), "float")
    axis = argument(node, 1, "dim")
    if axis is None:
        value, axis = lowering.view(value, reshape((prod(value.shape),))), 0
    _, found = _extreme(lowering, value, "max" if "argmax" in node.op else "min", int(axis) % len(value.shape))
    assert node.shape is not None
    return lowering.view(found, reshape(node.shape))


@operator("max.dim", "min.dim")
def _extreme_of(lowering: Lowering, node: Node) -> Value:
    value = lowering.cast(lowering.operand(node.args[0]), "float")
    axis = int(node.args[1]) % len(value.shape)
    found = _extreme(lowering, value, "max" if ".max." in node.op else "min", axis)
    assert node.shape is not None
    top, place = (lowering.view(one, reshape(node.shape)) for one in found)
    return (top, place)


@operator("max.default", "min.default")
def _extreme_of_all(lowering: Lowering, node: Node) -> Value:
    how: Any = node.op.split(".")[1]
    return lowering.reduce(how, lowering.operand(node.args[0]), None)


@operator("topk.default")
def _topk(lowering: Lowering, node: Node) -> Value:
    """One after the other: each is the largest of those that are left."""
    value = lowering.cast(lowering.operand(node.args[0]), "float")
    count, axis = int(node.args[1]), int(argument(node, 2, "dim", -1)) % len(value.shape)
    if count > MOST_CHOSEN:
        raise CannotWriteError(f"the built-in synthesiser knows the operator {node.op} for up to {MOST_CHOSEN} only.")
    how: Literal["max", "min"] = "max" if argument(node, 3, "largest", True) else "min"
    left: Expression | None = None
    found: list[tuple[Expression, Expression]] = []
    for _ in range(count):
        found.append(_extreme(lowering, value, how, axis, left))
        place = lowering.operand_over(found[-1][1], value.shape)
        other = compare("ne", place_along(value.shape, axis), place)
        left = other if left is None else Apply("and", (left, other), "bool")
    assert node.shape is not None
    tops, places = zip(*found, strict=True)
    return (lowering.join(tops, axis, node.shape, "float"), lowering.join(places, axis, node.shape, "int"))


# *** scans ***


@operator("cumsum.default", "cumprod.default")
def _cumulative(lowering: Lowering, node: Node) -> Value:
    value, axis = lowering.operand(node.args[0]), int(node.args[1])
    if not value.shape:
        return value
    found = lowering.scan("sum" if "cumsum" in node.op else "prod", value, axis % len(value.shape))
    return found if node.dtype == "float32" else lowering.cast(found, "int")


# *** normalisation by what is at hand ***


@operator("_native_batch_norm_legit.no_stats")
def _batch_norm(lowering: Lowering, node: Node) -> Value:
    value, eps = lowering.operand(node.args[0]), plain(node.args[5])
    axes = [axis for axis in range(len(value.shape)) if axis != 1]
    centre = mean(lowering, value, axes, keep=True)
    away = of("sub", value, lowering.operand_over(centre, value.shape))
    spread = mean(lowering, of("mul", away, away), axes, keep=True)
    scale = of("rsqrt", of("add", spread, constant(eps, spread)))
    found = of("mul", away, lowering.operand_over(scale, value.shape))
    for function, given in (("mul", node.args[1]), ("add", node.args[2])):
        if given is not None:
            column = lowering.view(lowering.operand(given), reshape((1, value.shape[1], *(1 for _ in axes[1:]))))
            found = of(function, found, lowering.operand_over(column, value.shape))
    return (found,)


@operator("any.dim", "any.dims", "any.default", "all.dim", "all.default")
def _any(lowering: Lowering, node: Node) -> Value:
    how: Literal["max", "min"] = "max" if ".any." in node.op else "min"
    value = lowering.cast(lowering.cast(lowering.operand(node.args[0]), "bool"), "float")
    axes = None if node.op.endswith("default") else _axes(node)
    return lowering.cast(lowering.reduce(how, value, axes, bool(argument(node, 2, "keepdim", False))), "bool")
