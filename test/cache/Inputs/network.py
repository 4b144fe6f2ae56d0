"""Says whether a file can be locked."""
import errno
import fcntl
import tempfile

with tempfile.TemporaryFile() as f:
    try:
        fcntl.flock(f, fcntl.LOCK_EX)
        print("locks")
    except OSError as e:
        print("no locks" if e.errno == errno.ENOLCK else e)
