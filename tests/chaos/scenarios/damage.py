"""Files are damaged, of every kind and in every way, and the server is started again.

A home is staged once: sessions with answers, open jobs, recordings, an index of notes, a history of the workspace, an approval, a list of
senders. Each case begins with a copy of it.
"""
import json
import os
import shutil
import stat
import subprocess
import threading
import time

from book import Violations
from model import numbers
from server import NotStarted
from wire import Broken

NOBODY = 65534


def _truncated(path, chance):
    size = os.path.getsize(path)
    os.truncate(path, chance.randrange(size))


def _emptied(path, _):
    os.truncate(path, 0)


def _zeros(path, chance):
    size = os.path.getsize(path)
    start = chance.choice((0, chance.randrange(size)))
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(b"\0" * min(size - start, chance.choice((16, 512, 4096))))


def _flipped(path, chance):
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        at = chance.randrange(size)
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ (1 << chance.randrange(8))]))


def _deleted(path, _):
    os.unlink(path)


def _directory(path, _):
    os.unlink(path)
    os.mkdir(path)


def _fifo(path, _):
    os.unlink(path)
    os.mkfifo(path, 0o600)


def _loop(path, _):
    os.unlink(path)
    os.symlink(os.path.basename(path), path)


def _unreadable(path, _):
    os.chmod(path, 0)


WAYS = {way.__name__[1:]: way for way in (_truncated, _emptied, _zeros, _flipped, _deleted, _directory, _fifo, _loop, _unreadable)}
# Something is in the way: the server waits until it is gone, or puts it aside.
OBSTRUCTED = ("directory", "fifo", "loop", "unreadable")
# Where nothing of the file is left.
GONE = ("emptied", "deleted")

# What is damaged: how it is found below the home.
KINDS = {
    "job log": lambda path: path.endswith("gateway/ledger.jsonl"),
    "session index": lambda path: path.endswith("sessions/sessions.json"),
    "session keys": lambda path: path.endswith("sessions/sessions.keys"),
    "transcript": lambda path: "/sessions/" in path and path.endswith(".jsonl") and ".trajectory" not in path,
    "recording": lambda path: "/logs/" in path,
    "approval": lambda path: "/approvals/" in path,
    "pairing": lambda path: path.endswith("trust/pairing.json"),
    "undo": lambda path: "/undo/" in path and not path.endswith("lock"),
    "memory index": lambda path: "/memory/" in path and path.endswith((".sqlite", ".db")),
    "token": lambda path: path.endswith("server-token"),
    "settings": lambda path: path.endswith("chitin.json5"),
}


# Not promised to be told, and not told at the time of writing. `--strict` asks for it all the same.
SILENT = {
    "approval": "it counts as not given: the owner is asked again",
    "session keys": "a second copy, for an index that is lost",
    "undo": "found out by digest when that content is to be restored",
}


def _needs_telling(kind, way, before, after):
    """Whether somebody has to be told. Where not, this says why."""
    if before == after:
        return False
    if kind == "memory index":
        # A cache: it is made anew.
        return False
    if kind == "undo" and way == "unreadable":
        return True
    if way == "deleted" and kind in ("recording", "approval", "pairing", "session keys", "undo", "token", "settings"):
        # Nothing says that it ever was there. Without its settings a server says which model it uses instead.
        return False
    if way == "emptied" and kind in ("recording", "session keys"):
        return False
    if kind in ("transcript", "recording", "session keys", "session index", "approval", "pairing", "settings", "token") and after is not None:
        # Formats without a checksum: what still is a text of the format cannot be told from one that was written so.
        return not _reads(kind, after)
    return True


def _reads(kind, data):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    if kind == "token":
        return len(text.strip()) >= 16 and text.isprintable() or len(text.strip()) >= 16 and text.strip().isprintable()
    if kind in ("session index", "approval", "pairing", "settings"):
        return _is_json(text)
    lines = text.split("\n")
    # An incomplete last line is what a crash leaves.
    return all(_is_json(line) for line in lines if line) and (text.endswith("\n") or not text)


def _is_json(text):
    try:
        return isinstance(json.loads(text), (dict, list))
    except ValueError:
        return False


def run(world, deadline):
    """Stages a home, and damages one file of it after another."""
    _become_ordinary(world)
    baseline = _stage(world)
    if baseline is None:
        return None
    template = f"{world.home}.template"
    shutil.move(world.home, template)
    cases = [(kind, way) for kind in KINDS for way in WAYS]
    world.random.shuffle(cases)
    if world.options.case:
        cases = [(kind, way) for kind, way in cases if f"{kind}:{way}" == world.options.case]
    done, book = 0, world.book
    world.silent = set()
    for kind, way in cases:
        if time.monotonic() > deadline and done:
            break
        _case(world, book, template, baseline, kind, way)
        done += 1
    notes = {"cases": done}
    if world.silent:
        notes["damaged without a word"] = " and ".join(sorted(world.silent))
    return notes


