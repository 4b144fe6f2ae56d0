import os
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        os.write(2, b"last words\n")
        os._exit(0)


def get_inputs():
    return [torch.rand(4)]
