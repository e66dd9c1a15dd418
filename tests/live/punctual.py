#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The observer of test_punctual.sh.

punctual.py end IFACE PEER OUT SECONDS [EVERY_MS]
    Sends numbered packets to PEER, and notes when the kernel stamped each numbered packet that
    leaves or comes at IFACE, whatever weir says.
punctual.py join A B
    Writes a line for each packet that came through, with its way, and its excess over DELAY_MS
    (environment) from the stamp at one end to that at the other, in us.
punctual.py pcap FILE A B
    Adds a column: the same by weir's own capture, from receiving to sending.
"""

import json
import os
import socket
import struct
import sys
import threading
import time

PORT = 7777
SO_TIMESTAMPNS = 35
OUTGOING = 4
DELAY_NS = int(float(os.environ.get("DELAY_MS", "40")) * 1e6)


def number_of(frame):
    """The sender's last byte of address, and the packet's number; or None."""
    if len(frame) < 46 or frame[12:14] != b"\x08\0" or frame[23] != 17:
        return None
    if frame[36:38] != struct.pack(">H", PORT):
        return None
    return frame[29], struct.unpack(">I", frame[42:46])[0]


def end(iface, peer, out, seconds, every_ms="5"):
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sniffer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sniffer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sniffer.bind((iface, 0))
    sniffer.settimeout(0.2)
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # so that no ICMP answers
    sink.bind(("0.0.0.0", PORT))
    seen, all_sent = {"sent": {}, "came": {}}, threading.Event()

    def watch():
        quiet = 0  # how often nothing came in 0.2 s: a machine that stands still makes it one
        while quiet < 8 or not all_sent.is_set():
            try:
                frame, asides, _, address = sniffer.recvmsg(2048, 256)
                quiet = 0
            except TimeoutError:
                quiet += 1
                continue
            name = number_of(frame)
            if name is None:
                continue
            stamp = next(data for _, kind, data in asides if kind == SO_TIMESTAMPNS)
            second, ns = struct.unpack("qq", stamp)
            way = "sent" if address[2] == OUTGOING else "came"
            seen[way].setdefault("%d %d" % name, second * 10**9 + ns)

    watching = threading.Thread(target=watch)
    watching.start()
    number, at = 0, time.monotonic()
    until = at + float(seconds)
    while at < until:
        sink.sendto(struct.pack(">I", number) + b"x" * 20, (peer, PORT))
        number += 1
        at += float(every_ms) / 1000
        time.sleep(max(0.0, at - time.monotonic()))
    all_sent.set()
    watching.join()
    with open(out, "w") as file:
        json.dump(seen, file)


def joined(a, b):
    """{(way, name): excess in ns}"""
    with open(a) as file:
        at_a = json.load(file)
    with open(b) as file:
        at_b = json.load(file)
    excess = {}
    for way, here, there in (("down", at_a, at_b), ("up", at_b, at_a)):
        for name, sent in here["sent"].items():
            if name in there["came"]:
                excess[way, name] = there["came"][name] - sent - DELAY_NS
    return excess


def blocks(data):
    """The blocks of a pcapng file in this machine's byte order."""
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8 : at + length - 4]
        at += length


def by_capture(path):
    """{name: [instants of receiving and sending, in ns]}"""
    with open(path, "rb") as file:
        data = file.read()
    instants = {}
    for kind, body in blocks(data):
        if kind != 6:
            continue
        _, high, low, kept, _ = struct.unpack_from("<IIIII", body)
        name = number_of(body[20 : 20 + kept])
        if name is not None:
            instants.setdefault("%d %d" % name, []).append(high << 32 | low)
    return instants


def main():
    command, *arguments = sys.argv[1:]
    if command == "end":
        end(*arguments)
    elif command == "join":
        for (way, name), excess in joined(*arguments).items():
            print(way, *name.split(), excess / 1000)
    elif command == "pcap":
        instants = by_capture(arguments[0])
        for (way, name), excess in joined(*arguments[1:]).items():
            own = instants.get(name, [])
            if len(own) == 2:
                print(way, *name.split(), excess / 1000, (max(own) - min(own) - DELAY_NS) / 1000)


if __name__ == "__main__":
    main()
