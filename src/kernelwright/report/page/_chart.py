"""What all charts share: scales with round ticks, a frame, steps, and points as one path. Measures are in pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kernelwright.report.page._html import Html, join, tag

Point = tuple[float, float]
ROUND = (1, 2, 5, 10)
FEWEST = 3
# Wider pictures are scrolled on small screens, so that their letters can be read.
NARROW = 400


@dataclass(frozen=True)
class Scale:
    """From values to pixels; `logs`: equal ratios are equally far apart; `whole`: only whole numbers are marked."""

    low: float
    high: float
    start: float
    end: float
    logs: bool = False
    whole: bool = False

    def __call__(self, value: float) -> float:
        low, high, here = (self._place(each) for each in (self.low, self.high, min(max(value, self.low), self.high)))
        return self.start + (self.end - self.start) * (here - low) / ((high - low) or 1.0)

    def _place(self, value: float) -> float:
        return math.log(value) if self.logs else value

    def ticks(self, most: int = 6) -> list[float]:
        """Round values, at most about so many."""
        if self.logs:
            for steps_of_ten in (ROUND[:3], ROUND[:1]):
                found = _decades(self.low, self.high, steps_of_ten)
                if FEWEST <= len(found) <= most + 2:
                    return found
        return _even(self.low, self.high, most, least=1.0 if self.whole else 0.0)


def _decades(low: float, high: float, steps_of_ten: Sequence[int]) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = (step * 10.0**power for power in range(first, last + 1) for step in steps_of_ten)
    return [value for value in every if low <= value <= high]


def _even(low: float, high: float, most: int, least: float) -> list[float]:
    rough = max((high - low) / most, least) or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * by for by in ROUND if size * by >= rough * 0.999)
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def drawing(name: str, title: str, words: str, width: float, height: float, *inside: object) -> Html:
    """A picture, and in words what it shows."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-t"),
        tag("desc", words, id=f"{name}-d"),
        *inside,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_labelledby=f"{name}-t {name}-d",
        class_="chart tall" if width > NARROW else "chart",
    )


def figure(picture: Html, *caption: object) -> Html:
    return tag("figure", picture, tag("figcaption", *caption))


def frame(
    x: Scale, y: Scale, names: tuple[str, str], written: tuple[Callable[[float], str], ...], most: int = 6
) -> Html:
    """Lines at round values with what they mean, and the names of both axes."""
    across = [_row(x, y(value), written[1](value)) for value in y.ticks(most)]
    down = [_column(x(value), y, written[0](value)) for value in x.ticks(most)]
    middle = (x.start + x.end) / 2
    name = tag("text", names[0], x=px(middle), y=px(y.start + 34), text_anchor="middle", class_="axis")
    beside = tag("text", names[1], x=px(x.start), y=px(y.end - 8), class_="axis")
    return join([*across, *down, name, beside])


def _row(x: Scale, at: float, words: str) -> Html:
    line = tag("path", d=f"M{px(x.start)} {px(at)}H{px(x.end)}", class_="grid")
    return join([line, tag("text", words, x=px(x.start - 6), y=px(at + 4), text_anchor="end")])


def _column(at: float, y: Scale, words: str) -> Html:
    line = tag("path", d=f"M{px(at)} {px(y.start)}v4", class_="grid")
    return join([line, tag("text", words, x=px(at), y=px(y.start + 17), text_anchor="middle")])


def steps(points: Sequence[Point], until: float) -> str:
    """A line that stays where it is until the next point, on to `until`."""
    if not points:
        return ""
    first, *rest = thinned(points)
    return f"M{px(first[0])} {px(first[1])}" + "".join(f"H{px(x)}V{px(y)}" for x, y in rest) + f"H{px(until)}"


def thinned(points: Iterable[Point]) -> list[Point]:
    """Of points that fall on one pixel's width, the last: more cannot be seen."""
    last: dict[float, Point] = {round(x * 2): (x, y) for x, y in points}
    return list(last.values())


def dots(points: Iterable[Point]) -> str:
    """Many dots as one path, to be drawn with round ends."""
    return "".join(f"M{px(x)} {px(y)}h0" for x, y in points)


def px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def cross(place: Point) -> str:
    return f"M{px(place[0] - 3)} {px(place[1] - 3)}l6 6m0-6l-6 6"


def ring(place: Point) -> str:
    return f"M{px(place[0] - 3)} {px(place[1])}a3 3 0 1 0 6 0a3 3 0 1 0-6 0"


def key(sign: str, class_: str, words: str) -> Html:
    """What a sign in a picture means."""
    return tag("span", tag("b", sign, class_=class_, aria_hidden="true"), " ", words)
