"""A server under test: started, watched, killed. Its processes are known by a mark in their environment, so that one that took
over from another is found too, and nobody else's is ever touched."""
import json
import os
import select
import signal
import subprocess
import time
import uuid

from wire import Broken, Client

MARK = "CHITIN_CHAOS_RUN"
# A debug build on a busy machine.
START = 60


class NotStarted(Exception):
    """The server ended before it listened. It says how."""

    def __init__(self, code, said):
        super().__init__(f"it ended with {code}: {said[-2000:]}")
        self.code, self.said = code, said


class Server:
    """`chitin serve` for one home and one workspace."""

    def __init__(self, binary, directory, home, workspace):
        self.binary, self.directory, self.home, self.workspace = binary, directory, home, workspace
        self.mark = uuid.uuid4().hex
        self.log = os.path.join(directory, "serve.log")
        self.address = self.token = self.process = None
        self.starts = 0
        # Put before the command, such as `setpriv …`.
        self.prefix = []
        self.prepare = None
        # The names of these zones have the sign of what must be added to get to UTC.
        self.zone = f"Etc/GMT{time.gmtime().tm_hour - 12:+d}"

    def environment(self):
        """Nothing of the outer one. It is noon, because sessions are reset at four in the morning."""
        return {"TZ": self.zone, "HOME": self.directory, "CHITIN_HOME": self.home, "CHITIN_WORKSPACE": self.workspace, "PATH": os.environ["PATH"],
                "RUST_BACKTRACE": "1", MARK: self.mark}

    def start(self, *more):
        """Starts it, and waits until it says where it listens."""
        out = os.path.join(self.directory, "serve.out")
        before = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        with open(self.log, "ab") as log, open(out, "wb") as said:
            self.process = subprocess.Popen(
                [*self.prefix, self.binary, "serve", self.workspace, "--listen", "127.0.0.1:0", "--json", *more],
                cwd=self.directory, env=self.environment(), stdin=subprocess.DEVNULL, stdout=said, stderr=log, preexec_fn=self.prepare)
        self.starts += 1
        end = time.monotonic() + START
        while time.monotonic() < end:
            with open(out, "rb") as said:
                told = said.read()
            try:
                address = json.loads(told)["address"].removeprefix("http://")
                host, port = address.rsplit(":", 1)
                self.address = (host, int(port))
                self._read_token()
                return self
            except (ValueError, KeyError, TypeError):
                pass
            if self.process.poll() is not None:
                with open(self.log, "rb") as log:
                    log.seek(before)
                    raise NotStarted(self.process.returncode, log.read().decode("utf-8", "replace"))
            time.sleep(0.01)
        self.kill()
        raise NotStarted(None, f"it did not listen within {START} s")

    def _read_token(self):
        with open(os.path.join(self.home, "server-token"), encoding="utf-8") as file:
            self.token = file.read().strip()

    def client(self, timeout=30):
        return Client(self.address, self.token, timeout)

    def pids(self):
        """Returns the processes of this server that run."""
        found = []
        wanted = f"{MARK}={self.mark}".encode()
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if wanted not in file.read().split(b"\0"):
                        continue
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] in "ZX":
                        continue
                if os.path.samefile(f"/proc/{name}/exe", self.binary):
                    found.append(int(name))
            except OSError:
                continue
        return found

    def pid(self):
        """Returns the process that serves."""
        if self.process and self.process.poll() is None:
            if not self.prefix:
                return self.process.pid
        pids = self.pids()
        return pids[-1] if pids else None

    def signal(self, number):
        pid = self.pid()
        if pid:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def is_running(self):
        return self.process is not None and self.process.poll() is None or bool(self.pids())

    def kill(self):
        """Ends it as a crash would."""
        while pids := self.pids():
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self._reap()
            time.sleep(0.002)
        self._reap()

    def _reap(self):
        if self.process:
            try:
                self.process.wait(0.5)
            except subprocess.TimeoutExpired:
                pass

    def end(self, patience=45):
        """Asks it to end. Returns its exit code, or None where it had to be killed."""
        self.signal(signal.SIGTERM)
        code = None
        if self.process:
            try:
                code = self.process.wait(patience)
            except subprocess.TimeoutExpired:
                pass
        end = time.monotonic() + patience
        while self.pids() and time.monotonic() < end:
            time.sleep(0.02)
        if self.pids():
            code = None
        self.kill()
        return code

    def run(self, *arguments, timeout=120):
        """Runs a command on the same home. Returns its code and what it printed."""
        done = subprocess.run([*self.prefix, self.binary, *arguments], cwd=self.directory, env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=timeout, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def said(self):
        """Returns what all its processes logged."""
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def page(self, path):
        """Returns status and body of a page, or None where nobody answers."""
        try:
            return self.client(10).ask("GET", path)[:2]
        except Broken:
            return None

    def wait(self, what, seconds=60):
        """Waits until something holds. Returns whether it does."""
        end = time.monotonic() + seconds
        while not what():
            if time.monotonic() > end:
                return False
            select.select([], [], [], 0.02)
        return True
