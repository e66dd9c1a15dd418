# SPDX-License-Identifier: BSD-3-Clause
"""An end of a path, and its processes, which _agent.py starts.

A process takes the arguments of subprocess.Popen, with these differences: streams are text unless
`text=False` or the input is bytes, standard input is empty, and output goes into pipes. It is
always the leader of a session. Another process starts it, so `preexec_fn` and `pass_fds` cannot
reach it, and are refused.
"""

from __future__ import annotations

import contextlib
import fcntl
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

from .errors import Disconnected, WeirError

__tracebackhide__ = True  # pytest shows the line of the test, and not these

PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
Args = str | bytes | os.PathLike[str] | Sequence[str | bytes | os.PathLike[str]]

_ERRORS: dict[str, type[Exception]] = {"IndexError": IndexError, "TypeError": TypeError,
                                       "KeyError": KeyError, "OverflowError": OverflowError}
# Arguments of subprocess.Popen that the agent passes on, and those that cannot cross to it.
_PASSED_ON = ("executable", "umask", "user", "group", "extra_groups", "restore_signals")
_HERE_ONLY = {"preexec_fn": None, "pass_fds": (), "startupinfo": None, "creationflags": 0,
              "process_group": None}


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class _Text:
    """How streams are opened: as text, with an encoding, or as bytes."""

    def __init__(self, text: bool | None, universal_newlines: bool | None, encoding: str | None,
                 errors: str | None, bufsize: int) -> None:
        if None not in (text, universal_newlines) and bool(text) != bool(universal_newlines):
            raise subprocess.SubprocessError("Cannot disambiguate when both text and "
                                             "universal_newlines are supplied but different. "
                                             "Pass one or the other.")
        wanted = text if text is not None else universal_newlines
        self.is_text = bool(wanted if wanted is not None else True) or bool(encoding or errors)
        self.encoding, self.errors = encoding or "utf-8", errors or "replace"
        self.bufsize = bufsize

    def open(self, fd: int, mode: str) -> IO[Any]:
        if not self.is_text:
            return os.fdopen(fd, mode + "b", self.bufsize)
        # Text cannot be unbuffered: lines are the nearest to it, as in subprocess.
        return os.fdopen(fd, mode, self.bufsize if self.bufsize > 0 else -1,
                         encoding=self.encoding, errors=self.errors)

    def check(self, input: Any) -> None:
        """Raises TypeError if the input is of the other kind."""
        if input is None or isinstance(input, str) == self.is_text:
            return
        raise TypeError(f"input is {type(input).__name__}, but the streams of this process are "
                        + ("text; say text=False" if self.is_text
                           else "bytes; say text=True, or give bytes"))


