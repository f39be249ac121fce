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
from tests.propose.builtin.references import FORM, REFERENCES, reference

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
}


def _desk(name: str, folder: Path) -> Desk:
    return _desk_for(reference(name, folder))


def _desk_for(task: Task) -> Desk:
    return Desk(task, Builtin().understand(task), LANGUAGES["triton"])


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
        path.write_text(FORM.format(init="        pass", parameters="x", result=result, inputs=inputs))
        desk = _desk_for(load_task(path))
        for gene in sorted(moot):
            others = (TritonGenome(**{gene: value}) for value in TritonGenome.choices[gene][1:])
            if any(desk.settled(other) == other for other in others):
                moot.remove(gene)
    assert not moot


def test_what_it_cannot_write_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWriteError, match=r"aten\.mm\.default in Triton"):
        _desk("product, bias, gelu", tmp_path).text(TritonGenome())


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
