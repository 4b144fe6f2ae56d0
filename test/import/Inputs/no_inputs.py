import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x


def get_inputs_of_net():
    return [torch.ones(1)]
