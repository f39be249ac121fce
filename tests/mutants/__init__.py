"""Faults seeded into honest kernels: how many does the judge find?

    with Judge() as judge:
        report = run(judge)

A mutant is an honest kernel with one small change that makes it wrong. Text that does not compile is no mutant;
nor is text from which the compiler makes the very same machine code.
"""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from kernelwright import native
from kernelwright.judge import Judge, Status
from tests.corpus import HONEST, Specimen, specimens
from tests.mutants._equivalent import EQUIVALENT
from tests.mutants._operators import NATIVE, PYTHON
from tests.mutants._text import Edit, blanked, native_parts, python_only, without_native

PER_KERNEL = 7


@dataclass(frozen=True)
class Mutant:
    """One fault in one kernel."""

    specimen: Specimen
    operator: str
    line: int
    source: str

    @property
    def kernel(self) -> str:
        return self.specimen.name

    @property
    def diff(self) -> str:
        """The changed lines, as `diff` shows them."""
        lines = difflib.unified_diff(self.specimen.source.splitlines(), self.source.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in islice(lines, 2, None) if not line.startswith("@@"))

    @property
    def identity(self) -> tuple[str, str, str]:
        """Kernel, operator and the line it changed, as it reads now."""
        return self.kernel, self.operator, self.source.splitlines()[self.line - 1].strip()


@dataclass
class Report:
    """What became of the mutants that compiled."""

    killed: int = 0
    total: int = 0
    survivors: list[tuple[str, str, int, str]] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        return self.killed / self.total if self.total else 1.0

    def count(self, mutant: Mutant, *, status: Status, accepted: bool) -> None:
        self.total += 1
        self.killed += not accepted
        self.statuses[str(status)] += 1
        if accepted:
            self.survivors.append((mutant.kernel, mutant.operator, mutant.line, mutant.diff))


def mutants(kernels: Iterable[Specimen], *, equivalent: bool = False) -> Iterator[Mutant]:
    """Every mutant of these kernels, no two with the same text, in a fixed order."""
    for specimen in kernels:
        seen = {specimen.source}
        for mutant in _of(specimen):
            if mutant.source not in seen and (equivalent or mutant.identity not in EQUIVALENT):
                yield mutant
            seen.add(mutant.source)


def chosen(kernels: Iterable[Specimen], each: int = PER_KERNEL) -> Iterator[Mutant]:
    """Some mutants of every kernel, as many different operators as there are; always the same ones."""
    for specimen in kernels:
        met: Counter[str] = Counter()
        ranked = []
        for mutant in sorted(mutants([specimen]), key=_lot):
            ranked.append((met[mutant.operator], _lot(mutant), mutant))
            met[mutant.operator] += 1
        ranked.sort(key=lambda item: item[:2])
        compiled = (mutant for *_, mutant in ranked if differs(mutant))
        yield from islice(compiled, each)


def run(
    judge: Judge,
    limit: int | None = None,
    *,
    of: Iterable[Mutant] | None = None,
    progress: Callable[[Mutant, Status], None] = lambda *_: None,
) -> Report:
    """Judges mutants, without timing them."""
    report = Report()
    last: Mutant | None = None
    for mutant in islice(chosen(specimens(HONEST)) if of is None else of, limit):
        task = mutant.specimen.load_task()
        if last is not None and last.specimen.task != mutant.specimen.task:
            judge.forget(last.specimen.load_task())
        last = mutant
        verdict = judge.judge(task, mutant.source, timed=False)
        if verdict.status is not Status.COMPILE_ERROR:
            report.count(mutant, status=verdict.status, accepted=verdict.accepted)
        progress(mutant, verdict.status)
    return report


def differs(mutant: Mutant) -> bool:
    """Whether it compiles, and to other machine code than the kernel it was made from."""
    theirs, mine = (_libraries(text) for text in (mutant.specimen.source, mutant.source))
    return mine is not None and (
        mine != theirs or without_native(mutant.source) != without_native(mutant.specimen.source)
    )


def _libraries(source: str) -> list[bytes] | None:
    cache = native.BuildCache(native.cache_dir() / "build")
    try:
        return [cache.get(native.Source("cpp", text)).read_bytes() for _, text in native_parts(source)]
    except native.CompileError:
        return None


def _lot(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.source.encode()).hexdigest()


def _of(specimen: Specimen) -> Iterator[Mutant]:
    source = specimen.source
    for place, text in native_parts(source):
        code = blanked(text)
        for name, operator in NATIVE.items():
            for edit in operator(code):
                yield _mutant(specimen, name, source[:place], text, edit, source[place + len(text) :])
    for name, operator in PYTHON.items():
        for edit in operator(python_only(source)):
            yield _mutant(specimen, name, "", source, edit, "")


def _mutant(specimen: Specimen, operator: str, before: str, text: str, edit: Edit, after: str) -> Mutant:
    head = before + edit.helper + text[: edit.start]
    return Mutant(specimen, operator, head.count("\n") + 1, before + edit.applied(text) + after)
