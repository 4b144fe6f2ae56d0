"""A remote that keeps winners, well or badly, and builds that use it, for tests.

  remote.py CASE --stark-cache PROGRAM --stark-tool PROGRAM --examples DIR --work DIR

Each CASE below is a claim. A build is some look-ups of a source whose winner the
remote has, in an empty cache folder, one after another. Prints "CASE: " and what
came of it. Nothing here depends on how fast the machine is: a server that hangs
does so until it is stopped, and a case ends because Stark gives up.
"""
import argparse
import base64
import gzip
import hashlib
import http.server
import json
import os
import shutil
import re
import socket
import subprocess
import threading

TOKEN = "marked-token-0123456789"
BOMB = gzip.compress(b" " * (64 << 20), 1)  # more than an answer may have
# Enough for any machine; short only where a case waits for it.
TIMEOUT = {"hangs": 1, "drips": 1, "is slow": 1}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, how):
        self.how, self.kept, self.seen, self.stop = how, {}, [], threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}/team"

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer(self):
        server, how = self.server, self.server.how
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        server.seen.append((self.command, self.path, self.headers.get("authorization", "")))
        kept = server.kept.get(self.path)
        if how.startswith("is bazel-remote"):
            self.bazel_remote(body, kept)
        elif how == "hangs":
            server.stop.wait()
        elif how == "drips":
            self.send_response(200)
            self.send_header("content-length", "100000")
            self.end_headers()
            while not server.stop.wait(0.02):
                self.wfile.write(b" ")
        elif how == "is slow" and server.stop.wait(0.7):
            pass
        elif how == "fails":
            self.reply(500, b"broken")
        elif how == "redirects":
            self.reply(302, location=server.elsewhere.url + "/ac/x")
        elif how == "redirects to a file":
            self.reply(302, location="file:///etc/passwd")
        elif how == "wants a token" and self.headers.get("authorization") != "Bearer " + TOKEN:
            self.reply(401)
        elif self.command == "PUT":
            if how == "is full":
                self.reply(507)
            else:
                server.kept[self.path] = body
                self.reply(201)
        elif kept is None:
            self.reply(404)
        elif how == "never ends":
            self.send_response(200)
            self.end_headers()
            while not server.stop.is_set():
                self.wfile.write(b" " * 65536)
        elif how == "is cut":
            self.send_response(200)
            self.send_header("content-length", str(len(kept)))
            self.end_headers()
            self.wfile.write(kept[:10])
            self.close_connection = True
        elif how == "compresses":
            self.reply(200, gzip.compress(kept), content_encoding="gzip")
        elif how == "has a bomb":
            self.reply(200, BOMB, content_encoding="gzip")
        else:
            self.reply(200, kept)

    def bazel_remote(self, body, kept):
        """As server/http.go of bazel-remote 2.4: any instance before ac/ or cas/, names of 64 digits alone, a length
        with what is put, digests of cas/ compared, and with validation what is below ac/ has to be an ActionResult."""
        found = re.fullmatch("/?(.*/)?(ac/|cas/)([a-f0-9]{64})", self.path)
        actions = found and found[2] == "ac/"
        validated = actions and self.server.how != "is bazel-remote"
        if not found:
            self.reply(400, b"resource name must be a SHA256 hash in hex")
        elif self.command == "PUT":
            if self.headers.get("content-length") is None:
                self.reply(400, b"PUT without Content-Length")
            elif validated:
                self.reply(400, b"proto: cannot parse invalid wire-format data")
            elif not actions and hashlib.sha256(body).hexdigest() != found[3]:
                self.reply(500, b"checksums don't match")
            else:
                # The instance is ignored.
                self.server.kept[found[2] + found[3]] = body
                self.reply(200)
        else:
            kept = self.server.kept.get(found[2] + found[3])
            if kept is None:
                self.reply(404, b"Not found\n")
            else:
                self.reply(200, b"" if self.command == "HEAD" else kept, content_type="application/octet-stream")

    do_GET = do_HEAD = do_PUT = answer


def entry_of(server):
    """The path of the entry, and its line as JSON."""
    path = next(p for p in server.kept if "/cas/" in p)
    return path, json.loads(server.kept[path])


def put_entry(server, entry):
    """In the place of the entry, under its own digest, so that only what is in it is wrong."""
    line = json.dumps(entry).encode()
    digest = hashlib.sha256(line).hexdigest()
    index_path = next(p for p in server.kept if "/ac/" in p)
    index = json.loads(server.kept[index_path])
    index["entries"][0]["entry"] = digest
    server.kept = {index_path: json.dumps(index).encode(), "/team/cas/" + digest: line}


