"""Triton."""

from tests.archive_labels import Labelled

_HEAD = """import torch
import triton
import triton.language as tl


"""


def _triton(name: str, cell: tuple[int, int, int], why: str, kernels: str, launch: str, trap: bool = False) -> Labelled:
    forward = "\n".join(f"        {line}" for line in launch.strip().split("\n"))
    model = "\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x, w, y, m, n, k):\n"
    return Labelled(name, cell, why, f"{_HEAD}{kernels.strip()}\n{model}{forward}\n        return y\n", trap)


_DOT_LOOP = """
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        a = tl.load(a_ptr + row[:, None] * k + start + inner[None, :])
        b = tl.load(b_ptr + (start + inner)[:, None] * n + col[None, :])
        acc += tl.dot(a, b)
"""

KERNELS = [
    _triton(
        "add",
        (0, 0, 0),
        "a map over blocks, as Triton gives it",
        """
@triton.jit
def add(x_ptr, w_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    w = tl.load(w_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x + w, mask=at < n)
""",
        "add[(triton.cdiv(n, 1024),)](x, w, y, n, BLOCK=1024)",
    ),
    _triton(
        "gelu_dropout_map",
        (0, 0, 0),
        "several functions of one element are still one map",
        """
@triton.jit
def kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x_ptr + at, mask=at < n, other=0.0)
    v = 0.5 * v * (1.0 + tl.erf(v * 0.70710678))
    keep = tl.rand(seed, at) > p
    tl.store(y_ptr + at, tl.where(keep, v / (1.0 - p), 0.0), mask=at < n)
""",
        "kernel[(triton.cdiv(n, 512),)](x, y, n, 0.1, 7, BLOCK=512, num_warps=4)",
    ),
    _triton(
        "relu_evict_first",
        (1, 0, 0),
        "accesses with a hint for the cache",
        """
@triton.jit
def relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, eviction_policy="evict_first")
    tl.store(y_ptr + at, tl.maximum(x, 0.0), mask=at < n)
""",
        "relu[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)",
    ),
    _triton(
        "scale_contiguous_hint",
        (1, 0, 0),
        "the compiler is told that addresses are neighbours",
        """
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.max_contiguous(tl.multiple_of(at, 8), 8)
    tl.store(y_ptr + at, 3.0 * tl.load(x_ptr + at, mask=at < n), mask=at < n)
""",
        "scale[(triton.cdiv(n, 2048),)](x, y, n, BLOCK=2048)",
    ),
    _triton(
        "copy_block_pointer",
        (1, 0, 0),
        "accesses shaped by block pointers",
        """
@triton.jit
def copy(x_ptr, y_ptr, m, n, BM: tl.constexpr, BN: tl.constexpr):
    start = (tl.program_id(0) * BM, tl.program_id(1) * BN)
    x_block = tl.make_block_ptr(x_ptr, (m, n), (n, 1), start, (BM, BN), (1, 0))
    y_block = tl.make_block_ptr(y_ptr, (m, n), (n, 1), start, (BM, BN), (1, 0))
    tl.store(y_block, tl.load(x_block, boundary_check=(0, 1)) + 1.0, boundary_check=(0, 1))
""",
        "copy[(m // 64, n // 64)](x, y, m, n, BM=64, BN=64)",
    ),
    _triton(
        "softmax_row_in_a_block",
        (0, 1, 2),
        "a maximum and a sum, then used; lanes exchange values",
        """
@triton.jit
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=-float("inf"))
    raised = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + at, raised / tl.sum(raised, axis=0), mask=at < n)
""",
        "softmax[(m,)](x, y, n, BLOCK=triton.next_power_of_2(n))",
    ),
    _triton(
        "row_sum_loop",
        (0, 0, 2),
        "one reduction, in a loop and then over lanes",
        """
@triton.jit
def row_sum(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    tl.store(y_ptr + row, tl.sum(sums, axis=0))
""",
        "row_sum[(m,)](x, y, n, BLOCK=1024)",
    ),
    _triton(
        "matmul_dot",
        (2, 3, 1),
        "tiles through the matrix engine",
        "@triton.jit\ndef matmul(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):"
        + _DOT_LOOP
        + "    tl.store(c_ptr + row[:, None] * n + col[None, :], acc)",
        "matmul[(m // 64, n // 64)](x, w, y, n, k, BM=64, BN=64, BK=32)",
    ),
    _triton(
        "linear_relu_dot",
        (2, 3, 1),
        "as above; the activation adds nothing above the engine",
        "@triton.jit\ndef matmul(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):"
        + _DOT_LOOP
        + "    tl.store(c_ptr + row[:, None] * n + col[None, :], tl.maximum(acc, 0.0))",
        "matmul[(m // 64, n // 64)](x, w, y, n, k, BM=64, BN=64, BK=32)",
    ),
    _triton(
        "matmul_tuned_stages",
        (3, 3, 1),
        "the loop is pipelined by the configurations it is tuned over",
        """
CONFIGS = [
    triton.Config({"BM": 128, "BN": 64, "BK": 32}, num_stages=4, num_warps=4),
    triton.Config({"BM": 64, "BN": 64, "BK": 64}, num_stages=3, num_warps=4),
]


@triton.autotune(configs=CONFIGS, key=["n", "k"])
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):"""
        + _DOT_LOOP
        + "    tl.store(c_ptr + row[:, None] * n + col[None, :], acc)",
        "matmul[lambda meta: (m // meta['BM'], n // meta['BN'])](x, w, y, n, k)",
    ),
    _triton(
        "matmul_pipelined_range",
        (3, 3, 1),
        "the loop says itself how deep it is pipelined",
        "@triton.jit\ndef matmul(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):"
        + _DOT_LOOP.replace("range(0, k, BK)", "tl.range(0, k, BK, num_stages=3)")
        + "    tl.store(c_ptr + row[:, None] * n + col[None, :], acc)",
        "matmul[(m // 64, n // 64)](x, w, y, n, k, BM=64, BN=64, BK=32)",
    ),
    _triton(
        "matmul_descriptors",
        (3, 3, 1),
        "tiles come by TMA through tensor descriptors",
        """
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [BM, BN])
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(a_desc.load([row, start]), b_desc.load([start, col]), acc)
    c_desc.store([row, col], acc.to(tl.float16))
""",
        "matmul[(m // 128, n // 128)](x, w, y, m, n, k, BM=128, BN=128, BK=64)",
    ),
    _triton(
        "matmul_split_k_atomic",
        (2, 3, 3),
        "programs share a result and add to it by atomics",
        """
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.program_id(2) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK * SPLIT):
        a = tl.load(a_ptr + row[:, None] * k + (start + inner)[None, :])
        b = tl.load(b_ptr + (start + inner)[:, None] * n + col[None, :])
        acc = tl.dot(a, b, acc)
    tl.atomic_add(c_ptr + row[:, None] * n + col[None, :], acc)
""",
        "matmul[(m // 64, n // 64, 4)](x, w, y, n, k, BM=64, BN=64, BK=32, SPLIT=4)",
    ),
    _triton(
        "matmul_persistent",
        (2, 3, 3),
        "programs stay and take tile after tile",
        """
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr):
    first = tl.program_id(0)
    across = tl.cdiv(n, BN)
    for tile in range(first, tl.cdiv(m, BM) * across, SMS):
        row = tile // across * BM + tl.arange(0, BM)
        col = tile % across * BN + tl.arange(0, BN)
        inner = tl.arange(0, BK)
        acc = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            a = tl.load(a_ptr + row[:, None] * k + (start + inner)[None, :])
            b = tl.load(b_ptr + (start + inner)[:, None] * n + col[None, :])
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + row[:, None] * n + col[None, :], acc)
""",
        "matmul[(132,)](x, w, y, m, n, k, BM=64, BN=64, BK=32, SMS=132)",
    ),
    _triton(
        "matmul_outer_products",
        (2, 0, 0),
        "a tile of sums by outer products, without the engine",
        """
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for p in range(k):
        a = tl.load(a_ptr + row * k + p)
        b = tl.load(b_ptr + p * n + col)
        acc += a[:, None] * b[None, :]
    tl.store(c_ptr + row[:, None] * n + col[None, :], acc)
""",
        "matmul[(m // 32, n // 32)](x, w, y, n, k, BM=32, BN=32)",
    ),
    _triton(
        "matvec",
        (0, 0, 2),
        "a product as a reduction over lanes",
        """
@triton.jit
def matvec(a_ptr, x_ptr, y_ptr, n, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    sums = tl.zeros((BM,), tl.float32)
    for start in range(0, n, BN):
        col = start + tl.arange(0, BN)
        a = tl.load(a_ptr + row[:, None] * n + col[None, :], mask=col[None, :] < n, other=0.0)
        x = tl.load(x_ptr + col, mask=col < n, other=0.0)
        sums += tl.sum(a * x[None, :], axis=1)
    tl.store(y_ptr + row, sums)
""",
        "matvec[(m // 16,)](w, x, y, n, BM=16, BN=128)",
    ),
    _triton(
        "attention_in_one_pass",
        (2, 3, 2),
        "two products joined by a running rescale; maxima and sums over lanes",
        """
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, y_ptr, length, scale, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    lanes = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + lanes[None, :])
    top = tl.full((BQ,), -float("inf"), tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    acc = tl.zeros((BQ, D), tl.float32)
    for start in range(0, length, BK):
        keys = start + tl.arange(0, BK)
        k = tl.load(k_ptr + keys[:, None] * D + lanes[None, :])
        v = tl.load(v_ptr + keys[:, None] * D + lanes[None, :])
        scores = tl.dot(q, tl.trans(k)) * scale
        higher = tl.maximum(top, tl.max(scores, axis=1))
        fade = tl.exp(top - higher)
        shares = tl.exp(scores - higher[:, None])
        total = total * fade + tl.sum(shares, axis=1)
        acc = acc * fade[:, None] + tl.dot(shares.to(v.dtype), v)
        top = higher
    tl.store(y_ptr + rows[:, None] * D + lanes[None, :], acc / total[:, None])
""",
        "attention[(m // 64,)](x, w, w, y, m, 0.125, D=64, BQ=64, BK=32)",
    ),
    _triton(
        "attention_pipelined",
        (3, 3, 2),
        "the same with its loop pipelined by the launch",
        """
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, y_ptr, length, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    lanes = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + lanes[None, :])
    m_i = tl.full((BQ,), -float("inf"), tl.float32)
    l_i = tl.zeros((BQ,), tl.float32)
    acc = tl.zeros((BQ, D), tl.float32)
    for start in range(0, length, BK):
        keys = start + tl.arange(0, BK)
        k = tl.load(k_ptr + lanes[:, None] + keys[None, :] * D)
        qk = tl.dot(q, k)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptr + keys[:, None] * D + lanes[None, :])
        acc = tl.dot(p.to(tl.float16), v, acc)
        m_i = m_ij
    tl.store(y_ptr + rows[:, None] * D + lanes[None, :], acc / l_i[:, None])
""",
        "attention[(m // 128,)](x, w, w, y, m, D=64, BQ=128, BK=64, num_warps=8, num_stages=3)",
    ),
    _triton(
        "softmax_online",
        (0, 2, 2),
        "the sum is corrected as the maximum grows",
        """
@triton.jit
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=-float("inf"))
        higher = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), axis=0)
        top = higher
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + at, mask=at < n)
        tl.store(y_ptr + row * n + at, tl.exp(x - top) / total, mask=at < n)
""",
        "softmax[(m,)](x, y, n, BLOCK=2048)",
    ),
    _triton(
        "softmax_online_pipelined",
        (3, 2, 2),
        "as above, its loads fetched ahead by a pipelined loop",
        """
@triton.jit
def logsumexp(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in tl.range(0, n, BLOCK, num_stages=4):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=-float("inf"))
        higher = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), axis=0)
        top = higher
    tl.store(y_ptr + row, top + tl.log(total))
""",
        "logsumexp[(m,)](x, y, n, BLOCK=1024)",
    ),
    _triton(
        "layernorm_two_passes",
        (0, 1, 2),
        "a mean and squares about it, then used with weights",
        """
@triton.jit
def layernorm(x_ptr, w_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    mean = tl.sum(x, axis=0) / n
    gap = tl.where(at < n, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(gap * gap, axis=0) / n + eps)
    tl.store(y_ptr + row * n + at, gap * scale * tl.load(w_ptr + at, mask=at < n), mask=at < n)
""",
        "layernorm[(m,)](x, w, y, n, 1e-5, BLOCK=1024)",
    ),
    _triton(
        "variance_merged",
        (0, 2, 2),
        "mean and squares travel together through one reduction",
        """
@triton.jit
def merge(mean_a, squares_a, count_a, mean_b, squares_b, count_b):
    gap = mean_b - mean_a
    count = count_a + count_b
    share = tl.where(count == 0.0, 0.0, count_b / count)
    return mean_a + gap * share, squares_a + squares_b + gap * gap * count_a * share, count


@triton.jit
def variance(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    count = (at < n).to(tl.float32)
    mean, squares, all_of_it = tl.reduce((x, tl.zeros_like(x), count), 0, merge)
    tl.store(y_ptr + row, squares / all_of_it)
""",
        "variance[(m,)](x, y, n, BLOCK=1024)",
    ),
    _triton(
        "cumsum",
        (0, 2, 2),
        "a parallel scan",
        """
@triton.jit
def cumsum(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    tl.store(y_ptr + row * n + at, tl.cumsum(x, axis=0), mask=at < n)
""",
        "cumsum[(m,)](x, y, n, BLOCK=2048)",
    ),
    _triton(
        "rmsnorm_persistent",
        (0, 1, 3),
        "programs stay and take row after row",
        """
@triton.jit
def rmsnorm(x_ptr, w_ptr, y_ptr, m, n, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    w = tl.load(w_ptr + at, mask=at < n, other=0.0)
    for row in range(tl.program_id(0), m, tl.num_programs(0)):
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
        scale = tl.rsqrt(tl.sum(x * x, axis=0) / n + eps)
        tl.store(y_ptr + row * n + at, x * scale * w, mask=at < n)
""",
        "rmsnorm[(264,)](x, w, y, m, n, 1e-6, BLOCK=1024)",
    ),
    _triton(
        "histogram_atomic",
        (0, 0, 3),
        "all programs count into one array by atomics",
        """
@triton.jit
def count(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bins = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.atomic_add(y_ptr + bins, 1, mask=at < n)
""",
        "count[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)",
    ),
    _triton(
        "sum_two_launches",
        (0, 0, 3),
        "programs leave sums in memory, a second launch adds them up",
        """
@triton.jit
def partial(x_ptr, parts_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(parts_ptr + tl.program_id(0), tl.sum(x, axis=0))


@triton.jit
def finish(parts_ptr, y_ptr, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    parts = tl.load(parts_ptr + at, mask=at < count, other=0.0)
    tl.store(y_ptr, tl.sum(parts, axis=0))
""",
        """
count = triton.cdiv(n, 4096)
parts = torch.empty(count, device=x.device)
partial[(count,)](x, parts, n, BLOCK=4096)
finish[(1,)](parts, y, count, BLOCK=1024)
""",
    ),
    _triton(
        "transpose",
        (0, 0, 1),
        "a tile is turned between the threads of a program",
        """
@triton.jit
def transpose(x_ptr, y_ptr, m, n, B: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)
    col = tl.program_id(1) * B + tl.arange(0, B)
    x = tl.load(x_ptr + row[:, None] * n + col[None, :])
    tl.store(y_ptr + col[:, None] * m + row[None, :], tl.trans(x))
""",
        "transpose[(m // 32, n // 32)](x, y, m, n, B=32)",
    ),
    _triton(
        "cross_entropy",
        (0, 1, 2),
        "a maximum, a sum, and the target's logit, in one kernel",
        """
@triton.jit
def loss(x_ptr, target_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=-float("inf"))
    top = tl.max(x, axis=0)
    total = tl.sum(tl.exp(x - top), axis=0)
    own = tl.load(x_ptr + row * n + tl.load(target_ptr + row))
    tl.store(y_ptr + row, tl.log(total) + top - own)
""",
        "loss[(m,)](x, w, y, n, BLOCK=1024)",
    ),
    _triton(
        "sort_rows",
        (0, 3, 2),
        "a sorting network over lanes",
        """
@triton.jit
def sort_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=float("inf"))
    tl.store(y_ptr + row * n + at, tl.sort(x), mask=at < n)
""",
        "sort_rows[(m,)](x, y, n, BLOCK=256)",
    ),
    _triton(
        "comments_promise_everything",
        (0, 0, 0),
        "what is in comments and docstrings is not there",
        '''
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Flash attention: tl.dot, tl.atomic_add, tl.sum, eviction_policy="evict_last", num_stages=4."""
    # acc = tl.dot(a, b, acc); tl.atomic_add(y_ptr, acc); persistent over tl.num_programs(0)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)  # pipelined, multiple_of(at, 16)
    tl.store(y_ptr + at, x * x, mask=at < n)
''',
        "kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)",
        True,
    ),
    _triton(
        "a_dot_kernel_never_launched",
        (0, 0, 0),
        "only what is launched counts",
        "@triton.jit\ndef fast(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):"
        + _DOT_LOOP
        + """    tl.store(c_ptr + row[:, None] * n + col[None, :], acc)


@triton.jit
def double(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2.0 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def with_tensor_cores(x, w, y, m, n, k):
    fast[(m // 64, n // 64)](x, w, y, n, k, BM=64, BN=64, BK=32)
""",
        "double[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)",
        True,
    ),
    _triton(
        "stages_without_a_loop",
        (0, 0, 0),
        "there is nothing to pipeline",
        """
@triton.jit
def exp(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.exp(tl.load(x_ptr + at, mask=at < n)), mask=at < n)
""",
        "exp[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024, num_stages=4, num_warps=8)",
        True,
    ),
    _triton(
        "names_promise_everything",
        (0, 0, 0),
        "names are not what they say",
        """
@triton.jit
def warp_reduce(tensor_core_tile):
    return tensor_core_tile + 1.0


@triton.jit
def flash_attention_persistent_atomic(x_ptr, y_ptr, n, NUM_STAGES: tl.constexpr, BLOCK: tl.constexpr):
    shared_tile = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    online_max = tl.load(x_ptr + shared_tile, mask=shared_tile < n)
    tl.store(y_ptr + shared_tile, warp_reduce(online_max), mask=shared_tile < n)
""",
        "flash_attention_persistent_atomic[(triton.cdiv(n, 1024),)](x, y, n, NUM_STAGES=4, BLOCK=1024)",
        True,
    ),
    _triton(
        "a_dead_branch_and_a_dead_value",
        (0, 0, 0),
        "neither the branch nor the sum reaches the result",
        """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    total = tl.sum(x, axis=0)
    scaled = total / n
    if False:
        tl.atomic_add(y_ptr, tl.max(x, axis=0))
    tl.store(y_ptr + at, x + 1.0, mask=at < n)
""",
        "kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)",
        True,
    ),
    _triton(
        "a_stride_over_elements",
        (0, 0, 0),
        "a loop over blocks of elements coordinates nothing",
        """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(y_ptr + at, tl.abs(tl.load(x_ptr + at, mask=at < n)), mask=at < n)
""",
        "kernel[(132,)](x, y, n, BLOCK=1024)",
        True,
    ),
]
