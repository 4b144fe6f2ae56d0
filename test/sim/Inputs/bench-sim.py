"""bench-sim.py BENCH BIN: the sim part of utils/bench, two runs, no limits."""
import importlib.machinery
import importlib.util
import sys
import tempfile

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("bench", sys.argv[1])
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
loader.exec_module(bench)
bench.SIM_RUNS = 2
bench.SIM_KERNELS = [(title, name, {**parameters, "repeat": 1}, {}) for title, name, parameters, _ in bench.SIM_KERNELS]
with tempfile.TemporaryDirectory() as folder:
    sys.exit(0 if bench.bench_sim(sys.argv[2], folder) else 1)
