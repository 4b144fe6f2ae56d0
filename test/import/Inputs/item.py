import torch


class Model(torch.nn.Module):
    def forward(self, x):
        n = int(x.sum().item())
        x = x * n
        return x


def get_inputs():
    return [torch.ones(4)]


def get_init_inputs():
    return []
