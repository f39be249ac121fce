"""Times the model on tokens of the number and seed asked for, and says what the logits add up to."""

import json
import sys
import time

import torch
from model import TinyTransformer

count, seed = map(int, sys.argv[1:])
torch.manual_seed(seed)
torch.set_num_threads(1)
seconds, check = [], []
with torch.inference_mode():
    model = TinyTransformer().eval()
    model(torch.randint(256, (4, count)))
    for _ in range(6):
        tokens = torch.randint(256, (4, count))
        begun = time.perf_counter()
        logits = model(tokens)
        seconds.append(time.perf_counter() - begun)
        check += [float(logits.square().sum()), float(logits[:, -1, :16].abs().sum())]
print(json.dumps({"seconds": seconds, "check": check}))
