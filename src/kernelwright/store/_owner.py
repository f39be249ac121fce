"""Who writes: a process, by its number and its machine."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass

HELD = "reading is possible meanwhile"


@dataclass(frozen=True)
class Owner:
    pid: int
    host: str
    since: float

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {time.strftime('%F %T', time.localtime(self.since))}"


def myself() -> Owner:
    return Owner(os.getpid(), socket.gethostname(), time.time())
