#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pictures of the pages in docs/, with weir itself.

usage: pictures.py [--weir FILE] [NAME ...]
At the end it lists the pages of statements, of those in docs/README.md, that have no picture yet.

A row is a scenario and a capture, which is made for it or comes with weir's tests. `weir replay
--picture` draws it, and one of its figures is extracted: 1 the delay of each packet over time, 2
the throughput, 3 the distribution of the delays, 4 the queue, 5 the probability of RED. What these
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

DELAY, SHARES, QUEUE, PROBABILITY, DELAY_UP = 1, 3, 4, 5, 5


def steady(n, gap_ns, wire=500):
    return lambda captures: captures.plain(n, gap_ns, wire)


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


def together(*flows):
    """Flows of (port, ECN bits, wire length, gap in ns), for a second and a half each, in
    parallel."""
    def make(captures):
        return captures.write(sorted(((t, udp(port, ecn, wire), wire)
                                      for port, ecn, wire, gap in flows
                                      for t in range(0, 1500 * MS, gap)),
                                     key=lambda packet: packet[0]))
    return make


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


# name, statements, capture, figure
PICTURES = [
    ("loss", ["loss gilbert-elliott p 2% r 20%",
              "delay 40ms jitter 4ms distribution normal order allow"],
     steady(700, 2 * MS), DELAY),
    ("duplicate", ["duplicate every 10", "rate 2500kbit queue 100kB"], steady(150, 2 * MS), DELAY),
    ("reorder", ["delay 40ms", "reorder 20% gap 5"], steady(300, MS), DELAY),
    ("police", ["police 5mbit burst 30kB", "delay 20ms jitter 1ms"], waves, DELAY),
    ("rate", ["rate 8mbit queue 60kB", "delay 20ms"], waves, QUEUE),
    ("delay-order", ["delay 40ms jitter 5ms distribution normal order keep"], steady(600, 333333),
     DELAY),
    ("delay-limit", ["delay 40ms jitter 2ms limit 40pkt"], waves, DELAY),
    ("delay", ["delay 40ms jitter 8ms distribution gamma order allow"], steady(100000, 10000),
     SHARES),
    ("slots", ["slots min 10ms max 20ms", "delay 20ms"], steady(600, MS), DELAY),
    ("codel", ["rate 8mbit queue 200kB", "codel"], waves, DELAY),
    ("pie", ["rate 8mbit queue 200kB", "pie"], waves, DELAY),
    # a download that is a quarter too fast, a second one, and a call
    ("fq-codel", ["rate 8mbit queue 1000pkt", "fq-codel"],
     together((2001, 0, 1500, 2 * MS), (2002, 0, 1500, 3 * MS), (2003, 0, 200, 20 * MS)), DELAY),
    # Classic and L4S, a tenth above the rate
    ("dualpi2", ["rate 8mbit queue 250ms", "dualpi2"],
     together((2001, 0, 1000, MS), (2002, 1, 1000, 10 * MS)), DELAY),
    ("mark", ["rewrite set ip.ecn 2", "rate 8mbit queue 60kB", "mark above 20kB", "delay 20ms"],
     tcp_waves,
     QUEUE),
    ("ecn", ["rewrite random ip.ecn 0..1", "rate 8mbit queue 60kB", "mark above 20kB", "ecn on",
             "delay 20ms"],
     tcp_waves, DELAY),
    ("class", ["rate 8mbit", "class voice weight 0.8 queue 25kB match tcp src port 1000",
               "class data weight 0.2 queue 90kB", "scheduler scfq", "delay 20ms"], two_flows,
     DELAY),
    ("scheduler", ["rate 8mbit", "class voice weight 0.5 queue 25kB match tcp src port 1000",
                   "class data weight 0.5 queue 90kB", "scheduler drr quantum 10kB", "delay 20ms"],
     two_flows, DELAY),
    ("schedule", ["wave delay 20ms..60ms period 500ms", "delay 20ms"], steady(750, 2 * MS), DELAY),
    # a flow that its line can carry, and one a third too fast for its own line
    ("clouds", ["per flow most 16", "rate 6mbit queue 60kB", "delay 20ms"],
     together((2001, 0, 1000, 2 * MS), (2002, 0, 1000, MS)), DELAY),
    ("netem", ["netem delay 40ms 5ms 25% distribution normal loss 2% 50% reorder 5%"],
     steady(500, 2 * MS), DELAY),
]

# name, source of the whole scenario, capture, figure; without a capture, the bundled TCP capture
# crosses it in both directions
WHOLE = [
    ("becn-queue", "docs/becn.md", None, QUEUE),
    ("red-queue", "docs/red.md", None, QUEUE),
    ("red-probability", "docs/red.md", None, PROBABILITY),
    ("bcn-probability", "configs/bcn-switch.weir", None, PROBABILITY),
    ("ecn-mod-probability", "configs/ecn-mod-router.weir", None, PROBABILITY),
    ("geo-satellite-up", "configs/geo-satellite.weir", None, DELAY_UP),
    # 20 s of 8 Mbit/s
    ("trace-lte", "configs/lte-driving.weir", steady(13210, 1514000, 1514), DELAY),
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
    return captures.tcp(300, MS, 1, 6)


FEEDBACK = ["hop 192.0.2.1", "feedback header window 50ms", "rate 8mbit queue 60kB"]

# name, statements, capture, function that reads the points, label of y, its minimum, maximum and
# step, title
BYTES = [
    ("corrupt", ["corrupt random 20% bits 3 correlation 60%"], as_bytes, wrong_bits,
     "Byte of the frame", 0, 60, 20,
     "Wrong bits of each packet"),
    ("rewrite", ["rewrite random ip.ttl 40..60"], as_bytes, ttls, "TTL", 0, 80, 20,
     "TTL of each packet, sent with 64"),
    ("hop", ["hop 192.0.2.1 mtu 576"], growing, lengths, "Bytes of the IP packet", 0, 600, 100,
     "Length of each packet behind an mtu of 576"),
    ("feedback", FEEDBACK, asked(1), answers(14 + 20 + 12, 1000), "Available, Mbit/s", 0, 8, 2,
     "What the router has written into each packet"),
    ("feedback-header", ["hop 192.0.2.1", "feedback sirens", "rate 8mbit queue 60kB"], optioned(7),
     answers(14 + 20 + 8, 1), "Packets that wait", 0, 80, 20,
     "What the router has written into each packet's option: qlen"),
    ("meter", FEEDBACK, asked(3), answers(14 + 20 + 12, 1000), "Queuing delay, ms", 0, 60, 10,
     "Mean queuing delay of the latest window, as each packet heard it"),
    ("xcp", ["xcp", "rate 8mbit queue 60kB"], xcp_requests, answers(14 + 20 + 12, 1000),
     "Allowed, kbyte/s more", -20, 20, 5,
     "What the router has left of each request for 100 kbyte/s more"),
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


def pages_without():
    docs = os.path.join(ROOT, "docs")
    with open(os.path.join(docs, "README.md"), encoding="utf-8") as index:
        listed = re.findall(r"^\| \[\w[\w -]*\]\(([\w-]+\.md)\)",
                            index.read().split("One page a statement")[1], re.M)
    for page in listed:
        with open(os.path.join(docs, page), encoding="utf-8") as text:
            if not re.search(r"!\[[^\]]+\]\(images/[\w.-]+\.svg\)", text.read()):
                yield page


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", default=os.path.join(ROOT, "build", "release", "src", "weir"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    weir = os.path.abspath(arguments.weir)
    known = {row[0] for row in PICTURES + WHOLE + BYTES}
    if unknown := set(arguments.names) - known:
        sys.exit(f"pictures.py: no picture is called {', '.join(unknown)}; there are "
                 f"{', '.join(sorted(known))}")
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
            take(page, figure, name)
        for name, source, capture, figure in WHOLE:
            if arguments.names and name not in arguments.names:
                continue
            replay_whole(weir, folder, source, capture and capture(captures), page)
            take(page, figure, name)
        for name, statements, make, look, label, least, most, step, title in BYTES:
            if arguments.names and name not in arguments.names:
                continue
            capture = make(captures)
            replay(weir, folder, statements, capture)
            points = list(look(capture, os.path.join(folder, "out.pcap")))
            scatter(os.path.join(ROOT, "docs", "images", f"{name}.svg"), points, label, least, most,
                    step, title)
    if without := list(pages_without()):
        sys.exit(f"pictures.py: no picture on docs/{', docs/'.join(without)}: give it a row here, "
                 "and the page its name")


if __name__ == "__main__":
    main()
