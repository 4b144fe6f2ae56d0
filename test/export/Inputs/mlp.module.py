import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Two layers; the forward pass has an activation."""
    def __init__(self, width, classes):
        super().__init__()
        self.fc1 = nn.Linear(8, width)
        self.blocks = nn.Sequential(nn.Linear(width, width), nn.GELU(approximate="tanh"), nn.Linear(width, classes))
        self.scale = nn.Parameter(torch.randn(classes) * 0.5)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.blocks(x) * self.scale + 0.5


def get_inputs():
    return [torch.rand(4, 8) * 2 - 1]


def get_init_inputs():
    return [16, 3]
