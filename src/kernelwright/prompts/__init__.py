"""The words that a kernel's writer is given, rendered from typed parts, and the part of them that evolves.

    parts = Parts(kind="draft", backend="cpp", task=task, genome=seed("cpp"), hardware=measured(machine))
    text = render(parts)

It knows tasks and text files. It runs nothing, asks no model, and knows no judge: verdicts come in as JSON.
"""

from kernelwright.prompts._edits import Edit, MisfitError, find_edits, has_edits, make_edit
from kernelwright.prompts._error import PromptError
from kernelwright.prompts._family import Family, Worth
from kernelwright.prompts._fit import Prompt, estimate
from kernelwright.prompts._genome import LONGEST, REGIONS, Genome, seed
from kernelwright.prompts._hardware import measured
from kernelwright.prompts._parts import AXES, Cell, Hardware, Kernel, Kind, Outcome, Parts, Speedup, Step, Target
from kernelwright.prompts._render import compose, render
from kernelwright.prompts._rewrite import Example, Rewrite, apply_edits, compose_rewrite, rewrite_prompt
from kernelwright.prompts._texts import backends

__all__ = [
    "AXES",
    "LONGEST",
    "REGIONS",
    "Cell",
    "Edit",
    "Example",
    "Family",
    "Genome",
    "Hardware",
    "Kernel",
    "Kind",
    "MisfitError",
    "Outcome",
    "Parts",
    "Prompt",
    "PromptError",
    "Rewrite",
    "Speedup",
    "Step",
    "Target",
    "Worth",
    "apply_edits",
    "backends",
    "compose",
    "compose_rewrite",
    "estimate",
    "find_edits",
    "has_edits",
    "make_edit",
    "measured",
    "render",
    "rewrite_prompt",
    "seed",
]
