"""The server is killed, ended and restarted at random instants."""
import os
import signal
import time

from load import Load


def kill(world, deadline):
    """`kill -9` at random instants, also in the middle of a start."""
    world.model.delay = (0.0, world.random.choice((0.01, 0.2)))
    if not world.start():
        return
    with Load(world):
        while time.monotonic() < deadline:
            world.pause(0.02, 1.0)
            world.server.kill()
            if not world.start():
                return
    world.conclude()


def term(world, deadline):
    """SIGTERM, sometimes twice, sometimes a kill before it is done."""
    world.model.delay = (0.0, world.random.choice((0.01, 0.3)))
    if not world.start():
        return
    with Load(world):
        while time.monotonic() < deadline:
            world.pause(0.05, 1.0)
            world.server.signal(signal.SIGTERM)
            what = world.random.random()
            if what < 0.2:
                world.pause(0.0, 0.2)
                world.server.signal(signal.SIGTERM)
            elif what < 0.4:
                world.pause(0.0, 0.2)
                world.server.kill()
            if world.server.end() is None and what >= 0.4:
                world.violations.add("I7", "the server does not end when it is asked to")
            if not world.start():
                return
    world.conclude()


# What a server says that is about to end.
AWAY = ("draining", "full")
BROKEN = ("{ server: ", "{ server: { port: 'x' } }", "", "\0" * 64, "[]", "{ providers: 7 }")


def hangup(world, deadline):
    """SIGHUP under load, and now and then with a configuration that cannot serve: then the server goes on as it was."""
    if not world.start():
        return
    settings = os.path.join(world.home, "chitin.json5")
    token = os.path.join(world.home, "server-token")
    restarts = 0
    with Load(world):
        while time.monotonic() < deadline:
            world.pause(0.05, 0.6)
            what = world.random.random()
            if what < 0.5:
                world.server.signal(signal.SIGHUP)
            elif what < 0.8:
                _with(settings, world.random.choice(BROKEN), lambda: (world.server.signal(signal.SIGHUP), world.pause(0.1, 0.8)))
            elif what < 0.9:
                _with(token, world.random.choice(("", "\0" * 32, "short")), lambda: (world.server.signal(signal.SIGHUP), world.pause(0.1, 0.8)))
            else:
                # Several at once.
                for _ in range(world.random.randrange(2, 5)):
                    world.server.signal(signal.SIGHUP)
                    world.pause(0.0, 0.05)
            restarts += 1
            if not world.server.is_running():
                world.violations.add("I7", f"the server is gone after SIGHUP: {world.server.said()[-1500:]}")
                return
    # While its configuration is broken an agent refuses messages; a restart must not.
    refused = [message for message in world.book.messages.values() if any(code in AWAY for _, code in message.refusals)]
    if refused:
        world.violations.add("I7", f"{len(refused)} of {len(world.book.messages)} messages were turned away in {restarts} restarts: "
                                   f"{refused[0].refusals[:3]}")
    world.conclude()


def _with(path, text, do):
    """Does something while a file has another content, written as an editor does."""
    with open(path, "rb") as file:
        before = file.read()
    _replace(path, text.encode())
    try:
        do()
    finally:
        _replace(path, before)


def _replace(path, data):
    beside = f"{path}.edited"
    with open(beside, "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)
    os.replace(beside, path)
