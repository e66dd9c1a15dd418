# SPDX-License-Identifier: BSD-3-Clause
"""The control connection of a session: a line of JSON for each message, and arrays of numbers."""

from __future__ import annotations

import array
import json
import socket
from typing import Any

from .prober import Gone

LINE = 4096
PACKETS = 50_000_000  # the most that the notes of a session may have


class Control:
    """One end of the connection."""

    def __init__(self, connection: socket.socket, timeout_s: float = 15) -> None:
        self.socket = connection
        self.socket.settimeout(timeout_s)
        self._file = connection.makefile("rb")

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def tell(self, **message: Any) -> None:
        try:
            self.socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise Gone(f"the control connection broke: {error.strerror or error}") from None

    def hear(self, word: str) -> dict[str, Any]:
        """Returns the next message, which has this word."""
        try:
            line = self._file.readline(LINE)
        except OSError as error:
            raise Gone(f"no `{word}` came: {error.strerror or error}") from None
        try:
            message = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            message = None
        if isinstance(message, dict) and "error" in message:
            raise Gone(str(message["error"])[:200])
        if not isinstance(message, dict) or word not in message:
            raise Gone("the control connection ended" if not line else
                       f"instead of `{word}` came {line[:60]!r}: is that a `weir learn --server`?")
        return message

    def give(self, *arrays: array.array[int]) -> None:
        """Sends arrays, each with its length. Both ends are little-endian, as weir is."""
        for one in arrays:
            self.tell(n=len(one))
            try:
                self.socket.sendall(one.tobytes())
            except OSError as error:
                raise Gone(f"the notes could not be sent: {error.strerror or error}") from None

    def get(self, types: str) -> list[array.array[int]]:
        """Receives arrays of these types."""
        found = []
        for kind in types:
            n, one = self.hear("n")["n"], array.array(kind)
            if not isinstance(n, int) or not 0 <= n <= PACKETS:
                raise Gone(f"the other end claims notes of {n} packets")
            data = self._file.read(n * one.itemsize)
            if len(data) < n * one.itemsize:
                raise Gone("the notes of the other end are cut")
            one.frombytes(data)
            found.append(one)
        return found
