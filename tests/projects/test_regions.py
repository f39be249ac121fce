"""Markers in sources: which text may be rewritten, and what a candidate may look like."""

import pytest

from kernelwright.tasks import RegionError, Task, TaskError, load_task
from tests.projects.made_up import FAST, SOURCE, TOML, project


def refused(folder, **files):
    with pytest.raises(TaskError) as caught:
        load_task(project(folder, **files))
    return str(caught.value)


def test_a_project_is_its_files_its_regions_and_its_commands(tmp_path):
    task = load_task(project(tmp_path))
    assert task.project is not None
    assert [file.path for file in task.project.files] == ["bench.py", "sums.py", "test_sums.py"]
    (region,) = task.project.regions
    assert (region.name, region.file, task.project.backend) == ("squares", "sums.py", "python")
    assert task.source == "# EVOLVE begin squares\n" + region.text + "# EVOLVE end\n"
    assert task.project.command(task.cases[0], seed=7, output="") == "python bench.py 400000 7"


def test_it_travels_whole_and_is_known_by_its_content(tmp_path):
    task = load_task(project(tmp_path / "here"))
    assert Task.from_wire(task.to_wire()) == task
    assert Task.from_wire(task.to_wire()).hash == task.hash
    assert load_task(project(tmp_path / "there")).hash == task.hash
    assert load_task(project(tmp_path / "there", bench_dot_py="print(1)\n")).hash != task.hash


def test_a_binary_file_travels_as_it_is(tmp_path):
    (project(tmp_path) / "table.bin").write_bytes(bytes(range(256)))
    project_ = Task.from_wire(load_task(tmp_path).to_wire()).project
    assert project_.by_path["table.bin"].content == bytes(range(256))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (SOURCE.replace("# EVOLVE end\n", ""), "begins here and never ends"),
        (SOURCE.replace("# EVOLVE begin squares\n", ""), "ends here that never began"),
        (SOURCE.replace("# EVOLVE end\n", "# EVOLVE begin more\n# EVOLVE end\n"), "begins inside"),
        (SOURCE + "# EVOLVE begin squares\n# EVOLVE end\n", "two regions are called 'squares'"),
        (SOURCE.replace("# EVOLVE end", "# REFERENCE end"), "REFERENCE ends here, but EVOLVE began in line 3"),
        (SOURCE.replace("# EVOLVE end", "# EVOLVE end circles"), "'circles' ends here, but 'squares' began"),
        (SOURCE.replace("# EVOLVE begin squares", "# EVOLVE-BLOCK-START"), "looks like a marker and is none"),
        ("def squares(n, start): ...\n", "no source has a region marked EVOLVE"),
    ],
)
def test_markers_that_do_not_pair_up_are_named_with_their_line(tmp_path, source, words):
    said = refused(tmp_path, sums_dot_py=source)
    assert words in said
    assert "sums.py" in said
    assert "fix:" in said


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (TOML.replace('"sums.py"', '"sum.py"'), "Did you mean 'sums.py'?"),
        (TOML.replace("{size}", "{sise}"), "benchmark names {sise}"),
        (TOML.replace("benchmark =", "benchmarks ="), "Did you mean 'benchmark'?"),
        (TOML.replace('test = "python test_sums.py"\n', 'test = " "\n'), "test is empty"),
        (TOML.replace("[[case]]", 'output = "xml"\n[[case]]'), "output is 'xml'"),
        (TOML.replace("sources", 'root = "src"\nsources'), "there is no folder 'src'"),
        (TOML + "inputs = { x = { shape = [1] } }\n", "a project has none"),
    ],
)
def test_a_table_that_cannot_be_right_is_refused_in_a_sentence(tmp_path, toml, words):
    assert words in refused(tmp_path, task_dot_toml=toml)


def test_dims_can_be_set(tmp_path):
    task = load_task(project(tmp_path), constants={"size": "10"})
    assert task.project.command(task.cases[0], seed=1, output="") == "python bench.py 10 1"
    with pytest.raises(TaskError, match="there is no dim 'sise'"):
        load_task(tmp_path, constants={"sise": 10})


# Candidates


@pytest.fixture
def made(tmp_path):
    return load_task(project(tmp_path)).project


def test_bare_text_regions_and_whole_files_are_one_candidate(made):
    marked = f"# EVOLVE begin squares\n{FAST}# EVOLVE end\n"
    whole = made.with_candidate(FAST)["sums.py"]
    assert made.canonical(FAST) == made.canonical(marked) == made.canonical(whole) == marked
    assert "below(start + n)" in whole
    assert whole.startswith('"""Sums of squares."""')
    assert whole.endswith("return 2 * squares(n, 0)\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"# EVOLVE begin squares\n{FAST}# EVOLVE end\n\ndef twice(n):\n    return 0\n", "edits outside its regions"),
        (f"# EVOLVE begin circles\n{FAST}# EVOLVE end\n", "there is no region 'circles'"),
        (f"# EVOLVE begin squares\n{FAST}", "begins here and never ends"),
        (f"{FAST}# EVOLVE end\ndef twice(n): return 0\n# EVOLVE begin squares\n", "ends here that never began"),
    ],
)
def test_a_candidate_that_is_more_than_its_regions_is_refused(made, text, words):
    with pytest.raises(RegionError, match=words):
        made.read(text)


def test_of_several_regions_those_not_named_stay(tmp_path):
    source = SOURCE + "\n# EVOLVE begin cubes\ndef cubes(n):\n    return n\n# EVOLVE end\n"
    made = load_task(project(tmp_path, sums_dot_py=source)).project
    text = made.with_candidate("# EVOLVE begin cubes\ndef cubes(n):\n    return n**3\n# EVOLVE end\n")["sums.py"]
    assert "return n**3" in text
    assert "total = total + value * value" in text
    with pytest.raises(RegionError, match="marks no region; this project has several: squares, cubes"):
        made.read(FAST)
