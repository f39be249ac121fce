"""SYCL: work-groups share the tasks of a kernel, and work-items the lanes of a task."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kernelwright.propose.builtin._kernels import Kernel
from kernelwright.propose.builtin._loops import Buffer
from kernelwright.propose.builtin._scope import indented
from kernelwright.propose.builtin.sycl._genome import SyclGenome

GROUP, SUBGROUP, ITEM = "group", "subgroup", "item"
PROPERTY = "SYCL_EXT_ONEAPI_FUNCTION_PROPERTY"
# Elements of local memory that a row, or all rows of a group, may take.
LOCAL_ROOM = 1 << 12


class WorkItems:
    """`team`: who shares a task: all of a work-group, a sub-group, or nobody.

    `side`: how many of a team stand side by side along the lanes; all, if it is not said.
    """

    def __init__(self, genome: SyclGenome, team: str, side: int | None = None) -> None:
        self._genome, self._team = genome, team
        self._size = {GROUP: genome.items, SUBGROUP: genome.subgroup, ITEM: 1}[team]
        self._side = side or self._size
        self._items = max(genome.items, self._size)
        self._teams = self._items // self._size
        self.stride = genome.unroll * genome.width * self._size
        self.room = LOCAL_ROOM // self._teams
        self._groups = 0

    def function(self, name: str, parameters: Sequence[str], body: list[str]) -> str:
        kinds = ["nd_range_kernel<1>", *([f"sub_group_size<{self._size}>"] if self._team == SUBGROUP else [])]
        marks = [f"{PROPERTY}((syclexp::{kind}))" for kind in kinds]
        head = [f'extern "C" {marks[0]}', *marks[1:], f"void {name}({', '.join(parameters)}) {{"]
        return "\n".join([*head, *indented(body), "}"])

    def call(self, name: str, arguments: Sequence[str]) -> str:
        return f"lib.{name}[({self._groups * self._items},), ({self._items},)]({', '.join(arguments)})"

    def store(self, buffer: Buffer, stride: int) -> str:
        return "save"

    def parallel(self, kernel: Kernel, tasks: int, inside: list[str], kept: Sequence[str]) -> list[str]:
        self._groups = -(-tasks // self._teams)
        rooms = [line for name in kept for line in self._local(name, prod(kernel.inner))]
        return [*self._who(tasks), *rooms, *inside]

    def _who(self, tasks: int) -> list[str]:
        at = {
            GROUP: ("item.get_group()", "item.get_group(0)", f"item.get_local_id(0) % {self._side} * W"),
            SUBGROUP: (
                "item.get_sub_group()",
                f"item.get_group(0) * {self._teams} + team.get_group_id()[0]",
                "team.get_local_id()[0] * W",
            ),
            ITEM: ("item", "item.get_global_id(0)", "0"),
        }
        team, task, mine = at[self._team]
        lines = [
            "const auto item = sycl::ext::oneapi::this_work_item::get_nd_item<1>();",
            f"const auto team = {team};",
            f"const int64_t t = {task}, mine = {mine};",
            f"constexpr int64_t APART = {self._side} * W;",
            "(void)team, (void)mine, (void)APART;",
        ]
        return [*lines, *([f"if (t >= {tasks}) return;"] if tasks % self._teams else [])]

    def _local(self, name: str, size: int) -> list[str]:
        """Room for a row of every team in a group."""
        number = "" if self._team == GROUP else f" + {self._number()} * {size}"
        return [
            f"static syclexp::work_group_static<float[{self._teams * size}]> {name}_room;",
            f"float (&{name}_all)[{self._teams * size}] = {name}_room;",
            f"float* const {name} = {name}_all{number};",
        ]

    def _number(self) -> str:
        """Of this team among those of its group."""
        return "team.get_group_id()[0]" if self._team == SUBGROUP else "item.get_local_id(0)"

    def lane_loop(self, start: str, end: str) -> list[str]:
        """All go the same number of steps, but for what is left at the end."""
        unroll = self._genome.unroll
        return [
            f"int64_t at = {start};",
            f"for (; at + {unroll} * APART <= {end}; at += {unroll} * APART) {_step('yes', unroll, 'W')}",
            f"for (; at + APART <= {end}; at += APART) {_step('yes', 1, 'W')}",
            f"if (at + mine + W <= {end}) {_step('yes', 1, 'W')}",
            f"else if (at + mine < {end}) {_step('no', 1, f'{end} - at - mine')}",
        ]

    def in_order(self, size: int) -> list[str]:
        """Nobody leaves before the others: each step is joined by all."""
        return [
            "int64_t at = 0;",
            f"for (; at + APART <= {size}; at += APART) {_step('yes', 1, 'W')}",
            f"const int64_t left = {size} - at - mine;",
            f"if (at < {size}) {_step('no', 1, 'left < 0 ? 0 : left < W ? left : W')}",
        ]

    def joined(self, how: str, value: str) -> str:
        return value if self._team == ITEM else f"team_{how}(team, {value})"

    def once(self, lines: list[str]) -> list[str]:
        return lines if self._team == ITEM else ["if (mine == 0) {", *indented(lines), "}"]

    def scanned(self, how: str, value: str) -> str:
        alone = self._team == ITEM
        return f"scanned_{how}({value}, carry)" if alone else f"team_scanned_{how}(team, {value}, carry)"


def _step(whole: str, count: int, lanes: str) -> str:
    return f"group({whole}(), number<{count}>(), at + mine, {lanes});"
