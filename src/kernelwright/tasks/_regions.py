"""Regions of a source file, marked by comments: what may be rewritten, what to read, what to heed.

    // EVOLVE begin blur
    ...
    // EVOLVE end

Knows lines and markers. Which files have them is `_project.py`'s to know.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernelwright.tasks._error import TaskError

EVOLVE = "EVOLVE"
KINDS = (EVOLVE, "REFERENCE", "INSTRUCTIONS")
_COMMENT = r"(?://+|\#+|--+|;+|/\*|%+)"
_MARKER = re.compile(
    rf"[ \t]*(?P<opening>{_COMMENT})[ \t]*(?P<kind>{'|'.join(KINDS)})[ \t]+(?P<edge>begin|end)"
    r"(?:[ \t]+(?P<name>[A-Za-z_][\w-]*))?[ \t]*(?P<closing>\*/)?[ \t]*"
)
# What is meant as a marker: the word, and then begin or end or something like them.
_ALMOST = re.compile(
    rf"[ \t]*{_COMMENT}[ \t]*(?:{'|'.join(KINDS)})(?:[-_ \t]+(?:BLOCK[-_ \t]+)?(?:BEGIN|END|START|STOP)\b.*|[ \t]*)",
    re.IGNORECASE,
)
_FORM = (
    "Write `// EVOLVE begin NAME` above the region and `// EVOLVE end` below it, in comments of the file's language."
)


class RegionError(Exception):
    """A candidate's text is not the text of a project's regions."""


@dataclass(frozen=True)
class Region:
    """Lines between two markers.

    Attributes:
        kind: One of `KINDS`.
        file: The source it is in.
        start, stop: Its lines in the file, counted from 0, without the markers.
        opening, closing: What makes a line a comment there.
    """

    kind: str
    name: str
    file: str
    text: str
    start: int
    stop: int
    opening: str = "//"
    closing: str = ""

    def marked(self, text: str) -> str:
        """The text between markers, as a candidate has it."""
        end = f" {self.closing}" if self.closing else ""
        begin = f"{self.opening} {self.kind} begin {self.name}{end}\n"
        return f"{begin}{_ended(text)}{self.opening} {self.kind} end{end}\n"


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def regions_in(text: str, file: str) -> list[Region]:
    """In the order of the file. Raises TaskError where markers do not pair up."""
    lines = text.splitlines(keepends=True)
    found: list[Region] = []
    begun: tuple[int, re.Match[str]] | None = None
    for at, line in enumerate(lines):
        marker = _marker(line, f"{file}:{at + 1}")
        if marker is None:
            continue
        if marker["edge"] == "begin":
            if begun is not None:
                what = f"a region begins inside the one that began in line {begun[0] + 1}."
                raise TaskError(what, f"{file}:{at + 1}", "End the first one before it.")
            begun = (at, marker)
        else:
            found.append(_region(lines, begun, at, marker, file))
            begun = None
    if begun is not None:
        raise TaskError("a region begins here and never ends.", f"{file}:{begun[0] + 1}", _FORM)
    _check_names(found, file)
    return found


def _marker(line: str, where: str) -> re.Match[str] | None:
    bare = line.rstrip("\r\n")
    marker = _MARKER.fullmatch(bare)
    if marker is None and _ALMOST.fullmatch(bare):
        raise TaskError(f"this line looks like a marker and is none: {bare.strip()}.", where, _FORM)
    return marker


def _region(
    lines: Sequence[str], begun: tuple[int, re.Match[str]] | None, stop: int, end: re.Match[str], file: str
) -> Region:
    where = f"{file}:{stop + 1}"
    if begun is None:
        raise TaskError("a region ends here that never began.", where, _FORM)
    start, begin = begun
    if begin["kind"] != end["kind"]:
        what = f"{end['kind']} ends here, but {begin['kind']} began in line {start + 1}."
        raise TaskError(what, where, f"Write {begin['kind']} end.")
    name = begin["name"] or _default_name(file)
    if end["name"] not in (None, name):
        raise TaskError(f"{end['name']!r} ends here, but {name!r} began in line {start + 1}.", where, "Use one name.")
    text = "".join(lines[start + 1 : stop])
    return Region(begin["kind"], name, file, text, start + 1, stop, begin["opening"], begin["closing"] or "")


def _default_name(file: str) -> str:
    stem = file.rpartition("/")[2].partition(".")[0]
    return re.sub(r"\W", "_", stem) or "region"


def _check_names(found: Sequence[Region], file: str) -> None:
    seen: dict[str, Region] = {}
    for region in found:
        if region.kind != EVOLVE:
            continue
        if region.name in seen:
            what = f"two regions are called {region.name!r}; the first begins in line {seen[region.name].start}."
            raise TaskError(what, f"{file}:{region.start}", "Give each a name of its own: `EVOLVE begin NAME`.")
        seen[region.name] = region


def replaced(text: str, regions: Sequence[Region], texts: Mapping[str, str]) -> str:
    """The file with other text in its EVOLVE regions."""
    lines = text.splitlines(keepends=True)
    for region in sorted(regions, key=lambda one: -one.start):
        if region.kind == EVOLVE and region.name in texts:
            lines[region.start : region.stop] = [_ended(texts[region.name])]
    return "".join(lines)


def outside(text: str, regions: Sequence[Region]) -> list[str]:
    """Lines that no EVOLVE region holds, without markers and blank lines."""
    held = {at for one in regions if one.kind == EVOLVE for at in range(one.start - 1, one.stop + 1)}
    lines = enumerate(text.splitlines())
    return [line.rstrip() for at, line in lines if at not in held and line.strip()]


def read_candidate(text: str, regions: Sequence[Region], sources: Mapping[str, str]) -> dict[str, str]:
    """The regions' new text, by name. Those that a candidate does not name stay as they are.

    A project with one region may be given its bare text. Around regions there may be nothing, or the lines of one of
    the sources exactly as they are.
    """
    try:
        found = [one for one in regions_in(text, "the candidate") if one.kind == EVOLVE]
    except TaskError as error:
        raise RegionError(f"{error.where}: {error.what}") from error
    known = {region.name: region.text for region in regions}
    if not found:
        return known | {_only(regions): text}
    unknown = [one.name for one in found if one.name not in known]
    if unknown:
        raise RegionError(f"there is no region {unknown[0]!r} in this project; it has {', '.join(known)}")
    _check_outside(text, found, regions, sources)
    return known | {one.name: one.text for one in found}


def _only(regions: Sequence[Region]) -> str:
    if len(regions) > 1:
        names = ", ".join(region.name for region in regions)
        raise RegionError(f"the candidate marks no region; this project has several: {names}")
    return regions[0].name


def _check_outside(text: str, found: Sequence[Region], regions: Sequence[Region], sources: Mapping[str, str]) -> None:
    around = outside(text, found)
    if not around:
        return
    for file, source in sources.items():
        if around == outside(source, [one for one in regions if one.file == file]):
            return
    known = {line.rstrip() for source in sources.values() for line in source.splitlines()}
    strange = next((line for line in around if line not in known), around[0])
    raise RegionError(f"the candidate edits outside its regions: {strange.strip()[:100]}")


def candidate_text(regions: Sequence[Region], texts: Mapping[str, str]) -> str:
    """One way to write a candidate: every region between its markers, in the project's order."""
    return "".join(region.marked(texts[region.name]) for region in regions)
