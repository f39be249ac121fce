"""A project made ready to judge on: the original built, its tests passed, its benchmark read."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelwright import backends
from kernelwright.judge._sandbox import Cage
from kernelwright.judge._status import OutOfReach
from kernelwright.judge.device._place import device_nodes
from kernelwright.judge.project._booth import Booth, Item, Ran, Tree
from kernelwright.judge.project._numbers import NoNumber, Numbers, agree, read
from kernelwright.tasks import Case, Project, Task, TaskError

if TYPE_CHECKING:
    from kernelwright.judge._judge import Judge

OUTPUT = "kernelwright-result.json"
LONGEST_SEED = 1 << 31
# A benchmark may take so many times what the original takes.
PATIENCE = 10.0
MOST_SHOWN = 4000
_COUNTS = re.compile(
    r"(\d+) (?:tests? )?passed|(\d+) tests? failed out of (\d+)|^Ran (\d+) tests?|"
    r"\[  PASSED  \] (\d+) tests?|(\d+) skipped",
    re.MULTILINE,
)


class Broke(Exception):
    """A command of the project did not come to a good end."""

    def __init__(self, what: str, ran: Ran | None = None) -> None:
        super().__init__(what)
        self.ran = ran


class Disturbed(Broke):
    """A command changed files that it was given."""


@dataclass(frozen=True)
class Bench:
    """One run of the benchmark: seconds by the judge's clock, and what it says itself (None: it is not asked)."""

    wall: float
    numbers: Numbers | None


