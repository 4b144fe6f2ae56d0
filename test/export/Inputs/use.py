"""use.py FOLDER: uses the packages of FOLDER/mlp, conv_bn and counter as a program would, and runs their kernelbench.py
as KernelBench's harness does, with the operator of FOLDER/all.so in place of what it builds."""
import copy
import os
import sys
import warnings

import torch
import torch.utils.cpp_extension as cpp_extension

folder = sys.argv[1]
os.environ["STARK_EXPORT_LIBRARY"] = os.path.join(folder, "all.so")
names = ("mlp", "conv_bn", "counter")
sys.path[:0] = [os.path.join(folder, name) for name in names]
import conv_bn
import counter
import mlp

torch.set_grad_enabled(False)


def falls_back(what, module, original, *inputs):
    original.load_state_dict(module.state_dict())
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        wanted = original(*inputs)
        same = torch.equal(module(*inputs), wanted) and torch.equal(module(*inputs), wanted)
    said = [w for w in heard if "the original's forward is called" in str(w.message)]
    print(f"{what}: {len(said)} warning, {'same result' if same else 'ANOTHER RESULT'}")


x = mlp.reference.get_inputs()[0]
image = conv_bn.reference.get_inputs()[0]
falls_back("other shape", mlp.make(), mlp.make_original(), x[:2])
falls_back("evaluation mode", conv_bn.make().eval(), conv_bn.make_original().eval(), image)
falls_back("other width", mlp.ModelNew(32, 3), mlp.ORIGINAL(32, 3), x)
falls_back("half", mlp.Model(16, 3).half(), mlp.make_original().half(), x.half())
module = mlp.ModelNew(16, 3, strict=True)
try:
    module(x[:2])
except RuntimeError as error:
    print("strict:", error)
other = mlp.make()
other.load_state_dict(module.state_dict())
same = torch.equal(copy.deepcopy(module)(x), module(x)) and torch.equal(other(x), module(x))
print("copied, loaded:", "same results" if same else "OTHER RESULTS")
given = counter.reference.get_inputs()
before = given[2]._version
counter.make()(*given)
print("written to: version is", "another" if given[2]._version > before else "THE SAME")


class Library:
    """What load_inline returns: run_NAME of a list, by the operator."""

    def __getattr__(self, run):
        name = run.removeprefix("run_")

        def call(tensors):
            made = getattr(getattr(torch.ops, f"stark_{name}"), name)(*tensors)
            return [made] if isinstance(made, torch.Tensor) else list(made)
        return call


def load_inline(name, cpp_sources, cuda_sources, functions, **options):
    assert not cuda_sources and not options["with_cuda"], "a source without kernels"
    assert cpp_sources[0].startswith("// Model of"), "the source"
    return Library()


cpp_extension.load_inline = load_inline
for name in names:
    context = {}
    with open(os.path.join(folder, name, name, "reference.py")) as file:
        exec(file.read(), context)
    original, init_inputs, inputs = context["Model"], context["get_init_inputs"], context["get_inputs"]
    with open(os.path.join(folder, name, "kernelbench.py")) as file:
        exec(file.read(), context)
    assert context["Model"] is original and context["get_inputs"] is inputs, "the reference is left alone"
    made = []
    for which in (original, context["ModelNew"]):
        torch.manual_seed(42)
        made.append(which(*init_inputs()))
    states = [m.state_dict() for m in made]
    weights = list(states[0]) == list(states[1]) and all(torch.equal(states[0][k], states[1][k]) for k in states[0])
    given = inputs()
    results = [m(*copy.deepcopy(given)) for m in made]
    results = [[r] if isinstance(r, torch.Tensor) else r for r in results]
    same = all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*results, strict=True))
    print(f"candidate {name}: {'same' if weights else 'OTHER'} weights, {'same' if same else 'ANOTHER'} result")
