"""`kernelwright verify`: judge a certificate's candidate again, here, and say whether its claim holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.cli._failure import CANNOT_JUDGE, UsageError, read_text
from kernelwright.cli._render import render
from kernelwright.judge import Judge, certificate

HELP = "Judge a certificate's candidate again on this machine. Exit 0 the claim holds, 1 it does not, 2 cannot judge."
DOES_NOT_HOLD = 1


def run(file: Annotated[Path, typer.Argument(help="A certificate written by eval --certificate.")]) -> None:
    try:
        claim = certificate.read(read_text(file, "certificate"))
    except certificate.BrokenCertificate as error:
        raise UsageError(
            f"{file}: {error}", "ask for the certificate again, or judge the candidate with eval"
        ) from error
    console = Console(highlight=False)
    with Judge(baselines=claim.asked, reveal_seeds=True) as judge:
        with console.status("judging again, on new secret inputs ..."):
            verdict = judge.judge(claim.task, claim.candidate)
        review = certificate.review(claim, verdict)
    render(console, verdict, claim.task.name, f"candidate of {file.name}")
    for line in review.lines:
        console.print(f"  {escape(line)}", soft_wrap=True)
    if not verdict.checked:
        console.print("[bold yellow]The claim cannot be checked[/] on this machine.")
        raise typer.Exit(CANNOT_JUDGE)
    word = "[bold green]The claim holds" if review.holds else "[bold red]The claim does not hold"
    console.print(f"{word}[/] on this machine.")
    if not review.holds:
        raise typer.Exit(DOES_NOT_HOLD)
