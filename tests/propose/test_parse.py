"""Whatever an answer looks like, either a candidate comes of it or a sentence that says why not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.propose import parse
from tests.propose.answers import FASTER, KERNEL, UNUSABLE, USABLE

named = lambda cases: pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])  # noqa: E731
# Pieces of which hostile answers are made.
pieces = st.sampled_from(
    [
        *(
            "```",
            "```python\n",
            "~~~\n",
            "````\n",
            "<think>",
            "</think>",
            "<<<<<<< SEARCH\n",
            "=======\n",
            ">>>>>>> REPLACE\n",
        ),
        *(
            KERNEL,
            FASTER,
            KERNEL[:200],
            "class ModelNew:\n",
            "    pass\n",
            '"""',
            "prose. ",
            "\r\n",
            "\x00",
            "import torch\n",
        ),
        *("{", '"code": "', "@@ -1 +1 @@\n", "(", "é\u2028", "# kernels.py\n"),
    ]
)


@named(USABLE)
def test_a_candidate_is_found(case):
    answer = parse(case.text, case.parent)
    assert answer.problem == ""
    if case.whole is not None:
        assert answer.source.strip() == case.whole.strip()
    assert all(piece in answer.source for piece in case.holds)
    assert not any(piece in answer.source for piece in case.lacks)


@named(UNUSABLE)
def test_nothing_usable_is_said_in_a_sentence(case):
    answer = parse(case.text, case.parent)
    assert answer.source is None
    assert case.problem in answer.problem
    assert answer.problem.endswith((".", ">"))


@named([case for case in USABLE if case.name not in ("a syntax error is left to the judge", "quoted as in a letter")])
def test_what_is_found_is_valid_python(case):
    compile(parse(case.text, case.parent).source, case.name, "exec")


@given(st.lists(pieces, max_size=12).map("".join), st.sampled_from([None, KERNEL]))
def test_every_text_gives_a_source_or_a_sentence(text, parent):
    answer = parse(text, parent)
    assert (answer.source is None) == bool(answer.problem)
    assert answer.source is None or "ModelNew" in answer.source


@given(st.text(max_size=400), st.text(max_size=400))
def test_prose_around_a_block_does_not_matter(before, after):
    before, after = (text.replace("`", "").replace("~", "").replace("<", "") for text in (before, after))
    assert parse(f"{before}\n\n```python\n{KERNEL}```\n{after}", None).source == KERNEL


@given(st.integers(0, len(KERNEL)))
def test_a_file_cut_off_anywhere_is_never_taken_for_whole(end):
    answer = parse(f"```python\n{KERNEL[:end]}", None)
    if answer.source is not None:
        assert answer.source.rstrip() == KERNEL.rstrip()


@given(st.data())
def test_an_edit_of_any_unique_line_is_made(data):
    lines = [
        line for line in KERNEL.splitlines() if line.strip() and KERNEL.count(line) == 1 and "ModelNew" not in line
    ]
    line = data.draw(st.sampled_from(lines))
    edited = parse(f"<<<<<<< SEARCH\n{line}\n=======\n{line}  # edited\n>>>>>>> REPLACE\n", KERNEL)
    assert edited.source == KERNEL.replace(line, f"{line}  # edited")


def test_hostile_answers_are_read_to_their_end():
    assert parse("```\n" * 40_000, None).problem
    assert parse("<think>" * 50_000, None).problem
    assert parse("<<<<<<< SEARCH\n" * 20_000, KERNEL).problem
    assert parse("(" * 300_000 + "\nclass ModelNew:", None).problem
