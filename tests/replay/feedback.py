#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The feedback header through `weir replay`: tshark checks the checksums, and the table of the path
is compared with the counters of the routers' clouds.

usage: feedback.py WEIR ROOT
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

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MACS = bytes.fromhex("020000000002020000000001")
HOST4, PEER4 = bytes([198, 51, 100, 7]), bytes([203, 0, 113, 8])
HOST6, PEER6 = (bytes.fromhex("20010db8" + "00" * 10 + "01" + last) for last in ("07", "08"))
TAGS = [b"", bytes.fromhex("81006064"), bytes.fromhex("88a8606481006065")]
TCP, UDP = 6, 17
CHECKS = [word for name in ("ip", "udp", "tcp") for word in ("-o", f"{name}.check_checksum:TRUE")]
NS = 10 ** 9
WINDOW = NS // 10

# R1, R2, R3: rates in bit/s. The test's bursts congest R2.
RATES = (20_000_000, 10_000_000, 30_000_000)


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack(">H", ~total & 0xffff)


def segment(protocol, pseudo, size):
    payload = bytes(i * 7 & 0xff for i in range(size))
    if protocol == UDP:
        head, at = struct.pack(">HHHH", 1000, 2000, 8 + size, 0), 6
    else:
        head, at = struct.pack(">HHIIBBHHH", 1000, 2000, 1, 1, 5 << 4, 0x10, 1000, 0, 0), 16
    whole = head + payload
    pseudo += struct.pack(">II", len(whole), protocol)
    return whole[:at] + checksum(pseudo + whole) + whole[at + 2:]


def ipv4(source, to, protocol=UDP, size=60, ttl=64, tags=b"", header=b"", flags=0):
    inner = header + segment(protocol, source + to, size)
    head = (struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inner), 1, flags, ttl,
                        253 if header else protocol,
                       0) + source + to)
    return MACS + tags + b"\x08\x00" + head[:10] + checksum(head) + head[12:] + inner


def ipv6(source, to, protocol=UDP, size=60, ttl=64, tags=b"", header=b""):
    inner = header + segment(protocol, source + to, size)
    head = (struct.pack(">IHBB", 0x60000000, len(inner), 253 if header else protocol, ttl) + source
            + to)
    return MACS + tags + b"\x86\xdd" + head + inner


