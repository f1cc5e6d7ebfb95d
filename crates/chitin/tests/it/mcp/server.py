"""A small MCP server for tests: `server.py stdio MARKER`, or `server.py http PORT MARKER`.

Tools: `add`, and `pid`, which says which process answers; and `MORE_TOOLS` others. Every start adds a line to the file `starts` in the current directory.
Over HTTP a session lives as long as the process. A request with another one is turned down as the reference server does it: with
an error that names no request.
"""
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NUMBER = {"type": "number"}
TOOLS = [
    {"name": "add", "description": "Adds two numbers.",
     "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}}},
    {"name": "pid", "description": "Names the process.", "inputSchema": {"type": "object"}},
]
TOOLS += [{"name": f"more{number}", "inputSchema": {"type": "object"}} for number in range(int(os.environ.get("MORE_TOOLS", 0)))]
SESSION = f"session-{os.getpid()}"


def call(name, arguments):
    if arguments.get("flood"):
        return {"content": [{"type": "text", "text": "x" * 20_000_000}]}
    text = f"The sum is {arguments['a'] + arguments['b']}." if name == "add" else f"pid {os.getpid()}"
    return {"content": [{"type": "text", "text": text}]}


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "test", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = call(params["name"], params.get("arguments") or {})
    elif method == "ping":
        result = {}
    else:
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "not known"}}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body=b""):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("mcp-session-id", SESSION)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send(405)

    def do_DELETE(self):
        self.send(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        session = self.headers.get("mcp-session-id")
        if "id" not in message:
            self.send(202)
        elif session is not None and session != SESSION:
            error = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
            self.send(400, json.dumps({"jsonrpc": "2.0", "error": error}).encode())
        else:
            self.send(200, json.dumps(answer(message)).encode())


with open("starts", "a") as starts:
    starts.write(f"{os.getpid()}\n")
if sys.argv[1] == "http":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        print(json.dumps(answer(message)), flush=True)
