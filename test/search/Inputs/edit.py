"""edit.py FILE OLD NEW: replaces the one place where FILE has OLD.
edit.py FILE --cut BYTES: cuts that many bytes off its end."""
import sys

path, old, new = sys.argv[1:]
data = open(path, "rb").read()
if old == "--cut":
    data = data[: -int(new)]
else:
    assert data.count(old.encode()) == 1, f"{path} has {data.count(old.encode())} times {old}"
    data = data.replace(old.encode(), new.encode())
open(path, "wb").write(data)
