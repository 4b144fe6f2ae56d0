import torch
import torch.nn as nn


class Model(nn.Module):
    """Changes its buffers in each of the ways there are, and an input of its own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("sums", torch.zeros(2, 4))
        self.register_buffer("table", torch.arange(12.0).reshape(3, 4))
        self.offset = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x, index, scratch):
        self.calls += 1
        self.sums[0] = x.sum(0)
        self.sums.view(-1)[4:].add_(x.mean(0), alpha=2)
        self.table[index] = x
        scratch.mul_(2)
        rows = self.table[index, :][:, [0, 2]]
        mask = torch.where(x > 0, x, torch.zeros_like(x))
        y = torch.cat([mask + self.offset, torch.full((2, 4), 0.5, device=x.device)], dim=1)
        return y.split([3, 5], dim=1)[1], rows.masked_fill(rows < 1, float("-inf")), self.calls


def get_inputs():
    return [torch.randn(2, 4), torch.tensor([2, 0]), torch.ones(5)]


def get_init_inputs():
    return []
