"""request -> a child with a deadline -> what it answered, or how it ended.

A child is a fork of this process, which has torch loaded and touched no device,
so that no measurement waits for the loading; or a fresh Python where a fork
cannot use the device. What a child leaves running is killed."""
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time

import stark_measure

PR_SET_CHILD_SUBREAPER = 36
KILL_S = 30  # a process that uses a device does not end at once
KEPT = 4096  # bytes of what a child says on stderr


def prepare():
    """Orphans of children become ours, to be killed."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def load_torch(compilers):
    """Here, for the forks; what compiles, too, where they want it. A question for GPUs that loading it asks must not begin
    to use one, which a fork could not go on with."""
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    __import__("torch")
    for name in ("torch._dynamo", "torch._inductor.compile_fx") if compilers else ():
        try:
            __import__(name)
        except Exception:  # the variants that need it say why
            pass


def below(root):
    """The processes that `root` started, and those that they did."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found, left = [], [root]
    while left:
        new = children.get(left.pop(), [])
        found += new
        left += new
    return found


def kill_all():
    """Everything that was started from here, and waits for its end."""
    deadline = time.monotonic() + KILL_S
    while time.monotonic() < deadline:
        left = below(os.getpid())
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if not left:
            return
        time.sleep(0.02)


class Child:
    def __init__(self, request, fork):
        self.request = request
        self.end, said = os.pipe()
        os.set_blocking(self.end, False)
        self.said = b""
        self.pid = self._fork(said) if fork else self._fresh(said)
        os.close(said)

    def _fork(self, said):
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            os.setsid()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            nothing = os.open(os.devnull, os.O_RDWR)
            for to, number in ((nothing, 0), (nothing, 1), (said, 2)):
                os.dup2(to, number)
            os.close(self.end)
            stark_measure.answer(self.request)
            status = 0
        finally:
            os._exit(status)

    def _fresh(self, said):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stark_measure.py")
        return subprocess.Popen([sys.executable, "-B", program, json.dumps(self.request)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=said, start_new_session=True).pid

    def listen(self, seconds):
        """Takes what it says, so that it never waits for that."""
        if select.select([self.end], [], [], seconds)[0]:
            heard = os.read(self.end, 1 << 16)
            self.said = (self.said + heard)[-KEPT:]
            if not heard:  # closed; the child may still run
                time.sleep(seconds)

    def wait(self, seconds):
        """The status of its end, or none: then it was too slow."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self.listen(min(left, 0.05))

    def last_line(self):
        lines = self.said.decode("utf-8", "replace").split("\n")
        lines = [" ".join("".join(c if c.isprintable() else " " for c in line).split()) for line in lines]
        return ([line for line in lines if line] or [""])[-1][:300]


def how_it_ended(status):
    code = os.waitstatus_to_exitcode(status)
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def ask(request, folder, seconds, fork):
    """What a child answers: always a record with an outcome."""
    out = os.path.join(folder, f".answer-{os.getpid()}.json")
    request = dict(request, out=out)
    begin = time.monotonic()
    child = Child(request, fork)
    try:
        status = child.wait(seconds)
        kill_all()
        record = read_answer(out)
        if record is None and status is None:
            record = {"outcome": "timed-out", "why": f"did not end within {seconds:g} s (--timeout)"}
        elif record is None:
            said = child.last_line()
            record = {"outcome": "failed", "why": "the process " + how_it_ended(status) + (f": {said}" if said else "")}
        record["seconds"] = round(time.monotonic() - begin, 3)
        return record
    finally:
        kill_all()
        os.close(child.end)
        for name in (out, out + ".new"):
            if os.path.exists(name):
                os.remove(name)


def read_answer(out):
    try:
        with open(out) as file:
            record = json.load(file)
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and "outcome" in record else None
