"""Runs turns of a real OpenClaw release, and of Chitin, against the same loopback model, in a home of their own."""
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

NODE = "24"
# Later ones need a package that not every registry has.
OVERRIDES = {"linkedom": "0.18.12"}
TURN_SECONDS = 180
INSTALL_SECONDS = 900


class Failed(Exception):
    """What could not be done, as a sentence."""


def run(command, seconds, **options):
    """Runs a command in a process group of its own, which is gone when this returns. Returns exit code and output."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", start_new_session=True, **options)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        raise Failed(f"`{Path(command[0]).name}` took longer than {seconds} seconds.") from None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def install(cache, name, version, node=None):
    """Installs a package below the cache unless it is there, and returns its directory.

    With `node`, npm runs on that one: it leaves out optional parts that do not suit the Node it runs on. Scripts of packages run
    only without it, to set up Node itself.
    """
    place = Path(cache) / f"{name}-{version}"
    package = place / "node_modules" / name
    if (place / "installed").exists():
        return package
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"private": True, "overrides": OVERRIDES}))
    flags = ["--ignore-scripts"] if node else []
    path = f"{node}:{os.environ['PATH']}" if node else os.environ["PATH"]
    code, output = run(["npm", "install", "--no-audit", "--no-fund", "--omit=dev", *flags, f"{name}@{version}"],
                       INSTALL_SECONDS, cwd=place, env={**os.environ, "PATH": path})
    if code:
        raise Failed(f"`npm install {name}@{version}` failed:\n{output[-2000:]}")
    extensions = package / "dist" / "extensions"
    if list(package.glob("dist/bundled-runtime-deps-*")):
        # These releases install the dependencies of bundled extensions with npm in the middle of a turn.
        for extension in extensions.iterdir():
            if extension.name != "node_modules" and not extension.name.endswith("-core"):
                shutil.rmtree(extension)
        shutil.rmtree(extensions / "memory-core", ignore_errors=True)
    (place / "installed").touch()
    return package


def mark_repository(source, copy):
    """Makes a copy a repository of the same name, without history, if its source is one."""
    if not (source / ".git" / "HEAD").is_file():
        return
    for name in ("objects", "refs"):
        (copy / ".git" / name).mkdir(parents=True, exist_ok=True)
    for name in ("HEAD", "config"):
        if (source / ".git" / name).is_file():
            shutil.copyfile(source / ".git" / name, copy / ".git" / name)


class Stage:
    """A home and a workspace at fixed paths, so that both programs see the same names and lengths."""

    def __init__(self, root, workspace, api, window, port, zone="UTC"):
        self.root, self.source = Path(root), Path(workspace)
        self.original, self.zone = self.source, zone
        self.home, self.workspace = self.root / "home", self.root / "workspace"
        base = f"http://127.0.0.1:{port}" + ("/v1" if api == "openai-completions" else "")
        model = {"id": "loopback", "name": "loopback", "reasoning": False, "input": ["text"],
                 "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                 "contextWindow": window, "maxTokens": 8192}
        self.config = {
            "models": {"mode": "replace", "providers": {
                "loop": {"baseUrl": base, "apiKey": "loopback", "api": api, "models": [model]}}},
            "plugins": {"enabled": False},
            "agents": {"defaults": {"workspace": str(self.workspace), "model": {"primary": "loop/loopback"},
                                    "userTimezone": zone}},
        }

    def lay_out(self, seeded=()):
        """Makes both directories as they were at the start; `seeded` are files to add where they are absent."""
        shutil.rmtree(self.root, ignore_errors=True)
        (self.home / ".openclaw").mkdir(parents=True)
        (self.home / ".openclaw" / "openclaw.json").write_text(json.dumps(self.config, indent=1))
        shutil.copytree(self.source, self.workspace, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        mark_repository(self.source, self.workspace)
        # A migration moves the set-up state into a database of the release; ours reads it where it was.
        if self.source != self.original and (self.original / ".openclaw").is_dir():
            shutil.copytree(self.original / ".openclaw", self.workspace / ".openclaw", dirs_exist_ok=True)
        for name, data in seeded:
            if not os.path.lexists(self.workspace / name):
                (self.workspace / name).parent.mkdir(parents=True, exist_ok=True)
                (self.workspace / name).write_bytes(data)

    def seeded(self):
        """Returns the files that a release wrote into the top of the workspace because they were absent, with what tells a repository."""
        files = [(path.name, path.read_bytes()) for path in sorted(self.workspace.glob("*.md"))
                 if path.is_file() and not os.path.lexists(self.source / path.name)]
        repository = [self.workspace / ".git" / name for name in ("HEAD", "config")]
        return files + [(f".git/{path.name}", path.read_bytes()) for path in repository if path.is_file()]

    def adopt(self):
        """Takes the workspace as it is now for the one at the start: a release has rewritten the user's files."""
        self.source = self.root.parent / "migrated"
        shutil.copytree(self.workspace, self.source, symlinks=True, ignore=shutil.ignore_patterns(".git"))

    def environment(self, path):
        """Returns the whole environment of a turn: nothing of the user's comes in."""
        return {"HOME": str(self.home), "TZ": self.zone, "LANG": "C.UTF-8", "PATH": f"{path}:/usr/bin:/bin",
                "OPENCLAW_DISABLE_BONJOUR": "1", "npm_config_offline": "true",
                # It would start a second process only to hide a warning of Node.
                "OPENCLAW_NO_RESPAWN": "1"}


