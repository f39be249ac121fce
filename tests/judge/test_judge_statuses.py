"""Every status that a simple candidate can earn, with the evidence that explains it."""

import json

import pytest

from kernelwright.judge import Judge, Limits, Status, Verdict
from kernelwright.tasks import load_task
from tests.judge.texts import RELU, TASKS, forward, relu

ROWS, COLS = 300, 401


@pytest.fixture(scope="module")
def judged(small_judge, relu_task):
    """Judges a candidate for relu without timing it; what is true of every failure is asserted here."""

    def run(source: str, **options) -> Verdict:
        verdict = small_judge.judge(options.pop("task", relu_task), source, **{"timed": False, **options})
        assert verdict.message
        assert "\n" not in verdict.message
        json.dumps(verdict.to_json(), allow_nan=False)
        if not verdict.accepted:
            assert verdict.speedup == {}
            assert verdict.time_ms == {}
        return verdict

    return run


# Accepted


def test_a_right_kernel_that_is_not_timed_is_untimed(judged):
    verdict = judged(RELU)
    assert verdict.status is Status.UNTIMED
    assert verdict.accepted
    assert 0 <= verdict.coverage <= 1
    assert verdict.evidence["backend"] == "cpp"
    assert verdict.evidence["check"]["calls"] > 5
    assert 0 <= verdict.evidence["check"]["error_budget_used"] <= 1


@pytest.mark.slow
def test_a_right_kernel_is_correct_with_a_time_and_an_interval(judged):
    verdict = judged(RELU, timed=True)
    assert verdict.status is Status.CORRECT
    assert verdict.time_ms.keys() == {"candidate", "eager"}
    assert all(value > 0 for value in verdict.time_ms.values())
    found = verdict.speedup["eager"]
    assert 0 < found["low"] <= found["ratio"] <= found["high"]
    assert verdict.seconds.keys() >= {"build", "check", "time", "total"}
    assert verdict.evidence["floor_ms"]["given"] > 0
    samples = verdict.evidence["timing"][0]["samples_ms"]
    assert all(block.keys() == {"candidate", "eager"} for block in samples)


# Compiling and loading


def test_what_does_not_compile_is_a_compile_error_with_the_whole_log(judged):
    verdict = judged(relu("y[i] = undeclared_name;\n        int k = another_name;"))
    assert verdict.status is Status.COMPILE_ERROR
    assert "undeclared_name" in verdict.message
    assert "error" in verdict.message
    assert ":6:" in verdict.message  # the line within the C++ text
    assert "undeclared_name" in verdict.evidence["log"]
    assert "another_name" in verdict.evidence["log"]


LOAD_ERRORS = {
    "a syntax error": ("def broken(:\n    pass\n", "line 1"),
    "no ModelNew": ("import torch\n\nclass Model(torch.nn.Module):\n    pass\n", "ModelNew"),
    "an exception at import": ("raise RuntimeError('not today')\n", "not today"),
    "an import that is not there": ("import no_such_module\n", "no_such_module"),
    "a constructor that wants more": (
        RELU.replace("def forward", "def __init__(self, size):\n        super().__init__()\n\n    def forward"),
        "size",
    ),
    "a null byte": ("x = '\0'\n", "null byte"),
    "too much text": ("#" * (2 << 20), "bytes"),
}


@pytest.mark.parametrize(("source", "word"), LOAD_ERRORS.values(), ids=LOAD_ERRORS)
def test_what_cannot_be_loaded_is_a_load_error_that_names_the_cause(judged, source, word):
    verdict = judged(source)
    assert verdict.status is Status.LOAD_ERROR
    assert word in verdict.message
    assert verdict.stage in ("screen", "load")


def test_the_trace_of_an_exception_at_import_shows_the_line(judged):
    assert "line 3, in <module>" in judged("x = 1\n\nraise RuntimeError('here')\n").evidence["trace"]


def test_a_candidate_in_another_language_than_said_is_a_load_error(judged):
    verdict = judged(forward("return torch.relu(x)"), backend="cpp")
    assert verdict.status is Status.LOAD_ERROR
    assert "cpp" in verdict.message


# Structure

