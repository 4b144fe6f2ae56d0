"""The work of utils/kernelbench-harness.

KernelBench's package imports clients of models, a tokenizer's progress bar and a data set's reader, none of which an
evaluation needs: what is not installed is stood in for by modules that hold nothing. The harness itself is run as it
is: --check-only stops before its evaluation, and --cpu, for machines without a GPU, makes modules of reference and
candidate as the harness does and compares them on the CPU (nothing is timed)."""
import argparse
import importlib
import json
import os
import sys
import tempfile
import types


# Of pydantic, what eval.py asks for: fields from annotations, made by name.
class BaseModel:
    def __init__(self, **given):
        fields = {}
        for base in reversed(type(self).__mro__):
            fields.update(getattr(base, "__annotations__", {}))
        for name in fields:
            default = getattr(type(self), name, None)
            setattr(self, name, given[name] if name in given else default.copy() if isinstance(default, dict) else default)
        unknown = set(given) - set(fields)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    def model_dump(self):
        return dict(vars(self))


class NotThere:
    """Stands for what an evaluation does not call."""

    def __init__(self, *arguments, **keywords):
        raise RuntimeError("kernelbench-harness: a package that an evaluation does not need was called")


STANDINS = {
    "dotenv": {"load_dotenv": lambda *a, **k: False},
    "litellm": {"completion": NotThere},
    "openai": {"OpenAI": NotThere},
    "datasets": {"load_dataset": NotThere},
    "pydantic": {"BaseModel": BaseModel},
    "tqdm": {"tqdm": lambda items=(), *a, **k: items},
    "requests": {},
    "tomli": {},
}


def stand_in():
    """The names of what was missing."""
    missing = []
    for name, members in STANDINS.items():
        try:
            importlib.import_module(name)
        except ImportError:
            module = types.ModuleType(name)
            vars(module).update(members)
            sys.modules[name] = module
            missing.append(name)
    return missing


def plain(value):
    """Exceptions and devices as text."""
    return json.loads(json.dumps(value, default=lambda v: f"{type(v).__name__}: {v}" if isinstance(v, Exception) else str(v)))


def compare_on_cpu(torch, harness, reference, candidate, trials, build_dir):
    """eval_kernel_against_ref less its GPU: the same loading, seeds, order and comparison."""
    context = {}
    original, init_inputs, inputs = harness.load_original_model_and_inputs(reference, context)
    cpu = torch.device("cpu")
    torch.manual_seed(42)
    given = [harness._process_input_tensor(x, cpu) for x in init_inputs()]
    with torch.no_grad():
        torch.manual_seed(42)
        model = original(*given)
        new = harness.load_custom_model(candidate, context, build_dir)
        torch.manual_seed(42)
        model_new = new(*given)
        torch.manual_seed(42)
        right = 0
        tolerance = harness.get_tolerance_for_precision(torch.float32)
        for seed in [torch.randint(0, 2**32 - 1, (1,)).item() for _ in range(trials)]:
            torch.manual_seed(seed)
            x = [harness._process_input_tensor(value, cpu) for value in inputs()]
            wanted = model(*x)
            got = model_new(*x)
            right += wanted.shape == got.shape and torch.allclose(wanted, got, atol=tolerance, rtol=tolerance)
    return {"compiled": True, "correctness": right == trials, "metadata": {"correctness_trials": f"({right} / {trials})",
                                                                          "device": "cpu"}}


def main():
    parser = argparse.ArgumentParser(prog="utils/kernelbench-harness")
    parser.add_argument("kernelbench", metavar="KERNELBENCH_DIR", help="a clone of KernelBench")
    parser.add_argument("task", metavar="TASK.py")
    parser.add_argument("candidate", metavar="CANDIDATE.py")
    parser.add_argument("--trials", type=int, default=100, help="timed calls (default: 100)")
    parser.add_argument("--correct-trials", type=int, default=5, help="comparisons (default: 5)")
    parser.add_argument("--json", metavar="FILE", help="also write the record here")
    parser.add_argument("--build-dir", metavar="DIR", help="keep what is built here (default: a temporary folder)")
    parser.add_argument("--check-only", action="store_true", help="only the static check")
    parser.add_argument("--cpu", action="store_true", help="compare on the CPU, time nothing")
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.kernelbench, "src", "kernelbench", "eval.py")):
        parser.error(f"'{options.kernelbench}' has no src/kernelbench/eval.py")
    texts = []
    for path in (options.task, options.candidate):
        try:
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        except (OSError, UnicodeDecodeError) as error:
            parser.error(f"'{path}': {error}")
    missing = stand_in()
    sys.path.insert(0, os.path.abspath(os.path.join(options.kernelbench, "src")))
    said, sys.stdout = sys.stdout, sys.stderr  # the harness prints as it goes
    try:
        import torch
    except ImportError:
        parser.error(f"{sys.executable} has no torch; STARK_TORCH names the folder of a python3 that has")
    from kernelbench import eval as harness
    from kernelbench.kernel_static_checker import validate_kernel_static
    valid, errors, warnings = validate_kernel_static(texts[1], backend="cuda", precision="fp32")
    record = {"task": os.path.basename(options.task), "candidate": os.path.basename(options.candidate),
              "static_check": {"valid": valid, "errors": sorted(errors), "warnings": sorted(warnings)},
              "torch": torch.__version__, "stood_in": missing}
    if not options.check_only:
        with tempfile.TemporaryDirectory(prefix="kernelbench-") as scratch:
            folder = os.path.abspath(options.build_dir or scratch)
            os.makedirs(folder, exist_ok=True)
            if options.cpu:
                record.update(compare_on_cpu(torch, harness, *texts, options.correct_trials, folder))
            elif not torch.cuda.is_available():
                parser.error("torch sees no GPU, which the harness needs; --cpu compares without one")
            else:
                found = harness.eval_kernel_against_ref(
                    original_model_src=texts[0], custom_model_src=texts[1], measure_performance=True,
                    timing_method="cuda_event", verbose=False, num_correct_trials=options.correct_trials,
                    num_perf_trials=options.trials, build_dir=folder, device=torch.device("cuda:0"), backend="cuda",
                    precision=harness.get_torch_dtype_from_string("fp32"))
                record.update(plain(vars(found)) if found else {"compiled": False, "correctness": False,
                                                                "metadata": {"lock": "the harness asks for a retry"}})
        if record.get("runtime", -1) > 0 and record.get("ref_runtime", -1) > 0:
            record["speedup"] = record["ref_runtime"] / record["runtime"]
    text = json.dumps(record, indent=2)
    print(text, file=said)
    if options.json:
        with open(options.json + ".tmp", "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(options.json + ".tmp", options.json)
    good = valid if options.check_only else record["compiled"] and record["correctness"]
    said.flush()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
