#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Captures at the limits of what they may contain: the longest packets, lengths of 32 bits, the end
of time.

usage: bounds.py WEIR ROOT
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

WEIR = os.path.abspath(sys.argv[1])
LONGEST = 262144  # PACKET_BYTES_MAX, and libpcap's limit for Ethernet
HEADER = 16       # OQ_BYTES
NS = 10**9
MACS = bytes.fromhex("020000000002020000000001")
WHO = bytes([198, 51, 100, 7, 203, 0, 113, 8])
# Far more than any of these takes, even under a sanitizer on a busy machine; without the bounds
# they would take hours.
SECONDS = 120


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv4(total=100, ttl=64, frame=None, protocol=17, more=b""):
    """Returns a frame of `frame` bytes whose IP packet claims the length `total`; the rest is
    padding."""
    head = struct.pack(">BBHHHBBH", 0x45, 2, total, 1, 0, ttl, protocol, 0) + WHO
    head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
    inner = more or struct.pack(">HHHH", 1000, 2000, max(total - 20, 8), 0)
    whole = MACS + b"\x08\x00" + head + inner
    whole += bytes(i & 0xff for i in range(max(14 + total - len(whole), 0)))
    return whole + b"\xee" * ((frame or len(whole)) - len(whole))


def capture(path, frames):
    """frames: the instant in ns, the bytes, and the length on the wire (None: that of the bytes) of
    each."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, LONGEST, 1))
        for t, frame, wire in frames:
            wire = len(frame) if wire is None else wire
            out.write(struct.pack("<IIII", t // NS, t % NS, len(frame), wire) + frame)


def records(path):
    with open(path, "rb") as source:
        data = source.read()
    at, found = 24, []
    while at < len(data):
        seconds, ns, n, wire = struct.unpack_from("<IIII", data, at)
        assert n <= LONGEST and n <= wire, f"{path}: a record of {n} bytes of {wire}"
        assert len(data) >= at + 16 + n, f"{path}: the last record is cut"
        found.append((seconds * NS + ns, data[at + 16:at + 16 + n], wire))
        at += 16 + n
    return found


def weir(folder, lines, frames, back=(), out=True):
    with open(f"{folder}/s.weir", "w", encoding="utf-8") as text:
        text.write("\n".join(["seed 1", "port a", "port b", *lines]) + "\n")
    capture(f"{folder}/a.pcap", frames)
    capture(f"{folder}/b.pcap", back)
    words = [WEIR, "replay", "-q", "-c", f"{folder}/s.weir", "--in", f"a={folder}/a.pcap", "--in",
             f"b={folder}/b.pcap", "--report", f"{folder}/report.json"]
    if out:
        words += ["--out", f"a={folder}/to-a.pcap", "--out", f"b={folder}/to-b.pcap"]
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)


def replay(folder, *arguments, **more):
    """Replays, which must succeed with readable outputs. Returns the counters of the clouds."""
    done = weir(folder, *arguments, **more)
    assert done.returncode == 0, f"{arguments[0]}: {done.returncode}: {done.stderr}"
    for name in ("to-a", "to-b"):
        records(f"{folder}/{name}.pcap")
        is_read_by_weir(folder, f"{folder}/{name}.pcap")
        if shutil.which("capinfos"):
            said = subprocess.run(["capinfos", "-c", f"{folder}/{name}.pcap"], capture_output=True,
                                  text=True)
            assert said.returncode == 0, said.stderr
    with open(f"{folder}/report.json", encoding="utf-8") as report:
        return {cloud["cloud"]: cloud for cloud in json.load(report)["clouds"]}


def is_read_by_weir(folder, path):
    with open(f"{folder}/through.weir", "w", encoding="utf-8") as text:
        text.write("port a\nport b\ncloud x from a to b\n")
    done = subprocess.run([WEIR, "replay", "-q", "-c", f"{folder}/through.weir",
                           "--in", f"a={path}",
                           "--out", f"b={folder}/through.pcap"], capture_output=True, text=True,
                          timeout=SECONDS)
    assert done.returncode == 0 and "damaged" not in done.stderr, done.stderr
    assert records(f"{folder}/through.pcap") == records(path), path


# ---- packets of maximum length ----

def no_statement_makes_a_packet_longer_than_the_longest():
    lengths = [LONGEST - 1, LONGEST]
    scenarios = {
        "nothing": [],
        "copies": ["cloud x duplicate random 100%"],
        "errors": ["cloud x corrupt random 100%"],
        "one bit": ["cloud x corrupt bit-error 1e-7"],
        "rewrite": ["cloud x rewrite set ip.ttl 9"],
        "router": ["cloud x hop 192.0.2.1"],
        "fragments": ["cloud x hop 192.0.2.1 mtu 256"],
        "overhead": ["cloud x rate 1gbit queue 10MB overhead layer1"],
        "cells": ["cloud x rate 1gbit queue 10MB overhead atm"],
        "order": ["cloud x delay 1ms jitter 1ms order allow"],
        "quench": ["cloud x hop 192.0.2.1", "cloud x rate 8mbit queue 600kB",
                   "cloud x red min 1B max 2B max-p 100% weight 100%", "cloud x ecn on",
                   "cloud x becn on-drop on"],
        "classes": ["cloud x rate 1gbit queue 10MB", "cloud x class one match udp",
                    "cloud x class rest"],
    }
    for name, lines in scenarios.items():
        for ttl, total in ((64, 100), (1, 100), (64, 1500), (64, 65535)):
            frames = [(NS, ipv4(total, ttl, frame), None) for frame in lengths]
            with tempfile.TemporaryDirectory() as folder:
                replay(folder, ["cloud x from a to b", *lines], frames)


def a_header_goes_into_what_has_room_for_it_and_no_further():
    for more in (-1, 0, 1, HEADER):
        with tempfile.TemporaryDirectory() as folder:
            cloud = replay(folder, ["cloud x from a to b", "cloud x feedback proxy insert"],
                           [(NS, ipv4(100, 64, LONGEST - HEADER + more), None)])["x"]
            left = records(f"{folder}/to-b.pcap")[0][1]
            fits = more <= 0
            assert (len(left) == LONGEST - HEADER + more
                    + (HEADER if fits else 0)), f"{more}: {len(left)}"
            assert cloud["feedback"]["inserted"] == fits, cloud["feedback"]
            assert cloud["feedback"]["no_room"] == (not fits), cloud["feedback"]


def a_header_does_not_make_a_length_that_a_capture_claims_wrap():
    for wire in (LONGEST - HEADER, LONGEST - HEADER + 1, 2**32 - HEADER, 2**32 - 1):
        with tempfile.TemporaryDirectory() as folder:
            replay(folder, ["cloud x from a to b", "cloud x feedback proxy insert"],
                   [(NS, ipv4(100), wire)])
            _, left, said = records(f"{folder}/to-b.pcap")[0]
            grown = HEADER if wire <= LONGEST - HEADER else 0
            assert said == wire + grown and len(left) == 114 + grown, (wire, said, len(left))


def an_answer_goes_into_what_has_room_for_it_and_no_further():
    """A request on the way down, stripped there, and on the way back its answer, which is a header
    and one value."""
    said = HEADER + 8
    lines = ["cloud d from a to b", "cloud d feedback proxy insert", "cloud e from d to b",
             "cloud e hop 192.0.2.1", "cloud e feedback header", "cloud e rate 1gbit",
             "cloud f from e to b",
             "cloud f feedback proxy strip", "cloud u from b to a",
             "cloud u feedback proxy answer of f"]
    for more in (-1, 0, 1):
        with tempfile.TemporaryDirectory() as folder:
            down = [(NS + i * 1000, ipv4(100), None) for i in range(3)]
            cloud = replay(folder, lines, down,
                           [(2 * NS, ipv4(100, 64, LONGEST - said + more), None)])["u"]
            left = records(f"{folder}/to-a.pcap")[-1][1]
            assert (len(left) == LONGEST - said + more
                    + (said if more <= 0 else 0)), f"{more}: {len(left)}"
            assert cloud["feedback"]["no_room"] == (more > 0), cloud["feedback"]


# ---- the end of time ----

def what_leaves_after_the_end_of_time_is_an_error_that_names_it():
    """The longest packet takes 2097152 s at 1 bit/s: of packets in 2024, the 3585th leaves after
    2^63 ns."""
    start = 1704067200
    takes = LONGEST * 8
    last_right = (2**63 // NS - start) // takes
    frames = [(start * NS, b"\0" * 60, LONGEST)] * (last_right + 1)
    for out in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            done = weir(folder, ["cloud x from a to b", "cloud x rate 1bit queue 10000pkt"], frames,
                        out=out)
            assert done.returncode != 0, done
            wanted = ("2106" if out
                      else f"packet {last_right + 1} out of port b would leave 2^63 ns after 1970")
            assert wanted in done.stderr, done.stderr
            assert not os.path.exists(f"{folder}/to-b.pcap"), "there is an output"
    with tempfile.TemporaryDirectory() as folder:
        done = weir(folder, ["cloud x from a to b", "cloud x rate 1bit queue 10000pkt"],
                    frames[:-1], out=False)
        assert done.returncode == 0, done.stderr


def every_way_to_the_end_of_time_is_an_error():
    """Frames that a capture claims to be very long, at rates of 1 bit/s and with traces."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/ms", "w", encoding="utf-8") as out:
            out.write("4294967295\n")
        ways = {
            "chain": ["cloud x from a to b", "cloud x rate 1bit queue 10000pkt",
                      "cloud y from x to b",
                      "cloud y rate 1bit queue 10000pkt", "cloud y delay 86400s"],
            "shared": ["cloud x from a to b", "cloud x rate 1bit queue 10000pkt",
                       "cloud y from b to b", "cloud y delay 1s"],
            "order": ["cloud x from a to b", "cloud x rate 1bit queue 10000pkt",
                      "cloud x delay 86400s jitter 3600s order allow"],
            "classes": ["cloud x from a to b", "cloud x rate 1bit queue 10000pkt",
                        "cloud x class one",
                        "cloud x scheduler drr"],
            "slots": ["cloud x from a to b", "cloud x rate 1bit queue 10000pkt",
                      "cloud x slots min 86400s max 86400s packets 1"],
            "trace": ["cloud x from a to b", f"cloud x trace {folder}/ms loop queue 10000pkt"],
        }
        for name, lines in ways.items():
            done = weir(folder, lines, [(NS, b"\0" * 60, LONGEST)] * 4500, out=False)
            assert (done.returncode != 0
                    and "where weir's time ends" in done.stderr), f"{name}: {done}"


CLAIMS = [
    no_statement_makes_a_packet_longer_than_the_longest,
    a_header_goes_into_what_has_room_for_it_and_no_further,
    a_header_does_not_make_a_length_that_a_capture_claims_wrap,
    an_answer_goes_into_what_has_room_for_it_and_no_further,
    what_leaves_after_the_end_of_time_is_an_error_that_names_it,
    every_way_to_the_end_of_time_is_an_error,
]

if __name__ == "__main__":
    sys.exit(tap.run([(claim.__name__, claim) for claim in CLAIMS]))
