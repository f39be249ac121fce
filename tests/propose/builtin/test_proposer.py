"""The synthesiser as one who answers: what decides an answer, and what it says when it has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernelwright.judge import Judge
from kernelwright.propose import ProposerError, Request, parse, proposer
from kernelwright.propose.builtin import Builtin, CannotWriteError, Genome, _proposer
from kernelwright.propose.builtin._capture import Graph, Node, Source
from kernelwright.propose.builtin._genome import read
from kernelwright.propose.builtin._kernels import plan
from kernelwright.propose.builtin._lower import lower
from kernelwright.propose.builtin._proposer import LANGUAGES, Desk
from kernelwright.propose.builtin._tracer import Tracer
from kernelwright.tasks import Task, load_task
from tests.propose.builtin.references import reference, source_of

FOREIGN = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n"


@pytest.fixture(scope="module")
def softmax(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return reference("softmax", tmp_path_factory.mktemp("tasks"))


@pytest.fixture(scope="module")
def builtin(softmax: Task) -> Builtin:
    made = Builtin(seed=1)
    made.understand(softmax)
    return made


def ask(task: Task | None, name: str = "7", **more: Any) -> Request:
    return Request(**{"id": name, "prompt": "", "kind": "draft", "backend": "cpp", "task": task, **more})


def answer(builtin: Builtin, request: Request) -> str:
    found = parse(builtin.propose(request).text, request.parent)
    assert found.source is not None, found.problem
    return found.source


def test_an_answer_is_a_kernel_that_the_judge_accepts(builtin: Builtin, softmax: Task, judge: Judge) -> None:
    verdict = judge.judge(softmax, answer(builtin, ask(softmax, "1")), timed=False)
    assert verdict.accepted, verdict.message


def test_the_seed_and_the_id_decide_an_answer(builtin: Builtin, softmax: Task) -> None:
    again = Builtin(seed=1)
    again._understood = builtin._understood
    assert answer(builtin, ask(softmax)) == answer(again, ask(softmax))
    assert len({answer(builtin, ask(softmax, str(name))) for name in range(2, 40)}) > 5


def test_a_kernel_of_its_own_is_changed_and_one_of_somebody_else_begun_anew(builtin: Builtin, softmax: Task) -> None:
    parent = answer(builtin, ask(softmax, "1"))
    assert read(parent, Genome) == Genome()
    child = answer(builtin, ask(softmax, kind="improve", parent=parent))
    assert read(child, Genome) not in (None, Genome())
    assert answer(builtin, ask(softmax, kind="improve", parent=FOREIGN)) == answer(builtin, ask(softmax))


def test_genes_that_make_no_difference_make_no_new_kernel(builtin: Builtin, softmax: Task) -> None:
    """A softmax has rows and no blocks, so how long blocks are is nothing that its kernel shows."""
    texts = [answer(builtin, ask(softmax, str(name))) for name in range(2, 40)]
    rows = [genome for text in texts if (genome := read(text, Genome)) and genome.fuse == "all"]
    assert {genome.block for genome in rows} == {Genome().block}


def test_fusion_and_its_absence(builtin: Builtin, softmax: Task) -> None:
    (written,) = builtin.understand(softmax)
    assert [len(kernel.parts) for kernel in plan(written.program, Genome())] == [3]
    assert [len(kernel.parts) for kernel in plan(written.program, Genome(fuse="none"))] == [1, 1, 1]


def test_what_is_dear_and_the_same_for_many_points_is_found_once(builtin: Builtin, tmp_path: Path) -> None:
    """The exponentials of 640 values and the softplus of 280, and not both for each of 4,480."""
    (written,) = builtin.understand(reference("a step of a state", tmp_path))
    shapes = [kernel.shape for kernel in plan(written.program, Genome())]
    assert shapes == [(640,), (280,), (7, 40, 16)]
    assert [kernel.shape for kernel in plan(written.program, Genome(beforehand=False))] == [(7, 40, 16)]


def test_loops_too_short_for_a_vector_are_not_where_lanes_run(builtin: Builtin, tmp_path: Path) -> None:
    (written,) = builtin.understand(reference("pixels out of channels", tmp_path))
    (kernel,) = plan(written.program, Genome())
    assert kernel.shape[-1] == 37


def test_results_are_stored_past_the_caches_if_the_genome_says_so(builtin: Builtin, softmax: Task) -> None:
    desk = Desk(softmax, builtin.understand(softmax))
    assert ["stream(whole, output" in desk.text(Genome(stores=how)) for how in ("streamed", "cached")] == [True, False]


def test_a_task_that_was_looked_at_is_understood_when_a_kernel_is_asked_for(softmax: Task, monkeypatch) -> None:
    understood: list[str] = []
    monkeypatch.setattr(_proposer, "_understood", lambda task: understood.append(task.name) or _proposer._Understood())
    fresh = Builtin()
    fresh.look_at(softmax)
    fresh.understand(softmax)
    assert understood == [softmax.name]


def test_whatever_goes_wrong_while_a_task_is_looked_at_is_said_when_a_kernel_is_asked_for(
    softmax: Task, monkeypatch
) -> None:
    monkeypatch.setattr(_proposer, "_understood", lambda task: 1 / 0)
    fresh = Builtin()
    fresh._look_at(softmax)
    with pytest.raises(ZeroDivisionError):
        fresh.propose(ask(softmax))


def test_it_has_no_advice(builtin: Builtin, softmax: Task) -> None:
    assert builtin.propose(ask(softmax, kind="rewrite")).text == ""


def test_it_is_called_builtin() -> None:
    assert isinstance(proposer("builtin"), Builtin)


def test_what_it_cannot_do_is_said(softmax: Task) -> None:
    with pytest.raises(ProposerError, match="without a task"):
        Builtin().propose(ask(None))
    with pytest.raises(CannotWriteError, match="writes cpp, sycl and triton so far, not cuda"):
        Builtin().propose(ask(softmax, backend="cuda"))


def graph(op: str, *arguments: Any, dtype: str = "float32") -> Graph:
    source = Source("x", "USER_INPUT", None, (4, 8), dtype, place=0)
    node = Node("found", op, ({"node": "x"}, *arguments), {}, (4, 8), dtype)
    return Graph((source,), (node,), ("found",), "", ((4, 8),), ())


def test_an_operator_that_is_not_known_is_named() -> None:
    with pytest.raises(CannotWriteError, match=r"does not know the operator aten\.sort\.default"):
        lower(graph("aten.sort.default", 1))


def test_a_dtype_that_is_not_written_is_named() -> None:
    with pytest.raises(CannotWriteError, match="bfloat16"):
        lower(graph("aten.exp.default", dtype="bfloat16"))


def test_a_reference_that_torch_cannot_see_through_is_said(tmp_path: Path) -> None:
    text = tmp_path / "branching.py"
    text.write_text(BRANCHING)
    with pytest.raises(CannotWriteError, match="cannot be captured"):
        Builtin().understand(load_task(str(text)))


def test_a_reference_that_ends_its_process_is_said_and_the_next_is_captured(tmp_path: Path, softmax: Task) -> None:
    text = tmp_path / "leaving.py"
    text.write_text(BRANCHING.replace("return x + 1", "import os; os.write(1, b'that was it'); os._exit(3); return x"))
    with pytest.raises(CannotWriteError, match="process ended while it was captured: that was it"):
        Builtin().understand(load_task(str(text)))
    assert Builtin().understand(softmax)


def test_a_reference_that_takes_too_long_is_said_and_the_next_is_captured(
    tmp_path: Path, softmax: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "sleeping.py"
    text.write_text(BRANCHING.replace("return x + 1", "__import__('time').sleep(600); return x"))
    with monkeypatch.context() as patch:
        patch.setattr("kernelwright.propose.builtin._tracer.SECONDS", 5.0)
        with pytest.raises(CannotWriteError, match="not captured in 5 s"):
            Builtin().understand(load_task(str(text)))
    assert Builtin().understand(softmax)


def test_the_process_that_captures_sees_no_device() -> None:
    tracer = Tracer()
    seen = Path(f"/proc/{tracer._process.pid}/environ").read_bytes().split(b"\0")
    assert b"CUDA_VISIBLE_DEVICES=" in seen


def test_a_tracer_that_cannot_begin_is_not_taken_for_a_slow_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.propose.builtin._tracer.PROGRAM", "kernelwright.no_such_program")
    with pytest.raises(CannotWriteError, match="process that captures references ended") as said:
        Tracer().ask({})
    assert "kernelwright.no_such_program" in said.value.fix


@pytest.mark.parametrize("backend", ["cpp", "sycl"])
def test_a_tensor_too_large_to_be_counted_in_32_bits_is_refused(backend: str, tmp_path: Path) -> None:
    path = tmp_path / "task.py"
    path.write_text(source_of("x + 1", "torch.randn(65536, 32768)"))
    task, language = load_task(path), LANGUAGES[backend]
    desk = Desk(task, Builtin().understand(task), language)
    with pytest.raises(CannotWriteError, match=r"(?s)a tensor of 2,147,483,648 elements; .* --set or --fit"):
        desk.text(language.genome())


def test_shapes_that_depend_on_values_are_refused_with_what_to_do(tmp_path: Path) -> None:
    text = tmp_path / "choosing.py"
    text.write_text(BRANCHING.replace("x + 1 if x.sum() > 0 else x - 1", "x[x > 0] * 2"))
    with pytest.raises(CannotWriteError, match="shapes depend on values") as refused:
        Builtin().understand(load_task(str(text)))
    assert "torch.where" in refused.value.fix


BRANCHING = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x - 1


def get_inputs():
    return [torch.randn(4, 8)]


def get_init_inputs():
    return []
"""
