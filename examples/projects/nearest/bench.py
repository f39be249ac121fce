"""Times `nearest` on points of the number and seed asked for, and says what it found."""

import json
import sys
import time

import numpy as np
from nearest import nearest

points, queries, seed = map(int, sys.argv[1:])
rng = np.random.default_rng(seed)
seconds, check = [], []
for _ in range(4):
    cloud, asked = rng.normal(size=(points, 8)), rng.normal(size=(queries, 8))
    begun = time.perf_counter()
    indices, distances = nearest(cloud, asked)
    seconds.append(time.perf_counter() - begun)
    check += [int(indices @ np.arange(queries)), float(distances.sum())]
print(json.dumps({"seconds": seconds, "check": check}))
