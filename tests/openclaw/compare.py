"""Takes two requests apart and says which parts are the same, and of those that are not, the first differing byte.

What belongs to the user is compared byte by byte: files, cuts, markers, the list of skills, history, ids. Sentences of a program are
its own: they are compared by place and length, and never shown.
"""
import re

# Lines that end the files of a workspace in a prompt.
ENDS = ("<!-- OPENCLAW_CACHE_BOUNDARY -->", "<!-- /openclaw:attempt:STABLE -->", "# Dynamic Project Context",
        "## Silent Replies", "## Heartbeats", "## Runtime", "## Assistant Output Directives", "## Temporal Context",
        "## Delegation", "## Messaging", "[Bootstrap truncation warning]")
# Sections on what only the release has: its documentation, updates, control and tools.
OWN_SECTIONS = {"## OpenClaw Self-Update", "## Documentation", "## Memory Recall", "### Deferred Tool Schemas", "## Skill Workshop",
                "## UI Presentation"}
OPENINGS = ("# Project Context", "# Dynamic Project Context")
INTERNAL = ("<!-- OPENCLAW_CACHE_BOUNDARY -->", "openclaw:attempt:")
STAMP = re.compile(r"^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d ([^\]]+)\] ", re.M)
RUNTIME = re.compile(r"^Runtime: .*", re.M)
# What the line about the runtime says of the conversation; the rest is about program and machine.
LINE_FIELDS = ("agent", "session", "sessionId", "channel")
HIDDEN = re.compile(r"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?<<<END_OPENCLAW_INTERNAL_CONTEXT>>>", re.S)
NOTICE = re.compile(r"^\[Bootstrap (?:pending|truncation warning)\](?:\n.+)*", re.M)
SKILL = re.compile(r"<skill>.*?</skill>", re.S)
# What stands for a secret, in either program.
MASK = re.compile(r"\*\*\*|…redacted…|…|\[redacted\]")
# How many characters were cut off the end of a result.
CUT_OFF = re.compile(r"(?<=\n\[\.\.\. )(\d+)(?= more characters truncated)")
# The last line of a page of `read`, by the argument that reads on.
READ_ON = re.compile(r"\n\n\[[^\]\n]*\boffset=\d+[^\]\n]*\]\s*$")
MOST_PAGES = 4


