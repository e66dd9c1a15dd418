#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pictures of the pages in docs/, with weir itself.

usage: pictures.py [--weir FILE] [NAME ...]

A page says what its picture shows, in a comment on the lines before it:

  <!-- picture: delay of waves: rate 8mbit queue 200kB; pie -->
  ![The delay of each packet, and the drops](images/pie.svg)

FIGURE of TRAFFIC: STATEMENT; STATEMENT. The traffic (TRAFFIC below) crosses a cloud with these
statements in `weir replay`, whose --picture has the figures delay, throughput, shares (how the
delays are distributed), queue and probability (of RED). Other figures, of bytes of packets, are
drawn here, from the capture that weir wrote (LOOKS). Pictures of whole scenarios are rows of WHOLE.
"""
import argparse
import glob
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

FIGURES = {"delay": 1, "throughput": 2, "shares": 3, "queue": 4, "probability": 5}


def nanoseconds(text):
    number, unit = re.fullmatch(r"(\d+)(ns|us|ms)", text).groups()
    return int(number) * {"ns": 1, "us": 1000, "ms": MS}[unit]


def steady(captures, n, gap, wire="500B"):
    """Frames without IP, of which 60 bytes at most are in the capture."""
    return captures.plain(int(n), nanoseconds(gap), int(wire[:-1]))


def waves(captures, frame=accuracy.ethernet(0x88b5, bytes(46))):
    """Half a second at 4 Mbit/s, a quarter at 16 Mbit/s, and so on."""
    packets, t = [], 0
    while t < 1500 * MS:
        packets.append((t, frame, 1000))
        t += 500000 if 500 * MS <= t % (750 * MS) else 2 * MS
    return captures.write(packets)


def udp(port, ecn, wire):
    """Returns the headers of a datagram, for a capture of 42 bytes per packet."""
    head = struct.pack(">BBHHHBBH4s4s", 0x45, ecn, wire - 14, 1, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                       bytes([10, 0, 1, 1]))
    head = head[:10] + struct.pack(">H", ~accuracy.ones_sum(head) & 0xffff) + head[12:]
    return accuracy.ethernet(0x0800, head + struct.pack(">HHHH", port, 443, wire - 34, 0))


def together(captures, *words):
    """Flows, separated by commas, each PORT ECN-BITS WIRE-LENGTH GAP, for a second and a half each,
    in parallel."""
    packets = []
    for flow in " ".join(words).split(","):
        port, ecn, wire, gap = flow.split()
        packets += [(t, udp(int(port), int(ecn), int(wire[:-1])), int(wire[:-1]))
                    for t in range(0, 1500 * MS, nanoseconds(gap))]
    return captures.write(sorted(packets, key=lambda packet: packet[0]))


def tcp_waves(captures):
    return waves(captures, accuracy.tcp_frame(0, 1, 946))


def two_flows(captures):
    """A flow of 2 Mbit/s throughout, and from 0.2 s to 0.6 s one of 12 Mbit/s beside it."""
    packets = [(i * 4 * MS, accuracy.tcp_frame(0, 1, 946), 1000) for i in range(200)]
    packets += [(200 * MS + i * 2 * MS // 3 + 1, accuracy.tcp_frame(1, 1, 946), 1000)
                for i in range(600)]
    return captures.write(sorted(packets))


def ipv4(protocol, body):
    """Returns a whole frame with the right checksum."""
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 1, 0, 64, protocol, 0,
                       bytes([10, 0, 0, 1]),
                       bytes([10, 0, 1, 1]))
    head = head[:10] + struct.pack(">H", ~accuracy.ones_sum(head) & 0xffff) + head[12:]
    return accuracy.ethernet(0x800, head + body)


def asked(probe):
    """The waves; a header in each packet requests this probe from the first router."""
    header = struct.pack(">8B2I", 3, probe, 0, 64, 0, 0, 0, 17, 0xffffffff, 0xffffffff)
    return lambda captures: waves(captures, ipv4(253, header + bytes(950)))


def optioned(probe):
    """The waves; a SIRENS option in each packet requests this probe from the first router."""
    option = struct.pack(">8BI", 94, 12, 3, probe, 64, 0, 0, 0, 0xffffffff)
    head = struct.pack(">BBHHHBBH4s4s", 0x48, 0, 982, 1, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                       bytes([10, 0, 1, 1])) + option
    head = head[:10] + struct.pack(">H", ~accuracy.ones_sum(head) & 0xffff) + head[12:]
    return lambda captures: waves(captures, accuracy.ethernet(0x800, head + bytes(950)))


def growing(captures):
    return captures.write((i * 4 * MS, ipv4(17, bytes(80 + 10 * i)), 114 + 10 * i)
                          for i in range(140))


def xcp_requests(captures):
    """The waves, with round trips of 40 ms and a packet every 2 ms; each sender requests 100
    kbyte/s more."""
    header = struct.pack(">4B4I", 17, 20, 0x21, 0, 2**28 // 25, 2**28 // 500, 100000, 0)
    return waves(captures, ipv4(254, header + bytes(946)))


def packets_of(path):
    with open(path, "rb") as capture:
        data = capture.read()
    at = 24
    while at < len(data):
        _, _, here, _ = struct.unpack_from("<IIII", data, at)
        yield data[at + 16:at + 16 + here]
        at += 16 + here


def wrong_bits(before, after):
    """Yields packet number and byte of the frame of every wrong bit."""
    for number, (a, b) in enumerate(zip(packets_of(before), packets_of(after)), 1):
        for place, (x, y) in enumerate(zip(a, b)):
            if x != y:
                yield number, place


def ttls(_before, after):
    for number, frame in enumerate(packets_of(after), 1):
        yield number, frame[22]


def lengths(_before, after):
    for number, frame in enumerate(packets_of(after), 1):
        yield number, struct.unpack_from(">H", frame, 16)[0]


def answers(place, unit):
    """Yields one of the routers' two numbers, the one at this place of the frame."""
    def look(_before, after):
        for number, frame in enumerate(packets_of(after), 1):
            yield number, struct.unpack_from(">i", frame, place)[0] / unit
    return look


