"""Exporters that need not load torch: forks of one process that has.

serve(FOLDER) makes a program in FOLDER that `stark-tool import --python` takes for
a Python with torch. It asks this process for a child that runs its arguments, with
its streams, its folder and its environment."""
import json
import os
import runpy
import socket
import sys
import threading
import traceback

CLIENT = """#!@PYTHON@
import json, os, socket, sys
asked = socket.socket(socket.AF_UNIX)
asked.connect(@SOCKET@)
socket.send_fds(asked, [b"streams"], [0, 1, 2])
asked.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
asked.shutdown(socket.SHUT_WR)
sys.exit(int(asked.recv(16) or 1))
"""


def load_torch():
    """All that an export loads; nothing has been computed afterwards."""
    import torch
    import torch.export
    torch.set_num_threads(1)
    torch.export.export(torch.nn.Linear(2, 2), (torch.zeros(1, 2),), strict=False)


def _become(words, folder, environment, streams):
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [word for word in words if word != "-B"]
        sys.path.insert(0, sys.argv[0])
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as done:
        code = done.code or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _answer(asked):
    text = b""
    _, streams, _, _ = socket.recv_fds(asked, len(b"streams"), 3)
    while more := asked.recv(1 << 16):
        text += more
    child = os.fork()
    if child == 0:
        _become(*json.loads(text), streams)
    for stream in streams:
        os.close(stream)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        asked.sendall(str(code & 255).encode())
    except OSError:
        pass  # the client met its deadline
    asked.close()


def serve(folder):
    client, address = os.path.join(folder, "client"), os.path.join(folder, "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(8)
    with open(client, "w") as file:
        file.write(CLIENT.replace("@SOCKET@", repr(address)).replace("@PYTHON@", sys.executable))
    os.chmod(client, 0o755)

    def loop():
        while True:
            threading.Thread(target=_answer, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()
    return client
