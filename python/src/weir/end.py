# SPDX-License-Identifier: BSD-3-Clause
"""An end of a path, and its processes, which _agent.py starts."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any

from .errors import Disconnected

PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
Args = str | Sequence[str | os.PathLike[str]]

_ERRORS: dict[str, type[Exception]] = {"IndexError": IndexError, "TypeError": TypeError}


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class Process:
    """A process at an end of a path, used like subprocess.Popen. Its streams are text."""

    def __init__(self, end: End, args: Args, pid: int, status: int,
                 streams: tuple[IO[str] | None, IO[str] | None, IO[str] | None]) -> None:
        self.args, self.pid = args, pid
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = streams
        self._end, self._status = end, status
        self._waits = threading.Lock()
        self._threads: list[threading.Thread] | None = None  # those of communicate()
        self._lines: list[list[str] | None] = [None, None]

    def poll(self) -> int | None:
        """Returns its exit status, or None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        deadline = _deadline(timeout)
        left = _left(deadline)
        # One thread at a time reads the status, and the others wait for that thread.
        if not self._waits.acquire(timeout=-1 if left is None else left):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        try:
            if self.returncode is None:
                ended = select.poll()
                ended.register(self._status, select.POLLIN)
                left = _left(deadline)
                if not ended.poll(None if left is None else min(1000 * left, 2**31 - 1)):
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                text = os.read(self._status, 64)
                # If the pipe is empty, the whole path has ended, and all its processes were killed.
                self.returncode = int(text) if text else -9
                os.close(self._status)
            return self.returncode
        finally:
            self._waits.release()

    def communicate(self, input: str | None = None,
                    timeout: float | None = None) -> tuple[str | None, str | None]:
        """Writes the input, reads the output to its end, and waits for the process. TimeoutExpired
        has the lines that came in time, as text; another call goes on, and returns them, too."""
        deadline = _deadline(timeout)
        if self._threads is None:
            self._threads = self._begin(input)
        elif input:
            raise ValueError("communicate() takes the input with its first call")
        try:
            for thread in self._threads:
                thread.join(_left(deadline))
                if thread.is_alive():
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.wait(_left(deadline))
        except subprocess.TimeoutExpired:
            raise subprocess.TimeoutExpired(self.args, timeout or 0, *self._texts()) from None
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        return self._texts()

    def _begin(self, input: str | None) -> list[threading.Thread]:
        """Starts threads that write and read the streams. They outlive a call that times out."""
        threads = []

        def read(stream: IO[str], lines: list[str]) -> None:
            for line in stream:
                lines.append(line)

        def write(stream: IO[str]) -> None:
            try:
                stream.write(input or "")
                stream.close()
            except BrokenPipeError:
                pass

        for number, stream in enumerate((self.stdout, self.stderr)):
            if stream is not None and not stream.closed:
                lines: list[str] = []
                self._lines[number] = lines
                threads.append(threading.Thread(target=read, args=(stream, lines), daemon=True))
        if self.stdin is not None and not self.stdin.closed:
            threads.append(threading.Thread(target=write, args=(self.stdin,), daemon=True))
        for thread in threads:
            thread.start()
        return threads

    def _texts(self) -> tuple[str | None, str | None]:
        out, err = (None if lines is None else "".join(lines) for lines in self._lines)
        return out, err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            self._end._ask({"signal": int(number), "pid": self.pid})

    def terminate(self) -> None:
        self.send_signal(15)

    def kill(self) -> None:
        self.send_signal(9)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None and not stream.closed:
                stream.close()
        self.wait()


