"""One step of a gated recurrent unit."""

import torch


class Model(torch.nn.Module):
    def __init__(self, inner: int, hidden: int) -> None:
        super().__init__()
        self.from_input = torch.nn.Linear(inner, 3 * hidden)
        self.from_state = torch.nn.Linear(hidden, 3 * hidden)

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        reset, update, new = self.from_input(x).chunk(3, dim=-1)
        old_reset, old_update, old = self.from_state(state).chunk(3, dim=-1)
        kept = torch.sigmoid(update + old_update)
        proposed = torch.tanh(new + torch.sigmoid(reset + old_reset) * old)
        return proposed + kept * (state - proposed)
