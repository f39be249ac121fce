"""How long somebody is asked who has nothing new to say: budgets count kernels, and silence would never use them up."""

from __future__ import annotations

MOST_IN_VAIN = 30


class Patience:
    """Counts answers in a row with nothing new in them."""

    def __init__(self) -> None:
        self._in_vain = 0

    def rewarded(self) -> None:
        """There was a new kernel in the answer."""
        self._in_vain = 0

    def tried(self, problem: str) -> str | None:
        """There was none, for this reason; the sentence that ends the asking, once it was so too often."""
        self._in_vain += 1
        if self._in_vain < MOST_IN_VAIN:
            return None
        return f"the last {self._in_vain} answers held no new kernel; the last one: {problem}"
