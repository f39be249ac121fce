import pickle

import pytest

from kernelwright.tasks import TaskError
from kernelwright.tasks._error import closest, located


def test_reads_as_place_sentence_and_advice():
    error = TaskError("the file is empty.", "task.py:3", "Write something.")
    assert str(error) == "task.py:3: the file is empty.\n  fix: Write something."
    assert str(TaskError("the file is empty.")) == "the file is empty."


def test_survives_the_way_between_processes():
    error = pickle.loads(pickle.dumps(TaskError("a", "b", "c")))
    assert (error.what, error.where, error.fix) == ("a", "b", "c")


def test_a_place_is_added_only_where_none_is_known():
    with pytest.raises(TaskError) as nowhere, located("file"):
        raise TaskError("a")
    with pytest.raises(TaskError) as somewhere, located("file"):
        raise TaskError("a", "line")
    assert (nowhere.value.where, somewhere.value.where) == ("file", "line")


@pytest.mark.parametrize(("typed", "meant"), [("getInputs", "get_inputs"), ("dtpye", "dtype"), ("zzz", None)])
def test_guesses_what_was_meant(typed, meant):
    assert closest(typed, ["get_inputs", "dtype", "shape"]) == meant
