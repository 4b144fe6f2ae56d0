import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.as_tensor([float(v) for v in x.tolist()]) + x


def get_inputs():
    return [torch.ones(4)]


def get_init_inputs():
    return []
