"""The device that is judged on, and the workers that have it open."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kernelwright import backends, native
from kernelwright.judge import _compiled
from kernelwright.judge._channel import ChannelError, Message
from kernelwright.judge._limits import Limits, available_memory
from kernelwright.judge._process import Template, Worker
from kernelwright.judge._sandbox import Cage
from kernelwright.judge._status import InfraError

OPEN_SECONDS = 60.0
CANDIDATE, REFEREE = "device-candidate", "referee"
NODES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-caps")
NO_LIMIT = 1 << 46
REFEREE_MEMORY = 0.7


@dataclass(frozen=True)
class Place:
    """`cuda`, or `host`: shared host memory in a device's role, for trying the judge where there is no GPU."""

    kind: str
    library: Path | None

    def order(self, *, own_allocator: bool, profiler: bool = False, triton: bool = False) -> Message:
        """Opens it. `own_allocator`: results lie in memory that can be shown to others."""
        library = str(self.library) if self.library else None
        kind = {"op": "open", "kind": self.kind, "library": library}
        return {**kind, "own_allocator": own_allocator, "profiler": profiler, "triton": triton}

    @property
    def nodes(self) -> tuple[str, ...]:
        return device_nodes(on_gpu=self.kind == "cuda")


def find(kind: str | None) -> Place | None:
    """The place to judge on: the one asked for, or the GPU here; None if there is none."""
    if kind == "host":
        return Place("host", None)
    if backends.usable_gpu() is None:
        return None
    library = _compiled.library(_compiled.DEVICE)
    if library is None:
        raise InfraError("judging on a GPU needs a C++ compiler for the judge's own library", native.install_command())
    return Place("cuda", library)


def device_nodes(*, on_gpu: bool) -> tuple[str, ...]:
    return tuple(filter(os.path.exists, NODES)) if on_gpu else ()


def referee_cage(*, on_gpu: bool) -> Cage:
    """Where the task's own code runs."""
    return Cage(
        namespaces=False,
        memory_bytes=int(available_memory() * REFEREE_MEMORY),
        disk_bytes=NO_LIMIT,
        programs=True,
        devices=device_nodes(on_gpu=on_gpu),
    )


class Workshop:
    """Workers with the device open, some of them ahead of time: opening takes longer than many a judgement."""

    def __init__(self, template: Template, place: Place, limits: Limits, referees: Cage) -> None:
        """`referees`: the cage that they work in."""
        self.place, self._template, self._limits, self._referees = place, template, limits, referees
        self.filtered = template.isolation.filter
        self._triton = False  # whether Triton is made ready in workers that are opened ahead
        self._opening: list[Worker] = []
        self._profiling: list[Worker] = []
        self._line: list[tuple[Worker, Message]] = []
        self._at_the_door: Worker | None = None

    def expect(self, backend: str) -> None:
        """Who writes in Triton is likely to do so again, so workers make it ready."""
        self._triton = backend == "triton" and self.place.kind == "cuda"

    def _have_triton(self) -> None:
        if self._triton:
            self._template.have("triton")

    def _cage(self) -> Cage:
        """Triton starts compilers, so a candidate may at first; before it is timed that ends (`seal`)."""
        return Cage(
            namespaces=self._template.isolation.namespaces,
            memory_bytes=self._limits.memory_bytes,
            disk_bytes=self._limits.disk_bytes,
            spawns=True,
            devices=self.place.nodes,
            folders=tuple(str(path) for path in (native.toolkit_folder(), self.place.library) if path),
        )

    def open_ahead(self, number: int, *, watched: int = 1) -> None:
        """Has candidates' workers made ready up to this number, and one whose kernels can be seen."""
        missing, unwatched = max(0, number - len(self._opening)), max(0, watched - len(self._profiling))
        cage = self._cage()
        self._have_triton()
        self._template.fork_ahead(CANDIDATE, missing + unwatched, cage=cage)
        self._opening += [self._begin(cage, profiler=False) for _ in range(missing)]
        self._profiling += [self._begin(cage, profiler=True) for _ in range(unwatched)]

    def _begin(self, cage: Cage, *, profiler: bool) -> Worker:
        order = self.place.order(own_allocator=True, profiler=profiler, triton=self._triton)
        return self._stand_in_line(self._template.fork(CANDIDATE, cage=cage), order)

    def _stand_in_line(self, worker: Worker, order: Message) -> Worker:
        self._line.append((worker, order))
        self.attend()
        return worker

    def attend(self) -> None:
        """Lets the next worker open the device if the one before has: call it now and then.

        A driver opens it for one process after the other, and whoever works meanwhile stands behind all that wait.
        """
        while self._line and self._door_is_free():
            self._at_the_door, order = self._line.pop(0)
            if self._at_the_door.end is None:
                self._at_the_door.say(order)

    def let_all_in(self) -> None:
        """Nobody works now, so all who wait may open the device at once."""
        waiting, self._line = self._line, []
        for worker, order in waiting:
            if worker.end is None:
                worker.say(order)

    def _door_is_free(self) -> bool:
        last = self._at_the_door
        return last is None or last.end is not None or last.answered()

    def candidate(self, *, profiler: bool = False) -> Worker:
        """One that opens the device or has done so; ready after `opened`."""
        self.open_ahead(0 if profiler else 1, watched=int(profiler))
        return (self._profiling if profiler else self._opening).pop(0)

    def referee(self) -> Worker:
        """What candidates will need is imported while it opens the device."""
        referee = self.begin_referee()
        self._have_triton()
        return self.opened(referee)

    def begin_referee(self, *, own_allocator: bool = False) -> Worker:
        """One that opens the device while something else goes on; ready after `opened`."""
        worker = self._template.fork(REFEREE, cage=self._referees)
        return self._stand_in_line(worker, self.place.order(own_allocator=own_allocator))

    def opened(self, worker: Worker) -> Worker:
        """Waits until it has opened the device; if it still stands in line, it is let past the others."""
        for order in [order for other, order in self._line if other is worker]:
            worker.say(order)
        self._line = [(other, order) for other, order in self._line if other is not worker]
        try:
            answer, _ = worker.answer_fds(timeout=OPEN_SECONDS)
        except ChannelError as error:
            end = worker.finish()
            raise InfraError(
                f"a worker could not open the device: {end.problem or end.output[-500:] or error}"
            ) from error
        if answer["op"] != "opened":
            worker.finish()
            raise InfraError(f"a worker could not open the device: {answer.get('message')}")
        if self._at_the_door is worker:
            self._at_the_door = None
        self.attend()
        return worker

    def close(self) -> None:
        for worker in (*self._opening, *self._profiling):
            worker.dismiss()
