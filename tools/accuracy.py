#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/accuracy.md: what every impairment was asked for, and what it achieved.

usage: accuracy.py [--weir FILE] [--packets N] [--output FILE] [--only WORD]

It replays generated captures with `weir replay`, a scenario per row, and takes the figures from the
report and the log. Then it runs the same netem lines through the real `tc ... netem` in a user-mode
Linux guest, and through weir. This needs RIG, a folder with rig.sh (which documents RIG_DIR).
Without it, that part of the file stays as it is, and the reason is printed.
"""
import argparse
import csv
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

SIGMAS = 3.2905  # two-sided 99.9 % of the normal distribution
KS = 1.9495      # Kolmogorov and Smirnov, p = 0.001
MS = 1000000
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


# ---- captures ----

def ethernet(kind, body):
    return bytes.fromhex("020000000002020000000001") + struct.pack(">H", kind) + body


def ones_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def tcp_frame(flow, sequence, payload):
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + payload, 1, 0, 64, 6, 0, bytes([10, 0, 0, 1]),
                       bytes([10, 0, 1, 1]))
    head = head[:10] + struct.pack(">H", ~ones_sum(head) & 0xffff) + head[12:]
    return ethernet(0x800, head + struct.pack(">HHIIBBHHH", 1000 + flow, 80, sequence, 0, 0x50,
                                              0x10, 1000, 0, 0))


class Captures:
    """Generated captures, each made once. They state the length on the wire, but hold only 60 bytes
    of each packet."""

    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def write(self, packets):
        path = os.path.join(self.folder, f"in{len(self.made)}.pcap")
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
            for t, frame, wire in packets:
                out.write(struct.pack("<IIII", t // 10**9, t % 10**9, len(frame), wire) + frame)
        return path

    def plain(self, n, gap_ns, wire):
        key = (n, gap_ns, wire)
        if key not in self.made:
            frame = ethernet(0x88b5, bytes(min(wire, 60) - 14))
            self.made[key] = self.write((i * gap_ns, frame, wire) for i in range(n))
        return self.made[key]

    def tcp(self, n, gap_ns, flows, payload):
        """Several flows, which send a segment each in turn."""
        key = ("tcp", n, gap_ns, flows, payload)
        if key not in self.made:
            self.made[key] = self.write(
                (i * gap_ns, tcp_frame(i % flows, 1 + i // flows * payload, payload), 54 + payload)
                for i in range(n))
        return self.made[key]


# ---- a replay ----

class Outcome:
    def __init__(self, report, log):
        self.cloud, self.duration_ns = report["clouds"][0], report["duration_ns"]
        self.log = log

    def share(self, counter):
        return self.count(counter) / self.cloud["rx_packets"]

    def count(self, counter):
        if counter is None:  # whatever was done
            return (sum(self.cloud[what] for what in ("duplicated", "reordered", "corrupted"))
                    + sum(self.cloud["drops"].values()))
        return (self.cloud["drops"][counter] if counter in self.cloud["drops"]
                else self.cloud[counter])


class Refused(Exception):
    pass


def replay(weir, folder, statements, capture, log=False):
    scenario, report = os.path.join(folder, "row.weir"), os.path.join(folder, "report.json")
    table = os.path.join(folder, "log.csv")
    with open(scenario, "w", encoding="utf-8") as out:
        out.write("seed 1\nport a\nport b\ncloud x from a to b\n")
        out.writelines(f"cloud x {statement}\n" for statement in statements)
    done = subprocess.run([weir, "replay", "-q", "-c", scenario, "--in", f"a={capture}",
                           "--out", "b=/dev/null",
                           "--report", report, "--memory", "4096MiB"]
                          + (["--log", table] if log else []),
                          capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise Refused(done.stderr.strip().split("\n")[-1])
    rows = None
    if log:
        with open(table, newline="", encoding="utf-8") as lines:
            rows = [(int(r["packet"]), int(r["t_in_ns"]), r["fate"], int(r["t_out_ns"] or 0),
                     "copy" in (r["detail"] or "")) for r in csv.DictReader(lines)]
    with open(report, encoding="utf-8") as text:
        return Outcome(json.load(text), rows)


def runs_of_losses(log):
    """Returns the number of runs of losses, and their mean length."""
    lost, runs, before = 0, 0, -1
    for packet, _, fate, _, _ in sorted(log):
        if fate == "dropped":
            lost += 1
            runs += packet != before + 1
            before = packet
    return lost / runs if runs else 0, runs


# ---- figures ----

def percent(share, digits=4):
    return f"{100 * share:.{digits}g} %"


def milliseconds(ns):
    return f"{ns / MS:.5g} ms"


def without_stalls(times):
    """Removes late packets of a guest whose processor was taken away: those that leave within a
    millisecond after nothing had left for three."""
    by_leaving, kept, last, until = sorted(times, key=lambda t: t[1]), [], None, 0
    for t_in, t_out in by_leaving:
        if last is not None and t_out - last > 3 * MS:
            until = t_out + MS
        last = t_out
        if t_out > until:
            kept.append((t_in, t_out))
    return sorted(kept)


def moments(values):
    mean = sum(values) / len(values)
    centred = [v - mean for v in values]
    square = sum(c * c for c in centred) / len(values)
    product = sum(a * b for a, b in zip(centred, centred[1:])) / len(values)
    return mean, math.sqrt(square), product / square if square else 0


def distance(values, function):
    """Returns Kolmogorov's distance: the maximum difference of the empirical and the desired
    distribution function."""
    n, most = len(values), 0
    for i, x in enumerate(sorted(values)):
        f = function(x)
        most = max(most, abs(f - i / n), abs(f - (i + 1) / n))
    return most


def normal(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def pareto(x):
    t = x * 3 / 4 + 1.5
    return 1 - t ** -3 if t > 1 else 0


def paretonormal(x):
    low, high = -9, 9
    for _ in range(50):
        z = (low + high) / 2
        if z / 4 + (normal(-z) ** (-1 / 3) - 1.5) < x:
            low = z
        else:
            high = z
    return normal(high)


def uniform(x):
    return min(1, max(0, (x + 1) / 2))


# name, standard deviation in jitters, distribution function of (delay - mean) / jitter for mean 40,
# jitter 5
FAMILIES = [
    ("uniform", 1 / math.sqrt(3), uniform),
    ("normal", 1, normal),
    ("exponential", 1, lambda x: -math.expm1(-(x + 1)) if x > -1 else 0),
    ("gamma", 1, None),
    ("lognormal", 1, lambda x: normal((math.log(1 + x / 8) + math.log(1 + 1 / 64) / 2)
                                      / math.sqrt(math.log(1 + 1 / 64))) if x > -8 else 0),
    ("pareto", 2 / math.sqrt(3), pareto),
    ("paretonormal", 1.0518, paretonormal),
]


# ---- weir alone ----

class Rows:
    def __init__(self, arguments, folder):
        self.weir, self.folder, self.n = os.path.abspath(arguments.weir), folder, arguments.packets
        self.only = arguments.only
        self.captures, self.text, self.wrong = Captures(folder), [], []
        self.named = set()

    def add(self, statements, asked, got, bound, n, within):
        self.text.append(f"| `{'`, `'.join(statements)}` | {asked} | {got} | {bound} | {n:,} |")
        if not within:
            self.wrong.append(self.text[-1])

    def wanted(self, statements):
        self.named.update(statement.split()[0] for statement in statements)
        return self.only is None or any(self.only in s for s in statements)

    def part(self, title):
        self.text += ["", f"### {title}", "",
                      "| statement | asked for | achieved | bound | packets |",
                      "|---|---|---|---|---|"]

    def share(self, statements, counter, share, variance=None, wire=60, gap_ns=1000, capture=None):
        if not self.wanted(statements):
            return
        capture = capture or self.captures.plain(self.n, gap_ns, wire)
        outcome = replay(self.weir, self.folder, statements, capture)
        got, n = outcome.share(counter), outcome.cloud["rx_packets"]
        spread = SIGMAS * math.sqrt((share * (1 - share) if variance is None else variance) / n)
        self.add(statements, percent(share), percent(got), f"± {percent(spread, 2)}", n,
                 abs(got - share) <= spread)

    def exactly(self, statements, counter, count, capture=None, gap_ns=1000):
        if not self.wanted(statements):
            return
        capture = capture or self.captures.plain(self.n, gap_ns, 60)
        outcome = replay(self.weir, self.folder, statements, capture)
        got = outcome.count(counter)
        self.add(statements, f"{count:,} packets", f"{got:,}", "exact", outcome.cloud["rx_packets"],
                 got == count)

    def bursts(self, statements, mean, deviation):
        """Checks the mean length of runs of losses, whose lengths are independent and have this
        deviation."""
        if not self.wanted(statements):
            return
        n = self.n // 2
        outcome = replay(self.weir, self.folder, statements, self.captures.plain(n, 1000, 60),
                         log=True)
        got, runs = runs_of_losses(outcome.log)
        spread = SIGMAS * deviation / math.sqrt(runs)
        self.add(statements, f"bursts of {mean:.4g}", f"{got:.4f}", f"± {spread:.2g}", n,
                 abs(got - mean) <= spread)


def geometric(goes_on):
    return 1 / (1 - goes_on), math.sqrt(goes_on) / (1 - goes_on)


def chain(p, r):
    """Returns the share of a two-state chain, and its variance for large n, times n."""
    share, memory = p / (p + r), 1 - p - r
    return share, share * (1 - share) * (1 + memory) / (1 - memory)


def losses(rows):
    rows.part("Loss")
    rows.share(["loss random 1%"], "loss", 0.01)
    rows.bursts(["loss random 10%"], *geometric(0.1))
    rows.share(["loss random 1% correlation 25%"], "loss", 0.01, 0.0099 * 1.25 / 0.75)
    rows.bursts(["loss random 1% correlation 25%"], *geometric(0.01 + 0.25 * 0.99))
    rows.share(["loss random 0%"], "loss", 0)
    rows.share(["loss random 100%"], "loss", 1)
    rows.exactly(["loss every 1000 burst 3"], "loss",
                 rows.n // 1002 * 3 + max(0, rows.n % 1002 - 999))
    mean, rate = 9, 0.001 * 9 / (1 - 0.001 + 0.001 * 9)
    rows.share(["loss burst 0.1% length 2..16"], "loss", rate,
               ((1 - rate) ** 2 * (15 ** 2 - 1) / 12 + rate ** 2 * 0.999 / 1e-6) / (999 + mean))
    rows.share(["loss gilbert-elliott p 1% r 10%"], "loss", *chain(0.01, 0.1))
    rows.bursts(["loss gilbert-elliott p 1% r 10%"], *geometric(0.9))
    bad, memory = 1 / 11, 0.89
    rate = bad * 0.7 + (1 - bad) * 0.001
    rows.share(["loss gilbert-elliott p 1% r 10% bad 70% good 0.1%"], "loss", rate,
               rate * (1 - rate) + 2 * bad * (1 - bad) * 0.699 ** 2 * memory / (1 - memory))
    rows.share(["loss four-state p13 1% p31 30%"], "loss", *chain(0.01, 0.3))
    rows.bursts(["loss four-state p13 1% p31 30%"], *geometric(0.7))
    rows.bursts(["loss four-state p13 2% p31 20% p32 10% p23 40%"], *geometric(0.7))
    rows.share(["loss bit-error 1e-6"], "loss", -math.expm1(8 * 1518 * math.log1p(-1e-6)),
               wire=1518)
    rows.exactly(["loss pattern 3,4,5 of 7"], "loss",
                 rows.n // 7 * 3 + max(0, min(3, rows.n % 7 - 2)))
    with open(os.path.join(rows.folder, "list.txt"), "w", encoding="utf-8") as out:
        out.writelines(f"{i}\n" for i in range(1, rows.n + 1, 12345))
    rows.exactly(["loss list list.txt"], "loss", len(range(1, rows.n + 1, 12345)))
    rows.exactly(["loss window from 100ms for 25ms"], "loss", min(25000, max(0, rows.n - 100000)))
    n = rows.n // 10
    rows.exactly(["loss tcp-byte 100000 retransmits 2"], "loss",
                 100 if n // 100 * 1000 >= 100000 else 0,
                 rows.captures.tcp(n, 1000, 100, 1000))


def copies(rows):
    rows.part("Duplication, corruption, rewriting")
    rows.share(["duplicate random 1%"], "duplicated", 0.01)
    rows.share(["duplicate random 10% correlation 60%"], "duplicated", 0.1, 0.09 * 1.6 / 0.4)
    rows.exactly(["duplicate random 100%"], "duplicated", rows.n)
    rows.exactly(["duplicate every 1000"], "duplicated", rows.n // 1000)
    rows.share(["corrupt random 1%"], "corrupted", 0.01)
    rows.share(["corrupt random 1% correlation 25%"], "corrupted", 0.01, 0.0099 * 1.25 / 0.75)
    rows.share(["corrupt bit-error 1e-4"], "corrupted", -math.expm1(8 * 60 * math.log1p(-1e-4)))
    flows = rows.captures.tcp(rows.n // 10, 1000, 100, 1000)
    rows.share(["corrupt checksum ip probability 3%"], "corrupted", 0.03, capture=flows)
    rows.exactly(["rewrite match ip.src = 10.0.0.1 set ip.ttl 9"], "rewritten", rows.n // 10, flows)


def orders(rows):
    rows.part("Reordering")
    rows.exactly(["reorder every 100"], "reordered", (rows.n - 1) // 100)
    rows.share(["delay 10ms", "reorder 25%"], "reordered", 0.25)
    rows.share(["delay 10ms", "reorder 25% 50%"], "reordered", 0.25, 0.1875 * 3)
    rows.share(["delay 10ms", "reorder 25% gap 5"], "reordered", 1 / 8, 1 / 8)


def window_error(log, bits_per_packet, rate):
    """Returns the maximum difference of the bits in any window from rate x time, in packets."""
    off = [i * bits_per_packet - rate * t / 1e9
           for i, t in enumerate(sorted(r[3] for r in log if r[2] != "dropped"))]
    return (max(off) - min(off)) / bits_per_packet


def rates(rows):
    rows.part("Rate")
    n = rows.n // 10
    for statement, rate, wire in (("rate 10mbit queue 1MB", 10e6, 1514),
                                  ("rate 1gbit queue 10MB", 1e9, 60),
                                  ("rate 7654321bit queue 1MB", 7654321, 1000)):
        statements = [statement]
        if not rows.wanted(statements):
            continue
        gap = int(wire * 8e9 / rate / 2)  # twice the rate
        log = replay(rows.weir, rows.folder, statements, rows.captures.plain(n, gap, wire),
                     log=True).log
        error = window_error(log, wire * 8, rate)
        rows.add(statements, f"{rate / 1e6:g} Mbit/s in any window", f"within {error:.3f} packets",
                 "1 packet", n,
                 error <= 1)
    statements = ["police 10mbit burst 15kB"]
    if rows.wanted(statements):
        gap, wire = 500000, 1000  # 16 Mbit/s
        outcome = replay(rows.weir, rows.folder, statements, rows.captures.plain(n, gap, wire))
        passed, most = outcome.cloud["tx_bytes"], 15000 + 10e6 * (n - 1) * gap / 8e9
        rows.add(statements, f"{most:,.0f} B", f"{passed:,} B", "1 packet below", n,
                 most - wire < passed <= most)


def delays(rows):
    rows.part("Delay")
    statements = ["delay 40ms"]
    if rows.wanted(statements):
        cloud = replay(rows.weir, rows.folder, statements,
                       rows.captures.plain(rows.n, 1000, 60)).cloud
        low, high = cloud["delay_ns"]["min"], cloud["delay_ns"]["max"]
        rows.add(statements, "40 ms", f"{low:,} to {high:,} ns", "exact", rows.n,
                 low == high == 40 * MS)
    n = rows.n // 5
    for name, deviation, function in FAMILIES:
        for more, memory in (("", 0), (" correlation 25%", 0.25)):
            statements = [f"delay 40ms jitter 5ms distribution {name}{more} order allow"]
            if not rows.wanted(statements):
                continue
            log = replay(rows.weir, rows.folder, statements, rows.captures.plain(n, 1000, 60),
                         log=True).log
            values = [(t_out - t_in - 40 * MS) / (5 * MS) for _, t_in, _, t_out, _ in sorted(log)]
            mean, got, lag = moments(values)
            spread = SIGMAS * deviation * math.sqrt((1 + memory) / (1 - memory) / n)
            rows.add(statements, f"40 ms, deviation {5 * deviation:.4g} ms",
                     f"{40 + 5 * mean:.5g} ms, deviation {5 * got:.4g} ms",
                     f"± {5 * spread:.2g} ms", n,
                     abs(mean) <= spread)
            if function and not more:
                most = distance(values, function)
                rows.add(statements, "its distribution", f"Kolmogorov distance {most:.5f}",
                         f"{KS / math.sqrt(n):.5f} (p = 0.001)", n, most <= KS / math.sqrt(n))
            # the correlation of heavy tails has no standard error
            if more and not name.startswith("pareto"):
                rows.add(statements, f"correlation {memory:g}", f"{lag:.4f}", "± 0.02", n,
                         abs(lag - memory) < 0.02)
    for name, deviation in (("uniform", 1 / math.sqrt(3)), ("normal", 1), ("exponential", 1)):
        statements = [f"delay 40ms jitter 5ms distribution {name} order keep"]
        if not rows.wanted(statements):
            continue
        # 100 packets in a jitter; memory 1.4 jitters: the mean of T = n / 100 jitters
        cloud = replay(rows.weir, rows.folder, statements, rows.captures.plain(n, 50000, 60)).cloud
        mean, got = cloud["line"]["mean_ns"], cloud["line"]["deviation_ns"]
        spread = SIGMAS * 5 * MS * math.sqrt(2 * 1.4 * 100 / n)
        rows.add(statements, f"40 ms, deviation {5 * deviation:.4g} ms, no packet overtakes",
                 f"{milliseconds(mean)}, deviation {milliseconds(got)}, {cloud['reordered']} "
                 "overtake",
                 f"± {milliseconds(spread)}", n,
                 abs(mean - 40 * MS) <= spread and cloud["reordered"] == 0)


def others(rows):
    """Statements without a row above that act on a packet with a probability, by the examples of
    their help: whatever they do to packets is counted."""
    said = subprocess.run([rows.weir, "help", "--json"], capture_output=True, text=True, check=True)
    for kind in json.loads(said.stdout)["statements"]:
        first = kind["fields"][0] if kind["fields"] else {"positional": False}
        if (kind["name"] in rows.named or kind["role"] != "stage" or not first["positional"]
                or first["type"] != "probability"):
            continue
        if "### Others" not in rows.text:
            rows.part("Others")
        value, unit = re.search(r"(?<![\w.-])([\d.]+(?:e-?\d+)?)(%?)", kind["example"]).groups()
        rows.share([f"{kind['name']} {kind['example']}"], None,
                   float(value) / (100 if unit else 1))


# ---- compared with the real netem ----

GUEST = r"""
cd /tmp; . pair.sh
row() { n=$1; kind=$2; shift 2; echo "### $n"
	tca qdisc del dev va root 2>/dev/null
	tca qdisc add dev va root netem limit 1000000 "$@" 2>&1 | head -1
	case $kind in
	loss) nrig loss va 10.9.0.2 128 300000 0 0;;
	delay) DUMP=/share/accuracy.$n nrig delay va 10.9.0.2 128 2 10 50000;;
	rate) DUMP=/share/accuracy.$n nrig delay va 10.9.0.2 1000 10 4 0;;
	esac; }
