#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""RoCEv2 through `weir replay`: its invariant CRC, which covers all that a router may not change,
stays right, whatever a line does to the packets.

The CRC is that of the InfiniBand architecture, volume 1, annex A17.

usage: rocev2.py WEIR
"""
import os
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR = os.path.abspath(sys.argv[1])
MACS = bytes.fromhex("020000000002020000000001")
ETHERNET, IPV4, IPV6 = 14, 20, 40
N = 400


def words(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def invariant_crc(packet):
    """Of an IP packet without its CRC: what a router may change counts as ones."""
    masked = bytearray(packet)
    if packet[0] >> 4 == 4:
        udp = IPV4
        masked[1] = masked[8] = 0xff  # DSCP and ECN, TTL
        masked[10:12] = b"\xff\xff"
    else:
        udp = IPV6
        masked[0] |= 0x0f  # traffic class, flow label
        masked[1:4] = b"\xff\xff\xff"
        masked[7] = 0xff  # hop limit
    masked[udp + 6:udp + 8] = b"\xff\xff"
    masked[udp + 12] = 0xff  # FECN, BECN, reserved
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


def frame(number):
    """ECT(0), without a checksum in UDP; a write of 0 to 1,020 bytes."""
    payload = bytes((number + i) % 256 for i in range(number * 4 % 1024))
    transport = struct.pack(">BBHII", 0x0a, 0x40, 0xffff, 17, number) + payload
    udp = struct.pack(">HHHH", 49152 + number % 16, 4791, 12 + len(transport), 0)
    if number % 2:
        ends = bytes.fromhex("20010db8" + "00" * 11 + "01" + "20010db8" + "00" * 11 + "02")
        head, kind = struct.pack(">IHBB", 0x6a200000, len(udp + transport) + 4, 17, 64), 0x86dd
        head += ends
    else:
        head = struct.pack(">BBHHHBBH", 0x45, 0x6a, 24 + len(udp + transport), number, 0x4000, 64,
                           17, 0) + bytes([192, 0, 2, 1, 198, 51, 100, 7])
        head = head[:10] + struct.pack(">H", ~words(head) & 0xffff) + head[12:]
        kind = 0x0800
    packet = head + udp + transport
    return MACS + struct.pack(">H", kind) + packet + invariant_crc(packet)


FRAMES = [frame(number) for number in range(N)]


def replayed(statements):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
            out.write("seed 1\nport a\nport b\ncloud down from a to b\n")
            out.writelines(f"cloud down {statement}\n" for statement in statements)
        with open(f"{folder}/in.pcap", "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
            for number, data in enumerate(FRAMES):
                out.write(struct.pack("<IIII", 1, number * 10000, len(data), len(data)) + data)
        done = subprocess.run([WEIR, "replay", "-q", "-c", f"{folder}/s.weir", "--in",
                               f"a={folder}/in.pcap", "--out", f"b={folder}/out.pcap"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with open(f"{folder}/out.pcap", "rb") as file:
            data = file.read()
    frames, at = [], 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def a_line_changes_no_byte():
    frames = replayed(["delay 5ms jitter 2ms", "reorder 5%", "duplicate 3%", "loss 2%",
                       "rate 500mbit queue 1000pkt"])
    assert len(frames) > N * 0.9, len(frames)
    assert set(frames) <= set(FRAMES)
    assert frames != FRAMES


def a_mark_keeps_the_invariant_crc():
    frames = replayed(["rate 100mbit queue 1000pkt", "mark above 5pkt"])
    marked = [data for data in frames if data not in set(FRAMES)]
    assert len(frames) == N and len(marked) > N / 10, (len(frames), len(marked))
    for data in marked:
        packet = data[ETHERNET:]
        assert packet[-4:] == invariant_crc(packet[:-4]), packet.hex()
        assert (packet[1] & 3 if packet[0] >> 4 == 4 else packet[1] >> 4 & 3) == 3
        assert packet[0] >> 4 == 6 or words(packet[:IPV4]) == 0xffff


CLAIMS = [a_line_changes_no_byte, a_mark_keeps_the_invariant_crc]

if __name__ == "__main__":
    sys.exit(tap.run([(claim.__name__, claim) for claim in CLAIMS]))
