"""The client's side of the wire: HTTP requests that say whether they were answered, and a WebSocket."""
import base64
import http.client
import json
import os
import socket
import struct


class Broken(Exception):
    """The connection ended without an answer: nobody knows what became of the request, unless nobody listened."""

    def __init__(self, what, cause=None):
        super().__init__(f"{what}: {cause!r}" if cause else what)
        # Whether the server can have seen the request.
        self.sent = not isinstance(cause, ConnectionRefusedError)


class Client:
    """Asks a server. It keeps its connection while it can; it belongs to one thread."""

    def __init__(self, address, token, timeout=30):
        self.address, self.token, self.timeout = address, token, timeout
        self._connection = None

    def close(self):
        if self._connection:
            self._connection.close()
        self._connection = None

    def ask(self, method, path, body=None, key=None, timeout=None):
        """Returns status, body and headers. A request is sent once: it is never repeated behind the caller's back."""
        host, port = self.address
        self.close()
        self._connection = http.client.HTTPConnection(host, port, timeout=timeout or self.timeout)
        headers = {"authorization": f"Bearer {self.token}", "connection": "close"}
        if key:
            headers["idempotency-key"] = key
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body)
        try:
            self._connection.request(method, path, data, headers)
            response = self._connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Broken(f"{method} {path}", error) from error
        finally:
            self.close()
        try:
            parsed = json.loads(raw) if raw else None
        except ValueError:
            parsed = raw.decode("utf-8", "replace")
        return response.status, parsed, dict(response.getheaders())


class Socket:
    """A WebSocket with the server."""

    def __init__(self, address, token, timeout=30):
        try:
            self._socket = socket.create_connection(address, timeout=timeout)
            self._socket.settimeout(timeout)
            name = base64.b64encode(os.urandom(16)).decode()
            head = (f"GET /api/socket HTTP/1.1\r\nhost: {address[0]}:{address[1]}\r\nauthorization: Bearer {token}\r\n"
                    f"upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: {name}\r\n"
                    "sec-websocket-protocol: chitin\r\n\r\n")
            self._socket.sendall(head.encode())
            self._file = self._socket.makefile("rb")
            status = self._file.readline(65536)
            while self._file.readline(65536).strip():
                pass
        except OSError as error:
            raise Broken("socket", error) from error
        if b" 101 " not in status:
            self.close()
            raise Broken(f"socket: {status!r}")

    def close(self):
        self._socket.close()

    def send(self, value):
        self._frame(1, json.dumps(value).encode())

    def _frame(self, kind, data):
        mask = os.urandom(4)
        size = len(data)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        try:
            self._socket.sendall(bytes([0x80 | kind]) + length + mask + masked)
        except OSError as error:
            raise Broken("socket", error) from error

    def hear(self):
        """Returns the next message."""
        while True:
            try:
                first, size = self._exactly(2)
                size &= 0x7F
                if size >= 126:
                    size = int.from_bytes(self._exactly(2 if size == 126 else 8), "big")
                data = self._exactly(size)
            except OSError as error:
                raise Broken("socket", error) from error
            kind = first & 0x0F
            if kind == 9:
                self._frame(10, data)
            elif kind == 8:
                raise Broken("socket: closed")
            elif kind == 1:
                return json.loads(data)

    def _exactly(self, size):
        data = self._file.read(size)
        if data is None or len(data) != size:
            raise OSError("it ended")
        return data
