"""Too large to be compared as it is; one line has two constants, another one over two lines."""
import torch
import torch.nn as nn

batch = 1 << 15; width = 16  # é
height = depth = (
    4)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x).sum(1)


def get_inputs():
    return [torch.rand(batch, height * depth, width)]


def get_init_inputs():
    return [width]
