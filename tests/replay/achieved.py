#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of `weir replay`: each share that it prints, against the log of the same replay.

usage: achieved.py WEIR
"""
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR = os.path.abspath(sys.argv[1])
# The order in which a packet passes the statements, and what they do with it; `line` is behind all.
ORDER = ["clouds", "down", "hop", "rewrite", "loss", "duplicate", "corrupt", "police", "limit",
         "queue", "line"]
DROPS = {"clouds-full": "clouds", "down": "down", "ttl-expired": "hop", "too-big": "hop",
         "loss": "loss", "police": "police", "limit": "limit", "queue-full": "queue",
         "red-early": "queue", "red-forced": "queue", "codel": "queue", "": "line"}
MS = 1_000_000
QUEUES = ["red", "codel", "ecn"]
COUNTERS = {"duplicate": "duplicated", "corrupt": "corrupted", "rewrite": "rewritten",
            "reorder": "reordered"}
SCENARIOS = {
    "stages that drop, copy and damage": """
        cloud x loss random 50%
        cloud x duplicate random 10%
        cloud x corrupt random 10%
        cloud x police 3mbit burst 10kB""",
    "a cloud that is down at times": """
        cloud x loss random 20%
        cloud x police 5mbit burst 10kB
        cloud x rewrite match ip.src = 10.0.0.1 set ip.ttl 9
        cloud x every 400ms for 100ms down""",
    "a hop that makes fragments and errors": """
        cloud x hop 192.0.2.1 mtu 600
        cloud x loss random 20%
        cloud x corrupt random 30%
        cloud x delay 3ms""",
    "a hop that makes errors, and copies behind it": """
        cloud x hop 192.0.2.1
        cloud x loss random 20%
        cloud x duplicate random 30%
        cloud x police 5mbit burst 10kB
        cloud x delay 3ms""",
    "a limit of the line": """
        cloud x loss random 20%
        cloud x duplicate random 20%
        cloud x police 8mbit burst 10kB
        cloud x reorder random 10% by 3pkt
        cloud x delay 40ms limit 30pkt""",
    "RED behind stages": """
        cloud x loss random 30%
        cloud x duplicate random 20%
        cloud x rate 5mbit queue 60kB
        cloud x red min 5kB max 30kB
        cloud x ecn on""",
    "CoDel behind a police": """
        cloud x police 8mbit burst 10kB
        cloud x rate 5mbit queue 60kB
        cloud x codel
        cloud x reorder every 7
        cloud x delay 5ms""",
    "a template that is full": """
        clouds x from a to b per source 10.0.0.0/29 most 2
        cloud x loss random 20%
        cloud x duplicate random 20%
        cloud x reorder random 10% by 3pkt
        cloud x delay 5ms""",
}


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack(">H", ~total & 0xffff)


def capture(path, n=4000):
    """Writes n packets of UDP in 2 s, from six sources. Of 20 packets one is to die at a hop, and
    one is not to be fragmented; half of them are long."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i in range(n):
            size = 1200 if i % 2 else 172
            fragments, ttl = 0x4000 if i % 20 == 5 else 0, 1 if i % 20 == 7 else 64
            head = (struct.pack(">BBHHHBBH", 0x45, 2, 28 + size, i, fragments, ttl, 17, 0) +
                    bytes([10, 0, 0, i * 7 % 6, 203, 0, 113, 8]))
            frame = (bytes.fromhex("0200000000020200000000010800") +
                     head[:10] + checksum(head) + head[12:] +
                     struct.pack(">HHHH", 1000, 33434, 8 + size, 0) + bytes(size))
            out.write(struct.pack("<IIII", 1 + i // 2000, i % 2000 * 500, len(frame), len(frame)))
            out.write(frame)


def came_to(rows, place):
    """Returns how many packets of the log have come to a statement: those that were not dropped
    before, copies and fragments only behind the statement that makes them. A hop's error leaves
    when it is made."""
    at, came = ORDER.index(place), 0
    for row in rows:
        if "copy" in row["detail"] and at <= ORDER.index("duplicate"):
            continue
        if "generated" in row["detail"] and (at <= ORDER.index("hop") or
                                             row["t_out_ns"] == row["t_in_ns"]):
            continue
        came += ORDER.index(DROPS[row["reason"]]) >= at
    return came


def played(folder, scenario):
    """Returns the table's rows as {statement: text}, the log, and the cloud in the report."""
    lines = [line.strip() for line in scenario.strip().splitlines()]
    if not lines[0].startswith("clouds"):
        lines.insert(0, "cloud x from a to b")
    with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
        out.write("\n".join(["port a", "port b", *lines, ""]))
    result = subprocess.run([WEIR, "replay", "-c", f"{folder}/s.weir", "--seed", "1",
                             "--in", f"a={folder}/in.pcap", "--log", f"{folder}/log",
                             "--report", f"{folder}/report"],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    table = result.stdout + result.stderr
    full = " clouds-full" in table
    assert ("every packet is accounted for; weir itself lost none\n" in table) == (not full), table
    too_wide = [line for line in result.stdout.splitlines() if line[:2] == "  " and line[80:]]
    assert not too_wide, too_wide
    # A cell that goes on in the next line has no row of its own.
    table = re.sub(r"\n {30,}(?=\S)", " ", table)
    shown = {}
    for name in [*COUNTERS, *QUEUES, "loss", "police"]:
        rows = re.findall(rf"^  {name} .*$", table, re.MULTILINE)
        if rows:
            shown[name] = rows[0]
    with open(f"{folder}/log", encoding="utf-8") as log:
        rows = list(csv.DictReader(log))
    with open(f"{folder}/report", encoding="utf-8") as report:
        return shown, rows, json.load(report)["clouds"][0]


def number(text):
    return int(text.replace(",", ""))


def compare(name, text, rows, cloud):
    """Compares a row of the table with the log; returns how many packets had come."""
    place = "queue" if name in QUEUES else "line" if name == "reorder" else name
    match = re.search(r"([\d.]+)%(?:, ([\d,]+))? of ([\d,]+) packets", text)
    assert match, text
    share, of = float(match[1]), number(match[3])
    if name in QUEUES:
        count = sum(number(n) for n in re.findall(r"([\d,]+) (?:marked|dropped|by force)", text))
    elif name == "reorder":
        # Its own choices. The report counts what lost its order, by whatever cause.
        count = number(match[2])
        assert 0 < count <= 2 * cloud["reordered"], text
    else:
        count = cloud[COUNTERS[name]] if name in COUNTERS else cloud["drops"][name]
        assert number(match[2]) == count, f"{text}: counted {count}"
    came = came_to(rows, place)
    assert of == came, f"{text}: {came} packets came to it"
    assert abs(share - 100 * count / came) <= share * 1e-4, f"{text}: {count} of {came}"
    return came


def claim_of(folder, scenario):
    def claim():
        shown, rows, cloud = played(folder, scenario)
        names = {line.split()[2] for line in scenario.strip().splitlines()}
        expected = names & {*COUNTERS, *QUEUES, "loss", "police"}
        assert set(shown) == expected, f"{sorted(shown)} instead of {sorted(expected)}"
        came = [compare(name, text, rows, cloud) for name, text in shown.items()]
        assert any(n != cloud["rx_packets"] for n in came), "every packet came to every statement"
    return claim


def each_row_is_its_own(folder):
    """Rules of rewrite, and the same statement at several times: each row against the log."""
    def claim():
        scenario = """
            cloud x rewrite 1 set ip.ttl 3
            cloud x rewrite 2 match tcp.dport = 9999 set ip.tos 4
            cloud x rewrite 3 match ip.src = 10.0.0.1 set ip.dscp 9
            cloud x rewrite 4 set ip.ttl 3
            cloud x loss random 10%
            cloud x at 1.5s no loss
            cloud x every 600ms for 200ms from 100ms loss random 50%
            cloud x at 1.7s corrupt random 100%"""
        _, rows, cloud = played(folder, scenario)
        result = subprocess.run([WEIR, "replay", "-c", f"{folder}/s.weir", "--seed", "1",
                                 "--in", f"a={folder}/in.pcap", "--log", f"{folder}/log"],
                                capture_output=True, text=True, check=True)
        table = [" ".join(line.split()) for line in result.stdout.splitlines()]
        start = min(int(row["t_in_ns"]) for row in rows)
        arrivals = [(int(row["t_in_ns"]) - start, row["reason"]) for row in rows]

        def within(t):
            return t >= 100 * MS and (t - 100 * MS) % (600 * MS) < 200 * MS

        def said(begin):
            at = next(i for i, line in enumerate(table) if line.startswith(begin))
            text = " ".join(table[at:at + 3])
            match = re.search(r"%, ([\d,]+) of ([\d,]+)", text)
            assert match, text
            return number(match[1]), number(match[2])

        every = [reason for t, reason in arrivals if within(t)]
        plain = [reason for t, reason in arrivals if not within(t) and t < 1500 * MS]
        late = [reason for t, reason in arrivals if t >= 1700 * MS and reason != "loss"]
        assert said("rewrite 1 ") == (len(arrivals), len(arrivals))
        assert said("rewrite 2 ") == (0, len(arrivals))
        assert said("rewrite 4 ") == (0, len(arrivals))  # it writes what stands there already
        assert 0 < said("rewrite 3 ")[0] < len(arrivals)
        assert said("every ") == (every.count("loss"), len(every))
        assert said("loss ") == (plain.count("loss"), len(plain))
        assert said("at 1.7s ") == (len(late), len(late))
        assert every.count("loss") + plain.count("loss") == cloud["drops"]["loss"]
    return claim


def main():
    folder = tempfile.mkdtemp()
    try:
        capture(f"{folder}/in.pcap")
        return tap.run([(f"each share is of the packets that came to its statement: {name}",
                         claim_of(folder, scenario)) for name, scenario in SCENARIOS.items()] +
                       [("each row shows what its own statement has done",
                         each_row_is_its_own(folder))])
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
