"""A task that cannot be judged stops the command with a clear sentence, a next step and exit code 2."""

import pytest

from tests.judge.texts import REFERENCE, RELU, task_folder

RESULT = "return torch.tanh(x) * 2"
INPUTS = "return [torch.randn(rows, cols)]"


def but(old: str, new: str) -> str:
    assert old in REFERENCE
    return REFERENCE.replace(old, new)


@pytest.fixture
def candidate(tmp_path):
    path = tmp_path / "candidate.py"
    path.write_text(RELU)
    return path


@pytest.fixture
def broken(tmp_path, candidate, cannot_judge):
    """Judges on a task with this text, which must fail."""

    def run(text, *options, names, fix):
        path = tmp_path / "broken.py"
        path.write_text(text)
        return cannot_judge("eval", path, candidate, "--untimed", *options, names=["broken.py", *names], fix=fix)

    return run


# Found by reading

READ = {
    "no Model": (but("class Model(", "class Net("), "Model", "Define class Model"),
    "no get_inputs": (but("def get_inputs", "def inputs_of_mine"), "get_inputs", "Define get_inputs()"),
    "get_inputs misspelt": (but("def get_inputs", "def getInputs"), "get_inputs", "Rename 'getInputs'"),
    "get_init_inputs misspelt": (
        but("def get_init_inputs", "def get_init_input"),
        "get_init_inputs",
        "Rename 'get_init_input'",
    ),
    "no forward": (but("def forward", "def run"), "forward", "Define forward"),
    "a syntax error": (but("class Model(nn.Module):", "class Model(nn.Module)"), "broken.py:8", "Correct that line"),
    "a candidate in place of a task": (but("class Model(", "class ModelNew("), "Model", "a candidate"),
    "nothing": ("", "Model", "Define class Model"),
}


@pytest.mark.parametrize(("text", "name", "fix"), READ.values(), ids=READ)
def test_what_is_missing_is_found_before_anything_runs(broken, text, name, fix):
    broken(text, names=[name], fix=fix)


# Found by running

RUN = {
    "an import that fails": ("import no_such_module\n" + REFERENCE, "no_such_module", "install what it imports: no_such_module"),
    "a constructor that raises": (but("return []", "return [3]"), "Model(...) raises TypeError", "mend it"),
    "get_init_inputs that raises": (but("return []", "return 1 / 0"), "get_init_inputs() raises", "mend it"),
    "get_inputs that raises": (but(INPUTS, "return [nowhere]"), "get_inputs() raises NameError", "mend it"),
    "get_inputs without a list": (but(INPUTS, "return torch.randn(3)"), "Tensor, not a list", "return a list"),
    "inputs of a strange kind": (but(INPUTS, "return [object()]"), "get_inputs() returns a object", "return tensors"),
    "forward that raises": (but(RESULT, "raise ValueError('odd size')"), "ValueError: odd size", "mend it"),
    "forward that returns nothing": (but(RESULT, "torch.tanh(x)"), "returns nothing", "`return`"),
    "forward that returns a number": (but(RESULT, "return 2.0"), "float, which holds no tensor", "`return`"),
    "forward that returns an array": (but(RESULT, "return x.numpy()"), "ndarray", "return tensors"),
    "forward that counts its calls": (
        but(RESULT, "self.calls = getattr(self, 'calls', 0) + 1\n        return torch.tanh(x) * self.calls"),
        "another answer when called again",
        "from call to call",
    ),
    "dropout in train mode": (
        but(RESULT, "return torch.dropout(x, 0.5, self.training)"),
        "draws random numbers",
        "--mode eval",
    ),
    "NaN": (but(RESULT, "return torch.log(x)"), "NaN", "draw inputs on which it is defined"),
    "overflow": (but(RESULT, "return torch.exp(x.abs() + 200)"), "overflows", "draw inputs on which it is defined"),
    "inputs that do not fit in memory": (
        but("torch.randn(rows, cols)", "torch.randn(200_000, 1_000_000)"),
        "memory",
        "--fit",
    ),
    "a result that does not fit in memory": (
        but(RESULT, "return torch.tanh(x).sum() * torch.ones(200_000, 1_000_000)"),
        "memory",
        "--set",
    ),
    "a constant": (but(RESULT, "return torch.ones_like(x)"), "all ones would pass", "depends on"),
    "always the same": (but(RESULT, "return torch.arange(9.0)"), "no kernel", "depends on"),
    "a copy of the input": (but(RESULT, "return x.clone()"), "unchanged would pass", "depends on"),
    "the input itself": (but(RESULT, "return x"), "unchanged would pass", "depends on"),
    "an input changed in place": (but(RESULT, "return x.mul_(2)"), "changes its inputs", "x.clone()"),
    "a result without elements": (but("rows = 32", "rows = 0"), "no elements", "depends on"),
    "complex numbers": (but(RESULT, "return torch.fft.fft(x)"), "complex64", "real"),
    "a Model that is no module": (but("nn.Module", "object"), "Model", "torch.nn.Module"),
}


