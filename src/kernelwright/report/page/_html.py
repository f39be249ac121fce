"""Markup that cannot be broken by what stands in it: text is escaped unless it is markup already."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

# Elements that hold nothing; those of HTML have no end, those of SVG end themselves.
VOID = frozenset({"meta", "br", "col"})
LEAVES = frozenset({"circle", "line", "path", "rect"})
# What no reader sees and some are fooled by: controls, marks that turn the direction of text, halves of letters.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)


class Html(str):
    """Markup. Everything else is text."""

    __slots__ = ()


def text(value: object) -> Html:
    """What somebody wrote, to be read and never to be obeyed."""
    if isinstance(value, Html):
        return value
    told = str(value).replace("\r\n", "\n")
    return Html(html.escape(UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", told)))


def join(parts: Iterable[object], between: str = "") -> Html:
    return Html(text(between).join(text(part) for part in parts))


def tag(element: str, *inside: object, **attributes: object) -> Html:
    """`class_` is written class, `stroke_width` stroke-width; attributes that are None are left out."""
    told = "".join(f' {_name(name)}="{text(value)}"' for name, value in attributes.items() if value is not None)
    if element in VOID:
        return Html(f"<{element}{told}>")
    if element in LEAVES and not inside:
        return Html(f"<{element}{told}/>")
    return Html(f"<{element}{told}>{join(inside)}</{element}>")


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def table(headings: Sequence[object], rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()) -> Html:
    """`right`: the columns of numbers."""
    sides = ["n" if column in right else None for column in range(len(headings))]
    heading = tag(
        "tr", *(tag("th", name, scope="col", class_=side) for name, side in zip(headings, sides, strict=True))
    )
    body = [tag("tr", *(tag("td", cell, class_=side) for cell, side in zip(row, sides, strict=True))) for row in rows]
    return tag("div", tag("table", tag("thead", heading), tag("tbody", *body)), class_="wide")


def section(name: str, title: str, *inside: object) -> Html:
    return tag("section", tag("h2", title, id=f"{name}-title"), *inside, id=name, aria_labelledby=f"{name}-title")


def folded(summary: object, *inside: object, open_: bool = False) -> Html:
    return tag("details", tag("summary", summary), *inside, open="" if open_ else None)


def note(*inside: object) -> Html:
    return tag("p", *inside, class_="note")


def code(value: object) -> Html:
    return tag("code", value)


def shortened(words: str, most: int) -> str:
    """One line of at most so many letters."""
    line = " ".join(words.split())
    return line if len(line) <= most else line[: most - 1] + "…"
