import torch
import torch.nn as nn


class Model(nn.Module):
    """torch.compile looks at no nn.LSTM."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 4)

    def forward(self, x):
        return self.lstm(x)[0]


def get_inputs():
    return [torch.randn(3, 2, 5)]


def get_init_inputs():
    return []
