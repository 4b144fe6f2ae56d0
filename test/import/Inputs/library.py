"""Not in KernelBench's format: other names, an object, arguments by name."""
import torch


class Scale(torch.nn.Module):
    def __init__(self, by=2.0):
        super().__init__()
        self.by = torch.nn.Parameter(torch.tensor(by))

    def forward(self, x, *, shift):
        return x * self.by + shift


class Other(torch.nn.Module):
    pass


tripled = Scale(3.0)


def example():
    return {"x": torch.full((4,), 2.5), "shift": torch.randint(0, 5, (4,))}