@pytest.mark.parametrize(("text", "name", "fix"), RUN.values(), ids=RUN)
def test_a_reference_that_cannot_be_judged_on_is_said_to_be_one(one_judge, broken, text, name, fix):
    broken(text, names=[name], fix=fix)


def test_dropout_can_be_judged_in_the_mode_that_the_message_names(one_judge, tmp_path, candidate, invoke):
    reference = but(RESULT, "return torch.dropout(torch.relu(x), 0.5, self.training)")
    folder = task_folder(tmp_path / "dropout", reference, 'mode = "train"\nlibrary = "allowed"\n')
    assert invoke("eval", folder, candidate, "--untimed").exit_code == 2
    result = invoke("eval", folder, candidate, "--untimed", "--mode", "eval")
    assert result.exit_code == 0, result.output


# Folders


def test_an_unknown_key_is_named_with_the_one_that_was_meant(tmp_path, candidate, cannot_judge):
    folder = task_folder(tmp_path / "task", REFERENCE, 'libary = "allowed"\n')
    cannot_judge("eval", folder, candidate, names=["task.toml", "libary", "library"], fix="task.toml")


def test_an_unknown_key_of_a_case_is_named_with_its_place(tmp_path, candidate, cannot_judge):
    folder = task_folder(tmp_path / "task", REFERENCE, '[[case]]\nname = "one"\nwait = 3\n')
    cannot_judge("eval", folder, candidate, names=["case[0].wait"], fix="task.toml")


def test_toml_that_is_none_is_told_with_its_line(tmp_path, candidate, cannot_judge):
    folder = task_folder(tmp_path / "task", REFERENCE, "name = \n")
    cannot_judge("eval", folder, candidate, names=["task.toml:1"], fix="Correct that line")


def test_an_unknown_policy_is_told_with_those_there_are(tmp_path, candidate, cannot_judge):
    folder = task_folder(tmp_path / "task", REFERENCE, 'library = "sometimes"\n')
    cannot_judge("eval", folder, candidate, names=["sometimes"], fix="forbidden")


def test_a_folder_that_is_no_task_is_told_how_to_become_one(tmp_path, candidate, cannot_judge):
    cannot_judge("eval", tmp_path, candidate, names=["task.toml"], fix="kernelwright init")


# Not there at all


def test_a_file_that_is_not_there_is_told_with_the_one_that_was_meant(tmp_path, candidate, cannot_judge):
    (tmp_path / "softmax.py").write_text(REFERENCE)
    cannot_judge("eval", tmp_path / "sofmax.py", candidate, names=["sofmax.py"], fix="softmax.py")


def test_a_file_that_is_not_there_and_like_no_other(tmp_path, candidate, cannot_judge):
    cannot_judge("eval", tmp_path / "zzz.py", candidate, names=["zzz.py"], fix="path")


def test_an_unknown_suite_is_named(candidate, cannot_judge):
    cannot_judge("eval", "suite:level9/77", candidate, names=["level9/77"], fix="")


def test_a_task_that_is_no_python(tmp_path, candidate, cannot_judge):
    (tmp_path / "notes.txt").write_text("later")
    cannot_judge("eval", tmp_path / "notes.txt", candidate, names=["notes.txt"], fix="Python file")
