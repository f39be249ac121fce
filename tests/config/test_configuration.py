"""What a user says about a search: who is heard last, what is refused and in which words."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.config import ConfigError, Configuration, brief, configured, spoken, stored, to_toml
from kernelwright.engine import Plan

BUDGET = "[budget]\nevaluations = 7\ndollars = 2\n"


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "search.toml"
        path.write_text(text)
        return path

    return write


def test_defaults_then_the_file_then_options_and_settings(file) -> None:
    path = file(BUDGET + '[model]\nname = "openai/a"\ntries = 2\n')
    found = configured(file=path, model="openai/b", evaluations=9, settings={"model.tries": 5})
    assert (found.budget.evaluations, found.budget.dollars, found.budget.tokens) == (9, 2.0, None)
    assert (found.model.name, found.model.tries, found.model.at_once) == ("openai/b", 5, Configuration().model.at_once)


def test_a_table_is_filled_by_all_who_have_a_say(file) -> None:
    path = file("[judge]\nlimits = { call_s = 3, total_s = 9 }\n")
    found = configured(file=path, limits={"call_s": 4.5}, settings={"judge.limits.memory_bytes": 1 << 30})
    assert found.plan().limits == {"call_s": 4.5, "total_s": 9.0, "memory_bytes": 1 << 30}
    assert isinstance(found.plan().limits["memory_bytes"], int)


def test_what_is_set_can_be_unset(file) -> None:
    found = configured(file=file('[budget]\nevaluations = "none"\n'), dollars=3.0)
    assert found.plan().budget.limits() == {"dollars": 3.0}


REFUSED = {
    "a key that is none": ("[budget]\nevalutions = 3", "no 'evalutions' in [budget]", "did you mean 'evaluations'"),
    "a section that is none": ("[budgets]\nevaluations = 3", "no section [budgets]", "did you mean 'budget'"),
    "an empty section that is none": ("[fleets]", "no section [fleets]", "did you mean 'fleet'"),
    "a key of another section": ("[search]\nevaluations = 3", "no 'evaluations' in [search]", "belongs to [budget]"),
    "a key above all sections": ("evaluations = 3", "'evaluations' stands in no section", "below [budget]"),
    "a key to an endpoint": ('[model]\napi_key = "s"', "no 'api_key' in [model]", "export OPENAI_API_KEY"),
    "a text for a number": ('[budget]\nevaluations = "ten"', "is 'ten'; expected a whole number", "= 40"),
    "a fraction for a number": ("[budget]\nevaluations = 1.5", "is 1.5; expected a whole number", "= 40"),
    "a truth for a number": ("[budget]\nevaluations = true", "expected a whole number", "= 40"),
    "a number for a text": ("[search]\nmethod = 3", "search.method is 3; expected a text", '"..."'),
    "a text for a list": ('[search]\nwithout = "gradients"', "expected a list", "["),
    "a text for a truth": ('[task]\nfit = "yes"', "expected true or false", "true"),
    "a list for a constant": ("[task]\nconstants = { n = [1] }", "task.constants.n is [1]; expected a number", "= 1"),
    "a text for a section": ('model = "openai/a"', "expected a section of its own", "[model]"),
    "nothing to spend": ("[budget]\nevaluations = 0", "[budget]: a budget of 0 evaluations is nothing", "docs/config"),
    "less than nothing": ("[budget]\ndollars = -1", "[budget]: a budget of -1 dollars is nothing", "docs/config"),
    "no limit at all": ('[budget]\nevaluations = "none"', "[budget]: a run needs a limit", "docs/config"),
    "no tries": ("[model]\ntries = 0", "model.tries is 0; expected a number above 0", "= 1"),
    "an unknown method": ('[search]\nmethod = "beem"', "no search 'beem'; did you mean beam?", "docs/config"),
    "an unknown mechanism": ('[search]\nwithout = ["gradient"]', "did you mean gradients?", "docs/config"),
    "an unknown backend": ('[search]\nbackend = "cude"', "no backend 'cude'; did you mean cuda?", "docs/config"),
    "an unknown limit": ("[judge]\nlimits = { cal_s = 1 }", "no limit 'cal_s'; did you mean call_s?", "docs/config"),
    "no eager baseline": ('[judge]\nbaselines = ["compile"]', "compares with eager", "docs/config"),
    "no TOML": ("[budget", "is no TOML: Expected ']'", "kernelwright config"),
}


@pytest.mark.parametrize(("text", "what", "fix"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_refused_with_the_file_and_what_was_meant(file, text, what, fix) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(file=file(text))
    assert "search.toml" in caught.value.what
    assert what in caught.value.what
    assert fix in caught.value.fix


def test_everything_that_is_wrong_is_said_at_once(file) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(file=file('[budget]\ntoken = 3\n[stop]\ntarget = "high"\n'))
    assert "'token'" in caught.value.what
    assert "stop.target" in caught.value.what


def test_the_file_is_not_blamed_for_what_others_say(file) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(file=file(BUDGET + "[stop]\nplateau = 3\n"), settings={"stop.plateau": "long"})
    assert "search.toml" not in caught.value.what


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"evaluations": 3, "settings": {"budget.evaluations": 4}}, "said twice: 3 by its option and 4 by its key"),
        ({"evalutions": 3}, "no option 'evalutions'"),
        ({"settings": {"budget.evalutions": 3}}, "no 'evalutions' in [budget]"),
        ({"settings": {"evaluations": 3}}, "stands in no section"),
    ],
)
def test_options_and_settings_that_cannot_be_meant(said: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(**said)
    assert what in caught.value.what
    assert caught.value.fix


@pytest.mark.parametrize(("content", "what"), [(None, "No such file"), (b"\xff\xfe", "not UTF-8")])
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, what: str) -> None:
    path = tmp_path / "search.toml"
    if content:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=what):
        configured(file=path)


def test_words_mean_what_their_key_wants() -> None:
    pairs = {
        "model.name": "7",
        "budget.dollars": "2.5",
        "search.without": "gradients, prompt-evolution",
        "task.fit": "true",
        "budget.evaluations": "none",
        "task.constants.rows": "64",
        "rows": "32",
    }
    settings, constants = spoken(pairs)
    assert constants == {"rows": "32"}
    found = configured(settings=settings)
    assert (found.model.name, found.budget.dollars, found.budget.evaluations) == ("7", 2.5, None)
    assert found.search.without == ["gradients", "prompt-evolution"]
    assert (found.task.fit, found.task.constants) == (True, {"rows": 64})
    assert spoken({"search.without": '["gradients"]'})[0] == {"search.without": ["gradients"]}


PLAIN = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text != "none")


@given(
    name=st.none() | PLAIN,
    dollars=st.none() | st.floats(1e-9, 1e9),
    seed=st.integers(),
    constants=st.dictionaries(PLAIN, PLAIN | st.integers() | st.booleans() | st.floats(allow_nan=False)),
)
def test_what_is_printed_is_read_again_as_the_same(name, dollars, seed, constants) -> None:
    data = {"model": {"name": name}, "budget": {"dollars": dollars}, "search": {"seed": seed}}
    made = Configuration.model_validate({**data, "task": {"constants": constants}})
    assert Configuration.model_validate(tomllib.loads(to_toml(made))) == made


def test_a_run_keeps_its_configuration() -> None:
    made = configured(model="openai/a", dollars=2.0, without=["gradients"], settings={"model.tries": 2})
    plan = Plan.from_json(made.plan().to_json())
    assert plan == made.plan()
    assert stored(plan.to_json()) == made
    assert '[model] name = "openai/a"' in brief(made)[0]
    assert not any("tokens" in line for line in brief(made))


def test_a_run_of_another_version_says_so() -> None:
    with pytest.raises(ConfigError, match="no section"):
        stored({"config": {"weather": {}}})
    assert stored({}) == Configuration()


def test_how_a_model_is_asked_reaches_who_asks() -> None:
    model = configured(
        settings={"model.seconds": 5, "model.max_tokens": 100, "model.tries": 1, "model.at_once": 2}
    ).model
    assert (model.settings().seconds, model.settings().max_tokens) == (5, 100)
    assert model.limits().tries == 1


def test_a_password_in_an_address_is_used_and_not_kept() -> None:
    made = configured(base_url="http://me:secret@host:8000/v1?a=b")
    assert made.model.base_url == "http://me:secret@host:8000/v1?a=b"
    assert stored(made.plan().to_json()).model.base_url == "http://host:8000/v1?a=b"


# *** who writes first ***


@pytest.mark.parametrize(
    ("said", "seeder"),
    [
        ({"model": "openai/a"}, "builtin"),
        ({"model": "mailbox/m", "backend": "triton"}, "builtin"),
        ({"model": "builtin"}, None),
        ({"model": "script/ready"}, None),
        ({}, None),
        ({"model": "script/ready", "seed_with": "builtin"}, "builtin"),
        ({"model": "openai/a", "seed_with": "none"}, None),
        ({"model": "openai/a", "without": ["seeding"]}, None),
    ],
)
def test_seeds_are_the_synthesisers_where_a_model_is_asked(said: dict, seeder: str | None) -> None:
    plan = configured(**said).plan()
    assert plan.seed_with == seeder
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


# *** how many at once ***


@pytest.mark.parametrize(
    ("said", "lanes"),
    [
        ({"model": "builtin"}, 2),
        ({"model": "builtin", "fleet": "local-ray"}, 4),
        ({"model": "openai/a"}, 4),
        ({"model": "builtin", "in_flight": 7}, 7),
        ({"model": "openai/a", "in_flight": 1}, 1),
    ],
)
def test_whoever_answers_at_once_is_asked_no_more_than_the_judge_needs(said: dict, lanes: int) -> None:
    assert configured(**said).plan().lanes == lanes


def test_a_word_for_how_many_at_once_is_refused() -> None:
    with pytest.raises(ConfigError, match="in_flight"):
        configured(settings={"search.in_flight": "many"})
