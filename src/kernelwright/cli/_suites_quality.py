"""`kernelwright suites quality`: a quality file as a page for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelwright.cli._failure import UsageError, write_text
from kernelwright.report import Audited, quality_page
from kernelwright.tasks import FLAWS, GIVEN
from kernelwright.tasks.suites import KNOWN, Quality

HELP = "Show a quality file as a page: the one that comes with kernelwright for a suite, or one that an audit wrote."


def run(
    what: Annotated[str, typer.Argument(help="A suite, or a file that `suites audit` wrote.")] = "kernelbench",
    out: Annotated[Path | None, typer.Option("--out", help="Write the page (Markdown) here.")] = None,
) -> None:
    quality = _quality(what)
    page = quality_page(quality.suite, _source(quality), _audited(quality), FLAWS)
    if out is None:
        print(page, end="")
    else:
        write_text(out, page)


def _quality(what: str) -> Quality:
    if Path(what).is_file():
        return Quality.read(Path(what))
    if what not in KNOWN:
        fix = f"name a suite ({', '.join(KNOWN)}), or a file that `kernelwright suites audit` wrote"
        raise UsageError(f"there is no quality file {what}", fix)
    shipped = Quality.shipped(what)
    if shipped is None:
        fix = f"measure one: kernelwright suites audit {what}"
        raise UsageError(f"no quality file comes with kernelwright for {what}", fix)
    return shipped


def _audited(quality: Quality) -> list[Audited]:
    """By problem, and for each in the order of the dtypes."""
    keys = dict.fromkeys(key for key, _ in quality.findings)
    ordered = [(key, dtype) for key in keys for dtype in quality.dtypes if (key, dtype) in quality.findings]
    return [_one(quality, key, dtype) for key, dtype in ordered]


def _one(quality: Quality, key: str, dtype: str) -> Audited:
    found = quality.findings[key, dtype]
    numbers = "as given" if dtype == GIVEN else dtype
    title = quality.titles.get(key, "")
    return Audited(key, title, numbers, found.status, found.flags, found.nulls, found.reason)


def _source(quality: Quality) -> str:
    dates = sorted({finding.date for finding in quality.findings.values()})
    when = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "never"
    places = dict.fromkeys(_place(finding.machine) for finding in quality.findings.values())
    return f"{quality.suite} at commit `{quality.version or 'unknown'}`, measured {when} on {'; '.join(places)}."


def _place(machine: Mapping[str, Any]) -> str:
    gpu = machine.get("gpu", "absent")
    processor = machine.get("cpu", "an unknown machine") if gpu == "absent" else gpu
    return f"{processor}, torch {machine.get('torch', 'unknown')}"
