"""make_jobs.py ROOT TOOL OUT NAME...: jobs as utils/sim-jobs prepares them, with an empty library."""
import importlib.machinery
import importlib.util
import os
import sys

sys.dont_write_bytecode = True
root, tool, out = sys.argv[1:4]
loader = importlib.machinery.SourceFileLoader("sim_jobs", os.path.join(root, "utils", "sim-jobs"))
sim_jobs = importlib.util.module_from_spec(importlib.util.spec_from_loader("sim_jobs", loader))
loader.exec_module(sim_jobs)
for name in sys.argv[4:]:
    folder = os.path.join(out, name)
    os.makedirs(folder)
    sim_jobs.write(folder, "kernel.so", "")
    sim_jobs.write(folder, "job.json", sim_jobs.Kernel(name, tool).job("sm_90", "kernel.so"))
