"""How tensors came to their values, read off the operators that made them.

With fake tensors nothing has values, but each of torch's operators passes by
here: rand and uniform_ say what is drawn, arithmetic with numbers moves and
stretches it. What is made in any other way is unknown; real tensors can then be
looked at (`observed`)."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

# Operators whose result has the values of their first argument, in other places.
SAME_VALUES = {"clone", "contiguous", "detach", "to", "_to_copy", "lift_fresh", "alias", "expand", "repeat", "lift"}
KEEPS = {"tril": "lower", "triu": "upper"}


def _number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _affine(values, factor, summand):
    """The distribution of factor * x + summand."""
    kind = values["kind"]
    if kind == "uniform":
        ends = sorted(factor * end + summand for end in (values["low"], values["high"]))
        return dict(values, low=ends[0], high=ends[1])
    if kind == "normal":
        return dict(values, mean=factor * values["mean"] + summand, sigma=abs(factor) * values["sigma"])
    if kind == "constant":
        return dict(values, value=factor * values["value"] + summand)
    if kind == "integers":
        return dict(values, times=factor * values.get("times", 1), plus=factor * values.get("plus", 0) + summand)
    return None


def _arithmetic(name, values, arguments):
    """x * 2, x / 2, x + 2, x - 2 and 2 * x, 2 + x."""
    other = arguments[1] if len(arguments) > 1 else None
    if values is None or not _number(other) or len(arguments) > 2:
        return None
    if "keep" in values and name in ("add", "sub"):
        return None
    return {"mul": lambda: _affine(values, other, 0), "div": lambda: _affine(values, 1 / other, 0) if other else None,
            "add": lambda: _affine(values, 1, other), "sub": lambda: _affine(values, 1, -other)}[name]()


def _made(name, arguments, keywords):
    """Factories and fills, whose values depend on no tensor's."""
    plain = [a for a in arguments if not isinstance(a, torch.Tensor)]
    if name in ("rand", "rand_like"):
        return {"kind": "uniform", "low": 0.0, "high": 1.0}
    if name in ("randn", "randn_like"):
        return {"kind": "normal", "mean": 0.0, "sigma": 1.0}
    if name in ("zeros", "zeros_like", "zero_", "new_zeros"):
        return {"kind": "constant", "value": 0}
    if name in ("ones", "ones_like", "new_ones"):
        return {"kind": "constant", "value": 1}
    if name == "uniform_":
        low, high = (plain + [0.0, 1.0][len(plain):])[:2]
        return {"kind": "uniform", "low": float(low), "high": float(high)}
    if name in ("normal_", "normal"):
        mean, sigma = (plain + [0.0, 1.0][len(plain):])[:2]
        if _number(mean) and _number(sigma):
            return {"kind": "normal", "mean": float(mean), "sigma": float(sigma)}
    if name in ("full", "full_like", "fill_", "new_full") and plain and _number(plain[-1]):
        return {"kind": "constant", "value": plain[-1]}
    if name in ("randint", "randint_like"):
        bounds = [a for a in plain if _number(a)]
        if bounds:
            return {"kind": "integers", "low": bounds[0] if len(bounds) > 1 else 0, "high": bounds[-1]}
    if name == "arange":
        bounds = [a for a in plain if _number(a)]
        if len(bounds) < 2 or (bounds[0] == 0 and len(bounds) == 2):
            return {"kind": "arange"}
    if name == "randperm":
        return {"kind": "permutation"}
    return None


class Recorder(TorchDispatchMode):
    """Within `with Recorder() as r`: afterwards r.of(tensor)."""

    def __init__(self):
        super().__init__()
        self.known = {}  # storage -> (values, elements when they were known)

    @staticmethod
    def _key(tensor):
        return tensor.untyped_storage()._cdata

    def of(self, tensor):
        values, elements = self.known.get(self._key(tensor), (None, 0))
        return values if elements == tensor.numel() else None

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        name = function._schema.name.split("::")[-1]
        tensors = [a for a in tree_flatten((arguments, keywords))[0] if isinstance(a, torch.Tensor)]
        before = self.of(tensors[0]) if tensors else None
        keys = {self._key(t) for t in tensors}
        result = function(*arguments, **keywords)
        values = _made(name, arguments, keywords)
        in_place = name.endswith("_") and name != "lift_fresh_"
        if values is None:
            base = name.rstrip("_")
            if base in ("mul", "div", "add", "sub") and isinstance(arguments[0], torch.Tensor):
                values = _arithmetic(base, before, list(arguments))
            elif base in SAME_VALUES:
                values = before
            elif base in KEEPS and before and "keep" not in before and len(arguments) == 1:
                values = dict(before, keep=KEEPS[base])
            elif base == "copy" and len(tensors) > 1:
                values = self.of(tensors[1])
        for out in tree_flatten(result)[0]:
            if not isinstance(out, torch.Tensor):
                continue
            if values and values["kind"] in ("uniform", "normal") and not out.is_floating_point():
                values = None  # a cast cut them off
            key = self._key(out)
            if key in keys and not in_place:
                continue  # a view
            whole = not in_place or self.known.get(key, (None, out.numel()))[1] == out.numel()
            self.known[key] = (values if whole else None, out.numel() if whole else -1)
        return result


def observed(tensor):
    """What real values look like: least, greatest, mean and deviation."""
    if tensor.is_complex() or tensor.numel() == 0:
        return None
    real = tensor.detach().to(torch.float64) if tensor.numel() <= 1 << 24 else tensor.detach().float()
    deviation = real.std(unbiased=False).item()
    return {"least": real.min().item(), "greatest": real.max().item(), "mean": real.mean().item(), "sigma": deviation}
