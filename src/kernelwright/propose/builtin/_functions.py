"""How each function of the intermediate form is written in C++ and SYCL, and which are worth not doing twice."""

from __future__ import annotations

from kernelwright.propose.builtin._loops import Apply, Expression, walk
from kernelwright.propose.builtin._operator_signs import SIGNS

SPELLED = {
    **SIGNS,
    "max": "max_({0}, {1})",
    "min": "min_({0}, {1})",
    "not": "not_({0})",
    "where": "{0} ? {1} : {2}",
    "reciprocal": "1.0f / {0}",
    "rsqrt": "1.0f / sqrt_({0})",
    "log2": "log_({0}) * 1.44269504f",
    "log10": "log_({0}) * 0.434294482f",
    "pow": "pow_({0}, {1})",
    "bool_of_float": "{0} != 0.0f",
    "bool_of_int": "{0} != 0",
    **{name: f"{name}({{0}})" for name in ("float_of_int", "float_of_bool", "int_of_float", "int_of_bool")},
    **{
        name: f"{name}_({{0}})"
        for name in "exp expm1 log log1p tanh sigmoid erf sqrt abs sign floor ceil round trunc".split()
    },
    # Seldom met: one lane at a time, by the library's own.
    **{
        name: f"lanewise({{0}}, [](float a) {{{{ return scalar::{name}(a); }}}})"
        for name in "sin cos tan asin acos atan sinh cosh".split()
    },
}
COSTLY = frozenset(
    "exp expm1 log log1p log2 log10 tanh sigmoid erf pow sin cos tan asin acos atan sinh cosh div sqrt rsqrt".split()
)


def is_costly(expression: Expression) -> bool:
    """Whether working it out again takes longer than reading it."""
    return any(isinstance(part, Apply) and part.function in COSTLY for part in walk(expression))
