"""What was sent and what was said about it, and what must be true in the end.

The invariants are those of docs/contributing/chaos.md. A check adds what does not hold; it never stops at the first.
"""
import concurrent.futures
import copy
import json
import threading
import time
import urllib.parse

from model import numbers, text_of
from wire import Broken

INVARIANTS = {
    "I1": "each acknowledged message has one outcome, one user record and one answer",
    "I2": "a refused message has no record",
    "I3": "user records are in the order of their acknowledgements",
    "I4": "a repeat under the same key gets the same outcome and makes no second record",
    "I5": "damage is told, and every intact line counts",
    "I6": "no unfinished file is left after a restart and a quiet moment",
    "I7": "the server is there, or ended with a clear error, and never panics",
    "I8": "memory, descriptors and threads are flat, and the disk grows with the transcripts",
}


def code_of(body):
    """Returns the code of a refusal. The outcome of a turn that failed has a text there."""
    error = body.get("error") if isinstance(body, dict) else None
    return error.get("code") if isinstance(error, dict) else None


MOST_REPEATS = 1500


class Violations:
    """What did not hold. Safe to share between threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self.found = []

    def add(self, invariant, what):
        assert invariant in INVARIANTS
        with self._lock:
            self.found.append({"invariant": invariant, "what": what})


class Message:
    """One message and all that was heard of it."""

    def __init__(self, number, session, key, mode, retry_seconds, padding):
        self.number, self.session, self.key, self.mode, self.retry_seconds = number, session, key, mode, retry_seconds
        self.padding = padding
        self.accepted = False
        # An attempt got no answer: it may have been accepted.
        self.broken = False
        self.refusals = []
        self.jobs = set()
        self.outcomes = set()

    @property
    def text(self):
        return f"msg-{self.number} please." + " The larch stands by the oak." * self.padding

    def body(self, wait=False):
        body = {"text": self.text, "session": self.session}
        if self.mode:
            body["queue"] = self.mode
        if wait:
            body["wait"] = True
        if self.retry_seconds is not None:
            body["retrySeconds"] = self.retry_seconds
        return body

    @property
    def may_fail(self):
        """Whether its sender said that it is not to be tried for long."""
        return self.retry_seconds is not None


class Book:
    """All messages of a round."""

    def __init__(self, violations, prefix):
        self.violations, self.prefix = violations, prefix
        self._lock = threading.Lock()
        self.messages = {}
        self.order = {}
        # Whose transcripts or outcomes the scenario itself destroyed: the numbers that are excused, and nothing else about them is.
        self.lost_records = set()
        # Sessions that cannot go on without their owner: what is open in them stays so.
        self.stuck = set()
        self.patience = 40

    def fork(self, violations):
        """Returns a book that goes on from here by itself."""
        other = Book(violations, self.prefix)
        with self._lock:
            other.messages = {number: copy.deepcopy(message) for number, message in self.messages.items()}
            other.order = {session: list(order) for session, order in self.order.items()}
        return other

    def new(self, session, mode=None, retry_seconds=None, padding=0):
        with self._lock:
            number = len(self.messages) + 1
            message = Message(number, session, f"{self.prefix}-{number}", mode, retry_seconds, padding)
            self.messages[number] = message
            return message

    def hear(self, message, status, body, is_late=False):
        """Notes an answer. Returns whether the message is accepted."""
        body = body if isinstance(body, dict) else {}
        code = code_of(body)
        # `unfinished` says that the message is stored and the server is about to end; `stopped` and `dropped` are ends.
        if 200 <= status < 300 or code in ("unfinished", "dropped", "stopped"):
            with self._lock:
                if not message.accepted and not is_late:
                    self.order.setdefault(message.session, []).append(message.number)
                message.accepted = True
                if body.get("jobId"):
                    message.jobs.add(body["jobId"])
                if "status" in body:
                    message.outcomes.add((body["status"], body.get("text") or ""))
            return True
        with self._lock:
            message.refusals.append((status, code))
        return False

    def lines(self):
        """Returns how many were accepted, refused, and left unknown."""
        every = self.messages.values()
        accepted = sum(message.accepted for message in every)
        refused = sum(not message.accepted and not message.broken for message in every)
        return {"accepted": accepted, "refused": refused, "unknown": len(self.messages) - accepted - refused}

    # What must hold in the end.

    def settle(self, server, patience):
        """Waits until nothing is to be done. Says something now and then, as users do: a turn that succeeds wakes those that were delayed."""
        end = time.monotonic() + patience
        nudged = 0.0
        while time.monotonic() < end:
            page = server.page("/api/status")
            if page and page[0] == 200 and all(busy["sessionKey"] in self.stuck for busy in page[1]["busy"]):
                return True
            if time.monotonic() - nudged > 3:
                nudged = time.monotonic()
                try:
                    server.client(5).ask("POST", "/api/messages", {"text": "Are you there?", "session": "agent:main:nudge"})
                except Broken:
                    pass
            time.sleep(0.1)
        return False

    def check(self, server, patience=90):
        """Checks I1 to I4 on a server whose resources are back. Nothing may take longer than the patience."""
        self.patience = patience
        idle = self.settle(server, patience)
        if not server.is_running():
            self.violations.add("I7", f"the server is gone: {server.said()[-1500:]}")
            return
        if not idle:
            page = server.page("/api/status")
            self.violations.add("I1", f"jobs are still open after {patience} s: {str(page)[:1500]}")
        # Before anything is repeated: a repeat of one that was lost would bring it back.
        before = self.check_transcripts(server)
        accepted = [message for message in self.messages.values() if message.accepted and message.number not in self.lost_records]
        # Of very many a sample is repeated, spread over the whole time.
        repeated = accepted[::len(accepted) // MOST_REPEATS + 1]
        # Each second one whose fate is unknown is asked for; the others may be there or not.
        unknown = [message for message in self.messages.values() if message.broken and not message.accepted]
        late = unknown[::2]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda message: self._repeat(server, message, False), repeated))
            list(pool.map(lambda message: self._repeat(server, message, True), late))
            # Twice, since the first repeat of one that was unknown may have been its first arrival.
            list(pool.map(lambda message: self._repeat(server, message, False), late))
        after = self._counts(self._read_all(server))[0]
        for message in accepted:
            there, added = before.get(message.number, 0), after.get(message.number, 0)
            if added > max(1, there):
                self.violations.add("I4", f"msg-{message.number} in {message.session}: {there} user records before it was repeated, {added} after it")

    def _read_all(self, server):
        sessions = sorted({message.session for message in self.messages.values()})
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return dict(zip(sessions, pool.map(lambda session: self.read(server, session), sessions)))

    def _repeat(self, server, message, is_first):
        """Sends a message again under its key: it must be known, with one outcome."""
        name = f"{message.text.split()[0]} in {message.session}"
        end = time.monotonic() + self.patience
        while True:
            try:
                status, body, _ = server.client(self.patience).ask("POST", "/api/messages", message.body(wait=True), message.key)
            except Broken as error:
                self.violations.add("I4", f"{name}: no answer to a repeat: {error}")
                return
            if status == 202 and not body.get("delayed"):
                # It waited for the end, and was told neither that nor of a delay.
                self.violations.add("I1", f"{name}: accepted, and whoever waits for its outcome gets {str(body)[:300]}")
                return
            if status in (202, 429, 503) and time.monotonic() < end:
                time.sleep(0.3)
                continue
            break
        code = code_of(body)
        if code in ("dropped", "stopped"):
            return
        if status != 200:
            self.violations.add("I1", f"{name}: accepted, and in the end {status} {str(body)[:600]}")
            return
        outcome = (body.get("status"), body.get("text") or "")
        self.hear(message, status, body, is_late=is_first)
        if not is_first and body.get("place") != "known":
            self.violations.add("I4", f"{name}: a repeat is `{body.get('place')}`, not `known`")
        if outcome[0] != "ok" and not message.may_fail:
            self.violations.add("I1", f"{name}: accepted, and ended as {str(body)[:600]}")
        elif outcome[0] == "ok" and not (outcome[1].startswith("heard ") and message.number in numbers(outcome[1])):
            self.violations.add("I1", f"{name}: its outcome is the answer to something else: {outcome[1][:200]}")
        if len(message.jobs) > 1 or len(message.outcomes) > 1:
            self.violations.add("I4", f"{name}: several outcomes under one key: {sorted(message.jobs)} {sorted(message.outcomes)}")

    @staticmethod
    def read(server, session):
        """Returns the messages of a session as (role, text), in the order of its transcript."""
        path = f"/api/sessions/{urllib.parse.quote(session, safe=':')}?limit=100000"
        for _ in range(3):
            try:
                status, body, _ = server.client(60).ask("GET", path)
            except Broken:
                continue
            if status == 404:
                return []
            if status == 200:
                records = body["history"]
                if body.get("hasOlder"):
                    code, out, error = server.run("sessions", "export", session)
                    if code != 0:
                        return f"`chitin sessions export` ended with {code}: {error[:300]}"
                    records = [json.loads(line) for line in out.splitlines()]
                messages = [record["message"] for record in records if record.get("type") == "message"]
                return [(message["role"], text_of(message.get("content"))) for message in messages]
            return f"{status} {str(body)[:300]}"
        return "no answer"

    @staticmethod
    def _counts(sessions):
        """Returns how many user records and answers there are for each number."""
        users, answers = {}, {}
        for records in sessions.values():
            for role, text in records if isinstance(records, list) else []:
                counted = users if role == "user" else answers if role == "assistant" else {}
                for number in numbers(text) if role == "user" else dict.fromkeys(numbers(text)):
                    counted[number] = counted.get(number, 0) + 1
        return users, answers

    def check_transcripts(self, server):
        """Checks what the transcripts hold, and asks for nothing that could change it. Returns how many user records each number has."""
        sessions = self._read_all(server)
        for session, records in sessions.items():
            if isinstance(records, list):
                self._in_order(session, [number for role, text in records if role == "user" for number in numbers(text)])
            elif session not in self.stuck:
                self.violations.add("I1", f"{session} cannot be read: {records}")
        users, answers = self._counts(sessions)
        for number, message in self.messages.items():
            self._counted(message, users.get(number, 0), answers.get(number, 0))
        return users

    def _in_order(self, session, seen):
        expected = [number for number in self.order.get(session, []) if number not in self.lost_records]
        known = set(expected)
        there = [number for number in dict.fromkeys(seen) if number in known]
        present = set(there)
        # What is missing is a matter of I1.
        expected = [number for number in expected if number in present]
        if there != expected:
            at = next(at for at, pair in enumerate(zip(there, expected)) if pair[0] != pair[1])
            self.violations.add("I3", f"{session}: accepted as {expected[at:at + 8]}, recorded as {there[at:at + 8]}")

    def _counted(self, message, users, answers):
        name = f"{message.text.split()[0]} in {message.session}"
        if not message.accepted:
            if not message.broken and users:
                self.violations.add("I2", f"{name}: refused with {message.refusals[-3:]}, and {users} user records are there")
            elif users > 1:
                self.violations.add("I1", f"{name}: {users} user records")
            return
        if message.number in self.lost_records:
            if users > 1 or answers > 1:
                self.violations.add("I1", f"{name}: {users} user records, {answers} answers")
            return
        failed = any(status != "ok" for status, _ in message.outcomes)
        if users > 1 or (users == 0 and not failed):
            self.violations.add("I1", f"{name}: accepted, and {users} user records are there")
        if not message.may_fail and answers != 1:
            self.violations.add("I1", f"{name}: accepted, and {answers} answers are there")
