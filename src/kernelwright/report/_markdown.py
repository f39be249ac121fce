"""Tables in Markdown."""

from __future__ import annotations


def markdown_table(heading: list[str], rows: list[list[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(escaped(cell) for cell in line) + " |" for line in lines)


def escaped(text: str) -> str:
    """Text that stays in its cell."""
    return " ".join(text.split()).replace("|", "\\|")
