"""Mutants that are no faults: what they change cannot be seen in any result that counts.

`EQUIVALENT` names them by kernel, operator and the line as it stands in the mutant; each has its reason.
"""

from __future__ import annotations

EQUIVALENT: dict[tuple[str, str, str], str] = {}