class OpenClaw:
    """A release."""

    def __init__(self, cache, version):
        self.version = version
        self.node = install(cache, "node", NODE) / "bin"
        self.package = install(cache, "openclaw", version, self.node)
        assert self.package == package_of(cache, version)
        self.compiled = Path(cache) / "compiled"
        _, help_text = self.call(None, ["agent", "--help"])
        self.by_key = "--session-key" in help_text

    def call(self, stage, arguments):
        """Runs the release's command line in the stage's home."""
        environment = stage.environment(self.node) if stage else {
            "HOME": str(self.compiled), "PATH": f"{self.node}:/usr/bin:/bin"}
        environment["NODE_COMPILE_CACHE"] = str(self.compiled)
        self.compiled.mkdir(parents=True, exist_ok=True)
        return run([str(self.node / "node"), str(self.package / "openclaw.mjs"), *arguments], TURN_SECONDS,
                   cwd=stage.root if stage else self.compiled, env=environment)

    def turn(self, stage, key, message):
        """Runs one turn. Returns what the release said when it failed."""
        arguments = ["agent", "--local", "--json", "--message", message]
        if self.by_key:
            arguments += ["--session-key", key]
        else:
            arguments += ["--session-id", self.session_of(stage, key)]
        code, output = self.call(stage, arguments)
        return output if code else ""

    def session_of(self, stage, key):
        """Releases without `--session-key` find the key of an id in their session index."""
        path = stage.home / ".openclaw" / "agents" / "main" / "sessions" / "sessions.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        index = json.loads(path.read_text()) if path.exists() else {}
        digest = hashlib.sha256(key.encode()).hexdigest()
        made = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
        entry = index.setdefault(key, {"sessionId": made, "updatedAt": int(time.time() * 1000)})
        path.write_text(json.dumps(index))
        return entry["sessionId"]

    def migrate(self, stage):
        """Lets the release bring a directory of an older release up to date, as it asks its users to."""
        self.call(stage, ["doctor", "--fix", "--non-interactive"])
        stage.adopt()


def package_of(cache, version):
    """Returns where a release is installed, or would be."""
    return Path(cache) / f"openclaw-{version}" / "node_modules" / "openclaw"


class Chitin:
    """Our binary, under the contract of a release, with the skills of the release's own package."""

    def __init__(self, binary, contract, package, settings=None):
        self.binary, self.contract = str(Path(binary).resolve()), contract
        own = settings.read_text() if settings else "{}"
        # Without the release's own skills a long list is cut later than the release cuts it.
        if "releaseSkills" not in own:
            own = own.replace("{", "{ releaseSkills: " + json.dumps(str(package)) + ",", 1)
        self.settings = own
        if not os.access(self.binary, os.X_OK):
            raise Failed(f"There is no program at `{binary}`. Build it with `cargo build -p chitin`, or name it with --chitin.")
        code, output = run([self.binary, "contracts", contract, "--json"], TURN_SECONDS)
        if code:
            raise Failed(f"`chitin contracts {contract}` failed:\n{output[-2000:]}")
        # Only what the contract itself lists is an explanation.
        self.known = {one["key"] for one in json.loads(output).get("knownDifferences", [])}

    def turn(self, stage, key, message):
        """Runs one turn. Returns what was said when it failed."""
        (stage.home / ".chitin").mkdir(exist_ok=True)
        (stage.home / ".chitin" / "chitin.json5").write_text(self.settings)
        code, output = run([self.binary, "run", str(stage.workspace), "--contract", self.contract, "--session", key,
                            "--message", message, "--json"], TURN_SECONDS, cwd=stage.root,
                           env=stage.environment("/usr/local/bin"))
        return output if code else ""
