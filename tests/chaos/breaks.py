#!/usr/bin/env python3
"""Proves that the suite can fail: breaks each promise on purpose, and checks that the invariant which is about it says so.

What breaks is done to a real server's files, clock or wire, so that what is proved is the whole way from there to the verdict.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from book import INVARIANTS, Violations  # noqa: E402
from disks import Image, with_disk  # noqa: E402
from load import Load  # noqa: E402
from run import program  # noqa: E402
from scenarios import soak  # noqa: E402
from world import Skipped, World  # noqa: E402


def _talked(world, seconds=1.2):
    """A server that has answered something."""
    assert world.start()
    with Load(world, sessions=3):
        time.sleep(seconds)
    world.book.settle(world.server, 20)


def _transcripts(world):
    return sorted(os.path.join(directory, name) for directory, _, names in os.walk(world.home) for name in names
                  if directory.endswith("sessions") and name.endswith(".jsonl") and os.path.getsize(os.path.join(directory, name)))


def _doctor(world, change):
    """Lets something change the lines of each transcript that holds messages, while no server runs."""
    world.server.kill()
    for path in _transcripts(world):
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(change(lines))
    assert world.start()
    world.book.check(world.server, 10)


def _is(line, role):
    return f'"role":"{role}"' in line and "msg-" in line


def lost_jobs(world):
    """The job log vanishes while jobs are open."""
    world.model.fail(hang=1.0)
    assert world.start()
    with Load(world, sessions=3):
        time.sleep(0.8)
        world.server.kill()
    os.unlink(os.path.join(world.home, "gateway", "ledger.jsonl"))
    world.model.heal()
    assert world.start()
    world.book.check(world.server, 10)


def dropped_answer(world):
    """Answers are taken out of the transcripts."""
    _talked(world)
    _doctor(world, lambda lines: [line for line in lines if not _is(line, "assistant")])


def doubled_record(world):
    """A user record stands there twice."""
    _talked(world)

    def double(lines):
        at = next((at for at, line in enumerate(lines) if _is(line, "user")), None)
        if at is not None:
            again = json.loads(lines[at])
            again.update(id="ffffffff", parentId=json.loads(lines[-1])["id"])
            lines.append(json.dumps(again) + "\n")
        return lines

    _doctor(world, double)


def refused_and_done(world):
    """A client is told 503 although its message was accepted."""
    _talked(world)
    for message in list(world.book.messages.values())[:3]:
        message.accepted, message.broken, message.refusals = False, False, [(503, "draining")]
    world.book.check(world.server, 10)


def swapped_records(world):
    """Two user records change places."""
    _talked(world)

    def swap(lines):
        at = [at for at, line in enumerate(lines) if _is(line, "user")]
        if len(at) > 1:
            texts = [re.search(r"(?:msg-\d+ [^\"]*)", lines[one]).group() for one in at[:2]]
            lines[at[0]] = lines[at[0]].replace(texts[0], texts[1])
            lines[at[1]] = lines[at[1]].replace(texts[1], texts[0])
        return lines

    _doctor(world, swap)


def forgotten_keys(world):
    """Outcomes are thrown away, so that a repeat runs again."""
    _talked(world)
    world.server.end()
    os.unlink(os.path.join(world.home, "gateway", "ledger.jsonl"))
    assert world.start()
    world.book.check(world.server, 10)


def unsynced(world):
    """`fdatasync` and `fsync` say that all is well and do nothing, and the power is cut."""
    if not shutil.which("strace"):
        raise Skipped("strace")
    world.server.prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:retval=0"]
    assert world.start()
    with Load(world, sessions=3):
        time.sleep(2)
        world.server.kill()
        world.disk.cut()
    problem = world.disk.back()
    assert problem is None, problem
    world.server.prefix = []
    for name in ("chitin.json5",):
        assert os.path.exists(os.path.join(world.home, name))
    assert world.start()
    world.book.check(world.server, 15)


def silent_damage(world):
    """A transcript is damaged, and what the server and the doctor say about it is not heard."""
    from scenarios import damage
    damage._doctor = lambda world: set()
    damage._noticed = lambda world: []
    damage._told_later = lambda *_: False
    world.server.said = lambda: ""
    world.options.case = "job log:zeros"
    damage.run(world, time.monotonic())


def left_over(world):
    """A file that was never finished appears again and again."""
    _talked(world, 0.3)
    start = world.start

    def start_and_leave():
        done = start()
        with open(os.path.join(world.home, ".sessions.json.99999-1.chitin.tmp"), "w", encoding="utf-8"):
            pass
        return done

    world.start = start_and_leave
    world.tidy()


def panic(world):
    """The server says that it panicked."""
    world.server.prefix = ["sh", "-c", "echo \"thread 'main' panicked at a-file.rs:1:2:\" >&2; exec \"$@\"", "sh"]
    _talked(world, 0.2)
    world.no_panic()


def gone(world):
    """The server ends in the middle."""
    _talked(world, 0.2)
    world.server.signal(signal.SIGKILL)
    world.server.process.wait()
    world.book.check(world.server, 3)


def leak(world):
    """A process whose memory, descriptors and threads grow is sampled in place of the server."""
    code = ("import threading,time\nkept=[]\nprint(1,flush=True)\n"
            "while True:\n kept.append((bytearray(b'x')*400000,open('/dev/null'),threading.Thread(target=time.sleep,args=(60,),daemon=True)))\n"
            " kept[-1][2].start();time.sleep(0.02)\n")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as leaking:
        leaking.stdout.readline()
        soak.LEAST_SECONDS = 0
        samples = []
        for _ in range(30):
            samples.append(soak.sample(leaking.pid, world.home))
            time.sleep(0.1)
        leaking.kill()
    soak.judge(samples, world.violations)
    told = " ".join(violation["what"] for violation in world.violations.found)
    assert all(what in told for what in ("memory", "descriptors", "threads")), told


def growth(world):
    """Recordings take many times what transcripts do."""
    samples = []
    sessions = os.path.join(world.home, "agents", "main", "sessions")
    os.makedirs(sessions)
    for at in range(12):
        for name, size in ((os.path.join(sessions, "one.jsonl"), 500_000), (os.path.join(world.home, "other"), 3_000_000)):
            with open(name, "ab") as file:
                file.write(b"x" * size)
        samples.append(soak.sample(os.getpid(), world.home) | {"at": float(at)})
    soak.judge(samples, world.violations)


# Which invariant says so.
BREAKS = {lost_jobs: "I1", dropped_answer: "I1", doubled_record: "I1", refused_and_done: "I2", swapped_records: "I3", forgotten_keys: "I4",
          unsynced: "I1", silent_damage: "I5", left_over: "I6", panic: "I7", gone: "I7", leak: "I8", growth: "I8"}


def prove(deliberate, expected, options, seed):
    """Returns whether the break was found, and a line about it."""
    violations = Violations()
    kind = with_disk(lambda: Image(64)) if deliberate is unsynced else World
    try:
        with kind(options, violations, f"{seed}:{deliberate.__name__}") as world:
            deliberate(world)
    except Skipped as error:
        return True, f"skipped: {error}"
    found = sorted({violation["invariant"] for violation in violations.found})
    first = next((violation["what"] for violation in violations.found if violation["invariant"] == expected), "")
    return expected in found, f"found by {', '.join(found) or 'nothing'}: {first[:110]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=[deliberate.__name__ for deliberate in BREAKS])
    options = parser.parse_args()
    options.binary, options.keep, options.case, options.strict = program(options.binary), False, None, False
    missing = set(INVARIANTS) - set(BREAKS.values())
    assert not missing, missing
    failed = 0
    for deliberate, expected in BREAKS.items():
        if options.only and deliberate.__name__ not in options.only:
            continue
        found, line = prove(deliberate, expected, options, options.seed)
        failed += not found
        print(f"{'found ' if found else 'MISSED'} {expected} {deliberate.__name__}: {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
