#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pictures of docs/, a page's each, with weir itself.

usage: pictures.py [--weir FILE] [NAME ...]
At the end it says which page of a statement, of those that docs/README.md lists, has no picture yet.

A row is a scenario and a capture that is made for it; `weir replay --picture` draws it, and one of its figures
is taken: 1 the delay of each packet over time, 2 how the delays are distributed, 3 the queue. What those
do not show (bytes of packets) is drawn here, from the capture that weir wrote.
"""
import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile

import accuracy

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TOOLS = os.path.join(ROOT, "tools")
MS = 1000000

DELAY, SHARES, QUEUE = 1, 2, 3


def steady(n, gap_ns, wire=500):
    return lambda captures: captures.plain(n, gap_ns, wire)


def waves(captures):
    """Half a second at 4 Mbit/s, a quarter at 16, and so on."""
    packets, t = [], 0
    frame = accuracy.ethernet(0x88b5, bytes(46))
    while t < 1500 * MS:
        packets.append((t, frame, 1000))
        t += 500000 if 500 * MS <= t % (750 * MS) else 2 * MS
    return captures.write(packets)


def two_flows(captures):
    """From the ports 1000 and 1001 in turn, 2 Mbit/s each."""
    return captures.tcp(600, MS, 2, 446)


# name, statements, capture, figure
PICTURES = [
    ("loss", ["loss gilbert-elliott p 2% r 20%", "delay 40ms jitter 4ms distribution normal order allow"],
     steady(700, 2 * MS), DELAY),
    ("duplicate", ["duplicate every 10", "rate 2500kbit queue 100kB"], steady(150, 2 * MS), DELAY),
    ("reorder", ["delay 40ms", "reorder 20% gap 5"], steady(300, MS), DELAY),
    ("police", ["police 5mbit burst 30kB", "delay 20ms jitter 1ms"], waves, DELAY),
    ("rate", ["rate 8mbit queue 60kB", "delay 20ms"], waves, QUEUE),
    ("delay-order", ["delay 40ms jitter 5ms distribution normal order keep"], steady(600, 333333), DELAY),
    ("delay", ["delay 40ms jitter 8ms distribution gamma order allow"], steady(100000, 10000), SHARES),
    ("schedule", ["rate 6mbit queue 60kB", "wave rate 2mbit..10mbit period 500ms", "delay 20ms",
                  "every 400ms for 20ms down"], steady(750, 2 * MS, 1000), DELAY),
    ("scheduler", ["rate 3mbit", "class voice weight 0.8 queue 25kB match tcp port 1000",
                   "class data weight 0.2 queue 25kB", "scheduler priority", "delay 20ms"], two_flows, DELAY),
    # drawn as soon as weir has the statement
    ("slots", ["slots min 10ms max 20ms", "delay 20ms"], steady(600, MS), DELAY),
    ("mark", ["rate 8mbit queue 60kB", "mark above 20kB", "delay 20ms"], waves, QUEUE),
    ("netem", ["netem delay 40ms 5ms 25% distribution normal loss 2% 50% reorder 5%"], steady(500, 2 * MS), DELAY),
]


def packets_of(path):
    with open(path, "rb") as capture:
        data = capture.read()
    at = 24
    while at < len(data):
        _, _, here, _ = struct.unpack_from("<IIII", data, at)
        yield data[at + 16:at + 16 + here]
        at += 16 + here


def wrong_bits(before, after):
    """Number of the packet, and byte of the frame, of every wrong bit."""
    for number, (a, b) in enumerate(zip(packets_of(before), packets_of(after)), 1):
        for place, (x, y) in enumerate(zip(a, b)):
            if x != y:
                yield number, place


def ttls(_before, after):
    for number, frame in enumerate(packets_of(after), 1):
        yield number, frame[22]


# name, statements, packets, what is looked at, label of y, its end, title
BYTES = [
    ("corrupt", ["corrupt random 20% bits 3 correlation 60%"], 300, wrong_bits, "Byte of the frame", 60,
     "Wrong bits of each packet"),
    ("rewrite", ["rewrite random ip.ttl 40..60"], 300, ttls, "TTL", 80, "TTL of each packet, sent with 64"),
]

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 300, 60, 36, 44


def scatter(path, points, last, label, most, title):
    def x(value):
        return LEFT + (WIDTH - LEFT - 20) * value / last

    def y(value):
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / most

    ticks = range(0, most + 1, 20)
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
                  f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}" font-family="sans-serif" '
                  f'font-size="12" fill="#57606a">\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
                  f'<text x="{LEFT}" y="20" font-size="14" fill="#1c2127">{title}</text>\n')
        for tick in ticks:
            out.write(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - 20}" stroke="#e3e7eb"/>'
                      f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}</text>\n')
        for tick in range(0, last + 1, 50):
            out.write(f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick}</text>\n')
        out.write(f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">Packet</text>\n'
                  f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{label}</text>\n'
                  '<g fill="#0072b2">\n')
        out.writelines(f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="2"/>\n' for a, b in points)
        out.write("</g>\n</svg>\n")


def replay(weir, folder, statements, capture, *more):
    scenario = os.path.join(folder, "picture.weir")
    with open(scenario, "w", encoding="utf-8") as out:
        out.write("seed 3\nport a\nport b\ncloud down from a to b\n")
        out.writelines(f"cloud down {statement}\n" for statement in statements)
    subprocess.run([weir, "replay", "-q", "-c", scenario, "--in", f"a={capture}",
                    "--out", f"b={os.path.join(folder, 'out.pcap')}", *more], check=True)


def pages_without():
    docs = os.path.join(ROOT, "docs")
    with open(os.path.join(docs, "README.md"), encoding="utf-8") as index:
        listed = re.findall(r"^\| \[\w[\w -]*\]\(([\w-]+\.md)\)", index.read().split("One page a statement")[1], re.M)
    for page in listed:
        with open(os.path.join(docs, page), encoding="utf-8") as text:
            if not re.search(r"!\[[^\]]+\]\(images/[\w.-]+\.svg\)", text.read()):
                yield page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", default=os.path.join(ROOT, "build", "release", "src", "weir"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    weir = os.path.abspath(arguments.weir)
    known = {row[0] for row in PICTURES + BYTES}
    if unknown := set(arguments.names) - known:
        sys.exit(f"pictures.py: no picture is called {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    with tempfile.TemporaryDirectory() as folder:
        captures, page = accuracy.Captures(folder), os.path.join(folder, "picture.html")
        for name, statements, capture, figure in PICTURES:
            if arguments.names and name not in arguments.names:
                continue
            try:
                replay(weir, folder, statements, capture(captures), "--picture", page)
            except subprocess.CalledProcessError:
                print(f"pictures.py: {name}: weir does not take it", file=sys.stderr)
                continue
            subprocess.run([sys.executable, os.path.join(TOOLS, "figures.py"), page, str(figure),
                            os.path.join(ROOT, "docs", "images", f"{name}.svg")], check=True)
        for name, statements, n, look, label, most, title in BYTES:
            if arguments.names and name not in arguments.names:
                continue
            capture = captures.tcp(n, MS, 1, 6)
            replay(weir, folder, statements, capture)
            points = list(look(capture, os.path.join(folder, "out.pcap")))
            scatter(os.path.join(ROOT, "docs", "images", f"{name}.svg"), points, n, label, most, title)
    if without := list(pages_without()):
        sys.exit(f"pictures.py: no picture on docs/{', docs/'.join(without)}: give it a row here, and the page its name")


if __name__ == "__main__":
    main()