class End:
    """One end of a path: `path.client`, `path.server`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.host = {"server": "A", "client": "B"}[name]
        self.addresses: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._channel, self._theirs = socket.socketpair()
        self._asked = 0
        self._heard = b""

    @property
    def address(self) -> str:
        """Its IPv4 address."""
        return next(a for a in self.addresses if ":" not in a)

    @property
    def address6(self) -> str | None:
        """Its IPv6 address, if this machine has IPv6."""
        return next((a for a in self.addresses if ":" in a), None)

    def _command(self, waits: bool) -> str:
        words = [sys.executable, "-I", os.path.join(os.path.dirname(__file__), "_agent.py"),
                 str(self._theirs.fileno()), *(["waits"] if waits else [])]
        return f"{self.host}: exec {shlex.join(words)}"

    def _hang_up(self) -> None:
        """Ends the conversation for all: a forked child of this process has the socket, too."""
        with contextlib.suppress(OSError):  # it is closed already
            self._channel.shutdown(socket.SHUT_RDWR)
        self._channel.close()

    def _answer(self) -> dict[str, Any]:
        while b"\n" not in self._heard:
            more = self._channel.recv(1 << 16)
            if not more:
                raise Disconnected(f"the {self.name}'s end of the path is gone")
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ask(self, request: dict[str, Any], fds: Sequence[int] = ()) -> dict[str, Any]:
        with self._lock:
            self._asked += 1
            data = json.dumps({**request, "number": self._asked}).encode() + b"\n"
            try:
                if fds:
                    sent = socket.send_fds(self._channel, [data], list(fds))
                    data = data[sent:]
                self._channel.sendall(data)
                # An exception, as of a signal's handler, may have left earlier answers unread.
                while (answer := self._answer())["number"] != self._asked:
                    pass
            except ConnectionError as error:
                raise Disconnected(f"the {self.name}'s end of the path is gone") from error
        if "errno" in answer:
            raise OSError(answer["errno"], answer["error"], answer["filename"])
        if "error" in answer:
            raise _ERRORS.get(answer["kind"], ValueError)(answer["error"])
        return answer

    def popen(self, args: Args, *, stdin: int | IO[Any] | None = DEVNULL,
              stdout: int | IO[Any] | None = PIPE, stderr: int | IO[Any] | None = PIPE,
              cwd: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None,
              shell: bool = False) -> Process:
        """Starts a process here, as subprocess.Popen does. By default its output goes into pipes,
        and it has no input. The process ends with the path."""
        words = args if isinstance(args, str) else [os.fspath(word) for word in args]
        ours: list[IO[str] | None] = []
        theirs: list[int] = []
        opened: list[int] = []
        for number, wanted in enumerate((stdin, stdout, stderr)):
            mine: IO[str] | None = None
            if wanted == PIPE:
                reads, writes = os.pipe()
                fd, own = (reads, writes) if number == 0 else (writes, reads)
                mine = os.fdopen(own, "w" if number == 0 else "r", encoding="utf-8",
                                 errors="replace")
                opened.append(fd)
            elif wanted == DEVNULL:
                fd = os.open(os.devnull, os.O_RDWR)
                opened.append(fd)
            elif wanted == subprocess.STDOUT:
                fd = theirs[1]
            elif wanted is None:
                fd = number
            else:
                fd = wanted if isinstance(wanted, int) else wanted.fileno()
            theirs.append(fd)
            ours.append(mine)
        status, tell = os.pipe()
        opened.append(tell)
        try:
            here = os.getcwd()
            answer = self._ask({"args": words, "cwd": os.path.join(here, cwd) if cwd else here,
                                "env": dict(os.environ if env is None else env), "shell": shell},
                               [*theirs, tell])
        except BaseException:
            os.close(status)
            raise
        finally:
            for fd in opened:
                os.close(fd)
        return Process(self, args, answer["pid"], status, (ours[0], ours[1], ours[2]))

    def run(self, args: Args, *, input: str | None = None, timeout: float | None = None,
            check: bool = False, **how: Any) -> subprocess.CompletedProcess[str]:
        """Runs a command here and waits for its end, as subprocess.run does, with its output as
        text."""
        if input is not None:
            how["stdin"] = PIPE
        process = self.popen(args, **how)
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
        done = subprocess.CompletedProcess(args, process.wait(), out or "", err or "")
        if check:
            done.check_returncode()
        return done
