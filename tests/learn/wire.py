#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plays a scenario between two interfaces, with libweir: a path whose clock is the kernel's. In a
guest whose time is virtual, that is a path without the noise of a busy machine.

usage: wire.py SCENARIO INTERFACE_A INTERFACE_B SEED    until it is ended; says `ready`
"""
import os
import pathlib
import select
import socket
import struct
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python", "src"))
from weir import Network  # noqa: E402

EVERY = 3  # ETH_P_ALL
SO_RCVBUFFORCE = 33
LONGEST = 1 << 16
BUFFER = 64 << 20  # a burst of several connections has more than the usual 200 kB
SOL_PACKET, PACKET_STATISTICS = 263, (6, 8)  # the option, and its bytes


def opened(interface):
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY))
    end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    end.bind((interface, 0))
    end.setblocking(False)
    return end


def frames(end):
    """Returns what has arrived at an interface; not what was sent there."""
    while True:
        try:
            frame, (_, _, kind, *_) = end.recvfrom(LONGEST)
        except BlockingIOError:
            return
        if kind != socket.PACKET_OUTGOING:
            yield frame


def play(scenario, ends, seed):
    with Network(scenario, seed=seed) as network:
        begin = time.monotonic_ns()
        while True:
            due = network.next_ns()
            left = None if due is None else max(0, due - (time.monotonic_ns() - begin)) / 1e9
            ready, _, _ = select.select(list(ends.values()), [], [], left)
            now = max(time.monotonic_ns() - begin, network.now_ns)
            for out in network.receive(now):
                ends[out.port].send(out.data)
            for port, end in ends.items():
                if end in ready:
                    if struct.unpack("II", end.getsockopt(SOL_PACKET, *PACKET_STATISTICS))[1]:
                        raise BlockingIOError(f"port {port}: packets came that nobody took")
                    for frame in frames(end):
                        network.send(now, port, frame)


def main():
    scenario, a, b, seed = sys.argv[1:]
    ends = {"a": opened(a), "b": opened(b)}
    print("ready", flush=True)
    play(pathlib.Path(scenario), ends, int(seed))


main()
