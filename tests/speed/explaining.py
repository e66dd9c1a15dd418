#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what `weir ctl explain` costs: plays connections of twenty packets through a path, and
prints the time of a processor that the program has taken for a second of them, with many new
connections and with a few long ones, in turns.

To be run by hand, on an idle machine. It takes two processors, and 100 bytes per packet in the
folder of temporary files.

usage: explaining.py WEIR[,WEIR...] [--kpps 100] [--seconds 8] [--turns 3] [--perf FILE]

Several programs are compared, in turns. The cloud has `delay 10ms`; the server takes 5 ms.
"""

import argparse
import heapq
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

QUIET_S = 2  # in which the program starts, before the first packet
TRIP_NS = 21 * 10 ** 6  # a host answers half a millisecond after a packet is there
SERVER_NS = 5 * 10 ** 6
REQUEST = b"GET /page HTTP/1.1\r\nHost: www.example.test\r\n\r\n"
FIN, SYN, ACK = 1, 2, 16
CLIENT, SERVER = b"\x0a\0\0\2", b"\x0a\0\1\1"
PACKETS = 20


def frame(up, client_port, flags, sequence, acknowledged, data):
    """Returns a frame of TCP. Its checksums are 0: nothing here looks at them."""
    ports = (client_port, 80) if up else (80, client_port)
    return (b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0" +
            struct.pack(">BBHIBBH", 0x45, 0, 40 + len(data), 0, 64, 6, 0) +
            (CLIENT + SERVER if up else SERVER + CLIENT) +
            struct.pack(">HHIIBBHI", *ports, sequence, acknowledged, 0x50, flags, 60000, 0) + data)


def connection(begin_ns, port):
    """Yields (instant, is the client's, frame): a page of eight packets, acknowledged by pairs."""
    half, at, got = TRIP_NS // 2, begin_ns, 1001
    said = 1001 + len(REQUEST)
    yield at, True, frame(True, port, SYN, 1000, 0, b"")
    yield at + half, False, frame(False, port, SYN | ACK, 5000, 1001, b"")
    at += TRIP_NS
    yield at, True, frame(True, port, ACK, 1001, 5001, b"")
    yield at, True, frame(True, port, ACK, 1001, 5001, REQUEST)
    at += half + SERVER_NS
    for i in range(8):
        yield at + i, False, frame(False, port, ACK, 5001 + i * 100, said, bytes(100))
    at += half
    for i in range(4):
        got = 5201 + i * 200
        yield at + 2 * i + 2, True, frame(True, port, ACK, said, got, b"")
    yield at + 1000, True, frame(True, port, FIN | ACK, said, got, b"")
    at += half + 1000
    yield at, False, frame(False, port, ACK, got, said + 1, b"")
    yield at, False, frame(False, port, FIN | ACK, got, said + 1, b"")
    yield at + half, True, frame(True, port, ACK, said + 1, got + 1, b"")


def long_connection(kpps, seconds):
    """Yields one connection that has all the packets: a download with one packet for each."""
    apart_ns, half, at = 10 ** 6 // kpps, TRIP_NS // 2, TRIP_NS
    yield 0, True, frame(True, 1024, SYN, 1000, 0, b"")
    yield half, False, frame(False, 1024, SYN | ACK, 5000, 1001, b"")
    yield at, True, frame(True, 1024, ACK, 1001, 5001, REQUEST)
    for i in range(kpps * 1000 * seconds // 2):
        at = TRIP_NS + half + 2 * i * apart_ns
        yield at, False, frame(False, 1024, ACK, 5001 + i * 100, 1001 + len(REQUEST), bytes(100))
        yield (at + half + apart_ns, True,
               frame(True, 1024, ACK, 1001 + len(REQUEST), 5101 + i * 100, b""))


def write(folder, name, packets):
    """Writes what each side sends into a capture of its own, in the order of time."""
    files = [open(f"{folder}/{name}-{side}", "wb") for side in ("a", "b")]
    for file in files:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        # A mark of the beginning, which no cloud takes.
        file.write(struct.pack("<IIII", 1, 0, 14, 14) + bytes(14))
    for at, up, data in packets:
        at += QUIET_S * 10 ** 9
        files[not up].write(struct.pack("<IIII", 1 + at // 10 ** 9, at % 10 ** 9, len(data),
                                        len(data)) + data)
    for file in files:
        file.close()


def used_s(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def one(program, folder, name, seconds, perf):
    """Returns the share of a processor, and the connections that were explained. What the program
    takes to begin, most of it for 32 MiB of memory, is not counted."""
    scenario = "seed 1\n" + "".join(f"port {side} device file:{folder}/{name}-{side}\n"
                                    for side in "ab")
    scenario += ("cloud up from a to b match ip\ncloud down from b to a match ip\n"
                 "cloud up delay 10ms\ncloud down delay 10ms\n")
    cpus = sorted(os.sched_getaffinity(0))
    weir = Weir(program, "explaining", "--cores", str(cpus[-1]), scenario=scenario)
    os.sched_setaffinity(0, cpus[:-1] or cpus)
    try:
        with open(f"{folder}/said", "w", encoding="utf-8") as said:
            command = [program, "ctl", "-s", weir.path, "explain"]
            explain = subprocess.Popen((["perf"] + perf.split() if perf else []) +
                                       command, stdout=said)
        time.sleep(QUIET_S - 0.5)
        begun_s = used_s(explain.pid)
        time.sleep(seconds + 3.5)
        took_s = used_s(explain.pid) - begun_s
        explain.send_signal(signal.SIGINT)
        explain.wait(timeout=60)
        with open(f"{folder}/said", encoding="utf-8") as said:
            n = sum(line.startswith("www.example.test:80 ") and " = " in line for line in said)
        return 100 * took_s / seconds, n
    finally:
        os.sched_setaffinity(0, cpus)
        weir.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("--kpps", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--perf", help="runs the program by this command of perf: 'record -o FILE'")
    parser.add_argument("--only", choices=("many", "one"))
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="weir-explaining-")
    apart_ns = 10 ** 6 * PACKETS // arguments.kpps
    n = arguments.seconds * 10 ** 9 // apart_ns
    used = {}
    try:
        write(folder, "many", heapq.merge(
            *[(packet for i in range(first, n, 1000)
               for packet in connection(i * apart_ns, 1024 + i % 60000))
              for first in range(1000)], key=lambda packet: packet[0]))
        write(folder, "one", sorted(long_connection(arguments.kpps, arguments.seconds),
                                    key=lambda packet: packet[0]))
        for _ in range(arguments.turns):
            for name in [arguments.only] if arguments.only else ("many", "one"):
                for program in arguments.weir.split(","):
                    percent, told = one(program, folder, name, arguments.seconds, arguments.perf)
                    used.setdefault((name, program), []).append(percent)
                    print(f"{program} {name}: {percent:.1f} % of a processor, {told} explained",
                          flush=True)
        for (name, program), percents in used.items():
            print(f"{program} {name}: {statistics.median(percents):.1f} %")
    finally:
        shutil.rmtree(folder)


main()