def down(i, **more):
    """Returns a packet of either version, over either transport, with 0, 1 or 2 tags."""
    if i % 2:
        return ipv4(HOST4, PEER4, (UDP, TCP)[i // 2 % 2], tags=TAGS[i % 3], **more)
    return ipv6(HOST6, PEER6, (UDP, TCP)[i // 2 % 2], tags=TAGS[i % 3], **more)


def capture(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for t, frame in frames:
            out.write(struct.pack("<IIII", 1 + t // NS, t % NS, len(frame), len(frame)) + frame)


def frames_of(path):
    with open(path, "rb") as source:
        data = source.read()
    at, frames = 24, []
    while at < len(data):
        n = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + n])
        at += 16 + n
    return frames


def scenario(proxies=True):
    lines = ["seed 1", "port a", "port b", "cloud down from a to b"]
    before = "down"
    if proxies:
        lines.append("cloud down feedback proxy insert hops 4")
    for i, rate in enumerate(RATES, 1):
        name = f"down-{i}"
        lines += [f"cloud {name} from {before} to b", f"cloud {name} hop 192.0.2.{i} 2001:db8::{i}",
                  f"cloud {name} feedback header window 100ms",
                  f"cloud {name} rate {rate}bit queue 100pkt"]
        before = name
    if proxies:
        lines += [f"cloud down-4 from {before} to b", "cloud down-4 feedback proxy strip",
                  "cloud up from b to a", "cloud up feedback proxy answer of down-4",
                  "cloud up-0 from up to a", "cloud up-0 feedback proxy strip"]
    return "\n".join(lines) + "\n"


def replay(folder, text, a, b=(), *options):
    with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
        out.write(text)
    capture(f"{folder}/a.pcap", a)
    capture(f"{folder}/b.pcap", b)
    done = subprocess.run([WEIR, "replay", "-q", "-c", f"{folder}/s.weir",
                           "--in", f"a={folder}/a.pcap",
                           "--in", f"b={folder}/b.pcap", "--out", f"a={folder}/a-out.pcap", "--out",
                           f"b={folder}/b-out.pcap", "--report", f"{folder}/report.json", "--log",
                           f"{folder}/log.csv", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{folder}/report.json", encoding="utf-8") as report:
        clouds = {cloud["cloud"]: cloud for cloud in json.load(report)["clouds"]}
    return clouds, f"{folder}/a-out.pcap", f"{folder}/b-out.pcap"


def is_right(path, n):
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not installed")
    fields = ["ip.checksum.status", "udp.checksum.status", "tcp.checksum.status", "_ws.malformed"]
    done = subprocess.run(["tshark", "-r", path, *CHECKS, "-T", "fields", "-E", "separator=;",
                           *[word for field in fields for word in ("-e", field)]],
                          capture_output=True, text=True, check=True)
    rows = [line.split(";") for line in done.stdout.splitlines()]
    assert len(rows) == n, f"{len(rows)} packets, not {n}"
    for number, row in enumerate(rows, 1):
        assert set(row[:3]) <= {"1", ""} and row[3] == "", f"packet {number}: {row}"


def traffic():
    """8.2 Mbit/s in bursts of ten for three seconds, and 1,000 packets a second back."""
    a = [(i // 10 * 12_000_000, ipv4(HOST4, PEER4, size=1158)) for i in range(2500)]
    b = [(i * 1_000_000, ipv4(PEER4, HOST4, size=50)) for i in range(3100)]
    return a, b


def hosts_get_their_packets_as_they_were_and_tshark_finds_them_right():
    a = [(i * 1_000_000, down(i, size=i % 1200)) for i in range(600)]
    b = [(i * 1_000_000, ipv6(PEER6, HOST6, size=i % 1200, tags=TAGS[i % 3])) for i in range(700)]
    with tempfile.TemporaryDirectory() as folder:
        clouds, to_a, to_b = replay(folder, scenario(), a, b)
        assert clouds["down"]["feedback"]["inserted"] == 600
        assert clouds["down-4"]["feedback"]["stripped"] == 600
        assert 0 < clouds["up"]["feedback"]["answered"] == clouds["up-0"]["feedback"]["stripped"]
        is_right(to_a, 700)
        is_right(to_b, 600)
        assert frames_of(to_a) == [frame for _, frame in b], "the way back has no router"
        # Three routers have decremented the TTL; nothing else has changed.
        assert frames_of(to_b) == [down(i, size=i % 1200, ttl=61) for i in range(600)]


def headers_that_hosts_send_themselves_are_answered_and_right():
    ask = struct.pack(">8B2I", 3, 1, 0, 63, 0, 0, 0, UDP, 0xffffffff, 0xffffffff)
    said = struct.pack(">8B2I", 3, 1, 0, 63, 0, 0, 0, UDP, 10_000, 10_000)
    a = [(i * 1_000_000, make(*ends, header=ask, tags=TAGS[i % 3]))
         for i in range(9) for make, ends in ((ipv4, (HOST4, PEER4)), (ipv6, (HOST6, PEER6)))]
    with tempfile.TemporaryDirectory() as folder:
        clouds, _, to_b = replay(folder, scenario(proxies=False), a)
        is_right(to_b, 18)
        assert frames_of(to_b) == [make(*ends, header=said, tags=TAGS[i % 3], ttl=61)
                                   for i in range(9)
                                   for make, ends in ((ipv4, (HOST4, PEER4)),
                                                      (ipv6, (HOST6, PEER6)))]
        assert [clouds[f"down-{i}"]["feedback"]["written"] for i in (1, 2, 3)] == [0, 18, 0]


def near(value, expected, what):
    assert (abs(value - expected)
            <= 0.05 * expected), f"{what}: {value}, and the packets say {expected}"


def the_path_names_three_routers_and_is_right_within_five_percent():
    a, b = traffic()
    n = len(a)
    with tempfile.TemporaryDirectory() as folder:
        clouds, _, to_b = replay(folder, scenario(), a, b)
        assert len(frames_of(to_b)) == n, "nothing is lost"
        for cloud in ("down-4", "up-0"):
            path = clouds[cloud]["path"]
            assert [row["hop"] for row in path] == [1, 2, 3]
            assert [row["ttl"] for row in path] == [64, 63, 62]
            assert [row["link_kbps"] for row in path] == [rate // 1000 for rate in RATES]
            for i, (row, rate) in enumerate(zip(path, RATES), 1):
                own = clouds[f"down-{i}"]
                # Frames of 1200 bytes, 1216 with the header, during the whole run.
                sent = own["tx_bytes"] * 8 / (n / 10 * 0.012)
                near(row["available_kbps"] * 1000, rate - sent, f"available at {i}")
                # In a burst, the k-th of ten packets waits for k - 1 packets.
                delay = own["delay_ns"]["min"]
                assert row["age_ns"] < 150_000_000, row
                assert row["loss"] == row["error"] == 0
                assert delay == -(-1216 * 8 * NS // rate), "the least is the time of sending"
            # R1 gets the burst at once. Its output is slower than the rate of R3.
            serial = [1216 * 8 * 1e6 / rate for rate in RATES]
            waits = [4.5 * serial[0], 4.5 * (serial[1] - serial[0]), 0]
            for row, wait in zip(path, waits):
                if wait:
                    near(row["delay_us"], wait, f"queuing delay at {row['hop']}")
                else:
                    assert row["delay_us"] == 0, row


def losses_of_the_queue_and_of_the_link_are_told_apart():
    a = [(i * 500_000, ipv4(HOST4, PEER4, size=1158)) for i in range(4000)]
    text = scenario() + "cloud down-3 loss every 10\n"
    with tempfile.TemporaryDirectory() as folder:
        clouds, _, _ = replay(folder, text, a)
        path = clouds["down-4"]["path"]
        # 19.456 Mbit/s enter a link of 10 Mbit/s.
        near(path[1]["loss"], 1 - 10 / 19.456, "loss at the bottleneck")
        near(path[2]["error"], 0.1, "errors of the last link")
        assert path[0]["loss"] == path[0]["error"] == path[1]["error"] == path[2]["loss"] == 0


def the_size_of_bursts_does_not_matter():
    a, b = traffic()
    with tempfile.TemporaryDirectory() as folder:
        seen = []
        for burst in ("1", "7", "32"):
            clouds, to_a, to_b = replay(folder, scenario(), a[:800], b[:900], "--burst", burst)
            seen.append((clouds, frames_of(to_a), frames_of(to_b)))
    assert seen[0] == seen[1] == seen[2]


RED = "cloud x rate 10mbit queue 90kB\ncloud x red min 15kB max 45kB\ncloud x ecn on\n"


def weights_that_do_not_sum_to_one_are_normalised_and_that_is_said():
    said = "the weights do not sum to 1: they were normalised"
    with tempfile.TemporaryDirectory() as folder:
        for weights, normalised in (((0.8, 0.2), False), ((0.4, 0.1), True), ((1, 0.25), True)):
            with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
                out.write("port a\nport b\ncloud x from a to b\ncloud x rate 10mbit\n"
                          f"cloud x class voice weight {weights[0]} match udp port 5004\n"
                          f"cloud x class data weight {weights[1]}\n")
            done = subprocess.run([WEIR, "check", "-c", f"{folder}/s.weir"], capture_output=True,
                                  text=True)
            assert done.returncode == 0, done.stderr
            assert (said in done.stdout) == normalised, done.stdout
            assert "80" in done.stdout and "20" in done.stdout, done.stdout


def what_is_wrong_is_said():
    cases = {
        "cloud x feedback header": "only a router answers",
        "cloud x feedback sirens": "only a router answers",
        "cloud x feedback proxy answer": "`answer` needs `of CLOUD`",
        "cloud x feedback proxy answer of y": "there is no cloud of that name",
        "cloud x feedback proxy answer of x": "strips nothing",
        "cloud x feedback proxy insert hops 65": "64",
        "cloud x meter window 61s": "60s",
        "cloud x xcp": "cloud x has no rate",
        f"{RED}cloud x red min 45kB max 15kB": "max is below min",
        f"{RED}cloud x becn": "a quench comes from a router's address",
        f"{RED}cloud x hop 192.0.2.1\ncloud x becn threshold 14kB": "it is below the min of `red`",
        f"{RED}cloud x hop 192.0.2.1\ncloud x becn threshold 46kB": "it is above the max of `red`",
        "cloud x hop 192.0.2.1\ncloud x becn": "no management chooses packets here",
    }
    with tempfile.TemporaryDirectory() as folder:
        for line, says in cases.items():
            with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
                out.write(f"port a\nport b\ncloud x from a to b\n{line}\n")
            done = subprocess.run([WEIR, "check", "-c", f"{folder}/s.weir"], capture_output=True,
                                  text=True)
            assert done.returncode != 0, line
            assert says in done.stderr, f"{line}: {done.stderr}"


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    hosts_get_their_packets_as_they_were_and_tshark_finds_them_right,
    headers_that_hosts_send_themselves_are_answered_and_right,
    the_path_names_three_routers_and_is_right_within_five_percent,
    losses_of_the_queue_and_of_the_link_are_told_apart, the_size_of_bursts_does_not_matter,
    weights_that_do_not_sum_to_one_are_normalised_and_that_is_said, what_is_wrong_is_said)]))
