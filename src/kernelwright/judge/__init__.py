"""Is a kernel right, is it honest, how fast is it.

    with Judge() as judge:
        verdict = judge.judge(load_task("softmax.py"), Path("candidate.py").read_text())

Knows tasks and candidates. Does not know that a search exists.
"""

from kernelwright.judge import certificate
from kernelwright.judge._examine import Examination, examine
from kernelwright.judge._fit import fit
from kernelwright.judge._judge import BASELINES, Judge
from kernelwright.judge._limits import Limits, available_memory, limit_names
from kernelwright.judge._machine import describe as machine
from kernelwright.judge._prebuild import Prebuild
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Isolation, Template
from kernelwright.judge._profile import Profile, profile
from kernelwright.judge._sprint import Sprinter, sprint
from kernelwright.judge._status import ACCEPTED, InfraError, OutOfReach, Status
from kernelwright.judge._verdict import Verdict, source_hash
from kernelwright.judge.project._hearing import ORIGINAL

__all__ = [
    "ACCEPTED",
    "BASELINES",
    "ORIGINAL",
    "Examination",
    "InfraError",
    "Isolation",
    "Judge",
    "Limits",
    "OutOfReach",
    "Prebuild",
    "Prepared",
    "Profile",
    "Sprinter",
    "Status",
    "Template",
    "Verdict",
    "available_memory",
    "certificate",
    "examine",
    "fit",
    "limit_names",
    "machine",
    "profile",
    "source_hash",
    "sprint",
]
