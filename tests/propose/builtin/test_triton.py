"""What the synthesiser writes in Triton: as text anywhere, judged in the interpreter where that is installed."""

from __future__ import annotations

import ast
import importlib.util
import random
from pathlib import Path

import pytest

from kernelwright.judge import Judge, Status
from kernelwright.propose.builtin import Builtin, CannotWriteError, TritonGenome
from kernelwright.propose.builtin._genome import drawn, read
from kernelwright.propose.builtin._proposer import LANGUAGES, Desk
from kernelwright.tasks import Task, load_task
from tests.propose.builtin.references import REFERENCES, reference, source_of

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="triton is not installed: make fetch-triton"
)
# So small that every row is cut, looped over, held in part and shared.
TINY = TritonGenome(block=512, tile=1024, tile_warps=2, columns=32, chip=4096, hold=8192, parts=512, stages=2)
FAMILIES = ("bias gelu", "layer norm of a sum", "running sums", "sum of columns")


# Sizes of a GPU, which nobody draws here: long rows, few rows, a middle axis, no rows at all.
FULL_SIZE = {
    "torch.softmax(x * 2, -1)": "torch.randn(2048, 300000)",
    "torch.softmax(x, -1)": "torch.randn(3, 3000000)",
    "x.mean(1)": "torch.randn(16, 4096, 257)",
    "torch.tanh(x)": "torch.randn(64, 1000)",
    "F.max_pool2d(x, 3, 1, 1)": "torch.randn(64, 64, 512, 512)",
    "x @ y": "torch.randn(512, 512), torch.randn(512, 512)",
}


def _desk(name: str, folder: Path) -> Desk:
    return _desk_for(reference(name, folder))


def _desk_for(task: Task) -> Desk:
    return Desk(task, Builtin().understand(task), LANGUAGES["triton"])


def _written(result: str, inputs: str, folder: Path, weights: str = "") -> str:
    """The usual genome's text, for sizes that nobody draws here."""
    path = folder / f"task{len(list(folder.iterdir()))}.py"
    path.write_text(source_of(result, inputs, weights))
    return _desk_for(load_task(path)).text(TritonGenome())


@pytest.mark.parametrize("name", FAMILIES)
def test_every_genome_gives_a_text_with_kernels_that_names_it(name: str, tmp_path: Path) -> None:
    desk = _desk(name, tmp_path)
    for number in range(10):
        genome = drawn(random.Random(f"{name} {number}"), TritonGenome)
        text = desk.text(genome)
        defined = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert "ModelNew" in defined
        assert "@triton.jit" in text
        assert read(text, TritonGenome) == genome


def test_a_gene_that_makes_no_difference_has_its_usual_value(tmp_path: Path) -> None:
    settled = _desk("bias gelu", tmp_path).settled(TritonGenome(hold=8192, parts=512, block=2048))
    assert settled == TritonGenome(block=2048)


def test_every_gene_makes_a_difference_somewhere(tmp_path: Path) -> None:
    moot = set(TritonGenome.choices)
    for number, (result, inputs) in enumerate(FULL_SIZE.items()):
        path = tmp_path / f"task{number}.py"
        path.write_text(source_of(result, inputs))
        desk = _desk_for(load_task(path))
        for gene in sorted(moot):
            others = (TritonGenome(**{gene: value}) for value in TritonGenome.choices[gene][1:])
            if any(desk.settled(other) == other for other in others):
                moot.remove(gene)
    assert not moot


def test_what_belongs_together_is_one_kernel(tmp_path: Path) -> None:
    norm = _written("F.group_norm(x, 8, self.w, self.w)", "torch.randn(112, 64, 512, 512)", tmp_path, "torch.randn(64)")
    assert norm.count("@triton.jit\ndef case") == 1


def test_sums_from_behind_are_read_forward_and_scanned_backward(tmp_path: Path) -> None:
    text = _written("torch.cumsum(x.flip(1), 1).flip(1)", "torch.randn(64, 30000)", tmp_path)
    assert text.count("@triton.jit\ndef case") == 1
    assert "reverse=True" in text
    assert "* -1" not in text


def test_sums_of_all_before_go_to_their_place_at_once(tmp_path: Path) -> None:
    result = "torch.cat([torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)], 1)"
    text = _written(result, "torch.randn(64, 30000)", tmp_path)
    assert text.count("torch.empty(") == 1


def test_what_is_picked_from_is_not_written_down(tmp_path: Path) -> None:
    text = _written(
        "torch.log_softmax(x, 1).gather(1, y)", "torch.randn(64, 4096), torch.randint(9, (64, 1))", tmp_path
    )
    assert text.count("@triton.jit\ndef case") == 1
    assert "torch.empty((64, 4096)" not in text


def test_programs_that_read_the_same_of_a_large_weight_follow_each_other(tmp_path: Path) -> None:
    rows, weights = "torch.randn(16, 2097152)", "torch.randn({})"
    assert "i0 = task % 16" in _written("x * self.w", rows, tmp_path, weights.format("2097152"))
    assert "i0 = task // 2048" in _written("x * self.w", rows, tmp_path, weights.format("16, 1"))


