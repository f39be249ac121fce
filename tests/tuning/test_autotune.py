"""Triton's own list of configurations is a parameter space: it is read from the text, and one entry of it is left."""

import ast

import pytest

from kernelwright.tuning import Space, TuningError, is_template, read_template

KERNEL = '''\
import torch
import triton
import triton.language as tl

SIZES = [64, 128]


def lists():
    """Configurations for every machine."""
    return [triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64}, num_warps=8)]


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
'''
LISTED = '[triton.Config({"BLOCK": 128}, num_warps=8), triton.Config({"BLOCK": 64}, num_stages=2, num_warps=4)]'


def candidate(configs: str) -> str:
    return KERNEL.replace("CONFIGS", configs)


def rows(source: str) -> list[str]:
    return [str(one) for one in Space(read_template(source), {}).configurations]


def test_the_space_is_the_list_and_nothing_between_its_entries():
    assert rows(candidate(LISTED)) == [
        "BLOCK=64 num_warps=4 num_stages=2",
        "BLOCK=128 num_warps=8 num_stages=3",
    ]


def test_the_first_entry_gives_the_defaults():
    assert str(read_template(candidate(LISTED)).default) == "BLOCK=128 num_warps=8 num_stages=3"


def test_a_configuration_leaves_one_entry_and_changes_nothing_else():
    source = candidate(LISTED)
    template = read_template(source)
    for one in Space(template, {}).configurations:
        text = template.text(one)
        ast.parse(text)
        assert rows(text) == [str(one)]
        before, after = source.split(LISTED)
        assert text.startswith(before)
        assert text.endswith(after)
    assert '[triton.Config({"BLOCK": 128}, num_warps=8, num_stages=3)]' in template.text(template.default)


WAYS = {
    "a comprehension": ("[triton.Config({'BLOCK': b}, num_warps=w) for b in SIZES for w in (4, 8) if b // w > 8]", 3),
    "pairs": ("[triton.Config({'BLOCK': b}, num_warps=w) for b, w in [(64, 2), (128, 4)]]", 2),
    "powers": ("[triton.Config({'BLOCK': 2**p}) for p in range(5, 9)]", 4),
    "two lists": ("[triton.Config({'BLOCK': 32})] + [triton.Config({'BLOCK': b}) for b in SIZES]", 3),
    "starred": ("[triton.Config({'BLOCK': 256}), *lists()]", 3),
    "a function": ("lists()", 2),
    "places": ("[triton.Config({'BLOCK': 32}, 8, 2), triton.Config({'BLOCK': 32}, 4)]", 2),
    "said twice": ("[triton.Config({'BLOCK': 32}), triton.Config({'BLOCK': 32})]", 1),
}


@pytest.mark.parametrize("name", WAYS)
def test_every_way_to_make_a_list_is_read_without_running_it(name):
    configs, number = WAYS[name]
    assert len(rows(candidate(configs))) == number


def test_constraints_and_parameters_in_comments_hold_beside_the_list():
    source = "SPLIT = 1  # tune: 1, 2\nprint(SPLIT)\n# tune where: BLOCK * SPLIT <= 128\n" + candidate(LISTED)
    assert rows(source) == [
        "SPLIT=1 BLOCK=64 num_warps=4 num_stages=2",
        "SPLIT=1 BLOCK=128 num_warps=8 num_stages=3",
        "SPLIT=2 BLOCK=64 num_warps=4 num_stages=2",
    ]


def test_two_kernels_with_the_same_names_are_told_apart():
    second = candidate(LISTED).split("\n\n\n")[-1].replace("def scale", "def shift")
    names = [parameter.name for parameter in read_template(candidate(LISTED) + "\n\n" + second).parameters]
    assert names == [
        f"{kernel}_{name}" for kernel in ("scale", "shift") for name in ("BLOCK", "num_warps", "num_stages")
    ]


def test_letters_of_several_bytes_before_the_list_shift_nothing():
    source = candidate("[triton.Config({'BLOCK': 32}), triton.Config({'BLOCK': 64})]").replace(
        '["n"])', '["n"])  # größer'
    )
    source = source.replace("@triton.autotune(configs=", '@triton.autotune(key=["ñ"], configs=').replace(
        ', key=["n"])', ")"
    )
    template = read_template(source)
    assert 'key=["ñ"], configs=[triton.Config({"BLOCK": 32})])' in template.text(template.default)


BAD = {
    "unknown name": ("elsewhere", "`elsewhere` has no plain value in the module"),
    "a call": ("made(3)", "cannot be read without running it"),
    "no list": ("7", "are no list of triton.Config"),
    "empty": ("[]", "is empty"),
    "a hook": ("[triton.Config({'BLOCK': 1}, pre_hook=clear)]", "has no plain value"),
    "not everywhere": ("[triton.Config({'BLOCK': 1}), triton.Config({})]", "give BLOCK a value and others do not"),
    "no argument": ("[triton.Config({'BLOCK': 1, 'WIDE': 2})]", "set WIDE, which is no argument of it"),
    "divided by zero": ("[triton.Config({'BLOCK': 8 // 0})]", "it divides by zero"),
    "too many": ("[triton.Config({'BLOCK': b}) for b in range(100) for c in range(100)]", "more than 4096"),
    "itself": ("CIRCLE", "has no plain value"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_list_that_cannot_be_read_is_one_sentence_with_the_line(name):
    configs, words = BAD[name]
    with pytest.raises(TuningError) as caught:
        read_template(candidate(configs).replace("SIZES = [64, 128]", "SIZES = [64, 128]\nCIRCLE = [*CIRCLE]"))
    assert words in caught.value.what
    assert caught.value.fix
    assert caught.value.line


def test_constraints_that_leave_nothing_of_the_list_are_named():
    limits = {"SMEM_BYTES": 100}
    source = candidate(LISTED).replace("SIZES", "# tune where: BLOCK * 4 <= SMEM_BYTES\nSIZES", 1)
    with pytest.raises(TuningError, match=r"'BLOCK \* 4 <= SMEM_BYTES' holds for no choice of values"):
        Space(read_template(source), limits)


def test_a_list_alone_makes_a_template():
    assert is_template(candidate(LISTED))
    assert is_template(candidate("elsewhere"))
    assert not is_template("# autotune\nx = 1\n")
