"""Nothing that Inductor would write C++ for."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size, size))

    def forward(self, x):
        return torch.mm(x, self.weight)


def get_init_inputs():
    return [16]


def get_inputs():
    return [torch.rand(4, 16)]
