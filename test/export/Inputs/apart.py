"""apart.py FOLDER NAME... -- ARGUMENT...: runs FOLDER/NAME/verify.py with these arguments for each name, in a process of
its own, which is a fork of one that has loaded torch and what its compiler needs, since loading takes longer than the rest.
Writes what each prints to FOLDER/NAME.verified, with "exit code N" last."""
import gc
import os
import runpy
import sys

gc.disable()
import torch  # noqa: E402
import torch._dynamo  # noqa: E402
import torch._inductor.compile_fx  # noqa: E402
import torch.testing._internal.optests  # noqa: E402

gc.freeze()
gc.enable()
at = sys.argv.index("--")
folder, names, arguments = sys.argv[1], sys.argv[2:at], sys.argv[at + 1:]
for name in names:
    script = os.path.join(folder, name, "verify.py")
    with open(os.path.join(folder, name + ".verified"), "w") as out:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            sys.argv = [script, *arguments]
            sys.path[0] = os.path.dirname(script)
            runpy.run_path(script, run_name="__main__")
            sys.exit(99)  # it ends with an exit code of its own
        out.write(f"exit code {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
