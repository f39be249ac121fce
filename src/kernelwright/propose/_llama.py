"""The process that holds a model file: run as a program, by `_local.py`, and by nobody else.

Requests come as lines of JSON on the standard input, answers go back as lines of JSON. In a process of its own, since
llama.cpp aborts on some broken files, takes over signals, prints, and cannot be interrupted while it reads a prompt.
It ends when its input does: nobody is left who could want an answer.

It knows llama.cpp's parameters; what a kernel is, it does not know.
"""

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any

ERRORS = 1


def main(model: str, context: str, folder: str) -> None:
    answers = _own_output()
    wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(wanted,), daemon=True).start()
    server = _loaded(model, int(context), Path(folder))
    _say(answers, {"ready": True})
    while True:
        _say(answers, server.handle_chat_completions(json.loads(wanted.get())))


def _own_output() -> Any:
    """The standard output for answers alone: what libraries print goes where errors go."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


def _read(wanted: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        wanted.put(line)
    os._exit(0)


def _loaded(model: str, context: int, folder: Path) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = context
    params.n_parallel = 1  # one after the other: several at once would share the context, and not repeat
    params.verbosity = ERRORS
    # The server in it listens somewhere; nobody else shall reach it.
    params.hostnames = [str(folder / "nobody.sock")]
    try:
        return xllamacpp.Server(params)
    except RuntimeError:  # it says that something failed; what it was stands among the errors already
        os._exit(1)


def _say(answers: Any, said: dict[str, Any]) -> None:
    answers.write(json.dumps(said) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
