"""A strict server that speaks like a vendor's, for tests.

  fake_server.py DIALECT SCENARIO[,SCENARIO...] [--log FILE] [--interrupt] -- COMMAND...

Runs COMMAND with {url} replaced by the server's address and {config} by a
configuration file that names it (short pauses, and short time-outs where a
scenario is slow); exits with the command's code. The scenarios answer one
request each, the last all further ones. A request with a field, header or value
that the vendor refuses is answered as the vendor does, whatever the scenario.
DIALECT: anthropic, chat, responses, gemini. Several of them, and several of the
scenarios, with '+' between them: COMMAND runs once for each pair, some at a time
since most wait, each with a server of its own; what they print comes in order,
and all exit with 0 or none. --log: one JSON line a request,
without the key. --interrupt: it gets Ctrl-C when a request hangs; how long it
then took is told. gather:N answers when N requests are there, and tells how many
rounds of N there were.
"""
import concurrent.futures
import email.utils
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

KEY = "marked-key-0123456789"
TEXT = "Use shared memory: 16 \u00d7 16 tiles.\ndata: is no event here"
# What a model that is held to the schema of a plan sends.
PLAN = json.dumps({"advice": "Keep rows in registers: `for (...) { v[i] = row[i]; }`\n\n```cuda\nfloat v[4];\n```",
                   "sites": ["softmax_kernel"], "title": "Rows in registers"})


def parts(kind):
    text = PLAN if kind == "plan" else TEXT
    return [text[:7], text[7:30], text[30:]]


class Refused(Exception):
    def __init__(self, status, kind, message, param=None):
        self.status, self.kind, self.message, self.param = status, kind, message, param


def only(body, allowed, where=""):
    for name in body:
        if name not in allowed:
            raise Refused(400, "invalid_request_error", f"{where}{name}: Extra inputs are not permitted", where + name)


def need(truth, message, param=None):
    if not truth:
        raise Refused(400, "invalid_request_error", message, param)


def is_text(value):
    return isinstance(value, str) and value != ""


def check_schema(schema, param):
    """What the vendors' strict modes take: every object closed, all of its properties required."""
    allowed = {"type", "description", "properties", "required", "additionalProperties", "items", "enum"}
    need(isinstance(schema, dict) and set(schema) <= allowed,
         f"Invalid schema for {param}: {sorted(set(schema) - allowed)} is not permitted", param)
    if schema.get("type") == "object":
        need(schema.get("additionalProperties") is False,
             f"Invalid schema for {param}: 'additionalProperties' is required to be supplied and to be false.", param)
        need(sorted(schema.get("required", [])) == sorted(schema["properties"]),
             f"Invalid schema for {param}: 'required' has to include every key in properties.", param)
        for each in schema["properties"].values():
            check_schema(each, param)
    if schema.get("type") == "array":
        check_schema(schema.get("items"), param)