def _become_ordinary(world):
    """Root may read everything, so permissions would not matter."""
    if os.geteuid() != 0:
        return
    setpriv = shutil.which("setpriv")
    if not setpriv:
        return
    prefix = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    done = subprocess.run([*prefix, world.server.binary, "--version"], capture_output=True, check=False)
    if done.returncode != 0:
        # It is in a directory that others cannot enter.
        world.server.binary = shutil.copy(world.server.binary, os.path.join(world.directory, "chitin"))
    world.server.prefix = prefix
    _own(world, world.directory)


def _own(world, path):
    if not world.server.prefix:
        return
    for directory, _, names in os.walk(path):
        for name in (directory, *(os.path.join(directory, name) for name in names)):
            os.chown(name, NOBODY, NOBODY, follow_symlinks=False)


def _stage(world):
    """Fills a home, and ends with a crash. Returns what is told of it when nothing is damaged."""
    pairing = os.path.join(world.home, "trust", "pairing.json")
    os.makedirs(os.path.dirname(pairing), mode=0o700)
    with open(pairing, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "pending": [], "paired": []}, file)
    os.chmod(pairing, 0o600)
    _own(world, world.home)
    if not world.start():
        return None
    ask = world.server.client()
    for at in range(9):
        _send(world, ask, f"agent:main:old-{at % 3}", wait=True)
    _write(world, ask)
    world.server.run("memory", "search", "larch", "--json")
    world.book.settle(world.server, 30)
    world.model.fail(hang=1.0)
    for session in ("open-0", "open-0", "open-0", "open-1"):
        _send(world, ask, f"agent:main:{session}", wait=False)
    world.server.kill()
    world.model.heal()
    return _doctor(world)


def _send(world, ask, session, wait):
    message = world.book.new(session, "followup")
    status, body, _ = ask.ask("POST", "/api/messages", message.body(wait), message.key)
    if not world.book.hear(message, status, body):
        raise RuntimeError(f"the stage: {status} {body}")


def _write(world, ask):
    """A turn writes files: one is asked about, and allowed always."""
    allowed = threading.Event()

    def answer():
        while not allowed.is_set():
            page = world.server.page("/api/approvals")
            for question in page[1]["pending"] if page else []:
                world.server.client().ask("POST", f"/api/approvals/{question['id']}", {"answer": "always"})
            time.sleep(0.05)

    def listen():
        try:
            world.server.client(20).ask("GET", "/api/events?answers=approvals")
        except Broken:
            pass

    threading.Thread(target=listen, daemon=True).start()
    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    time.sleep(0.3)
    for file in ("notes.md", "SKILLS.md"):
        ask.ask("POST", "/api/messages", {"text": f"write {file}", "session": "agent:main:writer", "wait": True})
    allowed.set()
    thread.join()


def _doctor(world):
    """Returns what `chitin doctor` is not content with."""
    code, out, error = world.server.run("doctor", "--offline", "--json")
    try:
        told = {check["message"] for check in json.loads(out)["checks"] if check["verdict"] not in ("fine", "skipped")}
    except (ValueError, KeyError):
        told = {error}
    return told if code in (0, 1) else told | {f"{code}: {error}"}


def _case(world, book, template, baseline, kind, way):
    world.server.kill()
    shutil.rmtree(world.home, ignore_errors=True)
    shutil.copytree(template, world.home, symlinks=True)
    _own(world, world.home)
    paths = sorted(os.path.join(directory, name) for directory, _, names in os.walk(world.home) for name in names)
    paths = [path for path in paths if KINDS[kind](path) and os.path.getsize(path)]
    if kind == "transcript":
        paths = [path for path in paths if _holds_messages(path)]
    violations = Violations()
    if not paths:
        world.violations.add("I5", f"the stage has no file of the kind `{kind}`")
        return
    path = world.random.choice(paths)
    with open(path, "rb") as file:
        before = file.read()
    WAYS[way](path, world.random)
    after = None
    if way not in ("directory", "fifo", "loop", "unreadable", "deleted"):
        with open(path, "rb") as file:
            after = file.read()
    forked = book.fork(violations)
    forked.lost_records = _excused(kind, way, before, after)
    if kind == "transcript":
        # Without its header a session is refused, which is told, and its jobs wait for the owner.
        header = before.splitlines(keepends=True)[0]
        if way in GONE or after is not None and not after.startswith(header):
            session = next(message.session for message in book.messages.values() if message.number in numbers(before.decode()))
            forked.stuck.add(session)
            forked.lost_records |= {message.number for message in book.messages.values() if message.session == session}
    if kind == "session index" and after and _reads(kind, after):
        # The format has no checksum. An entry that still reads, and names another session or file, has lost its session.
        entries = [json.loads(data) for data in (before, after)]
        changed = {session for session in entries[0] if entries[0][session] != entries[1].get(session)}
        forked.lost_records = {message.number for message in book.messages.values() if message.session in changed}
        forked.stuck |= changed
    if kind == "settings" and (way == "deleted" or after and _reads(kind, after)):
        # Other settings that can be read are another agent, with another model, or one that only repeats what it was given.
        forked.lost_records = set(book.messages)
        forked.stuck = {message.session for message in book.messages.values()}
        world.is_another = True
    else:
        world.is_another = False
    _examine(world, forked, baseline, kind, way, path, before, after, violations)
    for violation in violations.found:
        world.violations.add(violation["invariant"], f"{kind}, {way} ({os.path.relpath(path, world.home)}): {violation['what']}")


