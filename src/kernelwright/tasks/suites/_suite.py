"""A suite: its name, where it lies, which version it is, and its problems."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kernelwright.tasks._error import TaskError, choose_among
from kernelwright.tasks.suites._problem import Problem


@dataclass(frozen=True)
class Suite:
    """A suite that was found. Its problems are listed when first asked for.

    Attributes:
        name: `kernelbench`, `robust` or `everyday`.
        root: The checkout, the dataset file, or the folder in this package.
        version: Commit of the checkout, or hash of the files; empty where neither can be told.
        list_problems: Lists the problems, reading none.
    """

    name: str
    root: Path
    version: str
    list_problems: Callable[[], tuple[Problem, ...]] = field(repr=False, compare=False)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        return self.list_problems()

    def groups(self) -> dict[str, int]:
        """How many problems each part holds: levels of KernelBench, folders of the others."""
        return dict(Counter(problem.part or "others" for problem in self.problems))

    def select(self, part: str) -> tuple[Problem, ...]:
        """The problem of that id, else all problems of that part or below it; all where `part` is empty."""
        exact = tuple(problem for problem in self.problems if problem.id == part)
        below = tuple(problem for problem in self.problems if not part or _belongs(problem, part))
        if not exact and not below:
            raise self._unknown(part)
        return exact or below

    def _unknown(self, part: str) -> TaskError:
        group = part.rpartition("/")[0]
        near = [problem.id for problem in self.problems if problem.id.startswith(f"{group}/")]
        if near and group:
            fix = f"Its ids go from {self.name}:{near[0]} to {self.name}:{near[-1]}."
        else:
            names = (name for problem in self.problems for name in (problem.part, problem.id.split("/")[0]) if name)
            fix = choose_among(part, list(dict.fromkeys(names)))
        return TaskError(f"the suite {self.name!r} in {self.root} has no problem {part!r}.", f"{self.name}:{part}", fix)


def _belongs(problem: Problem, part: str) -> bool:
    return problem.part == part or problem.id.startswith(f"{part}/")
