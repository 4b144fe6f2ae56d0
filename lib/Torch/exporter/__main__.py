"""python3 exporter FILE --out FOLDER [...]: a PyTorch module as data.

FILE -> module and example inputs -> torch.export -> FOLDER/graph.json, its values
in FOLDER/weights.bin. Run by `stark-tool import`, which reads them as it would
anybody's. What goes wrong is one line in FOLDER/problem.txt and exit code 1.
docs/import.md describes the files."""
import argparse
import gc
import importlib.util
import inspect
import json
import os
import re
import sys
import warnings

sys.dont_write_bytecode = True
import stark_problem
from stark_problem import Problem

OLDEST = (2, 6)


def load_torch():
    try:
        import torch
    except ImportError as error:
        if stark_problem.missing_package(error) == "torch":
            raise Problem(f"{sys.executable} has no torch; --python names one that has")
        raise Problem(f"{sys.executable} cannot load torch: {stark_problem.first_line(error)}")
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        raise Problem(f"{sys.executable} has torch {torch.__version__}, wanted {OLDEST[0]}.{OLDEST[1]} or newer")
    return torch


def load_file(path):
    base = os.path.basename(path)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("stark_task", path, submodule_search_locations=None)
    if spec is None:
        raise Problem(f"{base}: got a file that is no Python module, wanted a name that ends in .py")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["stark_task"] = loaded
    spec.loader.exec_module(loaded)
    return loaded


class Subject:
    """The module and what it is called with, made as often as asked."""

    def __init__(self, torch, loaded, options):
        self.torch, self.loaded, self.options = torch, loaded, options
        self.base = os.path.basename(options.file)
        self.made_by = self._member(options.module, "module")
        self.inputs_by = self._member(options.inputs, "inputs")
        self.init_by = getattr(loaded, options.init, None)
        if options.init != "get_init_inputs" and self.init_by is None:
            raise Problem(f"{self.base} has no function {options.init} (--init)")

    def _member(self, name, flag):
        found = getattr(self.loaded, name, None)
        if found is not None:
            return found
        if flag == "inputs":
            raise Problem(f"{self.base} has no function {name}, which returns example inputs; --inputs names another")
        nn = self.torch.nn.Module
        others = [n for n, v in vars(self.loaded).items()
                  if (inspect.isclass(v) and issubclass(v, nn) and v.__module__ == "stark_task") or isinstance(v, nn)]
        hint = f"; --module names another, it has {', '.join(others[:8])}" if others else ""
        raise Problem(f"{self.base} has no nn.Module {name}{hint}")

    def module(self):
        self.torch.manual_seed(42)
        arguments = self.init_by() if self.init_by else []
        self.torch.manual_seed(42)
        made = self.made_by
        if not isinstance(made, self.torch.nn.Module):
            made = made(**arguments) if isinstance(arguments, dict) else made(*arguments)
        if not isinstance(made, self.torch.nn.Module):
            raise Problem(f"{self.base}: {self.options.module} is no nn.Module")
        return made.eval() if self.options.eval else made

    def inputs(self):
        self.torch.manual_seed(42)
        given = self.inputs_by()
        if isinstance(given, self.torch.Tensor):
            given = [given]
        if isinstance(given, dict):
            return (), given
        if not isinstance(given, (list, tuple)):
            raise Problem(f"{self.base}: {self.options.inputs}() returns a {type(given).__name__}, wanted a list of "
                          "the module's arguments")
        return tuple(given), {}


