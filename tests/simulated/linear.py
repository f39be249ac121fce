"""A larger product of matrices with bias and ReLU: a thousand ways, and a valley before the best of them.

Rows are quick as they are. A small tile of sums is slower than they are, and so is each part of a good tile without the
others; all parts together are the quickest that is known.
"""

from __future__ import annotations

from pathlib import Path

from tests.simulated._family import Answers, Family, hinted

CHOICES = {
    "loops": ("dot", "columns", "turned", "rows", "tile"),
    "height": ("2", "4", "8"),
    "width": ("8", "16", "32"),
    "pack": ("none", "panels", "both"),
    "shape": ("plain", "simd", "lanes"),
    "together": ("1", "4"),
    "end": ("after", "fused"),
    "team": ("alone", "static", "dynamic"),
}
ONLY_TILES = ("height", "width", "pack")
TEAM = {
    "alone": "",
    "static": "#pragma omp parallel for schedule(static)\n",
    "dynamic": "#pragma omp parallel for schedule(dynamic, 1)\n",
}
HEAD = "#include <algorithm>\n#include <cstdint>\n#include <cstring>\n#include <vector>\n\n"
LANES = """constexpr int64_t LANES = 8;
typedef float lanes __attribute__((vector_size(32)));

static inline lanes load(const float* from) {
    lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

static inline void store(float* to, lanes v) { std::memcpy(to, &v, sizeof v); }

"""
# ENDED(x) stands for a finished sum as it is written: as it is, or with bias and ReLU.
ENDED, AS_IT_IS = "std::max(SUM + bias[COLUMN], 0.0f)", "SUM"
AFTER = """TEAMfor (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) c[i * n + j] = std::max(c[i * n + j] + bias[j], 0.0f);
"""
DOT = """TEAMOUTER
    INSIDE {
        float sum = 0.0f;
        SIMD(reduction(+ : sum))
        for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * RIGHT;
        c[i * n + j] = ENDED(sum, j);
    }
"""
BY_ROWS, BY_COLUMNS = "for (int64_t i = 0; i < m; i++)", "for (int64_t j = 0; j < n; j++)"
TURNED = """std::vector<float> turned(n * k);
for (int64_t p = 0; p < k; p++)
    for (int64_t j = 0; j < n; j++) turned[j * k + p] = b[p * n + j];
"""
ROWS = """TEAMfor (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) c[i * n + j] = 0.0f;
    int64_t p = 0;
    for (; p + TOGETHER <= k; p += TOGETHER) add<TOGETHER>(a + i * k + p, b + p * n, c + i * n, n);
    for (; p < k; p++) add<1>(a + i * k + p, b + p * n, c + i * n, n);
LAST
}
"""
ROW_ENDED = "for (int64_t j = 0; j < n; j++) c[i * n + j] = std::max(c[i * n + j] + bias[j], 0.0f);\n"
ADD = """template <int64_t ROWS>
static inline void add(const float* a, const float* b, float* __restrict c, int64_t n) {
    SIMD()
    for (int64_t j = 0; j < n; j++) {
        float sum = c[j];
        for (int64_t r = 0; r < ROWS; r++) sum += a[r] * b[r * n + j];
        c[j] = sum;
    }
}

"""
ADD_LANES = """template <int64_t ROWS>
static inline void add(const float* a, const float* b, float* __restrict c, int64_t n) {
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        lanes sum = load(c + j);
        for (int64_t r = 0; r < ROWS; r++) sum += a[r] * load(b + r * n + j);
        store(c + j, sum);
    }
    for (; j < n; j++)
        for (int64_t r = 0; r < ROWS; r++) c[j] += a[r] * b[r * n + j];
}

"""
PANELS = """std::vector<float> panels((n / NR) * NR * k);
TEAMfor (int64_t j0 = 0; j0 <= n - NR; j0 += NR)
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < NR; j++) panels[j0 * k + p * NR + j] = b[p * n + j0 + j];
"""
LEFT_PANELS = """std::vector<float> left((m / MR) * MR * k);
TEAMfor (int64_t i0 = 0; i0 <= m - MR; i0 += MR)
    for (int64_t p = 0; p < k; p++)
        for (int64_t i = 0; i < MR; i++) left[i0 * k + p * MR + i] = a[(i0 + i) * k + p];
"""
TILES = """TEAMfor (int64_t j0 = 0; j0 < n; j0 += NR)
    for (int64_t i0 = 0; i0 < m; i0 += MR) {
        if (i0 + MR > m || j0 + NR > n) {
            for (int64_t i = i0; i < std::min(i0 + MR, m); i++)
                for (int64_t j = j0; j < std::min(j0 + NR, n); j++) {
                    float sum = 0.0f;
                    for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
                    c[i * n + j] = ENDED(sum, j);
                }
            continue;
        }
SUMS
    }
"""
SUMS = """float acc[MR][NR] = {};
int64_t p = 0;
for (; p + TOGETHER <= k; p += TOGETHER)
    for (int64_t u = 0; u < TOGETHER; u++)
        for (int64_t i = 0; i < MR; i++) {
            SIMD()
            for (int64_t j = 0; j < NR; j++) acc[i][j] += LEFT(p + u) * RIGHT(p + u);
        }
for (; p < k; p++)
    for (int64_t i = 0; i < MR; i++)
        for (int64_t j = 0; j < NR; j++) acc[i][j] += LEFT(p) * RIGHT(p);
for (int64_t i = 0; i < MR; i++)
    for (int64_t j = 0; j < NR; j++) c[(i0 + i) * n + j0 + j] = ENDED(acc[i][j], j0 + j);
"""
SUMS_LANES = """lanes acc[MR][NR / LANES] = {};
int64_t p = 0;
for (; p + TOGETHER <= k; p += TOGETHER)
    for (int64_t u = 0; u < TOGETHER; u++)
        for (int64_t i = 0; i < MR; i++)
            for (int64_t j = 0; j < NR; j += LANES) acc[i][j / LANES] += LEFT(p + u) * load(&RIGHT(p + u));
for (; p < k; p++)
    for (int64_t i = 0; i < MR; i++)
        for (int64_t j = 0; j < NR; j += LANES) acc[i][j / LANES] += LEFT(p) * load(&RIGHT(p));
for (int64_t i = 0; i < MR; i++)
    for (int64_t j = 0; j < NR; j++) c[(i0 + i) * n + j0 + j] = ENDED(acc[i][j / LANES][j % LANES], j0 + j);
"""
# Where a factor lies: as given, or packed.
PLACES = {
    "LEFT(p + u)": ("a[(i0 + i) * k + p + u]", "left[i0 * k + (p + u) * MR + i]"),
    "LEFT(p)": ("a[(i0 + i) * k + p]", "left[i0 * k + p * MR + i]"),
    "RIGHT(p + u)": ("b[(p + u) * n + j0 + j]", "panels[j0 * k + (p + u) * NR + j]"),
    "RIGHT(p)": ("b[p * n + j0 + j]", "panels[j0 * k + p * NR + j]"),
}
ENDINGS = (("sum", "j"), ("acc[i][j]", "j0 + j"), ("acc[i][j / LANES][j % LANES]", "j0 + j"))
CANDIDATE = '''import torch

from kernelwright import native

lib = native.cpp(
    r"""
HELPERSextern "C" void linear(const float* a, const float* b, const float* bias, float* c, int64_t m, int64_t n,
                       int64_t k) {
WORK}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b, bias):
        c = torch.empty(a.shape[0], b.shape[1])
        lib.linear(a, b, bias, c, a.shape[0], b.shape[1], a.shape[1])
        return c
'''