def text_of(content):
    """Returns the text of a message's content, a string or parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or [] if isinstance(part, dict))


def marks_of(blocks):
    """Returns the places, from the end, of the blocks up to which a provider is asked to cache."""
    blocks = blocks if isinstance(blocks, list) else []
    return [at - len(blocks) for at, block in enumerate(blocks) if isinstance(block, dict) and block.get("cache_control")]


def messages_of(body):
    """Returns system text and the other messages in one form, from either wire."""
    given, rest = body.get("system") or "", []
    # Blocks of a system prompt end lines.
    system = given if isinstance(given, str) else "\n".join(text_of([block]) for block in given)
    for message in body.get("messages", []):
        role, content = message["role"], message.get("content")
        if role in ("system", "developer"):
            system += text_of(content)
            continue
        entry = {"role": role, "text": text_of(content), "calls": [], "answers": message.get("tool_call_id"),
                 "cached": marks_of(content)}
        for call in message.get("tool_calls") or []:
            entry["calls"].append((call["id"], call["function"]["name"]))
        for part in content if isinstance(content, list) else []:
            if part.get("type") == "tool_use":
                entry["calls"].append((part["id"], part["name"]))
            if part.get("type") == "tool_result":
                entry["role"], entry["answers"] = "tool", part["tool_use_id"]
                entry["text"] += text_of(part.get("content"))
        rest.append(entry)
    return system, rest


def split_files(system, workspace):
    """Returns the blocks of files, by name, and all other lines of a system prompt."""
    heading = re.compile(r"## (" + re.escape(str(workspace)) + r"/.+|[A-Z]+\.md)$")
    files, rest, pending = [], [], system.split("\n")
    while pending:
        line = pending.pop(0)
        rest.append(line)
        if line not in OPENINGS:
            continue
        # A file may hold any line, those that end the files too; so they count only below the last heading of a file.
        until = next((at for at, later in enumerate(pending) if later in OPENINGS), len(pending))
        starts = [at for at in range(until) if heading.match(pending[at])]
        if not starts:
            continue
        end = next((at for at in range(starts[-1] + 1, until) if pending[at].startswith(ENDS)), until)
        rest += pending[:starts[0]]
        for start, stop in zip(starts, [*starts[1:], end]):
            name = heading.match(pending[start]).group(1).removeprefix(f"{workspace}/")
            files.append((name, "\n".join(pending[start + 1:stop]).rstrip("\n")))
        pending = pending[end:]
    return files, rest


def take_apart(body, workspace):
    """Returns the parts of a request: files, sections, list of skills, notices, history, tools."""
    system, messages = messages_of(body)
    files, rest = split_files(system, workspace)
    sections, skills = [], False
    for line in rest:
        skills = skills and line != "</available_skills>" or line == "<available_skills>"
        if re.match(r"#{1,3} \S", line) and not skills:
            sections.append([line, 0])
        elif sections:
            sections[-1][1] += len(line) + 1
    listed = system.partition("<available_skills>")[2].partition("</available_skills>")[0]
    return {
        "files": files,
        "sections": sections,
        "skills": SKILL.findall(listed),
        "notice": [match.group() for message in [system, *(m["text"] for m in messages)]
                   for match in NOTICE.finditer(message)],
        "internal": [mark for mark in INTERNAL if any(mark in line for line in rest)],
        "runtime": RUNTIME.findall(system),
        "messages": messages,
        "cached": {"system": [bool(block.get("cache_control")) for block in body.get("system") or [] if isinstance(block, dict)],
                   "tools": marks_of(body.get("tools"))},
        "tools": [tool.get("name") or tool["function"]["name"] for tool in body.get("tools", [])],
    }


def first_difference(theirs, ours):
    """Returns the place of the first byte that differs, and what stands there in both."""
    a, b = theirs.encode(), ours.encode()
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    show = lambda data: data[max(0, at - 20):at + 40].decode(errors="replace")
    return {"byte": at, "theirs": show(a), "ours": show(b), "lengths": [len(a), len(b)]}


def finding(part, verdict, whose="", **detail):
    return {"part": part, "verdict": verdict, "whose": whose, **detail}


def meant(part, key, known, whose, **detail):
    """A difference that is explained if `chitin contracts` lists it under `key` for the contract."""
    return finding(part, "explained" if key in known else "differs", whose, key=key, **detail)


def without_boundary(text):
    return text.replace("\n" + INTERNAL[0] + "\n", "\n").removesuffix("\n" + INTERNAL[0])


def compare_files(theirs, ours, known):
    names, our_names = [name for name, _ in theirs], [name for name, _ in ours]
    found = []
    if names != our_names:
        found.append(finding("files", "differs", "order or choice of files", theirs=names, ours=our_names))
    else:
        found.append(finding("files", "same", count=len(names)))
    rest = dict(ours)
    for name, text in theirs:
        if name not in rest or rest[name] == text:
            continue
        detail = first_difference(text, rest[name])
        if INTERNAL[0] in text and without_boundary(text).rstrip("\n") == rest[name]:
            found.append(meant("file", "boundary-in-file", known, name, **detail))
        else:
            found.append(finding("file", "differs", name, **detail))
    return found


def skill_name(entry):
    return (re.search(r"<name>(.*?)</name>", entry, re.S) or ["", "?"])[1]


def compare_skills(theirs, ours, roots):
    """Compares all entries, those that come with the release too. `roots` are the places of the user's own."""
    if theirs == ours:
        return [finding("skills", "same", count=len(theirs))]
    for left, right in zip(theirs, ours):
        if left != right:
            whose = "the user's" if any(root in left for root in roots) else "the release's"
            return [finding("skills", "differs", f"{whose} {skill_name(left)}", **first_difference(left, right))]
    names = [[skill_name(entry) for entry in entries] for entries in (theirs, ours)]
    return [finding("skills", "differs", "which skills are listed", theirs=names[0], ours=names[1])]


def compare_sections(theirs, ours, known):
    """Compares names and order of sections. What stands in them is each program's own."""
    names, our_names = [name for name, _ in theirs], [name for name, _ in ours]
    common = [name for name in names if name in our_names]
    order = [name for name in our_names if name in names]
    found = []
    if common != order:
        found.append(finding("sections", "differs", "order of sections", theirs=common, ours=order))
    only = [[name for name in names if name not in our_names], [name for name in our_names if name not in names]]
    strange = [[name for name in side if name not in OWN_SECTIONS] for side in only]
    if any(strange):
        found.append(finding("sections", "differs", "which sections there are", theirs=strange[0], ours=strange[1]))
    elif any(only):
        found.append(meant("sections", "own-sections", known, "sections on what only one program has",
                           theirs=only[0], ours=only[1]))
    return found or [finding("sections", "same", count=len(names))]


def runtime_fields(match):
    """Keeps of the line about the runtime what it says of the conversation. An id is each program's own."""
    fields = dict(field.split("=", 1) for field in match.group().removeprefix("Runtime: ").split(" | ") if "=" in field)
    kept = [f"{name}={'ID' if name == 'sessionId' else fields[name]}" for name in LINE_FIELDS if name in fields]
    return "{RUNTIME " + " ".join(kept) + "}"


def plain(text):
    """Leaves times, machine facts and a program's own words out of a message, and marks where they were."""
    text = STAMP.sub(r"{TIME \1} ", text)
    text = RUNTIME.sub(runtime_fields, text)
    text = NOTICE.sub("{NOTICE}", text)
    return HIDDEN.sub("{INTERNAL}", text)


def differs_by_masks(theirs, ours):
    """Tells whether two results are the same but for what one of them masks: a mask is a word of the other."""
    def covers(masked, other):
        pieces = MASK.split(masked)
        return len(pieces) > 1 and re.fullmatch(r"\S{1,400}?".join(map(re.escape, pieces)), other) is not None

    return covers(theirs, ours) or covers(ours, theirs)


