"""make_sim_job.py ROOT TOOL OUT NAME OLD NEW: a job folder of stark-sim, OUT.

The source is a kernel of test/calibration, its candidate the same with NEW in
the place of OLD.
"""
import importlib.machinery
import importlib.util
import os
import sys

sys.dont_write_bytecode = True
root, tool, out, name, old, new = sys.argv[1:]
loader = importlib.machinery.SourceFileLoader("sim_jobs", os.path.join(root, "utils", "sim-jobs"))
sim_jobs = importlib.util.module_from_spec(importlib.util.spec_from_loader("sim_jobs", loader))
loader.exec_module(sim_jobs)
kernel = sim_jobs.Kernel(name, tool)
if old not in kernel.whole:
    sys.exit(f"{name}.cu does not hold '{old}'")
job = kernel.job("sm_90", "source.cu")
job.update(candidate_library="candidate.cu", candidate_digest="another", seeds=[101, 102, 103])
os.makedirs(out)
sim_jobs.write(out, "source.cu", kernel.whole)
sim_jobs.write(out, "candidate.cu", kernel.whole.replace(old, new))
sim_jobs.write(out, "job.json", job)
sim_jobs.write(out, "compile.json", {"path": kernel.path, "folder": root, "flags": [], "arch": "sm_90"})
