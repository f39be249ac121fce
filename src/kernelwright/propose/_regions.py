"""From an answer to a candidate for a project: the text of its regions, whole or as edits of the parent.

An answer that edits outside the regions is handed on as it is: the judge says what is wrong with it.
"""

from collections.abc import Iterator

from kernelwright.prompts import MisfitError, find_edits, has_edits, make_edit
from kernelwright.propose._fences import blocks
from kernelwright.propose._parse import LONGEST, Answer, said
from kernelwright.tasks import Project, RegionError

_MARK = "EVOLVE begin"


def parse_regions(text: str, parent: str | None, project: Project) -> Answer:
    """The candidate in an answer. `parent`: the candidate that edits refer to; else they refer to the original."""
    if len(text) > LONGEST:
        return Answer(
            None, f"the answer has {len(text)} characters, more than {LONGEST}: answer with the regions alone."
        )
    meant = said(text)
    if not meant.strip():
        return Answer(None, "the answer is empty: answer with the text of the regions.")
    if has_edits(meant):
        return _edited(meant, parent or project.original, project)
    for found in _candidates(meant):
        return _settled(found, parent, project)
    names = ", ".join(region.name for region in project.regions)
    return Answer(None, f"the answer holds no region: answer with `EVOLVE begin NAME` ... `EVOLVE end` for {names}.")


def _candidates(meant: str) -> Iterator[str]:
    """The last block that marks a region; the whole text if it does; the only block; a text without any."""
    found = [block for block in blocks(meant) if block.closed]
    yield from (block.text + "\n" for block in reversed(found) if _MARK in block.text)
    if found:
        yield found[-1].text + "\n"
    elif "```" not in meant:
        yield meant


def _edited(meant: str, parent: str, project: Project) -> Answer:
    edits = find_edits(meant)
    if not edits:
        return Answer(None, "the answer was cut off inside a SEARCH/REPLACE edit: answer with shorter edits.")
    try:
        text = parent
        for edit in edits:
            text = make_edit(text, edit)
    except MisfitError as misfit:
        return Answer(None, f"{misfit} Quote whole lines of the regions exactly, or answer with whole regions.")
    return _settled(text, parent, project)


def _settled(text: str, parent: str | None, project: Project) -> Answer:
    try:
        source = project.canonical(text)
    except RegionError:
        return Answer(text)
    if parent is not None and source == parent:
        return Answer(None, "the answer repeats the regions it was given and changes nothing.")
    return Answer(source)
