#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`rewrite` through `weir replay`; tshark checks fields, and every checksum.

usage: rewrite.py WEIR ROOT
"""
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
PAYLOAD = bytes(range(60))
STATUS = ["ip.checksum.status", "tcp.checksum.status", "udp.checksum.status",
          "icmp.checksum.status", "icmpv6.checksum.status"]
CHECKED = [word for name in ("ip.check_checksum", "tcp.check_checksum", "udp.check_checksum")
           for word in ("-o", f"{name}:TRUE")]


def words(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def segment(protocol, pseudo):
    if protocol == 6:
        head, at = struct.pack(">HHIIBBHHH", 1000, 80, 7, 9, 0x50, 0x10, 500, 0, 0), 16
    elif protocol == 17:
        head, at = struct.pack(">HHHH", 1000, 80, 8 + len(PAYLOAD), 0), 6
    else:
        head, at = struct.pack(">BBHHH", 8 if protocol == 1 else 128, 0, 0, 1, 2), 2
    whole = head + PAYLOAD
    total = ~words((pseudo + struct.pack(">II", len(whole), protocol) if protocol != 1 else b"")
                   + whole) & 0xffff
    return whole[:at] + struct.pack(">H", total) + whole[at + 2:]


def ipv4(protocol, options=b"", tags=b""):
    ends = bytes([192, 0, 2, 1, 198, 51, 100, 7])
    inner = segment(protocol, ends)
    head = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(inner), 1,
                       0, 64, protocol, 0) + ends + options
    head = head[:10] + struct.pack(">H", ~words(head) & 0xffff) + head[12:]
    return MACS + tags + b"\x08\x00" + head + inner


def ipv6(protocol, extensions=b"", first=None, tags=b""):
    ends = bytes.fromhex("20010db8" + "00" * 11 + "01" + "20010db8" + "00" * 11 + "02")
    inner = segment(protocol, ends)
    head = struct.pack(">IHBB", 0x60000000, len(extensions) + len(inner),
                       protocol if first is None else first, 64) + ends
    return MACS + tags + b"\x86\xdd" + head + extensions + inner


QINQ = bytes.fromhex("88a8606481006065")
FRAMES = [
    ipv4(6), ipv4(17), ipv4(1), ipv6(6), ipv6(17), ipv6(58),
    ipv4(6, options=bytes([25, 8, 9, 200, 1, 2, 3, 4]), tags=bytes.fromhex("81006064")),
    ipv4(17, tags=QINQ),
    ipv6(6, extensions=bytes([60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0]), first=0,
         tags=QINQ),
    ipv6(17, extensions=bytes([17, 1, 0x26, 6, 9, 200, 1, 2, 3, 4, 1, 4, 0, 0, 0, 0]), first=0),
]


def capture(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            out.write(struct.pack("<IIII", 1, number * 1000, len(frame), len(frame)) + frame)


def replay(folder, rules, source):
    with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
        out.write("port a\nport b\ncloud down from a to b\n")
        out.writelines(f"cloud down rewrite {number} {rule}\n"
                       for number, rule in enumerate(rules, 1))
    done = subprocess.run([WEIR, "replay", "-q", "-c", f"{folder}/s.weir", "--in", f"a={source}",
                           "--out",
                           f"b={folder}/out.pcap"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return f"{folder}/out.pcap"


def tshark(path, *fields):
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not installed")
    done = subprocess.run(["tshark", "-r", path, *CHECKED, "-T", "fields", "-E", "separator=;",
                           *[word for field in fields for word in ("-e", field)]],
                          capture_output=True, text=True, check=True)
    return [line.split(";") for line in done.stdout.splitlines()]


def judged(rules, *fields):
    """Returns the fields of each packet afterwards. Asserts that all checksums are right."""
    with tempfile.TemporaryDirectory() as folder:
        capture(f"{folder}/in.pcap", FRAMES)
        before = tshark(f"{folder}/in.pcap", *STATUS)
        after = tshark(replay(folder, rules, f"{folder}/in.pcap"), *STATUS, *fields)
    assert len(after) == len(FRAMES)
    for number, (then, now) in enumerate(zip(before, after), 1):
        assert ("1" in then
                and set(then) <= {"1", ""}), f"packet {number} of the capture is wrong: {then}"
        assert now[:len(STATUS)] == then, f"packet {number}: {now}"
    return [row[len(STATUS):] for row in after]


def dscp_is_marked_in_both_families():
    rows = judged(["set ip.dscp 46", "set ip6.dscp 46"], "ip.dsfield.dscp", "ipv6.tclass.dscp")
    assert all(v4 + v6 == "46" for v4, v6 in rows), rows


def addresses_and_ports_are_overwritten():
    rows = judged(["set ip.src 10.9.8.7 ip.dst 10.1.2.3",
                   "set ip6.src 2001:db8:1::9 ip6.dst fe80::1:2",
                   "set tcp.sport 4000 tcp.dport 443", "set udp.sport 4000 udp.dport 443"],
                  "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "tcp.srcport", "udp.srcport",
                  "tcp.dstport",
                  "udp.dstport")
    for v4, v4_to, v6, v6_to, tcp, udp, tcp_to, udp_to in rows:
        assert v4 + v6 in ("10.9.8.7", "2001:db8:1::9"), v4 + v6
        assert v4_to + v6_to in ("10.1.2.3", "fe80::1:2"), v4_to + v6_to
        assert tcp + udp in ("4000", "") and tcp_to + udp_to in ("443", "")


def tcp_is_edited_and_tags_are():
    rows = judged(["match tcp.flags&0x10 = 0x10 add tcp.seq 1000 tcp.ack -9 set tcp.window 77 "
                   "tcp.flags 0x18",
                   "match vlan.id = 100 set vlan.id 7 vlan.priority 1", "set vlan2.id 9"],
                  "tcp.seq_raw", "tcp.ack_raw", "tcp.window_size_value", "tcp.flags", "vlan.id",
                  "ieee8021ad.id")
    for sequence, acknowledged, window, flags, *tags in rows:
        if sequence:
            assert ((sequence, acknowledged, window, flags)
                    == ("1007", "0", "77", "0x0018")), sequence
        assert tags in (["", ""], ["7", ""], ["9", "7"]), tags


def random_payload_at_odd_places_keeps_the_sums_right():
    judged([f"random payload+{at}:{width} transport+{20 + at}:1" for at, width in
            ((1, 8), (3, 4), (5, 2), (7, 1), (9, 8), (20, 4))])


def quick_start_is_approved_as_the_example_says():
    with open(f"{ROOT}/configs/quick-start.weir", encoding="utf-8") as example:
        rules = [line.split(None, 4)[4].strip()
                 for line in example if line.startswith("cloud down rewrite")]
    assert len(rules) == 2
    rows = judged(rules, "ip.opt.qs_rate", "ip.opt.qs_ttl", "ip.ttl", "ipv6.opt.qs_rate",
                  "ipv6.opt.qs_ttl",
                  "ipv6.hlim")
    assert [row[:3] for row in rows if row[0]] == [["7", "199", "63"]], rows
    assert [row[3:] for row in rows if row[3]] == [["7", "199", "63"]], rows


def a_real_capture_keeps_its_good_sums():
    source = f"{ROOT}/tests/replay/data/linux-tcp.pcap"
    with tempfile.TemporaryDirectory() as folder:
        out = replay(folder,
                     ["set ip.src 10.1.2.3 ip.ttl 9 random ip.id", "add tcp.window 1 tcp.seq 5000",
                              "set udp.sport 9"], source)
        before, after = tshark(source, *STATUS), tshark(out, *STATUS, "ip.src")
    assert [row[:len(STATUS)] for row in after] == before
    assert sum(row[-1] == "10.1.2.3" for row in after) > 13000


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    dscp_is_marked_in_both_families, addresses_and_ports_are_overwritten,
    tcp_is_edited_and_tags_are,
    random_payload_at_odd_places_keeps_the_sums_right, quick_start_is_approved_as_the_example_says,
    a_real_capture_keeps_its_good_sums)]))