class Export:
    def __init__(self, torch, subject, fake):
        from stark_values import Recorder
        from torch._subclasses.fake_tensor import FakeTensorMode
        self.fake = fake
        self.recorder = Recorder()
        if fake:
            with FakeTensorMode(), self.recorder:
                self.module, (self.arguments, self.keywords) = subject.module(), subject.inputs()
        else:
            with self.recorder:
                self.module, (self.arguments, self.keywords) = subject.module(), subject.inputs()
        with torch.no_grad(), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            self.program = torch.export.export(self.module, self.arguments, self.keywords, strict=False)
        self.assigned = sorted({name for w in heard if "assigned during export" in str(w.message)
                                for name in re.findall(r"\bself\.[\w.]+", str(w.message)) if "_flat_weights" not in name})

    def tensors(self):
        """input's name -> the tensor that the export saw."""
        from torch.utils._pytree import tree_flatten
        users = tree_flatten((self.arguments, self.keywords))[0]
        state = dict(self.module.named_parameters(remove_duplicate=False))
        state.update(self.module.named_buffers(remove_duplicate=False))
        found, nth = {}, 0
        for spec in self.program.graph_signature.input_specs:
            if spec.kind.name == "USER_INPUT":
                found[spec.arg.name] = users[nth]
                nth += 1
            else:
                found[spec.arg.name] = state.get(spec.target, self.program.constants.get(spec.target))
        return found


def export(torch, subject):
    """With fake tensors, which take no memory; else with real ones."""
    try:
        return Export(torch, subject, fake=True)
    except Problem:
        raise
    except Exception:  # what fake tensors cannot do, real ones may
        return Export(torch, subject, fake=False)


def say_values(torch, exported, records):
    """How each input was made: told by the operators, else looked at."""
    from stark_values import observed
    tensors = exported.tensors()
    for record in records:
        tensor = tensors.get(record["name"])
        values = exported.recorder.of(tensor) if isinstance(tensor, torch.Tensor) else None
        if values is None and isinstance(tensor, torch.Tensor) and not is_fake(torch, tensor):
            values = observed(tensor)
            values = values and dict(values, kind="observed")
        record["values"] = values or {"kind": "unknown"}


def is_fake(torch, tensor):
    from torch._subclasses.fake_tensor import FakeTensor
    return isinstance(tensor, FakeTensor)


def real_tensors(torch, exported, subject, records, notes):
    """Values for all but the example inputs; those too where nothing else tells."""
    tensors = exported.tensors()
    if exported.fake and any(r["kind"] != "input" for r in records):
        module = subject.module()
        state = dict(module.named_parameters(remove_duplicate=False))
        state.update(module.named_buffers(remove_duplicate=False))
        for record in records:
            if record["kind"] in ("parameter", "buffer"):
                tensors[record["name"]] = state[record["path"]]
            elif record["kind"] == "constant" and is_fake(torch, tensors[record["name"]]):
                owner, _, leaf = record["path"].rpartition(".")
                tensors[record["name"]] = getattr(module.get_submodule(owner), leaf, None)
    for record in records:
        tensor = tensors[record["name"]]
        if record["kind"] != "input" and (not isinstance(tensor, torch.Tensor) or is_fake(torch, tensor)):
            raise Problem(f"constant '{record['path']}' has no values that could be kept")
    return tensors


def write_weights(torch, tensors, records, path):
    """Elements in C order, little-endian, each tensor at a multiple of 64 bytes."""
    import ctypes
    with open(path, "wb") as file:
        for record in records:
            if record["kind"] == "input":
                continue
            tensor = tensors[record["name"]].detach().cpu().contiguous()
            size = tensor.numel() * tensor.element_size()
            file.write(b"\0" * (-file.tell() % 64))
            record["offset"] = file.tell()
            if size:
                file.write((ctypes.c_char * size).from_address(tensor.data_ptr()))


