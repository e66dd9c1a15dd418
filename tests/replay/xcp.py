#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""XCP, a router that writes into packets, through `weir replay`: the results for streams of
requests. tests/unit/test_xcp.c tests single requests.

usage: xcp.py WEIR ROOT
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MACS = bytes.fromhex("020000000002020000000001")
NS, MS = 10 ** 9, 10 ** 6
CAPACITY, WIRE = 1_250_000, 1014  # byte/s; bytes of a frame
ASKED, RTT = 10 ** 6, 0.08        # byte/s; s


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack(">H", ~total & 0xffff)


def frame(gap_ns):
    """Returns a request: round trip 80 ms, packets `gap_ns` apart."""
    xcp = struct.pack(">4B2IiI", 17, 20, 0x21, 0, int(RTT * 2 ** 28), gap_ns * 2 ** 28 // NS, ASKED,
                      0)
    udp = struct.pack(">HHHH", 1000, 2000, WIRE - 14 - 40, 0) + bytes(WIRE - 14 - 48)
    head = (struct.pack(">BBHHHBBH", 0x45, 0, WIRE - 14, 1, 0, 64, 254, 0)
            + bytes([198, 51, 100, 7, 203, 0, 113, 8]))
    return MACS + b"\x08\x00" + head[:10] + checksum(head) + head[12:] + xcp + udp


def replay(folder, times, *options):
    """Returns the answers to two seconds of requests at `times` the rate, and the report of the
    cloud."""
    gap = int(WIRE * NS / CAPACITY / times)
    with open(f"{folder}/in.pcap", "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for i in range(2 * NS // gap):
            data = frame(gap)
            out.write(struct.pack("<IIII", 1 + i * gap // NS, i * gap % NS, len(data), len(data))
                      + data)
    done = subprocess.run([WEIR, "replay", "-q", "-c", f"{ROOT}/configs/xcp.weir",
                           "--in", f"a={folder}/in.pcap",
                           "--out", f"a={folder}/a.pcap", "--out", f"b={folder}/b.pcap",
                           "--report", f"{folder}/report.json",
                           *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{folder}/report.json", encoding="utf-8") as report:
        down = json.load(report)["clouds"][0]
    with open(f"{folder}/b.pcap", "rb") as source:
        data = source.read()
    at, deltas = 24, []
    while at < len(data):
        seconds, ns, size = struct.unpack_from("<III", data, at)
        deltas.append((seconds * NS + ns - NS,
                       struct.unpack_from(">i", data, at + 16 + 14 + 20 + 12)[0]))
        at += 16 + size
    return deltas, down


def what_is_spare_is_shared_out_in_each_round_trip():
    with tempfile.TemporaryDirectory() as folder:
        deltas, down = replay(folder, 0.5)
        assert down["feedback"]["written"] == down["rx_packets"] == len(deltas)
        # F = 0.4 (C - y) exceeds the shuffled traffic, 0.1 y, so none is shuffled. F is divided
        # among the packets of one round trip.
        spare, packets = 0.4 * (CAPACITY - CAPACITY / 2), RTT * CAPACITY / 2 / WIRE
        settled = [delta for t, delta in deltas if t > NS]
        # An interval has 49 or 50 packets, so y and the parts differ by 2 % each, and the last of
        # 50 may find nothing left.
        near = [delta for delta in settled if abs(delta - spare / packets) < 0.04 * spare / packets]
        assert len(near) > 0.97 * len(settled), sorted(settled)[:30]
        xcp = down["xcp"]
        assert abs(xcp["aggregate_bps"] - 8 * spare) < 0.03 * 8 * spare, xcp
        assert abs(xcp["rtt_ns"] - RTT * NS) < 10 and xcp["queue_bytes"] == 0, xcp


def senders_are_told_to_go_slower_when_more_comes_than_the_link_carries():
    with tempfile.TemporaryDirectory() as folder:
        deltas, down = replay(folder, 1.5)
        settled = [delta for t, delta in deltas if NS > t > NS // 2]
        assert settled and all(delta < 0 for delta in settled), settled[:9]
        # The queue is also shared out: more is taken away than the excess rate.
        taken = -sum(settled) / (0.5 / RTT)
        assert taken > 0.4 * 0.5 * CAPACITY, taken
        assert down["delay_ns"]["max"] > 100 * MS, "there was no queue"


def tshark_finds_the_packets_right_and_bursts_do_not_matter():
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not installed")
    with tempfile.TemporaryDirectory() as folder:
        seen = [replay(folder, 1.2, "--burst", burst) for burst in ("1", "7", "32")]
        assert seen[0] == seen[1] == seen[2]
        done = subprocess.run(["tshark", "-r", f"{folder}/b.pcap", "-o", "ip.check_checksum:TRUE",
                               "-T", "fields", "-e",
                               "ip.checksum.status", "-e", "_ws.malformed"], capture_output=True,
                              text=True, check=True)
        assert {line.strip() for line in done.stdout.splitlines()} == {"1"}


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    what_is_spare_is_shared_out_in_each_round_trip,
    senders_are_told_to_go_slower_when_more_comes_than_the_link_carries,
    tshark_finds_the_packets_right_and_bursts_do_not_matter)]))
