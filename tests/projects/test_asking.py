"""What is asked about a project, and how answers are read."""

from pathlib import Path

import pytest

from kernelwright.engine._candidates import cell_of
from kernelwright.engine._preflight import REFUSED, trials
from kernelwright.judge import Status
from kernelwright.prompts import Hardware, Kernel, Outcome, Parts, render, seed
from kernelwright.propose import ProposerError, Request, parse_regions
from kernelwright.propose.builtin import Builtin
from kernelwright.tasks import Project, Task, load_task
from tests.projects.made_up import FAST, SOURCE
from tests.projects.test_init import EXAMPLES

MARKED = f"# EVOLVE begin squares\n{FAST}# EVOLVE end\n"
EDIT = """\
<<<<<<< SEARCH
        total = total + value * value
=======
        total += value * value
>>>>>>> REPLACE
"""


@pytest.fixture
def made(sums: Task) -> Project:
    assert sums.project is not None
    return sums.project


def parts(task: Task, kind: str, **more) -> Parts:
    assert task.project is not None
    backend = task.project.backend
    hardware = Hardware("a machine", {"cores": "2"})
    return Parts(kind=kind, backend=backend, task=task, genome=seed(backend), hardware=hardware, **more)


# Prompts


def test_a_prompt_shows_sources_commands_and_cases_and_asks_for_regions(sums):
    text = render(parts(sums, "draft"))
    for words in (SOURCE, "python bench.py {size} {seed}", "case long: size = 400000", "`EVOLVE begin NAME`"):
        assert words in text
    assert "ModelNew" not in text
    assert "get_inputs" not in text


@pytest.mark.parametrize(("kind", "accepted"), [("improve", True), ("repair", False)])
def test_a_parent_is_shown_with_its_markers_and_may_be_edited(sums, kind, accepted):
    outcome = Outcome(status="CORRECT" if accepted else "WRONG_VALUE", accepted=accepted, message="so it was")
    text = render(parts(sums, kind, parent=Kernel(source=MARKED, outcome=outcome)))
    assert MARKED in text
    assert "<<<<<<< SEARCH" in text
    assert "ModelNew" not in text


def test_instructions_in_the_sources_are_heeded():
    text = render(parts(load_task(EXAMPLES / "box_blur"), "draft"))
    assert "To heed:\n\n// Sums may be taken in another order" in text
    assert "C++ for the processor" in text


# Answers


@pytest.mark.parametrize(
    "answer",
    [
        MARKED,
        FAST,
        f"It is a polynomial.\n\n```python\n{MARKED}```\n",
        f"<think>\n```python\n{SOURCE}```\n</think>\n```python\n{FAST}```\n",
    ],
)
def test_regions_are_found_in_an_answer(made, answer):
    assert parse_regions(answer, None, made).source == MARKED


def test_edits_are_made_on_the_parent_or_the_original(made):
    edited = parse_regions(EDIT, None, made).source
    assert "        total += value * value\n" in edited
    assert parse_regions(EDIT, made.original, made).source == edited
    assert "Quote whole lines" in parse_regions(EDIT, MARKED, made).problem


def test_an_answer_without_regions_says_what_is_missing(made):
    assert "answer is empty" in parse_regions("  ", None, made).problem
    assert "EVOLVE begin NAME" in parse_regions("```python\nx = 1", None, made).problem
    assert "changes nothing" in parse_regions(MARKED, MARKED, made).problem


def test_an_edit_outside_the_regions_is_for_the_judge_to_refuse(made):
    outside = SOURCE.replace("2 *", "3 *")
    assert parse_regions(f"```python\n{outside}```", None, made).source.strip() == outside.strip()


# The search


def test_the_preflight_tries_the_project_as_it_is_empty_and_with_other_arithmetic(sums):
    right, empty, other = trials(sums)
    assert (right.source, right.expect) == (sums.source, {Status.CORRECT, Status.UNTIMED})
    assert empty.source == "# EVOLVE begin squares\n# EVOLVE end\n"
    assert "total = total - value + value" in other.source
    assert empty.expect == other.expect == REFUSED


def test_candidates_in_c_have_strategy_coordinates():
    task = load_task(EXAMPLES / "box_blur")
    plain = cell_of(task, task.source)
    team = task.source.replace("    for (int y", "    #pragma omp parallel for\n    for (int y")
    assert (plain[2], cell_of(task, team)[2]) == (0, 1)


def test_the_built_in_synthesiser_says_that_it_cannot(sums):
    request = Request(id="1", prompt="", kind="draft", backend="cpp", task=sums)
    with pytest.raises(ProposerError, match="not regions of a project"):
        Builtin().propose(request)


def test_examples_have_candidates_that_fit_their_regions():
    for folder in sorted(path.parent for path in EXAMPLES.glob("*/task.toml")):
        project = load_task(folder).project
        assert project is not None
        texts = [path.read_text() for path in sorted(Path(folder, "candidates").iterdir())]
        assert len({project.canonical(text) for text in texts}) == len(texts) >= 2