def as_bytes(captures):
    """Segments of 60 bytes, of which the capture has the headers."""
    return captures.tcp(300, MS, 1, 6)


TRAFFIC = {"steady": steady, "waves": waves, "tcp-waves": tcp_waves, "two-flows": two_flows,
           "flows": together, "bytes": as_bytes, "growing": growing, "asked-link": asked(1),
           "asked-queue": asked(3), "asked-sirens": optioned(7), "xcp": xcp_requests}

# function that reads the points, label of y, its minimum, maximum and step, title
LOOKS = {
    "wrong-bits": (wrong_bits, "Byte of the frame", 0, 60, 20, "Wrong bits of each packet"),
    "ttl": (ttls, "TTL", 0, 80, 20, "TTL of each packet, sent with 64"),
    "length": (lengths, "Bytes of the IP packet", 0, 600, 100,
               "Length of each packet behind an mtu of 576"),
    "available": (answers(14 + 20 + 12, 1000), "Available, Mbit/s", 0, 8, 2,
                  "What the router has written into each packet"),
    "waiting": (answers(14 + 20 + 8, 1), "Packets that wait", 0, 80, 20,
                "What the router has written into each packet's option: qlen"),
    "queuing": (answers(14 + 20 + 12, 1000), "Queuing delay, ms", 0, 60, 10,
                "Mean queuing delay of the latest window, as each packet heard it"),
    "allowed": (answers(14 + 20 + 12, 1000), "Allowed, kbyte/s more", -20, 20, 5,
                "What the router has left of each request for 100 kbyte/s more"),
}

# name, source of the whole scenario, traffic, figure; without traffic, the bundled TCP capture
# crosses it in both directions
WHOLE = [
    ("becn-queue", "docs/becn.md", None, 4),
    ("red-queue", "docs/red.md", None, 4),
    ("red-probability", "docs/red.md", None, 5),
    ("bcn-probability", "configs/bcn-switch.weir", None, 5),
    ("ecn-mod-probability", "configs/ecn-mod-router.weir", None, 5),
    ("geo-satellite-up", "configs/geo-satellite.weir", None, 5),
    # 20 s of 8 Mbit/s
    ("trace-lte", "configs/lte-driving.weir", "steady 13210 1514us 1514B", 1),
]


WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 300, 60, 36, 44


