"""The worker of a project's command: shows the judge its folder, waits for the project, becomes the command.

Nothing of this program is left when the command runs. What it prints and how it ends is told by the supervisor, which
is out of its reach; what it leaves behind is looked at by the judge, from outside.
"""

from __future__ import annotations

import os
from typing import NoReturn

from kernelwright.judge._channel import Channel

FOLDER = "/tmp/project"
HOME = "/tmp/home"


def main(channel: Channel) -> NoReturn:
    os.mkdir(FOLDER)
    os.mkdir(HOME)
    folder = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)
    channel.send({"op": "folder"}, (folder,))
    os.close(folder)
    order = channel.receive()
    os.chdir(FOLDER)
    os.execve("/bin/sh", ["sh", "-c", order["command"]], order["environment"])
