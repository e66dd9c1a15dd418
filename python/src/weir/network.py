# SPDX-License-Identifier: BSD-3-Clause
"""A network inside this process, in virtual time: the library libweir (docs/bindings.md)."""

from __future__ import annotations

import ctypes
import errno
import functools
import json
import os
import socket
import struct
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

from . import _library, errors, show
from .scenario import Scenario, beside

DETAILS = ("", "copy", "generated", "generated", "marked", "copy marked", "generated marked",
           "generated marked")  # by WEIR_FATE_COPY, _GENERATED, _MARKED
# A struct weir_frame and a struct weir_datagram, which are read faster so than member by member.
_FRAME = struct.Struct("@qIII4xP")
_DATAGRAM = struct.Struct("@qIIPHH16sHH16sBBB5x")
KINDS = ("delivered", "dropped", "arrived", "passed", "queued", "marked", "left")


class Frame(NamedTuple):
    """An Ethernet frame, without preamble and FCS. `port` is where it enters, or has left.
    `wire_bytes` is its length if `data` is only its beginning."""

    t_ns: int
    port: str
    data: bytes
    wire_bytes: int = 0


class Datagram(NamedTuple):
    """A UDP datagram. `source` and `target` are an address and a port of UDP, as of a socket."""

    t_ns: int
    port: str
    source: tuple[str, int]
    target: tuple[str, int]
    payload: bytes
    ecn: int = 0
    dscp: int = 0
    ttl: int = 64


class Fate(NamedTuple):
    """What becomes of a packet. `kind` is one of KINDS; the first two are decided in advance.
    `packet` is its number at `port`, from 1; 0: the network made it. `data` is its beginning."""

    t_ns: int
    kind: str
    port: str
    packet: int
    cloud: str
    statement: str | None
    reason: str | None
    reason_kind: str | None
    to_port: str
    arrived_ns: int
    leaves_ns: int | None
    queue_bytes: int
    wire_bytes: int
    detail: str
    data: bytes


@functools.lru_cache(4096)
def _address(text: str, port: int) -> _library.Address:
    family, kind = ((_library.IPV6, socket.AF_INET6) if ":" in text
                    else (_library.IPV4, socket.AF_INET))
    return _library.Address(family, port, (ctypes.c_uint8 * 16)(*socket.inet_pton(kind, text)))


@functools.lru_cache(4096)
def _text(family: int, raw: bytes) -> str:
    return (socket.inet_ntop(socket.AF_INET6, raw) if family == _library.IPV6
            else socket.inet_ntop(socket.AF_INET, raw[:4]))


