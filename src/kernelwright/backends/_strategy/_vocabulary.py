"""The table a language brings: which of its words do what. A word counts only where it is called, never as a name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

# What a word can do: `load` and `store` move data; `shape` is wide or hinted access; `ahead` asks for data before its
# use, `copy` brings it into fast memory without waiting; `meet` is a barrier of a group; `exchange` passes values
# between workers, `combine` reduces them and `scan` scans them; `engine` multiplies matrices, `sort` sorts; `fma`
# multiplies and adds, `times` multiplies; `team` starts workers; `across` joins groups; `atomic` does, where its
# address is in main memory; `plain` changes the form of a value and not the value.


@dataclass(frozen=True)
class Vocabulary:
    """Patterns by role. `calls` must match the whole name, `assembly`, `directives` and `types` any part of the text.

    `types` are those of declared variables. `group`, `groups` and `member` know the number of a group, how many there
    are, and the number of a worker in its group; `everyone` knows all of them together. `predefined` are macros that
    headers would bring. `seen_type` are those wide types whose access is longer than any plain element's, so that
    compiled code tells them.
    """

    calls: Mapping[str, str]
    assembly: Mapping[str, str] = field(default_factory=dict)
    directives: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    wide_type: str = r"(?!)"
    seen_type: str = r""
    fast_memory_type: str = r"(?!)"
    group: str = r"(?!)"
    groups: str = r"(?!)"
    member: str = r"(?!)"
    everyone: str = r"(?!)"
    predefined: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_groups(self) -> bool:
        """Whether a kernel runs in groups of workers; a processor's threads are none."""
        return self.group != Vocabulary.group

    def roles(self, call: str) -> frozenset[str]:
        """What calling this does."""
        return _matching(tuple(self.calls.items()), call, True)

    def roles_of_assembly(self, text: str) -> frozenset[str]:
        return _matching(tuple(self.assembly.items()), text, False)

    def roles_of_directive(self, text: str) -> frozenset[str]:
        return _matching(tuple(self.directives.items()), text, False)

    def is_wide(self, type_text: str) -> bool:
        """Whether a pointer of this type reaches several neighbours at once."""
        return "*" in type_text and re.search(self.wide_type, type_text) is not None

    def is_fast_memory(self, type_text: str) -> bool:
        """Whether a variable of this type lies in the memory that a group shares."""
        return re.search(self.fast_memory_type, type_text) is not None


@lru_cache(maxsize=4096)
def _matching(patterns: tuple[tuple[str, str], ...], text: str, whole: bool) -> frozenset[str]:
    found = re.fullmatch if whole else re.search
    return frozenset(role for role, pattern in patterns if found(pattern, text))
