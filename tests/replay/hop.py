#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`hop` through `weir replay`; tshark checks the routers' answers, and fragments.

usage: hop.py WEIR ROOT
"""
import csv
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MACS = bytes.fromhex("020000000002020000000001")
BACK = MACS[6:] + MACS[:6]
QINQ = bytes.fromhex("88a8606481006065")
HOST4, PEER4 = bytes([198, 51, 100, 7]), bytes([203, 0, 113, 8])
HOST6, PEER6 = (bytes.fromhex("20010db8" + "00" * 10 + "01" + last) for last in ("07", "08"))
UDP, ICMP, ICMP6 = 17, 1, 58
CHECKS = [word for name in ("ip", "udp") for word in ("-o", f"{name}.check_checksum:TRUE")]
SUMS = ["ip.checksum.status", "udp.checksum.status", "icmp.checksum.status",
        "icmpv6.checksum.status"]
WRONG = ["_ws.malformed", "_ws.expert.message", "_ws.expert.severity"]


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack(">H", ~total & 0xffff)


def segment(protocol, pseudo, size, kind=None):
    payload = bytes(i * 7 & 0xff for i in range(size))
    if protocol == UDP:
        head, at = struct.pack(">HHHH", 1000, 33434, 8 + size, 0), 6
    else:
        kind = kind if kind is not None else 8 if protocol == ICMP else 128
        head, at = struct.pack(">BBHHH", kind, 0, 0, 1, 2), 2
    whole = head + payload
    pseudo = b"" if protocol == ICMP else pseudo + struct.pack(">II", len(whole), protocol)
    return whole[:at] + checksum(pseudo + whole) + whole[at + 2:]


def ipv4(ttl, protocol=UDP, size=60, df=False, options=b"", tags=b"", to=PEER4, number=1,
         kind=None):
    inner = segment(protocol, HOST4 + to, size, kind)
    head = (struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(inner),
                        number,
                       0x4000 if df else 0, ttl, protocol, 0) + HOST4 + to + options)
    return MACS + tags + b"\x08\x00" + head[:10] + checksum(head) + head[12:] + inner


def ipv6(ttl, protocol=UDP, size=60, tags=b"", to=PEER6, kind=None):
    inner = segment(protocol, HOST6 + to, size, kind)
    head = struct.pack(">IHBB", 0x60000000, len(inner), protocol, ttl) + HOST6 + to
    return MACS + tags + b"\x86\xdd" + head + inner


def capture(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            out.write(struct.pack("<IIII", 1, number * 1000, len(frame), len(frame)) + frame)


def replay(folder, frames, *options, config=None):
    """Replays frames through three routers; `frames` are the packets that enter at a. Returns the
    captures at a and b."""
    if config is None:
        config = f"{folder}/s.weir"
        with open(config, "w", encoding="utf-8") as out:
            out.write("port a\nport b\n"
                      "cloud one from a to b\ncloud one hop 192.0.2.1 2001:db8::1\n"
                      "cloud two from one to b\ncloud two hop 192.0.2.2 2001:db8::2 mtu 1300\n"
                      "cloud three from two to b\ncloud three hop 192.0.2.3 2001:db8::3\n")
    capture(f"{folder}/in.pcap", frames)
    done = subprocess.run([WEIR, "replay", "-q", "-c", config, "--in", f"a={folder}/in.pcap",
                           "--out",
                           f"a={folder}/a.pcap", "--out", f"b={folder}/b.pcap", *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return f"{folder}/a.pcap", f"{folder}/b.pcap"


def tshark(path, *fields, options=()):
    """Returns the first occurrence of each field of each packet: an answer also has the fields of
    its quotation."""
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not installed")
    done = subprocess.run(["tshark", "-r", path, *CHECKS, *options, "-T", "fields",
                           "-E", "separator=;", "-E",
                           "occurrence=f", *[word for field in fields for word in ("-e", field)]],
                          capture_output=True, text=True, check=True)
    return [line.split(";") for line in done.stdout.splitlines()]


def is_well_formed(path, *options):
    for number, row in enumerate(tshark(path, *SUMS, *WRONG, options=options), 1):
        sums, (malformed, message, _) = row[:len(SUMS)], row[len(SUMS):]
        # 1: right; 2: unknown, for UDP that is quoted in part.
        assert set(sums) <= {"1", ""} or (sums[1] == "2" and set(sums) <= {"1", "2", ""}), \
            f"packet {number}: checksums {sums}"
        assert malformed == "", f"packet {number} is malformed: {malformed} {message}"
        assert "checksum" not in message.lower() or "not checked" in message.lower(), \
            f"packet {number}: {message}"


def each_router_answers_for_its_ttl():
    frames, routers = [], []
    for ttl in range(1, 5):
        for frame in (ipv4(ttl), ipv4(ttl, ICMP),
                      ipv4(ttl, tags=QINQ, options=bytes([7, 7, 4, 0, 0, 0, 0, 0])),
                      ipv4(ttl, size=1200), ipv6(ttl), ipv6(ttl, ICMP6), ipv6(ttl, tags=QINQ),
                      ipv6(ttl, size=1230)):
            frames.append(frame)
            if ttl < 4:
                routers.append(("192.0.2." if b"\x08\x00\x45" in frame or b"\x08\x00\x47" in frame
                                else "2001:db8::") + str(ttl))
    with tempfile.TemporaryDirectory() as folder:
        back, on = replay(folder, frames)
        is_well_formed(back)
        is_well_formed(on)
        rows = tshark(back, "ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "icmp.type", "icmpv6.type",
                      "eth.src", "eth.dst", "ip.ttl", "ipv6.hlim", "frame.len")
        left = tshark(on, "ip.ttl", "ipv6.hlim")
    assert [row[0] + row[1] for row in rows] == routers, rows
    for row in rows:
        assert row[2] + row[3] in ("198.51.100.7", "2001:db8::107"), row
        assert row[4] + row[5] in ("11", "3"), row
        assert row[6:8] == ["02:00:00:00:00:02", "02:00:00:00:00:01"], row
        assert row[8] + row[9] == "64", row
    assert max(int(row[10]) for row in rows if row[0]) == 14 + 576
    assert max(int(row[10]) for row in rows if row[1]) == 14 + 1280
    assert len(left) == 8 and all(v4 + v6 == "1" for v4, v6 in left), left


def what_is_too_long_is_sent_back_with_the_mtu():
    frames = [ipv4(64, size=1273, df=True), ipv4(64, size=1272, df=True), ipv6(64, size=1253),
              ipv6(64, size=1252), ipv4(64, size=8000, df=True, tags=QINQ),
              ipv6(64, size=8000, tags=QINQ)]
    with tempfile.TemporaryDirectory() as folder:
        back, on = replay(folder, frames)
        is_well_formed(back)
        rows = tshark(back, "ip.src", "ipv6.src", "icmp.type", "icmp.code", "icmp.mtu",
                      "icmpv6.type",
                      "icmpv6.mtu")
        left = tshark(on, "frame.len")
    v4, v6 = ["192.0.2.2", "", "3", "4", "1300", "", ""], ["", "2001:db8::2", "", "", "", "2",
                                                           "1300"]
    assert rows == [v4, v6, v4, v6], rows
    assert left == [["1314"], ["1314"]], left


def fragments_are_put_together_again():
    sizes = (1272, 1273, 1472, 5000, 8952)
    frames = [ipv4(64, size=size, number=size, tags=QINQ if size == 5000 else b"")
              for size in sizes]
    with tempfile.TemporaryDirectory() as folder:
        back, on = replay(folder, frames)
        whole = ("-o", "ip.defragment:TRUE")
        is_well_formed(on, *whole)
        rows = [row for row in tshark(on, "udp.length", "udp.checksum.status", "ip.ttl",
                                      options=whole)
                if row[0]]
        lengths = [int(row[0]) for row in tshark(on, "ip.len")]
        assert tshark(back, "frame.len") == []
    assert rows == [[str(size + 8), "1", "61"] for size in sizes], rows
    assert max(lengths) <= 1300 and len(lengths) == 1 + 2 + 2 + 4 + 7 + 0, lengths


def routers_answer_ping():
    frames = [ipv4(64, ICMP, to=bytes([192, 0, 2, 2])),
              ipv4(1, ICMP, to=bytes([192, 0, 2, 1]), size=999),
              ipv6(64, ICMP6, to=bytes.fromhex("20010db8" + "00" * 11 + "03"), tags=QINQ),
              ipv4(64, to=bytes([192, 0, 2, 3]))]
    with tempfile.TemporaryDirectory() as folder:
        back, on = replay(folder, frames)
        is_well_formed(back)
        rows = tshark(back, "ip.src", "ipv6.src", "icmp.type", "icmp.code", "icmpv6.type")
        assert tshark(on, "frame.len") == []
    assert rows == [["192.0.2.2", "", "0", "0", ""], ["192.0.2.1", "", "0", "0", ""],
                    ["", "2001:db8::3", "", "", "129"], ["192.0.2.3", "", "3", "3", ""]], rows


def the_log_names_the_cause_of_each_answer():
    frames = [ipv4(1), ipv4(64, size=1400, df=True), ipv4(64, size=1400), ipv4(2, ICMP, kind=3)]
    with tempfile.TemporaryDirectory() as folder:
        replay(folder, frames, "--log", f"{folder}/log.csv", "--report", f"{folder}/r.json")
        with open(f"{folder}/log.csv", encoding="utf-8") as text:
            rows = [(row["packet"], row["cloud"], row["fate"], row["reason"], row["detail"])
                    for row in csv.DictReader(text)]
        with open(f"{folder}/r.json", encoding="utf-8") as text:
            clouds = {cloud["cloud"]: cloud for cloud in json.load(text)["clouds"]}
    assert rows == [("1", "one", "delivered", "", "generated"),
                    ("1", "one", "dropped", "ttl-expired", ""),
                    ("2", "one", "delivered", "", ""), ("2", "two", "delivered", "", "generated"),
                    ("2", "two", "dropped", "too-big", ""), ("3", "one", "delivered", "", ""),
                    ("3", "two", "delivered", "", ""), ("3", "two", "delivered", "", "generated"),
                    ("3", "three", "delivered", "", ""),
                    ("3", "three", "delivered", "", "generated"),
                    ("4", "one", "delivered", "", ""),
                    ("4", "two", "dropped", "ttl-expired", "")], rows
    assert (clouds["one"]["generated"], clouds["one"]["drops"]["ttl-expired"]) == (1, 1)
    assert (clouds["two"]["generated"], clouds["two"]["drops"]["too-big"]) == (2, 1)


def the_size_of_bursts_does_not_matter_on_the_path_of_the_scenario():
    frames = []
    for i in range(600):
        make = ipv4 if i % 3 else ipv6
        frames.append(make(i % 5 + 1, size=(i * 37) % 1450))
    with tempfile.TemporaryDirectory() as folder:
        seen = []
        for burst in ("1", "7", "32"):
            outputs = replay(folder, frames, "--burst", burst,
                             config=f"{ROOT}/configs/three-hops.weir")
            seen.append([open(path, "rb").read() for path in outputs])
        is_well_formed(outputs[0])
    assert len(seen[0][0]) > 10000 and len(seen[0][1]) > 10000
    assert seen[0] == seen[1] == seen[2]


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    each_router_answers_for_its_ttl, what_is_too_long_is_sent_back_with_the_mtu,
    fragments_are_put_together_again, routers_answer_ping, the_log_names_the_cause_of_each_answer,
    the_size_of_bursts_does_not_matter_on_the_path_of_the_scenario)]))