def differs_by_pages(theirs, ours):
    """Tells whether two results of `read` are the same but for where pages of the release begin and end."""
    page = READ_ON.sub("", theirs)
    if page != theirs:
        return ours.startswith(page.rstrip("\n"))
    cuts = [[int(number) for number in CUT_OFF.findall(side)] for side in (theirs, ours)]
    if len(cuts[0]) != len(cuts[1]) or any(not 0 <= a - b < MOST_PAGES for a, b in zip(*cuts)):
        return False
    theirs, ours = (CUT_OFF.sub("N", side) for side in (theirs, ours))
    for _ in range(MOST_PAGES):
        if theirs == ours:
            return True
        at = next((i for i, (x, y) in enumerate(zip(theirs, ours)) if x != y), min(len(theirs), len(ours)))
        if theirs[at - 1:at + 1] != "\n\n":
            return False
        theirs = theirs[:at] + theirs[at + 1:]
    return False


def compare_results(theirs, ours, tool, known, whose):
    """Compares two results of a tool that are not the same."""
    detail = first_difference(theirs, ours)
    if differs_by_masks(theirs, ours):
        return meant("result", "masked-secrets", known, whose, **detail)
    if tool == "read" and differs_by_pages(theirs, ours):
        return meant("result", "read-pages", known, whose, **detail)
    return finding("result", "differs", whose, **detail)


def compare_messages(theirs, ours, known):
    """Compares roles, words, calls and the pairing of results."""
    found = []
    tools = {id: name for message in theirs for id, name in message["calls"]}
    facts = [sum(plain(message["text"]) == "{INTERNAL}" for message in side) for side in (theirs, ours)]
    if facts[0] != facts[1]:
        found.append(meant("runtime facts", "runtime-facts", known, "a message in the release's own words", counts=facts))
    theirs, ours = ([message for message in side if plain(message["text"]) != "{INTERNAL}"] for side in (theirs, ours))
    for index, (a, b) in enumerate(zip(theirs, ours)):
        whose = f"message {index + 1}, {a['role']}"
        if a["role"] != b["role"]:
            found.append(finding("history", "differs", whose, theirs=a["role"], ours=b["role"]))
            return found
        if [name for _, name in a["calls"]] != [name for _, name in b["calls"]]:
            found.append(finding("history", "differs", f"{whose}: calls", theirs=a["calls"], ours=b["calls"]))
        elif a["calls"] != b["calls"] or a["answers"] != b["answers"]:
            found.append(finding("ids", "differs", whose, theirs=a["calls"] or a["answers"],
                                 ours=b["calls"] or b["answers"]))
        if a["cached"] != b["cached"]:
            found.append(finding("cache", "differs", whose, theirs=a["cached"], ours=b["cached"]))
        if plain(a["text"]) != plain(b["text"]):
            texts = plain(a["text"]), plain(b["text"])
            found.append(compare_results(*texts, tools.get(a["answers"]), known, whose) if a["role"] == "tool"
                         else finding("history", "differs", whose, **first_difference(*texts)))
    if len(theirs) != len(ours):
        longer = max(theirs, ours, key=len)[min(len(theirs), len(ours))]
        found.append(finding("history", "differs", f"number of messages; the next is {plain(longer['text'])[:24]!r}",
                             counts=[len(theirs), len(ours)]))
    if all(f["verdict"] == "explained" for f in found):
        found.append(finding("history", "same", count=len(theirs)))
    return found


def compare(theirs, ours, workspace, roots, known=frozenset()):
    """Compares two requests part by part. `known` are the keys of the differences that the contract lists."""
    a, b = take_apart(theirs, workspace), take_apart(ours, workspace)
    found = compare_files(a["files"], b["files"], known)
    found += compare_skills(a["skills"], b["skills"], roots)
    found += compare_sections(a["sections"], b["sections"], known)
    found += compare_messages(a["messages"], b["messages"], known)
    lines = [[plain(line) for line in one["runtime"]] for one in (a, b)]
    found.append(finding("runtime line", "same") if lines[0] == lines[1]
                 else finding("runtime line", "differs", "in the system prompt", theirs=lines[0], ours=lines[1]))
    counts = [len(a["notice"]), len(b["notice"])]
    found.append(finding("notice", "same") if counts[0] == counts[1]
                 else finding("notice", "differs", "lines about cuts", counts=counts))
    if b["internal"]:
        found.append(finding("internal", "differs", "ours: internal markers on the wire", theirs=a["internal"],
                             ours=b["internal"]))
    elif a["internal"]:
        found.append(meant("internal", "internal-markers", known, "internal markers of the release"))
    if a["cached"] != b["cached"]:
        found.append(meant("cache", "cache-breakpoints", known, "system prompt and tools", theirs=a["cached"], ours=b["cached"]))
    if a["tools"] != b["tools"]:
        found.append(meant("tools", "own-tools", known, "each program has tools of its own",
                           counts=[len(a["tools"]), len(b["tools"])]))
    return found
