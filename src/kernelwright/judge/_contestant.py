"""A candidate's process from the judge's side: load it, call it, look at what it returned. Believes nothing."""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kernelwright import native
from kernelwright.judge._builder import Builder
from kernelwright.judge._channel import Closed, Garbage, Message, Silent
from kernelwright.judge._expected import Expected, Form
from kernelwright.judge._limits import Limits
from kernelwright.judge._machine_code import Code, codes_of
from kernelwright.judge._memory import (
    NUMPY,
    RED_BYTES,
    Array,
    Leaf,
    Packed,
    Placed,
    Unreadable,
    count,
    extent,
    same_bytes,
    well_formed,
)
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Answer, Template, Worker, verdict_of_end
from kernelwright.judge._sandbox import Cage
from kernelwright.judge._status import Rejection, Status
from kernelwright.judge._tree import Tree, foreign, outline

# How many results, besides the newest, a worker keeps alive; the worker's own numbers are the same.
KEPT_RESULTS, KEPT_WHEN_GUARDED, KEPT_BYTES = 1, 4, 512 << 20
MOST_BUILDS = 32
LONGEST_HEADLINE, LONGEST_TEXT = 2000, 1 << 18
# OpenMP's threads spin for some milliseconds after a call before they sleep.
GRACE_SECONDS, IDLE_SECONDS, IDLE_SHARE, IDLE_TRIES = 0.01, 0.02, 0.1, 12
NONSENSE = (Garbage, KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError, RecursionError)
# Words of CUDA's, and what a candidate's author can do about them.
ADVICE = {
    "invalid device ordinal": "a candidate is shown one GPU: stay on the device of its inputs",
    "no kernel image is available": "the code is for another GPU than this one: leave -arch out",
}
FAILED = {"compile": Status.COMPILE_ERROR, "memory": Status.OOM}


ROLE = "candidate"


def cage(template: Template, limits: Limits) -> Cage:
    """What every candidate runs in."""
    return Cage(
        namespaces=template.isolation.namespaces, memory_bytes=limits.memory_bytes, disk_bytes=limits.disk_bytes
    )


