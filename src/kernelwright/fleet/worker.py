"""`python -m kernelwright.fleet.worker DIR [--watch]`: as `kernelwright worker spool`, with fewer packages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kernelwright.fleet._error import FleetError
from kernelwright.fleet._shift import judge_spool

CANNOT_JUDGE = 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m kernelwright.fleet.worker", description="Judge what waits in DIR.")
    parser.add_argument("folder", metavar="DIR", type=Path, help="the DIR of the search's `--fleet spool/DIR`")
    parser.add_argument("--watch", action="store_true", help="wait for more when all is judged")
    given = parser.parse_args()
    try:
        judge_spool(given.folder, watch=given.watch, say=_say)
    except FleetError as error:
        print(f"Cannot judge: {error}", file=sys.stderr)
        return CANNOT_JUDGE
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
