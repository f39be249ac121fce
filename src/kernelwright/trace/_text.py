"""What a traced task's text says of where it comes from. Needs no torch."""

from __future__ import annotations

import ast

# A task's own name, and what a user's class of that name is called beside it.
MODEL, USERS_MODEL = "Model", "UsersModel"
SIGN = " builds and calls it."


def class_replaced(source: str) -> str:
    """The name of the class that a traced task was made from; empty where it is no traced task."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        # A project's task need not be Python at all.
        return ""
    models = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == MODEL]
    if not models or len(models[-1].bases) != 1 or SIGN not in (ast.get_docstring(tree) or ""):
        return ""
    name = ast.unparse(models[-1].bases[0]).rpartition(".")[2]
    return MODEL if name == USERS_MODEL else name


def title(name: str, script: str) -> str:
    return f'"""`{name}` as {script}{SIGN}"""\n\n'
