"""Softmax over rows: how often a row is gone over, whose exponential, how wide, by how many."""

from __future__ import annotations

from pathlib import Path

from tests.simulated._family import Answers, Family, hinted

CHOICES = {
    "passes": ("three", "again", "online", "blocks"),
    "exp": ("library", "own"),
    "shape": ("plain", "simd", "wide"),
    "team": ("alone", "static", "dynamic"),
    "sums": ("strict", "loose"),
}
TEAM = {
    "alone": "",
    "static": "    #pragma omp parallel for schedule(static)\n",
    "dynamic": "    #pragma omp parallel for schedule(dynamic, 16)\n",
}
HEAD = "#include <bit>\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n\n"
LIBRARY = "static inline float power(float v) { return std::exp(v); }\n\n"
# For v <= 0, which is all that a softmax asks for.
OWN = """static inline float power(float v) {
    v = v < -87.0f ? -87.0f : v;
    const int32_t n = (int32_t)(v * 1.44269504f - 0.5f);
    const float f = (float)n, t = v - f * 0.693359375f + f * 2.12194440e-4f;
    const float q = 0.166666667f + t * (0.0416666f + t * (0.00833336f + t * 0.0013888f));
    const float p = 1.0f + t * (1.0f + t * (0.5f + t * q));
    return p * std::bit_cast<float>((n + 127) << 23);
}

"""
LANES = """constexpr int64_t WIDTH = 16;
typedef float lanes __attribute__((vector_size(64)));
typedef int32_t whole __attribute__((vector_size(64)));

static inline lanes load(const float* from) {
    lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

static inline void store(float* to, lanes v) { std::memcpy(to, &v, sizeof v); }

"""
LANES_LIBRARY = """static inline lanes powers(lanes v) {
    for (int k = 0; k < WIDTH; k++) v[k] = std::exp(v[k]);
    return v;
}

"""
LANES_OWN = """static inline lanes powers(lanes v) {
    v = v < -87.0f ? lanes{} - 87.0f : v;
    const whole n = __builtin_convertvector(v * 1.44269504f - 0.5f, whole);
    const lanes f = __builtin_convertvector(n, lanes), t = v - f * 0.693359375f + f * 2.12194440e-4f;
    const lanes q = 0.166666667f + t * (0.0416666f + t * (0.00833336f + t * 0.0013888f));
    const lanes p = 1.0f + t * (1.0f + t * (0.5f + t * q));
    const whole bits = (n + 127) << 23;
    lanes scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

"""

