"""A candidate declares its parameters beside their values; a configuration changes those values and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.tuning import Configuration, TuningError, is_template, read_template
from tests.tuning.candidates import PLAIN, RELU


def test_names_values_defaults_and_constraints_are_read():
    template = read_template(PLAIN)
    assert [parameter.name for parameter in template.parameters] == ["TILE", "UNROLL", "ORDER"]
    assert [choice.value for choice in template.parameters[1].choices] == [1, 2, 3, 4]
    assert template.default == Configuration((("TILE", "8"), ("UNROLL", "2"), ("ORDER", '"rows"')))
    assert [constraint.text for constraint in template.constraints] == ["TILE * UNROLL <= 32"]


def test_native_constants_macros_and_tells_are_read():
    template = read_template(RELU)
    assert str(template.default) == "CHUNK=64 UNROLL=2"
    assert template.tells == ("rows", "cols")


@pytest.mark.parametrize("source", [PLAIN, RELU], ids=["python", "native"])
def test_the_defaults_are_the_source_itself(source):
    template = read_template(source)
    assert template.text(template.default) == source


@given(st.data())
def test_a_configuration_changes_the_values_and_not_one_other_character(data):
    template = read_template(data.draw(st.sampled_from([PLAIN, RELU])))
    choices = [(p.name, data.draw(st.sampled_from(p.choices)).text) for p in template.parameters]
    text = template.text(Configuration(tuple(choices)))
    again = read_template(text)
    assert again.default.choices == tuple(choices)
    assert again.text(template.default) == template.source
    changed = [line for line, old in zip(text.splitlines(), template.source.splitlines(), strict=True) if line != old]
    assert all("tune:" in line for line in changed)


FORMS = {
    "X = 4  # tune: 4, 8": "4",
    "X: tl.constexpr = 4  # tune: 4, 8": "4",
    "static const unsigned int X = 4; // tune: 4, 8": "4",
    "constexpr float X = 0.5f;  // tune: 0.5f, 1.0f": "0.5f",
    "  #define X 4  //tune: 4, 8": "4",
    "#  define X float // tune: float, double": "float",
    "constexpr bool X = true;  // tune: true, false": "true",
    "X = -1  # tune: -2..1": "-1",
    "using V = X; X = 0x10  # tune: 0x10, 32": None,
}


@pytest.mark.parametrize("line", [line for line, default in FORMS.items() if default])
def test_every_form_of_a_declaration_is_read(line):
    template = read_template(f'text = r"""\n{line}\nuse(X);\n"""\n')
    assert template.default.choices == (("X", FORMS[line]),)


BAD = {
    "no parameters": ("def f(): pass\n", "declares no parameters"),
    "nothing declared": ("f(3)  # tune: 1, 2\n", "does not give a name a value"),
    "no values": ("X = 1  # tune:\nprint(X)\n", "no values to choose from"),
    "a hole": ("X = 1  # tune: 1,, 2\nprint(X)\n", "no values to choose from"),
    "no value": ("X = 1  # tune: 1, a b\nprint(X)\n", "'a b' is no value"),
    "twice the same": ("X = 1  # tune: 1, 2, 1\nprint(X)\n", "value 1 twice"),
    "backwards": ("X = 1  # tune: 4..1\nprint(X)\n", "no range"),
    "endless": ("X = 1  # tune: 1..99999\nprint(X)\n", "no range"),
    "default elsewhere": ("X = 3  # tune: 1, 2\nprint(X)\n", "X is 3, which is not among its values 1, 2"),
    "declared twice": ("X = 1  # tune: 1, 2\nX = 1  # tune: 1, 2\nprint(X)\n", "line 1 already"),
    "a limit's name": ("CORES = 1  # tune: 1, 2\nprint(CORES)\n", "name of a limit"),
    "never used": ("X = 1  # tune: 1, 2\n", "never used"),
    "only remarked": ('"""X is nice."""\nX = 1  # tune: 1, 2\n', "never used"),
    "only in a comment": ('t = r"""\nint X = 1;  // tune: 1, 2\n// X\n/* X */\n"""\nprint(t)\n', "never used"),
    "unknown name": ("X = 1  # tune: 1, 2\n# tune where: X < Y\nprint(X)\n", "names Y, which is neither"),
    "no expression": ("X = 1  # tune: 1, 2\n# tune where: X <\nprint(X)\n", "is not usable"),
    "no python": ("X = 1  # tune: 1, 2\nprint(X\n", "not valid Python"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_declaration_is_one_sentence(name):
    source, words = BAD[name]
    with pytest.raises(TuningError) as caught:
        read_template(source)
    assert words in caught.value.what
    assert "\n" not in caught.value.what


def test_a_sentence_names_the_line():
    with pytest.raises(TuningError) as caught:
        read_template("import torch\n\nX = 3  # tune: 1, 2\nprint(X)\n")
    assert caught.value.line == 3


def test_an_ordinary_candidate_is_no_template():
    assert not is_template("class ModelNew:\n    pass  # tuned by hand\n")
    assert is_template(PLAIN)
