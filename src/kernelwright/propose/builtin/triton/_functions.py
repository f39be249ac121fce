"""How each function of the intermediate form is written in Triton.

Only what Triton itself has on a GPU and in its interpreter is used; the rest is written out, right to a few units in
the last place, and treats what is infinite or no number as torch does.
"""

from __future__ import annotations

import math
import re

from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._loops import Number
from kernelwright.propose.builtin._operator_signs import SIGNS

SPELLED = {
    **SIGNS,
    "abs": "tl.abs({0})",
    "max": "larger({0}, {1})",
    "min": "smaller({0}, {1})",
    "not": "{0} == 0",
    "where": "tl.where({0}, {1}, {2})",
    "reciprocal": "1.0 / {0}",
    "rsqrt": "tl.rsqrt({0})",
    "log2": "tl.log2({0})",
    "log10": "tl.log({0}) * 0.4342944819032518",
    "tan": "tl.sin({0}) / tl.cos({0})",
    "pow": "power({0}, {1})",
    "sign": "sign_of({0})",
    "round": "rounded({0})",
    "trunc": "cut_off({0})",
    "bool_of_float": "{0} != 0.0",
    "bool_of_int": "{0} != 0",
    "float_of_int": "{0}.to(tl.float32)",
    "float_of_bool": "{0}.to(tl.float32)",
    "int_of_float": "{0}.to(tl.int32)",
    "int_of_bool": "{0}.to(tl.int32)",
    **{name: f"tl.{name}({{0}})" for name in "exp log sin cos sqrt erf floor ceil".split()},
    **{name: f"{name}({{0}})" for name in "expm1 log1p tanh sigmoid sinh cosh".split()},
}

# Functions of our own, each with those that it calls before it.
HELPERS = {
    "larger": '''
def larger(a, b):
    """What is no number wins."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
''',
    "smaller": '''
def smaller(a, b):
    """What is no number wins."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
''',
    "largest": '''
def largest(v, axis: tl.constexpr, keep: tl.constexpr):
    """Along an axis; what is no number wins."""
    strange = tl.max((v != v).to(tl.int32), axis, keep_dims=keep)
    return tl.where(strange > 0, float("nan"), tl.max(v, axis, keep_dims=keep))
''',
    "smallest": '''
def smallest(v, axis: tl.constexpr, keep: tl.constexpr):
    """Along an axis; what is no number wins."""
    strange = tl.max((v != v).to(tl.int32), axis, keep_dims=keep)
    return tl.where(strange > 0, float("nan"), tl.min(v, axis, keep_dims=keep))
''',
    "times": """
def times(a, b):
    return a * b
""",
    "expm1": '''
def expm1(x):
    """A series where the exponential is close to 1."""
    near = 1.0 / 40320.0 + x * (1.0 / 362880.0)
    near = 1.0 / 5040.0 + x * near
    near = 1.0 / 720.0 + x * near
    near = 1.0 / 120.0 + x * near
    near = 1.0 / 24.0 + x * near
    near = 1.0 / 6.0 + x * near
    near = x + x * x * (0.5 + x * near)
    return tl.where(tl.abs(x) < 0.5, near, tl.exp(x) - 1.0)
''',
    "log1p": '''
def log1p(x):
    """What rounding 1 + x loses is put back; beyond 4 it is less than half of the last place."""
    u = 1.0 + x
    return tl.log(u) + tl.where(u < 4.0, x - (u - 1.0), 0.0)
''',
    "tanh": '''
def tanh(x):
    """Beyond 10 it is 1 to the last place."""
    size = tl.abs(x)
    grown = expm1(2.0 * tl.where(size > 10.0, 10.0, size))
    found = grown / (grown + 2.0)
    return tl.where(x < 0.0, -found, found)
''',
    "sigmoid": """
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))
""",
    "sinh": """
def sinh(x):
    return 0.5 * (expm1(x) - expm1(-x))
""",
    "cosh": """
def cosh(x):
    return 0.5 * (tl.exp(x) + tl.exp(-x))
""",
    "power": '''
def power(x, y):
    """In double precision: a logarithm times an exponent loses as many digits as it has before the point."""
    size = tl.exp(tl.log(tl.abs(x).to(tl.float64)) * y)
    whole = y == tl.floor(y * 1.0)
    odd = y * 0.5 != tl.floor(y * 0.5)
    found = tl.where(x < 0.0, tl.where(whole, tl.where(odd, -size, size), float("nan")), size)
    return tl.where(y == 0.0, 1.0, found).to(tl.float32)
''',
    "sign_of": """
def sign_of(x):
    return tl.where(x > 0.0, 1.0, tl.where(x < 0.0, -1.0, x))
""",
    "rounded": '''
def rounded(x):
    """To the nearest, and halves to even."""
    low = tl.floor(x)
    up = (x - low > 0.5) | ((x - low == 0.5) & (low * 0.5 != tl.floor(low * 0.5)))
    return tl.where(up, low + 1.0, low)
''',
    "cut_off": """
def cut_off(x):
    return tl.where(x < 0.0, tl.ceil(x), tl.floor(x))
""",
}
_CALLED = {name: re.compile(rf"\b{name}\b") for name in HELPERS}


def spelled(function: str, arguments: list[str]) -> str:
    if function not in SPELLED:
        raise CannotWriteError(f"the built-in synthesiser does not write the function {function} in Triton.")
    return SPELLED[function].format(*arguments)


def helpers(text: str) -> str:
    """The functions of our own that a text calls, and those that they call."""
    needed: set[str] = set()
    waiting = [text]
    while waiting:
        looked_at = waiting.pop()
        found = {name for name in HELPERS if name not in needed and _CALLED[name].search(looked_at)}
        needed |= found
        waiting += [HELPERS[name].split("):", 1)[1] for name in found]
    return "".join(f"@triton.jit{HELPERS[name]}\n\n" for name in HELPERS if name in needed)


def literal(number: Number) -> str:
    """A number as Triton reads it."""
    if number.kind == "bool":
        return str(bool(number.value))
    if number.kind == "int":
        return str(int(number.value))
    value = float(number.value)
    return repr(value) if math.isfinite(value) else f'float("{value}")'
