"""A task in other numbers: the same model and the same inputs, cast as a whole.

Inputs are drawn as the reference draws them and cast, the model is constructed and cast. Tensors that `forward` makes
itself keep the dtype written there; a reference that mixes the two may fail, which is a finding about it.
"""

from dataclasses import replace

from kernelwright.tasks._case import Case
from kernelwright.tasks._error import check_choice
from kernelwright.tasks._input_spec import InputSpec
from kernelwright.tasks._task import Task

GIVEN = "given"
FLOATS = (GIVEN, "float32", "float16", "bfloat16")

_CAST = """

# *** everything above, in {dtype} ***

import torch as _torch

_get_inputs, _init = get_inputs, Model.__init__


def _cast(value):
    if isinstance(value, _torch.Tensor):
        return value.to(_torch.{dtype}) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item) for item in value)
    return {{key: _cast(item) for key, item in value.items()}} if isinstance(value, dict) else value


def get_inputs():
    return _cast(list(_get_inputs()))


def _cast_init(self, *arguments, **named):
    _init(self, *arguments, **named)
    self.to(_torch.{dtype})


Model.__init__ = _cast_init
"""


def in_dtype(task: Task, dtype: str) -> Task:
    """The task with its floating-point weights and inputs in `dtype`; `given`: as it is."""
    check_choice("dtype", dtype, FLOATS)
    if dtype == GIVEN:
        return task
    cases, near = (tuple(_cast_case(case, dtype) for case in some) for some in (task.cases, task.neighbours))
    return replace(task, source=task.source + _cast_text(task, dtype), cases=cases, neighbours=near)


def _cast_text(task: Task, dtype: str) -> str:
    """Where inputs are declared there may be no `get_inputs` to wrap."""
    text = _CAST.format(dtype=dtype)
    declared = all(case.inputs is not None for case in task.cases)
    return "\n\ndef get_inputs():\n    return []\n" + text if declared else text


def _cast_case(case: Case, dtype: str) -> Case:
    if case.inputs is None:
        return case
    return replace(case, inputs=tuple(_cast_spec(spec, dtype) for spec in case.inputs))


def _cast_spec(spec: InputSpec, dtype: str) -> InputSpec:
    return replace(spec, dtype=dtype) if "float" in spec.dtype else spec
