"""python3 baselines.py TASK.py ... --out DIR: what PyTorch itself needs for a module.

TASK.py ... -> each variant of each in a child -> DIR/baselines.json, DIR/baselines.md
Also `stark-tool bench --torch-baselines`. docs/bench.md says what is measured."""
import argparse
import fcntl
import os
import platform
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import stark_child
import stark_records
import stark_subject
import stark_tables
from stark_measure import VARIANTS  # which finds the exporter's modules
from stark_problem import Problem

FAILED, USAGE, AGAIN, INTERRUPTED = 1, 2, 75, 130
PROBE_S = 180
SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.I)


def options():
    parser = argparse.ArgumentParser(
        prog="baselines", description="Times PyTorch modules in KernelBench's format as PyTorch runs them.",
        epilog="Exit codes: 0 all were tried; 1 failed, as without a GPU; 2 usage; 75 the budget is spent: run the same "
               "command again; 130 interrupted: likewise.")
    parser.add_argument("tasks", nargs="+", metavar="TASK.py", help="with Model, get_inputs and get_init_inputs")
    parser.add_argument("--out", required=True, metavar="DIR", help="holds baselines.json and baselines.md")
    parser.add_argument("--variants", default=",".join(VARIANTS), metavar="LIST",
                        help="what to time, in this order (default: %(default)s)")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="(default: cuda)")
    parser.add_argument("--timeout", type=seconds, default=300, metavar="S", help="for each variant (default: 300)")
    parser.add_argument("--budget", type=seconds, metavar="S", help="begin no variant after so many seconds")
    parser.add_argument("--again", action="store_true", help="measure what is measured already")
    parser.add_argument("--fresh", action="store_true",
                        help="a new Python for each variant, not a fork of one that has torch loaded")
    given = parser.parse_args()
    given.variants = list(dict.fromkeys(given.variants.split(",")))
    for name in given.variants:
        if name not in VARIANTS:
            parser.error(f"--variants: got '{name}', wanted some of {','.join(VARIANTS)}")
    for task in given.tasks:
        if not os.path.isfile(task):
            parser.error(f"'{task}' does not exist")
    return given


def seconds(text):
    value = float(text)
    if not 0 <= value <= 1e6:
        raise ValueError
    return value


def level_of(path):
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    level = re.fullmatch(r"level[ _-]?(\d+)", folder)
    return f"level {level[1]}" if level else folder


def driver():
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True,
                              text=True, timeout=60)
        if said.returncode == 0 and said.stdout.strip():
            return said.stdout.split()[0]
    except (OSError, subprocess.SubprocessError):
        pass
    try:
        with open("/proc/driver/nvidia/version") as file:
            found = re.search(r"\b\d{3,}\.\d+(?:\.\d+)*", file.read())
            return found and found[0]
    except OSError:
        return None


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def meet(given):
    """The machine, its copy rate, and whether a fork can use the device."""
    request, why = {"probe": True, "device": given.device}, ""
    for fork in ([] if given.fresh else [True]) + [False]:
        found = stark_child.ask(request, given.out, PROBE_S, fork)
        if found["outcome"] == "ok":
            machine = {name: found.get(name) for name in stark_records.MACHINE}
            machine["device"] = given.device
            if given.device == "cuda":
                machine["driver"] = driver()
            else:
                machine["processor"] = f"{processor()}, {len(os.sched_getaffinity(0))} threads"
            return machine, found.get("copy_gbs"), fork
        why = found["why"]
    raise Problem(why + ("; --device cpu measures on the CPU" if given.device == "cuda" and "GPU" in why else ""))


def say(text):
    print(text, file=sys.stderr, flush=True)


def told(record):
    if record["outcome"] != "ok":
        return f"{record['outcome']}: {record['why']}"
    differs = "" if record.get("agrees", True) else f", differs from eager by up to {record['largest_difference']}"
    return (f"{record['kernelbench']['mean_ms']:.3g} ms (kernelbench), {record['stark']['median_ms']:.4g} ms (stark), "
            f"{record['seconds']:.0f} s in all{differs}")


def measure_all(given, records):
    """Whether all are there. The first variant of every task comes first, so that a
    budget that ends leaves the more telling ones."""
    begin = time.monotonic()
    machine, copy_gbs, fork = meet(given)
    tasks = {stark_subject.digest_of(task): task for task in given.tasks}
    wanted = [(task, {"digest": digest, "variant": variant, "machine": machine})
              for variant in given.variants for digest, task in tasks.items()]
    left = [w for w in wanted if given.again or not records.find(w[1], given.timeout)]
    if len(left) < len(wanted):
        say(f"{len(wanted) - len(left)} of {len(wanted)} are measured already")
    for nth, (task, identity) in enumerate(left, 1):
        if given.budget is not None and time.monotonic() - begin >= given.budget:
            say(f"the budget is spent; {len(left) - nth + 1} of {len(wanted)} are left")
            return False
        name = os.path.splitext(os.path.basename(task))[0]
        request = {"file": os.path.abspath(task), "variant": identity["variant"], "device": given.device}
        found = stark_child.ask(request, given.out, given.timeout, fork)
        if found["outcome"] == "no-device":
            raise Problem(found["why"])
        record = {"task": name, "level": level_of(task), **identity, "timeout_s": given.timeout, "copy_gbs": copy_gbs, **found}
        records.add(record)
        say(f"{nth}/{len(left)} {name}, {identity['variant']}: {told(record)}")
    return True


def lock(folder):
    """Held until this process ends."""
    file = open(os.path.join(folder, ".lock"), "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Problem(f"another command writes to '{folder}'")
    except OSError:  # a file system without locks
        pass
    return file


def interrupted(*_):
    raise KeyboardInterrupt


def run(given):
    os.makedirs(given.out, exist_ok=True)
    given.out = os.path.abspath(given.out)
    held = lock(given.out)
    records = stark_records.Records(given.out)
    stark_child.prepare()
    if not given.fresh:
        try:
            stark_child.load_torch(any(VARIANTS[name][0] for name in given.variants))
        except ImportError:
            raise Problem(f"{sys.executable} has no torch; run this with a Python that has it")
    try:
        done = measure_all(given, records)
    finally:
        if records.all:
            stark_records.write(os.path.join(given.out, "baselines.md"), stark_tables.markdown(records.all))
    print(stark_tables.markdown(records.all), end="")
    held.close()
    return 0 if done else AGAIN


def main():
    given = options()
    for name in [name for name in os.environ if SECRET.search(name)]:
        del os.environ[name]
    signal.signal(signal.SIGTERM, interrupted)
    try:
        code = run(given)
    except Problem as problem:
        say(f"error: {problem}")
        code = FAILED
    except OSError as error:
        say(f"error: {error}")
        code = FAILED
    except KeyboardInterrupt:
        say("interrupted; the same command goes on")
        code = INTERRUPTED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
