#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a capture of frames of one length at one rate: traffic to look at a path with.

A frame's first 14 bytes are kept, its length counts as it is. usage: steady-capture.py FILE RATE_BPS SECONDS [BYTES]
"""
import struct
import sys


def main(path, rate_bps, seconds, frame_bytes=1514):
    frame = bytes.fromhex("02000000000202000000000188b5")
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for number in range(rate_bps * seconds // (frame_bytes * 8)):
            t_ns = number * frame_bytes * 8 * 10**9 // rate_bps
            out.write(struct.pack("<IIII", t_ns // 10**9, t_ns % 10**9, len(frame), frame_bytes) + frame)


main(sys.argv[1], *map(int, sys.argv[2:]))
