"""A text that holds several configurations and chooses between them by the sizes it is called with.

The author says which arguments of the native function tell the cases apart (`// tune by: rows, cols`); they have the
names of constants or dims of the task. In C++ the text of every configuration stands in a namespace of its own; a
function of the old name compares the arguments with the sizes of the cases that another configuration wins. In Triton
`@triton.heuristics` takes the place of `@triton.autotune`, whose `key` tells the cases apart if nobody says otherwise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from kernelwright import native
from kernelwright.tasks import Task
from kernelwright.tuning._autotune import Autotuned
from kernelwright.tuning._error import TuningError
from kernelwright.tuning._template import Configuration, Template, replaced

INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|pragma[ \t]+once)\b.*\n?", re.MULTILINE)
LINKAGE = re.compile(r'\bextern\s*"C"\s*')
LINKAGE_BLOCK = re.compile(r'\bextern\s*"C"\s*\{')
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
PLAIN_LITERAL = re.compile(r'(?P<open>[rR]?(?P<quotes>"""|\'\'\'))(?P<text>.*)(?P=quotes)', re.DOTALL)


def dispatcher(template: Template, otherwise: Configuration, better: Mapping[str, Configuration], task: Task) -> str:
    """The candidate that runs `better[case]` on the sizes of each of these cases, and `otherwise` elsewhere.

    Raises TuningError where the candidate does not let itself be written so.
    """
    if template.autotuned:
        return _in_triton(template, otherwise, better, task)
    sizes = {case: _sizes(task, case, template.tells) for case in better}
    literal = _native_text(template)
    functions = list(native.signatures(literal["text"]).values())
    for function in functions:
        _check_tells(function.name, [each.name for each in function.parameters], template.tells)
    chosen = dict.fromkeys([otherwise, *better.values()])
    spaces = {configuration: f"configuration_{place}" for place, configuration in enumerate(chosen)}
    bodies = [_in_namespace(space, _text_of(template, one, literal)) for one, space in spaces.items()]
    cases = [(sizes[case], spaces[one]) for case, one in better.items()]
    includes = dict.fromkeys(line.strip() for line in INCLUDE.findall(literal["text"]))
    text = "\n".join([*includes, *bodies, *(_function(each, cases, spaces[otherwise]) for each in functions)])
    return template.source.replace(literal[0], f"{literal['open']}\n{text}\n{literal['quotes']}", 1)


def _sizes(task: Task, case: str, tells: Sequence[str]) -> dict[str, int | float]:
    if not tells:
        what = "the candidate does not say which arguments tell the cases apart"
        raise TuningError(what, "add a line such as `// tune by: rows, cols`")
    known = next(each.constants for each in task.cases if each.name == case)
    for name in tells:
        if name not in known:
            what = f"`tune by` names {name}, which case {case!r} of the task has no size for"
            raise TuningError(what, f"name some of: {', '.join(known) or 'none: give the cases dims in task.toml'}")
    return {name: known[name] for name in tells}


# *** Triton ***


def _in_triton(template: Template, otherwise: Configuration, better: Mapping[str, Configuration], task: Task) -> str:
    if len(template.parameters) > sum(len(kernel.parameters) for kernel in template.autotuned):
        what = "some of its parameters are constants of the module, which do not change from call to call"
        raise TuningError(what, "put them into the list of @triton.autotune")
    changed = {}
    for kernel in template.autotuned:
        tells = template.tells or kernel.key
        _check_tells(kernel.function, kernel.arguments, tells)
        cases = [(_sizes(task, case, tells), kernel.texts(dict(one.choices))) for case, one in better.items()]
        changed[kernel.decorator] = _heuristics(kernel, cases, kernel.texts(dict(otherwise.choices)))
    return replaced(template.source, changed)


def _heuristics(
    kernel: Autotuned,
    cases: Sequence[tuple[Mapping[str, int | float], Mapping[str, str]]],
    otherwise: Mapping[str, str],
) -> str:
    """The decorator that works a launch's parameters out from its arguments."""
    module, dot, _ = kernel.called.rpartition(".")
    if not dot:
        raise TuningError("it imports autotune by name", "write @triton.autotune", kernel.line)
    conditions = [" and ".join(f'args["{name}"] == {size}' for name, size in sizes.items()) for sizes, _ in cases]
    lines = []
    for name, last in otherwise.items():
        choices = [f"{texts[name]} if {when} else " for when, (_, texts) in zip(conditions, cases, strict=True)]
        lines.append(f'        "{name}": lambda args: {"".join(choices)}{last},')
    return "\n".join([f"{module}.heuristics(", "    {", *lines, "    }", ")"])


# *** C++ ***


def _native_text(template: Template) -> re.Match[str]:
    """The one literal that all parameters are declared in."""
    places = [template.span(parameter.name)[0] for parameter in template.parameters]
    for node in ast.walk(ast.parse(template.source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            segment = ast.get_source_segment(template.source, node) or ""
            start = template.source.find(segment)
            found = PLAIN_LITERAL.fullmatch(segment)
            if found and all(start < place < start + len(segment) for place in places):
                return _checked(found, node.value)
    what = "its parameters do not all stand in one text of C++ between triple quotes"
    raise TuningError(what, "declare them there, as `constexpr int NAME = 8;  // tune: 4, 8`")


def _checked(literal: re.Match[str], value: str) -> re.Match[str]:
    if literal["text"] != value:
        raise TuningError("its text of C++ has escapes that Python reads", 'begin the literal with r"""')
    if LINKAGE_BLOCK.search(value) or not native.signatures(value):
        raise TuningError('its functions are not each marked extern "C"', "mark them one by one")
    return literal


def _text_of(template: Template, configuration: Configuration, literal: re.Match[str]) -> str:
    """The literal's text in one configuration."""
    at = template.source.find(literal[0]) + len(literal["open"])
    behind = len(template.source) - at - len(literal["text"])
    text = template.text(configuration)
    return text[at : len(text) - behind]


def _in_namespace(name: str, body: str) -> str:
    """Macros know no namespaces: they are forgotten at its end."""
    inside = LINKAGE.sub("", INCLUDE.sub("", body)).strip("\n")
    forgotten = "".join(f"#undef {macro}\n" for macro in dict.fromkeys(DEFINE.findall(body)))
    return f"namespace {name} {{\n{inside}\n{forgotten}}}  // namespace {name}\n"


def _check_tells(function: str, names: Sequence[str], tells: Sequence[str]) -> None:
    for tell in tells:
        if tell not in names:
            what = f"`tune by` names {tell}, which is no argument of {function}"
            raise TuningError(what, f"its arguments are: {', '.join(names)}")


def _function(
    signature: native.Signature, cases: Sequence[tuple[Mapping[str, int | float], str]], otherwise: str
) -> str:
    """Takes the arguments that the native functions take, and hands them on."""
    arguments = ", ".join(parameter.name for parameter in signature.parameters)
    lines = [
        f"    if ({' && '.join(f'{name} == {size}' for name, size in sizes.items())}) "
        f"return {space}::{signature.name}({arguments});"
        for sizes, space in cases
    ]
    last = f"    return {otherwise}::{signature.name}({arguments});"
    return "\n".join([f'extern "C" {signature} {{', *lines, last, "}"])
