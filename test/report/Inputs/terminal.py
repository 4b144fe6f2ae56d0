"""terminal.py COLUMNS[,COLUMNS...] COMMAND...: runs COMMAND with a terminal of
so many columns and 24 rows for its standard error, made narrower or wider once
a block was drawn, and prints what is on the screen in the end. Fails when the
command does, when a line is wider than the terminal, or when it is sent what
would do anything but draw a block."""
import fcntl
import os
import pty
import re
import struct
import sys
import termios

widths = [int(w) for w in sys.argv[1].split(",")]
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, widths[0], 0, 0))
    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
    os.execvp(sys.argv[2], sys.argv[2:])

sent, at = b"", 0
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    sent += part
    if b"\x1b[J" in sent and at + 1 < len(widths):
        at += 1
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, widths[at], 0, 0))
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

screen, row, column = [""], 0, 0
for token in re.findall(r"\x1b\[\d*[A-Z]|\r|\n|[^\x1b\r\n]+|\x1b.?", sent.decode()):
    if token == "\r":
        column = 0
    elif token == "\n":
        row += 1
        if row == len(screen):
            screen.append("")
    elif token.endswith("A") and token.startswith("\x1b["):
        row = max(0, row - int(token[2:-1]))
    elif token == "\x1b[K":
        screen[row] = screen[row][:column]
    elif token == "\x1b[J":
        del screen[row + 1:]
        screen[row] = screen[row][:column]
    else:
        assert "\x1b" not in token and all(c.isprintable() for c in token), repr(token)
        screen[row] = screen[row][:column].ljust(column) + token + screen[row][column + len(token):]
        column += len(token)
        assert column <= max(widths), repr(token)
print("\n".join(screen))
print("widest", max(map(len, screen)))
sys.exit(code)
