"""Names that a user gives: known, or a sentence that says which was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def check_name(what: str, name: str, known: Iterable[str]) -> None:
    """Raises ValueError where there is no such name; `what` is what it should be the name of."""
    names = list(known)
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    raise ValueError(f"there is no {what} {name!r}{hint} Known: {', '.join(names)}")
