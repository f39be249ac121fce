"""Pictures from red, green and blue to luma and chroma."""

import torch


class Model(torch.nn.Module):
    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        red, green, blue = picture.unbind(dim=1)
        luma = 0.299 * red + 0.587 * green + 0.114 * blue
        return torch.stack([luma, 0.564 * (blue - luma) + 0.5, 0.713 * (red - luma) + 0.5], dim=1)