class Process:
    """A process at an end of a path, used like subprocess.Popen."""

    def __init__(self, end: End, args: Args, pid: int, status: int, text: _Text,
                 streams: tuple[IO[Any] | None, IO[Any] | None, IO[Any] | None]) -> None:
        self.args, self.pid = args, pid
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = streams
        self._end, self._status = end, status
        self._waits = threading.Lock()
        self._text = text
        self._threads: list[threading.Thread] | None = None  # those of communicate()
        self._lines: list[list[Any] | None] = [None, None]

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

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Writes the input, reads the output to its end, and waits for the process. TimeoutExpired
        has the lines that came in time; another call goes on, and returns them, too."""
        deadline = _deadline(timeout)
        self._text.check(input)
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

    def _begin(self, input: Any) -> list[threading.Thread]:
        """Starts threads that write and read the streams. They outlive a call that times out."""
        threads = []

        def read(stream: IO[Any], lines: list[Any]) -> None:
            for line in stream:
                lines.append(line)

        def write(stream: IO[Any]) -> None:
            with contextlib.suppress(BrokenPipeError):
                if input:
                    stream.write(input)
            with contextlib.suppress(BrokenPipeError):
                stream.close()

        for number, stream in enumerate((self.stdout, self.stderr)):
            if stream is not None and not stream.closed:
                lines: list[Any] = []
                self._lines[number] = lines
                threads.append(threading.Thread(target=read, args=(stream, lines), daemon=True))
        if self.stdin is not None and not self.stdin.closed:
            threads.append(threading.Thread(target=write, args=(self.stdin,), daemon=True))
        for thread in threads:
            thread.start()
        return threads

    def _texts(self) -> tuple[Any, Any]:
        nothing: Any = "" if self._text.is_text else b""
        out, err = (None if lines is None else nothing.join(lines) for lines in self._lines)
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
        if not self.addresses:
            raise WeirError("the path has not begun: it begins with its `with` statement")
        if self._channel.fileno() < 0:
            raise WeirError("the path has ended")
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

    def popen(self, args: Args, bufsize: int = -1, *, stdin: int | IO[Any] | None = DEVNULL,
              stdout: int | IO[Any] | None = PIPE, stderr: int | IO[Any] | None = PIPE,
              cwd: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None,
              shell: bool = False, text: bool | None = None,
              universal_newlines: bool | None = None, encoding: str | None = None,
              errors: str | None = None, pipesize: int = -1, close_fds: bool = True,
              start_new_session: bool = True, **how: Any) -> Process:
        """Starts a process here, as subprocess.Popen does, with its arguments. By default its
        output goes into pipes, as text, and it has no input. The process ends with the path."""
        for name, value in how.items():
            if name in _HERE_ONLY and value != _HERE_ONLY[name]:
                raise ValueError(f"{name} cannot reach a process at an end of a path, which "
                                 "another process starts")
            if name not in _HERE_ONLY and name not in _PASSED_ON:
                raise TypeError(f"popen() got an unexpected argument {name!r}; it takes those of "
                                "subprocess.Popen")
        opens = _Text(text, universal_newlines, encoding, errors, bufsize)
        words: str | list[str] = (os.fsdecode(args) if isinstance(args, (str, bytes, os.PathLike))
                                  else [os.fsdecode(word) for word in args])
        here = os.getcwd()
        request = {"args": words, "cwd": os.path.join(here, os.fsdecode(cwd)) if cwd else here,
                   "env": dict(os.environ if env is None else env), "shell": shell,
                   "how": {name: how[name] for name in _PASSED_ON if name in how}}
        json.dumps(request)  # raises TypeError before anything is opened
        ours: list[IO[Any] | None] = []
        theirs: list[int] = []
        opened: list[int] = []
        status, tell = os.pipe()
        opened.append(tell)
        try:
            for number, wanted in enumerate((stdin, stdout, stderr)):
                mine: IO[Any] | None = None
                if wanted == PIPE:
                    reads, writes = os.pipe()
                    if pipesize > 0:
                        fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, pipesize)
                    fd, own = (reads, writes) if number == 0 else (writes, reads)
                    opened.append(fd)
                    mine = opens.open(own, "w" if number == 0 else "r")
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
            answer = self._ask(request, [*theirs, tell])
        except BaseException:
            os.close(status)
            for stream in ours:
                if stream is not None:
                    stream.close()
            raise
        finally:
            for fd in opened:
                os.close(fd)
        return Process(self, args, answer["pid"], status, opens, (ours[0], ours[1], ours[2]))

    def run(self, args: Args, *, input: Any = None, capture_output: bool = False,
            timeout: float | None = None, check: bool = False,
            **how: Any) -> subprocess.CompletedProcess[Any]:
        """Runs a command here and waits for its end, as subprocess.run does, with its arguments.
        The output is captured, as text, unless the arguments say otherwise; if the input is bytes,
        so is the output."""
        if capture_output and not {"stdout", "stderr"}.isdisjoint(how):
            raise ValueError("stdout and stderr arguments may not be used with capture_output.")
        if input is not None:
            if how.get("stdin") is not None:
                raise ValueError("stdin and input arguments may not both be used.")
            how["stdin"] = PIPE
            if not isinstance(input, str) and not {"text", "universal_newlines", "encoding",
                                                   "errors"} & {name for name, value in how.items()
                                                                if value is not None}:
                how["text"] = False
        process = self.popen(args, **how)
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
        done: subprocess.CompletedProcess[Any] = subprocess.CompletedProcess(
            args, process.wait(), out, err)
        if check:
            done.check_returncode()
        return done