STRUCTURES = {
    "another shape": ("return torch.relu(x)[:, :-1]", "(300, 400)"),
    "another dtype": ("return torch.relu(x).double()", "float64"),
    "a tuple": ("return torch.relu(x), x", "(tensor, tensor)"),
    "a list of one": ("return [torch.relu(x)]", "(tensor)"),
    "a dict": ('return {"y": torch.relu(x)}', "{y: tensor}"),
    "nothing": ("return None", "None"),
    "a number": ("return 1.5", "1.5"),
    "an array": ("return torch.relu(x).numpy()", "ndarray"),
    "a sparse tensor": ("return torch.relu(x).to_sparse()", "Tensor on cpu (torch.sparse_coo)"),
    "a tensor elsewhere": ("return torch.relu(x).to('meta')", "Tensor on meta (torch.strided) where"),
    "an expanded tensor": ("return torch.relu(x)[:1].expand(300, 401)", "expanded"),
    "the input itself": ("return x", "input"),
    "part of the input": ("return x.view(-1).view(300, 401)", "input"),
}


@pytest.mark.parametrize(("line", "word"), STRUCTURES.values(), ids=STRUCTURES)
def test_another_structure_is_told_in_words(judged, line, word):
    verdict = judged(forward(line))
    assert verdict.status is Status.WRONG_STRUCTURE
    assert word in verdict.message


def test_weights_by_another_name_are_told_by_name(small_judge):
    source = forward("return x").replace(
        "    def forward",
        "    def __init__(self, features):\n"
        "        super().__init__()\n"
        "        self.gamma = torch.nn.Parameter(torch.ones(features))\n\n"
        "    def forward",
    )
    verdict = small_judge.judge(load_task(TASKS / "layernorm.py"), source, timed=False)
    assert verdict.status is Status.WRONG_STRUCTURE
    assert verdict.evidence["missing"] == ["norm.bias", "norm.weight"]
    assert verdict.evidence["extra"] == ["gamma"]
    assert "gamma" in verdict.message


# Values


def test_a_wrong_column_is_boxed_in(judged):
    verdict = judged(relu(f"y[i] = i % {COLS} == {COLS - 1} ? -7.0f : x[i] > 0 ? x[i] : 0;"))
    assert verdict.status is Status.WRONG_VALUE
    found = verdict.evidence
    assert found["box"] == [[0, ROWS - 1], [COLS - 1, COLS - 1]]
    assert found["bad_elements"] == ROWS
    assert found["bad_share"] == pytest.approx(1 / COLS)
    assert found["shape"] == [ROWS, COLS]
    assert found["first"]["index"] == [0, COLS - 1]
    assert found["first"]["got"] == -7.0
    assert "[0, 400]" in verdict.message
    assert "-7" in verdict.message


def test_an_unwritten_result_is_wrong(judged):
    """Fresh memory is poisoned: nobody inherits the right numbers from an earlier call."""
    verdict = judged(relu("if (i) y[i] = x[i] > 0 ? x[i] : 0;"))
    assert verdict.status is Status.WRONG_VALUE
    assert verdict.evidence["box"] == [[0, 0], [0, 0]]


def test_one_wrong_element_in_all_is_found(judged):
    verdict = judged(relu("y[i] = x[i] > 0 && i != 60000 ? x[i] : 0;"))
    assert verdict.status is Status.WRONG_VALUE
    assert verdict.evidence["bad_elements"] == 1


def test_a_kernel_made_for_ordinary_values_only_is_wrong(judged):
    """Right for every draw that the task itself makes; the judge draws more."""
    verdict = judged(relu("y[i] = x[i] > 0 ? (x[i] < 12 ? x[i] : 12) : 0;"))
    assert verdict.status is Status.WRONG_VALUE
    assert not verdict.evidence["trial"].endswith("/given")


# State, chance, inputs


def test_changing_an_input_is_told_with_which(judged):
    verdict = judged(forward("y = torch.relu(x)", "x[0, 0] += 1", "return y"))
    assert verdict.status is Status.INPUT_MUTATED
    assert "input 0" in verdict.message


def test_one_buffer_for_all_results_is_stateful(judged):
    source = RELU.replace(
        "y = torch.empty_like(x)",
        "if not hasattr(self, 'kept') or self.kept.shape != x.shape:\n"
        "            self.kept = torch.empty_like(x)\n"
        "        y = self.kept",
    )
    verdict = judged(source)
    assert verdict.status is Status.STATEFUL
    assert "overwrites" in verdict.message


def test_an_answer_remembered_by_address_is_stateful(judged):
    verdict = judged(
        forward(
            "known = self.__dict__.setdefault('known', {})",
            "if x.data_ptr() not in known:",
            "    known[x.data_ptr()] = torch.relu(x)",
            "return known[x.data_ptr()].clone()",
        )
    )
    assert verdict.status is Status.STATEFUL


