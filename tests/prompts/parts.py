"""Parts to make prompts of."""

from kernelwright.prompts import Hardware, Kernel, Outcome, Parts, Speedup, Step, Target, seed
from kernelwright.tasks import Case, InputSpec, Task

SOURCE = (
    "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.softmax(x, -1)\n"
)
KERNEL = "class ModelNew:\n    # MARK OF THE PARENT\n    pass\n"
TASK = Task("softmax", SOURCE, (Case("wide", 3, (InputSpec("x", (8, 4096), "float32"),)), Case("as given")))
GOOD = Outcome(
    status="CORRECT",
    accepted=True,
    message="correct; 1.31x eager [1.22, 1.40]",
    speedups={"eager": Speedup(1.31, 1.22, 1.4), "compile": Speedup(0.97, 0.91, 1.03)},
    time_ms={"candidate": 0.812, "eager": 1.064},
)
BAD = Outcome(
    status="COMPILE_ERROR",
    accepted=False,
    message="kernel.cpp:7:5: error: 'flaot' does not name a type",
    log="FIRST LINE OF THE LOG\n" + "note: in expansion of macro\n" * 2000 + "LAST LINE OF THE LOG",
)
MACHINE = Hardware("AMD EPYC", {"cores": "2", "vector registers": "512 bits"} | {f"fact {i}": "x" for i in range(9)})


def inspiration(number: int) -> Kernel:
    return Kernel(source=f"# INSPIRATION {number}\n" + "x = 1\n" * 300, outcome=GOOD, cell=(2, 1, number % 4))


def improve(**changes) -> Parts:
    fields = {
        "kind": "improve",
        "backend": "cpp",
        "task": TASK,
        "genome": seed("cpp"),
        "hardware": MACHINE,
        "parent": Kernel(source=KERNEL, outcome=GOOD, cell=(1, 1, 0), profile="It is not vectorised."),
        "inspirations": tuple(map(inspiration, range(3))),
        "history": tuple(Step(f"STEP {number} done", "CORRECT", 1.1) for number in range(20)),
        "target": Target((1, 1, 0), (2, 1, 0)),
    }
    return Parts(**{**fields, **changes})


def repair(**changes) -> Parts:
    parent = Kernel(source=KERNEL, outcome=BAD)
    return improve(**{"kind": "repair", "parent": parent, "inspirations": (), "target": None, **changes})


def draft(**changes) -> Parts:
    return improve(**{"kind": "draft", "parent": None, "history": (), **changes})
