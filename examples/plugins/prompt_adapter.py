#!/usr/bin/env python3
"""A workspace adapter: a directory with a PROMPT.md is an agent.

PROMPT.md holds the operating rules. STYLE.md, if present, is the persona. Each skills/NAME/SKILL.md is a skill.
The protocol is described in docs/reference/plugin-protocol.md.
"""

import json
import os
import sys


def read(root, name):
    try:
        with open(os.path.join(root, name), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def title(text):
    """Returns the first heading, which names the agent."""
    for line in text.splitlines():
        if line.startswith("# "):
            return line[2:].strip() or None
    return None


def skills(root):
    directory = os.path.join(root, "skills")
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    paths = [f"skills/{name}/SKILL.md" for name in names]
    return [path for path in paths if os.path.isfile(os.path.join(root, path))]


def initialize(params):
    return {
        "protocolVersion": 1,
        "name": "prompt-adapter",
        "version": "1.0.0",
        "offers": ["adapter"],
        "adapter": {"priority": 50},
    }


def supports(params):
    return {"supports": os.path.isfile(os.path.join(params["root"], "PROMPT.md"))}


def load(params):
    root = params["root"]
    rules = read(root, "PROMPT.md")
    definition = {"operatingRules": rules, "persona": read(root, "STYLE.md"), "skills": skills(root)}
    if title(rules):
        definition["name"] = title(rules)
    return definition


METHODS = {"initialize": initialize, "adapter/supports": supports, "adapter/load": load}


def answer(request):
    method = METHODS.get(request["method"])
    if method is None:
        return {"error": {"code": -32601, "message": "method not found"}}
    try:
        return {"result": method(request["params"])}
    except (OSError, UnicodeDecodeError) as error:
        return {"error": {"code": 1, "message": str(error)}}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request)}), flush=True)
