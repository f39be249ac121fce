"""The suite that comes along is named like any other, wherever a problem or a suite can be named."""

import json

import pytest

from kernelwright.tasks.suites import VARIABLE

RETURNS = '''\
import torch

from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>

extern "C" void returns(const float* rewards, float* worth, int64_t episodes, int64_t steps) {
    for (int64_t i = 0; i < episodes; i++) {
        float later = 0;
        for (int64_t j = steps; j-- > 0;) worth[i * steps + j] = later = rewards[i * steps + j] + 0.97f * later;
    }
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, rewards):
        worth = torch.empty_like(rewards)
        lib.returns(rewards, worth, *rewards.shape)
        return worth
'''


@pytest.fixture(autouse=True)
def _nothing_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def solutions(tmp_path):
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "discounted_returns.py").write_text(RETURNS)
    return tmp_path / "solutions"


def test_it_is_listed_where_nothing_else_is(invoke):
    result = invoke("suites")
    assert result.exit_code == 0
    for words in ("everyday", "cumulative: 2", "kernelwright bench everyday"):
        assert words in result.output


def test_one_of_its_tasks_judges_a_candidate(one_judge, solutions, tmp_path, invoke):
    right = invoke("eval", "everyday:discounted_returns", solutions / "discounted_returns.py", "--untimed")
    assert right.exit_code == 0, right.output
    wrong = tmp_path / "wrong.py"
    wrong.write_text(RETURNS.replace("0.97f", "0.96f"))
    assert invoke("eval", "everyday:discounted_returns", wrong, "--untimed").exit_code == 1


def test_solutions_of_a_kind_are_found_by_name(one_judge, solutions, tmp_path, invoke):
    out = tmp_path / "judged"
    result = invoke("bench", "everyday:cumulative", "--solutions", solutions, "--untimed", "--out", out)
    assert result.exit_code == 0, result.output
    fates = {row["problem"]: row["fate"] for row in json.loads((out / "report.json").read_text())["problems"]}
    assert fates == {"discounted_returns": "accepted", "prefix_mean": "no solution"}
