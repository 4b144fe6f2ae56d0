"""headers.py ROOT BUILD: whether BUILD compiled each public header of ROOT alone,
after its last change."""
import os
import sys

root, build = sys.argv[1:]
headers = [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(root, "include", "stark"))
           for name in names if name.endswith(".h")]
objects = {}
for folder, _, names in os.walk(os.path.join(build, "lib")):
    if "_verify_interface_header_sets" in folder:
        for name in names:
            if name.endswith(".h.cxx.o"):
                path = os.path.join(folder, name)
                objects[path.split("_verify_interface_header_sets.dir", 1)[1]] = os.path.getmtime(path)
missing = []
for header in sorted(headers):
    name = os.path.relpath(header, os.path.join(root, "include"))
    if not any(key.endswith(f"/{name}.cxx.o") and made >= os.path.getmtime(header) for key, made in objects.items()):
        missing.append(name)
for name in missing:
    print(f"{name}: was not compiled on its own since its last change")
if missing or not headers:
    sys.exit(1)
print(f"headers: each of {len(headers)} compiles alone")
