"""The evolving part of a prompt: four pieces of advice, known by their content.

Knows what a genome is and where the first ones lie. Which one is worth what is `_family.py`'s to know.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from kernelwright.prompts._error import PromptError
from kernelwright.prompts._texts import text, vocabulary

REGIONS = ("philosophy", "strategies", "pitfalls", "analysis")
# Twice the longest of the seeds: room to grow, and four of them still leave a prompt to its kernels.
LONGEST = 4200


@dataclass(frozen=True, kw_only=True)
class Genome:
    """Advice for one backend.

    Attributes:
        backend: Whom it advises.
        philosophy: How to think about a kernel's speed.
        strategies: What is worth trying.
        pitfalls: What goes wrong.
        analysis: What to ask oneself before writing.
        parent: Hash of the genome it was edited from; no part of its own hash.
    """

    backend: str
    philosophy: str
    strategies: str
    pitfalls: str
    analysis: str
    parent: str | None = None

    def __post_init__(self) -> None:
        for name, region in self.regions.items():
            if not region.strip():
                raise PromptError(f"the region {name} is empty.", "Every region needs at least a sentence.")
            if len(region) > LONGEST:
                raise PromptError(
                    f"the region {name} has {len(region)} characters, more than {LONGEST}.", "Shorten it."
                )

    @property
    def regions(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in REGIONS}

    @cached_property
    def hash(self) -> str:
        """Hex sha256 of backend and regions: equal hashes mean the same advice."""
        content = json.dumps([self.backend, self.regions], sort_keys=True)
        return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()

    def child(self, **regions: str) -> "Genome":
        """The same advice with some regions changed, descended from this one."""
        return replace(self, **regions, parent=self.hash)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Genome":
        return cls(**fields)


def seed(backend: str) -> Genome:
    """The genome that a backend starts with."""
    vocabulary(backend)  # or says which backends there are
    return Genome(backend=backend, **{name: text("genomes", backend, f"{name}.md") for name in REGIONS})
