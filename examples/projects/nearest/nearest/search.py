"""Exhaustive search."""

import numpy as np

# INSTRUCTIONS begin
# Distances may differ from the definition by 1e-6, relatively. Where two points are equally near, the first counts.
# INSTRUCTIONS end


# EVOLVE begin nearest
def nearest(points: np.ndarray, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each query: which point is nearest, and how far it is."""
    indices = np.empty(len(queries), dtype=np.int64)
    distances = np.empty(len(queries))
    for number, query in enumerate(queries):
        away = np.sqrt(((points - query) ** 2).sum(axis=1))
        indices[number] = away.argmin()
        distances[number] = away.min()
    return indices, distances


# EVOLVE end
