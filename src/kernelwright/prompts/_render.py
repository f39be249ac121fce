"""From parts to words: which sections a prompt has, in which order, and how each is written and shortened.

What stays the same from prompt to prompt of a run comes first, so that endpoints that remember a common beginning
charge less for it.
"""

from collections.abc import Callable, Sequence

from kernelwright.prompts._fit import Prompt, Section, fit, middle_cut
from kernelwright.prompts._genome import REGIONS
from kernelwright.prompts._parts import AXES, Cell, Hardware, Kernel, Outcome, Parts, Step, Target
from kernelwright.prompts._texts import fenced, language, rule_words, section, text, vocabulary
from kernelwright.tasks import Case

ORDER = {
    "draft": (
        *("role", "task", "reference", "hardware", "rules", "example", "philosophy", "strategies", "pitfalls"),
        *("inspirations", "target", "analysis", "answer"),
    ),
    "improve": (
        *("role", "task", "reference", "hardware", "rules", "philosophy", "strategies", "pitfalls"),
        *("inspirations", "history", "parent", "profile", "target", "analysis", "answer_improve"),
    ),
    "repair": (
        *("role_repair", "task", "reference", "hardware", "rules", "pitfalls"),
        *("history", "broken", "log", "answer_repair"),
    ),
}
# The least useful first. Task, reference, rules, parent, target and answer format are never touched.
SACRIFICE = (
    "inspirations",
    "history",
    "log",
    "hardware",
    "philosophy",
    "analysis",
    "profile",
    "pitfalls",
    "strategies",
)
# What a project's prompt has in place of these.
OF_A_PROJECT = {
    "task": "project_task",
    "reference": "project_sources",
    "rules": "project_rules",
    "answer": "project_answer",
    "answer_improve": "project_answer_edits",
    "answer_repair": "project_answer_edits",
}
LOG_LENGTHS = (12_000, 4_000, 1_500, 500)
HISTORY_LENGTHS = (12, 6, 3, 1)
FACTS_KEPT = 4


def render(parts: Parts) -> str:
    """The prompt as text."""
    return compose(parts).text


def compose(parts: Parts) -> Prompt:
    """The prompt, with its estimated length and what was shortened to fit the budget."""
    sections = [_WRITERS.get(name, _plain(name))(parts) for name in _order(parts)]
    return fit(sections, SACRIFICE, parts.tokens, _join)


def _order(parts: Parts) -> list[str]:
    """Which sections; a project has some of its own, and no example of a file."""
    order = ORDER[parts.kind]
    return [OF_A_PROJECT.get(name, name) for name in order if name != "example"] if parts.task.project else list(order)


def _join(texts: Sequence[str], told: Sequence[str]) -> str:
    note = [section("shortened", what="; ".join(told))] if told else []
    # Before the answer format, which comes last.
    return "\n\n".join([*texts[:-1], *note, texts[-1]]) + "\n"


Writer = Callable[[Parts], Section]


def _plain(name: str) -> Writer:
    """A section whose text needs nothing but the name of the language, if that."""
    return lambda parts: Section(name, section(name, language=language(parts.backend)))


# *** the task and the machine ***


def _task(parts: Parts) -> Section:
    task = parts.task
    facts = [f"- case {case.name}: {_case(case)}" for case in task.cases]
    if task.mode == "train":
        facts.append("- the module is in training mode")
    return Section("task", section("task", name=task.name, facts="\n".join(facts)))


def _case(case: Case) -> str:
    weight = "" if case.weight == 1 else f"; counts {case.weight:g} times"
    if case.inputs is not None:
        shapes = (f"{one.name} {list(one.shape)} {one.dtype}{_layout(one.layout)}" for one in case.inputs)
        return ", ".join(shapes) + weight
    constants = ", ".join(f"{name} = {value}" for name, value in case.constants.items())
    return "what `get_inputs` of the reference returns" + (f" with {constants}" if constants else "") + weight


