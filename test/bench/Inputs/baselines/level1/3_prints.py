import os
import torch
import torch.nn as nn

assert "SOME_API_KEY" not in os.environ
for line in range(2000):
    print("x" * 1000)
    os.write(2, b"y" * 999 + b"\n")


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs():
    return [torch.rand(4)]
