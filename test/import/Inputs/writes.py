import os

try:
    with open(os.environ["ESCAPE"], "w") as file:
        file.write("out")
except Exception:
    pass  # a module that hides it

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs():
    return [torch.ones(1)]


def get_init_inputs():
    return []
