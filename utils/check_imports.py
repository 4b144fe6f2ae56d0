"""The work of utils/check-imports.

One process has torch loaded and computes nothing; it forks a child for each step,
so that no step pays for loading torch. The exporter that stark-tool starts is such
a child too: --python names a client that asks this process for one."""
import argparse
import ast
import hashlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import torch_forks

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
MOST_ELEMENTS = 1 << 17  # of all inputs together, in the smaller copy
MOST_WEIGHTS = 1 << 23


# ---- Children that have torch loaded ----

def in_child(function, seconds, *arguments):
    """What `function` returns, computed in a child; an exception or None past the deadline."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setpgid(0, 0)
        if not os.environ.get("CHECK_IMPORTS_TRACE"):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            answer = {"value": function(*arguments)}
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]}
            if os.environ.get("CHECK_IMPORTS_TRACE"):
                traceback.print_exc()
        with os.fdopen(write, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    timer = threading.Timer(seconds, lambda: os.kill(child, signal.SIGKILL))
    timer.start()
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    timer.cancel()
    return json.loads(text) if text else {"error": f"no answer within {seconds} s, or killed"}


def load_task(path):
    import importlib.util
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("stark_task", path)
    task = importlib.util.module_from_spec(spec)
    sys.modules["stark_task"] = task
    spec.loader.exec_module(task)
    return task


# ---- A smaller copy of a task ----

def constants_of(text):
    """(line, name, value) of whole numbers that the file gives names to at its top level."""
    found = []
    for statement in ast.parse(text).body:
        if not isinstance(statement, ast.Assign) or not all(isinstance(t, ast.Name) for t in statement.targets):
            continue
        try:
            value = eval(compile(ast.Expression(statement.value), "", "eval"), {"__builtins__": {}})
        except Exception:
            continue
        name = "=".join(t.id for t in statement.targets)
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            found.append((statement, name, value, None))
        elif isinstance(value, tuple) and value and all(isinstance(v, int) for v in value):
            found += [(statement, name, v, i) for i, v in enumerate(value) if v > 1]
    return found


def rewrite(text, constants, values):
    """The text with other values for its constants."""
    lines = text.encode().splitlines(keepends=True)
    done = {}
    for (statement, name, old, index), value in zip(constants, values):
        done.setdefault(statement, {})[index] = value
    # From the end, so that what is before keeps its place; columns count bytes.
    for statement, given in sorted(done.items(), key=lambda d: (d[0].lineno, d[0].col_offset), reverse=True):
        if None in given:
            right = str(given[None])
        else:
            original = eval(compile(ast.Expression(statement.value), "", "eval"), {"__builtins__": {}})
            right = "(" + "".join(f"{given.get(i, v)}, " for i, v in enumerate(original)) + ")"
        left = "".join(f"{t.id} = " for t in statement.targets)
        first, last = statement.lineno - 1, statement.end_lineno - 1
        lines[first:last + 1] = [lines[first][:statement.col_offset] + (left + right).encode()
                                 + lines[last][statement.end_col_offset:]]
    return b"".join(lines).decode()


def cost_of(text, folder):
    """Elements of inputs and of weights, if the module still runs; with fake tensors."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._pytree import tree_flatten
    path = os.path.join(folder, "small_try.py")
    with open(path, "w") as file:
        file.write(text)
    with torch.no_grad(), FakeTensorMode():
        task = load_task(path)
        model = task.Model(*task.get_init_inputs())
        inputs = task.get_inputs()
        model(*inputs)
    elements = sum(t.numel() for t in tree_flatten(inputs)[0] if isinstance(t, torch.Tensor))
    return elements, sum(t.numel() for t in model.parameters())