"""

# What the guest's program sends: packets, gap in ns, length of the frame without its check
# sequence.
KINDS = {"loss": (300000, 7000, 124), "delay": (16891, 592000, 124), "rate": (4901, 816000, 996)}

PAIRS = [
    ("loss", "loss 1%", "lost 1 %"),
    ("loss", "loss 1% 25%", "lost 1 %"),
    ("loss", "loss 10% 25%", "lost 10 %"),
    ("loss", "loss gemodel 1% 10%", "lost 9.091 %, bursts of 10"),
    ("loss", "loss gemodel 1% 10% 70% 0.1%", "lost 6.455 %"),
    ("loss", "loss state 1% 30%", "lost 3.226 %, bursts of 3.333"),
    ("loss", "loss state 2% 20% 10% 40%", "lost 8.889 %, bursts of 3.333"),
    ("loss", "duplicate 1%", "doubled 1 %"),
    ("loss", "duplicate 20%", "doubled 20 %"),
    ("delay", "delay 50ms reorder 25%", "early 25 %"),
    ("delay", "delay 50ms reorder 25% 50%", "early 25 %"),
    ("delay", "delay 50ms", "50 ms"),
    ("delay", "delay 50ms 5ms", "50 ms, deviation 2.887 ms"),
    ("delay", "delay 50ms 5ms 25%", "50 ms, deviation 2.887 ms, correlation 0.25"),
    ("delay", "delay 50ms 5ms distribution normal", "50 ms, deviation 5 ms"),
    ("delay", "delay 50ms 5ms 25% distribution normal", "50 ms, deviation 5 ms, correlation 0.25"),
    ("delay", "delay 50ms 5ms distribution pareto", "50 ms, deviation 5.774 ms"),
    ("delay", "delay 50ms 5ms distribution paretonormal", "50 ms, deviation 5.259 ms"),
    ("rate", "rate 5mbit", "5 Mbit/s of frames"),
    ("rate", "rate 5mbit 20", "4.902 Mbit/s of frames"),
    ("rate", "rate 5mbit 0 48 5", "4.474 Mbit/s of frames"),
    ("delay", "slot 10ms 20ms", "a slot each 15 ms"),
    ("delay", "slot 20ms 20ms packets 8", "8 packets each 20 ms"),
]


def rank_correlation(values, pairs):
    """Returns Spearman's correlation of the values with their predecessors, which outliers hardly
    affect."""
    rank, n = [0] * len(values), len(values)
    for place, i in enumerate(sorted(range(n), key=lambda i: values[i])):
        rank[i] = (place + 0.5) / n - 0.5
    return 12 * sum(rank[i - 1] * rank[i] for i in pairs) / len(pairs)


def of_delays(times, gap_ns, stalls):
    """The correlation is that of packets that the sender sent one after the other and on time."""
    times = sorted(times)
    kept = without_stalls(times) if stalls else times
    mean, deviation, _ = moments([t_out - t_in for t_in, t_out in kept])
    text = f"{milliseconds(mean)}, deviation {deviation / MS:.4g} ms"
    if deviation < MS:
        return text
    pairs = [i for i in range(1, len(times))
             if abs(times[i][0] - times[i - 1][0] - gap_ns) < gap_ns / 3]
    return text + f", correlation {rank_correlation([b - a for a, b in times], pairs):.3f}"


def of_slots(leaves):
    """Packets that leave within half a millisecond belong to one slot."""
    leaves = sorted(leaves)
    starts = [leaves[0]] + [b for a, b in zip(leaves, leaves[1:]) if b - a > MS // 2]
    gaps = sorted(b - a for a, b in zip(starts, starts[1:]))
    if not gaps:
        return "no slots"
    # the median: a gap in which the guest was held up is long
    return f"{len(leaves) / len(starts):.3g} packets each {milliseconds(gaps[len(gaps) // 2])}"


def of_rate(leaves, wire):
    leaves = sorted(leaves)
    return f"{(len(leaves) - 1) * wire * 8e3 / (leaves[-1] - leaves[0]):.4g} Mbit/s of frames"


def of_times(line, times, gap_ns, wire, stalls=False):
    """times: the arrival and the departure of each packet, in the order in which they were sent."""
    if "reorder" in line:
        return f"early {percent(sum(t_out - t_in < 25 * MS for t_in, t_out in times) / len(times))}"
    if line.startswith("slot"):
        return of_slots([t_out for _, t_out in times])
    if line.startswith("rate"):
        return of_rate([t_out for _, t_out in times], wire)
    return of_delays(times, gap_ns, stalls)


def weirs(rows, kind, line):
    n, gap, wire = KINDS[kind]
    try:
        outcome = replay(rows.weir, rows.folder, [f"netem {line}"],
                         rows.captures.plain(n, gap, wire), log=True)
    except Refused as refused:
        return "refused: " + re.sub(r"^.*?row\.weir:\d+:\d+: ", "", str(refused))
    cloud = outcome.cloud
    if "duplicate" in line:
        return f"doubled {percent(cloud['duplicated'] / n)}"
    if "loss" in line:
        return (f"lost {percent(cloud['drops']['loss'] / n)}, bursts of "
                f"{runs_of_losses(outcome.log)[0]:.4g}")
    return of_times(line, [(r[1], r[3]) for r in sorted(outcome.log) if r[2] != "dropped"], gap,
                    wire)


def netems(text, kind, line, dump):
    if kind == "loss":
        found = re.search(r"lost=(\d+).*meanburst=([\d.]+) dup=(\d+)", text)
        if not found:
            return "did not take it: " + text.strip().split("\n")[0]
        lost, burst, doubled = (float(x) for x in found.groups())
        n = KINDS[kind][0]
        return (f"doubled {percent(doubled / n)}" if "duplicate" in line
                else f"lost {percent(lost / n)}, bursts of {burst:.4g}")
    if not os.path.exists(dump):
        return "did not take it: " + text.strip().split("\n")[0]
    with open(dump, encoding="utf-8") as lines:
        times = [tuple(int(x) for x in row.split()) for row in lines]
    _, gap, wire = KINDS[kind]
    return of_times(line, [(ts, tr) for _, _, ts, _, tr in times if ts and tr], gap, wire,
                    stalls=True)


def side_by_side(rows):
    """Returns the table, or the reason why there is none."""
    rig = os.environ.get("RIG", "")
    if not os.access(os.path.join(rig, "rig.sh"), os.X_OK):
        return None, "RIG does not name the folder of the guest's scripts"
    share = os.path.join(os.environ.get("RIG_DIR", ""), "share")
    if not os.path.isdir(share):
        return None, "RIG_DIR does not name a guest that is built"
    script = os.path.join(share, "accuracy.sh")
    dumps = [os.path.join(share, f"accuracy.{i}") for i in range(len(PAIRS))]
    try:
        with open(script, "w", encoding="utf-8") as out:
            out.write(GUEST + "".join(f"row {i} {kind} {line}\n"
                                      for i, (kind, line, _) in enumerate(PAIRS)))
        done = subprocess.run([os.path.join(rig, "rig.sh"), "run",
                               "bash /share/accuracy.sh; uname -r; tc -V"],
                              env={**os.environ, "RIG_MODE": "uml", "RIG_TIMEOUT": "900"},
                              capture_output=True,
                              text=True)
        answers = dict(re.findall(r"^### (\d+)\n(.*?)(?=^###|\Z)", done.stdout, re.S | re.M))
        if len(answers) < len(PAIRS):
            return None, "the guest did not run: " + (done.stderr.strip().split("\n") or ["?"])[-1]
        versions = done.stdout.strip().split("\n")[-2:]
        text = [f"Linux {versions[0]}, {versions[1].split(', ')[1]}, user-mode Linux, one "
                "processor.", "",
                "| netem line | asked for | netem | weir | packets |", "|---|---|---|---|---|"]
        for i, (kind, line, asked) in enumerate(PAIRS):
            text.append(f"| `{line}` | {asked} | {netems(answers[str(i)], kind, line, dumps[i])} | "
                        f"{weirs(rows, kind, line)} | {KINDS[kind][0]:,} |")
        return "\n".join(text), None
    finally:
        for path in [script] + dumps:
            if os.path.exists(path):
                os.remove(path)


# ---- the page ----

HEAD = """# Accuracy: what was asked for, and what was done

