# SPDX-License-Identifier: BSD-3-Clause
"""A client of a running weir."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO, TypeVar

from . import protocol, show
from ._link import default_socket
from .errors import Disconnected, WeirError
from .protocol import Answer, Files, Operation, Say
from .recording import Recording
from .replay import PathLike

T = TypeVar("T")

__tracebackhide__ = True  # pytest shows the line of the test, and not these


class Client:
    """A conversation with a weir. Only one thread may use it at a time; `with` closes it.

    If weir refuses something, it has changed nothing, and a `weir.errors.Refusal` is raised. The
    conversation is closed if an answer takes longer than `timeout` seconds, or if another exception
    interrupts the wait for it."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *,
                 timeout: float | None = 60.0) -> None:
        self.path = os.fspath(path) if path is not None else default_socket()
        self.timeout = timeout
        self._talk = protocol.Conversation()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(self.path)
            self.hello: show.Hello = self._run(protocol.hello())
        except OSError as error:
            self._socket.close()
            raise Disconnected(f"{self.path}: no weir answers there: {error.strerror or error}"
                               ) from error
        except WeirError:
            self._socket.close()
            raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    # -- how a Say is sent and answered --

    def _send(self, say: Say, files: list[BinaryIO]) -> int:
        for (name, _), file in zip(say.files, files):
            socket.send_fds(self._socket, [f"file {name}\n".encode()], [file.fileno()])
        self._socket.sendall("".join(text + "\n" for text in say.lines).encode())
        return len(say.files) + len(say.lines)

    def _receive(self) -> None:
        data = self._socket.recv(1 << 16)
        if not data:
            raise protocol.hung_up()
        self._talk.feed(data)

    def _say(self, say: Say) -> list[Answer]:
        if self._socket.fileno() < 0:
            raise protocol.closed()
        with contextlib.ExitStack() as opened:
            files: list[BinaryIO] = [opened.enter_context(open(path, "rb"))
                                     for _, path in say.files]
            try:
                expected = self._send(say, files)
                while len(self._talk.answers) < expected:
                    self._receive()
            except BaseException as error:
                self.close()
                protocol.tell_broken(error, self.timeout)
                raise
        answers = [self._talk.answers.popleft() for _ in range(expected)]
        for (name, _), answer in zip(say.files, answers):
            protocol.check(answer, f"file {name}")
        return answers[len(say.files):]

    def _run(self, operation: Operation[T]) -> T:
        try:
            say = next(operation)
            while True:
                say = operation.send(self._say(say))
        except StopIteration as end:
            result: T = end.value
            return result

    # -- operations --

    def command(self, line: str, files: Files | None = None) -> Answer:
        """Sends any line of the language, and returns the answer as it came. `files` maps names in
        the line to paths; this process opens these files for weir."""
        return self._run(protocol.line(line, files))

    def change(self, *lines: str, files: Files | None = None) -> Answer:
        """Changes the scenario: all lines in one transaction, or nothing."""
        return self._run(protocol.change(lines, files))

    def batch(self) -> Batch:
        """`with client.batch() as batch: batch.change(...)`: one transaction at the end of the
        block."""
        return Batch(self)

    def lease(self, seconds: float | str, *lines: str, files: Files | None = None) -> Lease:
        """A temporary change: see Lease."""
        return Lease(self, seconds, lines, files)

    def load(self, scenario: object) -> Answer:
        """Replaces the running scenario by this one (a text, or a weir.Scenario), in one
        transaction."""
        return self._run(protocol.load(scenario))

    def cloud(self, name: str, *, everything: bool = False) -> show.Cloud:
        """`show cloud NAME`; `everything`: since the start of the run."""
        return self._run(protocol.cloud(name, everything))

    def clouds(self) -> list[Answer]:
        """`show cloud`: a row for each cloud."""
        return self._run(protocol.clouds())

    def ports(self) -> list[show.Port]:
        return self._run(protocol.ports())

    def workers(self) -> list[show.Worker]:
        return self._run(protocol.workers())

    def totals(self, most: int = 256) -> show.Totals:
        """Returns all counters since counting began, those of clouds for the first `most`
        clouds."""
        return self._run(protocol.totals(most))

    def config(self) -> str:
        """Returns the scenario in force, as the text of a scenario file."""
        return self._run(protocol.config())

    def clear_counters(self) -> None:
        self._run(protocol.line("clear counters"))

    def flight_dump(self, folder: PathLike | None = None, *,
                    weir: PathLike | None = None) -> Recording:
        """Dumps the flight of a weir that has one (`weir.run(flight=...)`, `weir run --flight`)
        into a new folder, and returns it as a recording. If `folder` is None, weir chooses the
        folder. `weir` is the program that replays the recording. Raises `errors.Conflict` if there
        is no flight, if it holds nothing yet, or if it is being dumped."""
        return Recording(self._run(protocol.flight_dump(folder)), weir=weir)

    def events(self, since: int | str | None = None) -> Iterator[show.Event]:
        """Yields events as they happen, over a connection of its own. `since` is the number of the
        first event, or "oldest"; None: from now on. The stream has begun when this method
        returns."""
        text = "events" if since is None else f"events from {since}"
        return (show.made(show.Event, raw) for raw in self._pushed(text))

    def sample(self, interval: float | str = 1.0,
               clouds: int | None = None) -> Iterator[show.Sample]:
        """Yields what was counted in each interval, as differences, over a connection of its
        own."""
        text = f"sample {protocol.duration(interval)}" + (f" clouds {clouds}" if clouds else "")
        return (show.made(show.Sample, raw) for raw in self._pushed(text))

    def _pushed(self, text: str) -> Iterator[Answer]:
        listener = Client(self.path, timeout=self.timeout)
        try:
            listener._run(protocol.line(text))
        except WeirError:
            listener.close()
            raise
        listener._socket.settimeout(None)
        return listener._listen()

    def _listen(self) -> Iterator[Answer]:
        with self:
            while True:
                pushed = protocol.next_of(self._talk)
                if pushed is not None:
                    yield pushed
                    continue
                try:
                    self._receive()
                except (Disconnected, ConnectionError):
                    return


