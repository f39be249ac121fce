"""A project read from its folder: the files that version control knows, or all of them where there is none."""

import os
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from kernelwright.tasks._error import TaskError, closest
from kernelwright.tasks._load import read_text
from kernelwright.tasks._project import Project, ProjectFile
from kernelwright.tasks._schema import ProjectTable

MOST_BYTES = 32 << 20
GIT_SECONDS = 60
# What no project's build, tests or benchmark need, where no version control says so.
IGNORED = (".*", "__pycache__", "*.pyc", "*.egg-info", "build", "dist", "node_modules", "venv")
# Ours: what a search leaves in the folder it is begun in is no part of the project.
OURS = ("task.toml", "kernelwright-*")


def read_project(folder: Path, told: ProjectTable) -> Project:
    """The project that a `[project]` table in this folder names. Raises TaskError."""
    root = folder / told.root
    if not root.is_dir():
        raise TaskError(f"there is no folder {told.root!r}.", fix="root is where the project is, from task.toml.")
    files = _files(root, told.exclude)
    for path in told.sources:
        _check_source(root, path, files)
    return Project(
        files=tuple(files[path] for path in sorted(files)),
        sources=tuple(told.sources),
        build=told.build,
        test=told.test,
        benchmark=told.benchmark,
        output=told.output,
        tolerance=told.tolerance,
        languages=told.languages,
        folders=tuple(str((root / path).resolve()) for path in told.folders),
        prefix=_git(root, "rev-parse", "--show-prefix").strip(),
    )


def _check_source(root: Path, path: str, files: dict[str, ProjectFile]) -> None:
    if path not in files:
        meant = closest(path, files)
        fix = f"Did you mean {meant!r}?" if meant else "Name files from the project's root, with slashes."
        raise TaskError(f"sources names {path!r}, which is no file of the project.", fix=fix)
    read_text(root / path)


def project_paths(root: Path, exclude: list[str]) -> list[str]:
    """The project's files, from its root."""
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = [path for path in listed.split("\0") if path] if listed else list(_walked(root))
    unwanted = (*OURS, *(pattern.rstrip("/") for pattern in exclude))
    return sorted({path for path in paths if not _matches(path, unwanted)})


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether the path, a folder that it is in, or its name alone fits one of them."""
    parts = path.split("/")
    heads = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return any(fnmatch(text, pattern) for pattern in patterns for text in (*heads, parts[-1]))


def _walked(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _matches(name, IGNORED))
        for name in names:
            if not _matches(name, IGNORED):
                yield (Path(folder) / name).relative_to(root).as_posix()


def _files(root: Path, exclude: list[str]) -> dict[str, ProjectFile]:
    found: dict[str, ProjectFile] = {}
    total = 0
    for path in project_paths(root, exclude):
        file = _read(root / path, path)
        if file is not None:
            found[path] = file
            total += len(file.content)
    if total > MOST_BYTES:
        largest = max(found.values(), key=lambda file: len(file.content))
        what = f"the project has {total >> 20} MiB of files, more than {MOST_BYTES >> 20}."
        fix = f"Name what is not needed in exclude; the largest is {largest.path} ({len(largest.content) >> 20} MiB)."
        raise TaskError(what, fix=fix)
    return found


def _read(file: Path, path: str) -> ProjectFile | None:
    """None for what is no file: one deleted and not yet committed, a submodule."""
    try:
        if file.is_symlink():
            return ProjectFile(path, b"", link=os.readlink(file))
        if not file.is_file():
            return None
        return ProjectFile(path, file.read_bytes(), executable=os.access(file, os.X_OK))
    except OSError as error:
        raise TaskError(f"the file cannot be read: {error.strerror}.", path) from error


def _git(root: Path, *arguments: str) -> str:
    """What git says of this folder; nothing where it is not under version control."""
    command = ["git", "-C", str(root), *arguments]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout if said.returncode == 0 else ""
