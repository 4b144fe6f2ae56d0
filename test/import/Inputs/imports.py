"""imports.py UTILS TOOL FOLDER FILE [OPTION]... [+ FILE [OPTION]...]...: runs `TOOL import FILE OPTION... -o FOLDER` for each,
one after the other, by a Python that has loaded torch. Prints what is said, and "FILE: exit code N" after each. Exit code 1 unless
all went well."""
import os
import subprocess
import sys
import tempfile

sys.path[0] = sys.argv[1]  # modules of tests lie where this file does
import torch_forks  # noqa: E402

tool, folder = sys.argv[2:4]
groups = [[]]
for word in sys.argv[4:]:
    if word == "+":
        groups.append([])
    else:
        groups[-1].append(word)
torch_forks.load_torch()
codes = []
with tempfile.TemporaryDirectory() as place:
    client = torch_forks.serve(place)
    for group in groups:
        codes.append(subprocess.call([tool, "import", *group, "-o", folder, "--python", client], stderr=subprocess.STDOUT))
        print(f"{os.path.basename(group[0])}: exit code {codes[-1]}", flush=True)
sys.exit(1 if any(codes) else 0)
