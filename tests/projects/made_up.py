"""A small project in plain Python, whose commands start nothing but the interpreter."""

from pathlib import Path

SOURCE = '''\
"""Sums of squares."""

# EVOLVE begin squares
def squares(n, start):
    total = 0
    for value in range(start, start + n):
        total = total + value * value
    return total
# EVOLVE end


def twice(n):
    return 2 * squares(n, 0)
'''
TEST = """\
from sums import squares, twice

assert squares(4, 0) == 14
assert squares(3, 5) == 110
assert squares(0, 9) == 0
assert twice(3) == 10
print("4 passed")
"""
BENCH = """\
import json, sys, time
from sums import squares

size, seed = int(sys.argv[1]), int(sys.argv[2])
seconds, check = [], []
for _ in range(3):
    begun = time.perf_counter()
    check.append(squares(size, seed))
    seconds.append(time.perf_counter() - begun)
print(json.dumps({"seconds": seconds, "check": check}))
"""
TOML = """\
name = "sums"

[project]
sources = ["sums.py"]
test = "python test_sums.py"
benchmark = "python bench.py {size} {seed}"

[[case]]
name = "long"
dims = { size = 400000 }
"""
FAST = """\
def squares(n, start):
    def below(m):
        return (m - 1) * m * (2 * m - 1) // 6

    return below(start + n) - below(start)
"""


def project(folder: Path, **files: str) -> Path:
    """The project in a folder; other texts for its files by name, dots as underscores."""
    texts = {"sums.py": SOURCE, "test_sums.py": TEST, "bench.py": BENCH, "task.toml": TOML}
    for name, text in files.items():
        texts[name.replace("_dot_", ".")] = text
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder
