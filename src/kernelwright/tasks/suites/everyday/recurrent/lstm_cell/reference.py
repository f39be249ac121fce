"""One step of a long short-term memory: the new state, and the new cell."""

import torch


class Model(torch.nn.Module):
    def __init__(self, inner: int, hidden: int) -> None:
        super().__init__()
        self.from_input = torch.nn.Linear(inner, 4 * hidden)
        self.from_state = torch.nn.Linear(hidden, 4 * hidden, bias=False)

    def forward(self, x: torch.Tensor, state: torch.Tensor, cell: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        take, forget, new, show = (self.from_input(x) + self.from_state(state)).chunk(4, dim=-1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(take) * torch.tanh(new)
        return torch.sigmoid(show) * torch.tanh(cell), cell
