"""Judging a region of somebody's own project: built, tested and timed by the project's own commands, in a sandbox.

The judge writes every file that a command sees and looks at what is left of them, from outside; the clock is the
judge's own, and what a benchmark prints is held against it.
"""
