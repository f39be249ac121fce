"""A linear layer with ReLU, `relu(x @ w.T + b)`: three ways to go about it, each with questions of its own.

`dots`: as the formula says it, row by row of both. `rows`: the weights are turned around, and rows of the result grow.
`tiles`: a tile of sums stays in registers, and the weights are laid out for it. Whoever changes the way begins it
plainly: what was tuned belongs to the loops that are gone. Sizes are multiples of every tile, as the task's are.

`SIMD(...)` stands for a hint and TEAM for how tasks are shared; in what is summed the loop over `k` is called `p`.
"""

from __future__ import annotations

from pathlib import Path

from tests.simulated._family import Answers, Family, hinted

SHAPES = ("plain", "simd", "lanes8", "lanes16")
CHOICES = {
    "way": ("dots", "rows", "tiles"),
    "team": ("alone", "static", "dynamic"),
    "ending": ("apart", "within"),
    "dots shape": SHAPES,
    "dots sums": ("1", "2", "4"),
    "dots rows": ("1", "2", "4"),
    "rows turned": ("plainly", "in blocks"),
    "rows shape": SHAPES,
    "rows deep": ("1", "2", "4"),
    "tiles layout": ("columns", "panels"),
    "tiles shape": SHAPES,
    "tiles high": ("2", "4", "8"),
    "tiles wide": ("16", "32"),
}
ASKED_OF = {name: ("way", name.split()[0]) for name in CHOICES if " " in name}
WIDE = {"lanes8": 8, "lanes16": 16}
TEAM = {
    "alone": "",
    "static": "#pragma omp parallel for schedule(static)\n",
    "dynamic": "#pragma omp parallel for schedule(dynamic, 1)\n",
}
HEAD = "#include <cstdint>\n#include <cstring>\n#include <vector>\n\n"
LANES = """typedef float lanes __attribute__((vector_size(4 * W)));

static inline lanes load(const float* from) {
    lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

static inline void store(float* to, lanes v) { std::memcpy(to, &v, sizeof v); }

static inline float added(lanes v) {
    float sum = v[0];
    for (int64_t n = 1; n < W; n++) sum += v[n];
    return sum;
}

"""
DOTS = """TEAMfor (int64_t i = 0; i < m; i += HIGH)
    for (int64_t j = 0; j < n; j += SUMS) {
        KIND NAMES;
        SIMD(reduction(+ : LIST))
        for (int64_t p = 0; p < k; p += STEP) {
PRODUCTS        }
WRITTEN    }
"""
TURNED = {
    "plainly": """TEAMfor (int64_t q = 0; q < k; q++)
    for (int64_t j = 0; j < n; j++) turned[q * n + j] = w[j * k + q];
""",
    "in blocks": """TEAMfor (int64_t q0 = 0; q0 < k; q0 += 16)
    for (int64_t j0 = 0; j0 < n; j0 += 16)
        for (int64_t q = q0; q < q0 + 16; q++)
            for (int64_t j = j0; j < j0 + 16; j++) turned[q * n + j] = w[j * k + q];
""",
}
ROWS = """TEAMfor (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) y[i * n + j] = BEGUN;
    for (int64_t p = 0; p < k; p += DEEP) {
        SIMD()
        for (int64_t j = 0; j < n; j += STEP) GROWN;
    }
ENDED}
"""
ROWS_ENDED = "    for (int64_t j = 0; j < n; j++) y[i * n + j] = ended(y[i * n + j]);\n"
# Bias and ReLU once everything is summed, in a loop of their own.
APART = """TEAMfor (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) y[i * n + j] = ended(y[i * n + j] + b[j]);
"""
ENDED = "static inline float ended(float v) { return v > 0.0f ? v : 0.0f; }\n\n"
PANELS = """TEAMfor (int64_t j0 = 0; j0 < n; j0 += NR)
    for (int64_t q = 0; q < k; q++)
        for (int64_t j = 0; j < NR; j++) turned[j0 * k + q * NR + j] = w[(j0 + j) * k + q];
"""
TILES = """TEAMfor (int64_t i0 = 0; i0 < m; i0 += MR)
    for (int64_t j0 = 0; j0 < n; j0 += NR) {
        float sum[MR][NR] = {};
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < MR; i++) {
                SIMD()
                for (int64_t j = 0; j < NR; j++) sum[i][j] += x[(i0 + i) * k + p] * turned[RIGHT + j];
            }
        for (int64_t i = 0; i < MR; i++)
            for (int64_t j = 0; j < NR; j++) y[(i0 + i) * n + j0 + j] = STORED;
    }
"""
TILES_WIDE = """TEAMfor (int64_t i0 = 0; i0 < m; i0 += MR)
    for (int64_t j0 = 0; j0 < n; j0 += NR) {
        lanes sum[MR][NR / W] = {};
        for (int64_t p = 0; p < k; p++)
            for (int64_t v = 0; v < NR / W; v++) {
                const lanes right = load(turned.data() + RIGHT + v * W);
                for (int64_t i = 0; i < MR; i++) sum[i][v] += x[(i0 + i) * k + p] * right;
            }
        for (int64_t i = 0; i < MR; i++)
            for (int64_t j = 0; j < NR; j++) y[(i0 + i) * n + j0 + j] = STORED;
    }
"""
CANDIDATE = '''import torch

from kernelwright import native

lib = native.cpp(
    r"""
HELPERSextern "C" void linear(const float* x, const float* w, const float* b, float* y,
                       int64_t m, int64_t n, int64_t k) {
WORK}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x, w, b):
        y = torch.empty(x.shape[0], w.shape[0])
        lib.linear(x, w, b, y, x.shape[0], w.shape[0], x.shape[1])
        return y
'''


