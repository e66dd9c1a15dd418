# SPDX-License-Identifier: BSD-3-Clause
"""Sends and receives the packets of one end, and notes when.

A packet begins with the session's cookie, its number and its flow. Instants are those of the wall
clock: of sending, just before the system call; of receiving, the kernel's (SO_TIMESTAMPNS). What
this host's own socket drops, because nobody took it in time, is counted apart (SO_RXQ_OVFL).
"""

from __future__ import annotations

import array
import socket
import struct
import threading
import time
from collections.abc import Iterable
from typing import Any

from .plan import TRAIN, TRAIN_PACKETS, Packet

HEAD = struct.Struct("!16sIB")
HELLO = 0xffffffff       # the number of the packet that shows the cookie
SO_TIMESTAMPNS = 35
SO_RXQ_OVFL = 40
BUFFER = 4 << 20
BEHIND_NS = 20 * 10**6   # who is so late sends the rest later, not faster
SILENCE_NS = 3 * 10**9
Came = tuple[int, int, int, int]  # number, flow, bytes, instant
Address = Any


class Gone(Exception):
    """The other end is not there any more: the message says how that shows."""


class Prober:
    """One end of a session. `peer` is where packets go, and the only place they are taken from."""

    def __init__(self, family: int, cookie: bytes) -> None:
        self.cookie = cookie
        self.peer: Address = None
        self.sent_at, self.sent_size = array.array("q"), array.array("H")
        self.came_number, self.came_at = array.array("I"), array.array("q")
        self.dropped_here = 0
        self._trains: list[tuple[int, int]] = []   # of the turn: number and instant
        self._heard = time.monotonic_ns()
        self._stop = threading.Event()
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        for option, value in ((SO_TIMESTAMPNS, 1), (SO_RXQ_OVFL, 1), (socket.SO_RCVBUF, BUFFER),
                              (socket.SO_SNDBUF, BUFFER)):
            self.socket.setsockopt(socket.SOL_SOCKET, option, value)
        self._taker = threading.Thread(target=self._take_all, daemon=True)

    def start(self, peer: Address) -> None:
        """Goes on with this peer, and notes what comes from it."""
        self.peer = peer
        self._heard = time.monotonic_ns()
        self._taker.start()

    def stop(self) -> None:
        self._stop.set()
        if self._taker.is_alive():
            self._taker.join()
        self.socket.close()

    # ---- receiving ----

    def receive(self) -> tuple[Came, Address] | None:
        """Returns the next packet of this session, from whomever; None after 0.1 s, or if it is
        none."""
        self.socket.settimeout(0.1)
        try:
            data, control, _, sender = self.socket.recvmsg(2048, 64)
        except (TimeoutError, ConnectionRefusedError):
            return None
        if len(data) < HEAD.size:
            return None
        cookie, number, flow = HEAD.unpack_from(data)
        if cookie != self.cookie:
            return None
        return (number, flow, len(data), self._instant(control)), sender

    def _instant(self, control: list[tuple[int, int, bytes]]) -> int:
        at = time.time_ns()
        for level, kind, value in control:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, ns = struct.unpack_from("@qq", value)
                at = seconds * 10**9 + ns
            elif level == socket.SOL_SOCKET and kind == SO_RXQ_OVFL:
                self.dropped_here = struct.unpack_from("@I", value)[0]
        return at

    def _take_all(self) -> None:
        while not self._stop.is_set():
            found = self.receive()
            if found is None or found[1][:2] != self.peer[:2]:
                continue
            number, flow, _, at = found[0]
            if number == HELLO:
                continue
            self._heard = time.monotonic_ns()
            self.came_number.append(number)
            self.came_at.append(at)
            if flow == TRAIN:
                self._trains.append((number, at))

    def train_rate(self, size: int) -> int | None:
        """Returns the median rate at which packets of the trains so far have come."""
        rates, runs = [], sorted(self._trains)
        for (first, begin), (last, end) in zip(runs, runs[TRAIN_PACKETS // 2:]):
            if 0 < last - first <= TRAIN_PACKETS and end > begin:
                rates.append(TRAIN_PACKETS // 2 * size * 8 * 10**9 // (end - begin))
        return sorted(rates)[len(rates) // 2] if rates else None

    # ---- sending ----

    def greet(self, peer: Address) -> None:
        self.socket.sendto(HEAD.pack(self.cookie, HELLO, 0), peer)

    def send(self, packets: Iterable[Packet], time_ns: int) -> None:
        """Sends a plan, as much of it as its time allows. Raises Gone if nothing comes from the
        other end meanwhile."""
        begin = self._heard = time.monotonic_ns()
        end = begin + time_ns
        for due, size, flow in packets:
            late = time.monotonic_ns() - begin - due
            if begin + due > end:
                break
            if late < 0:
                time.sleep(-late / 1e9)
            elif late > BEHIND_NS:
                begin += late
            if time.monotonic_ns() - self._heard > SILENCE_NS:
                raise Gone("nothing has come from the other end for 3 s")
            data = HEAD.pack(self.cookie, len(self.sent_at), flow).ljust(size, b"\0")
            self.sent_size.append(size)
            self.sent_at.append(time.time_ns())
            try:
                self.socket.sendto(data, self.peer)
            except OSError:  # it was lost on this host: nobody else has it
                pass
