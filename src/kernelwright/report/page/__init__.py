"""A run of a search as one page that opens anywhere: records in, HTML out.

    with Records("runs.db") as records:
        text = page(read(records, "20260101"), {})

Knows what a store holds and how to draw it. Everything that came from outside is text here, never markup.
"""

from kernelwright.report.page._advice import Worth
from kernelwright.report.page._page import page
from kernelwright.report.page._story import Story, read

__all__ = ["Story", "Worth", "page", "read"]