def test_padding_is_not_written_down(tmp_path: Path) -> None:
    text = _written("F.avg_pool2d(x, 3, 2, 1) * 2", "torch.randn(64, 64, 512, 512)", tmp_path)
    assert text.count("\ndef case") == 1
    assert text.count("torch.empty(") == 1
    assert "other=0.0" in text


def test_a_padded_copy_stays_where_it_does_not_follow_the_axes(tmp_path: Path) -> None:
    text = _written("F.pad(x, (1, 1, 1, 1)).reshape(66, -1).sum(0)", "torch.randn(64, 64)", tmp_path)
    assert "torch.empty((66, 66)" not in text
    text = _written("F.pad(x, (1, 1, 1, 1)).reshape(44, -1).sum(0)", "torch.randn(64, 64)", tmp_path)
    assert "torch.empty((66, 66)" in text


def test_rows_of_windows_share_what_they_read(tmp_path: Path) -> None:
    text = _written("F.max_pool2d(x, 4, 1, 1)", "torch.randn(32, 64, 512, 512)", tmp_path)
    assert text.count("tl.store(") == 7
    assert text.count("tl.load(") == (7 + 3) * 4


def test_where_windows_overlap_the_compiler_is_kept_from_giving_a_lane_neighbours(tmp_path: Path) -> None:
    windows, lanes = "torch.randn(64, 64, 65536)", "tl.arange(0, 1024) + nothing"
    text = _written("F.avg_pool1d(x, 8, 1, 4)", windows, tmp_path)
    assert 'do_not_specialize=["nothing"]' in text
    assert lanes in text
    assert "(x0, y0, 0, num_warps=" in text
    assert "nothing" not in _written("F.avg_pool1d(x, 8)", windows, tmp_path)


def test_only_terms_that_lead_too_far_are_counted_in_64_bits(tmp_path: Path) -> None:
    text = _written("torch.tanh(x)", "torch.randn(4, 1073741824)", tmp_path)
    assert "tl.program_id(0).to(tl.int64)" in text
    text = _written("F.avg_pool2d(x, 11)", "torch.randn(16, 64, 2048, 2048)", tmp_path)
    assert "i0 * tl.full([], 4194304, tl.int64) + i1 * 22528 " in text
    assert "int64" not in _written("torch.tanh(x)", "torch.randn(4, 536870000)", tmp_path)


def test_values_beyond_32_bits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotWriteError, match=r"(?s)places beyond 2\^31 - 1.* --set or --fit"):
        _written("x + torch.arange(x.shape[0], device=x.device)", "torch.randn(3000000000)", tmp_path)


def test_a_product_and_what_is_made_of_it_are_one_kernel(tmp_path: Path) -> None:
    text = _written("F.relu(x @ y + 1)", "torch.randn(4096, 1024), torch.randn(1024, 4096)", tmp_path)
    assert text.count("\ndef case") == 1
    assert 'input_precision="tf32x3"' in text
    assert "mask" not in text


def test_a_convolution_reads_its_padding_within_bounds(tmp_path: Path) -> None:
    text = _written(
        "F.relu(F.conv2d(x, self.w, None, 1, 1))", "torch.randn(8, 16, 64, 64)", tmp_path, "torch.randn(32, 16, 3, 3)"
    )
    assert text.count("\ndef case") == 1
    assert text.count("torch.empty(") == 1
    assert text.count("< 64)") == 2


def test_a_product_of_few_elements_is_summed_in_parts(tmp_path: Path) -> None:
    few = _written("x @ y", "torch.randn(256, 131072), torch.randn(131072, 256)", tmp_path)
    assert "torch.empty((64, 256, 256)" in few
    assert few.count("\ndef case") == 2
    many = _written("x @ y", "torch.randn(4096, 131072), torch.randn(131072, 4096)", tmp_path)
    assert many.count("\ndef case") == 1


def test_what_it_cannot_write_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWriteError, match=r"aten\.scatter_add\.default in Triton"):
        _desk("a histogram", tmp_path).text(TritonGenome())


@needs_triton
@pytest.mark.slow
@pytest.mark.parametrize("genome", [TritonGenome(), TINY], ids=["usual", "tiny"])
@pytest.mark.parametrize("name", REFERENCES)
def test_kernels_are_right(name: str, genome: TritonGenome, judge: Judge, tmp_path: Path) -> None:
    desk = _desk(name, tmp_path)
    try:
        text = desk.text(genome)
    except CannotWriteError as error:
        pytest.skip(str(error))
    verdict = judge.judge(desk.task, text, timed=False)
    assert verdict.status == Status.UNTIMED, verdict.message
    judge.forget(desk.task)


@needs_triton
@pytest.mark.slow
@pytest.mark.parametrize("name", ["bias gelu", "pooling", "running sums", "embedding", "sum of columns", "huber loss"])
def test_kernels_that_count_in_64_bits_are_right(
    name: str, judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("_places", "_tile", "_sheet"):
        monkeypatch.setattr(f"kernelwright.propose.builtin.triton.{module}.WIDE", 1 << 5)
    desk = _desk(name, tmp_path)
    text = desk.text(TINY)
    assert "tl.int64" in text
    verdict = judge.judge(desk.task, text, timed=False)
    assert verdict.status == Status.UNTIMED, verdict.message
    judge.forget(desk.task)
