"""The whole page: one file that asks nobody for anything and runs nothing."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.report.page._advice import Worth, advice
from kernelwright.report.page._costs import costs
from kernelwright.report.page._diff import winner
from kernelwright.report.page._failures import tried
from kernelwright.report.page._grid import grid
from kernelwright.report.page._html import Html, code, tag
from kernelwright.report.page._lineage import lineage
from kernelwright.report.page._progress import progress
from kernelwright.report.page._result import result
from kernelwright.report.page._story import Story
from kernelwright.report.page._style import STYLE

# A browser that finds markup of somebody else's in spite of all escaping neither runs nor fetches it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
CONTENTS = {
    "progress": "Progress",
    "archive": "Archive",
    "lineage": "Lineage",
    "winner": "Winner",
    "tried": "Tried",
    "cost": "Cost",
    "advice": "Advice",
}


def page(story: Story, worth: Mapping[str, Worth]) -> str:
    """`worth`: what the search believes of advice, by its hash."""
    parts = [
        result(story),
        progress(story),
        grid(story),
        lineage(story),
        winner(story),
        tried(story),
        costs(story),
        advice(story, worth),
    ]
    head = tag("header", tag("h1", story.task_name), tag("p", "run ", code(story.run.id), class_="note"), _contents())
    body = tag("body", head, tag("main", *parts))
    return f"<!doctype html>\n{tag('html', _head(story), body, lang='en')}\n"


def _head(story: Story) -> Html:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{story.task_name} · {story.run.id}"),
        tag("style", Html(STYLE)),
    )


def _contents() -> Html:
    return tag("nav", *(tag("a", words, href=f"#{name}") for name, words in CONTENTS.items()), aria_label="Contents")
