"""The reference's worker on a device: draws inputs there, shows them, and holds results against the oracle.

Nothing large leaves the device. A trial is known by what it was drawn from and drawn again when it is needed; kept are
the few numbers that a comparison needs, and the oracle's answers as far as there is room.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kernelwright.judge._channel import Channel, Message
from kernelwright.judge._compare import HOPELESS, ROUNDOFF, Deviation
from kernelwright.judge._nulls import UNCHANGED
from kernelwright.judge._tree import Tree, decode, encode, foreign
from kernelwright.judge.worker import _abilities, _fused, _gauge
from kernelwright.judge.worker._device import Block, tensor_at
from kernelwright.judge.worker._families import apply_family
from kernelwright.judge.worker._gauge import Facts, Gauge
from kernelwright.judge.worker._on_device import OnDevice
from kernelwright.judge.worker._reference import (
    SWAYS,
    BrokenTask,
    Reference,
    _aliases,
    _check_dtypes,
    _dense,
    _moved,
    _outputs,
    _raising,
    _versions,
    _widened,
)
from kernelwright.judge.worker._tensors import DTYPES, describe, exact_tensor, pack, span
from kernelwright.tasks import Case

# The share of the device's memory in which oracle answers are kept.
KEPT_SHARE = 0.1
# Memory that is kept for reuse is given back when less than this share of all is free; never between timed calls.
FREE_SHARE = 0.12
# Where so much of it is free, what takes long to find out is kept however large it is.
SPACIOUS_SHARE = 0.3
QUICK = frozenset({"open", "go", "ping", "stage", "glance", "agree", "flush", "block", "attach", "show"})
GLANCES = 4096
COPIES = 10
FLUSHED_BYTES = 256 << 20


@dataclass
class Sentence:
    """What is right for one set of inputs."""

    gauges: list[Gauge]
    form: Message

    @property
    def nbytes(self) -> int:
        return sum(gauge.nbytes for gauge in self.gauges)

    @property
    def sound(self) -> bool:
        """Whether the reference can compute it at all."""
        return all(gauge.sound for gauge in self.gauges)


@dataclass(frozen=True)
class Known:
    """What is kept of a sentence when there is no room for the answer itself."""

    form: Message
    facts: list[Facts]


@dataclass
class Swayed:
    """How far the elements of each output move, after so many looks."""

    name: str
    moves: list[torch.Tensor]
    looks: int = 0

    @property
    def nbytes(self) -> int:
        return sum(move.nbytes for move in self.moves)


class Referee(OnDevice, Reference):
    """A reference that also judges."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._sentences: OrderedDict[str, Sentence] = OrderedDict()
        self._known: dict[str, Known] = {}
        self._blocks: dict[tuple[str, int], Block] = {}
        self._seen: dict[str, list[torch.Tensor]] = {}
        self._inapplicable: set[str] = set()
        self._shared: Block | None = None
        self._scratch: torch.Tensor | None = None
        self._swayed: Swayed | None = None

    def _answer(self, message: Message, fds: list[int]) -> None:
        super()._answer(message, fds)
        if message["op"] not in QUICK and self.device.free_bytes() < FREE_SHARE * self.device.total_bytes():
            self.device.release()  # others need room too

    def do_alone(self, message: Message) -> Message:
        """No candidate will come."""
        self.device.have_alone()
        return {"op": "alone"}

    def do_open(self, message: Message) -> Message:
        _fused.folder = Path(message["library"]).parent if message["library"] else None
        return super().do_open(message)

    def _constructed(self, init: Tree) -> Any:
        """The model on the device; made there, since drawing a billion weights on the host takes half a minute."""
        before = torch.get_rng_state()
        try:
            with torch.device(self.device.name):
                model = super()._constructed(init)
        except Exception:  # its constructor may need the host's memory
            torch.set_rng_state(before)
            model = super()._constructed(init)
        return model.to(self.device.name) if isinstance(model, torch.nn.Module) else model

    def _generator(self) -> torch.Generator:
        return torch.Generator(self.device.name)

    def do_redraw(self, message: Message) -> Message:
        self._sentences.clear()
        self._known.clear()
        self._swayed = None
        return super().do_redraw(message)

    # Slots

    def do_slots(self, message: Message) -> Message:
        """Makes the memory that inputs will lie in, here and, read-only, in every candidate's process."""
        self._shared = self._inputs = self.device.make(message["nbytes"])
        return {"op": "slots", "nbytes": self._shared.nbytes, "fds": (self.device.show(self._shared),)}

    def do_fill(self, message: Message) -> Message:
        """Draws inputs into slots."""
        assert self._shared is not None
        for call in message["calls"]:
            _, drawn = self._drawn(call["key"])
            for leaf, tensor in zip(call["leaves"], drawn, strict=True):
                tensor_at(self.device, self._shared.base + leaf["offset"], leaf).copy_(tensor)
        self.device.synchronize()
        return {"op": "filled", "inapplicable": sorted(self._inapplicable)}

    def do_flush(self, message: Message) -> Message:
        """Drives out what the caches hold."""
        if self._scratch is None:
            self._scratch = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device=self.device.name)
        self._scratch.zero_()
        self.device.synchronize()
        return {"op": "flushed"}

    # Drawing

    def do_draw(self, message: Message) -> Message:
        """The form of a set of inputs and of what is right for it."""
        tree, leaves = self._drawn(message["key"])
        form = [{**describe(tensor), "nbytes": span(tensor)} for tensor in leaves]
        del leaves  # the oracle needs the room
        sentence = self._judged(message)
        return {"op": "drawn", "tree": tree, "leaves": form, "expected": sentence.form, "sound": sentence.sound}

    def _drawn(self, key: Message) -> Any:
        """The inputs that a key names, as their outline and tensors; as given where its family does not apply."""
        tree, leaves = self._given(key["case"], key["seed"])
        torch.manual_seed(key["seed"])
        changed = apply_family(key["family"], leaves)
        if changed is None:
            self._inapplicable.add(f"{key['case']['name']}/{key['family']}")
            changed = leaves
        if key.get("touch"):
            changed = self._touched(changed, key)
        return tree, changed

    def _given(self, case: Message, seed: int) -> tuple[Tree, list[torch.Tensor]]:
        wanted = Case.from_wire(case)
        if wanted.inputs is None:
            with torch.device(self.device.name):
                arguments = self._draw(wanted, seed)
        else:
            arguments = self._draw(wanted, seed)
        leaves: list[torch.Tensor] = []
        tree = encode(arguments, lambda value: isinstance(value, torch.Tensor), leaves)
        kind = foreign(tree)
        if kind:
            what = f"get_inputs() returns a {kind}"
            raise BrokenTask(what, "return tensors, numbers, or lists, tuples and dicts of them")
        _check_dtypes("get_inputs() returns", leaves)
        return tree, [_moved_to(self.device.name, leaf) for leaf in leaves]

    def _touched(self, leaves: list[torch.Tensor], key: Message) -> list[torch.Tensor]:
        """One element of each, or one operand, from another draw."""
        _, others = self._given(key["case"], key["touch"]["seed"])
        operand = key["touch"]["operand"]
        if operand is not None:
            return [*leaves[:operand], others[operand], *leaves[operand + 1 :]]
        rng = random.Random(f"{key['touch']['seed']} {key['touch']['time']}")
        for leaf, other in zip(leaves, others, strict=True):
            if leaf.is_floating_point() and leaf.numel():
                place = _place(leaf, rng)
                leaf[place] = other[place]
        return leaves

    # What is right

    def _judged(self, message: Message) -> Sentence:
        """What is right for a key, from what is kept or found out now.

        `call`: where inputs of that key lie, if they do. `like`: a key whose own error stands for this one's.
        """
        name = _name(message["key"])
        sentence = self._sentences.pop(name, None) or self._sentence(message)
        room = self._room()
        if sentence.nbytes > room / 4:
            return sentence
        self._sentences[name] = sentence
        while len(self._sentences) > 1 and sum(kept.nbytes for kept in self._sentences.values()) > room:
            self._sentences.popitem(last=False)
        return sentence

    def _room(self) -> float:
        """Bytes for answers that may be asked for again."""
        return KEPT_SHARE * self.device.total_bytes()

    def _arguments_of(self, message: Message) -> list[Any]:
        call = message.get("call")
        if call is not None:
            found: list[Any] = decode(call["tree"], self._input_tensors(call["leaves"]))
            return found
        return list(decode(*self._drawn(message["key"])))

    def _sentence(self, message: Message) -> Sentence:
        arguments = self._arguments_of(message)
        known = self._known.get(_name(message["key"]))
        if known is None and message.get("like") is not None:
            known = self._known.get(_name(message["like"]))
            return self._from_oracle(arguments, known, same=False) if known else self._from_both(message, arguments)
        return self._from_oracle(arguments, known, same=True) if known else self._from_both(message, arguments)

    def _from_oracle(self, arguments: list[Any], known: Known, *, same: bool) -> Sentence:
        """The oracle is asked again; the reference's own error is known."""
        wide, _ = self._in_double(arguments)
        gauges = []
        for leaf, form, facts in zip(wide.leaves, known.form["leaves"], known.facts, strict=True):
            right = leaf.double().contiguous() if form["dtype"] in ROUNDOFF else leaf.contiguous()
            gauge = Gauge(right, form["dtype"], form["shape"], facts if same else None)
            gauges.append(gauge if same else gauge.like(facts))
        return Sentence(gauges, known.form)

    def _from_both(self, message: Message, arguments: list[Any]) -> Sentence:
        before = _versions(arguments)
        plain = _outputs(_raising("the reference's forward", lambda: self._model(*arguments)))
        if _versions(arguments) != before:
            raise BrokenTask("the reference changes its inputs in place", "let forward work on a copy: x = x.clone()")
        wide, precision = self._in_double(arguments)
        if [leaf.shape for leaf in wide.leaves] != [leaf.shape for leaf in plain.leaves]:
            wide, precision = plain, "same"
        form = {
            "tree": plain.tree,
            "leaves": [describe(leaf) for leaf in plain.leaves],
            "dense": [_dense(leaf) for leaf in plain.leaves],
            "contiguous": [leaf.is_contiguous() for leaf in plain.leaves],
            "aliases": _aliases(plain.leaves, arguments),
            "precision": precision,
        }
        pairs = zip(wide.leaves, plain.leaves, strict=True)
        gauges = [Gauge.of(_widened(w, p), p) for w, p in pairs]
        if precision == "double":
            self._known[_name(message["key"])] = Known(form, [gauge.facts for gauge in gauges])
        return Sentence(gauges, form)

    def _budgets(self, sentence: Sentence, reduction: float) -> list[Deviation]:
        return [gauge.budget(reduction, self.task.precision) for gauge in sentence.gauges]

    def do_nulls(self, message: Message) -> Message:
        """Answers that take no work and would pass."""
        key, other = message["keys"]
        first = self._judged({"key": key})
        budgets = self._budgets(first, message["reduction"])
        passed = []
        if not message["only_unchanged"]:
            passed = _gauge.passing_nulls(first.gauges, self._judged({"key": other}).gauges, budgets)
        if self._equals_input(first, key, budgets):
            passed.append(UNCHANGED)
        return {"op": "nulls", "passed": passed}

    def _equals_input(self, sentence: Sentence, key: Message, budgets: list[Deviation]) -> bool:
        _, inputs = self._drawn(key)
        return all(
            any(
                list(leaf.shape) == gauge.shape
                and str(leaf.dtype).endswith(gauge.dtype)
                and gauge.used(leaf, budget) <= 1
                for leaf in inputs
            )
            for gauge, budget in zip(sentence.gauges, budgets, strict=True)
        )

    # Results

    def do_block(self, message: Message, fd: int) -> Message:
        """Takes a candidate's block, to be read."""
        key = (message["whose"], message["number"])
        self._blocks[key] = self.device.take(fd, message["nbytes"])
        return {"op": "taken"}

    def do_forget(self, message: Message) -> Message:
        """Lets go of a candidate's blocks, and of what was seen of its results."""
        self._seen.pop(message["whose"], None)
        for key in [key for key in self._blocks if key[0] == message["whose"]]:
            self.device.drop(self._blocks.pop(key))
        return {"op": "forgotten"}

    def _results(self, message: Message) -> list[torch.Tensor]:
        return [self._result_at(message["whose"], leaf) for leaf in message["leaves"]]

    def _result_at(self, whose: str, leaf: Message) -> torch.Tensor:
        block = self._blocks.get((whose, leaf["block"]))
        if block is None or leaf["offset"] < 0 or leaf["offset"] + _reach(leaf) > block.nbytes:
            return tensor_at(self.device, 0, {**leaf, "shape": [0], "strides": [1]})
        return tensor_at(self.device, block.base + leaf["offset"], leaf)

    def do_measure(self, message: Message) -> Message:
        """How much of its error budget each output of a result uses, and whether what is over can be excused."""
        sentence = self._judged(message)
        if not sentence.sound:
            return {"op": "measured", "sound": False}
        found = []
        budgets = self._budgets(sentence, message["reduction"])
        for index, (result, budget) in enumerate(zip(self._results(message), budgets, strict=True)):
            gauge = sentence.gauges[index]
            used = gauge.used(result, budget)
            if used > 1 and self._excused(result, sentence, budget, index, message):
                used = 1.0
            said: Message = {"used": used if math.isfinite(used) else "infinite"}
            if used > 1 and not message["brief"]:
                said["evidence"] = gauge.describe_bad(result, budget)
            found.append(said)
        return {"op": "measured", "sound": True, "outputs": found, "strayed": self._strayed(message)}

    def _excused(
        self, result: torch.Tensor, sentence: Sentence, budget: Deviation, index: int, message: Message
    ) -> bool:
        """Equal elements chosen otherwise, or an ill condition."""
        gauge = sentence.gauges[index]
        if gauge.exact:
            inputs: list[torch.Tensor] = []
            encode(self._arguments_of(message), exact_tensor, inputs)
            return _gauge.only_ties(result, gauge.right, inputs)
        if gauge.used(result, budget) >= HOPELESS:
            return False
        try:
            times = math.sqrt(message["reduction"])
            sways = self._sways(message, sentence.gauges)
            return any(gauge.forgives(result, moves[index], times, budget) for moves in sways)
        except torch.OutOfMemoryError:
            self._swayed = None
            return False  # so large a result is judged without that mercy
        finally:
            if not self._keep_sways():
                self._swayed = None

    def _sways(self, message: Message, gauges: list[Gauge]) -> Iterator[list[torch.Tensor]]:
        """How far every element of each output moves when every input moves by a rounding error, as it gets known.

        It only grows from one to the next, so what an earlier one excuses the last would excuse too.
        """
        name = _name(message["key"])
        if self._swayed is None or self._swayed.name != name:
            self._swayed = None
            zeros = [torch.zeros(gauge.right.numel(), device=self.device.name) for gauge in gauges]
            self._swayed = Swayed(name, zeros)
        known = self._swayed
        if known.looks:
            yield known.moves
        while known.looks < SWAYS:
            there, _ = self._in_double(_moved(self._arguments_of(message)))
            for move, gauge, leaf in zip(known.moves, gauges, there.leaves, strict=True):
                gauge.grow(move, leaf)
            known.looks += 1
            yield known.moves

    def _keep_sways(self) -> bool:
        """Whether there is room for them until they are asked for again."""
        spacious = self.device.free_bytes() > SPACIOUS_SHARE * self.device.total_bytes()
        return self._swayed is not None and (spacious or self._swayed.nbytes < self._room() / 4)

    def _strayed(self, message: Message) -> bool:
        """Whether anything stands, behind a guarded result, that was not there when it was allocated."""
        if not message.get("guarded"):
            return False
        for leaf in message["leaves"]:
            block = self._blocks.get((message["whose"], leaf["block"]))
            if block is not None:
                end = leaf["offset"] + _reach(leaf)
                rest = self.device.bytes_at(block.base + end, block.nbytes - end) if end < block.nbytes else None
                if rest is not None and not bool((rest == 0xFF).all()):
                    return True
        return False

    # Glances

    def do_glance(self, message: Message) -> Message:
        """Reads elements of a result, in places chosen now. Whoever is timed is timed until these are read."""
        seen = []
        for result in self._results(message):
            flat = result.reshape(-1)
            generator = torch.Generator(self.device.name).manual_seed(message["seed"])
            places = torch.randint(max(1, flat.numel()), (GLANCES,), generator=generator, device=self.device.name)
            seen.append(flat[places] if flat.numel() else flat.clone())
        self._seen[message["whose"]] = seen
        self.device.synchronize()
        return {"op": "glanced"}

    def do_agree(self, message: Message) -> Message:
        """Whether what was seen of two results is the same, within what both may be off."""
        mine, theirs = (self._seen.pop(message[side]) for side in ("whose", "other"))
        return {
            "op": "agreed",
            "right": all(
                _agrees(a, b, Deviation(*budget)) for a, b, budget in zip(mine, theirs, message["budgets"], strict=True)
            ),
        }

    def do_loosened(self, message: Message) -> Message:
        """What two honest results may differ by."""
        sentence = self._judged(message)
        pairs = zip(sentence.gauges, self._budgets(sentence, message["reduction"]), strict=True)
        return {
            "op": "budgets",
            "budgets": [[1.5 * (b.rms + g.own.rms), 1.5 * (b.peak + g.own.peak)] for g, b in pairs],
        }

    def do_carry(self, message: Message) -> Message:
        """Inputs by value, for a process that has no part in the device's shared memory."""
        tree, leaves = self._drawn(message["key"])
        fd, placed = pack([leaf.cpu() for leaf in leaves], "inputs")
        return {"op": "carried", "tree": tree, "leaves": placed, "fds": (fd,)}

    def do_abilities(self, message: Message) -> Message:
        """What this device can do at best, and how much of everything it has."""
        return {"op": "able", **_abilities.measure(self.device)}

    def do_bandwidth(self, message: Message) -> Message:
        """How fast this device can move bytes: the best of several copies."""
        if self.device.name != "cuda":
            return {"op": "measured", "bytes_per_second": 1e15}
        source = torch.empty(message["nbytes"], dtype=torch.uint8, device=self.device.name)
        target = torch.empty_like(source)
        best = math.inf
        for _ in range(COPIES):
            start = time.perf_counter()
            target.copy_(source)
            self.device.synchronize()
            best = min(best, time.perf_counter() - start)
        return {"op": "measured", "bytes_per_second": 2 * message["nbytes"] / best}


