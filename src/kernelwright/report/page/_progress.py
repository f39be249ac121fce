"""The best so far over evaluations, every candidate as a dot, failures below."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernelwright.report.page._attempt import Attempt
from kernelwright.report.page._chart import (
    Point,
    Scale,
    cross,
    dots,
    drawing,
    figure,
    frame,
    key,
    px,
    ring,
    steps,
    thinned,
)
from kernelwright.report.page._html import Html, join, note, section, tag
from kernelwright.report.page._story import Best, Story
from kernelwright.report.page._words import counted, kernel, times

WIDTH, LEFT, RIGHT, TOP, FLOOR = 920.0, 64.0, 16.0, 30.0, 300.0
# The strips below the axis, one for each kind of candidate that has no speed.
STRIP, STRIPS = 22.0, FLOOR + 56
# Marks that say what they are when pointed at; more would make the page slow, and nobody could hit one.
MOST_TITLED = 1000
# How many times slower than eager or the best a kernel may be and still be drawn in its place.
SLOWEST = 20.0
MARGIN = 1.05
# So much is always shown of the speeds around eager, and of the line after the last evaluation.
AROUND, ROOM = (0.9, 1.2), 0.5


def progress(story: Story) -> Html:
    attempts = list(story.attempts.values())
    if not attempts:
        return section("progress", "Progress", note("Nothing was judged."))
    return section("progress", "Progress", _Chart(story, attempts).figure())


_TICKS = (lambda n: f"{n:g}", lambda n: f"{n:g}x")


class _Chart:
    def __init__(self, story: Story, attempts: Sequence[Attempt]) -> None:
        self._changes = _changes(story.progress)
        self._over = story.baseline
        self._rejected = [attempt for attempt in attempts if not attempt.ruling.accepted]
        self._untimed = [attempt for attempt in attempts if attempt.ruling.accepted and attempt.speed is None]
        self._timed = [(attempt, attempt.speed) for attempt in attempts if attempt.speed]
        self._x = Scale(0, len(attempts) + ROOM, LEFT, WIDTH - RIGHT, whole=True)
        self._y = Scale(*self._range(), FLOOR, TOP, logs=True)

    def _range(self) -> tuple[float, float]:
        """Room for all ratios around 1, but for those that are very slow."""
        ratios = [speed.ratio for _, speed in self._timed]
        ends = [*AROUND, *(end for best in self._changes for end in (best.speed.low, best.speed.high))]
        low = max(min([*ratios, *ends]), min(ends) / SLOWEST)
        return low / MARGIN, max([*ratios, *ends]) * MARGIN

    def figure(self) -> Html:
        strips = self._strips()
        height = STRIPS + STRIP * len(strips)
        axes = frame(self._x, self._y, ("evaluations", f"speedup over {self._over}"), _TICKS)
        drawn = [self._one(), self._band(), self._dots(), *strips, self._line()]
        picture = drawing("curve", "Best speedup over evaluations", self._words(), WIDTH, height, axes, *drawn)
        return figure(picture, self._caption())

    def _words(self) -> str:
        found = [f"{best.speed} after {counted(best.evaluations, 'evaluation')}" for best in self._changes]
        best = f"Best over {self._over}: {'; '.join(found[-12:])}." if found else "No kernel was accepted and timed."
        return f"{best} {counted(len(self._rejected), 'candidate was', 'candidates were')} rejected."

    def _caption(self) -> Html:
        slow = sum(speed.ratio < self._y.low for _, speed in self._timed)
        below = f" {counted(slow, 'kernel')} slower than {times(self._y.low)} at the lower edge." if slow else ""
        return join(
            [
                key("━", "k-best", "best so far, with its 95 % interval"),
                key("●", "k-dot", "accepted, as first measured"),
                key("✕", "k-bad", "rejected"),
                key("○", "k-dot", "accepted, not timed") if self._untimed else "",
                "The best may fall: a challenger and the elite it challenges are measured again." + below,
            ]
        )

    def _one(self) -> Html:
        at = self._y(1.0)
        line = tag("path", d=f"M{px(LEFT)} {px(at)}H{px(WIDTH - RIGHT)}", class_="eager")
        return join(
            [line, tag("text", self._over, x=px(WIDTH - RIGHT), y=px(at - 5), text_anchor="end", class_="axis")]
        )

    def _band(self) -> Html:
        low = [(self._x(best.evaluations), self._y(best.speed.low)) for best in self._changes]
        high = [(self._x(best.evaluations), self._y(best.speed.high)) for best in self._changes]
        return tag("path", d=_area(low, high, self._x.end), class_="band") if low else Html()

    def _line(self) -> Html:
        points = [(self._x(best.evaluations), self._y(best.speed.ratio)) for best in self._changes]
        return tag("path", d=steps(points, self._x.end), class_="best") if points else Html()

    def _dots(self) -> Html:
        places = [(attempt, self._x(attempt.number), self._y(speed.ratio)) for attempt, speed in self._timed]
        if len(places) > MOST_TITLED:
            return tag("path", d=dots((x, y) for _, x, y in places), class_="dots")
        return join(
            tag("circle", tag("title", _title(attempt)), cx=px(x), cy=px(y), r=3, class_="dot")
            for attempt, x, y in places
        )

    def _strips(self) -> list[Html]:
        """Marks below the axis: no failure is a number."""
        kinds = (("rejected", self._rejected, "bad", cross), ("untimed", self._untimed, "ring", ring))
        there = [kind for kind in kinds if kind[1]]
        return [self._strip(STRIPS + STRIP * row, *kind) for row, kind in enumerate(there)]

    def _strip(self, at: float, name: str, mine: Sequence[Attempt], class_: str, shape: Callable[[Point], str]) -> Html:
        label = tag("text", name, x=px(LEFT - 6), y=px(at + 4), text_anchor="end")
        places = [(self._x(attempt.number), at) for attempt in mine]
        return join([label, _marks(mine, places, class_, shape)])


def _changes(told: Sequence[Best]) -> list[Best]:
    """Where the best became another one, or was found to be worth something else."""
    before = [None, *told]
    return [now for now, then in zip(told, before, strict=False) if then is None or now.speed != then.speed]


def _marks(attempts: Sequence[Attempt], places: Sequence[Point], class_: str, shape: Callable[[Point], str]) -> Html:
    if len(attempts) > MOST_TITLED:
        return tag("path", d="".join(map(shape, thinned(places))), class_=class_)
    both = zip(attempts, places, strict=True)
    return join(tag("path", tag("title", _title(one)), d=shape(place), class_=class_) for one, place in both)


def _area(low: Sequence[Point], high: Sequence[Point], until: float) -> str:
    """Between two lines of steps: along the upper one and back along the lower one."""
    low, high = thinned(low), thinned(high)
    ends = [*(x for x, _ in low[1:]), until]
    back = "".join(f"L{px(end)} {px(y)}H{px(x)}" for (x, y), end in zip(low[::-1], ends[::-1], strict=True))
    return steps(high, until) + back + "Z"


def _title(attempt: Attempt) -> str:
    speed = f" {attempt.speed}" if attempt.speed else ""
    return f"#{attempt.number} {kernel(attempt.candidate)}: {attempt.ruling.status}{speed}, {attempt.kind}"