def write(answers: Answers) -> str:
    way = answers["way"]
    shape = answers[f"{way} shape"]
    width = WIDE.get(shape, 0)
    constants, work = {"dots": _dots, "rows": _rows, "tiles": _tiles}[way](answers, width)
    if way != "dots":
        work = "std::vector<float> turned(k * n);\n" + work
    if not _within(answers):
        work += APART
    work = hinted(work.replace("TEAM", TEAM[answers["team"]]), shape == "simd")
    helpers = HEAD + ENDED + (f"constexpr int64_t W = {width};\n" + LANES if width else "") + constants
    return CANDIDATE.replace("HELPERS", helpers, 1).replace("WORK", _indented(work, 4), 1)


def _within(answers: Answers) -> bool:
    return answers["ending"] == "within"


def _stored(sum_: str, column: str, answers: Answers) -> str:
    return f"ended({sum_} + b[{column}])" if _within(answers) else sum_


def _dots(answers: Answers, width: int) -> tuple[str, str]:
    pairs = [(i, j) for i in range(int(answers["dots rows"])) for j in range(int(answers["dots sums"]))]
    names = [f"s{i}{j}" for i, j in pairs]
    zero = "{}" if width else "0.0f"
    parts = {
        "HIGH": answers["dots rows"],
        "SUMS": answers["dots sums"],
        "KIND": "lanes" if width else "float",
        "NAMES": ", ".join(f"{name} = {zero}" for name in names),
        "LIST": ", ".join(names),
        "STEP": str(width or 1),
        "PRODUCTS": "".join(f"            s{i}{j} += {_product(i, j, width)};\n" for i, j in pairs),
        "WRITTEN": "".join(
            f"        y[(i + {i}) * n + j + {j}] = {_stored(_sum(f's{i}{j}', width), f'j + {j}', answers)};\n"
            for i, j in pairs
        ),
    }
    return "", _filled(DOTS, parts)


def _product(i: int, j: int, width: int) -> str:
    left, right = f"(i + {i}) * k + p", f"(j + {j}) * k + p"
    return f"load(x + {left}) * load(w + {right})" if width else f"x[{left}] * w[{right}]"


def _sum(name: str, width: int) -> str:
    return f"added({name})" if width else name


def _rows(answers: Answers, width: int) -> tuple[str, str]:
    deep = range(int(answers["rows deep"]))
    if width:
        terms = " + ".join(f"x[i * k + p + {d}] * load(turned.data() + (p + {d}) * n + j)" for d in deep)
        grown = f"store(y + i * n + j, load(y + i * n + j) + {terms})"
    else:
        terms = " + ".join(f"x[i * k + p + {d}] * turned[(p + {d}) * n + j]" for d in deep)
        grown = f"y[i * n + j] += {terms}"
    parts = {"DEEP": answers["rows deep"], "STEP": str(width or 1), "GROWN": grown}
    parts |= {"BEGUN": "b[j]" if _within(answers) else "0.0f", "ENDED": ROWS_ENDED if _within(answers) else ""}
    return "", TURNED[answers["rows turned"]] + _filled(ROWS, parts)


def _tiles(answers: Answers, width: int) -> tuple[str, str]:
    panels = answers["tiles layout"] == "panels"
    constants = f"constexpr int64_t MR = {answers['tiles high']}, NR = {answers['tiles wide']};\n\n"
    work = TILES_WIDE if width else TILES
    laid_out = PANELS if panels else TURNED["plainly"]
    stored = _stored("sum[i][j / W][j % W]" if width else "sum[i][j]", "j0 + j", answers)
    parts = {"RIGHT": "j0 * k + p * NR" if panels else "p * n + j0", "STORED": stored}
    return constants, laid_out + _filled(work, parts)


def _filled(text: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


def _indented(text: str, depth: int) -> str:
    return "".join(f"{' ' * depth}{line}\n" for line in text.splitlines())


def slip(text: str, kind: str) -> str:
    """A name that nobody declared, or a sum that ends too early."""
    if kind == "typo":
        return text.replace("float* y,", "float* result,")
    return text.replace("p < k;", "p < k - 16;")


LINEAR = Family(
    name="linear",
    task=Path(__file__).parent / "tasks" / "linear_192x384x256.py",
    choices=CHOICES,
    write=write,
    slip=slip,
    asked_of=ASKED_OF,
)