def check_anthropic(headers, path, body):
    if path != "/v1/messages":
        raise Refused(404, "not_found_error", "Not found")
    if headers.get("x-api-key") != KEY:
        raise Refused(401, "authentication_error", f"invalid x-api-key {headers.get('x-api-key')}")
    version = headers.get("anthropic-version")
    need(version in ("2023-06-01", "2026-10-21"), "anthropic-version: header is required")
    if "output_config" in body:
        need("-old" not in body["model"], "output_config: Extra inputs are not permitted", "output_config")
        only(body["output_config"], {"format", "effort"}, "output_config.")
        form = body["output_config"]["format"]
        only(form, {"type", "schema"}, "output_config.format.")
        need(form["type"] == "json_schema", "output_config.format.type: Input should be 'json_schema'")
        check_schema(form["schema"], "output_config.format")
    fields = {"model", "max_tokens", "system", "messages", "stream", "stop_sequences", "metadata", "output_config"}
    if version == "2023-06-01":
        fields |= {"temperature", "top_p", "top_k"}
    only(body, fields)
    need(isinstance(body.get("max_tokens"), int) and body["max_tokens"] > 0, "max_tokens: Field required", "max_tokens")
    if "temperature" in body:
        need(not body["model"].startswith("claude-opus-5") or body["temperature"] == 1.0,
             "`temperature` is deprecated for this model.", "temperature")
        need(0 <= body["temperature"] <= 1, "temperature: range: 0..1", "temperature")
    marks = 0
    for block in body.get("system", []):
        only(block, {"type", "text", "cache_control"}, "system.")
        need(is_text(block.get("text")), "system: text content blocks must be non-empty")
        marks += "cache_control" in block
    need(body.get("messages"), "messages: at least one message is required")
    need(body["messages"][-1]["role"] == "user", "This model does not support assistant message prefill.")
    for message in body["messages"]:
        only(message, {"role", "content"}, "messages.")
        need(message["role"] in ("user", "assistant"), "messages: role")
        need(message["content"], "messages: content must not be empty")
        for block in message["content"]:
            only(block, {"type", "text", "cache_control"}, "messages.content.")
            need(block["type"] == "text" and is_text(block["text"]), "messages: text content blocks must be non-empty")
            marks += "cache_control" in block
    need(marks <= 4, "A maximum of 4 blocks with cache_control may be provided.")
    return body["model"]


def check_messages(messages):
    need(isinstance(messages, list) and messages, "messages: Missing required parameter", "messages")
    for message in messages:
        only(message, {"role", "content"}, "messages.")
        need(message["role"] in ("system", "user", "assistant"), "messages: invalid role", "messages")
        need(isinstance(message["content"], str), "messages: content must be a string", "messages")


def check_bearer(headers):
    if headers.get("authorization") != "Bearer " + KEY:
        raise Refused(401, "invalid_request_error", "Incorrect API key provided: " + str(headers.get("authorization")))


def check_temperature(body):
    if "temperature" not in body:
        return
    if body["model"].startswith(("gpt-5", "o3")) or body["model"].endswith("-cool"):
        raise Refused(400, "invalid_request_error", "Unsupported value: 'temperature' does not support 0.8 with this model. "
                      "Only the default (1) value is supported.", "temperature")
    need(0 <= body["temperature"] <= 2, "temperature", "temperature")


def check_format(kind, form, param):
    need(kind == "json_schema", f"{param}: type", param)
    need(re.fullmatch("[A-Za-z0-9_-]{1,64}", form.get("name", "")), f"{param}: name", param)
    need(form.get("strict") is True, "the test wants strict: true", param)
    check_schema(form.get("schema"), param)


def check_chat(headers, path, body):
    if path != "/v1/chat/completions":
        raise Refused(404, "invalid_request_error", "Invalid URL (POST " + path + ")")
    check_bearer(headers)
    only(body, {"model", "messages", "max_completion_tokens", "max_tokens", "temperature", "stream", "stream_options",
                "response_format"})
    if body["model"].startswith(("gpt-5", "o3")) and "max_tokens" in body:
        raise Refused(400, "invalid_request_error", "Unsupported parameter: 'max_tokens' is not supported with this model. "
                      "Use 'max_completion_tokens' instead.", "max_tokens")
    if body["model"] == "small-local" and "max_completion_tokens" in body:
        raise Refused(400, "invalid_request_error", "max_completion_tokens is not known", "max_completion_tokens")
    check_temperature(body)
    check_messages(body.get("messages"))
    if "response_format" in body:
        form = body["response_format"]
        need("-old" not in body["model"], "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
             "model.", "response_format")
        only(form, {"type", "json_schema"}, "response_format.")
        only(form["json_schema"], {"name", "strict", "schema", "description"}, "response_format.json_schema.")
        check_format(form["type"], form["json_schema"], "response_format")
    if "stream_options" in body:
        need(body.get("stream"), "stream_options only with stream", "stream_options")
        only(body["stream_options"], {"include_usage", "include_obfuscation"}, "stream_options.")
    return body["model"]