class Batch:
    """Lines of one transaction. It comes into force at the end of the `with` block, unless the
    block raises."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lines: list[str] = []
        self._files: dict[str, str | os.PathLike[str]] = {}

    def change(self, *lines: str, files: Files | None = None) -> Batch:
        self._lines += lines
        self._files.update(files or {})
        return self

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self._client.change(*self._lines, files=self._files)


class Lease:
    """A change that is undone at the end of the `with` block, or when this process ends, for
    whatever reason.

    It has a connection of its own. A thread renews it during the block. weir undoes it at most
    `seconds` after the last renewal. `keep()` makes the change permanent."""

    def __init__(self, client: Client, seconds: float | str, lines: tuple[str, ...],
                 files: Files | None) -> None:
        self.seconds = protocol.duration(seconds)
        self._lines = lines
        self._files = files
        self._path, self._timeout = client.path, client.timeout
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._thread: threading.Thread | None = None
        self.number = 0

    def __enter__(self) -> Lease:
        self._client = Client(self._path, timeout=self._timeout)
        try:
            answer = self._client._run(protocol.change(self._lines, self._files,
                                                       f"begin lease {self.seconds}"))
        except BaseException:
            self._client.close()
            raise
        self.number = int(answer["lease"])
        pause = int(answer["lease_ns"]) / 3e9
        self._thread = threading.Thread(target=self._renew, args=(pause,), daemon=True)
        self._thread.start()
        return self

    def _renew(self, pause: float) -> None:
        while not self._over.wait(pause):
            try:
                self._command("renew")
            except (WeirError, OSError):
                return

    def _command(self, line: str) -> None:
        if self._client is None:
            raise RuntimeError("the lease begins with its `with` statement")
        with self._lock:
            self._client.command(line)

    def _end(self, line: str) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._command(line)

    def keep(self) -> None:
        """Makes the change permanent."""
        self._end("keep")

    def revert(self) -> None:
        """Undoes the change now."""
        self._end("revert")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if not self._over.is_set():
                self.revert()
        except WeirError:
            if kind is None:  # otherwise the error of the block takes precedence
                raise
        finally:
            if self._client is not None:
                self._client.close()


def connect(path: str | os.PathLike[str] | None = None, *, timeout: float | None = 60.0) -> Client:
    """Connects to the weir that listens at `path`; None: where `weir run` listens by default."""
    return Client(path, timeout=timeout)
