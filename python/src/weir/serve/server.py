# SPDX-License-Identifier: BSD-3-Clause
"""The connections of browsers, at most CONNECTIONS at once: a thread for each."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from .._log import Log
from .listen import Listener
from .message import Answer, Request
from .visitor import Visitor

CONNECTIONS = 512


class Server:
    """`admit` returns the answer to a request that is refused, before its body is read; `route`
    the answer to any other."""

    def __init__(self, listener: Listener, log: Log,
                 admit: Callable[[Request], Answer | None],
                 route: Callable[[Request], Answer]) -> None:
        self.log, self.admit, self.route = log, admit, route
        self._socket = listener.socket
        self._places = threading.BoundedSemaphore(CONNECTIONS)
        self._lock = threading.Lock()
        self._open: set[Visitor] = set()
        self._ends = False

    def begin(self) -> None:
        threading.Thread(target=self._accept, name="accept", daemon=True).start()

    def _accept(self) -> None:
        while not self._ends:
            self._places.acquire()
            try:
                connection, _ = self._socket.accept()
                if connection.family != socket.AF_UNIX:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
            except (OSError, RuntimeError):  # no descriptor, or no thread, is left
                self._places.release()
                time.sleep(0.1)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                Visitor(self, connection)
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
        finally:
            self._places.release()

    def opened(self, visitor: Visitor) -> None:
        with self._lock:
            self._open.add(visitor)

    def closed(self, visitor: Visitor) -> None:
        with self._lock:
            self._open.discard(visitor)

    def tick(self) -> None:
        """Closes the connections whose time is over; to be called each second."""
        now = time.monotonic()
        with self._lock:
            for visitor in self._open:
                if now >= visitor.until:
                    visitor.hang_up()

    def end(self) -> None:
        """Ends. Streams end by themselves, if they can; others are hung up."""
        self._ends = True
        end = time.monotonic() + 1.0
        while self._open and time.monotonic() < end:
            with self._lock:
                for visitor in self._open:
                    if not visitor.streams:
                        visitor.hang_up()
            time.sleep(0.01)