def wrong_bytes(server):
    path, _ = entry_of(server)
    server.kept[path] = server.kept[path].replace(b'"name"', b'"nama"')


def wrong_kernel(server):
    _, entry = entry_of(server)
    entry["kernel"] = base64.b64encode(b"int main() {}").decode()
    put_entry(server, entry)


def wrong_name(server):
    _, entry = entry_of(server)
    entry["name"] = "../../escaped.cu"
    put_entry(server, entry)


def wrong_key(server):
    """Whole in itself, but of another source."""
    _, entry = entry_of(server)
    inner = json.loads(entry["entry"])
    inner["key"] = "0" * 64
    del inner["check"]
    text = json.dumps(inner, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    inner["check"] = hashlib.sha256(text.encode()).hexdigest()
    entry["entry"] = json.dumps(inner)
    put_entry(server, entry)


def wrong_index(server):
    for path in server.kept:
        if "/ac/" in path:
            server.kept[path] = b"<html>welcome to the hotel's network</html>"


def deep_index(server):
    for path in server.kept:
        if "/ac/" in path:
            server.kept[path] = b"[" * 1000000


# What the server does, what is done to what it keeps, and whether the winner comes.
FETCH = {
    "good": ("works", None, True),
    "token": ("wants a token", None, True),
    "no-token": ("wants a token", None, False),
    "hang": ("hangs", None, False),
    "drip": ("drips", None, False),
    "slow": ("is slow", None, False),
    "error": ("fails", None, False),
    "redirect": ("redirects", None, False),
    "redirect-file": ("redirects to a file", None, False),
    "endless": ("never ends", None, False),
    "cut": ("is cut", None, False),
    "gzip": ("compresses", None, False),
    "bomb": ("has a bomb", None, False),
    "bytes": ("works", wrong_bytes, False),
    "kernel": ("works", wrong_kernel, False),
    "name": ("works", wrong_name, False),
    "key": ("works", wrong_key, False),
    "index": ("works", wrong_index, False),
    "deep": ("works", deep_index, False),
    "gone": ("works", lambda server: server.kept.pop(entry_of(server)[0]), False),
    "empty": ("works", lambda server: server.kept.clear(), False),
}


class Case:
    def __init__(self, options, name):
        self.options, self.work = options, os.path.join(options.work, name)
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        self.token = os.path.join(self.work, "token")
        with open(os.open(self.token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write(TOKEN + "\n")

    def environment(self, cache, remote):
        return {**os.environ, "STARK_CACHE_DIR": os.path.join(self.work, cache), "STARK_REMOTE": remote}

    def send(self, remote, cache="sender"):
        return subprocess.run([self.options.stark_tool, "cache", "export", "softmax.cu", "--store",
                               os.path.join(self.options.examples, "store"), "--remote"],
                              env=self.environment(cache, remote), capture_output=True, text=True)

    def look_up(self, remote, number=0, cache="user"):
        folder = os.path.join(self.options.examples, "softmax")
        out = os.path.join(self.work, f"out{number}.cu")
        return subprocess.Popen([self.options.stark_cache, "lookup", os.path.join(folder, "softmax.cu"),
                                 "--workload=" + os.path.join(folder, "softmax.workload.json"), "--arch=sm_90",
                                 "--toolkit-version=13.0", "--mode=CACHED", "--output=" + out],
                                env=self.environment(cache, remote), stderr=subprocess.PIPE, text=True), out

    def stats(self, cache="user"):
        folder = os.path.join(self.work, cache, ".stats")
        return {n: os.path.getsize(os.path.join(folder, n)) for n in sorted(os.listdir(folder))}

    def build(self, remote, steps=6, at_once=False):
        """Look-ups: how many got the winner, and the warnings of the remote."""
        running, texts, won = [], [], 0
        for number in range(steps):
            running.append(self.look_up(remote, number))
            if not at_once:
                running[-1][0].wait()
        for process, out in running:
            text = process.communicate()[1]
            assert process.returncode == 0, (process.returncode, text)
            texts.append(text)
            won += "Generated by Stark" in open(out).read()
        assert TOKEN not in "".join(texts)
        return won, [line for text in texts for line in text.splitlines() if "no winner for" not in line]

    def leaves_only_entries(self):
        for folder, folders, files in os.walk(self.work):
            assert not [f for f in folders + files if "escaped" in f or f.startswith(".tmp-")], folder


def fetch(options, name):
    how, damage, comes = FETCH[name]
    case = Case(options, name)
    server, elsewhere = Server("works"), Server("works")
    sent = case.send(server.url)
    assert sent.returncode == 0, sent.stderr
    if damage:
        damage(server)
    server.how, server.elsewhere = how, elsewhere
    server.seen.clear()
    spec = server.url + f"|timeout={TIMEOUT.get(how, 120)}" + ("|bearer-file=" + case.token if name == "token" else "")
    won, warnings = case.build(spec)
    asked = len(server.seen)
    server.stop.set()
    assert won == (6 if comes else 0), (won, warnings)
    assert not elsewhere.seen, elsewhere.seen
    case.leaves_only_entries()
    stats = case.stats()
    if comes:
        assert asked == 2 and stats["remote-hit"] == 1, (asked, stats)
    elif name in ("gone", "empty"):
        assert stats["remote-miss"] == 6, stats
    else:
        # One that failed is not asked again.
        assert stats["remote-failed"] == 1 and asked <= 4, (asked, stats)
        assert stats.get("remote-skipped", 0) + stats.get("remote-miss", 0) == 5, stats
    print(f"{name}: {won} of 6 won, {len(warnings)} warnings", *warnings, sep="\n  ")


def parallel(options):
    """Twelve steps that wait at once for a server that hangs: one warning."""
    case, server = Case(options, "parallel"), Server("hangs")
    won, warnings = case.build(server.url + "|timeout=1", 12, at_once=True)
    server.stop.set()
    print(f"parallel: {won} of 12 won, {len(warnings)} warnings")


def unreachable(options):
    case = Case(options, "unreachable")
    with socket.socket() as s:  # bound and not listening: nobody else gets the port
        s.bind(("127.0.0.1", 0))
        won, warnings = case.build(f"http://127.0.0.1:{s.getsockname()[1]}/team")
    print(f"unreachable: {won} of 6 won, {len(warnings)} warnings")


def full(options):
    """What cannot be stored is said; what is there is fetched all the same."""
    case, server = Case(options, "full"), Server("works")
    assert case.send(server.url).returncode == 0
    kept, server.kept = server.kept, {}
    server.how = "is full"
    sent = case.send(server.url, "user")
    server.kept = kept
    won, warnings = case.build(server.url)
    print(f"full: exit code {sent.returncode}, {sent.stderr.strip()}")
    print(f"full: {won} of 6 won, {len(warnings)} warnings, {case.stats()['remote-failed']} failure")


def two_writers(options):
    """Entries of one key that are sent at once are all kept, and sending again sends nothing."""
    case, server = Case(options, "two-writers"), Server("works")
    assert case.send(server.url).returncode == 0
    before, server.seen = dict(server.kept), []
    assert case.send(server.url, "other").returncode == 0
    assert server.kept == before
    print("two-writers:", " ".join(command for command, _, _ in server.seen))
    refused = case.send(server.url + "|read-only", "third")
    print("two-writers: read-only asked", len(server.seen) - 2, "times:", refused.stderr.strip())


def bazel(options):
    """bazel-remote keeps winners, once it does not ask that all below ac/ is Bazel's own."""
    case, server = Case(options, "bazel"), Server("is bazel-remote")
    assert case.send(server.url).returncode == 0
    paths = {path for _, path, _ in server.seen}
    assert all(re.fullmatch("/team/(ac|cas)/[a-f0-9]{64}", path) for path in paths), paths
    won, warnings = case.build(server.url.replace("/team", "/another/instance"))
    print(f"bazel: {won} of 6 won, {len(warnings)} warnings; asked", " ".join(sorted({c for c, _, _ in server.seen})))
    server.how = "is bazel-remote and validates"
    server.kept = {}
    refused = case.send(server.url, "third")
    print(f"bazel: validated: exit code {refused.returncode}, {refused.stderr.strip()}")


OTHERS = {"bazel": bazel, "parallel": parallel, "unreachable": unreachable, "full": full, "two-writers": two_writers}


def main(others):
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="+")
    for name in ("stark-cache", "stark-tool", "examples", "work"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    for name in options.cases:
        if name in FETCH:
            fetch(options, name)
        else:
            others[name](options)


if __name__ == "__main__":
    main(OTHERS)
