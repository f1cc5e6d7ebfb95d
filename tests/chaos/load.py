"""Senders: each has a session and sends one message after another, in different ways, and notes what it heard."""
import random
import threading
import time

from wire import Broken, Socket

# How a message is sent, and how often.
WAYS = (("plain", 6), ("wait", 2), ("socket", 2), ("twice", 1))
MODES = ("followup", "followup", "collect", None)


class Load:
    """Several senders at once, until they are stopped."""

    def __init__(self, world, sessions=6, pace=(0.0, 0.04), retry_seconds=(None,), name="load", patience=8, padding=0):
        self.padding = padding
        self.world, self.pace, self.retry_seconds, self.patience = world, pace, retry_seconds, patience
        self._stopped = threading.Event()
        self._threads = []
        for at in range(sessions):
            seed = world.random.random()
            session = f"agent:main:{name}-{at}"
            self._threads.append(threading.Thread(target=self._send_all, args=(session, random.Random(seed)), daemon=True))

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _send_all(self, session, chance):
        while not self._stopped.is_set():
            message = self.world.book.new(session, chance.choice(MODES), chance.choice(self.retry_seconds), self.padding)
            self._send(message, chance)
            self._stopped.wait(chance.uniform(*self.pace))

    def _send(self, message, chance):
        """Sends a message until it is known what became of it, or its sender gives up."""
        gives_up_on_refusal, gives_up_on_silence = chance.random() < 0.5, chance.random() < 0.3
        way = chance.choices([name for name, _ in WAYS], [share for _, share in WAYS])[0]
        while True:
            try:
                if getattr(self, f"_{way}")(message):
                    return
                if gives_up_on_refusal:
                    return
            except Broken as error:
                if error.sent:
                    message.broken = True
                    if gives_up_on_silence:
                        return
            way = "plain"
            if self._stopped.wait(chance.uniform(0.01, 0.1)):
                return

    def _ask(self, message, wait):
        server = self.world.server
        status, body, _ = server.client(self.patience).ask("POST", "/api/messages", message.body(wait), message.key)
        return self.world.book.hear(message, status, body)

    def _plain(self, message):
        return self._ask(message, False)

    def _wait(self, message):
        return self._ask(message, True)

    def _twice(self, message):
        """The same message from two connections at once: whoever is told that it is accepted can rely on it."""
        heard = []

        def other():
            try:
                heard.append(self._ask(message, False))
            except Broken as error:
                message.broken = message.broken or error.sent

        thread = threading.Thread(target=other, daemon=True)
        thread.start()
        try:
            heard.append(self._ask(message, False))
        finally:
            thread.join()
        return any(heard)

    def _socket(self, message):
        server = self.world.server
        socket = Socket(server.address, server.token, self.patience)
        try:
            socket.send({"type": "message", "id": 1, "message": message.body(), "idempotencyKey": message.key})
            end = time.monotonic() + self.patience
            while time.monotonic() < end:
                heard = socket.hear()
                if heard.get("id") != 1:
                    continue
                if heard["type"] == "error":
                    return self.world.book.hear(message, 500, heard)
                return self.world.book.hear(message, 202, heard)
            raise Broken("socket: nothing was said about a message")
        finally:
            socket.close()
