import torch
import torch.nn as nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.i2h = nn.Linear(5 + 4, 4)
        self.h2o = nn.Linear(4, 3)

    def forward(self, x, h):
        h = torch.tanh(self.i2h(torch.cat((x, h), dim=1)))
        return self.h2o(h), h


class Model(nn.Module):
    """Unrolled by the export: one block of operators a step."""

    def __init__(self):
        super().__init__()
        self.cell = Cell()

    def forward(self, x, h0):
        outs = []
        h = h0
        for t in range(x.size(0)):
            out, h = self.cell(x[t], h)
            outs.append(out)
        return torch.stack(outs), h


def get_inputs():
    return [torch.rand(12, 2, 5), torch.zeros(2, 4)]


def get_init_inputs():
    return []