def _layout(layout: str) -> str:
    return "" if layout == "contiguous" else f" ({layout})"


def _reference(parts: Parts) -> Section:
    return Section("reference", section("reference", source=fenced(parts.task.source, "python")))


def _project_task(parts: Parts) -> Section:
    project = parts.task.project
    assert project
    commands = {"build": project.build, "test": project.test, "benchmark": project.benchmark}
    facts = [f"- {name}: `{command}`" for name, command in commands.items() if command]
    facts += [f"- case {case.name}: {_dims(case)}" for case in parts.task.cases]
    return Section("project_task", section("project_task", name=parts.task.name, facts="\n".join(facts)))


def _dims(case: Case) -> str:
    dims = ", ".join(f"{name} = {value}" for name, value in case.constants.items()) or "as it is"
    return dims + ("" if case.weight == 1 else f"; counts {case.weight:g} times")


def _project_sources(parts: Parts) -> Section:
    project = parts.task.project
    assert project
    shown = "\n\n".join(f"`{path}`:\n\n{fenced(project.text(path))}" for path in project.sources)
    heed = "".join(f"\nTo heed:\n\n{one.text}" for one in project.marked if one.kind == "INSTRUCTIONS")
    return Section("project_sources", section("project_sources", source=shown, heed=heed))


def _hardware(parts: Parts) -> Section:
    full = _facts(parts.hardware, len(parts.hardware.facts))
    few = _facts(parts.hardware, FACTS_KEPT)
    if few == full:
        return Section("hardware", full)
    return Section("hardware", full, (few,), (f"the machine's first {FACTS_KEPT} facts only",))


def _facts(hardware: Hardware, number: int) -> str:
    lines = [f"- {name}: {value}" for name, value in list(hardware.facts.items())[:number]]
    return section("hardware", facts="\n".join([f"- {hardware.name}", *lines]))


def _rules(parts: Parts) -> Section:
    task = parts.task
    words = {kind: choices[getattr(task, kind)] for kind, choices in rule_words().items()}
    return Section("rules", section("rules", **words, backend=text("rules", f"{parts.backend}.md")))


def _example(parts: Parts) -> Section:
    source = fenced(text("examples", f"{parts.backend}.txt"), "python")
    return Section("example", section("example", source=source), ("",), ("the example",))


def _region(name: str) -> Writer:
    def write(parts: Parts) -> Section:
        full = section(name, text=parts.genome.regions[name])
        return Section(name, full, ("",), (f"the advice on {name}",))

    return write


# *** kernels ***


def result(outcome: Outcome) -> str:
    """A verdict in a line or two, with every number that was measured."""
    times = ", ".join(f"{name} {ms:.4g} ms" for name, ms in outcome.time_ms.items())
    speedups = ", ".join(f"{speedup} over {name}" for name, speedup in outcome.speedups.items())
    numbers = "; ".join(filter(None, (speedups, times)))
    return f"{outcome.status}: {outcome.message}" + (f"\n{numbers}" if numbers else "")


def where(cell: Cell | None, backend: str) -> str:
    """A cell in the backend's words."""
    if cell is None:
        return ""
    words = vocabulary(backend)
    return "\n".join(f"- {axis}: {words[axis][level]}" for axis, level in zip(AXES, cell, strict=True))


def _shown_source(parts: Parts, kernel: Kernel) -> str:
    return fenced(kernel.source, "" if parts.task.project else "python")


def _parent(parts: Parts) -> Section:
    assert parts.parent
    words = "\n\n".join(filter(None, (result(parts.parent.outcome), where(parts.parent.cell, parts.backend))))
    return Section("parent", section("parent", result=words, source=_shown_source(parts, parts.parent)))


def _broken(parts: Parts) -> Section:
    assert parts.parent
    source = _shown_source(parts, parts.parent)
    return Section("broken", section("broken", result=result(parts.parent.outcome), source=source))