def check_responses(headers, path, body):
    if path != "/v1/responses":
        raise Refused(404, "invalid_request_error", "Invalid URL (POST " + path + ")")
    check_bearer(headers)
    only(body, {"model", "input", "instructions", "max_output_tokens", "temperature", "stream", "store", "text"})
    need(body.get("store") is False, "the test wants store: false", "store")
    need(body["max_output_tokens"] >= 16, "max_output_tokens: minimum 16", "max_output_tokens")
    check_temperature(body)
    check_messages(body["input"])
    if "text" in body:
        only(body["text"], {"format", "verbosity"}, "text.")
        form = body["text"]["format"]
        need("-old" not in body["model"], "Unsupported parameter: 'text.format' of type 'json_schema'", "text.format")
        # Flat, unlike that of chat completions.
        only(form, {"type", "name", "strict", "schema", "description"}, "text.format.")
        check_format(form["type"], form, "text.format")
    return body["model"]


def check_gemini(headers, path, body):
    if not (path.startswith("/v1beta/models/") and path.endswith(":streamGenerateContent?alt=sse")):
        raise Refused(404, "NOT_FOUND", "Requested entity was not found.")
    if headers.get("x-goog-api-key") != KEY:
        raise Refused(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
    only(body, {"systemInstruction", "contents", "generationConfig"})
    config = body["generationConfig"]
    only(config, {"temperature", "maxOutputTokens", "responseMimeType", "responseJsonSchema"}, "generationConfig.")
    if "responseJsonSchema" in config:
        if "-old" in path:
            raise Refused(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at "
                          "'generation_config': Cannot find field.")
        need(config.get("responseMimeType") == "application/json", "responseJsonSchema needs responseMimeType application/json")
        check_schema(config["responseJsonSchema"], "responseJsonSchema")
    for content in body["contents"]:
        only(content, {"role", "parts"}, "contents.")
        need(content["role"] in ("user", "model"), "Please use a valid role: user, model.")
    return path.split("/")[3].split(":")[0]


def sse(data, event=None):
    return (f"event: {event}\n" if event else "") + "data: " + (data if isinstance(data, str) else json.dumps(data)) + "\n\n"


def named(data):
    return sse(data, data["type"])


def anthropic_frames(model, kind):
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 40, "output_tokens": 1}
    frames = [named({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": model,
                                                          "content": [], "stop_reason": None, "usage": usage}}),
              named({"type": "ping"}), ": a comment\n\n", named({"type": "event_of_tomorrow", "x": {}})]
    index = 0
    if kind == "thinking":
        frames += [named({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
                   named({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "SECRET THOUGHT"}}),
                   named({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "abc"}}),
                   named({"type": "content_block_stop", "index": 0})]
        index = 1
    refused = kind == "refusal"
    if not refused and kind != "empty":
        frames.append(named({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}))
        for part in parts(kind):
            frames.append(named({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": part}}))
        frames.append(named({"type": "content_block_stop", "index": index}))
    delta = {"stop_reason": "refusal" if refused else "max_tokens" if kind == "length" else "end_turn", "stop_sequence": None}
    if refused:
        delta["stop_details"] = {"type": "refusal", "category": "frontier_llm", "explanation": "not this"}
    frames += [named({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 25, "input_tokens": None}}),
               named({"type": "message_stop"})]
    return frames


def chat_frames(model, kind):
    def chunk(delta, reason=None, **more):
        return sse({"id": "c", "object": "chat.completion.chunk", "model": model, "usage": None, "obfuscation": "zz",
                    "choices": [{"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}], **more})
    frames = [chunk({"role": "assistant", "content": ""})]
    if kind == "thinking":
        frames.append(chunk({"reasoning_content": "SECRET THOUGHT"}))
    if kind == "refusal":
        frames.append(chunk({"refusal": "not this"}))
    elif kind != "empty":
        frames += [chunk({"content": part}) for part in parts(kind)]
    frames.append(chunk({}, "length" if kind == "length" else "stop"))
    frames.append(sse({"model": model, "choices": [], "usage": {"prompt_tokens": 140, "completion_tokens": 25, "total_tokens": 165,
                                                                "prompt_tokens_details": {"cached_tokens": 40}}}))
    return frames + [sse("[DONE]")]


def responses_whole(model, kind):
    content = [{"type": "refusal", "refusal": "not this"}] if kind == "refusal" else [{"type": "output_text", "text": "".join(parts(kind))}]
    whole = {"id": "resp_1", "object": "response", "model": model, "status": "completed", "error": None, "incomplete_details": None,
             "output": [{"type": "reasoning", "summary": []}] +
                       ([] if kind == "empty" else [{"type": "message", "role": "assistant", "content": content}]),
             "usage": {"input_tokens": 140, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 25,
                       "output_tokens_details": {"reasoning_tokens": 5}}}
    if kind == "length":
        whole.update(status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    return whole


def responses_frames(model, kind):
    frames = [named({"type": "response.created", "sequence_number": 0, "response": {"status": "in_progress"}})]
    if kind not in ("refusal", "empty"):
        frames += [named({"type": "response.output_text.delta", "delta": part}) for part in parts(kind)]
    end = "response.incomplete" if kind == "length" else "response.completed"
    return frames + [named({"type": end, "response": responses_whole(model, kind)})]


def gemini_frames(model, kind):
    usage = {"promptTokenCount": 140, "cachedContentTokenCount": 40, "candidatesTokenCount": 20, "thoughtsTokenCount": 5}
    def part(text, reason=None, **more):
        candidate = {"content": {"role": "model", "parts": [{"text": text, **more}]}}
        if reason:
            candidate["finishReason"] = reason
        return sse({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model})
    if kind == "refusal":
        return [sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 140}})]
    frames = [part("SECRET THOUGHT", thought=True)] if kind == "thinking" else []
    texts = [""] if kind == "empty" else parts(kind)
    frames += [part(text) for text in texts[:-1]]
    return frames + [part(texts[-1], "MAX_TOKENS" if kind == "length" else "STOP")]


def whole_body(dialect, model):
    if dialect == "anthropic":
        return {"type": "message", "role": "assistant", "model": model, "content": [{"type": "text", "text": TEXT}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 100, "output_tokens": 25}}
    if dialect == "chat":
        return {"model": model, "choices": [{"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 140, "completion_tokens": 25}}
    if dialect == "responses":
        return responses_whole(model, "ok")
    return {"candidates": [{"content": {"parts": [{"text": TEXT}]}, "finishReason": "STOP"}], "modelVersion": model}


def error_body(dialect, kind, message, code=None, param=None):
    if dialect == "anthropic":
        error = {"type": kind, "message": message}
        if code:
            error["details"] = {"error_code": code}
        return {"type": "error", "error": error, "request_id": "req_7"}
    if dialect == "gemini":
        return {"error": {"code": 0, "message": message, "status": kind}}
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


CHECKS = {"anthropic": check_anthropic, "chat": check_chat, "responses": check_responses, "gemini": check_gemini}
FRAMES = {"anthropic": anthropic_frames, "chat": chat_frames, "responses": responses_frames, "gemini": gemini_frames}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, kind="application/json", headers=()):
        data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, frames, cut=None, pause=0.0):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("request-id", "req_1")
        self.end_headers()
        data = "".join(frames).encode()
        if cut is not None:
            data = data[:cut]
        pieces = [data[i:i + 1] for i in range(len(data))] if pause == "bytes" else [f.encode() for f in frames] if cut is None else [data]
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            if pause and pause != "bytes":
                time.sleep(pause)

    def finish_stream(self):
        self.wfile.write(b"0\r\n\r\n")

    def do_POST(self):
        server = self.server
        raw = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with server.lock:
            number = server.count
            server.count += 1
        scenario = server.scenarios[min(number, len(server.scenarios) - 1)]
        record = {"path": self.path, "headers": {n: v for n, v in headers.items() if KEY not in v}, "body": json.loads(raw)}
        if server.log:
            with open(server.log, "a") as f:
                f.write(json.dumps(record, sort_keys=True) + "\n")
        try:
            model = CHECKS[server.dialect](headers, self.path, record["body"])
        except Refused as r:
            self.send(r.status, error_body(server.dialect, r.kind, r.message, param=r.param))
            return
        try:
            self.play(scenario, model)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def play(self, scenario, model):
        dialect = self.server.dialect
        name, _, value = scenario.partition(":")
        frames = FRAMES[dialect](model, name)
        if name in ("ok", "thinking", "refusal", "length", "empty", "plan"):
            self.stream(frames)
            self.finish_stream()
        elif name == "crlf":
            self.stream([f.replace("\n", "\r\n") for f in frames])
            self.finish_stream()
        elif name == "bytes":
            self.stream(frames, pause="bytes")
            self.finish_stream()
        elif name == "json":
            self.send(200, whole_body(dialect, model))
        elif name == "midstream":
            bad = error_body(dialect, "overloaded_error", "Overloaded")
            self.stream(frames[:4] + [sse(bad, "error" if dialect in ("anthropic", "responses") else None)])
            self.finish_stream()
        elif name == "cut":
            self.stream(frames, cut=int(value))
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif name == "no-terminal":
            last = {"anthropic": 2, "chat": 3, "responses": 1, "gemini": 1}[dialect]
            self.stream(frames[:-last])
            self.finish_stream()
        elif name == "drop-end":
            self.stream(frames[:-1])
            self.finish_stream()
        elif name == "thought-cut":
            self.stream(FRAMES[dialect](model, "thinking")[:2])
            self.finish_stream()
        elif name == "overloaded":
            self.send(529, error_body(dialect, "overloaded_error", "Overloaded"))
        elif name == "ratelimit":
            after = {"date": lambda: email.utils.formatdate(time.time() + 2, usegmt=True)}.get(value, lambda: value)()
            self.send(429, error_body(dialect, "rate_limit_error", "slow down"), headers=[("retry-after", after)] if value else [])
        elif name == "spend":
            code = "enforced_spend_limit_reached" if dialect == "anthropic" else "insufficient_quota"
            kind = "rate_limit_error" if dialect == "anthropic" else "insufficient_quota"
            self.send(429, error_body(dialect, kind, "spend limit reached", code))
        elif name == "html":
            self.send(502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", "text/html")
        elif name == "overflow":
            self.send(400, error_body(dialect, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum"))
        elif name == "redirect":
            self.send(302, "", headers=[("location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")])
        elif name == "big":
            self.stream(frames[:4])
            piece = (": " + "x" * 65533 + "\n").encode()
            for _ in range(int(value) * 16):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"".join(b"%x\r\n%s\r\n" % (len(f.encode()), f.encode()) for f in frames[4:]))
            self.finish_stream()
        elif name == "trickle":
            self.stream(frames, pause=float(value))
            self.finish_stream()
        elif name == "gather":
            if self.server.gather(int(value)):
                self.stream(frames, pause=0.01)
                self.finish_stream()
            else:
                self.send(400, error_body(dialect, "invalid_request_error", f"fewer than {value} requests came together"))
        elif name == "hang":
            if value == "body":
                self.stream(frames[:2])
            self.server.hanging.set()
            time.sleep(30)
        else:
            self.send(500, error_body(dialect, "api_error", "no scenario " + scenario))

    def do_GET(self):
        if not self.path.endswith("/models"):
            self.send(500, "a redirect was followed")
            return
        scenario = self.server.scenarios[0]
        if "authorization" in self.headers or "x-api-key" in self.headers:
            self.send(500, "a key was sent")
        elif scenario == "hang":
            time.sleep(30)
        elif scenario == "html":
            self.send(200, "<html>a page</html>", "text/html")
        elif scenario == "loading":
            self.send(503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}})
        elif scenario == "locked":
            self.send(401, {"error": {"message": "Invalid API Key"}})
        else:
            ids = ["qwen-coder", "bad\x1b[31mname", "x" * 300, 7] + [f"m{i}" for i in range(20)]
            self.send(200, {"object": "list", "data": [{"id": i, "object": "model"} for i in ids]})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def gather(self, wanted):
        """Holds the caller until `wanted` are held, then lets them all go; false when they never come."""
        with self.together:
            turn = self.held // wanted
            self.held += 1
            self.together.notify_all()
            return self.together.wait_for(lambda: self.held >= (turn + 1) * wanted, timeout=600)


def run(server, command, options, environment, output):
    start = time.monotonic()
    child = subprocess.Popen(command, env=environment, stdout=output, stderr=output and subprocess.STDOUT)
    if "--interrupt" in options:
        server.hanging.wait(60)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
    said = child.communicate()[0]
    if "--interrupt" in options:
        print(f"elapsed {time.monotonic() - start:.1f} s", file=sys.stderr)
    return child.returncode, (said or b"").decode()


def ask(dialect, scenarios, options, command, output=None):
    """Exit code, what was printed if `output` is a pipe, and how many requests came."""
    server = Server(("127.0.0.1", 0), Handler)
    server.dialect, server.scenarios = dialect, scenarios.split(",")
    server.log = options[options.index("--log") + 1] if "--log" in options else None
    server.count, server.lock = 0, threading.Lock()
    server.held, server.together, server.hanging = 0, threading.Condition(), threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    provider, model = {"anthropic": ("anthropic", "claude-sonnet-4-6"), "chat": ("openai", "gpt-4.1"),
                       "responses": ("openai-responses", "gpt-4.1"), "gemini": ("gemini", "gemini-2.5-flash")}[server.dialect]
    slow = any(s.startswith("hang") or s == "trickle:3" for s in server.scenarios)
    waits = {"first_byte_ms": 1500, "idle_ms": 1000, "total_ms": 20000} if slow else {
        "first_byte_ms": 60000, "idle_ms": 30000, "total_ms": 120000}
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "stark.json")
        with open(config, "w") as f:
            json.dump({"version": 1,
                       "providers": {"main": {"provider": provider, "base_url": url, "key": "STARK_TEST_KEY", "connect_ms": 2000,
                                              "tries": 3, "first_pause_ms": 20, **waits}},
                       "roles": {"default": {"provider": "main", "model": os.environ.get("STARK_TEST_MODEL", model)}}}, f)
        environment = dict(os.environ, STARK_TEST_KEY=KEY)
        command = [a.replace("{url}", url).replace("{config}", "config:" + config) for a in command]
        code, said = run(server, command, options, environment, output)
    return code, said, server.count


def main():
    split = sys.argv.index("--")
    options, command = sys.argv[1:split], sys.argv[split + 1:]
    pairs = [(d, s) for d in options[0].split("+") for s in options[1].split("+")]
    if len(pairs) == 1:
        code, _, count = ask(*pairs[0], options, command)
        wanted = pairs[0][1].partition("gather:")[2]
        if wanted:
            print(f"rounds: {count // int(wanted)}", file=sys.stderr)
        print(f"requests: {count}", file=sys.stderr)
        sys.exit(code)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        runs = list(pool.map(lambda pair: ask(*pair, options, command, subprocess.PIPE), pairs))
    for pair, (code, said, count) in zip(pairs, runs):
        print(f"{' '.join(pair)}: exit code {code}\n{said}requests: {count}")
    sys.stdout.flush()
    if len({bool(code) for code, _, _ in runs}) != 1:
        os.abort()  # fails for who wants success and for who wants failure
    sys.exit(runs[0][0])


main()
