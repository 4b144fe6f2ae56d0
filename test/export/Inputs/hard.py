"""A file that is hard
to read: def get_inputs(): pass"""
from __future__ import annotations
import torch.nn as nn


class Other: pass


text = """Model
def get_inputs(): "still text"
"""; "a statement"


class Model(nn.Module):
    'the forward pass'

    def __init__(self, a=(
            1,
    "no statement",
    )):
        r"""documents"""  # and this is a comment
        super(Model, self).__init__()
        self.name = "Model" + 'it\'s # no comment'
        self.Model = None
        if text: pass
        else:
            pass


def get_inputs():
    x = [
1]

# a comment at the margin
    return x
after = 1


def get_init_inputs(): return []
