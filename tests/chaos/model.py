"""A model server that speaks OpenAI's streaming chat completions over a socket, and fails as it is told to.

Its reply repeats the numbers of the messages that the last user message holds, so that each answer tells which messages it answers.
A message that holds `write FILE` makes it call the tool `write` first.
"""
import json
import random
import re
import socket
import socketserver
import struct
import threading

NUMBER = re.compile(r"\bmsg-(\d+)\b")
WRITE = re.compile(r"\bwrite (\S+\.md)\b")
FAULTS = ("hang", "error", "limit", "cut", "slow", "garbage", "reset")


def numbers(text):
    """Returns the numbers of the messages in a text, in their order."""
    return [int(number) for number in NUMBER.findall(text)]


def reply_to(text):
    """Returns what the model answers."""
    return "heard " + " ".join(f"msg-{number}" for number in numbers(text))


def text_of(content):
    """Returns the text of a message's content: a string or parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content or [] if isinstance(part, dict))


class Model:
    """Listens on the loopback address until it is closed."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._faults = {}
        self._changed = threading.Event()
        self.delay = (0.0, 0.01)
        self.requests = 0
        self.failed = 0
        model = self

        class Handler(socketserver.StreamRequestHandler):
            """One connection, which may ask several times."""

            def handle(self):
                try:
                    while model.answer(self):
                        pass
                except (OSError, ValueError):
                    pass

        class Listener(socketserver.ThreadingTCPServer):
            """A listener whose threads end with the program."""

            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 256

            def handle_error(self, request, client_address):
                """A client that goes away is no error here."""

        self._server = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    def close(self):
        self.heal()
        self._server.shutdown()
        self._server.server_close()

    def fail(self, **faults):
        """Fails from now on: each fault with its probability. Those that hang already go on hanging."""
        assert set(faults) <= set(FAULTS), faults
        with self._lock:
            self._faults = faults

    def heal(self):
        """Answers again; whoever was left hanging is disconnected."""
        with self._lock:
            self._faults = {}
            changed, self._changed = self._changed, threading.Event()
        changed.set()

    def _choose(self):
        with self._lock:
            self.requests += 1
            chance = self._random.random()
            for fault, share in self._faults.items():
                if chance < share:
                    self.failed += 1
                    return fault, self._changed, 0.0
                chance -= share
            return None, self._changed, self._random.uniform(*self.delay)

    def answer(self, handler):
        """Reads a request and answers it. Returns whether another one may follow."""
        line = handler.rfile.readline(65536)
        if not line.strip():
            return False
        length = 0
        while True:
            header = handler.rfile.readline(65536).strip().lower()
            if not header:
                break
            if header.startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        body = json.loads(handler.rfile.read(length))
        # About what real ones count, since sessions are compacted by it.
        size = length // 4
        asked = [text_of(message.get("content")) for message in body["messages"] if message["role"] == "user"]
        wish = body["messages"][-1]["role"] == "user" and asked and WRITE.search(asked[-1])
        fault, changed, delay = self._choose()
        if fault == "hang":
            changed.wait(600)
            return False
        if fault == "reset":
            # No goodbye: the connection is reset.
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
            return False
        if fault in ("error", "limit"):
            return self._refuse(handler, *((500, "server_error") if fault == "error" else (429, "rate_limit")))
        self._pause(delay)
        return self._stream(handler, fault, changed, reply_to(asked[-1] if asked else ""), wish.group(1) if wish else None, size)

    @staticmethod
    def _refuse(handler, status, kind):
        body = json.dumps({"error": {"message": "out of order", "type": kind}}).encode()
        wait = b"retry-after: 1\r\n" if status == 429 else b""
        handler.wfile.write(b"HTTP/1.1 %d Sorry\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n%s"
                            % (status, wait, len(body), body))
        return True

    @staticmethod
    def _pause(seconds, changed=None):
        (changed or threading.Event()).wait(seconds)

    def _stream(self, handler, fault, changed, text, file, size):
        write = handler.wfile.write
        write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")

        def part(data):
            write(b"%x\r\n%s\r\n" % (len(data), data))

        def event(choices, **more):
            whole = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1763200000, "model": "test-model",
                     "choices": choices, **more}
            part(b"data: " + json.dumps(whole).encode() + b"\n\n")

        def delta(words, end=None):
            event([{"index": 0, "delta": {"content": words} if words else {}, "finish_reason": end}])

        if fault == "garbage":
            part(self._random.randbytes(200) + b"\n\ndata: {\"choices\": \"none\"}\n\ndata: {{{\n\n")
            write(b"0\r\n\r\n")
            return True
        if file:
            arguments = json.dumps({"path": file, "content": f"# Written\n\n{text}\n"})
            call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "write", "arguments": arguments}}
            event([{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}])
            event([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}])
            part(b"data: [DONE]\n\n")
            write(b"0\r\n\r\n")
            return True
        middle = len(text) // 2
        delta(text[:middle])
        if fault == "cut":
            return False
        if fault == "slow":
            self._pause(1.0, changed)
        delta(text[middle:])
        delta("", "stop")
        event([], usage={"prompt_tokens": size, "completion_tokens": 10, "total_tokens": size + 10})
        part(b"data: [DONE]\n\n")
        write(b"0\r\n\r\n")
        return True
