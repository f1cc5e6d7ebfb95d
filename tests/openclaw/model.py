#!/usr/bin/env python3
"""A model for tests: answers OpenAI chat completions and Anthropic Messages on loopback, and keeps every request.

Usage: python3 tests/openclaw/model.py DIRECTORY [--port PORT] [--port-file FILE] [--first NUMBER]

Writes each request to DIRECTORY as 001.json, 002.json, … with `path` and `body`. Prints the port, then serves until
it is stopped. What the user said last says what to answer:

  CALL read {"path": "notes.md"}     one tool call; several such lines are several calls; `CALL#id` names its id
  SAY text                           that text
  USAGE 180000                       beside any of these: the tokens that the request is said to have had
  anything else                      `Reply N.`, N being the number of answers so far and this one

A request without tools is for a summary of a conversation: what it quotes is no instruction, and the answer has the headings that both
programs ask for.
"""
import argparse
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CALL = re.compile(r"CALL(?:#(\S+))? (\w+) (\{.*\})")
SAY = re.compile(r"SAY (.*)")
USAGE = re.compile(r"USAGE (\d+)")
HEADINGS = ("Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
SUMMARY = "\n\n".join(f"## {heading}\nNone." for heading in HEADINGS)
LIMIT = 32 * 1024 * 1024


def text_of(content):
    """Returns the text of a message, whether it is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def asked_last(messages):
    """Returns what the user said last, if nothing answered it yet."""
    asked = []
    for message in reversed(messages):
        parts = message.get("content")
        results = isinstance(parts, list) and any(part.get("type") == "tool_result" for part in parts)
        if message.get("role") != "user" or results:
            break
        asked.insert(0, text_of(parts))
    return "\n".join(asked)


def answer_to(body):
    """Returns the text and the tool calls that answer a request, and how many tokens it is said to have had.

    Ids of calls come from the conversation alone, so that two programs get the same ones.
    """
    messages = body.get("messages", [])
    count = 1 + sum(message.get("role") == "assistant" for message in messages)
    if not body.get("tools"):
        return SUMMARY, [], 10
    asked = asked_last(messages)
    usage = USAGE.search(asked)
    tokens = int(usage.group(1)) if usage else 10
    if asked:
        calls = [(name, arguments, given or f"call_{count}_{index}")
                 for index, (given, name, arguments) in enumerate(CALL.findall(asked))]
        if calls:
            return "", calls, tokens
        said = SAY.search(asked)
        if said:
            return said.group(1), [], tokens
    return f"Reply {count}.", [], tokens


def chat_chunks(text, calls, number, tokens):
    """Yields the events of a streamed chat completion."""
    def chunk(delta, finish=None, **more):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": f"c{number}", "object": "chat.completion.chunk", "created": 0, "model": "loopback",
                "choices": [choice], **more}

    yield chunk({"role": "assistant", "content": text})
    for index, (name, arguments, id) in enumerate(calls):
        call = {"index": index, "id": id, "type": "function",
                "function": {"name": name, "arguments": arguments}}
        yield chunk({"tool_calls": [call]})
    usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
    yield chunk({}, "tool_calls" if calls else "stop", usage=usage)


def message_events(text, calls, number, tokens):
    """Yields the events of a streamed Anthropic message."""
    usage = {"input_tokens": tokens, "output_tokens": 1}
    yield {"type": "message_start", "message": {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "loopback", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage}}
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})] if text or not calls else []
    for name, arguments, id in calls:
        blocks.append(({"type": "tool_use", "id": id, "name": name, "input": {}},
                       {"type": "input_json_delta", "partial_json": arguments}))
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use" if calls else "end_turn",
                                              "stop_sequence": None}, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


class Loopback(ThreadingHTTPServer):
    """Serves on loopback and numbers the requests."""
    daemon_threads = True

    def __init__(self, directory, port=0, first=1):
        super().__init__(("127.0.0.1", port), Handler)
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.count = first - 1
        self.lock = threading.Lock()

    def keep(self, path, body):
        """Writes a request down and returns its number."""
        with self.lock:
            self.count += 1
            number = self.count
        record = json.dumps({"path": path, "body": body}, ensure_ascii=False, indent=1)
        (self.directory / f"{number:03}.json").write_text(record, encoding="utf-8")
        return number


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Says nothing: the requests are the log."""

    def send(self, kind, data):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        models = {"object": "list", "data": [{"id": "loopback", "object": "model"}]}
        self.send("application/json", json.dumps(models).encode())

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > LIMIT:
            self.send_error(413)
            return
        body = json.loads(self.rfile.read(length) or b"{}")
        number = self.server.keep(self.path, body)
        text, calls, tokens = answer_to(body)
        if self.path.endswith("/chat/completions"):
            events = list(chat_chunks(text, calls, number, tokens))
            if not body.get("stream"):
                message = {"role": "assistant", "content": text}
                reply = {"id": f"c{number}", "object": "chat.completion", "created": 0, "model": "loopback",
                         "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                         "usage": events[-1]["usage"]}
                self.send("application/json", json.dumps(reply).encode())
                return
            data = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
            self.send("text/event-stream", data.encode())
        elif self.path.split("?")[0].endswith("/messages"):
            events = message_events(text, calls, number, tokens)
            data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self.send("text/event-stream", data.encode())
        else:
            self.send_error(404)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file")
    parser.add_argument("--first", type=int, default=1, help="the number of the first request")
    options = parser.parse_args()
    server = Loopback(options.directory, options.port, options.first)
    port = server.server_address[1]
    if options.port_file:
        Path(options.port_file).write_text(f"{port}\n", encoding="utf-8")
    print(port, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
