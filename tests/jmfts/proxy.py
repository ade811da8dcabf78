"""A TCP proxy before a server, which spoils answers on the way: real sockets, real failures."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

Spoil = Callable[[int, socket.socket, bytes], bool]
"""What to do with an answer: its number (from 0), the client's socket and the bytes; returns
whether the connection may be kept."""

_UNAUTHORISED = b'{"detail":"Invalid API token"}'


class Proxy:
    """Forwards requests one by one; `spoil` says how each answer goes out."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None and parts.port is not None
        self._server = parts.hostname, parts.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.spoil: Spoil = whole
        self.refused_after: int | None = None  # requests, after which the token is refused
        self.gone_after: int | None = None  # requests, after which nobody is there
        self.answers = 0
        self.asked: list[str] = []  # method and path of what was answered
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client, socket.create_connection(self._server) as server:
            while request := _message(client):
                if self.refused_after is not None and self.answers >= self.refused_after:
                    client.sendall(answered(401, "application/json", _UNAUTHORISED))
                    continue
                if self.gone_after is not None and self.answers >= self.gone_after:
                    return
                server.sendall(request)
                answer = _message(server)
                with self._lock:
                    number, self.answers = self.answers, self.answers + 1
                    self.asked.append(request.split(b" HTTP/1.1", 1)[0].decode())
                if not self.spoil(number, client, answer):
                    return


@contextmanager
def proxy_before(url: str) -> Iterator[Proxy]:
    """A proxy before the server at a URL."""
    proxy = Proxy(url)
    yield proxy
    proxy.close()


def whole(number: int, client: socket.socket, answer: bytes) -> bool:
    """As it is."""
    client.sendall(answer)
    return True


def reset_midway(number: int, client: socket.socket, answer: bytes) -> bool:
    """The first half, and then the connection is reset."""
    client.sendall(answer[: len(answer) // 2])
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def drip(number: int, client: socket.socket, answer: bytes) -> bool:
    """A few bytes at a time."""
    for at in range(0, len(answer), max(1, len(answer) // 20)):
        client.sendall(answer[at : at + max(1, len(answer) // 20)])
        time.sleep(0.01)
    return True


def truncated(number: int, client: socket.socket, answer: bytes) -> bool:
    """Half the JSON, and a head that says it is all."""
    body = answer.partition(b"\r\n\r\n")[2]
    client.sendall(answered(200, "application/json", body[: len(body) // 2]))
    return True


def too_short(number: int, client: socket.socket, answer: bytes) -> bool:
    """Less than its head says."""
    client.sendall(answer[:-5])
    return False


def failing(number: int, client: socket.socket, answer: bytes) -> bool:
    """What a server says that failed inside; it closes the connection then."""
    client.sendall(answered(500, "text/plain", b"Internal Server Error"))
    return False


def dropped_first(number: int, client: socket.socket, answer: bytes) -> bool:
    """The first connection is dropped without an answer."""
    if number == 0:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    return whole(number, client, answer)


def unauthorised(number: int, client: socket.socket, answer: bytes) -> bool:
    """The token is refused."""
    client.sendall(answered(401, "application/json", _UNAUTHORISED))
    return True


def answered(status: int, kind: str, body: bytes) -> bytes:
    """An answer of our own."""
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _message(stream: socket.socket) -> bytes:
    """One request or answer, head and body; b"" at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := stream.recv(65536)):
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        int(line.partition(b":")[2])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    missing = (lengths[0] if lengths else 0) - len(body)
    parts = [data]
    while missing > 0 and (more := stream.recv(65536)):
        parts.append(more)
        missing -= len(more)
    return b"".join(parts)