# What is done with one row `a` of `cols` elements, its result `b`. SIMD(...) stands for a hint that may be absent.
LARGEST = """float top = a[0];
SIMD(reduction(max : top))
for (int64_t c = 0; c < cols; c++) top = a[c] > top ? a[c] : top;
"""
LARGEST_WIDE = """float top = a[0];
int64_t c = 0;
if (cols >= WIDTH) {
    lanes tops = load(a);
    for (; c + WIDTH <= cols; c += WIDTH) tops = load(a + c) > tops ? load(a + c) : tops;
    for (int k = 0; k < WIDTH; k++) top = tops[k] > top ? tops[k] : top;
}
for (; c < cols; c++) top = a[c] > top ? a[c] : top;
"""
SCALE = "const float scale = 1.0f / total;\n"
SCALED = """SIMD()
for (int64_t c = 0; c < cols; c++) b[c] *= scale;
"""
SCALED_WIDE = """for (c = 0; c + WIDTH <= cols; c += WIDTH) store(b + c, load(b + c) * scale);
for (; c < cols; c++) b[c] *= scale;
"""
WRITTEN = """SIMD()
for (int64_t c = 0; c < cols; c++) b[c] = power(a[c] - top) * scale;
"""
WRITTEN_WIDE = """for (c = 0; c + WIDTH <= cols; c += WIDTH) store(b + c, powers(load(a + c) - top) * scale);
for (; c < cols; c++) b[c] = power(a[c] - top) * scale;
"""
THREE = (
    LARGEST
    + """float total = 0.0f;
SIMD(reduction(+ : total))
for (int64_t c = 0; c < cols; c++) {
    b[c] = power(a[c] - top);
    total += b[c];
}
"""
    + SCALE
    + SCALED
)
THREE_WIDE = (
    LARGEST_WIDE
    + """float total = 0.0f;
lanes sums = {};
for (c = 0; c + WIDTH <= cols; c += WIDTH) {
    const lanes e = powers(load(a + c) - top);
    store(b + c, e);
    sums += e;
}
for (; c < cols; c++) total += b[c] = power(a[c] - top);
for (int k = 0; k < WIDTH; k++) total += sums[k];
"""
    + SCALE
    + SCALED_WIDE
)
AGAIN = (
    LARGEST
    + """float total = 0.0f;
SIMD(reduction(+ : total))
for (int64_t c = 0; c < cols; c++) total += power(a[c] - top);
"""
    + SCALE
    + WRITTEN
)
AGAIN_WIDE = (
    LARGEST_WIDE
    + """float total = 0.0f;
lanes sums = {};
for (c = 0; c + WIDTH <= cols; c += WIDTH) sums += powers(load(a + c) - top);
for (; c < cols; c++) total += power(a[c] - top);
for (int k = 0; k < WIDTH; k++) total += sums[k];
"""
    + SCALE
    + WRITTEN_WIDE
)
ONLINE = (
    """float top = a[0], total = 0.0f;
for (int64_t c = 0; c < cols; c++) {
    const float next = a[c] > top ? a[c] : top;
    total = total * power(top - next) + power(a[c] - next);
    top = next;
}
"""
    + SCALE
    + WRITTEN
)
ONLINE_SIMD = (
    """constexpr int64_t WAYS = 16;
float tops[WAYS], totals[WAYS];
for (int k = 0; k < WAYS; k++) tops[k] = a[0], totals[k] = 0.0f;
int64_t at = 0;
for (; at + WAYS <= cols; at += WAYS) {
    SIMD()
    for (int k = 0; k < WAYS; k++) {
        const float v = a[at + k], next = v > tops[k] ? v : tops[k];
        totals[k] = totals[k] * power(tops[k] - next) + power(v - next);
        tops[k] = next;
    }
}
float top = a[0], total = 0.0f;
for (int64_t c = at; c < cols; c++) top = a[c] > top ? a[c] : top;
for (int k = 0; k < WAYS; k++) top = tops[k] > top ? tops[k] : top;
for (int64_t c = at; c < cols; c++) total += power(a[c] - top);
for (int k = 0; k < WAYS; k++) total += totals[k] * power(tops[k] - top);
"""
    + SCALE
    + WRITTEN
)
ONLINE_WIDE = (
    """lanes tops = lanes{} + a[0], totals = {};
int64_t c = 0;
for (; c + WIDTH <= cols; c += WIDTH) {
    const lanes v = load(a + c), next = v > tops ? v : tops;
    totals = totals * powers(tops - next) + powers(v - next);
    tops = next;
}
float top = a[0], total = 0.0f;
for (int64_t d = c; d < cols; d++) top = a[d] > top ? a[d] : top;
for (int k = 0; k < WIDTH; k++) top = tops[k] > top ? tops[k] : top;
for (; c < cols; c++) total += power(a[c] - top);
totals *= powers(tops - top);
for (int k = 0; k < WIDTH; k++) total += totals[k];
"""
    + SCALE
    + WRITTEN_WIDE
)
BLOCKS = (
    """constexpr int64_t BLOCK = 256;
float top = a[0], total = 0.0f;
for (int64_t start = 0; start < cols; start += BLOCK) {
    const int64_t end = start + BLOCK < cols ? start + BLOCK : cols;
    float next = top;
    SIMD(reduction(max : next))
    for (int64_t c = start; c < end; c++) next = a[c] > next ? a[c] : next;
    float part = 0.0f;
    SIMD(reduction(+ : part))
    for (int64_t c = start; c < end; c++) part += power(a[c] - next);
    total = total * power(top - next) + part;
    top = next;
}
"""
    + SCALE
    + WRITTEN
)
BLOCKS_WIDE = (
    """constexpr int64_t BLOCK = 256;
float top = a[0], total = 0.0f;
int64_t c = 0;
for (int64_t start = 0; start < cols; start += BLOCK) {
    const int64_t end = start + BLOCK < cols ? start + BLOCK : cols;
    float next = top;
    lanes tops = lanes{} + top, sums = {};
    for (c = start; c + WIDTH <= end; c += WIDTH) tops = load(a + c) > tops ? load(a + c) : tops;
    for (; c < end; c++) next = a[c] > next ? a[c] : next;
    for (int k = 0; k < WIDTH; k++) next = tops[k] > next ? tops[k] : next;
    float part = 0.0f;
    for (c = start; c + WIDTH <= end; c += WIDTH) sums += powers(load(a + c) - next);
    for (; c < end; c++) part += power(a[c] - next);
    for (int k = 0; k < WIDTH; k++) part += sums[k];
    total = total * power(top - next) + part;
    top = next;
}
"""
    + SCALE
    + WRITTEN_WIDE
)
ROWS = {
    "three": {"plain": THREE, "simd": THREE, "wide": THREE_WIDE},
    "again": {"plain": AGAIN, "simd": AGAIN, "wide": AGAIN_WIDE},
    "online": {"plain": ONLINE, "simd": ONLINE_SIMD, "wide": ONLINE_WIDE},
    "blocks": {"plain": BLOCKS, "simd": BLOCKS, "wide": BLOCKS_WIDE},
}
CANDIDATE = '''import torch

from kernelwright import native

lib = native.cpp(
    r"""
HELPERSextern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
TEAM    for (int64_t r = 0; r < rows; r++) {
        const float* a = x + r * cols;
        float* b = y + r * cols;
ROW    }
}
""",
    [FLAGS],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
'''


def write(answers: Answers) -> str:
    wide = answers["shape"] == "wide"
    own = answers["exp"] == "own"
    helpers = HEAD + (OWN if own else LIBRARY)
    if wide:
        helpers += LANES + (LANES_OWN if own else LANES_LIBRARY)
    row = hinted(ROWS[answers["passes"]][answers["shape"]], answers["shape"] == "simd")
    parts = {
        "HELPERS": helpers,
        "TEAM": TEAM[answers["team"]],
        "ROW": "".join(f"        {line}\n" for line in row.splitlines()),
        "FLAGS": '"-ffast-math"' if answers["sums"] == "loose" else "",
    }
    text = CANDIDATE
    for name, part in parts.items():
        text = text.replace(name, part, 1)
    return text


def slip(text: str, kind: str) -> str:
    right = SCALE.strip()
    wrong = {"typo": "const float scal = 1.0f / total;", "wrong": "const float scale = 1.0f / (total - 1.0f);"}
    assert right in text
    return text.replace(right, wrong[kind])


SOFTMAX = Family(
    name="softmax",
    task=Path(__file__).parent / "tasks" / "softmax_1024x1000.py",
    choices=CHOICES,
    makes_sense=lambda answers: True,
    write=write,
    slip=slip,
)
