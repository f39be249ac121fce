"""The words of a verdict, and the exception that carries one out of the depth of a stage."""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class Status(StrEnum):
    CORRECT = "CORRECT"
    COMPILE_ERROR = "COMPILE_ERROR"
    LOAD_ERROR = "LOAD_ERROR"
    TIMEOUT = "TIMEOUT"
    CRASH = "CRASH"
    OOM = "OOM"
    WRONG_STRUCTURE = "WRONG_STRUCTURE"
    WRONG_VALUE = "WRONG_VALUE"
    NONDETERMINISTIC = "NONDETERMINISTIC"
    STATEFUL = "STATEFUL"
    INPUT_MUTATED = "INPUT_MUTATED"
    TAMPER = "TAMPER"
    INVALID_PHYSICS = "INVALID_PHYSICS"
    LIBRARY_ONLY = "LIBRARY_ONLY"
    UNTIMED = "UNTIMED"
    INFRA = "INFRA"


ACCEPTED = frozenset({Status.CORRECT, Status.UNTIMED})


class Rejection(Exception):
    """The candidate fails: which status, why in one line, and what shows it."""

    def __init__(self, status: Status, message: str, **evidence: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.evidence = evidence


class InfraError(Exception):
    """The machine failed, not the candidate; `fix` says what would help, where that is known."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.fix = fix


class OutOfReach(InfraError):
    """This machine lacks what one candidate needs; others may be judged here."""