class PreparedProject:
    """One project, ready for candidates. Raises TaskError where there is nothing to compare them with."""

    def __init__(self, judge: Judge, task: Task) -> None:
        assert task.project is not None
        self.task, self.project = task, task.project
        self._judge = judge
        self._random = random.SystemRandom()
        isolation = judge.isolation
        if not isolation.namespaces:
            raise OutOfReach(
                f"a project's commands run only in a sandbox, and there is none here: {isolation.problem}",
                "allow user namespaces on this machine (kernel.unprivileged_userns_clone=1), or judge on another",
            )
        self._cage = _cage(judge, self.project)
        self._files = self.project.by_path.keys()
        try:
            self.original = self.build({})
            self.counts = _counted(self.test(self.original))
            self.first = {case.name: self._first(case) for case in task.cases}
        except Broke as broke:
            raise self._unusable(broke) from broke

    def _unusable(self, broke: Broke) -> TaskError:
        shown = "\n".join(f"    {line}" for line in _end_of(broke.ran, 12)) if broke.ran else ""
        fix = "Make the command work on the project as it is; it sees the project's files, the system and Python alone."
        if broke.ran is not None and broke.ran.end is None:
            fix = "Raise the limit (--limit build_s=600 for a build, total_s for tests), or do less."
        return TaskError(f"before any change, {broke}." + (f"\n{shown}" if shown else ""), self.task.origin, fix)

    # What commands do

    def build(self, sources: Mapping[str, str]) -> Tree:
        """A copy with these sources, built. Raises Broke."""
        tree = _planted(self.project, sources)
        if not self.project.build:
            return tree
        with Booth(self._judge.template, self._cage, tree, self._files) as booth:
            ran = booth.run(self.project.build, timeout=self._judge.limits.build_s)
            self._expect(booth, ran, "the build", self._judge.limits.build_s)
            return booth.gather()

    def test(self, side: Tree) -> Ran:
        """The project's tests on a built copy. Raises Broke."""
        limit = self._judge.limits.total_s
        with Booth(self._judge.template, self._cage, side, self._files) as booth:
            ran = booth.run(self.project.test, timeout=limit)
            self._expect(booth, ran, "the test", limit)
            return ran

    def bench(self, side: Tree, case: Case, seed: int) -> Bench:
        """One run of the benchmark. Raises Broke."""
        command = self.project.command(case, seed=seed, output=OUTPUT)
        limit = self._bench_limit(case)
        with Booth(self._judge.template, self._cage, side, self._files) as booth:
            ran = booth.run(command, timeout=limit)
            self._expect(booth, ran, f"the benchmark of case {case.name!r}", limit)
            return Bench(ran.seconds, self._numbers(booth, ran, case))

    def _bench_limit(self, case: Case) -> float:
        known = getattr(self, "first", {}).get(case.name)
        return max(self._judge.limits.call_s, PATIENCE * known.wall if known else self._judge.limits.total_s)

    def _numbers(self, booth: Booth, ran: Ran, case: Case) -> Numbers | None:
        if self.project.output == "wall":
            return None
        in_file = "{output}" in self.project.benchmark
        text = booth.result(OUTPUT) if in_file else ran.output
        where = "its file {output}" if in_file else "its output"
        try:
            if text is None:
                raise NoNumber("was not written")
            return read(self.project.output, text)
        except NoNumber as error:
            what = f"the benchmark of case {case.name!r} prints no number: {where} {error}"
            raise Broke(f"{what} (output = {self.project.output!r})", ran) from error

    def _expect(self, booth: Booth, ran: Ran, what: str, limit: float) -> None:
        """The command ended well, and left the files that it was given alone."""
        if ran.end is None:
            raise Broke(f"{what} took more than {limit:g} s: {ran.command}", ran)
        changed = booth.disturbed()
        if changed is not None:
            raise Disturbed(f"{what} changed {changed}, a file of the project: {ran.command}", ran)
        if not ran.ok:
            how = f"signal {ran.end.signal}" if ran.end.signal else f"exit code {ran.end.exit}"
            raise Broke(f"{what} fails ({how}): {ran.command}", ran)

    # The original's benchmark

    def new_seed(self) -> int:
        return self._random.randrange(1, LONGEST_SEED)

    def _first(self, case: Case) -> Bench:
        """Twice on the same seed: whether the benchmark can be held against anything at all."""
        seed = self.new_seed()
        first, again = (self.bench(self.original, case, seed) for _ in range(2))
        if first.numbers is None or again.numbers is None:
            return first
        if first.numbers.calls != again.numbers.calls:
            raise Broke(
                f"the benchmark of case {case.name!r} made {first.numbers.calls} calls and then {again.numbers.calls}: "
                f"fix the number (benchmark.pedantic(rounds=...), hyperfine --runs), or the judge's clock has nothing "
                f"to hold its numbers against"
            )
        if first.numbers.total > first.wall:
            what = f"the benchmark of case {case.name!r} says that it timed {first.numbers.total:.4g} s"
            raise Broke(f"{what}, in a run of {first.wall:.4g} s: its times must be seconds of one call each")
        if not agree(first.numbers.check, again.numbers.check, self.project.tolerance):
            raise Broke(f"the benchmark of case {case.name!r} gives another check when it is run again on one seed")
        return first

    @property
    def is_checked(self) -> bool:
        """Whether every timed run says something of its results that cannot be known beforehand."""
        checks = (bench.numbers is not None and bench.numbers.check is not None for bench in self.first.values())
        return self.project.is_seeded and all(checks)

    def same_tests(self, ran: Ran) -> bool:
        """Whether as many tests passed as on the original."""
        return _counted(ran) == self.counts


def _cage(judge: Judge, project: Project) -> Cage:
    return Cage(
        namespaces=True,
        memory_bytes=judge.limits.memory_bytes,
        disk_bytes=judge.limits.disk_bytes,
        spawns=True,
        tools=True,
        folders=project.folders,
        devices=device_nodes(on_gpu=backends.usable_gpu() is not None),
    )


def _planted(project: Project, sources: Mapping[str, str]) -> Tree:
    def item(path: str) -> Item:
        file = project.by_path[path]
        content = sources[path].encode() if path in sources else file.content
        return Item(content, 0o755 if file.executable else 0o644, link=file.link)

    return {path: item(path) for path in project.by_path}


def _counted(ran: Ran) -> tuple[str, ...]:
    """How many tests passed, as the tests' own summary says; where none is known, its last line without numbers."""
    found = tuple(number for counts in _COUNTS.findall(ran.output) for number in counts if number)
    lines = ran.output.strip().splitlines()
    return found or (re.sub(r"\d+(?:\.\d+)?", "#", lines[-1]) if lines else "",)


def _end_of(ran: Ran, number: int) -> list[str]:
    return ran.output[-MOST_SHOWN:].strip().splitlines()[-number:]
