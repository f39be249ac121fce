"""How a user names problems: `kernelbench:1/19`, `kernelbench:2`, `kernelbench`, `robust:layernorm#2`."""

import re
from dataclasses import dataclass

from kernelwright.tasks._error import TaskError

_FORM = re.compile(r"(?P<suite>[A-Za-z][\w-]*)(:(?P<part>[^#]*)(#(?P<variant>\d+))?)?")


@dataclass(frozen=True)
class Address:
    """A suite, a part of it (empty: all of it), and the number of a variant where one is named."""

    suite: str
    part: str = ""
    variant: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Address":
        found = _FORM.fullmatch(text.strip())
        if found is None:
            fix = "Write SUITE, SUITE:PART or SUITE:ID, such as kernelbench:1/19."
            raise TaskError(f"{text!r} names no part of a suite.", fix=fix)
        variant = found["variant"]
        return cls(found["suite"].lower(), (found["part"] or "").strip("/"), int(variant) if variant else None)

    def __str__(self) -> str:
        part = f":{self.part}" if self.part else ""
        return f"{self.suite}{part}" + (f"#{self.variant}" if self.variant else "")