def _holds_messages(path):
    with open(path, encoding="utf-8") as file:
        return bool(numbers(file.read()))


def _excused(kind, way, before, after):
    """Returns the numbers of the messages of which a part was destroyed."""
    if kind not in ("job log", "transcript"):
        return set()
    lines = before.splitlines(keepends=True)
    kept = set((after or b"").splitlines(keepends=True)) if way not in GONE else set()
    lost = [line for line in lines if line not in kept]
    return {number for line in lost for number in numbers(line.decode("utf-8", "replace"))}


def _examine(world, book, baseline, kind, way, path, before, after, violations):
    doctor = _doctor(world) - baseline
    logged = len(world.server.said())
    told = [f"doctor: {message}" for message in doctor]
    try:
        world.server.start()
    except NotStarted as error:
        said = error.said.strip()
        if error.code is None or error.code < 0 or not said:
            violations.add("I7", f"it does not start, and says nothing useful: {error}")
        if "hint" not in said and os.path.basename(path) not in said:
            violations.add("I7", f"it does not start, and neither names the file nor hints at what to do: {said[:600]}")
        # Whoever puts the file back loses nothing.
        _put_back(world, path, before)
        try:
            world.server.start()
        except NotStarted as again:
            violations.add("I7", f"it does not start when the file is back: {again}")
            return
        book.lost_records = set()
        told.append("start")
    if way in OBSTRUCTED:
        _use(world, book)
        _serves(world, 1)
        told += _noticed(world)
        if not (os.path.isfile(path) and os.access(path, os.R_OK) and os.stat(path).st_mode & 0o400):
            _put_back(world, path, before)
            book.lost_records = set()
    _use(world, book)
    if world.is_another:
        return
    if not _serves(world, 15):
        violations.add("I7", f"a new session cannot be used: {world.answered}")
    book.check(world.server, 15)
    told += _noticed(world)
    told += [line for line in world.server.said()[logged:].splitlines() if line and "offline model" not in line]
    if _needs_telling(kind, way, before, after) and not told and not _told_later(world, book, baseline):
        if kind in SILENT and not world.options.strict:
            world.silent.add(kind)
        else:
            violations.add("I5", "nobody is told")
    for line in told:
        if "panicked at" in line:
            violations.add("I7", line[:400])


def _use(world, book):
    """A turn in each session: what a session needs is looked at when it is used."""
    for session in sorted({message.session for message in book.messages.values()} | {"agent:main:writer"}):
        try:
            world.server.client(5).ask("POST", "/api/messages", {"text": "And now?", "session": session, "queue": "followup"})
        except Broken:
            pass


def _told_later(world, book, baseline):
    """Some files are looked at when a command uses them."""
    for arguments in (("sessions", "list"), ("trace", "list"), ("changes",), ("undo", "--turn", "1", "--dry-run"), ("approvals",), ("pairing",), ("config", "validate"),
                      *(("trace", "show", session) for session in sorted({message.session for message in book.messages.values()}))):
        code, _, error = world.server.run(*arguments)
        if code not in (0, 1) or error.strip():
            return True
    return bool(_doctor(world) - baseline)


def _noticed(world):
    """Returns what the running server tells of its state."""
    told = []
    page = world.server.page("/ready")
    if page and (page[0] != 200 or page[1].get("status") != "ready"):
        told.append(f"ready: {page[1]}")
    page = world.server.page("/metrics")
    if page and page[0] == 200:
        told += [line for line in page[1].splitlines() if line.startswith(("chitin_job_log_damaged", "chitin_job_log_torn", "chitin_job_log_recreated"))
                 and not line.endswith(" 0")]
    page = world.server.page("/api/status")
    if page and page[0] == 200:
        told += [f"status: {busy['delayed']['reason']}" for busy in page[1]["busy"] if busy.get("delayed")]
    return told


def _serves(world, seconds):
    """Whether somebody new can talk to the agent."""
    world.answered = None
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            status, body, _ = world.server.client(max(2, seconds)).ask("POST", "/api/messages",
                                                          {"text": "Hi.", "session": "agent:main:new", "wait": True, "queue": "followup"})
            world.answered = f"{status} {str(body)[:300]}"
            if status == 200 and body["status"] == "ok":
                return True
        except Broken as error:
            world.answered = str(error)
        time.sleep(0.2)
    return False


def _put_back(world, path, before):
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        pass
    with open(path, "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(before)
    if world.server.prefix:
        os.chown(path, NOBODY, NOBODY)
