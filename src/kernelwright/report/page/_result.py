"""The result first: how fast, on what, by whom, for how much, and why it ended."""

from __future__ import annotations

import time
from collections import Counter

from kernelwright.report.page._grid import in_words
from kernelwright.report.page._html import Html, code, join, section, tag
from kernelwright.report.page._story import Story
from kernelwright.report.page._words import Speed, counted, duration, kernel, money

# What a machine is known by, and how it is written; the rest of its facts stand below.
FACTS = {"cores": "{} cores", "memory_gb": "{} GB", "compiler": "{}", "torch": "torch {}", "triton": "triton {}"}
ABSENT = (None, "", "absent")
SPEED_OF = {
    "eager": "PyTorch as it is",
    "compile": "torch.compile",
    "max-autotune": "torch.compile, max-autotune",
    "original": "the project as it is",
}


def result(story: Story) -> Html:
    return section("result", "Result", _headline(story), _facts(story))


def _headline(story: Story) -> Html:
    best = story.best
    if best is None:
        return tag("p", _nothing(story), class_="big")
    speeds = {**story.speeds, story.baseline: Speed.of(best)}
    return tag("div", *(_speed(name, speed) for name, speed in speeds.items()), class_="speeds")


def _nothing(story: Story) -> str:
    if not story.attempts:
        return "Nothing was judged."
    return f"No kernel was accepted and timed; {counted(len(story.attempts), 'candidate')} judged."


def _speed(baseline: str, speed: Speed) -> Html:
    over = join([f"over {baseline}", f" ({SPEED_OF[baseline]})" if baseline in SPEED_OF else ""])
    return tag(
        "p",
        tag("b", speed.times, class_="big"),
        " ",
        over,
        tag("br"),
        tag("small", f"95 % interval {speed.interval}{_doubt(speed)}"),
    )


def _doubt(speed: Speed) -> str:
    """What an interval says that does not lie above 1."""
    if speed.high < 1:
        return ": slower than the baseline"
    return "" if speed.low > 1 else ": perhaps no faster than the baseline"


def _facts(story: Story) -> Html:
    rows = [
        ("Task", join([story.task_name, " ", tag("small", code(story.run.task[:16]))])),
        ("Best kernel", _best(story)),
        ("Ended", _ending(story)),
        ("Judged", _judged(story)),
        ("Cost", _cost(story)),
        ("Models", _models(story)),
        ("Machine", _machine(story)),
        ("Search", _search(story)),
        ("Begun", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(story.run.noted))),
    ]
    return tag("dl", *(join([tag("dt", name), tag("dd", words)]) for name, words in rows if words))


def _best(story: Story) -> Html | str:
    best = story.best
    if best is None:
        return ""
    found = story.attempts[best.candidate].number
    how = "measured once more at the end, on new inputs" if story.measured_again else "as the search knows it so far"
    return join([code(kernel(best.candidate)), f", found at evaluation {found}: {in_words(best.cell)}; {how}"])


def _ending(story: Story) -> Html | str:
    if story.state == "interrupted":
        again = f"kernelwright resume {story.run.id} --model MODEL"
        return join(["Interrupted; it goes on with ", code(again), " from where it was left."])
    if story.state == "running":
        return "It is running; this is how it stood."
    return f"{story.state}: {story.run.reason}" if story.run.reason else story.state


def _judged(story: Story) -> str:
    accepted = sum(attempt.ruling.accepted for attempt in story.attempts.values())
    filled = len(story.archive.elites)
    return f"{counted(len(story.attempts), 'candidate')}, {accepted} accepted, {filled} of 64 kinds of kernel found"


def _cost(story: Story) -> str:
    spent = story.spent
    tokens = f"{spent.tokens_in + spent.tokens_out:,} tokens, {money(spent.dollars, spent.unpriced)}"
    return f"{tokens}, {duration(spent.judge_seconds)} of judging, {duration(spent.wall_seconds)} of work"


def _models(story: Story) -> str:
    counts = Counter(charge.model for charge in story.charges)
    return ", ".join(f"{model} ({counted(number, 'reply', 'replies')})" for model, number in counts.most_common())


def _machine(story: Story) -> str:
    machine = story.machine
    names = [str(machine[name]) for name in ("cpu", "gpu") if machine.get(name) not in ABSENT]
    facts = [words.format(machine[name]) for name, words in FACTS.items() if machine.get(name) not in ABSENT]
    return ", ".join([*names, *facts]) + _where(story)


def _search(story: Story) -> str:
    settings = story.run.settings
    left_out = settings.get("without") or ()
    said = [str(settings[name]) for name in ("search", "backend") if settings.get(name)]
    said += [f"without {', '.join(map(str, left_out))}"] if left_out else []
    said += [f"seed {settings['seed']}"] if "seed" in settings else []
    version = story.run.versions.get("kernelwright")
    return ", ".join([*said, *([f"kernelwright {version}"] if version else [])])


def _where(story: Story) -> str:
    """Fleets name their machines; one alone is the one described."""
    counts = Counter(hearing.where for hearing in story.hearings)
    said = ", ".join(f"{name} ({counted(number, 'measurement')})" for name, number in counts.most_common())
    return f"; judged on {said}" if len(counts) > 1 else ""
