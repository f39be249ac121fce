"""What each stage of judging may take: seconds, memory, disk, text."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace


def available_memory() -> int:
    """Bytes that can be had without swapping."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one judgement. A limit that is passed is the candidate's failure, with the stage named."""

    build_s: float = 60.0
    load_s: float = 30.0
    call_s: float = 20.0
    total_s: float = 300.0
    memory_bytes: int = 0
    disk_bytes: int = 256 << 20
    source_bytes: int = 1 << 20
    output_bytes: int = 64 << 10

    def settled(self) -> Limits:
        """These limits with the memory limit worked out for this machine: half of what is free."""
        return self if self.memory_bytes else replace(self, memory_bytes=max(1 << 30, available_memory() // 2))


def limit_names() -> list[str]:
    return [field.name for field in fields(Limits)]
