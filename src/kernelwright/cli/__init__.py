"""The command line: one file a command."""

from kernelwright.cli._app import main

__all__ = ["main"]
