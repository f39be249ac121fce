"""A simulated model: it writes members of families of real kernels, which the real judge has judged."""

from tests.simulated.attention import ATTENTION
from tests.simulated.linear import LINEAR
from tests.simulated.matmul import MATMUL
from tests.simulated.softmax import SOFTMAX

FAMILIES = {family.name: family for family in (SOFTMAX, MATMUL, LINEAR, ATTENTION)}
# Those of which every member was judged.
JUDGED = {name: family for name, family in FAMILIES.items() if not family.visited}