def _profile(parts: Parts) -> Section:
    if not (parts.parent and parts.parent.profile):
        return Section("profile", "")
    return Section("profile", section("profile", text=parts.parent.profile), ("",), ("the profile",))


def _log(parts: Parts) -> Section:
    printed = parts.parent.outcome.log.strip() if parts.parent else ""
    if not printed:
        return Section("log", "")

    def cut(characters: int) -> str:
        return section("log", text=fenced(middle_cut(printed, characters)))

    # Nobody reads more than the first length, however much room there is; the text itself says that it was cut.
    lengths = [LOG_LENGTHS[0], *(length for length in LOG_LENGTHS[1:] if length < len(printed))]
    full, *shorter = map(cut, lengths)
    told = tuple(f"what was printed, to {length} characters" for length in lengths[1:])
    return Section("log", full, tuple(shorter), told)


def _inspirations(parts: Parts) -> Section:
    kernels = parts.inspirations
    if not kernels:
        return Section("inspirations", "")
    numbers = range(len(kernels) - 1, 0, -1)
    shorter = [*(_shown(parts, number) for number in numbers), ""]
    told = [*(f"{len(kernels) - number} of {len(kernels)} other kernels" for number in numbers), "all other kernels"]
    return Section("inspirations", _shown(parts, len(kernels)), tuple(shorter), tuple(told))


def _shown(parts: Parts, number: int) -> str:
    kernels = [_inspiration(parts, place, kernel) for place, kernel in enumerate(parts.inspirations[:number], 1)]
    return section("inspirations", kernels="\n\n".join(kernels))


def _inspiration(parts: Parts, place: int, kernel: Kernel) -> str:
    words = "\n\n".join(filter(None, (result(kernel.outcome), where(kernel.cell, parts.backend))))
    return section("inspiration", title=f"Kernel {place}", result=words, source=_shown_source(parts, kernel))


# *** where it came from and where it goes ***


def _history(parts: Parts) -> Section:
    steps = parts.history
    if not steps:
        return Section("history", "")
    lengths = [length for length in HISTORY_LENGTHS if length < len(steps)]
    shorter = [*(_steps(steps[-length:]) for length in lengths), ""]
    told = [*(f"the last {length} of {len(steps)} steps of the history" for length in lengths), "the history"]
    return Section("history", _steps(steps), tuple(shorter), tuple(told))


def _steps(steps: Sequence[Step]) -> str:
    return section("history", steps="\n".join(map(_step, steps)))


def _step(step: Step) -> str:
    gain = "" if step.gain is None else f", {step.gain:.3g} times as fast as before"
    return f"- {' '.join(step.change.split())} ({step.status}{gain})"


def _target(parts: Parts) -> Section:
    return Section("target", section("target", moves=moves(parts.target, parts.backend)) if parts.target else "")


def moves(target: Target, backend: str) -> str:
    """The way to a target in the backend's words, one line an axis that changes."""
    words = vocabulary(backend)
    changes = [axis for axis in zip(AXES, target.start, target.goal, strict=True) if axis[1] != axis[2]]
    if not changes:
        return "Stay with the kernel's strategy and make the most of it: sizes, order, what the profile names."
    return "\n".join(_move(axis, start, goal, words[axis]) for axis, start, goal in changes)


def _move(axis: str, start: int, goal: int, levels: Sequence[str]) -> str:
    if goal > start:
        return f"- {axis}: now {levels[start]}. Go on to {levels[goal]}."
    return f"- {axis}: now {levels[start]}. Simplify to {levels[goal]}: less machinery is often faster."


_WRITERS: dict[str, Writer] = {
    "task": _task,
    "project_task": _project_task,
    "project_sources": _project_sources,
    "reference": _reference,
    "hardware": _hardware,
    "rules": _rules,
    "example": _example,
    "parent": _parent,
    "broken": _broken,
    "profile": _profile,
    "log": _log,
    "inspirations": _inspirations,
    "history": _history,
    "target": _target,
    **{name: _region(name) for name in REGIONS},
}
