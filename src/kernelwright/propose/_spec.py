"""Who answers, as a user says it: `openai/NAME`, `mailbox/DIR`, or several with weights, `A:2,B:1`."""

import math
import os
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.propose._anthropic import AnthropicModel
from kernelwright.propose._clock import Clock
from kernelwright.propose._endpoint import Settings
from kernelwright.propose._folders import Replay, Script
from kernelwright.propose._limited import Limited, Limits
from kernelwright.propose._local import LocalModel
from kernelwright.propose._mailbox import Mailbox
from kernelwright.propose._openai import OpenAIModel
from kernelwright.propose._request import Proposer, ProposerError, Reply, Request, TakesUp, prompt_limit
from kernelwright.propose.builtin import Builtin

FORMS = "builtin, openai/NAME, anthropic/NAME, local/FILE.gguf, mailbox/DIR, script/DIR, replay; several as A:2,B:1"


@dataclass(frozen=True, kw_only=True)
class _Means:
    """What the makers of proposers are given besides a name."""

    base_url: str | None
    settings: Settings
    limits: Limits
    replies: Mapping[str, Reply] | None
    clock: Clock
    seed: int


class Ensemble:
    """Several proposers; which of them answers is drawn by weight, from the seed and the request's id alone."""

    def __init__(self, members: Sequence[tuple[Proposer, float]], *, seed: int = 0) -> None:
        self._proposers = [proposer for proposer, _ in members]
        self._weights = [weight for _, weight in members]
        self._seed = seed

    @property
    def prompt_tokens(self) -> int | None:
        """As many as each of them can read: who will answer is not known when a prompt is written."""
        limits = [limit for limit in map(prompt_limit, self._proposers) if limit is not None]
        return min(limits, default=None)

    def propose(self, request: Request) -> Reply:
        chance = random.Random(f"{self._seed} {request.id}")
        (chosen,) = chance.choices(self._proposers, self._weights)
        return chosen.propose(request)

    def take_up(self, models: Sequence[str]) -> None:
        for member in self._proposers:
            if isinstance(member, TakesUp):
                member.take_up(models)


def proposer(
    spec: str,
    *,
    base_url: str | None = None,
    settings: Settings | None = None,
    limits: Limits | None = None,
    seed: int = 0,
    replies: Mapping[str, Reply] | None = None,
    stop: threading.Event | None = None,
) -> Proposer:
    """The proposer that a text names; raises ProposerError before anything is asked or paid.

    Args:
        base_url: Address of an endpoint that speaks OpenAI's protocol, for `openai/NAME`.
        limits: For endpoints; each member of an ensemble has its own.
        seed: Of the draws among several, and of what a model on this machine answers.
        replies: What `replay` answers with, by request id.
        stop: When set, whoever waits (for a mailbox, a retry, a turn) stops waiting.
    """
    means = _Means(
        base_url=base_url,
        settings=settings or Settings(),
        limits=limits or Limits(),
        replies=replies,
        clock=Clock(stop),
        seed=seed,
    )
    members = [_weighted(part.strip()) for part in spec.split(",")]
    made = [(_member(name, means), weight) for name, weight in members]
    return made[0][0] if len(made) == 1 else Ensemble(made, seed=seed)


def asks_a_model(spec: str) -> bool:
    """Whether somebody is named who reads prompts, and not only kernels that are ready or that a program writes."""
    return any(_weighted(part.strip())[0].partition("/")[0] not in _PROMPTLESS for part in spec.split(","))


def model_at_hand() -> bool:
    """Whether the environment holds a key or an address, so that a model could be asked if one was named."""
    variables = (OpenAIModel.key_variable, OpenAIModel.url_variable, AnthropicModel.key_variable)
    return any(os.environ.get(name) for name in variables)


def _weighted(part: str) -> tuple[str, float]:
    """`A:2` is A with weight 2. Behind the last colon only a number is a weight: names have colons too."""
    name, colon, tail = part.rpartition(":")
    try:
        weight = float(tail)
    except ValueError:
        return part, 1.0
    if not colon:
        return part, 1.0
    if not (weight > 0 and math.isfinite(weight)):
        raise ProposerError(f"the weight of {part!r} is not positive.", "Write a number above 0 behind the colon.")
    return name, weight


def _member(part: str, means: _Means) -> Proposer:
    kind, _, name = part.partition("/")
    make = _MAKERS.get(kind)
    if make is None:
        raise ProposerError(f"no model is called {part!r}.", f"Write {FORMS}.")
    if kind not in _NAMELESS and not name:
        raise ProposerError(f"{part!r} names no model, file or folder.", f"Write {FORMS}.")
    return make(name, means)


def _replay(_: str, means: _Means) -> Proposer:
    if means.replies is None:
        raise ProposerError("there are no stored replies to replay.", "Replay a run that has been recorded.")
    return Replay(means.replies)


def _openai(name: str, means: _Means) -> Proposer:
    model = OpenAIModel(name, url=means.base_url, settings=means.settings)
    return Limited(model, means.limits, clock=means.clock)


def _anthropic(name: str, means: _Means) -> Proposer:
    return Limited(AnthropicModel(name, settings=means.settings), means.limits, clock=means.clock)


_NAMELESS = frozenset({"builtin", "replay"})
_PROMPTLESS = frozenset({"builtin", "replay", "script"})
_MAKERS: dict[str, Callable[[str, _Means], Proposer]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "local": lambda name, means: LocalModel(Path(name), settings=means.settings, seed=means.seed, clock=means.clock),
    "mailbox": lambda name, means: Mailbox(Path(name), clock=means.clock),
    "script": lambda name, means: Script(Path(name)),
    "replay": _replay,
    "builtin": lambda name, means: Builtin(seed=means.seed),
}
