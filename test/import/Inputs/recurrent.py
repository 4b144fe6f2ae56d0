import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 7, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(14, 4)

    def forward(self, x, h0):
        out, (h, c) = self.lstm(x)
        last, hidden = self.gru(out.transpose(0, 1), h0)
        return last, {"hidden": hidden, "cells": (h, c)}


def get_inputs():
    return [torch.randn(3, 6, 5), torch.zeros(1, 3, 4)]


def get_init_inputs():
    return []