def _name(key: Message) -> str:
    return json.dumps(key, sort_keys=True)


def _moved_to(device: str, leaf: torch.Tensor) -> torch.Tensor:
    return leaf if leaf.device.type == device else leaf.to(device)


def _place(leaf: torch.Tensor, rng: random.Random) -> tuple[int, ...]:
    """Anywhere; on the diagonal of square matrices, so that symmetric ones stay symmetric."""
    place = [rng.randrange(size) for size in leaf.shape]
    if leaf.dim() >= 2 and leaf.shape[-1] == leaf.shape[-2]:
        place[-1] = place[-2]
    return tuple(place)


def _reach(leaf: Message) -> int:
    """Bytes from the first to the last element."""
    if 0 in leaf["shape"]:
        return 0
    reach = sum((n - 1) * stride for n, stride in zip(leaf["shape"], leaf["strides"], strict=True))
    return int((1 + reach) * DTYPES[leaf["dtype"]].itemsize)


def _agrees(mine: torch.Tensor, theirs: torch.Tensor, budget: Deviation) -> bool:
    if mine.shape != theirs.shape:
        return False
    if not mine.is_floating_point():
        return torch.equal(mine, theirs)
    got, right = mine.double(), theirs.double()
    known = torch.isfinite(right)
    if not bool(torch.where(known, True, (got == right) | (got.isnan() & right.isnan())).all()):
        return False
    right, got = torch.where(known, right, 0), torch.where(known, got, 0)
    size = right.square().mean().sqrt().clamp(min=1e-30)
    errors = (got - right).abs() / (right.abs() + size)
    return bool(errors.square().mean().sqrt() <= budget.rms) and bool(errors.max() <= budget.peak)


def main(channel: Channel) -> None:
    Referee(channel).run()
