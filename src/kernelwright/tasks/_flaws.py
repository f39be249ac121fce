"""What can be wrong with a task so that it tells nothing about a kernel: the words of quality files."""

from collections.abc import Mapping

FLAWS: Mapping[str, str] = {
    "null-candidate": "an answer that takes no work passes",
    "constant": "the answer hardly depends on the inputs",
    "collapse": "all elements of the answer are nearly equal",
    "statistic-passes": "a statistic of the answer passes for the answer",
    "order-free": "the right numbers in the wrong places pass",
    "identity": "an input passes, returned unchanged",
    "stochastic": "the reference draws random numbers in forward",
    "stateful": "the reference gives another answer when called again",
    "undefined": "the reference gives NaN or overflows on its own inputs",
}
