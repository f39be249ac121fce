"""Reads a page as a browser would, as far as tests need it: what is open, what is linked, what is said where."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "col"}


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    inside: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.inside)

    def all(self, name: str) -> list[Element]:
        """All elements of this name within, in order. With a list of its own: nothing here may be too deep."""
        found, waiting = [], [self]
        while waiting:
            one = waiting.pop()
            found += [one] if one.name == name else []
            waiting += [part for part in one.inside[::-1] if isinstance(part, Element)]
        return found

    def one(self, name: str, **attributes: str) -> Element:
        (found,) = (each for each in self.all(name) if attributes.items() <= each.attributes.items())
        return found

    def rows(self) -> list[list[str]]:
        """The rows of the only table within, without its heading."""
        return [[cell.text for cell in row.all("td")] for row in self.one("tbody").all("tr")]


class Reader(HTMLParser):
    """Raises where an element is not closed, or closed by another's end."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.root = Element("page", {})
        self._open = [self.root]
        self.feed(page)
        self.close()
        assert self._open == [self.root], f"left open: {[element.name for element in self._open[1:]]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), f"an attribute of {tag} is given twice"
        element = Element(tag, dict(attrs))
        self._open[-1].inside.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].inside.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        self._open[-1].inside.append(data)
