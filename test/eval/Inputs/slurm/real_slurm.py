#!/usr/bin/env python3
"""real_slurm.py FOLDER COMMAND...: a cluster of Slurm's own for one command.

Two nodes, n1 and n2, on loopback, with a GPU each that is a plain file, in the
partition gpu; daemons and files are this program's, and go with it. COMMAND runs
with SLURM_CONF set. --kill-node ends a node (slurmd, slurmstepd, worker) once its
worker has claimed a job in the folder after it. Prints COMMAND's output, its exit
code, which nodes ran workers, and what is left in the queue.
"""
import argparse
import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

CONFIGURATION = """ClusterName=stark
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=15
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
GresTypes=gpu
SlurmdTimeout=6
KillWait=2
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 Gres=gpu:1
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 Gres=gpu:1
PartitionName=gpu Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""
GPUS = "NodeName=n1 Name=gpu File={folder}/gpu-1\nNodeName=n2 Name=gpu File={folder}/gpu-2\n"


def until(what, condition, seconds=120):
    """Only what never comes is given up."""
    for _ in range(seconds * 20):
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise RuntimeError(f"{what} did not come within {seconds} s")


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def environment_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.variable = f"SLURM_CONF={folder}/slurm.conf"
        self.environment = dict(os.environ, SLURM_CONF=f"{folder}/slurm.conf")
        self.environment["PATH"] += ":/usr/sbin"

    def daemon(self, name, *words):
        def tied():
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # goes with this program

        with open(os.path.join(self.folder, name + ".out"), "wb") as out:
            subprocess.Popen(words, env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=self.folder,
                             start_new_session=True, preexec_fn=tied)

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True).stdout.strip()

    def start(self):
        names = {"folder": self.folder, "ports": free_ports(3), "user": subprocess.check_output(["id", "-un"], text=True).strip()}
        for name, text in (("slurm.conf", CONFIGURATION), ("gres.conf", GPUS), ("gpu-1", ""), ("gpu-2", "")):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text.format(**names))
        os.makedirs(os.path.join(self.folder, "state"))
        munge = os.path.join(self.folder, "munge")
        os.mkdir(munge, 0o755)
        with open(os.open(munge + "/key", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as key:
            key.write(os.urandom(1024))
        self.daemon("munged", "munged", "--foreground", "--force", *(f"--{name}-file={munge}/{name}" for name in ("key", "pid", "log", "seed")),
                    f"--socket={munge}/socket")
        until("munge's socket", lambda: os.path.exists(munge + "/socket"))
        self.daemon("slurmctld", "slurmctld", "-D", "-c")
        for node in ("n1", "n2"):
            self.daemon(node, "slurmd", "-D", "-N", node)
        until("two idle nodes", lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"])

    def processes(self, *variables):
        wanted = [self.variable.encode(), *variables]
        return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()
                and all(variable in environment_of(pid) for variable in wanted)]

    def kill_node(self, spool, running):
        """Ends the node that runs the worker, unless the command has ended."""
        claimed = os.path.join(spool, "claimed")
        until("a claimed job", lambda: running.poll() is not None or
              os.path.isdir(claimed) and any(name[0] != "." for name in os.listdir(claimed)))
        if running.poll() is not None:
            return
        node = self.ask("squeue", "-h", "-t", "RUNNING", "-o", "%N").split()[0]
        workers = self.processes(b"SLURMD_NODENAME=" + node.encode())
        steps = []
        for pid in workers:
            with open(f"/proc/{pid}/stat") as file:
                steps.append(int(file.read().rsplit(")", 1)[1].split()[1]))
        with open(os.path.join(self.folder, node + ".pid")) as file:
            for pid in [int(file.read()), *steps, *workers]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        print("killed a node in the middle of a job")

    def stop(self):
        """Until nothing of it is left."""
        for _ in range(200):
            left = self.processes()
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break
            time.sleep(0.05)
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kill-node", metavar="SPOOL")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # Names of sockets are short.
    cluster = Cluster(tempfile.mkdtemp(prefix="stark-slurm-", dir="/tmp"))
    try:
        cluster.start()
        running = subprocess.Popen(arguments.command, env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if arguments.kill_node:
            cluster.kill_node(arguments.kill_node, running)
        print(running.communicate()[0], end="")
        print("exit code:", running.returncode)
        until("an empty queue", lambda: not cluster.ask("squeue", "-h", "-t", "PENDING,RUNNING"))
        print("the queue is empty")
    except RuntimeError as e:
        print("error:", e)
        print(cluster.ask("squeue"))
        for name in ("munged.out", "slurmctld.log", "n1.log", "n2.log"):
            with contextlib.suppress(OSError), open(os.path.join(cluster.folder, name)) as file:
                print(name + ":", *file.readlines()[-12:])
        sys.exit(1)
    finally:
        cluster.stop()


if __name__ == "__main__":
    main()
