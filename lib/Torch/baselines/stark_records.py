"""DIR/baselines.json: a record for each task, variant and machine, the newest.

    { "version": 1, "records": [ { "task", "digest", "variant", "machine", ... } ] }

docs/bench.md describes the fields. Written to a temporary name and renamed, after
each record."""
import json
import os

from stark_problem import Problem

VERSION = 1
# What a measurement was taken with; another of these is another record.
MACHINE = ("device", "gpu", "driver", "processor", "torch", "cuda", "cudnn", "triton", "python")


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


class Records:
    def __init__(self, folder):
        self.path = os.path.join(folder, "baselines.json")
        self.all = []
        if not os.path.exists(self.path):
            return
        try:
            with open(self.path) as file:
                read = json.load(file)
            version, self.all = read["version"], read["records"]
            if version != VERSION:
                raise Problem(f"'{self.path}': got version {version}, wanted {VERSION}")
            for record in self.all:
                key(record)
        except (ValueError, KeyError, TypeError) as error:
            raise Problem(f"'{self.path}' is damaged: {type(error).__name__}: {error}")

    def find(self, wanted, timeout):
        """What need not be measured again. A time-out with less time says nothing."""
        for record in self.all:
            if key(record) == key(wanted):
                return None if record["outcome"] == "timed-out" and record["timeout_s"] < timeout else record
        return None

    def add(self, record):
        self.all = [old for old in self.all if key(old) != key(record)] + [record]
        write(self.path, json.dumps({"version": VERSION, "records": self.all}, indent=1) + "\n")


def key(record):
    machine = record["machine"]
    return (record["digest"], record["variant"], *(machine.get(name) for name in MACHINE))
