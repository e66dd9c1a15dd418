# SPDX-License-Identifier: BSD-3-Clause
"""The client's end of the control socket, line by line, for commands that wait for weir and for
something else at once: `weir serve` and `weir top`. What needs no such thing uses weir.Client."""

from __future__ import annotations

import contextlib
import errno
import grp
import json
import os
import pwd
import socket
import stat
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from ._words import written

_CONNECT_S, _AGAIN_S = 5, 0.05


def default_socket() -> str:
    """Returns the path of the weir that has started this process, as `weir exec` does; else that
    at which `weir run` listens by default."""
    if os.environ.get("WEIR_SOCKET"):
        return os.environ["WEIR_SOCKET"]
    if os.geteuid() == 0:
        return "/run/weir.sock"
    folder = os.environ.get("XDG_RUNTIME_DIR")
    return f"{folder}/weir.sock" if folder else f"/tmp/weir-{os.geteuid()}.sock"


class LinkError(Exception):
    """weir cannot be reached, or has gone: the text says why, and what to do."""


class Silent(LinkError):
    """weir has not answered in time."""


def owners(path: str) -> str:
    try:
        state = os.lstat(path)
    except OSError:
        return "its directory may not be searched"
    owner, group = str(state.st_uid), str(state.st_gid)
    with contextlib.suppress(KeyError):
        owner = pwd.getpwuid(state.st_uid).pw_name
    with contextlib.suppress(KeyError):
        group = grp.getgrgid(state.st_gid).gr_name
    return f"mode {stat.S_IMODE(state.st_mode):04o}, owner {owner}, group {group}"


def _unreachable(path: str, error: OSError) -> LinkError:
    if error.errno in (errno.EACCES, errno.EPERM):
        return LinkError(f"{path}: permission denied ({owners(path)}); be its owner or in its "
                         "group, as with sudo or sg")
    if error.errno in (errno.ENOENT, errno.ECONNREFUSED):
        missing = "listens there" if error.errno == errno.ENOENT else "answers there any more"
        return LinkError(f"{path}: no weir {missing}; start one with `weir run -c FILE -s "
                         f"{path[:60]}`, or name the socket of another with -s")
    if error.errno == errno.EAGAIN:
        return LinkError(f"{path}: weir does not accept connections; try again later")
    return LinkError(f"{path}: {error.strerror or error}; give the path of weir's control socket "
                     "with -s")


def message_of(answer: dict[str, Any]) -> str:
    """Returns what an answer in JSON says is wrong."""
    return str((answer.get("error") or {}).get("message", "an error"))


class Link:
    """A connection to weir, in text mode until greet(). One thread uses it."""

    def __init__(self, path: str | None, patience_s: float) -> None:
        """Connects. `patience_s`: for sending, and for each answer."""
        self.path = path or default_socket()
        self._rest = b""
        self._ready: deque[bytes] = deque()  # lines that were received, and not taken
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Not timeouts of the kernel: these begin anew whenever the process is stopped or frozen.
        self.wait(patience_s)
        end = time.monotonic() + _CONNECT_S
        while True:
            try:
                self._socket.connect(self.path)
                return
            except OSError as error:
                if error.errno != errno.EAGAIN or time.monotonic() > end:
                    self._socket.close()
                    raise _unreachable(self.path, error) from None
            time.sleep(_AGAIN_S)  # its backlog is full

    def wait(self, patience_s: float) -> None:
        self._socket.settimeout(patience_s)

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, line: str, files: Sequence[str] = ()) -> None:
        """Sends a line, preceded by the files that it names; each has an answer of its own. A file
        that cannot be opened is left out: weir reports why. If weir has hung up, the next answer
        says why."""
        try:
            for name in files:
                with open(name, "rb") as file:
                    socket.send_fds(self._socket, [f"file {written(name)}\n".encode()],
                                    [file.fileno()])
            self._socket.sendall(line.encode(errors="surrogateescape") + b"\n")
        except OSError:
            with contextlib.suppress(OSError):  # of half a line, nothing may follow
                self._socket.shutdown(socket.SHUT_WR)

    def receive(self) -> list[bytes]:
        """Waits for bytes, and returns the lines that are complete now."""
        self._receive()
        lines, self._ready = [*self._ready], deque()
        return lines

    def _receive(self) -> None:
        try:
            data = self._socket.recv(1 << 18)
        except TimeoutError:
            raise Silent("weir does not answer") from None
        except OSError:
            data = b""
        if not data:
            raise LinkError("weir hung up before it answered")
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._ready += lines

    def _line(self) -> bytes:
        while not self._ready:
            self._receive()
        return self._ready.popleft()

    def answer(self) -> tuple[bool, str]:
        """Waits for an answer in text mode. Returns its text, or its error: `NAME: ...`."""
        texts = []
        while (line := self._line()) != b"ok":
            if line.startswith(b"err "):
                return False, line[4:].decode(errors="surrogateescape")
            texts.append(line.decode(errors="surrogateescape") + "\n")
        return True, "".join(texts)

    def object_line(self) -> tuple[bool, str]:
        """Waits for an answer in JSON mode. Returns false if it is an error, and its line; or the
        error that weir has told in text, because it hangs up."""
        got = self._line().decode(errors="surrogateescape")
        if got.startswith("err "):
            return False, got[4:]
        return json.loads(got).get("ok") is not False, got + "\n"

    def ask(self, line: str, files: Sequence[str] = ()) -> tuple[bool, str]:
        """Sends a line in text mode, and returns its answer. If a file was not taken, the error is
        that."""
        self.send(line, files)
        answers = [self.answer() for _ in range(len(files) + 1)]
        refused = next((answer for answer in answers[:-1] if not answer[0]), None)
        return refused if refused and not answers[-1][0] else answers[-1]

    def ask_json(self, line: str, files: Sequence[str] = ()) -> dict[str, Any]:
        """Does the same in JSON mode; the answer may be an error."""
        self.send(line, files)
        answers = [self._object() for _ in range(len(files) + 1)]
        refused = [answer for answer in answers if answer.get("ok") is False]
        return refused[0] if refused and refused[-1] is answers[-1] else answers[-1]

    def _object(self) -> dict[str, Any]:
        got = self._line()
        if got.startswith(b"err "):  # it refuses a client that could not switch yet
            return {"ok": False, "error": {"message": got[4:].decode(errors="replace")}}
        answer: dict[str, Any] = json.loads(got)
        return answer

    def greet(self, program: str, capability: str | None = None) -> dict[str, Any]:
        """Changes to JSON, and returns the answer to `hello`. `program` needs the capability."""
        if (answer := self.ask_json("json on")).get("ok") is False:
            raise LinkError(message_of(answer))
        hello = self.ask_json("hello")
        if (isinstance(hello.get("run"), str) and hello.get("protocol") == 1
                and (capability is None or capability in hello.get("capabilities", ()))):
            return hello
        raise LinkError(f"this weir speaks another protocol; use the {program} that came with it")
