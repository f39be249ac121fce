"""A search in a process that can be killed: `python -m tests.fleet.lost JUDGE ADDRESS STORE FOLDER [RUN]`."""

import sys
from contextlib import closing
from pathlib import Path

from kernelwright.engine import Budget, Found, Means, Plan, resume
from kernelwright.fleet import Fleet, ray_cluster
from kernelwright.propose import proposer
from kernelwright.store import Store
from kernelwright.tasks import load_task
from tests.fleet.quick import Quick, Witnessed
from tests.judge.texts import relu_folder

CPP = '''import torch

from kernelwright import native

# {number}
lib = native.cpp(r"""
extern "C" void run(const float* x, float* y, long n) {{
    {pragma}
    for (long i = 0; i < n; i++) y[i] = {body};
}}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.run(x, y, x.numel())
        return y
'''
PYTHON = """import torch

# {number}


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return {body}
"""
JUDGES = {"quick": Quick, "real": Witnessed}
PRAGMAS = ("", "#pragma omp simd", "#pragma omp parallel for", "#pragma omp parallel for simd")
# The last of each is wrong.
NATIVE = ("x[i] > 0 ? x[i] : 0", "x[i] < 0 ? 0 : x[i]", "x[i] < 0 ? 0.0f : x[i]", "x[i]")
BODIES = ("torch.relu(x)", "x.clamp(min=0)", "x * (x > 0)", "torch.softmax(x, -1)")


def write_candidates(folder: Path, number: int) -> None:
    """In two languages, by turns."""
    for one in range(number):
        place = one // 2
        text = CPP.format(number=one, pragma=PRAGMAS[place % len(PRAGMAS)], body=NATIVE[place // 4 % len(NATIVE)])
        if one % 2:
            text = PYTHON.format(number=one, body=BODIES[place % len(BODIES)])
        (folder / f"{one:04}.py").write_text(text)


def is_right(source: str) -> bool:
    return f"y[i] = {NATIVE[-1]};" not in source and BODIES[-1] not in source


def search(fleet: Fleet, store: Path, folder: Path, run: str | None = None) -> Found:
    """Without the preflight, which finds this judge out."""
    with Store(store) as records:
        means = Means(store=records, proposer=proposer(f"script/{folder}"), fleet=fleet)
        if run is not None:
            return resume(run, means)
        task = load_task(relu_folder(store.parent))
        plan = Plan(backend="cpp", budget=Budget(evaluations=10_000), lanes=8, without=("profile",))
        wire, settings = task.to_wire(), plan.to_json()
        begun = records.begin_run(task=task.hash, wire=wire, settings=settings, versions={}, machine={})
        return resume(begun.id, means)


if __name__ == "__main__":
    judge, address, store, folder, *run = sys.argv[1:]
    with closing(ray_cluster(address, judges=JUDGES[judge])) as fleet:
        search(fleet, Path(store), Path(folder), *run)
