"""A search on one quiet screen: the best so far, the archive as a picture, what was spent, what happened last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kernelwright.archive import CELLS, LEVELS, Cell
from kernelwright.cli._moments import cell_name, plain, short, speed
from kernelwright.cli._view import View

LABEL = 13
CELL, NARROW = 4, 9
# What the rest of the screen needs; the last events take what is left of a small terminal.
OTHER_LINES, FEWEST, MOST = 19, 2, 8
# So long without a word is worth saying.
SILENCE_SECONDS = 15
PARTS = {
    "evaluations": "evaluations",
    "tokens": "tokens",
    "dollars": "money",
    "judge_seconds": "judge time",
    "wall_seconds": "time",
}
NOWHERE = (-1, -1, -1)
PREFLIGHT = "trying the judge on candidates whose fate is known ..."


def picture(view: View, now: float, height: int = 24) -> RenderableType:
    """The whole screen, for a terminal of so many lines."""
    if not view.run:
        return Text(PREFLIGHT)
    number = max(FEWEST, min(MOST, height - OTHER_LINES))
    last = [_line(Text(line)) for line in view.lines[-number:]]
    memory, algorithm, coordination = view.best["cell"] if view.best else NOWHERE
    archive = archive_picture(view.elites, (memory, algorithm, coordination))
    return Group(_head(view), _best(view), _spending(view, now), *_doing(view, now), *archive, Text(), *last)


def duration(seconds: float) -> str:
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _line(text: Text) -> Text:
    """One line whatever the width: what does not fit is left out, so that nothing below moves."""
    text.no_wrap = True
    text.overflow = "crop"
    return text


def _labelled(label: str, text: str, style: str = "") -> Text:
    return _line(Text.assemble((f"{label:<{LABEL}}", "dim"), (text, style)))


def _head(view: View) -> Text:
    what = f"{plain(view.task)} in {plain(view.backend)}"
    return _line(Text.assemble((what, "bold"), (f"  run {view.run}", "dim")))


def _best(view: View) -> Text:
    best = view.best
    if best is None:
        return _labelled("best", "no kernel accepted yet")
    where = f"  kernel {short(best['candidate'])}, cell {cell_name(best['cell'])}"
    return _line(Text.assemble(_labelled("best", speed(best), "bold green"), where))


# What it costs


def _spending(view: View, now: float) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(width=LABEL - 2, style="dim")
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    used = _used(view, now)
    for part, label in PARTS.items():
        most = view.budget.get(part)
        bar: RenderableType = _bar(used[part], most) if most else Text()
        table.add_row(Text(label), Text(_amount(view, part, used[part], most)), bar)
    return table


def _bar(used: float, most: float) -> ProgressBar:
    return ProgressBar(total=most, completed=min(used, most), complete_style="cyan", finished_style="cyan")


def _used(view: View, now: float) -> dict[str, float]:
    spent = {name: view.spent.get(name, 0) for name in ("evaluations", "dollars", "judge_seconds", "wall_seconds")}
    tokens = view.spent.get("tokens_in", 0) + view.spent.get("tokens_out", 0)
    spent["evaluations"] -= view.spent.get("seeds", 0)
    return {**spent, "tokens": tokens, "wall_seconds": spent["wall_seconds"] + _since(view, now)}


def _since(view: View, now: float) -> float:
    """Seconds since the run last said how it stands; none once it is over."""
    return max(0.0, now - view.stood) if view.stood and not view.over else 0.0


def _amount(view: View, part: str, used: float, most: float | None) -> str:
    text = _quantity(part, used) + (f" of {_quantity(part, most)}" if most else "")
    unpriced = view.spent.get("unpriced", 0) if part == "dollars" else 0
    seeds = view.spent.get("seeds", 0) if part == "evaluations" else 0
    beside = f", {unpriced} answers unpriced" if unpriced else f", {seeds} seeds beside them" if seeds else ""
    return text + beside


def _quantity(part: str, value: float) -> str:
    if part == "dollars":
        return f"${value:.2f}"
    return duration(value) if part.endswith("seconds") else f"{value:,.0f}"


# What it does


def _doing(view: View, now: float) -> Iterator[Text]:
    yield _labelled("pace", _pace(view, now))
    yield _labelled("busy", _busy(view, now))


def _pace(view: View, now: float) -> str:
    used = _used(view, now)
    if not used["evaluations"] or not used["wall_seconds"]:
        return "nothing judged yet"
    rate = f"{60 * used['evaluations'] / used['wall_seconds']:.1f} evaluations a minute"
    left = view.forecast["seconds"] - _since(view, now) if view.forecast else 0
    if view.forecast is None or left <= 0:
        return rate
    return f"{rate}; {PARTS[view.forecast['part']]} used up in about {duration(left)}"


def _busy(view: View, now: float) -> str:
    if view.over:
        return "nobody, it has ended"
    silence = now - view.heard
    quiet = f"; quiet for {duration(silence)}" if silence >= SILENCE_SECONDS else ""
    return f"{_count(view.asking, 'request')} under way, {_count(view.judging, 'candidate')} to judge{quiet}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# What it has found


def archive_picture(elites: Mapping[Cell, float], best: Cell) -> Iterator[Text]:
    """The speedup of the best kernel of each cell; the best of all stands out."""
    levels = range(LEVELS)
    filled = f"{len(elites)} of {len(CELLS)} cells filled, with the speedup of the best kernel of each"
    yield _labelled("archive", filled)
    yield _row("", [Text(f"{f'coordination {level}':>{CELL * LEVELS}}", "dim") for level in levels])
    yield _row("algorithm", [Text("".join(f"{level:>{CELL}}" for level in levels), "dim") for _ in levels])
    for memory in levels:
        yield _row(f"memory {memory}", [_block(elites, best, memory, level) for level in levels])


def _row(label: str, blocks: list[Text]) -> Text:
    text = Text().append(f"{label:<{NARROW}}", "dim")
    for block in blocks:
        text.append(" ").append_text(block)
    return _line(text)


def _block(elites: Mapping[Cell, float], best: Cell, memory: int, coordination: int) -> Text:
    text = Text()
    for algorithm in range(LEVELS):
        cell = (memory, algorithm, coordination)
        found = elites.get(cell)
        style = "dim" if found is None else "bold green" if cell == best else ""
        text.append(f"{'.' if found is None else _brief(found):>{CELL}}", style)
    return text


def _brief(ratio: float) -> str:
    """A speedup in three letters."""
    if ratio >= 999.5:
        return "1k+"
    if ratio >= 9.95:
        return f"{ratio:.0f}"
    return f"{ratio:.1f}" if ratio >= 0.995 else f"{ratio:.2f}"[1:]
