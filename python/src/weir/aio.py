# SPDX-License-Identifier: BSD-3-Clause
"""The client for asyncio. It shares the operations of weir.protocol with the blocking client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from types import TracebackType
from typing import BinaryIO, TypeVar

from . import protocol, show
from ._link import default_socket
from .errors import Disconnected, WeirError
from .protocol import Answer, Files, Operation, Say
from .recording import Recording
from .replay import PathLike

T = TypeVar("T")


class AsyncClient:
    """weir.Client with `await`. Only one task may use it at a time. `async with` closes it, and so
    does a cancelled wait for an answer: `asyncio.timeout` ends the conversation."""

    hello: show.Hello

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = os.fspath(path) if path is not None else default_socket()
        self._talk = protocol.Conversation()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._over = asyncio.Event()

    async def __aenter__(self) -> AsyncClient:
        try:
            await asyncio.get_running_loop().sock_connect(self._socket, self.path)
            self.hello = await self._run(protocol.hello())
        except OSError as error:
            self.close()
            raise Disconnected(f"{self.path}: no weir answers there: {error.strerror or error}"
                               ) from error
        except BaseException:
            self.close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    async def _writable(self) -> None:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(self._socket, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_writer(self._socket)

    async def _send(self, say: Say, files: list[BinaryIO]) -> int:
        for (name, _), file in zip(say.files, files):
            await self._writable()
            socket.send_fds(self._socket, [f"file {name}\n".encode()], [file.fileno()])
        text = "".join(text + "\n" for text in say.lines)
        await asyncio.get_running_loop().sock_sendall(self._socket, text.encode())
        return len(say.files) + len(say.lines)

    async def _receive(self) -> None:
        data = await asyncio.get_running_loop().sock_recv(self._socket, 1 << 16)
        if not data:
            raise protocol.hung_up()
        self._talk.feed(data)

    async def _say(self, say: Say) -> list[Answer]:
        if self._socket.fileno() < 0:
            raise protocol.closed()
        with contextlib.ExitStack() as opened:
            files: list[BinaryIO] = [opened.enter_context(open(path, "rb"))
                                     for _, path in say.files]
            try:
                expected = await self._send(say, files)
                while len(self._talk.answers) < expected:
                    await self._receive()
            except BaseException as error:
                self.close()
                protocol.tell_broken(error)
                raise
        answers = [self._talk.answers.popleft() for _ in range(expected)]
        for (name, _), answer in zip(say.files, answers):
            protocol.check(answer, f"file {name}")
        return answers[len(say.files):]

    async def _run(self, operation: Operation[T]) -> T:
        try:
            say = next(operation)
            while True:
                say = operation.send(await self._say(say))
        except StopIteration as end:
            result: T = end.value
            return result

    async def command(self, line: str, files: Files | None = None) -> Answer:
        return await self._run(protocol.line(line, files))

    async def change(self, *lines: str, files: Files | None = None) -> Answer:
        return await self._run(protocol.change(lines, files))

    async def load(self, scenario: object) -> Answer:
        return await self._run(protocol.load(scenario))

    async def cloud(self, name: str, *, everything: bool = False) -> show.Cloud:
        return await self._run(protocol.cloud(name, everything))

    async def clouds(self) -> list[Answer]:
        return await self._run(protocol.clouds())

    async def ports(self) -> list[show.Port]:
        return await self._run(protocol.ports())

    async def workers(self) -> list[show.Worker]:
        return await self._run(protocol.workers())

    async def totals(self, most: int = 256) -> show.Totals:
        return await self._run(protocol.totals(most))

    async def config(self) -> str:
        return await self._run(protocol.config())

    async def clear_counters(self) -> None:
        await self._run(protocol.line("clear counters"))

    async def flight_dump(self, folder: PathLike | None = None, *,
                          weir: PathLike | None = None) -> Recording:
        return Recording(await self._run(protocol.flight_dump(folder)), weir=weir)

    @contextlib.asynccontextmanager
    async def batch(self) -> AsyncIterator[list[str]]:
        """`async with client.batch() as lines: lines.append(...)`: one transaction at the end of
        the block."""
        lines: list[str] = []
        yield lines
        await self.change(*lines)

    @contextlib.asynccontextmanager
    async def lease(self, seconds: float | str, *lines: str,
                    files: Files | None = None) -> AsyncIterator[int]:
        """Makes a change that is undone at the end of the block, or when this process ends. Yields
        the number of the lease."""
        async with AsyncClient(self.path) as holder:
            begin = f"begin lease {protocol.duration(seconds)}"
            answer = await holder._run(protocol.change(lines, files, begin))
            renewing = asyncio.create_task(holder._renew(int(answer["lease_ns"]) / 3e9))
            try:
                yield int(answer["lease"])
            except BaseException:
                with contextlib.suppress(WeirError):  # the error of the block takes precedence
                    await holder._give_up(renewing)
                raise
            await holder._give_up(renewing)

    async def _give_up(self, renewing: asyncio.Task[None]) -> None:
        # A renewal that has been sent gets its answer first.
        self._over.set()
        await renewing
        await self.command("revert")

    async def _renew(self, pause: float) -> None:
        while True:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._over.wait(), pause)
                return
            try:
                await self.command("renew")
            except (WeirError, OSError):
                return

    async def events(self, since: int | str | None = None) -> AsyncIterator[show.Event]:
        text = "events" if since is None else f"events from {since}"
        async for raw in self._pushed(text):
            yield show.made(show.Event, raw)

    async def sample(self, interval: float | str = 1.0,
                     clouds: int | None = None) -> AsyncIterator[show.Sample]:
        text = f"sample {protocol.duration(interval)}" + (f" clouds {clouds}" if clouds else "")
        async for raw in self._pushed(text):
            yield show.made(show.Sample, raw)

    async def _pushed(self, text: str) -> AsyncIterator[Answer]:
        async with AsyncClient(self.path) as listener:
            await listener._run(protocol.line(text))
            while True:
                pushed = protocol.next_of(listener._talk)
                if pushed is not None:
                    yield pushed
                    continue
                try:
                    await listener._receive()
                except (Disconnected, ConnectionError):
                    return


def connect_async(path: str | os.PathLike[str] | None = None) -> AsyncClient:
    """`async with weir.connect_async(path) as client: await client.change(...)`"""
    return AsyncClient(path)
