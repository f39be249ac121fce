"""A certificate: a claim about a candidate with everything needed to check it, on this machine or another."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kernelwright.judge._judge import BASELINES
from kernelwright.judge._status import Status
from kernelwright.judge._verdict import Verdict, source_hash
from kernelwright.judge.project._hearing import ORIGINAL
from kernelwright.tasks import Task, TaskError

FORMAT = 1
KIND = "kernelwright certificate"
KEYS = frozenset({"kind", "format", "issued", "task", "candidate", "baselines", "verdict"})


class BrokenCertificate(Exception):
    """The file is not a certificate, or was changed since it was written."""


@dataclass(frozen=True)
class Claim:
    task: Task
    candidate: str
    baselines: tuple[str, ...]
    verdict: dict[str, Any]

    @property
    def asked(self) -> tuple[str, ...]:
        """The baselines that a judge is asked for: a project is always timed against itself."""
        return self.baselines if self.task.project is None else ()


@dataclass
class Review:
    """Whether a claim holds here, and the comparison line by line."""

    holds: bool = True
    lines: list[str] = field(default_factory=list)

    def add(self, good: bool, line: str) -> None:
        self.holds &= good
        self.lines.append(("holds: " if good else "FAILS: ") + line)


def issue(task: Task, candidate: str, verdict: Verdict, baselines: tuple[str, ...]) -> str:
    """The certificate's text. Seeds, raw samples, machine and versions stand in the verdict."""
    if task.project is not None:
        baselines = (ORIGINAL,)
    content = {
        "kind": KIND,
        "format": FORMAT,
        "issued": datetime.now(UTC).isoformat(timespec="seconds"),
        "task": task.to_wire(),
        "candidate": candidate,
        "baselines": list(baselines),
        "verdict": verdict.to_json(),
    }
    return json.dumps(content, indent=1) + "\n"


def read(text: str) -> Claim:
    content = _parsed(text)
    try:
        task = Task.from_wire(content["task"])
        claim = Claim(task, content["candidate"], tuple(content["baselines"]), content["verdict"])
        hashes = (claim.verdict["task"], claim.verdict["candidate"])
        found = (task.hash, source_hash(claim.candidate))
        _check_form(claim)
    except (KeyError, TypeError, ValueError, AttributeError, TaskError) as error:
        raise BrokenCertificate(f"the certificate is damaged: {error}") from error
    if hashes != found:
        raise BrokenCertificate("the task or the candidate was changed after the certificate was written")
    return claim


def _check_form(claim: Claim) -> None:
    """Touches what a review will read, so that damage is found before anything is judged."""
    Status(claim.verdict["status"])
    dict(claim.verdict["machine"])
    for ratio in claim.verdict["speedup"].values():
        _spelled(ratio)
    known = BASELINES if claim.task.project is None else (ORIGINAL,)
    unknown = set(claim.baselines) - set(known)
    if unknown:
        raise ValueError(f"unknown baselines {sorted(unknown)}")


def _parsed(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise BrokenCertificate(f"not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise BrokenCertificate("not a Kernelwright certificate")
    if content.get("format") != FORMAT:
        raise BrokenCertificate(f"format {content.get('format')} is not known here; this version reads {FORMAT}")
    if content.keys() != KEYS:
        raise BrokenCertificate(f"keys missing or unknown: {sorted(content.keys() ^ KEYS)}")
    return content


def review(claim: Claim, verdict: Verdict) -> Review:
    """Compares a claim with a new verdict: the status must be the same, speedups must overlap."""
    found = Review()
    claimed = claim.verdict
    same_machine = claimed["machine"].get("cpu") == verdict.machine.get("cpu")
    if not same_machine:
        found.lines.append(f"note: claimed on {claimed['machine'].get('cpu')}, judged on {verdict.machine.get('cpu')}")
    if not verdict.checked:
        found.add(False, "nothing could be checked here")
    same = claimed["status"] == verdict.status or (claimed["status"] == Status.UNTIMED and verdict.accepted)
    found.add(same, f"status {claimed['status']} claimed, {verdict.status} found")
    for name, ratio in claimed.get("speedup", {}).items():
        now = verdict.speedup.get(name)
        if now is None:
            found.add(False, f"no speedup over {name} could be measured")
            continue
        overlap = now["low"] <= ratio["high"] and ratio["low"] <= now["high"]
        found.add(overlap, f"{_spelled(ratio)} over {name} claimed, {_spelled(now)} found")
    return found


def _spelled(ratio: dict[str, float]) -> str:
    return f"{ratio['ratio']:.2f}x [{ratio['low']:.2f}, {ratio['high']:.2f}]"
