"""How a search is to be made, as a user says it: defaults, then a file, then options; checked before anything is paid.

    configuration = configured(file=Path("search.toml"), model="openai/NAME", evaluations=40)
    found = optimize(task, configuration.plan(), means)
    print(to_toml(configuration))

Knows names, types and who said what. What the values mean is checked by those who use them.
"""

from kernelwright.config._configuration import (
    BASELINE,
    BudgetSection,
    Configuration,
    FleetSection,
    JudgeSection,
    ModelSection,
    SearchSection,
    StopSection,
    TaskSection,
)
from kernelwright.config._error import ConfigError
from kernelwright.config._layers import Options, configured, stored
from kernelwright.config._spoken import spoken
from kernelwright.config._toml import brief, to_toml

__all__ = [
    "BASELINE",
    "BudgetSection",
    "ConfigError",
    "Configuration",
    "FleetSection",
    "JudgeSection",
    "ModelSection",
    "Options",
    "SearchSection",
    "StopSection",
    "TaskSection",
    "brief",
    "configured",
    "spoken",
    "stored",
    "to_toml",
]
