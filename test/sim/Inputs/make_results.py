"""make_results.py FOLDER NAME=MEDIAN:SPREAD[@SIZE]...: results as stark-worker writes
them; a word in place of the figures is an outcome without times."""
import json
import os
import sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for word in sys.argv[2:]:
    name, figures = word.split("=", 1)
    figures, _, size = figures.partition("@")
    median, colon, spread = figures.partition(":")
    timing = {"label": size or "n=9", "samples": 30, "discarded": 5, "speedup": 1, "speedup_low": 1, "speedup_high": 1}
    for prefix in ("", "source_"):
        timing[prefix + "median_us"] = float(median) if colon else 0
        timing[prefix + "iqr_us"] = float(spread) if colon else 0
        timing[prefix + "min_us"] = float(median) if colon else 0
    with open(os.path.join(folder, name + ".json"), "w") as f:
        json.dump({"format": 1, "id": name, "candidate_digest": "", "source_digest": "",
                   "outcome": "correct" if colon else figures, "diagnostics": "" if colon else "as it was told",
                   "compiler": "", "event_pair_us": 1, "copy_gb_per_s": 4000, "device": "Test GPU", "driver": "1",
                   "modelled": False, "wall_ms": 9, "timings": [timing] if colon else []}, f)
