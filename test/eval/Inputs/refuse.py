"""refuse.py SPOOL: answers every job as a worker that has no GPU."""
import json
import os
import sys

spool = sys.argv[1]
for job in os.listdir(os.path.join(spool, "jobs")):
    with open(os.path.join(spool, "jobs", job, "job.json")) as f:
        asked = json.load(f)
    result = {"format": asked["format"], "id": job, "outcome": "infrastructure", "diagnostics": "no GPU today",
              "source_digest": asked["source_digest"], "candidate_digest": asked["candidate_digest"], "device": "",
              "driver": "", "wall_ms": 0, "event_pair_us": 0, "copy_gb_per_s": 0, "modelled": False,
              "timings": []}
    with open(os.path.join(spool, "results", job + ".json"), "w") as f:
        json.dump(result, f)
