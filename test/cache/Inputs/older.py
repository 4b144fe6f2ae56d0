"""older.py ENTRY.json: takes the dispatch out of an entry, as Stark wrote them before it had one."""
import hashlib
import json
import sys

with open(sys.argv[1]) as f:
    entry = json.load(f)
del entry["dispatch"], entry["check"]
compact = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
entry["check"] = hashlib.sha256(compact.encode()).hexdigest()
with open(sys.argv[1], "w") as f:
    json.dump(entry, f)
