"""Who is there: the nodes of a cluster that judge or build, and those that are not used any more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kernelwright.fleet._abilities import BENCH, SEAT, Abilities
from kernelwright.fleet._cluster import NAMESPACE
from kernelwright.fleet._courtroom import JudgeMaker
from kernelwright.fleet._job import Job, judge_version
from kernelwright.fleet._seat import Bench, Seat

LOOK_S = 1.0
# A device that has failed so often is no longer used.
MOST_FAULTS = 2


@dataclass(eq=False)
class Post:
    """A node with a seat, or with a bench.

    Attributes:
        actor: What runs there. `opened`: comes when it does, with the jobs whose results it still knows.
        known: Those jobs. None until it is open, and while it is not known whether it still is.
        job: What it is busy with.
    """

    node: str
    offers: Abilities
    actor: Any
    opened: Any
    known: frozenset[str] | None = None
    job: str | None = None
    faults: int = 0

    @property
    def idle(self) -> bool:
        return self.known is not None and self.job is None


@dataclass
class Roster:
    """The posts of a cluster, as they are now.

    Attributes:
        refused: Nodes that are not used, and why.
    """

    ray: Any
    judges: JudgeMaker
    posts: dict[str, Post] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    _looked: float = 0.0

    @property
    def seats(self) -> list[Post]:
        return [post for post in self.posts.values() if post.offers.times]

    def bench_for(self, seat: Post, job: Job) -> Post | None:
        benches = (post for post in self.posts.values() if not post.offers.times and post.known is not None)
        return next((post for post in benches if post.offers.builds_for(seat.offers, job)), None)

    def look(self) -> list[Post]:
        """Now and then asks who is there; those who are not any more."""
        if time.monotonic() - self._looked < LOOK_S:
            return []
        self._looked = time.monotonic()
        there = {node["NodeID"]: offers for node in self.ray.nodes() if node["Alive"] for offers in _offers(node)}
        gone = [self.posts.pop(node) for node in list(self.posts) if node not in there]
        for node, offers in there.items():
            if node not in self.posts and node not in self.refused:
                self._welcome(node, offers)
        return gone

    def _welcome(self, node: str, offers: Abilities) -> None:
        if offers.judge != judge_version():
            self.refused[node] = f"{offers.node} judges with kernelwright {offers.judge}, and this is {judge_version()}"
            return
        actor = self._actor(node, offers)
        self.posts[node] = Post(node, offers, actor, actor.kept.remote())

    def _actor(self, node: str, offers: Abilities) -> Any:
        """One for all who use the cluster: whoever comes first starts it, and jobs of all are heard in turn."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        place, what = (SEAT, Seat) if offers.times else (BENCH, Bench)
        how = self.ray.remote(what).options(
            name=f"{place}-{node}",
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            num_cpus=0,
            resources={place: 1},
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )
        return how.remote(self.judges, offers.device)

    def open_up(self) -> Iterator[tuple[Post, str]]:
        """Notes who has opened since; those of whom something is to be said."""
        waiting = {post.opened: post for post in self.posts.values() if post.known is None}
        if not waiting:
            return
        ready, _ = self.ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
        for opened in ready:
            post = waiting[opened]
            try:
                post.known = frozenset(self.ray.get(opened))
            except self.ray.exceptions.ActorUnavailableError:
                self.doubt(post)
            except self.ray.exceptions.RayError as error:
                if self.is_there(post):
                    yield post, self.failed(post, one_line(error))

    def is_there(self, post: Post) -> bool:
        return any(node["NodeID"] == post.node and node["Alive"] for node in self.ray.nodes())

    def doubt(self, post: Post) -> None:
        """It did not answer: is asked whether it is still there, and gets nothing to do before it has said so."""
        post.opened, post.known, post.job = post.actor.kept.remote(), None, None

    def failed(self, post: Post, reason: str) -> str:
        """A device failed; what is to be said of it. Twice is too often."""
        post.faults += 1
        if post.faults >= MOST_FAULTS:
            self.posts.pop(post.node, None)
            said = f"{post.offers.node} failed {post.faults} times and is not used any more: {reason}"
            self.refused[post.node] = said
            return said
        if post.known is None:  # what ran there has died, and its node has not
            post.actor = self._actor(post.node, post.offers)
            self.doubt(post)
        return f"{post.offers.node} failed: {reason}"

    def rest(self) -> None:
        for post in self.posts.values():
            post.actor.rest.remote()


def _offers(node: dict[str, Any]) -> Iterator[Abilities]:
    found = Abilities.told_by(node.get("Labels") or {}, node["Resources"])
    if found is not None:
        yield found


def one_line(error: BaseException) -> str:
    """The last line of what a cluster says, which is the one that says it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
