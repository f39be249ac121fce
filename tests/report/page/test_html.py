"""Markup: whatever stands in a text, it stays a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.report.page._html import Html, shortened, table, tag, text
from tests.report.page.reader import Element, Reader

MARKUP = st.sampled_from("<>&\"'/=;!-`#")
SEEN = st.text(st.one_of(st.characters(exclude_categories=("C", "Zl", "Zp")), MARKUP))
ANYTHING = st.text(st.one_of(st.characters(exclude_categories=()), MARKUP, st.sampled_from("\r\n\t\x00\u202e\ud800")))


def shown(words: str) -> Element:
    (found,) = Reader(tag("p", words, title=words)).root.inside
    assert isinstance(found, Element)
    return found


@given(SEEN)
def test_a_text_comes_back_as_it_was(words: str) -> None:
    assert shown(words).text == shown(words).attributes["title"] == words


@given(ANYTHING)
def test_a_text_brings_nothing_along_and_can_be_written(words: str) -> None:
    found = shown(words)
    assert not [part for part in found.inside if isinstance(part, Element)]
    assert found.text == found.attributes["title"]
    found.text.encode()


def test_letters_that_cannot_be_seen_are_written_out() -> None:
    assert text("a\x00b\u202ec\ud800\r\n\td\r") == "a\\u0000b\\u202ec\\ud800\n\td\\u000d"


def test_markup_is_not_escaped_twice() -> None:
    assert tag("p", tag("b", "a & b"), Html("&amp;")) == "<p><b>a &amp; b</b>&amp;</p>"


def test_elements_end_as_browsers_expect_it() -> None:
    assert tag("br") == "<br>"
    assert tag("path", d="M0 0", stroke_width=2, class_=None) == '<path d="M0 0" stroke-width="2"/>'
    assert tag("path", tag("title", "t"), d="M0 0") == '<path d="M0 0"><title>t</title></path>'
    assert tag("td") == "<td></td>"


def test_columns_of_numbers_are_told_apart() -> None:
    cells = Reader(table(("name", "number"), [("a", 1)], right=(1,))).root.all("td")
    assert [(cell.text, cell.attributes.get("class")) for cell in cells] == [("a", None), ("1", "n")]


def test_a_long_message_becomes_a_short_line() -> None:
    assert shortened("a\n  b", 10) == "a b"
    assert shortened("x" * 11, 10) == "x" * 9 + "…"
