"""A Ray cluster as a fleet: a job goes to a node that can do it, one at a time a device, and to another if it is lost.

The search decides who judges what: Ray carries jobs and results, and says who has died.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelwright import backends
from kernelwright.fleet import _cluster
from kernelwright.fleet._abilities import abilities, language
from kernelwright.fleet._cluster import Node
from kernelwright.fleet._courtroom import MOST_FAULTS, JudgeMaker
from kernelwright.fleet._error import FleetError
from kernelwright.fleet._job import Job, Kind, Result, judge_version
from kernelwright.fleet._roster import Post, Roster, one_line
from kernelwright.judge import Judge

POLL_S = 0.25
# How long a job waits for somebody who can do it; nodes that were lost may come back, and others may yet join.
PATIENCE_S = 60.0


@dataclass(eq=False)
class Case:
    """A job on its way.

    Attributes:
        failed: Nodes that failed at it. `faults`: how often.
        alone: Since when nobody was there who could do it.
        built: What a bench makes of it.
    """

    job: Job
    failed: set[str] = field(default_factory=set)
    faults: int = 0
    reason: str = ""
    where: str = ""
    alone: float | None = None
    built: Any = None

    @property
    def place(self) -> tuple[bool, float]:
        """Profiles behind everybody else; those that failed before behind those that did not."""
        return self.job.profile_of is not None, self.faults

    @property
    def kind(self) -> tuple[Hashable, ...]:
        """Cases of one kind can be judged by the same nodes."""
        return language(self.job), self.job.on_device, self.job.device, frozenset(self.failed)


class RayFleet:
    """Judges on the nodes of a Ray cluster.

    Args:
        guest: The node through which this process asks.
        own: Nodes that end with this fleet.
        judges: Makes the judge, on the node.
        patience_s: How long a job waits for a node that can do it.
    """

    def __init__(
        self, guest: Node, *, own: Sequence[Node] = (), judges: JudgeMaker = Judge, patience_s: float = PATIENCE_S
    ) -> None:
        self._own, self._patience_s = own, patience_s
        _cluster.connect(guest)
        self._ray = _cluster.ray()
        self._roster = Roster(self._ray, judges)
        self._cases: dict[str, Case] = {}
        self._heard: dict[Any, tuple[Case, Post]] = {}
        self._tasks: dict[str, Any] = {}
        self._devices: dict[bool, str] = {}
        self._done: list[Result] = []
        self._closed = False

    # The protocol

    def submit(self, job: Job) -> None:
        if job.name not in self._cases:
            self._cases[job.name] = Case(job)
            if job.task_hash not in self._tasks:
                self._tasks[job.task_hash] = self._ray.put(job.task)
            self._step()

    def finished(self, timeout: float) -> list[Result]:
        end = time.monotonic() + timeout
        while True:
            self._step()
            left = end - time.monotonic()
            if self._done or not self._cases or left <= 0:
                done, self._done = self._done, []
                return done
            self._wait(min(left, POLL_S))

    def close(self) -> None:
        """What is being judged on a cluster of others is judged to its end, and known to who asks for it again."""
        if self._closed:
            return
        self._closed = True
        if not self._own:
            self._roster.rest()
        self._ray.shutdown()
        for node in reversed(self._own):
            node.close()

    # One step

    def _wait(self, seconds: float) -> None:
        opening = [post.opened for post in self._roster.seats if post.known is None]
        if self._heard or opening:
            self._ray.wait([*self._heard, *opening], timeout=seconds)
        else:
            time.sleep(seconds)

    def _step(self) -> None:
        for post in self._roster.look():
            self._gone(post)
        for post, said in self._roster.open_up():
            self._heard_of(post, said)
        self._collect()
        able: dict[tuple[Hashable, ...], list[Post]] = {}  # hundreds may wait, of two or three kinds
        for case in sorted(self._waiting(), key=lambda case: case.place):
            if case.kind not in able:
                able[case.kind] = self._able(case)
            self._place(case, able[case.kind])

    def _waiting(self) -> list[Case]:
        under_way = {id(case) for case, _ in self._heard.values()}
        return [case for case in self._cases.values() if id(case) not in under_way]

    # Who judges it

    def _place(self, case: Case, able: list[Post]) -> None:
        if not able:
            self._nobody(case)
            return
        case.alone = None
        idle = [post for post in able if post.idle]
        knows = [post for post in able if case.job.name in (post.known or ())] if idle else []
        for post in [post for post in knows if post.idle] if knows else idle:
            self._send(case, post)
            return
        self._build_ahead(case, able[0])

    def _able(self, case: Case) -> list[Post]:
        """Seats on the device that the job is for, those first that have not failed at it."""
        job = case.job
        fitting = [post for post in self._roster.seats if post.offers.fits(job) and post.node not in case.failed]
        gpu = job.on_device or backends.get(language(job)).for_device
        fitting = [post for post in fitting if post.offers.has_gpu] or fitting if gpu else fitting
        device = job.device or self._device(gpu, fitting)
        return [post for post in fitting if post.offers.device == device]

    def _device(self, gpu: bool, fitting: list[Post]) -> str | None:
        """Times on different devices are not compared: where nobody says which, the one that most nodes have."""
        if gpu not in self._devices and fitting:
            numbers = Counter(post.offers.device for post in fitting)
            self._devices[gpu] = max(sorted(numbers), key=lambda name: numbers[name])
        return self._devices.get(gpu)

    def _send(self, case: Case, post: Post) -> None:
        job = case.job
        task, built = self._tasks[job.task_hash], self._built(case)
        post.job = job.name
        self._heard[post.actor.hear.remote(job.to_wire(), task, built)] = case, post

    def _nobody(self, case: Case) -> None:
        now = time.monotonic()
        case.alone = case.alone if case.alone is not None else now
        if (case.failed and not self._opening()) or now - case.alone >= self._patience_s:
            self._give_up(case, self._why_nobody(case))

    def _opening(self) -> bool:
        return any(post.known is None for post in self._roster.seats)

    def _why_nobody(self, case: Case) -> str:
        if case.reason:
            return case.reason
        device = case.job.device or self._devices.get(case.job.on_device)
        wanted = f"{language(case.job)} on {device}" if device else language(case.job)
        there = "; ".join(str(post.offers) for post in self._roster.posts.values()) or "nobody is there"
        gone = "".join(f"; {reason}" for reason in self._roster.refused.values())
        return f"no node of this fleet judges {wanted}: {there}{gone}"

    # What is compiled elsewhere

    def _build_ahead(self, case: Case, seat: Post) -> None:
        bench = self._roster.bench_for(seat, case.job) if case.built is None else None
        if bench is not None:
            case.built = bench.actor.build.remote(case.job.source)

    def _built(self, case: Case) -> Any:
        """What is ready of it by now; a bench that was lost has built nothing."""
        if case.built is None or not self._ray.wait([case.built], timeout=0)[0]:
            return None
        try:
            self._ray.get(case.built)
        except self._ray.exceptions.RayError:
            return None
        return case.built

    # What comes of it

    def _collect(self) -> None:
        if not self._heard:
            return
        ready, _ = self._ray.wait(list(self._heard), num_returns=len(self._heard), timeout=0)
        for heard in ready:
            case, post = self._heard.pop(heard)
            post.job = None
            try:
                self._told(case, post, self._ray.get(heard))
            except self._ray.exceptions.RayActorError:
                self._retry(case, f"{post.offers.node} was lost while it judged")
                self._roster.doubt(post)
            except self._ray.exceptions.RayError as error:
                self._failed(case, post, one_line(error))

    def _told(self, case: Case, post: Post, told: dict[str, Any]) -> None:
        if "fault" not in told:
            self._finish(case, Result(**{**told, "kind": Kind(told["kind"])}))
            return
        case.where = told["where"]
        if told["hopeless"]:  # it lacks something, and has not failed
            case.failed.add(post.node)
            case.reason = told["fault"]
        else:
            self._failed(case, post, told["fault"])

    def _failed(self, case: Case, post: Post, reason: str) -> None:
        self._retry(case, self._roster.failed(post, reason))
        others = [one for one in self._able(case) if one is not post]
        if others:
            case.failed.add(post.node)

    def _gone(self, post: Post) -> None:
        """A node that the cluster has given up."""
        for heard, (case, who) in list(self._heard.items()):
            if who is post:
                del self._heard[heard]
                self._retry(case, f"{post.offers.node} was lost while it judged")

    def _heard_of(self, post: Post, said: str) -> None:
        """Told with any job that waits: nobody else would hear of it."""
        for case in list(self._cases.values())[:1]:
            self._done.append(self._result(case, Kind.RETRIED, said))

    def _retry(self, case: Case, reason: str) -> None:
        case.faults, case.reason, case.built = case.faults + 1, reason, None
        if case.faults >= MOST_FAULTS:
            self._give_up(case, reason)
        else:
            self._done.append(self._result(case, Kind.RETRIED, reason))

    def _give_up(self, case: Case, reason: str) -> None:
        self._finish(case, self._result(case, Kind.INFRA, reason))

    def _finish(self, case: Case, result: Result) -> None:
        if self._cases.pop(case.job.name, None) is not None:
            self._done.append(result)

    def _result(self, case: Case, kind: Kind, reason: str) -> Result:
        return Result.of(case.job, kind, where=case.where, judge=judge_version(), reason=reason)


# *** how one is opened ***


def local_ray(number: int = 1, **how: Any) -> RayFleet:
    """A cluster on this machine for as long as the fleet is open: so many nodes, each with its share of the cores."""
    cores = sorted(os.sched_getaffinity(0))
    if not 1 <= number <= len(cores):
        fix = f"say local-ray, or local-ray/N with N up to {len(cores)}"
        raise FleetError(f"{number} nodes cannot share {len(cores)} cores", fix)
    os.environ.setdefault(_cluster.TOKEN, _cluster.new_token())
    nodes = [_cluster.start_head()]
    try:
        for one in range(number):
            share = cores[one * len(cores) // number : (one + 1) * len(cores) // number]
            nodes.append(_join(nodes[0].address, share, f"local-{one + 1}"))
        return RayFleet(nodes[0], own=nodes, **{"patience_s": 0.0, **how})
    except BaseException:
        for node in reversed(nodes):
            node.close()
        raise


def _join(address: str, cores: Iterable[int], name: str) -> Node:
    with _cluster.on(cores):
        return _cluster.start_node(address, abilities(node=name))


def ray_cluster(address: str, **how: Any) -> RayFleet:
    """A cluster that others have started, and may use too."""
    _cluster.need_token()
    guest = _cluster.start_node(address)
    try:
        return Guest(guest, **how)
    except BaseException:
        guest.close()
        raise


class Guest(RayFleet):
    """On a cluster of others, through a node of one's own that offers nothing."""

    def __init__(self, guest: Node, **how: Any) -> None:
        self._guest = guest
        super().__init__(guest, **how)

    def close(self) -> None:
        super().close()
        self._guest.close()
