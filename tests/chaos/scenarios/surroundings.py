"""What is around a server goes away or misbehaves: directories are deleted or moved, models fail in every way."""
import ctypes
import os
import shutil
import time

from load import Load

AT_FDCWD, RENAME_EXCHANGE = -100, 2
# Below the home. What is deleted is deleted: only what it held is excused.
DELETED = ("gateway", "logs", "memory", "agents/main/undo", "cache", "trust")
MOVED = ("agents/main/sessions", "agents/main", "agents", "workspace")


def deleted(world, deadline):
    """Directories are deleted under a running server, or moved away for a while with something in their place."""
    if not world.start():
        return
    done = []
    with Load(world, pace=(0.0, 0.08)):
        world.pause(0.5, 1.0)
        while time.monotonic() < deadline:
            if world.random.random() < 0.5:
                name = world.random.choice(DELETED)
                shutil.rmtree(os.path.join(world.home, name), ignore_errors=True)
                world.pause(0.1, 0.8)
            else:
                name = world.random.choice(MOVED)
                _away(world, world.workspace if name == "workspace" else os.path.join(world.home, name))
            done.append(name)
            if not world.server.is_running():
                world.violations.add("I7", f"the server is gone without {name}: {world.server.said()[-1500:]}")
                return
            # That the job log is gone is noticed with the next write, and a crash before it is one fault too many.
            if world.random.random() < 0.15 and os.path.exists(os.path.join(world.home, "gateway", "ledger.jsonl")):
                world.server.kill()
                if not world.start():
                    return
    world.conclude()
    return {"directories": len(done)}


def _away(world, path):
    """Puts a file in the place of a directory, and the directory back, each at one instant: nothing else can come to be there."""
    away = f"{path}.away"
    if not os.path.isdir(path):
        return
    with open(away, "w", encoding="utf-8") as file:
        file.write("a file in the way")
    _exchange(path, away)
    world.pause(0.1, 1.0)
    _exchange(path, away)
    os.unlink(away)


def _exchange(one, other):
    library = ctypes.CDLL(None, use_errno=True)
    if library.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), one)


def models(world, deadline):
    """The model hangs, fails, refuses, breaks off, is slow or talks garbage, in any mixture, and is well again."""
    if not world.start():
        return
    mixtures = ({"hang": 1.0}, {"error": 1.0}, {"limit": 1.0}, {"cut": 1.0}, {"garbage": 1.0}, {"reset": 1.0}, {"slow": 0.5},
                {"hang": 0.2, "error": 0.2, "cut": 0.2, "garbage": 0.1, "slow": 0.2}, {"cut": 0.5, "reset": 0.3}, {"hang": 0.3, "limit": 0.5})
    with Load(world, sessions=8, pace=(0.0, 0.1), retry_seconds=(None, None, None, 0, 2)):
        while time.monotonic() < deadline:
            world.model.fail(**world.random.choice(mixtures))
            world.pause(0.5, 2.5)
            if world.random.random() < 0.15:
                world.server.kill()
                if not world.start():
                    return
            if world.random.random() < 0.5:
                world.model.heal()
                world.pause(0.2, 1.0)
    world.model.heal()
    world.conclude()
    return {"requests that failed": world.model.failed}
