"""From an address to problems: finds suites in the places where they lie."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from kernelwright.tasks._error import TaskError, choose_among, located
from kernelwright.tasks._load import Setting
from kernelwright.tasks._task import Task
from kernelwright.tasks.suites import _everyday, _kernelbench, _robust
from kernelwright.tasks.suites._address import Address
from kernelwright.tasks.suites._places import places, where_to_put
from kernelwright.tasks.suites._problem import Problem
from kernelwright.tasks.suites._suite import Suite

KNOWN: Mapping[str, Callable[[Path], Suite | None]] = {
    _kernelbench.NAME: _kernelbench.recognise,
    _robust.NAME: _robust.recognise,
    _everyday.NAME: _everyday.recognise,
}


def find_suites(suite_dir: Path | None = None) -> list[Suite]:
    """All suites in the usual places, or in the one place that is named. Of equal names the first is used."""
    packaged = [_everyday.FOLDER] if suite_dir is None else []
    return [suite for place in (*places(suite_dir), *packaged) for suite in _at(place)]


def _at(place: Path) -> list[Suite]:
    here = _recognised(place)
    if here or not place.is_dir():
        return here
    try:
        children = sorted(place.iterdir())
    except OSError as error:
        raise TaskError(f"the folder cannot be read: {error.strerror}.", str(place), "Name another one.") from error
    return [suite for child in children for suite in _recognised(child)]


def _recognised(path: Path) -> list[Suite]:
    """The suites at a path; none where it cannot be looked into."""
    with suppress(OSError):
        return [suite for recognise in KNOWN.values() if (suite := recognise(path))]
    return []


def open_suite(name: str, suite_dir: Path | None = None) -> Suite:
    if name not in KNOWN:
        raise TaskError(f"no suite named {name!r} is known here.", fix=choose_among(name, KNOWN))
    found = [suite for suite in find_suites(suite_dir) if suite.name == name]
    if not found:
        raise _missing(name, suite_dir)
    return found[0]


def _missing(name: str, suite_dir: Path | None) -> TaskError:
    if name == _everyday.NAME:
        what = f"the suite {name!r} comes with kernelwright and does not lie in {suite_dir}."
        return TaskError(what, fix="Leave --suite-dir out.")
    return TaskError(f"the suite {name!r} is not on this machine.", fix=where_to_put(name))


def select(text: str, suite_dir: Path | None = None) -> tuple[Suite, tuple[Problem, ...]]:
    """The suite and the problems that an address names: one, a part, or all."""
    with located(text):
        address = Address.parse(text)
        suite = open_suite(address.suite, suite_dir)
        return suite, suite.select(address.part)


def load_problem(
    text: str,
    *,
    constants: Mapping[str, Setting] | None = None,
    mode: str | None = None,
    suite_dir: Path | None = None,
) -> Task:
    """The task of one problem; of a problem with variants the one that is named, else the first."""
    with located(text):
        _, problems = select(text, suite_dir)
        if len(problems) > 1:
            what = f"this names {len(problems)} problems, not one."
            raise TaskError(what, text, f"Name one, such as {problems[0].address}, or judge all with `bench`.")
        return problems[0].task(Address.parse(text).variant or 1, constants=constants, mode=mode)
