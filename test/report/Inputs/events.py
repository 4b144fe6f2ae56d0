"""events.py FILE: holds the events of a search against docs/progress.md, and
prints how many there are of each."""
import collections
import json
import sys

NEEDED = {
    "begin": {"version", "task", "entry", "provider", "evaluator", "arch", "attempts", "jobs", "seed"},
    "select": {"attempt", "node", "reason", "recorded"},
    "step": {"does"},
    "reply": {"attempt", "request", "role", "model", "wall_ms", "recorded"},
    "node": {"attempt", "node", "parent", "verdict", "title", "best", "recorded"},
    "note": {"text"},
    "end": {"winner", "why", "ended_by"},
    "stopped": {"why", "exit_code"},
}
ALLOWED = {
    "step": {"attempt", "request", "node"},
    "reply": {"input_tokens", "output_tokens", "cost_micro_usd"},
    "node": {"same_as", "why", "score_us", "speedup", "speedup_low", "speedup_high", "modelled", "floor_share"},
}
counts = collections.Counter()
last = 0
with open(sys.argv[1], encoding="ascii") as f:
    for line in f:
        event = json.loads(line)
        assert line == json.dumps(event, sort_keys=True, separators=(",", ":")) + "\n", line
        kind, fields = event["event"], set(event) - {"event", "t_ms"}
        assert NEEDED[kind] <= fields <= NEEDED[kind] | ALLOWED.get(kind, set()), line
        assert event["t_ms"] >= last
        last = event["t_ms"]
        counts[kind] += 1
for kind, count in sorted(counts.items()):
    print(kind, count)
