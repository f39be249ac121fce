"""Where one configuration does not win everywhere, the kernel chooses by the sizes it is called with."""

import pytest

from kernelwright import native
from kernelwright.tasks import load_task
from kernelwright.tuning import Configuration, TuningError, read_template
from kernelwright.tuning._dispatcher import dispatcher
from tests.judge.texts import TASKS, task_folder
from tests.tuning.candidates import RELU, TRITON_RELU

SETTINGS = """\
library = "allowed"

[[case]]
name = "small"
dims = { rows = 30, cols = 41 }

[[case]]
name = "large"
dims = { rows = 300, cols = 401 }
"""
WIDE = Configuration((("CHUNK", "256"), ("UNROLL", "4")))


@pytest.fixture
def two_sizes(tmp_path):
    return load_task(task_folder(tmp_path / "relu", (TASKS / "relu.py").read_text(), SETTINGS))


def dispatched(source: str, task) -> str:
    template = read_template(source)
    return dispatcher(template, template.default, {"large": WIDE}, task)


def test_the_cases_that_another_wins_are_told_by_their_sizes(two_sizes):
    text = dispatched(RELU, two_sizes)
    assert "if (rows == 300 && cols == 401) return configuration_1::run(x, y, rows, cols);" in text
    assert "return configuration_0::run(x, y, rows, cols);" in text
    assert text.count('extern "C"') == 1
    assert text.count("#include <cstdint>") == 1


def test_each_configuration_has_its_own_values(two_sizes):
    text = dispatched(RELU, two_sizes)
    first, second = text.split("namespace configuration_1 {")
    assert "CHUNK = 64;" in first
    assert "#define UNROLL 2" in first
    assert "CHUNK = 256;" in second
    assert "#define UNROLL 4" in second
    assert text.count("#undef UNROLL") == 2


def test_the_functions_keep_their_signatures(two_sizes):
    def heads(text: str) -> list[str]:
        return [str(signature) for signature in native.signatures(text).values()]

    assert heads(dispatched(RELU, two_sizes)) == heads(RELU)


def test_it_is_right_and_chooses(small_judge, two_sizes):
    """The kernel for the large case is made wrong; then it is wrong on the large case and on no other."""
    text = dispatched(RELU, two_sizes)
    assert small_judge.judge(two_sizes, text, timed=False).accepted
    first, second = text.split("namespace configuration_1 {")
    broken = first + "namespace configuration_1 {" + second.replace("> 0 ?", "> 1 ?")
    verdict = small_judge.judge(two_sizes, broken, timed=False)
    assert not verdict.accepted
    assert "large/" in verdict.message


BAD = {
    "no tells": (("// tune by: rows, cols\n", ""), "does not say which arguments"),
    "no size": (("tune by: rows, cols", "tune by: rows, depth"), "names depth"),
    "no argument": (("int64_t cols", "int64_t columns"), "cols, which is no argument of run"),
    "not raw": (('r"""', '"""\\n'), "escapes"),
    "a block": (('extern "C" void', 'extern "C" { } extern "C" void'), "not each marked"),
    "elsewhere": (("import torch\n", "import torch\nD = 1  # tune: 1, 2\nprint(D)\n"), "do not all stand in one text"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_candidate_that_cannot_be_written_so_is_one_sentence(name, two_sizes):
    (old, new), words = BAD[name]
    with pytest.raises(TuningError) as caught:
        dispatched(RELU.replace(old, new, 1), two_sizes)
    assert words in caught.value.what
    assert caught.value.fix


# *** Triton ***


def in_triton(source: str, task) -> str:
    template = read_template(source)
    wide = Configuration((("BLOCK", "256"), ("num_warps", "8")))
    return dispatcher(template, template.default, {"large": wide}, task)


def launched(text: str, **arguments: int) -> dict[str, int]:
    """What the decorator of a text makes of a launch's arguments."""
    start = text.index("triton.heuristics(")
    values = eval(text[start + len("triton.heuristics(") : text.index("\n)", start)].strip())
    return {name: work_out(arguments) for name, work_out in values.items()}


def test_in_triton_heuristics_choose_by_the_arguments_of_the_launch(two_sizes):
    text = in_triton(TRITON_RELU, two_sizes)
    assert launched(text, rows=300, cols=401) == {"BLOCK": 256, "num_warps": 8}
    assert launched(text, rows=30, cols=41) == {"BLOCK": 128, "num_warps": 4}
    assert launched(text, rows=300, cols=41) == {"BLOCK": 128, "num_warps": 4}
    assert "autotune" not in text
    compile(text, "candidate.py", "exec")


BAD_IN_TRITON = {
    "no key": ('    key=["rows", "cols"],\n', "", "does not say which arguments"),
    "no size": ('key=["rows", "cols"]', 'key=["n"]', "names n, which is no argument"),
    "by name": ("@triton.autotune", "@autotune", "imports autotune by name"),
    "elsewhere": ("import torch\n", "import torch\nD = 1  # tune: 1, 2\nprint(D)\n", "constants of the module"),
}


@pytest.mark.parametrize("name", BAD_IN_TRITON)
def test_triton_that_cannot_be_written_so_is_one_sentence(name, two_sizes):
    old, new, words = BAD_IN_TRITON[name]
    template = read_template(TRITON_RELU.replace(old, new, 1))
    with pytest.raises(TuningError) as caught:
        dispatcher(template, template.default, {"large": template.default}, two_sizes)
    assert words in caught.value.what
    assert caught.value.fix
