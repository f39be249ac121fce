"""Causal attention: in how many passes, how many queries and keys at a time, packed how, whose exponential, how wide.

The parts below are put together to one function. In them `SIMD(...)` stands for a hint, `AT(i, j)` for the score of the
i-th query and the j-th key, FROM and TO for the keys that are gone over: all, or those of a block.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.simulated._family import Answers, Family, hinted

CHOICES = {
    "passes": ("matrix", "rows", "online"),
    "queries": ("1", "4", "8"),
    "blocks": ("all", "128", "64"),
    "keys": ("given", "panels"),
    "exp": ("library", "own"),
    "shape": ("plain", "simd", "lanes8", "lanes16"),
    "sums": ("1", "2", "4"),
    "team": ("alone", "heads", "dynamic"),
    "mask": ("computed", "skipped"),
}
WIDE = {"lanes8": 8, "lanes16": 16}
# How many neighbours a tile of plain loops holds, for every sum that is asked for.
NEIGHBOURS = 16
TEAM = {
    "alone": "",
    "heads": "#pragma omp parallel for schedule(static)\n",
    "dynamic": "#pragma omp parallel for collapse(2) schedule(dynamic, 1)\n",
}
HEAD = """#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

"""

# The exponential, for v <= 0.
LIBRARY = "static inline float power(float v) { return std::exp(v); }\n\n"
OWN = """static inline float power(float v) {
    v = v < -87.0f ? -87.0f : v;
    const int32_t n = (int32_t)(v * 1.44269504f - 0.5f);
    const float f = (float)n, t = v - f * 0.693359375f + f * 2.12194440e-4f;
    const float q = 0.166666667f + t * (0.0416666f + t * (0.00833336f + t * 0.0013888f));
    const float p = 1.0f + t * (1.0f + t * (0.5f + t * q));
    return p * std::bit_cast<float>((n + 127) << 23);
}

"""
LANES = """typedef float lanes __attribute__((vector_size(4 * W)));
typedef int32_t whole __attribute__((vector_size(4 * W)));

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

static inline float largest(lanes v) {
    float top = v[0];
    for (int64_t n = 1; n < W; n++) top = v[n] > top ? v[n] : top;
    return top;
}

