"""A task in KernelBench's format: FILE -> Model and inputs, on a device.

Numbers are drawn on the device where that works, for drawing them on one thread
of the CPU takes seconds; seed 42 before each of the three, as KernelBench does.
The call itself runs with PyTorch's own default device."""
import hashlib
import importlib.util
import os
import sys

from stark_problem import Problem

SEED = 42


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def load_file(path):
    base = os.path.basename(path)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("stark_task", path)
    if spec is None or spec.loader is None:
        raise Problem(f"{base}: got a file that is no Python module, wanted a name that ends in .py")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["stark_task"] = loaded
    spec.loader.exec_module(loaded)
    for name in ("Model", "get_inputs"):
        if not callable(getattr(loaded, name, None)):
            raise Problem(f"{base} has no {name}")
    return loaded


def flatten(value):
    from torch.utils._pytree import tree_flatten
    return tree_flatten(value)[0]


def move(torch, value, device):
    from torch.utils._pytree import tree_map
    return tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, value)


def loose_tensors(torch, model):
    """Tensors that a module has as plain attributes, which `to` does not move."""
    found = []
    own = {id(tensor) for tensor in [*model.parameters(), *model.buffers()]}
    for module in model.modules():
        plain = {name: value for name, value in vars(module).items() if name not in ("_parameters", "_buffers", "_modules")}
        found += [leaf for leaf in flatten(plain) if isinstance(leaf, torch.Tensor) and id(leaf) not in own]
    return found


class Subject:
    def __init__(self, torch, path, device):
        self.torch, self.device = torch, device
        self.base = os.path.basename(path)
        self.loaded = load_file(path)
        self.drawn_on = None

    def _drawn(self, make, whole=lambda made: True):
        """What `make` returns, and where its numbers were drawn: on the device, or on
        the CPU where that fails or is not the `whole` of it."""
        if self.device != "cpu":
            try:
                self.torch.manual_seed(SEED)
                with self.torch.device(self.device):
                    made = make()
                if whole(made):
                    return made, self.device
            except self.torch.cuda.OutOfMemoryError:
                raise
            except Exception:  # what is wrong on the CPU too is an error below
                pass
            made = None
        self.torch.manual_seed(SEED)
        return make(), "cpu"

    def model(self):
        """A new one, always with the same weights, in training mode."""
        torch, init = self.torch, getattr(self.loaded, "get_init_inputs", list)

        def make():
            arguments = init()
            torch.manual_seed(SEED)
            return self.loaded.Model(**arguments) if isinstance(arguments, dict) else self.loaded.Model(*arguments)

        made, _ = self._drawn(make, lambda m: isinstance(m, torch.nn.Module) and not loose_tensors(torch, m))
        if not isinstance(made, torch.nn.Module):
            raise Problem(f"{self.base}: Model is no nn.Module")
        return made.to(self.device)

    def inputs(self):
        given, self.drawn_on = self._drawn(self.loaded.get_inputs)
        if isinstance(given, self.torch.Tensor):
            given = [given]
        if not isinstance(given, (list, tuple)):
            raise Problem(f"{self.base}: get_inputs() returns a {type(given).__name__}, wanted a list")
        return move(self.torch, list(given), self.device)


def bytes_of(torch, value):
    return sum(leaf.numel() * leaf.element_size() for leaf in flatten(value) if isinstance(leaf, torch.Tensor))
