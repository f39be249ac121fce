"""The synthesiser as somebody who answers requests."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from kernelwright.propose._request import ProposerError, Reply, Request
from kernelwright.propose.builtin import _operators as _operators
from kernelwright.propose.builtin import _view_operators as _view_operators
from kernelwright.propose.builtin import _window_operators as _window_operators
from kernelwright.propose.builtin._candidate import candidate
from kernelwright.propose.builtin._capture import capture
from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._genome import Genes, Genome, crossed, drawn, mutated, read, read_all
from kernelwright.propose.builtin._lower import lower
from kernelwright.propose.builtin._model import Written
from kernelwright.propose.builtin._tracer import tracer
from kernelwright.propose.builtin.sycl import SyclGenome
from kernelwright.propose.builtin.sycl import candidate as sycl_candidate
from kernelwright.propose.builtin.triton import TritonGenome
from kernelwright.propose.builtin.triton import candidate as triton_candidate
from kernelwright.tasks import Task

NAME = "builtin"
# Of the answers to a kernel of its own, the share that is crossed with another.
CROSSED = 0.25
TRIES = 20
G = TypeVar("G", bound=Genes)


@dataclass(frozen=True)
class Language:
    """A language that kernels are written in: what varies, and who writes."""

    genome: type[Genes]
    write: Callable[[str, Sequence[Written], Any], str]


LANGUAGES = {
    "cpp": Language(Genome, candidate),
    "sycl": Language(SyclGenome, sycl_candidate),
    "triton": Language(TritonGenome, triton_candidate),
}
BACKENDS = tuple(LANGUAGES)


@dataclass(frozen=True)
class _Understood:
    """What became of a task: programs for its cases, or why there are none."""

    cases: tuple[Written, ...] = ()
    problem: CannotWriteError | None = None


@dataclass(frozen=True)
class Desk:
    """Writes kernels for one task."""

    task: Task
    cases: tuple[Written, ...]
    language: Language = LANGUAGES["cpp"]

    def text(self, genome: Genes) -> str:
        title = f"Written by the built-in synthesiser for {_plain(self.task.name)}."
        return self.language.write(title, self.cases, genome)

    def settled(self, genome: G) -> G:
        """The genome with the usual value wherever another makes no difference to this task's kernel."""
        body = self._body(genome)
        for name, values in genome.choices.items():
            usual = replace(genome, **{name: values[0]})
            if usual != genome and self._body(usual) == body:
                genome = usual
        return genome

    def _body(self, genome: Genes) -> str:
        return self.text(genome).replace(genome.header, "")


class Builtin:
    """Answers with kernels of its own. The seed, the request's id and the parent decide an answer."""

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed
        self._understood: dict[str, _Understood] = {}
        self._lock = threading.Lock()
        tracer()  # loads while the judge is tried

    def look_at(self, task: Task) -> None:
        if task.project is None:
            threading.Thread(target=self._look_at, args=[task], name="capture", daemon=True).start()

    def _look_at(self, task: Task) -> None:
        """What fails here fails again when a kernel is asked for, and is told then."""
        with suppress(Exception):
            self.understand(task)

    def propose(self, request: Request) -> Reply:
        if request.kind == "rewrite":
            return _reply("", 0.0)
        began = time.monotonic()
        task = _task_of(request)
        source = self._written(request, Desk(task, self.understand(task), LANGUAGES[request.backend]))
        return _reply(f"```python\n{source}```\n", time.monotonic() - began)

    def _written(self, request: Request, desk: Desk) -> str:
        """A kernel that is not the parent with other words above it, if one is found in a few tries."""
        chance = random.Random(f"{self._seed} {request.id}")
        language = desk.language.genome
        parent = read(request.parent, language) if request.parent else None
        if parent is None:
            return desk.text(desk.settled(_first(request, language(), chance)))
        old = desk.settled(parent)
        others = [genome for genome in read_all(request.prompt, language) if genome != parent]
        for _ in range(TRIES):
            child = desk.settled(_child(parent, others, chance))
            if child != old:
                break
        return desk.text(child)

    def understand(self, task: Task) -> tuple[Written, ...]:
        """The task's programs, found out once. Raises CannotWriteError where there are none."""
        with self._lock:
            if task.hash not in self._understood:
                self._understood[task.hash] = _understood(task)
        found = self._understood[task.hash]
        if found.problem is not None:
            raise found.problem
        return found.cases


def _first(request: Request, usual: G, chance: random.Random) -> G:
    """The usual choices a little changed; unchanged for the very first request of a run."""
    return usual if request.id.lstrip("0") in ("", "1") else mutated(usual, chance)


def _child(parent: G, others: list[G], chance: random.Random) -> G:
    """The parent changed a little, or crossed with a kernel that was shown beside it; with any, if none was."""
    if chance.random() < CROSSED:
        return crossed(parent, chance.choice(others) if others else drawn(chance, type(parent)), chance)
    return mutated(parent, chance)


def _task_of(request: Request) -> Task:
    if request.task is None:
        raise ProposerError("the built-in synthesiser was asked without a task.", "Pass task= in the request.")
    if request.task.project is not None:
        what = "the built-in synthesiser writes kernels for references, and not regions of a project."
        raise ProposerError(what, "Name another with --model: openai/NAME, script/DIR, mailbox/DIR.")
    if request.backend not in BACKENDS:
        known = f"{', '.join(BACKENDS[:-1])} and {BACKENDS[-1]}"
        what = f"the built-in synthesiser writes {known} so far, not {request.backend}."
        raise CannotWriteError(what, f"Say --backend {BACKENDS[0]}, or name a model with --model.")
    return request.task


def _understood(task: Task) -> _Understood:
    try:
        found = {graph.inputs: Written(graph, lower(graph)) for graph in capture(task)}
        return _Understood(tuple(found.values()))
    except CannotWriteError as problem:
        return _Understood(problem=problem)


def _plain(name: str) -> str:
    """A task's name as it can stand in a docstring."""
    return "".join(letter for letter in name if letter.isalnum() or letter in " _-./:")


def _reply(text: str, seconds: float) -> Reply:
    return Reply(text=text, model=NAME, tokens_in=None, tokens_out=None, dollars=0.0, seconds=seconds, finish="stop")