def shrink(path, folder):
    """Divides constants for as long as the module runs and is too large."""
    with open(path) as file:
        text = file.read()
    constants = constants_of(text)
    values = [c[2] for c in constants]
    end = time.time() + 100
    try:
        cost = cost_of(text, folder)
    except Exception:
        cost = None  # fake tensors cannot run it: taken as it is
    # Batches first: they change nothing else. Then the others, those of one value
    # together as well, since what must agree is often written twice.
    batches = [[i] for i, c in enumerate(constants) if re.search("batch", c[1])]
    others = sorted(([i] for i in range(len(values)) if [i] not in batches), key=lambda g: -values[g[0]])
    equal = [[i for i, v in enumerate(values) if v == value] for value in sorted(set(values), reverse=True)]
    moves = batches + others + [g for g in equal if len(g) > 1] + [list(range(len(values)))]
    too_large = lambda c: c[0] > MOST_ELEMENTS or c[1] > MOST_WEIGHTS

    def move(group):
        """Values and cost with the group's constants divided, if that runs and is less."""
        for by in (8, 2):
            new = [v // by if i in group and v >= 2 * by else v for i, v in enumerate(values)]
            if new == values or time.time() > end:
                continue
            try:
                new_cost = cost_of(rewrite(text, constants, new), folder)
            except Exception:
                continue
            if sum(new_cost) < sum(cost):
                return new, new_cost
        return None

    while cost and moves and too_large(cost) and time.time() < end:
        for group in list(moves):
            if not too_large(cost):
                break
            if (found := move(group)) is None:
                moves.remove(group)
            else:
                values, cost = found
    small = os.path.join(folder, os.path.basename(path))
    with open(small, "w") as file:
        file.write(rewrite(text, constants, values))
    changed = [f"{c[1]}={v}" for c, v in zip(constants, values) if c[2] != v]
    return {"path": small, "changed": changed, "cost": cost}


# ---- Compiling ----

class Compiler:
    """Compiles with torch's headers read once, and kept in `kept` for the next time."""

    def __init__(self, folder, kept):
        import torch
        root = os.path.dirname(torch.__file__)
        self.folder, self.compiler = folder, os.environ.get("CXX", "g++")
        self.flags = ["-std=c++20", "-O0", "-fPIC", "-w", f"-I{root}/include",
                      f"-I{root}/include/torch/csrc/api/include"]
        self.linked = [f"-L{root}/lib", "-ltorch_cpu", "-ltorch", "-lc10"]
        version = subprocess.run([self.compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
        digest = hashlib.sha256(" ".join([version, torch.__version__, *self.flags]).encode()).hexdigest()[:12]
        header = os.path.join(kept, digest, "prefix.h")
        compiled = header + (".pch" if "clang" in version else ".gch")
        if not os.path.exists(compiled):
            os.makedirs(os.path.dirname(header), exist_ok=True)
            with open(header, "w") as file:
                file.write("#include <ATen/ATen.h>\n#include <torch/library.h>\n#include <limits>\n")
            subprocess.run([self.compiler, *self.flags, "-x", "c++-header", header, "-o", compiled + ".new"], check=True)
            os.rename(compiled + ".new", compiled)
        self.flags += ["-include", header]

    def library(self, sources, target):
        """Compiles [(path, entry, parameters, outputs, operator)], each whose operator has a name becoming one of
        torch's, from a list of tensors to one. Returns path -> first error."""
        problems = {}
        while True:
            good = [s for s in sources if s[0] not in problems]
            text = "".join(f'#include "{path}"\n' for path, *_ in good)
            registered = ""
            for path, entry, parameters, outputs, operator in good:
                if not operator:
                    continue
                call = f"{entry}({', '.join(f'a[{i}]' for i in range(parameters))})"
                body = f"return {{{call}}};" if outputs == 1 else f"return {call};"
                text += f"static std::vector<at::Tensor> run_{operator}(std::vector<at::Tensor> a) {{ {body} }}\n"
                registered += f'm.def("{operator}(Tensor[] a) -> Tensor[]", run_{operator});\n'
            unit = os.path.join(self.folder, "unit.cpp")
            with open(unit, "w") as file:
                file.write(text + "TORCH_LIBRARY_FRAGMENT(stark_import, m) {\n" + registered + "}\n")
            done = subprocess.run([self.compiler, *self.flags, "-shared", unit, "-o", target, *self.linked],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return problems
            found = 0
            for line in done.stderr.splitlines():
                for path, *_ in good:
                    if line.startswith(path) and "error" in line and path not in problems:
                        problems[path] = line[len(path):]
                        found += 1
            if not found:
                raise SystemExit(f"check-imports: {self.compiler} failed:\n{done.stderr[:2000]}")


# ---- Comparing ----

DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i16": "int16",
          "i32": "int32", "i64": "int64", "u8": "uint8", "bool": "bool", "c64": "complex64", "c128": "complex128"}


def compare(task_path, workload_path, library, operator):
    """The largest relative error, as a share of the root mean square, of outputs and changed tensors."""
    import torch
    from torch.utils._pytree import tree_flatten
    torch.set_num_threads(2)
    with open(workload_path) as file:
        workload = json.load(file)
    task = load_task(task_path)
    torch.manual_seed(42)
    init = task.get_init_inputs()
    torch.manual_seed(42)
    model = task.Model(*init)
    for part in model.modules():
        if isinstance(part, (torch.nn.Dropout, torch.nn.Dropout1d, torch.nn.Dropout2d, torch.nn.Dropout3d)):
            part.p = 0.0
    torch.manual_seed(42)
    inputs = task.get_inputs()
    weights = open(os.path.join(os.path.dirname(workload_path), workload["weights"]), "rb").read() \
        if "weights" in workload else b""
    given, users = [], [t for t in tree_flatten(inputs)[0] if isinstance(t, torch.Tensor)]
    for argument in workload["arguments"].values():
        if argument["tensor"] == "input":
            given.append(users.pop(0).clone())
            continue
        dtype, count = getattr(torch, DTYPES[argument["dtype"]]), math.prod(argument["shape"])
        tensor = torch.empty(argument["shape"], dtype=dtype)
        if count:
            data = bytearray(weights[argument["offset"]:argument["offset"] + count * tensor.element_size()])
            tensor.copy_(torch.frombuffer(data, dtype=dtype).view(argument["shape"]))
        given.append(tensor)
    state = dict(model.named_buffers(remove_duplicate=False))
    state.update(model.named_parameters(remove_duplicate=False))
    torch.ops.load_library(library)
    with torch.no_grad():
        wanted = [t for t in tree_flatten(model(*inputs))[0] if isinstance(t, torch.Tensor)]
        got = getattr(torch.ops.stark_import, operator)(given)
    pairs = list(zip(got, wanted, strict=True))
    for argument, tensor in zip(workload["arguments"].values(), given):
        if argument["tensor"] in ("parameter", "buffer"):
            pairs.append((tensor, state[argument["path"]]))
    worst = 0.0
    for a, b in pairs:
        if a.shape != b.shape or a.dtype != b.dtype:
            raise AssertionError(f"got {a.dtype} {list(a.shape)}, wanted {b.dtype} {list(b.shape)}")
        if a.numel() == 0 or torch.equal(a, b):
            continue
        x, y = a.double(), b.double()
        if not torch.equal(x.isnan(), y.isnan()):
            raise AssertionError("NaN in other places")
        scale = y.nan_to_num().pow(2).mean().sqrt().item() or 1.0
        worst = max(worst, ((x - y).nan_to_num().abs().max() / scale).item())
    expected = [(r["dtype"], r["shape"]) for r in workload["returns"]]
    if expected != [(next(k for k, v in DTYPES.items() if getattr(torch, v) == t.dtype), list(t.shape)) for t in wanted]:
        raise AssertionError("the workload's returns are not what the module returns")
    return {"worst": worst, "tensors": len(pairs)}


# ---- The tasks, a batch at a time ----

class Task:
    def __init__(self, options, number, path):
        self.options, self.path = options, path
        self.name = "/".join(path.split("/")[-2:])
        self.folder = os.path.join(options.work, f"task{number}")
        self.record = {"task": self.name}
        self.small = None  # path of the smaller copy
        self.number = number
        os.mkdir(self.folder)

    def failed(self):
        return "problem" in self.record

    def fail(self, stage, problem):
        self.record.update(stage=stage, problem=problem)

    def import_as(self, entry, path, *flags):
        """What is needed to compile it, or None."""
        done = subprocess.run([os.path.join(self.options.build, "bin", "stark-tool"), "import", path, "-o", self.folder,
                               "--name", entry, "--python", self.options.client, *flags], capture_output=True, text=True)
        if done.returncode:
            said = done.stderr.strip().splitlines()
            self.fail("import", said[-1] if said else f"exit code {done.returncode}")
            return None
        with open(os.path.join(self.folder, entry + ".workload.json")) as file:
            workload = json.load(file)
        return os.path.join(self.folder, entry + ".cpp"), len(workload["arguments"]), len(workload["returns"]), workload

    def import_full(self):
        entry = f"full{self.number}"
        if not (made := self.import_as(entry, self.path, "--no-weights")):
            return []
        source, parameters, outputs, workload = made
        with open(source) as file:
            text = file.read()
        told = lambda a: "observed" if "observed" in json.dumps(a["init"]) else "unknown" if a["init"] == "unknown" else "told"
        self.record.update(
            tensors=workload["imported"]["tensors"], notes=workload.get("notes", []), lines=text.count("\n"),
            loops=text.count("for (int64_t"),
            values=sorted({told(a) for a in workload["arguments"].values() if a["tensor"] == "input"}))
        if self.options.keep:
            kept = os.path.join(self.options.keep, self.name.replace("/", "-").replace(".py", ""))
            shutil.copy(source, kept + ".cpp")
            shutil.copy(source.replace(".cpp", ".workload.json"), kept + ".workload.json")
        return [(source, entry, parameters, outputs, "")]

    def import_small(self):
        found = in_child(shrink, 200, self.path, self.folder)
        if "error" in found:
            self.fail("shrink", found["error"])
            return []
        self.small = found["value"]["path"]
        self.record.update(changed=found["value"]["changed"], cost=found["value"]["cost"])
        entry = f"small{self.number}"
        if not (made := self.import_as(entry, self.small)):
            return []
        source, parameters, outputs, _ = made
        return [(source, entry, parameters, outputs, entry)]

    def compare(self, library):
        entry = f"small{self.number}"
        found = in_child(compare, 300, self.small, os.path.join(self.folder, entry + ".workload.json"), library, entry)
        if "error" in found:
            return self.fail("compare", found["error"])
        self.record.update(found["value"])
        if not self.record["worst"] <= self.options.tolerance:
            self.fail("compare", f"error {self.record['worst']:.3g} of the root mean square")


def check(options, compiler, number, paths):
    """The records of some tasks, which are compiled together."""
    tasks = [Task(options, f"{number}_{i}", path) for i, path in enumerate(paths)]
    sources, owner = [], {}
    for task in tasks:
        for step in ([] if options.small_only else [task.import_full]) + ([] if options.full_only else [task.import_small]):
            made = [] if task.failed() else step()
            sources += made
            owner.update({source[0]: task for source in made})
    library = os.path.join(options.work, f"batch{number}.so")
    for path, problem in compiler.library(sources, library).items():
        owner[path].fail("compile", problem)
    for task in tasks:
        if not task.failed() and not options.full_only:
            task.compare(library)
        shutil.rmtree(task.folder)
    os.remove(library)
    return [task.record for task in tasks]


def main():
    parser = argparse.ArgumentParser(prog="utils/check-imports")
    parser.add_argument("tasks", nargs="+", metavar="TASK.py")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "dev"), help="build folder of stark-tool")
    parser.add_argument("--json", help="append a record a task to this file; tasks that passed in it are not run again")
    parser.add_argument("--keep", help="keep the sources of full size in this folder")
    parser.add_argument("--full-only", action="store_true", help="import and compile, do not compare")
    parser.add_argument("--small-only", action="store_true", help="only the smaller copies")
    parser.add_argument("--together", type=int, default=12, help="tasks that are compiled as one")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="as a share of an output's root mean square")
    options = parser.parse_args()
    torch_forks.load_torch()
    import torch._subclasses.fake_tensor
    known = {}
    if options.json and os.path.exists(options.json):
        with open(options.json) as file:
            known = {r["task"]: r for r in map(json.loads, file)}
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="check-imports-") as work:
        options.work = work
        options.client = torch_forks.serve(work)
        compiler = Compiler(work, os.path.join(ROOT, "build", "check-imports"))
        paths = []
        for path in map(os.path.realpath, options.tasks):
            before = known.get("/".join(path.split("/")[-2:]))
            if before and "problem" not in before:
                passed += 1
            else:
                paths.append(path)
        for first in range(0, len(paths), options.together):
            for record in check(options, compiler, first, paths[first:first + options.together]):
                if options.json:
                    with open(options.json, "a") as file:
                        file.write(json.dumps(record) + "\n")
                good = "problem" not in record
                passed, failed = passed + good, failed + (not good)
                print(record["task"] + ": " +
                      (f"{record['stage']}: {record['problem']}" if not good else
                       "compiles" if options.full_only else f"worst error {record['worst']:.2g}"), flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