class Contestant:
    """One process that has loaded a candidate."""

    def __init__(
        self,
        template: Template,
        prepared: Prepared,
        builder: Builder,
        source: str,
        *,
        limits: Limits,
        interpret: bool = False,
        mute: bool = False,
        only_build: bool = False,
        at_leisure: bool = False,
    ) -> None:
        """`interpret`: its kernels run in Triton's interpreter. `only_build`: it is imported and never called.

        `at_leisure`: it is not told to load yet.
        """
        self._prepared, self._limits, self._source = prepared, limits, source
        self._deadline = time.monotonic() + limits.total_s
        self.worker = self._fork(template)
        self._builder, self._interpret, self._mute = builder, interpret, mute
        self.libraries: dict[int, str] = {}
        self.codes: list[Code] = []
        self._answers: list[Answer] = []
        self._kept = KEPT_RESULTS
        self._builds = 0
        self._compiled: list[Message] = []
        self._refused: list[Message] = []
        self.worker.serve = self._serve
        self.stage_name = "load"
        try:
            if only_build:
                self.ask({"op": "import", "source": source}, timeout=limits.load_s)
            elif not at_leisure:
                self._begin_load()
                self.loaded()
        except BaseException:
            self.close()
            raise

    def _fork(self, template: Template) -> Worker:
        return template.fork(ROLE, cage=cage(template, self._limits))

    # Loading

    def _begin_load(self) -> None:
        order = {
            "op": "load",
            "source": self._source,
            "init": self._prepared.init,
            "mode": self._prepared.task.mode,
            "interpret": self._interpret,
            "mute": self._mute,
        }
        with self.judged():
            self.worker.say(order)

    def loaded(self) -> None:
        """Waits until it is loaded; its weights are then the reference's."""
        with self.judged():
            answer = self.check_answer(self.worker.answer(timeout=self._left(self._limits.load_s)))
        self._compare_weights(answer.get("weights"))
        self.give_weights()

    def _serve(self, request: Message) -> tuple[Message, tuple[int, ...]]:
        """Compiles for the candidate and notes the library as its own code: by inode, and what a driver makes of it."""
        self._builds += 1
        if self._builds > MOST_BUILDS or time.monotonic() > self._deadline:
            raise Rejection(Status.TIMEOUT, f"asked for compilation after compilation ({self._builds})", stage="build")
        reply, fds = self._builder.serve(request)
        self.libraries |= {os.fstat(fd).st_ino: _backend(request) for fd in fds}
        self.codes += [code for fd in fds for code in _driver_codes(request, fd)]
        (self._compiled if fds else self._refused).append({**request, **reply})
        return reply, fds

    @property
    def compiled(self) -> list[Message]:
        """The requests whose text was compiled for it."""
        return self._compiled

    def has_compiled(self, backend: str) -> bool:
        """Whether text for this backend was compiled. Raises if some was refused and none compiled, said or not."""
        compiled = any(_backend(request) == backend for request in self._compiled)
        if self._refused and not compiled:
            self.check_answer({**self._refused[0], "kind": "compile"})
        return compiled

    def _compare_weights(self, own: object) -> None:
        wanted = self._prepared.weight_shapes
        if not isinstance(own, dict):
            raise Rejection(Status.TAMPER, "did not say which weights it has")
        missing, extra = sorted(wanted.keys() - own.keys()), sorted(own.keys() - wanted.keys())
        if missing or extra:
            raise Rejection(
                Status.WRONG_STRUCTURE,
                "its parameters and buffers do not have the reference's names: "
                + "; ".join(_listed(word, names) for word, names in (("missing", missing), ("extra", extra)) if names),
                missing=missing,
                extra=extra,
            )
        for name, shape in wanted.items():
            if own[name] != shape:
                raise Rejection(
                    Status.WRONG_STRUCTURE,
                    f"weight {name} has shape {own[name]}, the reference's has {shape}",
                )

    def give_weights(self) -> None:
        """The weights now in force in the reference."""
        leaves, fd = self._prepared.weights()
        if leaves:
            self.ask({"op": "weights", "leaves": leaves}, (fd,), timeout=self._limits.load_s)

    # Calling

    def ask(self, message: Message, fds: tuple[int, ...] = (), *, timeout: float) -> Message:
        with self.judged():
            return self.check_answer(self.worker.ask(message, fds, timeout=self._left(timeout)))

    def call(
        self, inputs: Packed, *, slot: int = 0, shifted: bool = True, guard: bool = False
    ) -> tuple[Placed, Answer]:
        """One call. `guard`: in the guarding allocator, with more earlier results kept alive."""
        placed = self.lay(inputs, slot=slot, shifted=shifted, guard=guard)
        return placed, self.go()

    def lay(self, inputs: Packed, *, slot: int, shifted: bool, guard: bool = False) -> Placed:
        stage = self._prepared.room(inputs)
        placed = stage.place(inputs, slot, shifted=shifted)
        stage.fill(placed)
        self.lay_placed(placed, guard=guard)
        return placed

    def lay_placed(self, placed: Placed, *, guard: bool = False) -> None:
        assert self._prepared.stage is not None
        with self.judged():
            self.worker.attach(self._prepared.stage, timeout=self._limits.call_s)
            self._kept = KEPT_WHEN_GUARDED if guard else KEPT_RESULTS
            self._answers = self._answers[-self._kept - 1 :]  # the worker drops older ones now
            pattern = random.choice(RED_BYTES) if guard else 0
            answer = self.worker.stage(placed, timeout=self._limits.call_s, guard=pattern, keep=self._kept)
            self.check_answer(answer)

    def go(self) -> Answer:
        with self.judged():
            answer = self.worker.go(timeout=self._left(self._limits.call_s))
            return self.note(answer)

    def note(self, answer: Message | Answer) -> Answer:
        """Remembers a result, as the worker does: the last few stay alive there."""
        if not isinstance(answer, Answer):
            self.check_answer(answer)
            raise Garbage("neither a result nor a reason")
        self._answers = [*self._answers, answer][-self._kept - 1 :]
        return answer

    def _left(self, timeout: float) -> float:
        return max(0.0, min(timeout, self._deadline - time.monotonic()))

    def check_answer(self, answer: Message) -> Message:
        if answer.get("op") != "failed":
            return answer
        during = Status.LOAD_ERROR if self.stage_name == "load" else Status.CRASH
        status = FAILED.get(str(answer.get("kind")), during)
        headline = _clean(answer.get("message", ""), LONGEST_HEADLINE).strip().split("\n")[0]
        raised = f"raised {_clean(answer.get('type'), 100)}: {headline}{_advice(headline)}"
        sentences = {Status.COMPILE_ERROR: headline, Status.OOM: f"ran out of memory: {raised}"}
        raise Rejection(
            status,
            sentences.get(status, raised),
            log=_clean(answer.get("log", ""), LONGEST_TEXT),
            trace=_clean(answer.get("trace", ""), LONGEST_TEXT),
            stage=self.stage_name,
        )

    @contextmanager
    def judged(self) -> Iterator[None]:
        """What a worker's silence, death or babble means for the candidate inside it."""
        try:
            yield
        except Silent as error:
            end = self.worker.finish()
            limit = self._limits.load_s if self.stage_name == "load" else self._limits.call_s
            raise Rejection(
                Status.TIMEOUT,
                f"gave no answer within {limit:g} s during {self.stage_name}",
                stage=self.stage_name,
                output=end.output[-4000:],
            ) from error
        except Closed as error:
            raise verdict_of_end(self.worker.died(), self.stage_name) from error
        except NONSENSE as error:
            raise Rejection(
                Status.TAMPER, f"forged the worker's messages during {self.stage_name}", detail=str(error)
            ) from error
        except Unreadable as error:
            raise Rejection(
                Status.TAMPER,
                f"names memory for its result that cannot be read: {error}",
                stage=self.stage_name,
            ) from error

    # Looking

    def values(self, leaf: Leaf) -> Array:
        with self.judged():
            return self.worker.reader.tensor(leaf)

    @property
    def call_limit(self) -> float:
        return self._left(self._limits.call_s)

    def check_mappings(self) -> None:
        with self.judged():
            if not self.worker.keeps_inputs_mapped():
                raise Rejection(Status.TAMPER, "changed how the inputs' memory is mapped", stage=self.stage_name)

    def check_structure(self, answer: Answer, expected: Expected) -> None:
        with self.judged():
            self._check_structure(answer, expected)

    def _check_structure(self, answer: Answer, expected: Expected) -> None:
        self._check_outline(answer.tree, expected.tree)
        if (
            not isinstance(answer.leaves, list)
            or len(answer.leaves) != len(expected.outputs)
            or not all(map(well_formed, answer.leaves))
        ):
            raise Rejection(Status.TAMPER, "describes its result in a way no tensor can have")
        with self.judged():
            self._check_finished(answer)
        for index, (leaf, output) in enumerate(zip(answer.leaves, expected.outputs, strict=True)):
            self._check_leaf(f"output {index}" if len(answer.leaves) > 1 else "the output", leaf, output)

    def _check_outline(self, mine: Tree, theirs: Tree) -> None:
        try:
            kind, same, words = foreign(mine), _normal(mine) == _normal(theirs), outline(mine)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            kind, same, words = "nonsense", False, "nonsense"
        if kind:
            message = f"returns a {kind} where the reference returns a plain tensor on the device of the inputs"
            raise Rejection(Status.WRONG_STRUCTURE, message)
        if not same:
            raise Rejection(Status.WRONG_STRUCTURE, f"returns {words} where the reference returns {outline(theirs)}")

    def _check_finished(self, answer: Answer) -> None:
        """What stood in the result when the call returned still stands there now."""
        if len(answer.early) != len(answer.leaves):
            raise Garbage("no glance at the result")
        for leaf, early in zip(answer.leaves, answer.early, strict=True):
            size = NUMPY[leaf["dtype"]].itemsize
            if bool(early) != bool(count(leaf)) or not all(_is_place(offset, leaf, size) for offset, _ in early):
                raise Garbage("no glance at the result")
            if self._differs(leaf, early):
                message = "its result was not finished when it returned; it changed afterwards"
                raise Rejection(Status.TAMPER, message, stage=self.stage_name)

    def check_earlier(self) -> None:
        """The results before the last are still what they were: nothing wrote over them."""
        *earlier, last = self._answers
        size = sum(extent(leaf) for leaf in last.leaves if count(leaf))
        alive = max(1, min(self._kept, KEPT_BYTES // max(1, size)))
        with self.judged():
            for leaf, early in (pair for old in earlier[-alive:] for pair in zip(old.leaves, old.early, strict=True)):
                if not self._inside_inputs(leaf) and self._differs(leaf, early):
                    message = "a later call overwrites the result of an earlier one: return newly allocated memory"
                    raise Rejection(Status.STATEFUL, message, stage=self.stage_name)

    def _differs(self, leaf: Leaf, early: list[tuple[int, str]]) -> bool:
        if not early:
            return False
        size = NUMPY[leaf["dtype"]].itemsize
        now = bytes(self.worker.reader.sample(leaf, [offset for offset, _ in early], size))
        return now != bytes.fromhex("".join(text for _, text in early))

    def check_idle(self) -> None:
        """Between calls nothing may run: whoever watches for inputs could start before the clock does."""
        busy = [self._busy_share()]
        while busy[-1] > IDLE_SHARE and len(busy) < IDLE_TRIES:
            busy.append(self._busy_share())
        if busy[-1] > IDLE_SHARE:
            message = f"keeps running between calls ({min(busy):.0%} of a core): let its threads sleep"
            raise Rejection(Status.TAMPER, message, busy=busy)

    def cpu_seconds(self) -> float:
        with self.judged():
            return self.worker.cpu_seconds()

    def resume(self) -> None:
        """Lets it run on between calls."""
        with self.judged():
            self.worker.thaw()

    def _busy_share(self) -> float:
        with self.judged():
            self.worker.thaw()
            time.sleep(GRACE_SECONDS)
            before = self.worker.cpu_seconds()
            time.sleep(IDLE_SECONDS)
            return (self.worker.cpu_seconds() - before) / IDLE_SECONDS

    def _check_leaf(self, name: str, leaf: Leaf, output: Form) -> None:
        for what, mine, theirs in (
            ("shape", leaf["shape"], output.shape),
            ("dtype", leaf["dtype"], output.dtype),
        ):
            if mine != theirs:
                raise Rejection(
                    Status.WRONG_STRUCTURE,
                    f"{name} has {what} {_form(mine)}, the reference's has {_form(theirs)}",
                )
        if not _in_order(leaf, output.contiguous):
            raise Rejection(
                Status.WRONG_STRUCTURE,
                f"{name} lies in memory unlike the reference's: strides {_form(leaf['strides'])}",
            )
        repeats = any(stride == 0 and size > 1 for size, stride in zip(leaf["shape"], leaf["strides"], strict=True))
        if repeats and output.dense:
            raise Rejection(
                Status.WRONG_STRUCTURE, f"{name} is expanded: many of its elements share one place in memory"
            )
        if self._inside_inputs(leaf) and not output.aliases_input:
            raise Rejection(Status.WRONG_STRUCTURE, f"{name} lies in the memory of an input; results need their own")

    def _inside_inputs(self, leaf: Leaf) -> bool:
        return self.worker.maps_inputs_at(leaf["ptr"])

    def check_inputs(self, placed: Placed) -> None:
        """Inputs and the red zones around them, as this process sees them, are what they were."""
        assert self._prepared.stage is not None
        with self.judged():
            if self.worker.shares_inputs(placed):
                return
            seen = self.worker.input_bytes(placed)
        wanted = self._prepared.stage.content(placed)
        if same_bytes(seen, wanted):
            return
        changed = (seen != wanted).nonzero()[0]
        at = placed.start + int(changed[0])
        for index, leaf in enumerate(placed.leaves):
            if leaf["offset"] <= at < leaf["offset"] + leaf["nbytes"]:
                raise Rejection(
                    Status.INPUT_MUTATED,
                    f"changed input {index} ({len(changed)} bytes)",
                    first_byte=at - leaf["offset"],
                )
        raise Rejection(Status.CRASH, f"wrote {len(changed)} bytes outside its tensors, next to an input")

    def quiet(self) -> None:
        if not self.worker.quiet():
            raise Rejection(Status.TAMPER, "sent messages nobody asked for")

    def close(self) -> None:
        self.worker.dismiss()
        self.worker.serve = None  # neither holds the other any more, and with it the task's memory


def _backend(request: Message) -> str:
    return native.Source(request["source"]["language"], "").backend


def _driver_codes(request: Message, fd: int) -> list[Code]:
    """The code that a driver will write into memory from this library; C++ brings its own."""
    if request["source"]["language"] != "sycl":
        return []
    return codes_of(native.program_of(os.pread(fd, os.fstat(fd).st_size, 0)))


def _clean(text: object, longest: int) -> str:
    """Text from a candidate as it may stand in a verdict: short, printable, storable."""
    cut = str(text)[:longest].encode("utf-8", "replace").decode()
    return "".join(letter for letter in cut if letter.isprintable() or letter in "\n\t")


def _advice(headline: str) -> str:
    """What to do about an error whose own words do not say it."""
    return next((f" ({advice})" for words, advice in ADVICE.items() if words in headline), "")


def _in_order(leaf: Leaf, contiguous: bool) -> bool:
    """No two elements share a place; and where the reference's rows lie one after the other, so do these."""
    axes = [(stride, size) for size, stride in zip(leaf["shape"], leaf["strides"], strict=True) if size > 1]
    if any(stride == 0 for stride, _ in axes) or 0 in leaf["shape"]:
        return True  # told apart elsewhere
    ordered = axes if contiguous else sorted(axes, reverse=True)
    return all(outer >= inner * size for (outer, _), (inner, size) in itertools.pairwise(ordered))


def _is_place(offset: object, leaf: Leaf, size: int) -> bool:
    return type(offset) is int and 0 <= offset <= extent(leaf) - size


def _normal(tree: Tree) -> object:
    """Lists and tuples are the same to whoever unpacks them."""
    if tree["t"] in ("list", "tuple"):
        return [_normal(item) for item in tree["items"]]
    if tree["t"] == "dict":
        return {key: _normal(item) for key, item in tree["items"]}
    return (tree["t"], tree.get("i"), tree.get("v"))


def _form(value: object) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, list) else str(value)


def _listed(word: str, names: list[str]) -> str:
    shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
    return f"{word} {shown}"
