"""Who descends from whom, as a picture: across in the order of judging, down by generations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kernelwright.report.page._attempt import Attempt
from kernelwright.report.page._chart import Point, Scale, cross, dots, drawing, figure, key, px
from kernelwright.report.page._html import Html, join, tag
from kernelwright.report.page._story import Story
from kernelwright.report.page._words import counted

WIDTH, MARGIN, GENERATION, TALLEST = 920.0, 24.0, 46.0, 560.0
MOST_LABELLED, MOST_TITLED = 40, 600


class Family:
    """Who are whose children, in the order in which they were judged; who has no parent here is a root."""

    def __init__(self, attempts: Iterable[Attempt]) -> None:
        self._children: dict[str | None, list[Attempt]] = defaultdict(list)
        self.generations: dict[str, int] = {}
        for attempt in attempts:
            parent = attempt.parent if attempt.parent in self.generations else None
            self._children[parent].append(attempt)
            self.generations[attempt.candidate] = self.generations[parent] + 1 if parent else 0

    def __iter__(self) -> Iterator[Attempt]:
        """Each below its parent. With a list of its own: lines may be thousands of steps long."""
        waiting = self._children[None][::-1]
        while waiting:
            attempt = waiting.pop()
            yield attempt
            waiting += self._children[attempt.candidate][::-1]


class Tree:
    """Children stand right of their parents and below them, because they were judged later."""

    def __init__(self, story: Story, family: Family) -> None:
        self._story, self._generations = story, family.generations
        self._deepest = max(self._generations.values())
        self._height = min(TALLEST, self._deepest * GENERATION)
        self._x = Scale(1, max(2, len(story.attempts)), MARGIN, WIDTH - MARGIN)
        self._y = Scale(0, max(1, self._deepest), MARGIN, MARGIN + self._height)

    def figure(self) -> Html:
        best = self._story.archive.best
        line = self._story.lineage(best.candidate) if best else []
        edges = tag("path", d=self._edges(self._story.attempts.values()), class_="edge")
        bold = tag("path", d=self._edges(line), class_="edge won")
        words = f"{counted(len(self._story.attempts), 'candidate')} in {counted(self._deepest + 1, 'generation')}."
        height = self._height + 2 * MARGIN
        picture = drawing("tree", "Family tree", words, WIDTH, height, edges, bold, self._nodes())
        return figure(picture, _caption())

    def _place(self, attempt: Attempt) -> Point:
        return self._x(attempt.number), self._y(self._generations[attempt.candidate])

    def _edges(self, attempts: Iterable[Attempt]) -> str:
        pairs = ((self._story.attempts.get(attempt.parent or ""), attempt) for attempt in attempts)
        return "".join(_edge(self._place(parent), self._place(child)) for parent, child in pairs if parent)

    def _nodes(self) -> Html:
        attempts = list(self._story.attempts.values())
        if len(attempts) > MOST_TITLED:
            return self._crowd(attempts)
        return join(self._node(attempt, labelled=len(attempts) <= MOST_LABELLED) for attempt in attempts)

    def _crowd(self, attempts: Sequence[Attempt]) -> Html:
        right = [self._place(attempt) for attempt in attempts if attempt.ruling.accepted]
        wrong = [self._place(attempt) for attempt in attempts if not attempt.ruling.accepted]
        return join(
            [tag("path", d="".join(map(cross, wrong)), class_="bad"), tag("path", d=dots(right), class_="dots")]
        )

    def _node(self, attempt: Attempt, *, labelled: bool) -> Html:
        x, y = self._place(attempt)
        speed = f" {attempt.speed}" if attempt.speed else ""
        title = tag("title", f"#{attempt.number} {attempt.ruling.status}{speed}: {attempt.asked}")
        label = tag("text", attempt.number, x=px(x), y=px(y + 17), text_anchor="middle") if labelled else Html()
        if attempt.ruling.accepted:
            return join([tag("circle", title, cx=px(x), cy=px(y), r=4, class_="dot"), label])
        return join([tag("path", title, d=cross((x, y)), class_="bad"), label])


def _edge(parent: Point, child: Point) -> str:
    """A curve that leaves the parent downwards and reaches the child from above."""
    (left, top), (right, bottom) = parent, child
    middle = px((top + bottom) / 2)
    return f"M{px(left)} {px(top)}C{px(left)} {middle} {px(right)} {middle} {px(right)} {px(bottom)}"


def _caption() -> Html:
    return join(
        [
            key("●", "k-dot", "accepted"),
            key("✕", "k-bad", "rejected"),
            key("━", "k-best", "the line of the best"),
            "From left to right as they were judged, each joined to the one above that it was made from.",
        ]
    )