class Network:
    """A network made from a scenario: a Scenario, a text with the lines of one, a file, or the name
    of one of configs/.

    `seed` is that of all random draws; None: that of the scenario. Files that a text names are
    relative to `folder`. `memory_bytes` bounds the frames that are in the network at once (1 GiB).
    `begin_ns` is the instant from which schedules count."""

    def __init__(self, scenario: Scenario | str | os.PathLike[str], *, seed: int | None = None,
                 folder: str | os.PathLike[str] | None = None, memory_bytes: int = 0,
                 begin_ns: int = 0) -> None:
        text, base = _read(scenario)
        error = _library.Error()
        self._adopt(_library.library().weir_open(
            text.encode(), _options(seed, folder or base, memory_bytes, begin_ns), error), error,
            errors.ScenarioError)

    def _adopt(self, handle: int | None, error: _library.Error,
               otherwise: type[errors.WeirError] = errors.WeirError) -> Network:
        if handle is None:
            raise _wrong(error, otherwise)
        self._lib, self._handle = _library.library(), handle
        self._finalizer = weakref.finalize(self, self._lib.weir_close, handle)
        self.ports: tuple[str, ...] = tuple(
            self._lib.weir_port_name(handle, n).decode()
            for n in range(self._lib.weir_ports(handle)))
        self._index = {name: n for n, name in enumerate(self.ports)}
        self._batch = ctypes.create_string_buffer(_library.BATCH_MAX * _DATAGRAM.size)
        self._called: Any = None  # keeps the callback alive
        self._raised: BaseException | None = None
        return self

    @property
    def _net(self) -> int:
        if not self._finalizer.alive:
            raise ValueError("this network is closed")
        return self._handle

    def close(self) -> None:
        """Frees the network and what is in it."""
        self._finalizer()

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- frames and datagrams --

    def _port(self, name: str) -> int:
        if name not in self._index:
            raise ValueError(f"there is no port `{name}`; there are {', '.join(self.ports)}")
        return self._index[name]

    def _fail(self, code: int, t_ns: int, what: str) -> NoReturn:
        words = self._lib.weir_words(code).decode()
        if code == -errno.ENOMEM:
            raise errors.NoMemory({"code": "no-memory", "message": words})
        raise ValueError(f"{what} at {t_ns} ns, in a network at {self.now_ns} ns: {words}")

    def _answered(self, code: int, t_ns: int, what: str = "a call") -> int:
        """Raises what a call, or a callback during the call, has found wrong."""
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        if code < 0:
            self._fail(code, t_ns, what)
        return code

    def send(self, t_ns: int, port: str, frame: bytes) -> None:
        """Puts a frame in. What the network does with it is no error."""
        self.send_many([Frame(t_ns, port, frame)])

    def send_many(self, frames: Iterable[Frame]) -> None:
        """Puts frames in, in the order of their instants. If one is wrong, those before it are
        in."""
        given = list(frames)
        batch = (_library.Frame * len(given))(*[
            _library.Frame(f.t_ns, self._port(f.port), len(f.data), f.wire_bytes, 0,
                           f.data) for f in given])
        done = 0
        while done < len(given):
            frame = given[done]
            done += self._answered(
                self._lib.weir_send_many(self._net, batch[done], len(given) - done), frame.t_ns,
                f"a frame of {len(frame.data)} bytes")

    def udp_send(self, t_ns: int, port: str, source: tuple[str, int], target: tuple[str, int],
                 payload: bytes, *, ecn: int = 0, dscp: int = 0, ttl: int = 64) -> None:
        """Puts a datagram in, in a frame with headers of Ethernet, IP and UDP."""
        one = _library.Datagram(t_ns, self._port(port), len(payload), payload,
                                _address(*source), _address(*target), ecn, dscp, ttl)
        self._answered(self._lib.weir_udp_send(self._net, one, 1), t_ns,
                       f"a datagram of {len(payload)} bytes, ecn {ecn}, dscp {dscp}")

    def next_ns(self) -> int | None:
        """Returns the next instant at which something leaves or may change; None: never, until
        something is sent. A schedule without an end always has one."""
        at: int = self._lib.weir_next(self._net)
        return None if at == _library.NEVER else at

    @property
    def now_ns(self) -> int:
        """The instant that the network has reached."""
        return int(self._lib.weir_now(self._net))

    def receive(self, until_ns: int) -> list[Frame]:
        """Lets time pass, and returns the frames that have left by then, in order."""
        found: list[Frame] = []
        for t_ns, port, size, wire_bytes, data in self._left(self._lib.weir_receive, until_ns,
                                                             _FRAME):
            found.append(Frame(t_ns, self.ports[port], ctypes.string_at(data, size), wire_bytes))
        return found

    def udp_receive(self, until_ns: int) -> list[Datagram]:
        """Lets time pass, and returns the datagrams that have left by then, in order. What a host
        would not pass to UDP is skipped: damaged ones, fragments, other protocols."""
        found: list[Datagram] = []
        for (t_ns, port, size, payload, family, number, raw, to_family, to_number, to_raw, ecn,
             dscp, ttl) in self._left(self._lib.weir_udp_receive, until_ns, _DATAGRAM):
            found.append(Datagram(t_ns, self.ports[port], (_text(family, raw), number),
                                  (_text(to_family, to_raw), to_number),
                                  ctypes.string_at(payload, size), ecn, dscp, ttl))
        return found

    def _left(self, receive: Any, until_ns: int, kind: struct.Struct) -> Iterator[Any]:
        """Yields the members of the structs that the library returns."""
        while n := self._answered(receive(self._net, until_ns, self._batch, _library.BATCH_MAX),
                                  until_ns):
            yield from kind.iter_unpack(memoryview(self._batch)[:n * kind.size])

    @property
    def udp_skipped(self) -> int:
        """How many frames udp_receive() has skipped."""
        return int(self._lib.weir_udp_skipped(self._net))

    # -- changes and results --

    def change(self, t_ns: int, *lines: str) -> None:
        """Changes the network at an instant: lines as of `weir ctl`, such as
        `cloud down rate 2mbit`. All take effect or none."""
        error, text = _library.Error(), "\n".join(lines)
        code = self._lib.weir_change(self._net, t_ns, text.encode(), error)
        if code == -errno.EINVAL:
            words = {"message": error.text.decode(), "line": error.line, "column": error.column}
            rows = text.split("\n")
            raise errors.Refusal(words, rows[error.line - 1] if 0 < error.line <= len(rows) else "")
        self._answered(code, t_ns, "the change")

    def report(self) -> show.Report:
        """Returns what has happened by now: the report of `weir replay`."""
        text = self._lib.weir_report(self._net)
        if text is None:
            self._fail(-errno.ENOMEM, 0, "")
        try:
            return show.made(show.Report, json.loads(ctypes.string_at(text)))
        finally:
            self._lib.weir_free(text)

    @property
    def lacked_ns(self) -> int | None:
        """From when on the network has lacked memory, so that it does not do what the scenario
        says; None: it has not."""
        at: int = self._lib.weir_lacked(self._net)
        return None if at == _library.NEVER else at

    def on_fate(self, callback: Callable[[Fate], object] | None, *, every: bool = False) -> None:
        """Calls `callback` for each packet that will be delivered or is dropped; with `every`, for
        all that happens to it on its way. None: no longer. The callback does not use the
        network."""
        def called(_: Any, fate: Any) -> None:
            if self._raised is None:
                try:
                    callback(self._fate(fate.contents))  # type: ignore[misc]
                except BaseException as error:  # it passes through C
                    self._raised = error

        kept = _library.OnFate(0) if callback is None else _library.OnFate(called)
        self._lib.weir_on_fate(self._net, kept, None, _library.ALL if every else _library.DECIDED)
        self._called = kept

    def _fate(self, f: _library.Fate) -> Fate:
        statement, reason, kind = (None if text is None else text.decode()
                                   for text in (f.statement, f.reason, f.reason_kind))
        return Fate(f.t_ns, KINDS[f.kind], self.ports[f.port], f.packet, f.cloud.decode(),
                    statement, reason, kind, self.ports[f.to_port], f.arrived_ns,
                    f.leaves_ns if f.kind == 0 else None, f.queue_bytes, f.wire_bytes,
                    DETAILS[f.flags & 7], ctypes.string_at(f.data, f.bytes) if f.data else b"")

    # -- what if, from here --

    def clone(self) -> Network:
        """Returns a second network in the same state, which continues as this one would."""
        error = _library.Error()
        return Network.__new__(Network)._adopt(self._lib.weir_clone(self._net, error), error)

    def save(self) -> bytes:
        """Returns the state as bytes, for Network.load()."""
        error, size = _library.Error(), ctypes.c_size_t()
        saved = self._lib.weir_save(self._net, size, error)
        if saved is None:
            raise _wrong(error, errors.WeirError)
        try:
            return ctypes.string_at(saved, size.value)
        finally:
            self._lib.weir_free(saved)

    @staticmethod
    def load(saved: bytes, *, folder: str | os.PathLike[str] | None = None,
             memory_bytes: int = 0) -> Network:
        """Makes a network from the bytes of save(), of the same version of weir."""
        error = _library.Error()
        return Network.__new__(Network)._adopt(_library.library().weir_load(
            saved, len(saved), _options(None, folder, memory_bytes, 0), error), error)


