#!/usr/bin/env python3
"""A context engine: the model sees the first message and the newest ones, and is told how many were left out.

The protocol is described in docs/reference/plugin-protocol.md. Methods that this engine does not have are answered with
-32601; Chitin then does what it does without a plugin.
"""

import json
import sys

# How many of the newest messages are sent.
NEWEST = 8


def initialize(params):
    return {
        "protocolVersion": 1,
        "name": "window-engine",
        "version": "1.0.0",
        "offers": ["contextEngine"],
        "contextEngine": {"ownsCompaction": False},
    }


def assemble(params):
    messages = params["messages"]
    # A result without its call is refused by providers, so the window begins at a message of the user.
    start = max(0, len(messages) - NEWEST)
    while start > 0 and messages[start]["role"] != "user":
        start -= 1
    first = [0] if start > 0 and messages[0]["role"] == "user" else []
    kept = first + list(range(start, len(messages)))
    result = {"messages": kept}
    left_out = len(messages) - len(kept)
    if left_out > 0:
        result["systemPromptAddition"] = (
            f"Earlier messages of this conversation that are not shown: {left_out}. Ask if you need them."
        )
    return result


METHODS = {"initialize": initialize, "engine/assemble": assemble}


def answer(request):
    method = METHODS.get(request["method"])
    if method is None:
        return {"error": {"code": -32601, "message": "method not found"}}
    return {"result": method(request["params"])}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request)}), flush=True)
