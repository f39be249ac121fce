"""A first `task.toml` for a project that has none, by looking at it. What cannot be told is left to its owner."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.tasks._error import TaskError, choose_among
from kernelwright.tasks._hot_functions import C_FAMILY, Function, functions_in
from kernelwright.tasks._project_folder import project_paths
from kernelwright.tasks._regions import EVOLVE, regions_in

MOST_FUNCTIONS = 8
LARGEST_SOURCE = 1 << 20
_TEST_PLACE = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.\w+$")
_BENCH_PLACE = re.compile(r"(?:^|/)(?:bench(?:mark)?s?)/|(?:^|/)(?:bench|perf)[^/]*\.\w+$|_bench(?:mark)?\.\w+$")


@dataclass(frozen=True)
class Commands:
    """What was found to build, test and time a project with; empty where nothing was."""

    build: str = ""
    test: str = ""
    benchmark: str = ""
    output: str = "json"


@dataclass(frozen=True)
class Survey:
    """What looking at a project has shown. `marked`: sources that have regions already."""

    commands: Commands
    functions: tuple[Function, ...]
    marked: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return self.marked or tuple(dict.fromkeys(one.file for one in self.functions[:1]))


def survey(root: Path) -> Survey:
    """Raises TaskError where there is no project to look at."""
    if not root.is_dir():
        raise TaskError("there is no such folder.", str(root), "Name the folder that the project is in.")
    texts = _texts(root)
    if not texts:
        what = "the folder holds no C++, CUDA or Python source."
        raise TaskError(what, str(root), "Name the folder that the project's sources are in.")
    timing = "\n".join(text for path, text in texts.items() if _BENCH_PLACE.search(path))
    code = {
        path: text for path, text in texts.items() if not _TEST_PLACE.search(path) and not _BENCH_PLACE.search(path)
    }
    found = [one for path, text in code.items() for one in functions_in(path, text, timing)]
    found.sort(key=lambda one: (-one.heat, one.file, one.first))
    marked = tuple(path for path, text in code.items() if any(one.kind == EVOLVE for one in regions_in(text, path)))
    return Survey(_commands(root, texts), tuple(found[:MOST_FUNCTIONS]), marked)


def _texts(root: Path) -> dict[str, str]:
    paths = [path for path in project_paths(root, []) if path.endswith((*C_FAMILY, ".py"))]
    files = [path for path in paths if (root / path).is_file() and (root / path).stat().st_size <= LARGEST_SOURCE]
    return {path: (root / path).read_text(encoding="utf-8", errors="replace") for path in files}


# Commands


def _commands(root: Path, texts: dict[str, str]) -> Commands:
    for look in (_cmake, _make, _python):
        found = look(root, texts)
        if found is not None:
            return found
    return Commands()


def _cmake(root: Path, texts: dict[str, str]) -> Commands | None:
    lists = _read(root / "CMakeLists.txt")
    if lists is None:
        return None
    programs = re.findall(r"add_executable\s*\(\s*([\w-]+)", lists)
    timing = next((name for name in programs if re.search(r"bench|perf", name, re.IGNORECASE)), None)
    return Commands(
        build="cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build",
        test="ctest --test-dir build --output-on-failure" if "add_test" in lists else "",
        benchmark=f"build/{timing}" if timing else "",
    )


def _make(root: Path, texts: dict[str, str]) -> Commands | None:
    rules = _read(root / "Makefile")
    if rules is None:
        return None
    targets = set(re.findall(r"^([\w-]+)\s*:(?!=)", rules, re.MULTILINE))
    test = next((f"make {name}" for name in ("test", "check", "tests") if name in targets), "")
    timing = next((f"make -s {name}" for name in ("bench", "benchmark", "perf") if name in targets), "")
    script = _script(texts)
    native = any(path.endswith(C_FAMILY) for path in texts)
    return Commands(build="make" if native else "", test=test or _pytest(texts), benchmark=timing or script)


def _python(root: Path, texts: dict[str, str]) -> Commands | None:
    if not any(path.endswith(".py") for path in texts):
        return None
    fixture = next((path for path, text in texts.items() if re.search(r"def test_\w+\([^)]*\bbenchmark\b", text)), None)
    if fixture:
        timing = f"python -m pytest -q {fixture} --benchmark-json={{output}}"
        return Commands(test=_pytest(texts), benchmark=timing, output="pytest-benchmark")
    return Commands(test=_pytest(texts), benchmark=_script(texts))


def _pytest(texts: dict[str, str]) -> str:
    return "python -m pytest -q" if any(_TEST_PLACE.search(path) and path.endswith(".py") for path in texts) else ""


def _script(texts: dict[str, str]) -> str:
    found = sorted(path for path in texts if _BENCH_PLACE.search(path) and path.endswith(".py"))
    return f"python {found[0]}" if found else ""


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


# Writing


def write_project(root: Path, function: str | None = None) -> tuple[Path, Survey]:
    """Writes `task.toml`, and markers around a function if one is named. Nothing is overwritten."""
    target = root / "task.toml"
    if target.exists():
        raise TaskError("the folder already holds task.toml.", str(root), "Move it away, or edit it.")
    found = survey(root)
    if function is not None:
        chosen = _chosen(found.functions, function)
        _mark(root / chosen.file, chosen)
        found = survey(root)
    target.write_text(_toml(root, found), encoding="utf-8")
    return target, found


def _chosen(functions: Sequence[Function], name: str) -> Function:
    for one in functions:
        if name in (one.name, f"{one.file}:{one.name}", f"{one.file}:{one.first}"):
            return one
    known = [one.name for one in functions]
    raise TaskError(f"no function {name!r} was found to be hot.", fix=choose_among(name, known))


def _mark(path: Path, function: Function) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    first = lines[function.first - 1]
    indent = first[: len(first) - len(first.lstrip())]
    comment = "#" if function.file.endswith(".py") else "//"
    lines.insert(function.last, f"{indent}{comment} {EVOLVE} end\n")
    lines.insert(function.first - 1, f"{indent}{comment} {EVOLVE} begin {function.name}\n")
    path.write_text("".join(lines), encoding="utf-8")


def _toml(root: Path, found: Survey) -> str:
    told = found.commands
    comment = [
        "# How this project is built, tested and timed; `kernelwright eval . CANDIDATE` tries it all.",
        "# What may be rewritten stands in the sources between `EVOLVE begin NAME` and `EVOLVE end`, in comments.",
    ]
    hot = [f"#   {one.file}:{one.first} {one.name}: {one.why}" for one in found.functions if not found.marked]
    if hot:
        comment += ["# Functions that may be worth it:", *hot]
    table = [
        f"name = {_quoted(root.resolve().name)}",
        "",
        "[project]",
        f"sources = {json.dumps(list(found.sources))}",
        f"build = {_quoted(told.build)}" + ("" if told.build else "  # nothing to build was found"),
        f"test = {_quoted(told.test)}" + ("" if told.test else "  # the command that runs the tests"),
        *_benchmark(told),
    ]
    return "\n".join([*comment, "", *table]) + "\n"


def _benchmark(told: Commands) -> list[str]:
    if told.output != "json":
        return [f"benchmark = {_quoted(told.benchmark)}", f"output = {_quoted(told.output)}"]
    return [
        '# Its last line is {"seconds": [...], "check": ...}: seconds of each call, and what the results add up to.',
        "# Give it {seed}, from which its inputs are drawn: then every timed run is a checked one.",
        f"benchmark = {_quoted(told.benchmark)}"
        + ("" if told.benchmark else "  # the command that times the hot code"),
        'output = "json"  # or "pytest-benchmark", "hyperfine"; "wall": the judge\'s clock alone',
    ]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