"""
LANES_LIBRARY = """static inline lanes powers(lanes v) {
    for (int64_t n = 0; n < W; n++) v[n] = std::exp(v[n]);
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

# Keys side by side in panels, so that neighbours in memory are those of neighbouring keys.
PACKED = """std::vector<float> panels(heads * T * D);
TEAMfor (int64_t h = 0; h < heads; h++)
    for (int64_t j0 = 0; j0 < T; j0 += TILE)
        for (int64_t d = 0; d < D; d++)
            for (int64_t c = 0; c < TILE; c++)
                panels[(h * T + j0) * D + d * TILE + c] = keys[(h * T + j0 + c) * D + d];
"""

# Scores of the queries of a block, as dot products. NAMES, PRODUCTS and WRITTEN: one a sum.
DOTS = """for (int64_t j = FROM; j < TO; j += N)
    for (int64_t i = 0; i < QB; i++) {
        float NAMES;
        SIMD(reduction(+ : SUMS))
        for (int64_t d = 0; d < D; d++) {
PRODUCTS        }
WRITTEN    }
"""
DOTS_WIDE = """for (int64_t j = FROM; j < TO; j += N) {
    lanes sum[QB][N] = {};
    for (int64_t d = 0; d < D; d += W)
        for (int64_t n = 0; n < N; n++) {
            const lanes right = load(k + (j + n) * D + d);
            for (int64_t i = 0; i < QB; i++) sum[i][n] += load(q + i * D + d) * right;
        }
    for (int64_t i = 0; i < QB; i++)
        for (int64_t n = 0; n < N; n++) AT(i, j + n) = added(sum[i][n]) * SCALE;
}
"""
# Scores as a tile of queries by keys.
TILES = """for (int64_t j = FROM; j < TO; j += TILE) {
    float sum[QB][TILE] = {};
    for (int64_t d = 0; d < D; d++)
        for (int64_t i = 0; i < QB; i++) {
            SIMD()
            for (int64_t c = 0; c < TILE; c++) sum[i][c] += q[i * D + d] * k[j * D + d * TILE + c];
        }
    for (int64_t i = 0; i < QB; i++)
        for (int64_t c = 0; c < TILE; c++) AT(i, j + c) = sum[i][c] * SCALE;
}
"""
TILES_WIDE = """for (int64_t j = FROM; j < TO; j += TILE) {
    lanes sum[QB][N] = {};
    for (int64_t d = 0; d < D; d++) {
        lanes right[N];
        for (int64_t n = 0; n < N; n++) right[n] = load(k + j * D + d * TILE + n * W);
        for (int64_t i = 0; i < QB; i++)
            for (int64_t n = 0; n < N; n++) sum[i][n] += q[i * D + d] * right[n];
    }
    for (int64_t i = 0; i < QB; i++)
        for (int64_t n = 0; n < N; n++) store(&AT(i, j + n * W), sum[i][n] * SCALE);
}
"""
MASKED = """for (int64_t i = 0; i < QB; i++)
    for (int64_t j = FIRST; j < TO; j++) AT(i, j) = -INFINITY;
"""

# The softmax of rows that are there as a whole.
SOFTENED = """for (int64_t i = 0; i < QB; i++) {
    float top = AT(i, 0), total = 0.0f;
    SIMD(reduction(max : top))
    for (int64_t c = 0; c < limit; c++) top = AT(i, c) > top ? AT(i, c) : top;
    SIMD(reduction(+ : total))
    for (int64_t c = 0; c < limit; c++) {
        AT(i, c) = power(AT(i, c) - top);
        total += AT(i, c);
    }
    const float scale = 1.0f / total;
    SIMD()
    for (int64_t c = 0; c < limit; c++) AT(i, c) *= scale;
}
"""
SOFTENED_WIDE = """for (int64_t i = 0; i < QB; i++) {
    lanes tops = load(&AT(i, 0)), sums = {};
    for (int64_t c = W; c < limit; c += W) tops = load(&AT(i, c)) > tops ? load(&AT(i, c)) : tops;
    const float top = largest(tops);
    for (int64_t c = 0; c < limit; c += W) {
        const lanes e = powers(load(&AT(i, c)) - top);
        store(&AT(i, c), e);
        sums += e;
    }
    const float scale = 1.0f / added(sums);
    for (int64_t c = 0; c < limit; c += W) store(&AT(i, c), load(&AT(i, c)) * scale);
}
"""
# The same block by block: what was summed up fades as the largest grows.
FADED = """for (int64_t i = 0; i < QB; i++) {
    float next = tops[i], part = 0.0f;
    SIMD(reduction(max : next))
    for (int64_t c = from; c < to; c++) next = AT(i, c) > next ? AT(i, c) : next;
    SIMD(reduction(+ : part))
    for (int64_t c = from; c < to; c++) {
        AT(i, c) = power(AT(i, c) - next);
        part += AT(i, c);
    }
    const float fade = power(tops[i] - next);
    totals[i] = totals[i] * fade + part;
    tops[i] = next;
    SIMD()
    for (int64_t d = 0; d < D; d++) o[i * D + d] *= fade;
}
"""
FADED_WIDE = """for (int64_t i = 0; i < QB; i++) {
    lanes most = load(&AT(i, from)), sums = {};
    for (int64_t c = from + W; c < to; c += W) most = load(&AT(i, c)) > most ? load(&AT(i, c)) : most;
    const float next = std::max(tops[i], largest(most));
    for (int64_t c = from; c < to; c += W) {
        const lanes e = powers(load(&AT(i, c)) - next);
        store(&AT(i, c), e);
        sums += e;
    }
    const float fade = power(tops[i] - next);
    totals[i] = totals[i] * fade + added(sums);
    tops[i] = next;
    for (int64_t d = 0; d < D; d += W) store(o + i * D + d, load(o + i * D + d) * fade);
}
"""

# Values added up by the weights.
MIXED = """for (int64_t j = FROM; j < TO; j++)
    for (int64_t i = 0; i < QB; i++) {
        const float weight = AT(i, j);
        for (int64_t d = 0; d < D; d++) o[i * D + d] += weight * v[j * D + d];
    }
"""
MIXED_SIMD = """for (int64_t d0 = 0; d0 < D; d0 += TILE) {
    float sum[QB][TILE];
    for (int64_t i = 0; i < QB; i++)
        for (int64_t c = 0; c < TILE; c++) sum[i][c] = o[i * D + d0 + c];
    for (int64_t j = FROM; j < TO; j++)
        for (int64_t i = 0; i < QB; i++) {
            const float weight = AT(i, j);
            SIMD()
            for (int64_t c = 0; c < TILE; c++) sum[i][c] += weight * v[j * D + d0 + c];
        }
    for (int64_t i = 0; i < QB; i++)
        for (int64_t c = 0; c < TILE; c++) o[i * D + d0 + c] = sum[i][c];
}
"""
MIXED_WIDE = """for (int64_t d0 = 0; d0 < D; d0 += TILE) {
    lanes sum[QB][N];
    for (int64_t i = 0; i < QB; i++)
        for (int64_t n = 0; n < N; n++) sum[i][n] = load(o + i * D + d0 + n * W);
    for (int64_t j = FROM; j < TO; j++) {
        lanes right[N];
        for (int64_t n = 0; n < N; n++) right[n] = load(v + j * D + d0 + n * W);
        for (int64_t i = 0; i < QB; i++) {
            const float weight = AT(i, j);
            for (int64_t n = 0; n < N; n++) sum[i][n] += weight * right[n];
        }
    }
    for (int64_t i = 0; i < QB; i++)
        for (int64_t n = 0; n < N; n++) store(o + i * D + d0 + n * W, sum[i][n]);
}
"""

# Where a block of queries finds what it needs.
NEST = """TEAMfor (int64_t h = 0; h < heads; h++)
    for (int64_t q0 = 0; q0 < T; q0 += QB) {
BODY
    }
"""
QUERIES = "const float* q = queries + (h * T + q0) * D;\n"
KEYS = {"given": "const float* k = keys + h * T * D;\n", "panels": "const float* k = panels.data() + h * T * D;\n"}
VALUES = "const float* v = values + h * T * D;\n"
RESULT = "float* o = out + (h * T + q0) * D;\n"
LIMIT = {
    "computed": "const int64_t limit = T;\n",
    "skipped": "const int64_t limit = (q0 + QB + STEP - 1) / STEP * STEP;\n",
}
MATRIX = "std::vector<float> matrix(heads * T * T);\n"
OF_MATRIX = "float* s = matrix.data() + (h * T + q0) * T;\n"
EMPTY = "for (int64_t n = 0; n < QB * D; n++) o[n] = 0.0f;\n"
BLOCK = """for (int64_t from = 0; from < limit; from += KB) {
    const int64_t to = std::min(from + KB, limit);
BODY
}
"""
BEGUN = """float tops[QB], totals[QB], s[QB * KB], o[QB * D];
for (int64_t i = 0; i < QB; i++) tops[i] = -INFINITY, totals[i] = 0.0f;
"""
ENDED = """for (int64_t i = 0; i < QB; i++) {
    const float scale = 1.0f / totals[i];
    for (int64_t d = 0; d < D; d++) out[(h * T + q0 + i) * D + d] = o[i * D + d] * scale;
}
"""
CANDIDATE = '''import torch

from kernelwright import native

lib = native.cpp(
    r"""
HELPERSextern "C" void attention(const float* queries, const float* keys, const float* values, float* out,
                          int64_t heads) {
WORK}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        if q.shape[1:] != (256, 64):
            raise ValueError(f"written for 256 positions of width 64, not for {tuple(q.shape)}")
        out = torch.empty_like(q)
        lib.attention(q, k, v, out, q.shape[0])
        return out
'''
_AT = re.compile(r"AT\(([^,()]+), ([^()]+)\)")
_SCALE = re.compile(r"const float scale = 1\.0f / (.+);")


def write(answers: Answers) -> str:
    passes = {"matrix": _matrix, "rows": _rows, "online": _online}[answers["passes"]]
    work = (PACKED if answers["keys"] == "panels" else "") + passes(answers)
    work = hinted(work.replace("TEAM", TEAM[answers["team"]]), answers["shape"] == "simd")
    place = r"s[\1 * KB + \2 - from]" if answers["passes"] == "online" else r"s[\1 * T + \2]"
    work = _indented(_AT.sub(place, work), 4)
    return CANDIDATE.replace("HELPERS", _helpers(answers), 1).replace("WORK", work, 1)


def _matrix(answers: Answers) -> str:
    """Three goes over all heads, between which the whole matrix of scores lies in memory."""
    limit = LIMIT[answers["mask"]]
    scored = QUERIES + KEYS[answers["keys"]] + OF_MATRIX + limit + _all_keys(_scores(answers)) + _masked()
    mixed = VALUES + RESULT + OF_MATRIX + limit + EMPTY + _all_keys(_mixed(answers))
    return MATRIX + "".join(_in(NEST, body, 8) for body in (scored, OF_MATRIX + limit + _softened(answers), mixed))


def _rows(answers: Answers) -> str:
    """One go, with the scores of a block of queries at hand."""
    over = _all_keys if answers["blocks"] == "all" else _by_blocks
    body = QUERIES + KEYS[answers["keys"]] + VALUES + RESULT + LIMIT[answers["mask"]] + "float s[QB * T];\n"
    body += over(_scores(answers)) + _masked() + _softened(answers) + EMPTY + over(_mixed(answers))
    return _in(NEST, body, 8)


def _online(answers: Answers) -> str:
    """One go, with the scores of a block of queries and a block of keys at hand."""
    masked = MASKED.replace("FIRST", "std::max(from, q0 + i + 1)")
    block = _by_blocks(_scores(answers) + masked + (FADED_WIDE if _is_wide(answers) else FADED) + _mixed(answers))
    body = QUERIES + KEYS[answers["keys"]] + VALUES + LIMIT[answers["mask"]] + BEGUN + EMPTY + block + ENDED
    return _in(NEST, body, 8)


def _scores(answers: Answers) -> str:
    if answers["keys"] == "panels":
        return TILES_WIDE if _is_wide(answers) else TILES
    return DOTS_WIDE if _is_wide(answers) else _dots(int(answers["sums"]))


def _dots(number: int) -> str:
    """Dot products of a query with so many keys at once, each summed up by itself."""
    rows = ["j", *(f"(j + {one})" for one in range(1, number))]
    sums = [f"sum{one}" for one in range(number)]
    pairs = list(zip(sums, rows, strict=True))
    products = "".join(f"            {name} += q[i * D + d] * k[{row} * D + d];\n" for name, row in pairs)
    written = "".join(f"        AT(i, {row.strip('()')}) = {name} * SCALE;\n" for name, row in pairs)
    text = DOTS.replace("NAMES", " = 0.0f, ".join(sums) + " = 0.0f").replace("SUMS", ", ".join(sums))
    return text.replace("PRODUCTS", products).replace("WRITTEN", written)


def _masked() -> str:
    return _all_keys(MASKED.replace("FIRST", "q0 + i + 1"))


def _softened(answers: Answers) -> str:
    return SOFTENED_WIDE if _is_wide(answers) else SOFTENED


def _mixed(answers: Answers) -> str:
    return {"plain": MIXED, "simd": MIXED_SIMD}.get(answers["shape"], MIXED_WIDE)


def _all_keys(text: str) -> str:
    return text.replace("FROM", "0").replace("TO", "limit")


def _by_blocks(text: str) -> str:
    return _in(BLOCK, text.replace("FROM", "from").replace("TO", "to"), 4)


def _helpers(answers: Answers) -> str:
    own = answers["exp"] == "own"
    text = HEAD + _constants(answers) + (OWN if own else LIBRARY)
    return text + LANES + (LANES_OWN if own else LANES_LIBRARY) if _is_wide(answers) else text


def _constants(answers: Answers) -> str:
    """Positions, width of a head, queries and keys at a time, vectors of sums, and by how many keys loops end."""
    number, lanes = int(answers["sums"]), WIDE.get(answers["shape"], NEIGHBOURS)
    steps = {"panels": number * lanes, "given": max(number, lanes if _is_wide(answers) else 1)}
    sizes = {"T": 256, "D": 64, "QB": answers["queries"], "KB": answers["blocks"], "N": number, "W": lanes}
    sizes |= {"TILE": number * lanes, "STEP": steps[answers["keys"]]}
    named = ", ".join(f"{name} = {size}" for name, size in sizes.items() if size != "all")
    return f"constexpr int64_t {named};\nconstexpr float SCALE = 0.125f;\n\n"


def _is_wide(answers: Answers) -> bool:
    return answers["shape"] in WIDE


def _in(frame: str, body: str, depth: int) -> str:
    return frame.replace("BODY\n", _indented(body, depth))


def _indented(text: str, depth: int) -> str:
    return "".join(f"{' ' * depth}{line}\n" for line in text.splitlines())


def slip(text: str, kind: str) -> str:
    """A name that nobody declared, or one too many in what is divided by."""
    wrong = {"typo": r"const float scal = 1.0f / \1;", "wrong": r"const float scale = 1.0f / (1.0f + \1);"}
    made, number = _SCALE.subn(wrong[kind], text)
    assert number
    return made


def makes_sense(answers: Answers) -> bool:
    """The matrix has no blocks, going on without the whole row needs some, and plain loops are left to the compiler."""
    if answers["shape"] == "plain" and answers["sums"] != "1":
        return False
    whole = answers["blocks"] == "all"
    return {"matrix": whole, "rows": True, "online": not whole}[answers["passes"]]


ATTENTION = Family(
    name="attention",
    task=Path(__file__).parent / "tasks" / "attention_4x256x64.py",
    choices=CHOICES,
    makes_sense=makes_sense,
    write=write,
    slip=slip,
    visited=True,
)
