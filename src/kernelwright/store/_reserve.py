"""Room on the disk that is kept for replies: what was paid for is stored even when the disk is full."""

from __future__ import annotations

import os
from pathlib import Path

# More than all replies that may be under way at once; hardly anything on a disk.
SIZE = 4 << 20


class Reserve:
    """A file of nothing beside the store, while somebody writes there."""

    def __init__(self, store: Path) -> None:
        self._path = store.with_name(store.name + ".reserve")

    def take(self) -> None:
        """Where there is no room to be kept, none is."""
        try:
            with self._path.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, SIZE)
        except OSError:
            self.give_up()

    def give_up(self) -> bool:
        """The room is free; False where it was before."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True
