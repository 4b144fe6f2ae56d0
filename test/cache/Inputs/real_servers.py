"""Real servers as remotes, for tests.

  real_servers.py redis|nginx|https --stark-cache PROGRAM --stark-tool PROGRAM --examples DIR --work DIR

Each starts a server of its own on a free port, sends it a winner, builds with
it, and sees what a server does that refuses, is full or stands still.
"""
import os
import signal
import socket
import subprocess
import time

import remote


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Started:
    """A server until the end of the block."""

    def __init__(self, words, port):
        self.words, self.port = words, port

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while True:
            assert self.process.poll() is None, self.process.stdout.read().decode()
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.communicate()


def secret(case, name, text):
    path = os.path.join(case.work, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
        f.write(text)
    return path


def fresh(case):
    """Another machine, whose cache is empty."""
    case.number = getattr(case, "number", 0) + 1
    case.work = os.path.join(os.path.dirname(case.work), f"machine{case.number}")
    os.makedirs(case.work)


def tell(what, case, spec):
    fresh(case)
    won, warnings = case.build(spec, 3)
    print(f"{what}: {won} of 3 won, {len(warnings)} warnings", *warnings, sep="\n  ")


def redis(options):
    case, port = remote.Case(options, "redis/first"), free_port()
    good, bad = (secret(case, n, t) for n, t in (("good", remote.TOKEN), ("bad", "wrong")))
    address = f"redis://127.0.0.1:{port}"
    words = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--requirepass", remote.TOKEN, "--dir", case.work]
    with Started(words, port) as server:
        spec = f"{address}/3|timeout=120|basic-file={good}"
        sent = case.send(spec)
        assert sent.returncode == 0, sent.stderr
        tell("redis", case, spec)
        tell("another database", case, f"{address}|timeout=120|basic-file={good}")
        tell("wrong password", case, f"{address}/3|timeout=120|basic-file={bad}")
        tell("no password", case, f"{address}/3|timeout=120")
        client = ["redis-cli", "-p", str(port), "config", "set", "maxmemory", "1"]
        subprocess.run(client, env={**os.environ, "REDISCLI_AUTH": remote.TOKEN}, check=True, capture_output=True)
        fresh(case)
        print("full:", case.send(spec.replace("/3", "/4")).stderr.strip())
        server.process.send_signal(signal.SIGSTOP)
        tell("stopped", case, f"{address}/3|timeout=1|basic-file={good}")


NGINX = """
daemon off; worker_processes 1; error_log stderr; pid {work}/pid;
events {{}}
http {{
  access_log off;
  client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
  server {{
    listen 127.0.0.1:{port}{ssl}; root {work}/files; {tls}
    location /open/ {{ dav_methods PUT; create_full_put_path on; client_max_body_size 32m; }}
    location /small/ {{ dav_methods PUT; create_full_put_path on; client_max_body_size 1k; }}
    location /locked/ {{ dav_methods PUT; create_full_put_path on; auth_basic "team"; auth_basic_user_file {work}/users; }}
    location /read/ {{ alias {work}/files/open/; }}
  }}
}}
"""


def start_nginx(case, port, tls=""):
    conf = os.path.join(case.work, "nginx.conf")
    text = NGINX.format(work=case.work, port=port, tls=tls, ssl=" ssl" if tls else "")
    with open(conf, "w") as f:
        # Its workers are another user where it is started by root.
        f.write(("user root;" if os.geteuid() == 0 else "") + text)
    program = "nginx" if any(os.access(os.path.join(p, "nginx"), os.X_OK) for p in os.environ["PATH"].split(":")) \
        else "/usr/sbin/nginx"
    return Started([program, "-e", "stderr", "-c", conf], port)


def nginx(options):
    case, port = remote.Case(options, "nginx/first"), free_port()
    os.makedirs(os.path.join(case.work, "files"))
    with open(os.path.join(case.work, "users"), "w") as f:
        f.write("me:{PLAIN}" + remote.TOKEN + "\n")
    good, bad = (secret(case, n, t) for n, t in (("good", "me:" + remote.TOKEN), ("bad", "me:wrong")))
    address = f"http://127.0.0.1:{port}"
    with start_nginx(case, port) as server:
        for place, file in (("open", None), ("locked", good)):
            spec = f"{address}/{place}|timeout=120" + (f"|basic-file={file}" if file else "")
            sent = case.send(spec)
            assert sent.returncode == 0, sent.stderr
            tell(place, case, spec)
        tell("wrong password", case, f"{address}/locked|timeout=120|basic-file={bad}")
        tell("read-only", case, f"{address}/read|timeout=120|read-only")
        fresh(case)
        print("too large:", case.send(f"{address}/small|timeout=120").stderr.strip())
        fresh(case)
        print("not writable:", case.send(f"{address}/void|timeout=120").stderr.strip())
        server.process.send_signal(signal.SIGSTOP)
        children = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True).stdout.split()
        for child in children:
            os.kill(int(child), signal.SIGSTOP)
        tell("stopped", case, f"{address}/open|timeout=1")
        for child in children:
            os.kill(int(child), signal.SIGCONT)


def https(options):
    """A team's own certificate: SSL_CERT_FILE names it. Nothing is taken from, nor a password told to, who has another."""
    case, port = remote.Case(options, "https/first"), free_port()
    os.makedirs(os.path.join(case.work, "files"))
    with open(os.path.join(case.work, "users"), "w") as f:
        f.write("me:{PLAIN}" + remote.TOKEN + "\n")
    password = secret(case, "password", "me:" + remote.TOKEN)
    own, other = (os.path.join(case.work, name) for name in ("own", "other"))
    for name, host in ((own, "IP:127.0.0.1"), (other, "DNS:elsewhere.example")):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=" + host, "-keyout", name + ".key",
                        "-out", name + ".pem"], check=True, capture_output=True)
    spec = f"https://127.0.0.1:{port}/locked|timeout=120|basic-file={password}"
    tls = "ssl_certificate {0}.pem; ssl_certificate_key {0}.key;"
    os.environ.pop("SSL_CERT_FILE", None)
    with start_nginx(case, port, tls.format(own)):
        fresh(case)
        print("unknown:", case.send(spec).stderr.strip())
        os.environ["SSL_CERT_FILE"] = own + ".pem"
        sent = case.send(spec)
        assert sent.returncode == 0, sent.stderr
        tell("own", case, spec)
        os.environ["SSL_CERT_FILE"] = other + ".pem"
        tell("another", case, spec)
    port = free_port()
    case.work = os.path.dirname(own)
    spec = f"https://127.0.0.1:{port}/locked|timeout=120|basic-file={password}"
    with start_nginx(case, port, tls.format(other)):
        tell("of another host", case, spec)


if __name__ == "__main__":
    remote.main({"redis": redis, "nginx": nginx, "https": https})
