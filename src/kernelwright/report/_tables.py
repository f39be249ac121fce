"""A judged suite written down: JSON for programs, CSV for spreadsheets, Markdown for people."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kernelwright.report._attempt import Fate
from kernelwright.report._bench import Bench, Result, Speed, Summary, summarise
from kernelwright.report._markdown import escaped, markdown_table
from kernelwright.report._metrics import Estimate

FORMAT = 1


def summaries(bench: Bench) -> dict[str, Summary]:
    """The full set and, where it is another, the clean set."""
    found = {"full set": summarise(bench.full(), bench.baselines)}
    if bench.flagged is not None or len(bench.clean()) != len(bench.full()):
        found["clean set"] = summarise(bench.clean(), bench.baselines)
    return found


# By problem


def rows(bench: Bench) -> list[dict[str, Any]]:
    """One row a problem, plain values; a speedup that was not measured is None."""
    return [_row(result, bench) for result in bench.results]


def _row(result: Result, bench: Bench) -> dict[str, Any]:
    best = result.best(bench.baselines[0])
    row: dict[str, Any] = {
        "problem": result.problem,
        "title": result.title,
        "fate": str(result.fate),
        "status": best.status if best else "",
        "samples": len(result.attempts),
        "accepted": len(result.accepted),
        "best_file": best.file if best else "",
    }
    for name in bench.baselines:
        ratio = best.ratios.get(name) if best else None
        row |= {
            f"speedup_{name}": ratio.value if ratio else None,
            f"low_{name}": ratio.low if ratio else None,
            f"high_{name}": ratio.high if ratio else None,
        }
    flags = dict.fromkeys([*(bench.flagged or {}).get(result.problem, ()), *(best.flaws if best else ())])
    changes = "; ".join(best.changes) if best else ""
    return {**row, "flags": " ".join(flags), "changes": changes, "message": best.message if best else ""}


def to_csv(bench: Bench) -> str:
    table = rows(bench)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]) if table else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def to_json(bench: Bench) -> str:
    sets = {name: _summary_json(summary) for name, summary in summaries(bench).items()}
    whole = {
        "format": FORMAT,
        **bench.context,
        "baselines": list(bench.baselines),
        "sets": sets,
        "problems": rows(bench),
    }
    return json.dumps(whole, indent=1) + "\n"


def _summary_json(summary: Summary) -> dict[str, Any]:
    whole = asdict(summary)
    whole["fates"] = {str(fate): count for fate, count in summary.fates.items()}
    whole["speed"] = {
        name: {**asdict(speed), "fast": {f"{p:g}": _estimate_json(e) for p, e in speed.fast.items()}}
        for name, speed in summary.speed.items()
    }
    return whole


def _estimate_json(estimate: Estimate | None) -> dict[str, Any] | None:
    return None if estimate is None else asdict(estimate)


# In words


def summary_rows(bench: Bench) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of the table of metrics: one column a set."""
    sets = summaries(bench)
    columns = [_column(summary, bench.baselines) for summary in sets.values()]
    names = list(dict.fromkeys(name for column in columns for name in column))
    return ["", *sets], [[name, *(column.get(name, "") for column in columns)] for name in names]


def _column(summary: Summary, baselines: tuple[str, ...]) -> dict[str, str]:
    cells = {"problems": str(summary.problems)}
    for fate in (Fate.REJECTED, Fate.MISSING, Fate.WEAK, Fate.UNJUDGED):
        if summary.fates.get(fate):
            cells[_FATES[fate]] = str(summary.fates[fate])
    cells["correct"] = _share(summary.correctness)
    for k, chance in summary.pass_at.items():
        if k > 1 or len(summary.pass_at) > 1:
            cells[f"pass@{k}"] = _share(chance)
    for name in baselines:
        cells |= _speed_cells(summary.speed[name], name)
    return cells


_FATES: Mapping[Fate, str] = {
    Fate.REJECTED: "rejected",
    Fate.MISSING: "without a solution",
    Fate.WEAK: "refused: the problem is weak",
    Fate.UNJUDGED: "not judged here, not counted",
}


def _speed_cells(speed: Speed, name: str) -> dict[str, str]:
    cells = {f"fast_{threshold:g} over {name}": _share(share, "none timed") for threshold, share in speed.fast.items()}
    cells[f"median over {name}, failures as 1.0"] = _times(speed.median)
    cells[f"geometric mean over {name}, failures as 1.0"] = _times(speed.mean)
    cells[f"median over {name}, correct ones only"] = _times(speed.median_of_solved)
    cells[f"geometric mean over {name}, correct ones only"] = _times(speed.mean_of_solved)
    if speed.untimed:
        cells[f"correct, not timed against {name}"] = str(speed.untimed)
    return cells


def _share(estimate: Estimate | None, absent: str = "none judged") -> str:
    if estimate is None:
        return absent
    return f"{estimate.value:.1%} [{estimate.low:.1%}, {estimate.high:.1%}]"


def _times(estimate: Estimate | None) -> str:
    if estimate is None:
        return "none timed"
    return f"{estimate.value:.2f}x [{estimate.low:.2f}, {estimate.high:.2f}]"


def to_markdown(bench: Bench) -> str:
    heading, table = summary_rows(bench)
    parts = [f"# {bench.context.get('selection', 'Bench')}", _context(bench.context), markdown_table(heading, table)]
    parts += [_EXPLANATION, "## By problem", markdown_table(*_problem_table(bench))]
    return "\n\n".join(parts) + "\n"


_EXPLANATION = (
    "In brackets: 95 % intervals from a bootstrap over problems. A failure has no speedup; where a row says so it "
    "counts as 1.0, as keeping the original does. Of several samples the fastest accepted one counts."
)


def _context(context: Mapping[str, Any]) -> str:
    lines = []
    for key, value in context.items():
        text = ", ".join(f"{name} {part}" for name, part in value.items()) if isinstance(value, Mapping) else str(value)
        lines.append(f"- {key}: {escaped(text)}")
    return "\n".join(lines)


def _problem_table(bench: Bench) -> tuple[list[str], list[list[str]]]:
    heading = ["problem", "title", "status", "right / samples", *(f"over {name}" for name in bench.baselines), "notes"]
    return heading, [_problem_cells(row, bench.baselines) for row in rows(bench)]


def _problem_cells(row: Mapping[str, Any], baselines: tuple[str, ...]) -> list[str]:
    speed = [_ratio(row, name) for name in baselines]
    solved = row["fate"] == Fate.ACCEPTED
    notes = [row["flags"], row["changes"], "" if solved else row["message"]]
    counts = f"{row['accepted']} / {row['samples']}"
    return [row["problem"], row["title"], row["status"] or row["fate"], counts, *speed, "; ".join(filter(None, notes))]


def _ratio(row: Mapping[str, Any], name: str) -> str:
    value = row[f"speedup_{name}"]
    return "" if value is None else f"{value:.2f}x [{row[f'low_{name}']:.2f}, {row[f'high_{name}']:.2f}]"
