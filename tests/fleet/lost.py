"""A search in a process that can be killed: `python -m tests.fleet.lost ADDRESS STORE FOLDER [RUN]`."""

import sys
from contextlib import closing
from pathlib import Path

from kernelwright.engine import Budget, Found, Means, Plan, resume
from kernelwright.fleet import Fleet, ray_cluster
from kernelwright.propose import proposer
from kernelwright.store import Store
from kernelwright.tasks import load_task
from tests.fleet.quick import Quick
from tests.judge.texts import eight_folder

CPP = '''import torch

from kernelwright import native

# {number}
lib = native.cpp(r"""
extern "C" void run(const float* x, float* y, long n) {{
    {pragma}
    for (long i = 0; i < n; i++) y[i] = x[i];
}}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x
'''
PYTHON = """import torch

# {number}


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return {body}
"""

WITHOUT = ("profile", "prompt-evolution")
PRAGMAS = ("", "#pragma omp simd", "#pragma omp parallel for", "#pragma omp parallel for simd")
BODIES = ("torch.relu(x)", "x.clamp(min=0)", "x.sum(-1)", "torch.softmax(x, -1)")


def write_candidates(folder: Path, number: int) -> None:
    """In two languages, by turns."""
    for one in range(number):
        text = CPP.format(number=one, pragma=PRAGMAS[one // 2 % len(PRAGMAS)])
        if one % 2:
            text = PYTHON.format(number=one, body=BODIES[one // 2 % len(BODIES)])
        (folder / f"{one:04}.py").write_text(text)


def search(fleet: Fleet, store: Path, folder: Path, run: str | None = None) -> Found:
    """Without the preflight, which finds this judge out."""
    with Store(store) as records:
        means = Means(store=records, proposer=proposer(f"script/{folder}"), fleet=fleet)
        if run is not None:
            return resume(run, means)
        task = load_task(eight_folder(store.parent))
        plan = Plan(backend="cpp", budget=Budget(evaluations=10_000), lanes=8, without=WITHOUT)
        wire, settings = task.to_wire(), plan.to_json()
        begun = records.begin_run(task=task.hash, wire=wire, settings=settings, versions={}, machine={})
        return resume(begun.id, means)


if __name__ == "__main__":
    address, store, folder, *run = sys.argv[1:]
    with closing(ray_cluster(address, judges=Quick)) as fleet:
        search(fleet, Path(store), Path(folder), *run)
