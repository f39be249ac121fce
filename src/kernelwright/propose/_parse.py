"""From an answer to a candidate: the last complete file that defines `ModelNew`, or edits made on the parent.

Text comes from models and people and is taken as it comes: thoughts, prose, fences in fences, cut off anywhere. Either
a source comes out, or a sentence that says why not, for whoever answers next.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from kernelwright.prompts import MisfitError, find_edits, has_edits, make_edit
from kernelwright.propose._fences import Block, blocks
from kernelwright.propose._python import WANTED, defines, finished, mentions, tree_of, valid_start
from kernelwright.propose._several import joined

LONGEST = 400_000
_TAGS = "think|thinking|thought|thoughts|reasoning|analysis|scratchpad|reflection"
_TAG = re.compile(rf"<(/?)(?:{_TAGS})>", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>final<\|message\|>")
_TOKEN = re.compile(r"<\|[a-z_]+\|>|</s>")
_DIFF = re.compile(r"^@@ .*@@|^--- \S+\n\+\+\+ ", re.MULTILINE)
_STARTS = re.compile(r"^(?:import |from \S+ import|#!|@|class |def |\"\"\"|''')", re.MULTILINE)
# Places where plain code in prose may begin that are tried.
TRIED = 10


@dataclass(frozen=True)
class Answer:
    """The candidate's source, or why there is none. Exactly one of them is there."""

    source: str | None
    problem: str = ""


@dataclass(frozen=True)
class _Said:
    """What was said, without thoughts, and the blocks in it."""

    text: str

    @cached_property
    def blocks(self) -> list[Block]:
        return blocks(self.text)


def parse(text: str, parent: str | None) -> Answer:
    """The candidate in an answer. `parent`: the source that edits refer to, None where there is none."""
    if len(text) > LONGEST:
        return _problem(f"the answer has {len(text)} characters, more than {LONGEST}: answer with one file.")
    meant = _Said(said(text))
    if not meant.text.strip():
        thought = " but thoughts" if text.strip() else ""
        return _problem(f"the answer is empty{thought}: answer with one Python file that defines {WANTED}.")
    for look in (_whole_file, _edits, _in_json, _cut_off, _plain_file, _invalid_file):
        answer = look(meant, parent)
        if answer:
            return answer
    return _problem(_nothing(meant))


def _problem(sentence: str) -> Answer:
    return Answer(None, sentence)


def _source(text: str) -> Answer:
    return Answer(text.strip("\n") + "\n")


def said(text: str) -> str:
    """What is meant to be read: one kind of line end, no thoughts, no tokens of a chat format."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").removeprefix("\ufeff")
    text = _FINAL.split(text)[-1]
    outside = _without_thoughts(text)
    if mentions(text) and not mentions(outside) and tree_of(text):
        outside = text  # a plain file that happens to hold such a tag
    return _TOKEN.sub("", outside)


def _without_thoughts(text: str) -> str:
    """Some servers leave the first tag out, and thoughts may be cut off before they end."""
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _TAG.finditer(text):
        if tag[1]:
            kept = kept if thinking else []
            start, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[start : tag.start()])
            thinking = True
    return "".join(kept if thinking else [*kept, text[start:]])


# *** ways to answer, the best first ***


def _whole_file(said: _Said, parent: str | None) -> Answer | None:
    """The last complete block that is a valid file, put together with others if need be. The parent quoted is none."""
    found = said.blocks
    for place in reversed(range(len(found))):
        block = found[place]
        if block.closed and not has_edits(block.text) and defines(block.text) and not _same(block.text, parent):
            return _source(joined(block.text, _others(found, place)))
    return None


def _others(found: list[Block], place: int) -> list[Block]:
    """Blocks before the main one, and later ones that have a name of their own."""
    return [*found[:place], *(block for block in found[place + 1 :] if block.name)]


def _same(text: str, parent: str | None) -> bool:
    return parent is not None and text.split() == parent.split()


def _edits(said: _Said, parent: str | None) -> Answer | None:
    edits = find_edits(said.text)
    if not edits:
        cut = "the answer was cut off inside a SEARCH/REPLACE edit: answer with shorter edits or a whole file."
        return _problem(cut) if has_edits(said.text) else None
    if parent is None:
        return _problem("the answer holds SEARCH/REPLACE edits of no kernel: answer with a whole file.")
    edited = parent.replace("\r\n", "\n")
    try:
        for edit in edits:
            edited = make_edit(edited, edit)
    except MisfitError as misfit:
        return _problem(f"{misfit} Quote whole lines of the kernel exactly, or answer with a whole file.")
    if _same(edited, parent):
        return _problem("the edits change nothing.")
    return _source(edited) if mentions(edited) else _problem(f"the edits take {WANTED} away: keep that class.")


def _in_json(said: _Said, parent: str | None) -> Answer | None:
    """Code as a string in a JSON object, as tools are called."""
    texts = [said.text, *(block.text for block in said.blocks if block.language == "json")]
    for text in reversed(texts):
        for inner in _strings(_json(text)):
            if mentions(inner):
                return parse(inner, parent)
    return None


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _strings(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(fields):
                waiting.extend(fields.values())
            case list(items):
                waiting.extend(items)


def _cut_off(said: _Said, parent: str | None) -> Answer | None:
    """A last block whose closing fence is missing: whole, or whole up to something after the class."""
    found = said.blocks
    if not found or found[-1].closed or not mentions(found[-1].text):
        return None
    text = valid_start(found[-1].text)
    if defines(text) and finished(text) and not _same(text, parent):
        return _source(joined(text, _others(found, len(found) - 1)))
    return _problem(f"the answer was cut off in the middle of {WANTED}: answer more briefly, with the file first.")


def _plain_file(said: _Said, parent: str | None) -> Answer | None:
    """No fence around it: the whole answer is a file, or holds one between lines of prose."""
    if any(mentions(block.text) for block in said.blocks):
        return None
    for start in (0, *islice((found.start() for found in _STARTS.finditer(said.text)), TRIED)):
        text = valid_start(said.text[start:]) if mentions(said.text[start:]) else ""
        if defines(text) and not _same(text, parent):
            return _source(text)
    return None


def _invalid_file(said: _Said, parent: str | None) -> Answer | None:
    """A block that is meant to be the file but is not valid Python: the judge says what is wrong with it."""
    for block in reversed(said.blocks):
        if block.closed and mentions(block.text) and not _DIFF.search(block.text) and not _same(block.text, parent):
            return _source(block.text)
    return None


def _nothing(said: _Said) -> str:
    """Why there is nothing usable, as well as that can be told."""
    found = said.blocks
    if _DIFF.search(said.text):
        return "the answer is a diff: answer with SEARCH/REPLACE edits or a whole file."
    if any(mentions(block.text) for block in found):
        return "the answer repeats the kernel it was given and changes nothing."
    if re.search(r"^[ \t]*class[ \t]+Model\b", said.text, re.MULTILINE):
        return f"the answer defines Model, not {WANTED}: rename the class."
    if found and not found[-1].closed:
        return f"the answer was cut off before {WANTED}: answer more briefly, with the file first."
    if found:
        return f"no block of the answer defines {WANTED}: answer with one whole Python file."
    return f"the answer holds no code: answer with one Python file that defines {WANTED}."
