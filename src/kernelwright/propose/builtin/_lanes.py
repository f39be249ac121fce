"""What kernels in C++ and SYCL begin with: vectors, memory, and functions of them to a few units in the last place.

Vectors are the compiler's own; one lane is a plain number, with the same names for what can be done with it.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
# The text of each language, in order; `lanes` stands for vectors or a single lane.
TEXTS = {
    "cpp": ("head.cpp", "lanes", "rounded.cpp", "functions", "products.cpp"),
    "sycl": ("head.sycl", "lanes", "rounded.sycl", "functions", "teams.sycl"),
}
# erfc(x) exp(x^2) for x between 1 and 4, a polynomial in (x - 2.5) / 1.5 through its values at Chebyshev points, lowest
# power first: off by less than 4e-8 once exp(-x^2) is put back.
ERF_FAR = (
    0.21080637,
    -0.111521393,
    0.0561106279,
    -0.0269979369,
    0.0124867,
    -0.00561123341,
    0.00241838419,
    -0.000916272576,
    0.000376477285,
    -0.000245186442,
    9.29497401e-05,
)
ERF_TERMS = 11
EXACTLY = "exact"
EXACT, FAST = 6, 5
BY_SERIES = re.compile(r"\b(exp|expm1|tanh|sigmoid|erf)_\(")


def lanes(width: int, functions: str, language: str = "cpp") -> str:
    """The text for vectors of so many lanes. `functions`: `exact` or `fast`."""
    terms = EXACT if functions == EXACTLY else FAST
    return _filled(language, width == 1).replace("@WIDTH@", str(width)).replace("@TERMS@", str(terms))


def uses_series(kernels: str) -> bool:
    """Whether it makes a difference to these kernels how long the series of the exponential is."""
    return BY_SERIES.search(kernels) is not None


@cache
def _filled(language: str, single: bool) -> str:
    near = [2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(ERF_TERMS)]
    names = [name.replace("lanes", "scalars" if single else "vectors") for name in TEXTS[language]]
    text = "\n".join((HERE / f"{name}.txt").read_text(encoding="utf-8") for name in names)
    for name, variable, of, coefficients in (("NEAR", "near", "z", near), ("FAR", "far", "t", list(ERF_FAR))):
        steps = [f"    {variable} = {variable} * {of} + {literal(value)};" for value in reversed(coefficients[:-1])]
        text = text.replace(f"@ERF_{name}_TOP@", literal(coefficients[-1])).replace(f"@ERF_{name}@", "\n".join(steps))
    return text


def literal(value: float) -> str:
    """A number as C++ writes a float."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value:.9g}f" if "." in f"{value:.9g}" or "e" in f"{value:.9g}" else f"{value:.9g}.0f"
