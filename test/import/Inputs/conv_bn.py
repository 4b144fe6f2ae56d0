import torch
import torch.nn as nn


class Model(nn.Module):
    """In training mode: statistics of the batch, which also move the running ones."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding="valid", bias=False)
        self.bn = nn.BatchNorm2d(8, momentum=0.2)
        self.norm = nn.InstanceNorm2d(8, track_running_stats=True)
        self.up = nn.ConvTranspose2d(8, 4, 3, padding=1, output_padding=1, stride=2)

    def forward(self, x):
        x = torch.relu_(self.bn(self.conv(x)))
        return torch.max_pool2d(self.up(self.norm(x)), 2)


def get_inputs():
    return [torch.randn(2, 3, 9, 9)]


def get_init_inputs():
    return []