[`tools/accuracy.py`](../tools/accuracy.py) makes this page with one command. It generates captures,
and runs `weir replay` over them with seed 1 and, if not noted otherwise, packets a microsecond
apart. The tests in [`tests/statistics`](../tests/statistics) verify the same with a million packets
each, and compare bursts and gaps with their distributions.

<!-- example: not run: measures for many minutes -->
```
RIG=FOLDER RIG_DIR=FOLDER tools/accuracy.py --weir build/rel/src/weir     # without RIG: weir alone
```

## weir

**bound**: a random figure exceeds it with one seed in a thousand (3.29 standard errors; Kolmogorov
and Smirnov, p = 0.001). Figures that are not random are exact.
"""

BESIDE = """
## Beside tc netem

The same line, given to the kernel's netem in a guest, and to weir as
[`cloud NAME netem LINE`](netem.md).

- The guest's packets are timed between the queueing discipline and the receiving socket, in real
  time. The guest itself adds some 0.1 ms to each delay, and more on a busy machine.
- The mean and the deviation leave out packets that left right after the guest had been held up
  (nothing left for 3 ms).
- The correlation is a rank correlation, of packets that were sent in time.
- netem's `limit` is 1,000,000 packets, so that it has no effect.
"""


def old_table(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as page:
        found = re.search(r"^(Linux .*?\n\n\| netem line .*)\Z", page.read(), re.S | re.M)
    return found[1].rstrip() if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", default=os.path.join(ROOT, "build", "release", "src", "weir"))
    parser.add_argument("--packets", type=int, default=1000000)
    parser.add_argument("--output", default=os.path.join(ROOT, "docs", "accuracy.md"))
    parser.add_argument("--only", help="rows whose statement has this word; nothing is written")
    arguments = parser.parse_args()
    if not os.access(arguments.weir, os.X_OK):
        sys.exit(f"accuracy.py: {arguments.weir} is no program; say --weir FILE")
    with tempfile.TemporaryDirectory() as folder:
        rows = Rows(arguments, folder)
        for part in (losses, copies, orders, rates, delays, others):
            part(rows)
        if arguments.only:
            print("\n".join(rows.text))
            return 1 if rows.wrong else 0
        beside, reason = side_by_side(rows)
    if beside is None:
        print(f"SKIP: beside tc netem: {reason}", file=sys.stderr)
        beside = old_table(arguments.output) or f"Not measured here: {reason}."
    with open(arguments.output, "w", encoding="utf-8") as page:
        page.write(HEAD + "\n".join(rows.text) + "\n" + BESIDE + "\n" + beside + "\n")
    for row in rows.wrong:
        print(f"accuracy.py: out of its bound: {row}", file=sys.stderr)
    return 1 if rows.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
