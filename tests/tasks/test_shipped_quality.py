"""The quality file that comes with the package is one, and the page in the documentation is made from it."""

from pathlib import Path

from kernelwright.tasks import FLAWS
from kernelwright.tasks.suites import Quality

PAGE = Path(__file__).parents[2] / "docs" / "kernelbench-quality.md"


def test_it_says_of_every_problem_what_was_found_where():
    shipped = Quality.shipped("kernelbench")
    assert shipped is not None
    assert shipped.dtypes == ("given", "float16", "bfloat16")
    assert {key.partition("/")[0] for key, _ in shipped.findings} == {"1", "2", "3"}
    assert {finding.machine["gpu"] for finding in shipped.findings.values()} == {"NVIDIA H200"}
    for (key, _), finding in shipped.findings.items():
        assert set(finding.flags) <= FLAWS.keys()
        assert shipped.titles[key].startswith(key.partition("/")[2] + "_")
        assert not finding.fit
    assert shipped.flagged()["1/19"] == ("identity",)


def test_it_is_about_one_version():
    assert Quality.shipped("kernelbench", "another") is None
    assert Quality.shipped("robust") is None


def test_the_page_is_what_the_command_writes(capsys):
    from kernelwright.cli import _suites_quality

    _suites_quality.run("kernelbench", None)
    assert capsys.readouterr().out == PAGE.read_text()