def _read(scenario: Scenario | str | os.PathLike[str]) -> tuple[str, str | None]:
    """Returns the text of a scenario, and the folder of its files."""
    if isinstance(scenario, Scenario):
        return str(scenario), scenario.folder
    if isinstance(scenario, str) and "\n" in scenario:
        return scenario, None
    path = beside(os.fspath(scenario))
    with open(path, encoding="utf-8") as file:
        return file.read(), os.path.dirname(os.path.abspath(path))


def _options(seed: int | None, folder: str | os.PathLike[str] | None, memory_bytes: int,
             begin_ns: int) -> _library.Options:
    if seed is not None and not 0 <= seed < 1 << 64:
        raise ValueError(f"{seed} is no seed; a seed is from 0 to 2^64 - 1")
    return _library.Options(ctypes.sizeof(_library.Options), seed or 0, seed is not None,
                            None if folder is None else os.fsencode(folder), memory_bytes, begin_ns)


def _wrong(error: _library.Error, otherwise: type[errors.WeirError]) -> errors.WeirError:
    """Returns the exception for what a function says that makes something."""
    text = error.text.decode()
    if -error.code == errno.ENOMEM:
        return errors.NoMemory({"code": "no-memory", "message": text})
    if -error.code == errno.EAGAIN:
        return errors.Refused({"code": "refused", "message": text})
    if error.line:
        return errors.ScenarioError(f"line {error.line}, column {error.column}: {text}", error.line,
                                    error.column)
    return otherwise(text)
