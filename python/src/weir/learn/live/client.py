# SPDX-License-Identifier: BSD-3-Clause
"""`weir learn --live HOST`: probes the path to a `weir learn --server`, and learns it from what
both ends have noted. `down` leads from the server to this host."""

from __future__ import annotations

import array
import datetime
import socket
import threading

import numpy

from .. import found as finds
from ..estimate import Ints
from ..pairs import NEVER, Direction, NothingToLearn
from . import address, plan, turns
from .control import Control
from .prober import Gone, Prober
from .server import VERSION

HEADERS = {socket.AF_INET: plan.HEADERS, socket.AF_INET6: plan.HEADERS + 20}


def learn(host: str, time_ns: int, most_bps: int, clocks: str) -> finds.Found:
    """Probes and learns. Raises NothingToLearn with what went wrong."""
    try:
        name, port = address.read(host)
        connection = socket.create_connection((name, port), 5)
    except (ValueError, OSError) as error:
        raise NothingToLearn(
            f"--live {host}: {getattr(error, 'strerror', None) or error}; `weir learn --server "
            "ADDRESS` has to run there, and its port has to be open, for TCP and UDP") from None
    control = Control(connection)
    try:
        return _session(control, host, time_ns, most_bps, clocks)
    except Gone as error:
        raise NothingToLearn(f"--live {host}: {error}") from None
    finally:
        control.close()


def _session(control: Control, host: str, time_ns: int, most_bps: int,
             clocks: str) -> finds.Found:
    control.tell(learn=VERSION, time_ns=time_ns, most=most_bps)
    offer = control.hear("cookie")
    try:
        cookie, most = bytes.fromhex(offer["cookie"]), min(int(offer["most"]), most_bps)
        if most < 1:
            raise ValueError(most)
    except (TypeError, ValueError, KeyError):
        raise Gone("its answer is not that of a `weir learn --server`") from None
    prober = Prober(control.socket.family, cookie)
    try:
        peer = control.socket.getpeername()
        _greet(prober, control, peer)
        prober.start(peer)
        turns.run(prober, control, True, time_ns, most)
        dropped = control.hear("dropped")["dropped"]
        sent_at, sent_size, came_number, came_at = control.get("qHIq")
        control.tell(thanks=1)
    finally:
        prober.stop()
    extra = HEADERS[socket.AddressFamily(control.socket.family)]
    day = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    head = [f"Learned by `weir learn --live` from {time_ns / 1e9:g} s of probes to {host}, of "
            f"{day}, at most {most / 1e6:g} Mbit/s: {len(sent_at)} packets down, "
            f"{len(prober.sent_at)} up."]
    for end, n in (("the server", dropped), ("this host", prober.dropped_here)):
        if n:
            head.append(f"{n} packets came to {end}, whose socket was full: they count as lost on "
                        "the path, which they are not. Probe with a lower --most.")
    ways = {"down": direction(sent_at, sent_size, prober.came_number, prober.came_at, extra),
            "up": direction(prober.sent_at, prober.sent_size, came_number, came_at, extra)}
    there = {name: way for name, way in ways.items() if way is not None}
    if not there:
        raise Gone("no packet of the probes has come through, in either direction")
    return finds.of_ways(head, there, clocks)


def _greet(prober: Prober, control: Control, peer: tuple[str, int]) -> None:
    """Shows the cookie until the server has met it. Its word comes over TCP."""
    met = threading.Event()

    def repeat() -> None:
        while not met.wait(0.1):
            try:
                prober.greet(peer)
            except OSError:  # nobody listens there yet
                pass

    greeter = threading.Thread(target=repeat, daemon=True)
    prober.greet(peer)
    greeter.start()
    try:
        control.hear("met")
    finally:
        met.set()
        greeter.join()


def direction(sent_at: array.array[int], sent_size: array.array[int],
              came_number: array.array[int], came_at: array.array[int],
              extra: int) -> Direction | None:
    """Makes a direction of what its sender and its receiver have noted; None if nothing came. A
    number that comes again is a copy."""
    sent = numpy.array(sent_at, numpy.int64)
    number, at = numpy.array(came_number, numpy.int64), numpy.array(came_at, numpy.int64)
    known = number < len(sent)
    number, at = number[known], at[known]
    if len(number) < 2:
        return None
    first, index = numpy.unique(number, return_index=True)
    received = numpy.full(len(sent), NEVER)
    rank = numpy.full(len(sent), -1)
    received[first], rank[first] = at[index], index
    again: Ints = numpy.setdiff1d(numpy.arange(len(number)), index)
    none = numpy.zeros(len(sent), bool)
    end = int(first[-1]) + 1
    return Direction(sent[:end], received[:end], numpy.array(sent_size, numpy.int64)[:end] + extra,
                     rank[:end], none[:end], none[:end].copy(), number[again], at[again])
