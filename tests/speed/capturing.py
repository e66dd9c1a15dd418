#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what a capture of everything costs at a given rate: runs with and without a capture, in
turns, each of which plays the same packets from a file. Prints the packets that weir has lost, the
lateness of packets when they were handed over, and whether the written packets and those that the
ring could not take add up to the packets at each point.

To be run by hand, on an idle machine. It takes two processors, and 80 bytes per packet in the
folder of temporary files.

usage: capturing.py WEIR [--mpps 1] [--seconds 3] [--turns 5] [--snap 128] [STATEMENT...]

Without a STATEMENT the cloud has `delay 10ms`.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "control"))
from conversation import Weir  # noqa: E402

QUIET_S = 3  # in which the capture starts, before the first packet
FRAME = bytes.fromhex("020000000002020000000001" "0800"
                      "4500002e00010000401100" "00c6336407cb007108"
                      "03e807d0001a0000").ljust(60, b"\0")


def packets(path, n, apart_ns):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        rows = [struct.pack("<IIII", 1, 0, 14, 14)
                + bytes(14)]  # a mark of the beginning, which no cloud takes
        for i in range(n):
            t = QUIET_S * 10 ** 9 + i * apart_ns
            rows.append(struct.pack("<IIII", 1 + t // 10 ** 9, t % 10 ** 9, len(FRAME), len(FRAME))
                        + FRAME)
            if len(rows) == 10000:
                out.write(b"".join(rows))
                rows = []
        out.write(b"".join(rows))


def written(tail):
    """Returns (written, missing) by interface, from the interface statistics in the last blocks of
    the file."""
    blocks, at = [], len(tail)
    while at >= 4:
        length = struct.unpack_from("<I", tail, at - 4)[0]
        if length > at or struct.unpack_from("<I", tail, at - length)[0] != 5:
            break
        at -= length
        options = struct.unpack_from("<HHQHHQ", tail, at + 20)
        blocks.append((options[2] - options[5], options[5]))
    return blocks[::-1]


def said(weir, *words):
    return json.loads(subprocess.run([sys.argv[1], "ctl", "-s", weir.path, "-j", *words],
                                     capture_output=True,
                                     check=True).stdout)


def one(arguments, path, n, captures):
    scenario = (f"seed 1\nport a device file:{path}\nport b device net_null0,no-rx=1\n"
                "cloud down from a to b match ip\n")
    scenario += "".join(f"cloud down {line}\n" for line in arguments.statements)
    # The last processor is only for the worker, as far as this test can ensure it.
    cpus = sorted(os.sched_getaffinity(0))
    weir = Weir(arguments.weir, "capturing", "--cores", str(cpus[-1]), scenario=scenario)
    os.sched_setaffinity(0, cpus[:-1] or cpus)
    try:
        writer = (captures and subprocess.Popen([arguments.weir, "ctl", "-s", weir.path, "capture",
                                                 "down", "snap",
                                                str(arguments.snap), "-o", "-"],
                                                stdout=subprocess.PIPE))
        reader = (captures and subprocess.Popen(["tail", "-c", "4000"], stdin=writer.stdout,
                                                stdout=subprocess.PIPE))
        before, still = -1, 0
        while still < 3:
            time.sleep(1)
            came = said(weir, "show", "cloud", "down")["rx_packets"]
            still = still + 1 if came == before and came > 1 else 0
            before = came
        cloud, ports = said(weir, "show", "cloud", "down"), said(weir, "show", "ports")["ports"]
        points = []
        if captures:
            writer.send_signal(signal.SIGINT)
            tail, _ = reader.communicate(timeout=60)
            writer.wait()
            points = written(tail)
        lost = (sum(ports[0][key] or 0 for key in ("rx_missed", "rx_no_mbuf"))
                + ports[1]["tx_full"] + cloud["drops"].get("no-buffer", 0))
        return {"rx": cloud["rx_packets"], "tx": cloud["tx_packets"],
                "lost": lost + n - cloud["rx_packets"],
                "p50": ports[1]["lateness_ns"]["p50"], "p99": ports[1]["lateness_ns"]["p99"],
                "points": points}
    finally:
        os.sched_setaffinity(0, cpus)
        weir.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("statements", nargs="*", default=["delay 10ms"])
    parser.add_argument("--mpps", type=float, default=1)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--snap", type=int, default=128)
    arguments = parser.parse_args()
    n = int(arguments.mpps * 1e6 * arguments.seconds)
    folder = tempfile.mkdtemp(prefix="weir-capturing-")
    late = {False: [], True: []}
    try:
        packets(f"{folder}/in.pcap", n, round(1000 / arguments.mpps))
        for turn in range(2 * arguments.turns):
            captures = bool(turn % 2)
            row = one(arguments, f"{folder}/in.pcap", n, captures)
            late[captures].append(row["p99"])
            print("with" if captures else "none",
                  f"lost by weir {row['lost']}, late p50 {row['p50']} ns, "
                  f"p99 {row['p99']} ns", end="")
            for name, (there, missing) in zip(("in", "drops", "out") if len(row["points"]) == 3 else
                                              ("in", "queue", "drops", "out"), row["points"]):
                print(f"; {name}: {there} written, {missing} missing", end="")
            came = row["points"] and sum(row["points"][0])
            if captures:
                print(f"; in all {came} of {row['rx']} in:",
                      "exact" if came == row["rx"] else "WRONG", end="")
                left = sum(row["points"][-1])
                print(f", {left} of {row['tx']} out:", "exact" if left == row["tx"] else "WRONG",
                      end="")
            print(flush=True)
        none, some = (statistics.median(late[captures]) for captures in (False, True))
        print(f"late p99, median: {none:.0f} ns without, {some:.0f} ns with: {some / none:.2f} "
              "times")
    finally:
        shutil.rmtree(folder)


main()
