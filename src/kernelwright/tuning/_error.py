"""The one error of this room."""

from __future__ import annotations


class TuningError(Exception):
    """Something that cannot be tuned: what is wrong, where, and what to do next.

    Attributes:
        what: One sentence.
        fix: What to do next; empty where nothing better than `what` can be said.
        line: The line of the candidate, counted from 1; 0 where no single line is to blame.
    """

    def __init__(self, what: str, fix: str = "", line: int = 0) -> None:
        super().__init__(what, fix, line)
        self.what, self.fix, self.line = what, fix, line

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}" if self.line else self.what
