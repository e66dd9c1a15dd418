#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One end of a measured path: sends numbered datagrams, and keeps when the kernel saw each.

usage: one_way.py RESULT SECONDS OWN PEER      writes what this end has sent and received
       one_way.py --compare DELAY_MS A B       compares two such files; prints percentiles

Both instants of a packet are the kernel's, so it does not matter when this program gets to run: the
driver of the interface stamps what it sends (SO_TIMESTAMPING, SOF_TIMESTAMPING_TX_SOFTWARE), and
the kernel stamps what arrives, before any process sees it. Neither needs a right. Both ends read
one clock. A sender that comes late sends late, and never two at once.
"""

import json
import socket
import struct
import sys
import time

PORT = 7979
PACE_S = 0.005
TAIL_S = 1.0  # how long it listens after its last datagram

SO_TIMESTAMPING = 37
TX_SOFTWARE, RX_SOFTWARE, SOFTWARE = 1 << 1, 1 << 3, 1 << 4
OPT_ID, OPT_TSONLY = 1 << 7, 1 << 11
FLAGS = TX_SOFTWARE | RX_SOFTWARE | SOFTWARE | OPT_ID | OPT_TSONLY
ROOM = socket.CMSG_SPACE(48) + socket.CMSG_SPACE(64)


def stamp_of(control):
    """Returns the kernel's stamp in ns, and the number of the datagram if the kernel says it."""
    stamp_ns = number = None
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPING:
            s, ns = struct.unpack_from("qq", data)
            stamp_ns = s * 1_000_000_000 + ns
        elif level == socket.IPPROTO_IP and len(data) >= 16:
            number = struct.unpack_from("IBBBBII", data)[6]
    return stamp_ns, number


def drain(link, sent, received):
    """Takes all that waits in the socket: what has arrived, and the stamps of what was sent."""
    for flags in (socket.MSG_ERRQUEUE, 0):
        while True:
            try:
                data, control, _, _ = link.recvmsg(64, ROOM, flags | socket.MSG_DONTWAIT)
            except (BlockingIOError, ConnectionError):
                break
            stamp_ns, number = stamp_of(control)
            if flags and number is not None:
                sent[number] = stamp_ns
            elif not flags and len(data) == 8:
                received[struct.unpack("Q", data)[0]] = stamp_ns


def exchange(result, seconds, own, peer):
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, FLAGS)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    link.bind((own, PORT))
    link.connect((peer, PORT))
    sent, received, number = {}, {}, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            link.send(struct.pack("Q", number))
            number += 1
        except ConnectionError:
            pass  # the peer is not there yet
        time.sleep(PACE_S)
        drain(link, sent, received)
    end += TAIL_S
    while time.monotonic() < end:
        time.sleep(PACE_S)
        drain(link, sent, received)
    with open(result, "w", encoding="ascii") as file:
        json.dump({"sent": sent, "received": received}, file)


def errors_us(delay_ns, sender, receiver):
    sent = json.load(open(sender, encoding="ascii"))["sent"]
    received = json.load(open(receiver, encoding="ascii"))["received"]
    return [
        (received[number] - sent[number] - delay_ns) / 1000
        for number in sent
        if number in received and received[number] and sent[number]
    ]


def compare(delay_ms, a, b):
    delay_ns = int(float(delay_ms) * 1e6)
    errors = sorted(errors_us(delay_ns, a, b) + errors_us(delay_ns, b, a))
    if not errors:
        sys.exit("no packet arrived")
    at = [errors[min(int(len(errors) * share), len(errors) - 1)] for share in (0.5, 0.9, 0.99)]
    print("{:.0f}\t{:.0f}\t{:.0f}\t{:.0f}\t{}".format(*at, errors[-1], len(errors)))


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        compare(*sys.argv[2:])
    else:
        exchange(sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4])
