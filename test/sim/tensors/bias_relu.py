import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(96, 32) * 0.1)
        self.bias = nn.Parameter(torch.randn(96))

    def forward(self, x):
        return torch.relu(x @ self.weight.t() + self.bias)


def get_inputs():
    return [torch.randn(64, 32)]


def get_init_inputs():
    return []
