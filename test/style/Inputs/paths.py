"""paths.py ROOT: whether the files and folders that the pages name are there.

A path is what stands in backticks, or in the brackets of a link, and begins with
a folder of the project; X, NAME and PRESET stand for any word."""
import glob
import os
import re
import sys

root = sys.argv[1]
TOP = "include|lib|tools|test|utils|docs|cmake|prompts|examples"
pages = sorted(glob.glob(os.path.join(root, "docs", "*.md"))) + [os.path.join(root, n) for n in ("README.md", "CONTRIBUTING.md")]
seen, missing = 0, []
for page in pages:
    for number, line in enumerate(open(page), 1):
        named = [os.path.join(root, m) for m in re.findall(rf"`((?:{TOP})/[\w./*-]*)`", line)]
        named += [os.path.join(os.path.dirname(page), m) for m in re.findall(r"\]\((?!https?:|#)([^)#]+)", line)]
        for path in named:
            seen += 1
            if not glob.glob(re.sub(r"\b(?:NAME|PRESET)(?=[./]|$)|(?<![A-Z])X(?=[A-Z.]|$)|\bx(?=\.json)", "*", path)):
                missing.append(f"{os.path.relpath(page, root)}:{number}: {os.path.relpath(path, root)} is not there")
print("\n".join(missing) if missing else f"docs: each of {seen} paths is there")
sys.exit(bool(missing) or not seen)
