"""Goes round Python: only the kernel sees this one."""
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if libc.creat(os.environ["ESCAPE"].encode(), 0o600) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