def write(answers: Answers) -> str:
    helpers, work = {"rows": _rows, "tile": _tile}.get(answers["loops"], _dot)(answers)
    fused, simd = answers["end"] == "fused", answers["shape"] == "simd"
    work = _ended(work, fused) + ("" if fused else AFTER)
    work = hinted(work.replace("TEAM", TEAM[answers["team"]]), simd)
    head = HEAD + (LANES if answers["shape"] == "lanes" else "") + hinted(helpers, simd)
    return CANDIDATE.replace("HELPERS", head, 1).replace("WORK", _indented(work, 4), 1)


def _ended(work: str, fused: bool) -> str:
    for total, column in ENDINGS:
        written = (ENDED if fused else AS_IT_IS).replace("SUM", total).replace("COLUMN", column)
        work = work.replace(f"ENDED({total}, {column})", written)
    return work


def _dot(answers: Answers) -> tuple[str, str]:
    turned = answers["loops"] == "turned"
    loops = (BY_COLUMNS, BY_ROWS) if answers["loops"] == "columns" else (BY_ROWS, BY_COLUMNS)
    body = DOT.replace("OUTER", loops[0]).replace("INSIDE", loops[1])
    body = body.replace("RIGHT", "turned[j * k + p]" if turned else "b[p * n + j]")
    return "", (TURNED if turned else "") + body


def _rows(answers: Answers) -> tuple[str, str]:
    last = _indented(ROW_ENDED, 4) if answers["end"] == "fused" else ""
    work = ROWS.replace("TOGETHER", answers["together"]).replace("LAST\n", last)
    return ADD_LANES if answers["shape"] == "lanes" else ADD, work


def _tile(answers: Answers) -> tuple[str, str]:
    packed = {"LEFT": answers["pack"] == "both", "RIGHT": answers["pack"] != "none"}
    sums = SUMS_LANES if answers["shape"] == "lanes" else SUMS
    for name, ways in PLACES.items():
        sums = sums.replace(name, ways[packed[name.partition("(")[0]]])
    sums = sums.replace("TOGETHER", answers["together"])
    before = (PANELS if packed["RIGHT"] else "") + (LEFT_PANELS if packed["LEFT"] else "")
    constants = f"constexpr int64_t MR = {answers['height']}, NR = {answers['width']};\n\n"
    return constants, before + TILES.replace("SUMS\n", _indented(sums, 8))


def _indented(text: str, depth: int) -> str:
    return "".join(f"{' ' * depth}{line}\n" for line in text.splitlines())


def slip(text: str, kind: str) -> str:
    """A name that nobody declared, or a first product that is left out."""
    if kind == "typo":
        return text.replace("int64_t k) {\n", "int64_t k) {\n    kk = k;\n", 1)
    return text.replace("int64_t p = 0;", "int64_t p = 1;")


def makes_sense(answers: Answers) -> bool:
    if answers["loops"] == "tile":
        return True
    untiled = all(answers[name] == CHOICES[name][0] for name in ONLY_TILES)
    return untiled and (answers["loops"] == "rows" or (answers["shape"] != "lanes" and answers["together"] == "1"))


LINEAR = Family(
    name="linear",
    task=Path(__file__).parent / "tasks" / "linear_384.py",
    choices=CHOICES,
    makes_sense=makes_sense,
    write=write,
    slip=slip,
)
