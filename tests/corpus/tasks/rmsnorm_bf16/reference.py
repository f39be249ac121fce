import torch


class Model(torch.nn.Module):
    def forward(self, x, weight):
        wide = x.float()
        scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + 1e-5)
        return (wide * scale * weight.float()).to(x.dtype)
