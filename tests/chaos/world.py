"""One round of a scenario: a home and a workspace of its own, a model, a server, and what was sent to it."""
import json
import os
import random
import shutil
import tempfile
import time

from book import Book
from model import Model
from server import NotStarted, Server

FILES = {"AGENTS.md": "# Rules\n\nAnswer each message.\n", "SOUL.md": "Short.\n", "IDENTITY.md": "name: Ada\n",
         "MEMORY.md": "- The larch came on Monday.\n", "board.md": "oak: 3\n"}
# Files that are on their way to another name.
UNFINISHED = (".chitin.tmp", ".next", ".new", ".tmp", ".partial")


class Skipped(Exception):
    """This machine cannot have the scenario. It says why."""


class World:
    """A directory that is removed in the end. `home` may be elsewhere, such as on a file system of its own."""

    def __init__(self, options, violations, seed, home=None):
        self.options, self.violations = options, violations
        self.random = random.Random(seed)
        self.directory = tempfile.mkdtemp(prefix="chitin-chaos-")
        os.chmod(self.directory, 0o755)
        self.home = home or os.path.join(self.directory, ".chitin")
        self.workspace = os.path.join(self.directory, "workspace")
        os.makedirs(self.home, mode=0o700, exist_ok=True)
        os.makedirs(self.workspace)
        for name, text in FILES.items():
            with open(os.path.join(self.workspace, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.model = Model(self.random.random())
        self.book = Book(violations, f"{self.random.randrange(16 ** 8):08x}")
        self.server = Server(options.binary, self.directory, self.home, self.workspace)
        self.configure()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.server.kill()
        self.model.close()
        if self.options.keep:
            print(f"  kept: {self.directory}", flush=True)
        else:
            shutil.rmtree(self.directory, ignore_errors=True)

    def configure(self, **more):
        """Writes `chitin.json5`."""
        provider = {"api": "openai-completions", "baseUrl": self.model.url, "apiKey": "sk-test-not-a-real-key-0123456789",
                    "connectSeconds": 3, "firstByteSeconds": 3, "idleSeconds": 3}
        settings = {"model": "yard/test-model", "providers": {"yard": provider},
                    "models": {"yard/test-model": {"contextWindow": 200000, "maxOutput": 4000}}}
        settings.update(more)
        with open(os.path.join(self.home, "chitin.json5"), "w", encoding="utf-8") as file:
            json.dump(settings, file)
            # What people wrote long ago is on the disk.
            file.flush()
            os.fsync(file.fileno())

    def start(self, *more):
        """Starts the server; that it does is part of I7."""
        try:
            self.server.start(*more)
            return True
        except NotStarted as error:
            self.violations.add("I7", f"the server does not start: {error}")
            return False

    def pause(self, low, high):
        time.sleep(self.random.uniform(low, high))

    # Checks that hold at the end of every scenario.

    def conclude(self, patience=90):
        """Checks I1 to I4, then I6 and I7."""
        self.book.check(self.server, patience)
        self.tidy()
        self.no_panic()

    def no_panic(self):
        for line in self.server.said().splitlines():
            if "panicked at" in line:
                self.violations.add("I7", f"a panic: {line[:400]}")

    def unfinished(self, only_old=False):
        """Returns the files below the home that were never finished."""
        found = []
        for directory, _, names in os.walk(self.home):
            found += [os.path.join(directory, name) for name in names if name.startswith(".") and name.endswith(UNFINISHED)]
        return sorted(found)

    def tidy(self):
        """Checks I6: the server removes at its start what was left an hour ago, so what is left is made older first."""
        if self.server.end() is None:
            self.violations.add("I7", "the server does not end when it is asked to")
        long_ago = time.time() - 7200
        for path in self.unfinished():
            os.utime(path, (long_ago, long_ago), follow_symlinks=False)
        if not self.start():
            return
        if not self.server.wait(lambda: not self.unfinished(), 10):
            self.violations.add("I6", f"unfinished files: {[os.path.relpath(path, self.home) for path in self.unfinished()][:5]}")
        code = self.server.end()
        if code not in (0, None):
            self.violations.add("I7", f"the server ended with {code}: {self.server.said()[-600:]}")