def look_at_unknown(torch, exported, subject, records, tensors, limit):
    """What no operator told is looked at in real tensors, if they are small enough."""
    from stark_values import observed
    from torch.utils._pytree import tree_flatten
    unknown = [r for r in records if r["values"]["kind"] == "unknown"]
    if not unknown:
        return
    elements = sum(t.numel() for t in tree_flatten((exported.arguments, exported.keywords))[0]
                   if isinstance(t, torch.Tensor))
    if exported.fake and any(r["kind"] == "input" for r in unknown) and elements <= limit:
        users = tree_flatten(subject.inputs())[0]
        names = [s.arg.name for s in exported.program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
        tensors.update(zip(names, users))
    for record in unknown:
        tensor = tensors.get(record["name"])
        if isinstance(tensor, torch.Tensor) and not is_fake(torch, tensor):
            values = observed(tensor)
            if values:
                record["values"] = dict(values, kind="observed")


def run(options):
    # What is loaded stays: the collector would only walk it again and again.
    gc.disable()
    torch = load_torch()
    import stark_confine
    from stark_graph import GraphReader
    import torch._subclasses.fake_tensor, torch.export  # before anything is confined
    gc.freeze()
    gc.enable()
    warnings.filterwarnings("ignore")
    held = stark_confine.confine(options.out, options.memory)
    try:
        loaded = load_file(options.file)
        subject = Subject(torch, loaded, options)
        exported = export(torch, subject)
        reader = GraphReader(exported.program, options.dropout)
        graph = reader.read()
        reader.notes += [f"{name} is assigned in every call, which the next one does not see" for name in exported.assigned]
        say_values(torch, exported, graph["inputs"])
        tensors = exported.tensors()
        if options.weights:
            tensors = real_tensors(torch, exported, subject, graph["inputs"], reader.notes)
            write_weights(torch, tensors, graph["inputs"], os.path.join(options.out, "weights.bin"))
        look_at_unknown(torch, exported, subject, graph["inputs"], tensors, limit=1 << 28)
    except Problem as problem:
        if not str(problem).startswith(os.path.basename(options.file)):
            raise Problem(f"{stark_problem.place(problem, options.file)}{problem}")
        raise
    except MemoryError as error:
        raise Problem(f"{stark_problem.place(error, options.file)}needs more than {options.memory} GiB (--memory)")
    except BaseException as error:
        package = stark_problem.missing_package(error)
        if package:
            raise Problem(f"{os.path.basename(options.file)} needs the package '{package}', which {sys.executable} "
                          "does not have")
        text = stark_problem.first_line(error)
        if "DataDependent" in type(error).__name__:
            raise Problem(f"{stark_problem.place(error, options.file)}a branch, a loop or a number depends on a tensor's "
                          f"values, which a list of calls cannot say ({text.split(' (unhinted')[0]})")
        if isinstance(error, PermissionError):
            text += "; it may write to the folder that it was given, and nowhere else"
        if "can't allocate memory" in str(error) or "not enough memory" in str(error):
            text = f"needs more than {options.memory} GiB (--memory)"
        raise Problem(f"{stark_problem.place(error, options.file)}{type(error).__name__}: {text}")
    if stark_confine.breach:
        raise Problem(f"{os.path.basename(options.file)}: writes '{stark_confine.breach[0]}', which is outside the "
                      "folder that it was given")
    head = {"format": 1, "torch": torch.__version__, "file": os.path.basename(options.file), "module": options.module,
            "mode": "training" if exported.module.training else "evaluation",
            "tensors": "fake" if exported.fake else "real", "confined": held, "weights": options.weights,
            "notes": reader.notes}
    with open(os.path.join(options.out, "graph.json"), "w") as file:
        json.dump(dict(head, **graph), file, indent=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--out", required=True)
    parser.add_argument("--module", default="Model")
    parser.add_argument("--inputs", default="get_inputs")
    parser.add_argument("--init", default="get_init_inputs")
    parser.add_argument("--eval", action="store_true")
    parser.add_argument("--dropout", choices=["off", "on"], default="off")
    parser.add_argument("--no-weights", dest="weights", action="store_false")
    parser.add_argument("--memory", type=int, default=0)
    options = parser.parse_args()
    try:
        run(options)
    except Problem as problem:
        with open(os.path.join(options.out, "problem.txt"), "w") as file:
            file.write(str(problem))
        sys.stdout.flush()
        os._exit(1)
    # Not the interpreter's own end, which waits for threads of the user's.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
