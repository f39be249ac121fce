"""A project's winner as a patch that `git am` applies, with what its certificate says as the message."""

from __future__ import annotations

import difflib
import textwrap
import time
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

from kernelwright.store import Judged
from kernelwright.tasks import Project, Task

WIDTH = 72
# What git takes for the end of a message, or the beginning of another.
FORBIDDEN = ("---", "diff -", "Index: ", "From ")
FACTS = ("cpu", "cores", "memory_gb", "gpu", "kernel", "compiler", "python", "torch", "numpy")


def patch(task: Task, project: Project, source: str, final: Judged) -> str:
    """The whole text, from the first line of an email to its end."""
    changed = {
        path: (project.text(path), text)
        for path, text in project.with_candidate(source).items()
        if text != project.text(path)
    }
    diffs = [_diff(project.prefix + path, *texts) for path, texts in changed.items()]
    ratio = final.verdict["speedup"]["original"]
    subject = f"Make {task.name} {ratio['ratio']:.2f} times as fast"
    head = [
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001",
        "From: Kernelwright <kernelwright@localhost>",
        f"Date: {formatdate(final.noted, localtime=False)}",
        f"Subject: [PATCH] {_one_line(subject)}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=UTF-8",
        "Content-Transfer-Encoding: 8bit",
        "",
        *map(_harmless, _message(task, final)),
        "---",
        *(_stat(project.prefix + path, *texts) for path, texts in changed.items()),
        "",
    ]
    return "\n".join([*head, *diffs]) + "-- \nkernelwright\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _harmless(line: str) -> str:
    return f" {line}" if line.startswith(FORBIDDEN) else line


def _message(task: Task, final: Judged) -> Iterator[str]:
    """What was checked, how fast, on what, how sure."""
    verdict = final.verdict
    ratio = verdict["speedup"]["original"]
    yield from textwrap.wrap(
        f"{ratio['ratio']:.2f}x over the original, 95 % interval {ratio['low']:.2f} to {ratio['high']:.2f}, measured "
        f"in turns with it in {verdict['evidence']['project'].get('runs', 0)} pairs of runs.",
        WIDTH,
    )
    yield ""
    yield from textwrap.wrap(f"{verdict['status']}: {_one_line(verdict['message'])}.", WIDTH)
    yield ""
    yield from _cases(verdict)
    yield ""
    yield "Certificate:"
    yield f"  task       {final.task}"
    yield f"  candidate  {final.candidate}"
    yield f"  measured   {time.strftime('%F %T', time.gmtime(final.noted))} UTC by judge {final.judge}"
    yield f"  isolation  {verdict['evidence'].get('isolation', '')}"
    yield f"  tests      as on the original: {', '.join(verdict['evidence']['project']['tests'])}"
    for name in FACTS:
        found = verdict["machine"].get(name)
        if found not in (None, "", "absent"):
            yield f"  {name:<10} {_one_line(str(found))}"


def _cases(verdict: dict[str, Any]) -> Iterator[str]:
    for case, told in verdict["evidence"].get("witness", {}).items():
        claimed, seen = f"{told['claimed_speedup']:.2f}x", f"{told['wall_speedup']:.2f}x"
        used = "" if told["borne_out"] else ", which counts"
        yield f"  {case}: {claimed} by the benchmark, {seen} by the clock of whole runs{used}"


def _diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}", lineterm="")
    return "\n".join([f"diff --git a/{path} b/{path}", *_ended(list(lines))]) + "\n"


def _lines(text: str) -> list[str]:
    """Each with its end, if it has one: only `\\n` ends a line for git."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def _ended(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield line.removesuffix("\n")
        if line[:1] in (" ", "+", "-") and not line.startswith(("+++ ", "--- ")) and not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _stat(path: str, before: str, after: str) -> str:
    changes = [line[0] for line in difflib.ndiff(_lines(before), _lines(after)) if line[0] in "+-"]
    return f" {path} | {len(changes)} {'+' * min(20, changes.count('+'))}{'-' * min(20, changes.count('-'))}"
