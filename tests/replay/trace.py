#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Recorded traces through `weir replay`: the output is exactly what the file offers.

The traces are those of the mahimahi project, in ../shared/traces beside the tree, or in
WEIR_TRACES. Without them, only the bundled traces are tested.

usage: trace.py WEIR ROOT
"""
import csv
import glob
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TRACES = os.environ.get("WEIR_TRACES", os.path.join(ROOT, "..", "shared", "traces"))


def opportunities(path):
    with open(path, encoding="ascii") as lines:
        return [int(line) for line in lines if line.strip() and not line.startswith("#")]


def capture(path, instants, length):
    """Writes frames of this length, of which the capture has 14 bytes."""
    frame = bytes.fromhex("020000000002" "020000000001" "88b5")
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for t in instants:
            out.write(struct.pack("<IIII", t // 10**9, t % 10**9, len(frame), length) + frame)


def departures(trace, instants, length, queue, more=()):
    with tempfile.TemporaryDirectory() as folder:
        capture(f"{folder}/in.pcap", instants, length)
        with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
            out.write("port a\nport b\ncloud x from a to b\n"
                      f'cloud x trace "{trace}" loop queue {queue}pkt\n')
        done = subprocess.run([WEIR, "replay", "-q", "-c", f"{folder}/s.weir",
                               "--in", f"a={folder}/in.pcap",
                               "--out", f"b={folder}/out.pcap", "--log", f"{folder}/log.csv",
                               *more],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with open(f"{folder}/log.csv", encoding="utf-8", newline="") as log:
            return [int(row["t_out_ns"])
                    for row in csv.DictReader(log) if row["fate"] == "delivered"]


def saturated_delivers_every_opportunity(trace):
    """The queue is never empty, over the whole trace and part of its second round."""
    at = opportunities(trace)
    n = len(at) + len(at) // 10
    out = departures(trace, [0] * n, 1514, n)
    # opportunities at 0 ms pass before the first packet arrives
    offered = [ms * 10**6 for ms in at if ms > 0] + [(at[-1] + ms) * 10**6 for ms in at]
    assert len(out) == n
    assert out == offered[:n], next((i, a, b)
                                    for i, (a, b) in enumerate(zip(out, offered)) if a != b)


def any_window_is_within_a_packet(trace):
    """At every instant the output equals what was offered, less an unfinished packet. So in any
    window between two instants, it differs from the offer of the trace by less than a packet."""
    at = [ms for ms in opportunities(trace) if ms > 0]
    n, counted = 20000, 600
    out = departures(trace, [0] * n, counted + 10, n)
    sent = instants = 0
    for index, ms in enumerate(at):
        if index + 1 < len(at) and at[index + 1] == ms:
            continue
        while sent < n and out[sent] <= ms * 10**6:
            sent += 1
        if sent == n:
            break
        assert 0 <= (index + 1) * 1504 - sent * counted < counted, f"{ms} ms"
        instants += 1
    assert instants > 1000


def bursts_make_no_difference(trace):
    instants = [i * 1300000 for i in range(3000)]
    one = departures(trace, instants, 1514, 100)
    with tempfile.TemporaryDirectory() as folder:
        capture(f"{folder}/in.pcap", instants, 1514)
        with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
            out.write(
                f'port a\nport b\ncloud x from a to b\ncloud x trace "{trace}" loop queue 100pkt\n')
        outputs = []
        for burst in ("1", "7", "32"):
            done = subprocess.run([WEIR, "replay", "-q", "-c", f"{folder}/s.weir", "--in",
                                   f"a={folder}/in.pcap", "--out", f"b={folder}/{burst}.pcap",
                                   "--burst",
                                   burst], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            with open(f"{folder}/{burst}.pcap", "rb") as data:
                outputs.append(data.read())
    assert outputs[0] == outputs[1] == outputs[2]
    assert len(one) > 100


def of_recorded(claim):
    def run():
        found = [path for path in sorted(glob.glob(os.path.join(TRACES, "*.*")))
                 if not path.endswith(".md")]
        if not found:
            raise tap.Skip("there is no ../shared/traces")
        for path in found:
            claim(path)
    return run


def of_bundled(claim):
    def run():
        for name in ("down", "up"):
            claim(f"{ROOT}/configs/traces/lte-driving.{name}")
    return run


CLAIMS = (saturated_delivers_every_opportunity, any_window_is_within_a_packet,
          bursts_make_no_difference)
sys.exit(tap.run([(f"{kind}: {claim.__name__}", of(claim)) for claim in CLAIMS
                  for kind, of in (("recorded", of_recorded), ("bundled", of_bundled))]))
