"""The machine fails: power, room, descriptors, system calls. Then it has everything again."""
import os
import resource
import shutil
import signal
import subprocess
import time

from load import Load
from world import Skipped


def power(world, deadline):
    """The power is cut at random instants: only what was synced is on the disk afterwards."""
    if not world.start():
        return
    cuts = 0
    with Load(world):
        while time.monotonic() < deadline:
            world.pause(0.1, 1.2)
            # A machine without power says nothing more. A server that outlived its disk would: the kernel tells some of its last
            # syncs that all is well, and others that failed are on the disk all the same.
            world.server.kill()
            world.disk.cut()
            problem = world.disk.back()
            if problem:
                raise RuntimeError(f"the image cannot be mounted again: {problem}")
            cuts += 1
            if not world.start():
                return
    world.conclude()
    return {"cuts": cuts}


def full(world, deadline):
    """The disk fills to the last byte, in steps of any size, and there is room again."""
    if not world.start():
        return
    ballast = os.path.join(world.disk.path, "ballast")
    times = 0
    with Load(world, sessions=6):
        while time.monotonic() < deadline:
            world.pause(0.1, 0.8)
            _fill(ballast, leave=world.random.choice((0, 0, 1000, 9000, 40000)))
            times += 1
            world.pause(0.3, 1.5)
            if world.random.random() < 0.2:
                world.server.kill()
                os.unlink(ballast)
                if not world.start():
                    return
            else:
                os.unlink(ballast)
    world.conclude()
    return {"filled": times}


def _fill(path, leave):
    """Takes all room but some bytes."""
    with open(path, "ab", buffering=0) as file:
        for size in (1 << 16, 4096, 512):
            try:
                while file.write(b"\0" * size) == size:
                    pass
            except OSError:
                pass
        if leave:
            file.truncate(max(0, os.fstat(file.fileno()).st_size - leave))


def limits(world, deadline):
    """Few descriptors, and a largest size of files, which makes writes short: both for a while, under a running server."""
    # What a limit of the size sends; programs that do not ask for it end.
    world.server.prepare = lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if not world.start():
        return
    short = 0
    with Load(world, sessions=8):
        while time.monotonic() < deadline:
            world.pause(0.1, 0.7)
            pid = world.server.pid()
            if world.random.random() < 0.5:
                kind = resource.RLIMIT_NOFILE
                limit = len(os.listdir(f"/proc/{pid}/fd")) + world.random.randrange(0, 6)
            else:
                kind = resource.RLIMIT_FSIZE
                # Somewhere in the middle of what is about to be written.
                limit = _sizes(world.home, world.random) + world.random.randrange(1, 3000)
                short += 1
            before = resource.prlimit(pid, kind)
            resource.prlimit(pid, kind, (limit, before[1]))
            world.pause(0.2, 1.2)
            resource.prlimit(pid, kind, before)
            if not world.server.is_running():
                world.violations.add("I7", f"the server is gone: {world.server.said()[-1500:]}")
                return
    world.conclude()
    return {"short writes": short}


def _sizes(home, chance):
    """Returns the size of some file that is written to."""
    sizes = []
    for directory, _, names in os.walk(home):
        for name in names:
            if name.endswith((".jsonl", ".json", ".keys")):
                try:
                    sizes.append(os.path.getsize(os.path.join(directory, name)))
                except OSError:
                    pass
    return chance.choice(sizes) if sizes else 1000


# Calls that fail, how, and whether they may fail on anything that is open. Where not, only files of the home are meant: a program
# cannot be asked to live without the descriptors with which it wakes itself.
CALLS = (
    ("write", ("EIO", "ENOSPC", "EINTR", "EDQUOT"), False),
    ("pwrite64", ("EIO", "ENOSPC", "EINTR"), False),
    ("fdatasync", ("EIO", "ENOSPC", "EINTR"), True),
    ("fsync", ("EIO", "EINTR"), True),
    ("openat,openat2,open", ("EMFILE", "ENFILE", "EINTR", "EIO", "EACCES", "ENOSPC"), True),
    ("renameat,renameat2,rename", ("EIO", "ENOSPC", "EACCES"), True),
    ("linkat", ("EIO", "ENOSPC", "EMLINK"), True),
    ("ftruncate", ("EIO", "EINTR"), True),
    ("fallocate", ("ENOSPC", "EINTR"), True),
    ("unlinkat,unlink", ("EIO", "EACCES"), True),
    ("mkdirat,mkdir", ("ENOSPC", "EACCES"), True),
    ("read,pread64", ("EIO", "EINTR"), False),
    ("newfstatat,statx,fstat", ("EIO",), False),
    ("flock", ("EINTR", "ENOLCK"), True),
    ("accept4", ("EMFILE", "ENFILE", "ECONNABORTED"), True),
    ("clone3,clone", ("EAGAIN",), True),
)


def inject(world, deadline):
    """`strace` lets system calls of the running server fail, some or all of them, for a while."""
    tracer = shutil.which("strace")
    if not tracer:
        raise Skipped("strace")
    probe = subprocess.run([tracer, "-f", "-e", "trace=none", "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        raise Skipped(f"the right to trace a process ({probe.stderr.strip().splitlines()[-1:]})")
    if not world.start():
        return
    said = []
    with Load(world, sessions=6):
        world.pause(0.5, 1.0)
        while time.monotonic() < deadline:
            names, errors, everywhere = world.random.choice(CALLS)
            error = world.random.choice(errors)
            when = world.random.choice(("1+", "1+2", "2+3", "3+7")) if error != "EINTR" else world.random.choice(("1+2", "2+3", "3+7"))
            command = [tracer, "-f", "-qq", "-o", "/dev/null", "-e", f"inject={names}:error={error}:when={when}"]
            if not everywhere:
                for path in _files(world.home):
                    command += ["-P", path]
            said.append(f"{names}:{error}:{when}")
            with subprocess.Popen([*command, "-p", str(world.server.pid())], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as strace:
                world.pause(0.3, 1.5)
                strace.send_signal(signal.SIGINT)
            world.pause(0.1, 0.4)
            if not world.server.is_running():
                world.violations.add("I7", f"the server is gone after {said[-1]}: {world.server.said()[-1500:]}")
                return
    before = len(world.violations.found)
    world.conclude()
    if len(world.violations.found) > before:
        world.violations.add("I7", f"it was injected, in this order: {said}")
    return {"injections": len(said)}


def _files(home):
    """Returns the files of a home that are written to, and names that are about to be."""
    found = []
    for directory, _, names in os.walk(home):
        for name in names:
            if name.endswith((".jsonl", ".json", ".keys", ".next")) or name == "index":
                found.append(os.path.join(directory, name))
        if directory.endswith("sessions"):
            found.append(os.path.join(directory, ".sessions.json.next"))
    return found[:400]
