import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * 0 + 3


def get_inputs():
    return [torch.rand(4)]
