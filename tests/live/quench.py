#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sends handmade source quenches to a host, about TCP segments that it has just sent.

usage: quench.py INTERFACE NAMESPACE KIND COUNT [together | within]

INTERFACE is this end of the pair whose other end is eth0 of the host in NAMESPACE.

  marked dropped   the value of the bit; `both` alternates, marked first
  port address     quotes another connection: another source port, another destination
  stale            about a segment that has been acknowledged
  future           about a sequence number that has not been sent yet
  checksum         with a wrong checksum

Between two quenches it waits until all data is acknowledged that was sent before the sender can
have received the first one, and then all data that was sent until that moment: more than a round
trip, however slow the machine. `together`: all at once, about one segment. `within`: with
acknowledgements between them, but before all data that was in flight at the first one is
acknowledged; status 3 if the machine was too slow for that.
"""
import ctypes
import os
import socket
import struct
import sys

BIT = 0x80
ROUTER = socket.inet_aton("192.0.2.1")


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def packet_socket(interface):
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    made.bind((interface, 0))
    return made


def enter(namespace):
    with open(f"/run/netns/{namespace}", "rb") as net:
        if ctypes.CDLL(None, use_errno=True).setns(net.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), namespace)


class Wire:
    """The packets at the host's interface: the segments that it sends, and the acknowledgements
    that it receives."""

    def __init__(self, interface):
        self.socket = packet_socket(interface)
        self.socket.settimeout(10)
        self.port = None  # the port of the sender: of the first connection that sends full segments
        self.latest = None
        self.sent = self.acknowledged = None  # sequence numbers after the last byte

    def next(self):
        """Returns (frame, end of its data) for a segment with data, or (None, None) for any other
        packet."""
        frame, address = self.socket.recvfrom(65535)
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            return None, None
        header = (frame[14] & 15) * 4
        tcp = frame[14 + header:]
        source, destination, sequence, acknowledged = struct.unpack("!HHII", tcp[:12])
        data = struct.unpack("!H", frame[16:18])[0] - header - (tcp[12] >> 4) * 4
        if self.port is None and address[2] == socket.PACKET_OUTGOING and data > 1000:
            self.port = source
        if address[2] != socket.PACKET_OUTGOING:
            if destination != self.port:
                return None, None
            if self.acknowledged is None or before(self.acknowledged, acknowledged):
                self.acknowledged = acknowledged
            return None, None
        if source != self.port or data <= 0:
            return None, None
        end = (sequence + data) & 0xffffffff
        if self.sent is None or before(self.sent, end):
            self.sent, self.latest = end, frame
        return frame, end

    def drain(self):
        """Reads the packets that have passed already, so that the next one is new."""
        self.socket.setblocking(False)
        try:
            while True:
                self.next()
        except BlockingIOError:
            self.socket.settimeout(10)

    def segment(self):
        """Returns a segment with data that has not been sent before."""
        self.drain()
        while True:
            known = self.sent
            frame, end = self.next()
            if frame and (known is None or before(known, end)):
                return frame, end

    def wait(self, end):
        while self.acknowledged is None or before(self.acknowledged, end):
            self.next()


def before(a, b):
    return a != b and (b - a) & 0x80000000 == 0


def quench(frame, kind):
    header = (frame[14] & 15) * 4
    quoted = bytearray(frame[14:14 + header + 8])
    if kind == "port":
        quoted[header] ^= 0x40
    elif kind == "address":
        quoted[19] ^= 0x40
    elif kind == "future":
        sequence = struct.unpack("!I", quoted[header + 4:header + 8])[0]
        quoted[header + 4:header + 8] = struct.pack("!I", (sequence + (1 << 30)) & 0xffffffff)
    word = 0 if kind == "dropped" else BIT << 24
    icmp = struct.pack("!BBHI", 4, 0, 0, word) + quoted
    right = checksum(icmp)
    icmp = icmp[:2] + struct.pack("!H", right ^ 1 if kind == "checksum" else right) + icmp[4:]
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp), 0, 0, 64, 1, 0, ROUTER, frame[26:30])
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return frame[6:12] + frame[0:6] + b"\x08\x00" + ip + icmp


def main():
    interface, namespace, kind, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    out = packet_socket(interface)
    enter(namespace)
    wire = Wire("eth0")
    if sys.argv[5:] == ["together"]:
        segment, _ = wire.segment()
        frames = [quench(segment, kind)] * count
        for frame in frames:
            out.send(frame)
        return
    if sys.argv[5:] == ["within"]:
        _, end = wire.segment()
        for i in range(count):
            known = wire.acknowledged
            while i > 0 and wire.acknowledged == known:
                wire.next()
            out.send(quench(wire.latest, kind))
        wire.drain()
        sys.exit(0 if before(wire.acknowledged, end) else 3)
    for i in range(count):
        if i > 0:
            for _ in range(2):
                wire.drain()
                wire.wait(wire.sent)
        segment, end = wire.segment()
        if kind == "stale":
            wire.wait(end)
        out.send(quench(segment, ("marked", "dropped")[i % 2] if kind == "both" else kind))


main()
