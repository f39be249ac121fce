"""The product of two matrices: which loops, which tile of sums, blocks, packed panels, hints, by how many."""

from __future__ import annotations

from pathlib import Path

from tests.simulated._family import Answers, Family, hinted

CHOICES = {
    "loops": ("dot", "rows", "2x16", "4x32", "8x16", "8x48"),
    "blocks": ("none", "inner"),
    "pack": ("none", "panels"),
    "hint": ("plain", "simd"),
    "team": ("alone", "static", "dynamic"),
}
UNTILED = ("dot", "rows")
TEAM = {
    "alone": "",
    "static": "#pragma omp parallel for schedule(static)\n",
    "dynamic": "#pragma omp parallel for schedule(dynamic, 1)\n",
}
HEAD = "#include <algorithm>\n#include <cstdint>\n#include <vector>\n\n"
# The inner dimension is `k`, gone over in one go or in blocks of INNER; FROM and TO are the ends of a block.
DOT = """for (int64_t j = 0; j < n; j++) {
    float sum = 0.0f;
    SIMD(reduction(+ : sum))
    for (int64_t p = FROM; p < TO; p++) sum += a[i * k + p] * b[p * n + j];
    c[i * n + j] ADDED sum;
}
"""
ROWS = """for (int64_t p = FROM; p < TO; p++) {
    const float left = a[i * k + p];
    SIMD()
    for (int64_t j = 0; j < n; j++) c[i * n + j] += left * b[p * n + j];
}
"""
ZERO = "for (int64_t j = 0; j < n; j++) c[i * n + j] = 0.0f;\n"
STRIPS = """for (int64_t i0 = 0; i0 < m; i0 += STRIP) {
    const int64_t last = std::min(i0 + STRIP, m);
    for (int64_t i = i0; i < last; i++)
        ZERO
    for (int64_t p0 = 0; p0 < k; p0 += INNER) {
        const int64_t end = std::min(p0 + INNER, k);
        for (int64_t i = i0; i < last; i++) {
BODY
        }
    }
}
"""
ONE_BY_ONE = """for (int64_t i = 0; i < m; i++) {
BODY
}
"""
PANELS = """std::vector<float> panels((n + NR - 1) / NR * NR * k);
TEAMfor (int64_t j0 = 0; j0 < n; j0 += NR)
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < NR; j++)
            panels[j0 * k + p * NR + j] = j0 + j < n ? b[p * n + j0 + j] : 0.0f;
"""
TILES = """TEAMfor (int64_t i0 = 0; i0 < m; i0 += MR) {
    for (int64_t j0 = 0; j0 < n; j0 += NR) {
        if (i0 + MR > m || j0 + NR > n) {
            edge(a, b, c, i0, std::min(i0 + MR, m), j0, std::min(j0 + NR, n), n, k);
            continue;
        }
        float acc[MR][NR] = {};
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < MR; i++) {
                SIMD()
                for (int64_t j = 0; j < NR; j++) acc[i][j] += a[(i0 + i) * k + p] * RIGHT;
            }
        for (int64_t i = 0; i < MR; i++)
            for (int64_t j = 0; j < NR; j++) c[(i0 + i) * n + j0 + j] = acc[i][j];
    }
}
"""
BLOCKED_TILES = """TEAMfor (int64_t s0 = 0; s0 < m; s0 += STRIP) {
    const int64_t strip = std::min(s0 + STRIP, m);
    for (int64_t p0 = 0; p0 < k; p0 += INNER) {
        const int64_t end = std::min(p0 + INNER, k);
        for (int64_t j0 = 0; j0 < n; j0 += NR)
            for (int64_t i0 = s0; i0 < strip; i0 += MR) {
                if (i0 + MR > strip || j0 + NR > n) {
                    if (p0 == 0) edge(a, b, c, i0, std::min(i0 + MR, strip), j0, std::min(j0 + NR, n), n, k);
                    continue;
                }
                float acc[MR][NR] = {};
                for (int64_t p = p0; p < end; p++)
                    for (int64_t i = 0; i < MR; i++) {
                        SIMD()
                        for (int64_t j = 0; j < NR; j++) acc[i][j] += a[(i0 + i) * k + p] * RIGHT;
                    }
                for (int64_t i = 0; i < MR; i++)
                    for (int64_t j = 0; j < NR; j++)
                        c[(i0 + i) * n + j0 + j] = acc[i][j] + (p0 ? c[(i0 + i) * n + j0 + j] : 0.0f);
            }
    }
}
"""
EDGE = """static void edge(const float* a, const float* b, float* c, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                 int64_t n, int64_t k) {
    for (int64_t i = i0; i < i1; i++) {
        for (int64_t j = j0; j < j1; j++) c[i * n + j] = 0.0f;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = j0; j < j1; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}

"""
CANDIDATE = '''import torch

from kernelwright import native

lib = native.cpp(
    r"""
HELPERSextern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
WORK}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        c = torch.empty(a.shape[0], b.shape[1])
        lib.matmul(a, b, c, a.shape[0], b.shape[1], a.shape[1])
        return c
'''


def write(answers: Answers) -> str:
    helpers, work = _untiled(answers) if answers["loops"] in UNTILED else _tiled(answers)
    work = hinted(work.replace("TEAM", TEAM[answers["team"]]), answers["hint"] == "simd")
    return CANDIDATE.replace("HELPERS", HEAD + helpers, 1).replace("WORK", _indented(work, 4), 1)


def _untiled(answers: Answers) -> tuple[str, str]:
    blocked, dot = answers["blocks"] == "inner", answers["loops"] == "dot"
    ends = {"FROM": "p0", "TO": "end", "ADDED": "+="} if blocked else {"FROM": "0", "TO": "k", "ADDED": "="}
    body = DOT if dot else ROWS
    if not dot and not blocked:
        body = ZERO + body
    for name, part in ends.items():
        body = body.replace(name, part)
    frame = STRIPS.replace("ZERO", ZERO.strip()) if blocked else ONE_BY_ONE
    depth = 12 if blocked else 4
    constants = "constexpr int64_t STRIP = 32, INNER = 64;\n\n" if blocked else ""
    return constants, "TEAM" + frame.replace("BODY\n", _indented(body, depth))


def _tiled(answers: Answers) -> tuple[str, str]:
    height, width = answers["loops"].split("x")
    blocked, packed = answers["blocks"] == "inner", answers["pack"] == "panels"
    constants = f"constexpr int64_t MR = {height}, NR = {width}" + (", STRIP = 64, INNER = 128" if blocked else "")
    work = BLOCKED_TILES if blocked else TILES
    right = "panels[j0 * k + p * NR + j]" if packed else "b[p * n + j0 + j]"
    return f"{constants};\n\n{EDGE}", (PANELS if packed else "") + work.replace("RIGHT", right)


def _indented(text: str, depth: int) -> str:
    return "".join(f"{' ' * depth}{line}\n" for line in text.splitlines())


def slip(text: str, kind: str) -> str:
    """A name that nobody declared, or an index that leaves the first product out."""
    if kind == "typo":
        return text.replace("b[p * n + j", "bb[p * n + j")
    return text.replace("p = 0;", "p = 1;").replace("p = p0;", "p = p0 + 1;")


def makes_sense(answers: Answers) -> bool:
    return answers["pack"] == "none" or answers["loops"] not in UNTILED


MATMUL = Family(
    name="matmul",
    task=Path(__file__).parent / "tasks" / "matmul_256x384x192.py",
    choices=CHOICES,
    makes_sense=makes_sense,
    write=write,
    slip=slip,
)
