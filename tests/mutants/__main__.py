"""Judges mutants: `python -m tests.mutants`; all of one kernel: `--kernel softmax_plain`; a few: `--limit 20`."""

from __future__ import annotations

import argparse

from kernelwright.judge import Judge, Status
from tests.corpus import HONEST, specimens
from tests.mutants import Mutant, Report, differs, mutants, run


def main() -> None:
    options = _options()
    with Judge() as judge:
        report = run(judge, options.limit, of=_wanted(options), progress=_say)
    print_report(report)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--kernel", help="every mutant of this honest kernel (or of those that start so)")
    parser.add_argument("--limit", type=int, help="judge only the first so many")
    return parser.parse_args()


def _wanted(options: argparse.Namespace) -> list[Mutant] | None:
    if options.kernel is None:
        return None
    kernels = [specimen for specimen in specimens(HONEST) if specimen.name.startswith(options.kernel)]
    return [mutant for mutant in mutants(kernels) if differs(mutant)]


def _say(mutant: Mutant, status: Status) -> None:
    print(f"{status:<16} {mutant.kernel}:{mutant.line} {mutant.operator}", flush=True)


def print_report(report: Report) -> None:
    for kernel, operator, line, diff in report.survivors:
        print(f"\nsurvives: {operator} in {kernel}:{line}\n{diff}")
    print("\n" + ", ".join(f"{status} {number}" for status, number in report.statuses.most_common()))
    print(f"mutants killed {report.killed}/{report.total} ({report.share:.1%})")


if __name__ == "__main__":
    main()