def scatter(path, points, label, least, most, step, title):
    last = (max(number for number, _ in points) + 49) // 50 * 50

    def x(value):
        return LEFT + (WIDTH - LEFT - 20) * value / last

    def y(value):
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (value - least) / (most - least)

    ticks = range(least, most + 1, step)
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
                  f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}" '
                  'font-family="sans-serif" font-size="12" fill="#57606a">\n'
                  '<rect width="100%" height="100%" fill="#ffffff"/>\n'
                  f'<text x="{LEFT}" y="20" font-size="14" fill="#1c2127">{title}</text>\n')
        for tick in ticks:
            out.write(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - 20}" stroke="#e3e7eb"/>'
                      f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">'
                      f'{tick}</text>\n')
        for tick in range(0, last + 1, 50 if last < 500 else 200):
            out.write(f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
                      f'{tick}</text>\n')
        out.write(f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
                  'Packet</text>\n'
                  f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
                  f'{label}</text>\n'
                  '<g fill="#0072b2">\n')
        out.writelines(f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="2"/>\n' for a, b in points)
        out.write("</g>\n</svg>\n")


def replay(weir, folder, statements, capture, *more):
    scenario = os.path.join(folder, "picture.weir")
    with open(scenario, "w", encoding="utf-8") as out:
        # The first statement of a template is the key by which its clouds are made.
        template = statements[0].startswith("per ")
        kind, what = ("clouds", statements[0]) if template else ("cloud", "")
        out.write(f"seed 3\nport a\nport b\n{kind} down from a to b {what}\n")
        out.writelines(f"{kind} down {statement}\n" for statement in statements[template:])
    subprocess.run([weir, "replay", "-q", "-c", scenario, "--in", f"a={capture}",
                    "--out", f"b={os.path.join(folder, 'out.pcap')}", *more], check=True)


def replay_whole(weir, folder, source, capture, page):
    """Replays a scenario of configs/, or the block of a page that begins with a seed."""
    scenario = os.path.join(ROOT, source)
    if source.endswith(".md"):
        with open(scenario, encoding="utf-8") as text:
            block = re.search(r"^```\n(seed .*?)^```$", text.read(), re.S | re.M)[1]
        scenario = os.path.join(folder, "picture.weir")
        with open(scenario, "w", encoding="utf-8") as out:
            out.write(block)
    tcp = os.path.join(ROOT, "tests", "replay", "data", "linux-tcp.pcap")
    came = (["--in", f"a={capture}"] if capture
            else ["--in", f"a,b={tcp}", "--split", "mac=02:00:00:00:00:0a"])
    subprocess.run([weir, "replay", "-q", "-c", scenario, *came, "--picture", page], check=True)


def take(page, figure, name):
    subprocess.run([sys.executable, os.path.join(TOOLS, "figures.py"), page, str(figure),
                    os.path.join(ROOT, "docs", "images", f"{name}.svg")], check=True)


def pictures():
    """Yields name, figure, traffic and statements of each picture that a page asks for."""
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
        with open(path, encoding="utf-8") as page:
            for words, name in re.findall(r"<!-- picture: (.*?) -->\n!\[.*?\]\(images/(.*?)\.svg\)",
                                          page.read(), re.S):
                asked, _, statements = " ".join(words.split()).partition(": ")
                figure, _, traffic = asked.partition(" of ")
                yield name, figure, traffic, statements.split("; ")


def capture_of(captures, traffic):
    kind, *words = traffic.split()
    return TRAFFIC[kind](captures, *words)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", default=os.path.join(ROOT, "build", "release", "src", "weir"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    weir = os.path.abspath(arguments.weir)
    asked = list(pictures())
    known = {row[0] for row in asked + WHOLE}
    if unknown := set(arguments.names) - known:
        sys.exit(f"pictures.py: no picture is called {', '.join(unknown)}; there are "
                 f"{', '.join(sorted(known))}")
    wanted = set(arguments.names) or known
    with tempfile.TemporaryDirectory() as folder:
        captures, page = accuracy.Captures(folder), os.path.join(folder, "picture.html")
        for name, figure, traffic, statements in asked:
            if name not in wanted:
                continue
            capture = capture_of(captures, traffic)
            replay(weir, folder, statements, capture, "--picture", page)
            if figure in FIGURES:
                take(page, FIGURES[figure], name)
            else:
                look, *drawing = LOOKS[figure]
                points = list(look(capture, os.path.join(folder, "out.pcap")))
                if not points:
                    sys.exit(f"pictures.py: {name}: {statements}: no {figure} of {traffic}")
                scatter(os.path.join(ROOT, "docs", "images", f"{name}.svg"), points, *drawing)
        for name, source, traffic, figure in WHOLE:
            if name in wanted:
                replay_whole(weir, folder, source, traffic and capture_of(captures, traffic), page)
                take(page, figure, name)


if __name__ == "__main__":
    main()