def test_right_only_in_its_first_calls_is_stateful(judged):
    verdict = judged(
        forward("self.__dict__['calls'] = self.__dict__.get('calls', 0) + 1", "return torch.relu(x) * (self.calls < 6)")
    )
    assert verdict.status is Status.STATEFUL
    assert "fresh process" in verdict.message


def test_right_every_other_call_carries_something_over(judged):
    verdict = judged(
        forward("self.__dict__['calls'] = self.__dict__.get('calls', 0) + 1", "return torch.relu(x) * (self.calls % 2)")
    )
    assert verdict.status is Status.STATEFUL
    assert "right in a fresh process" in verdict.message


# Ends of processes

CRASHES = {
    "a bad pointer": (relu("*(volatile int*)8 = 1;"), "SIGSEGV"),
    "an exception": (forward("raise ValueError('odd size')"), "ValueError: odd size"),
    "leaving": (forward("os._exit(3)"), "exit code 3"),
    "another GPU": (forward("raise RuntimeError('CUDA error: invalid device ordinal')"), "shown one GPU"),
    "another GPU's code": (forward("raise RuntimeError('no kernel image is available')"), "leave -arch out"),
    "an assertion": (forward("os.abort()"), "SIGABRT"),
}


@pytest.mark.parametrize(("source", "word"), CRASHES.values(), ids=CRASHES)
def test_a_crash_is_told_by_its_kind(judged, source, word):
    verdict = judged(source)
    assert verdict.status is Status.CRASH
    assert word in verdict.message


@pytest.mark.parametrize("place", ["y[n + i] = 1;", "y[-1 - i] = 1;", "if (i > n - 9) y[n] = 1;"])
def test_writing_outside_a_result_is_a_crash(judged, place):
    verdict = judged(relu(f"y[i] = x[i] > 0 ? x[i] : 0; {place}"))
    assert verdict.status is Status.CRASH


def test_what_it_printed_before_it_died_is_kept(judged):
    verdict = judged(forward("print('last words', flush=True)", "os._exit(1)"))
    assert "last words" in verdict.evidence["output"]


def test_asking_for_too_much_memory_is_oom(judged):
    verdict = judged(forward("return torch.relu(torch.zeros(1 << 40))"))
    assert verdict.status is Status.OOM
    assert "ran out of memory: raised" in verdict.message


def test_a_device_that_is_full_is_oom(judged):
    assert judged(forward("raise RuntimeError('CUDA error: out of memory')")).status is Status.OOM


def test_torch_doing_the_work_is_library_only(judged):
    verdict = judged(forward("return torch.relu(x)"), task=load_task(TASKS / "relu.py"))
    assert verdict.status is Status.LIBRARY_ONLY
    assert verdict.coverage < 0.5
    assert "relu" in verdict.message or "clamp" in verdict.message
    assert verdict.evidence["operators"]


# Limits


@pytest.fixture(scope="module")
def impatient(_cache_here, eight_task):
    with Judge(limits=Limits(load_s=0.8, call_s=0.9, build_s=0.01, memory_bytes=1 << 28)) as judge:
        yield lambda source: judge.judge(eight_task, source, timed=False)


ENDLESS = forward("while True: pass").replace("(self, x)", "(self, x, y)")
TIMEOUTS = {
    "a call": (ENDLESS, "check", "0.9 s"),
    "a sleep": (ENDLESS.replace("while True: pass", "time.sleep(60)"), "check", "0.9 s"),
    "loading": ("while True: pass\n", "load", "0.8 s"),
    "compiling": (RELU.replace("int64_t i", "int64_t slowly"), "build", "0.01 s"),
}


@pytest.mark.parametrize(("source", "stage", "limit"), TIMEOUTS.values(), ids=TIMEOUTS)
def test_what_takes_too_long_is_told_with_stage_and_limit(impatient, source, stage, limit):
    verdict = impatient(source)
    assert verdict.status is Status.TIMEOUT
    assert verdict.stage == stage
    assert limit in verdict.message


def test_memory_taken_bit_by_bit_is_oom(impatient):
    grow = forward("kept = []", "while True: kept.append(bytearray(1 << 24))").replace("(self, x)", "(self, x, y)")
    assert impatient(grow).status is Status.OOM


def test_the_judge_goes_on_after_all_this(judged):
    assert judged(RELU).status is Status.UNTIMED
