"""And leaves something running, in a session of its own."""
import os
import subprocess
import time
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        with open("left-running", "w") as file:
            left = subprocess.Popen(["sleep", "600"], start_new_session=True)
            file.write(f"{left.pid}\n")
        with open("measuring", "w") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(600)


def get_inputs():
    return [torch.rand(4)]
