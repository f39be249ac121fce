"""Is a kernel right, is it honest, how fast is it.

    with Judge() as judge:
        verdict = judge.judge(load_task("softmax.py"), Path("candidate.py").read_text())

Knows tasks and candidates. Does not know that a search exists.
"""

from kernelwright.judge._judge import BASELINES, Judge
from kernelwright.judge._limits import Limits
from kernelwright.judge._status import ACCEPTED, InfraError, Status
from kernelwright.judge._verdict import Verdict

__all__ = ["ACCEPTED", "BASELINES", "InfraError", "Judge", "Limits", "Status", "Verdict"]
