"""Keeps the user's module to one folder and to so much memory.

landlock, where the kernel has it, refuses every write elsewhere, to this process
and to what it starts. An audit hook sees Python's own writes first, on any
kernel, so that the message can name the file; a module that swallows the refusal
is found out by `breach`."""
import ctypes
import os
import resource
import sys

from stark_problem import Problem

breach = []  # the first write that was refused

# include/uapi/linux/landlock.h
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
WRITE_FILE, TRUNCATE = 1 << 1, 1 << 14
MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))
PR_SET_NO_NEW_PRIVS = 38


class RulesetAttribute(ctypes.Structure):
    _fields_ = [("handled_access_fs", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32)]


def _landlock(folder):
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    handled = WRITE_FILE | MAKE_AND_REMOVE | (TRUNCATE if version >= 3 else 0)
    attribute = RulesetAttribute(handled)
    ruleset = libc.syscall(CREATE_RULESET, ctypes.byref(attribute), ctypes.c_size_t(8), 0)
    if ruleset < 0:
        return False
    for path, access in ((folder, handled), ("/dev", WRITE_FILE), ("/proc", WRITE_FILE)):
        beneath = PathBeneath(access, os.open(path, os.O_PATH | os.O_CLOEXEC))
        libc.syscall(ADD_RULE, ruleset, 1, ctypes.byref(beneath), 0)
        os.close(beneath.parent_fd)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    held = libc.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return held


# Audit events whose first argument is a path that changes; of these the second
# one is, too.
ONE_PATH = {"os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.setxattr"}
TWO_PATHS = {"os.rename", "os.link", "os.symlink"}


def _hook(folder):
    allowed = (folder + os.sep, "/dev/", "/proc/")

    def written(path):
        if isinstance(path, int) or path is None:
            return
        real = os.path.realpath(os.fsdecode(path))
        if real == folder or real.startswith(allowed):
            return
        breach.append(real)
        raise Problem(f"writes '{real}', which is outside the folder that it was given")

    def hook(event, arguments):
        if event == "open":
            flags = arguments[2] if isinstance(arguments[2], int) else 0
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
                written(arguments[0])
        elif event in ONE_PATH:
            written(arguments[0])
        elif event in TWO_PATHS:
            written(arguments[0] if event == "os.rename" else None)
            written(arguments[1])

    return hook


def confine(folder, memory_gib):
    """What is written goes below `folder` from now on. Says what holds that."""
    folder = os.path.realpath(folder)
    scratch = os.path.join(folder, "tmp")
    os.makedirs(scratch, exist_ok=True)
    os.environ["TMPDIR"] = os.environ["TORCHINDUCTOR_CACHE_DIR"] = scratch
    if memory_gib:
        limit = memory_gib << 30
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    held = "landlock, audit" if _landlock(folder) else "audit"
    sys.addaudithook(_hook(folder))
    return held
