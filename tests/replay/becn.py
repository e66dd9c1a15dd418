#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""BECN at 0.5, 1 and 2 times the rate: which packets were marked, dropped, quenched, and why.
tshark checks the quenches.

RED chooses packets at random, which is red.py's to test. Here the average is computed
independently, in double precision, from the arrivals and drops. The average and the logged fate
determine whether there has to be a quench, and which.

usage: becn.py WEIR ROOT
"""
import collections
import csv
import filecmp
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
NOT_ECT, ECT_1, ECT_0, CE = range(4)
RATE, PACKETS = 10_000_000, 3000
MIN, MAX, WEIGHT, QUEUE = 5000, 15000, 0.02, 24000
SCENARIO = """seed 7
port a
port b
cloud in from a to b
cloud in delay 2ms
cloud down from in to b
cloud down hop 192.0.2.1 2001:db8::1 {through}
cloud down rate 10mbit queue 24kB
cloud down red min 5kB max 15kB max-p 0.4 weight 0.02 unit byte wait off
cloud down ecn on
cloud down becn {becn}
cloud up from b to a
cloud up delay 40ms
cloud out from up to a
cloud out delay 2ms
{more}
"""
Packet = collections.namedtuple("Packet", "number t_ns bytes ecn six")


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack(">H", ~total & 0xffff)


def frame(packet):
    size = packet.bytes - (62 if packet.six else 42)
    udp = struct.pack(">HHHH", 1000, 2000, 8 + size, packet.number & 0xffff or 1) + bytes(size)
    if packet.six:
        head = struct.pack(">IHBB", 0x60000000 | packet.ecn << 20, len(udp), 17, 64)
        return (MACS + b"\x86\xdd" + head
                + bytes.fromhex("20010db8" + "00" * 11 + "0720010db8" + "00" * 11 + "08") + udp)
    head = struct.pack(">BBHHHBBH", 0x45, packet.ecn, 20 + len(udp), packet.number & 0xffff, 0, 64,
                       17, 0)
    head += bytes([198, 51, 100, 7, 203, 0, 113, 8])
    return MACS + b"\x08\x00" + head[:10] + checksum(head) + head[12:] + udp


def dice(seed):
    """Returns a generator that gives the same with every version of Python: a number from 0 to n -
    1 per call."""
    state = seed

    def roll(n):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (state >> 33) % n
    return roll


def traffic(times):
    """Returns packets at `times` the rate, in bursts of two on average: all ECN codepoints, IPv4
    and IPv6."""
    roll, packets, t_ns = dice(20), [], 1_000_000_000
    for number in range(1, PACKETS + 1):
        size = (100, 600, 1000, 1514)[roll(4)]
        packets.append(Packet(number, t_ns, size, (NOT_ECT, ECT_1, ECT_0, ECT_0, CE)[roll(5)],
                              roll(10) < 3))
        if roll(2):
            t_ns += int((1 + roll(2000)) / 1000 * 2 * 803 * 8e9 / RATE / times)
    return packets


def capture(path, packets):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for packet in packets:
            data = frame(packet)
            out.write(struct.pack("<IIII", *divmod(packet.t_ns, 1_000_000_000), len(data),
                                  len(data)) + data)


def replay(packets, becn, *options, through="", more="", name="one"):
    capture("in.pcap", packets)
    with open("s.weir", "w", encoding="utf-8") as out:
        out.write(SCENARIO.format(becn=becn, through=through, more=more))
    done = subprocess.run([WEIR, "replay", "-q", "-c", "s.weir", "--in", "a=in.pcap",
                           "--out", f"a={name}.a.pcap",
                           "--out", f"b={name}.b.pcap", "--log", f"{name}.csv",
                           "--report", f"{name}.json", *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{name}.json", encoding="utf-8") as report:
        return {cloud["cloud"]: cloud for cloud in json.load(report)["clouds"]}


def quenches(path):
    """Returns the packet's number, the bit for marked, and the instant of each quench, and checks
    its layout."""
    found = []
    with open(path, "rb") as file:
        data = file.read()
    at, second = 24, 1_000_000_000 if data[:4] == b"\x4d\x3c\xb2\xa1" else None
    assert second, "nanoseconds are expected"
    while at < len(data):
        seconds, ns, size, whole = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16:at + 16 + size]
        six = packet[12:14] == b"\x86\xdd"
        ip = packet[14:]
        icmp = ip[40 if six else 20:]
        assert size == whole == 14 + (96 if six else 56), f"{size} bytes"
        assert (ip[1] >> 4 if six else ip[1]) & 3 == 0, "a quench is not capable of ECN"
        assert icmp[:2] == (b"\xc8\0" if six else b"\x04\0"), icmp[:2]
        assert icmp[4] in (0x80, 0) and icmp[5:8] == b"\0\0\0", icmp[4:8]
        # The UDP checksum is the packet's number. The quoted header is the original one, one hop
        # further.
        number = struct.unpack_from(">H", icmp, 8 + (40 if six else 20) + 6)[0]
        found.append((number, icmp[4] == 0x80, seconds * second + ns, bytes(icmp[8:])))
        at += 16 + size
    return found


def fates():
    told = {}
    with open("one.csv", encoding="utf-8", newline="") as log:
        for row in csv.DictReader(log):
            if row["cloud"] == "down" and "generated" not in row["detail"]:
                told[int(row["packet"])] = (row["fate"], row["reason"], row["detail"])
    return told


def averages(packets, told):
    """Yields RED's average at each arrival, from a FIFO of 10 Mbit/s that holds the packets that
    were not dropped."""
    average, waiting, free, begin = 0.0, collections.deque(), 0.0, True
    for packet in packets:
        now = packet.t_ns + 2_000_000
        while waiting and waiting[0][0] <= now:
            waiting.popleft()
        if begin or free <= now:
            average *= (1 - WEIGHT) ** int((now - free) * RATE / 8e9 / 1000) if not begin else 1
            begin = False
        average += WEIGHT * (sum(size for _, size in waiting) - average)
        if told[packet.number][0] == "delivered":
            start = max(free, now)
            waiting.append((start, packet.bytes))
            free = start + packet.bytes * 8e9 / RATE
        yield packet, average


def expected(packet, average, told, threshold):
    """Returns the zone, the kind of packet and its fate, and the quench that the sender must get:
    None, True (marked) or False (dropped)."""
    fate, reason, detail = told
    zone = "below min" if average < MIN else "above max" if average >= MAX else \
        "below threshold" if average < threshold else "from threshold"
    kind = ("not capable", "capable", "capable", "marked")[packet.ecn]
    if fate == "delivered":
        marked = detail == "marked"
        assert not marked or (kind == "capable" and MIN <= average < MAX), (packet, average, told)
        return (zone, kind,
                "marked" if marked else "passed"), True if marked and average >= threshold else None
    if reason == "red-early":
        assert kind == "not capable" and MIN <= average < MAX, (packet, average, told)
    elif reason == "red-forced":
        assert average >= MAX, (packet, average, told)
    else:
        assert reason == "queue-full", told
    tells = kind != "not capable" and threshold < MAX and (average >= threshold or threshold == MIN)
    return (zone, kind, reason), False if tells else None


def play(times, becn, threshold):
    """Returns the table: the number of packets per row, where a row includes the quench."""
    packets = traffic(times)
    clouds = replay(packets, becn)
    told, said = fates(), {}
    by_number = {packet.number: packet for packet in packets}
    for number, marked, t_ns, quoted in quenches("one.a.pcap"):
        packet = by_number[number]
        assert number not in said, f"packet {number} was told of twice"
        assert (t_ns == packet.t_ns
                + 2_000_000), f"packet {number}: not at the instant of the decision"
        head = bytearray(frame(packet)[14:])
        head[7 if packet.six else 8] -= 1
        if not packet.six:
            head[10:12] = b"\0\0"
            head[10:12] = checksum(bytes(head[:20]))
        assert quoted == head[:48 if packet.six else 28], f"packet {number}: not as it came"
        said[number] = marked
    rows = collections.Counter()
    for packet, average in averages(packets, told):
        row, must = expected(packet, average, told[packet.number], threshold)
        assert said.get(packet.number) is must, (
            f"{times} x, {becn}: packet {packet.number}, {row}, average {average}: "
            f"{said.get(packet.number)}, not {must}")
        rows[row + ({None: "-", True: "quench: marked", False: "quench: dropped"}[must],)] += 1
    down = clouds["down"]
    assert down["becn_sent"] == len(said) and down["becn_marked"] == sum(said.values()), down
    assert (down["rx_packets"] + down["generated"] == down["tx_packets"]
            + sum(down["drops"].values())), down
    return rows


def print_table(title, rows):
    print(f"# {title}")
    for row, n in sorted(rows.items()):
        print("#   {:16} {:12} {:11} {:16} {:5}".format(*row, n))


# The expected tables: zone, packet, fate, quench, number of packets.
TABLES = {
    (0.5, ""): """
below min        capable      passed      -                1760
below min        marked       passed      -                611
below min        not capable  passed      -                629
""",
    (1, ""): """
above max        capable      red-forced  quench: dropped  22
above max        marked       red-forced  quench: dropped  13
above max        not capable  red-forced  -                10
below min        capable      passed      -                636
below min        marked       passed      -                218
below min        not capable  passed      -                218
from threshold   capable      marked      quench: marked   188
from threshold   capable      passed      -                914
from threshold   marked       passed      -                377
from threshold   marked       queue-full  quench: dropped  3
from threshold   not capable  passed      -                323
from threshold   not capable  red-early   -                78
""",
    (2, ""): """
above max        capable      red-forced  quench: dropped  670
above max        marked       red-forced  quench: dropped  233
above max        not capable  red-forced  -                254
below min        capable      passed      -                23
below min        marked       passed      -                10
below min        not capable  passed      -                10
from threshold   capable      marked      quench: marked   487
from threshold   capable      passed      -                565
from threshold   capable      queue-full  quench: dropped  15
from threshold   marked       passed      -                365
from threshold   marked       queue-full  quench: dropped  3
from threshold   not capable  passed      -                178
from threshold   not capable  queue-full  -                2
from threshold   not capable  red-early   -                185
""",
    (1, "threshold 9kB"): """
above max        capable      red-forced  quench: dropped  22
above max        marked       red-forced  quench: dropped  13
above max        not capable  red-forced  -                10
below min        capable      passed      -                636
below min        marked       passed      -                218
below min        not capable  passed      -                218
below threshold  capable      marked      -                60
below threshold  capable      passed      -                621
below threshold  marked       passed      -                239
below threshold  not capable  passed      -                223
below threshold  not capable  red-early   -                27
from threshold   capable      marked      quench: marked   128
from threshold   capable      passed      -                293
from threshold   marked       passed      -                138
from threshold   marked       queue-full  quench: dropped  3
from threshold   not capable  passed      -                100
from threshold   not capable  red-early   -                51
""",
    (1, "threshold 15000B"): """
above max        capable      red-forced  -                22
above max        marked       red-forced  -                13
above max        not capable  red-forced  -                10
below min        capable      passed      -                636
below min        marked       passed      -                218
below min        not capable  passed      -                218
below threshold  capable      marked      -                188
below threshold  capable      passed      -                914
below threshold  marked       passed      -                377
below threshold  marked       queue-full  -                3
below threshold  not capable  passed      -                323
below threshold  not capable  red-early   -                78
""",
}


def assert_table(times, becn, threshold):
    rows = play(times, becn, threshold)
    lines = ["{:16} {:12} {:11} {:16} {}".format(*row, n) for row, n in sorted(rows.items())]
    if lines != TABLES[times, becn].split("\n")[1:-1]:
        raise AssertionError("\n".join([f"{times} times the rate, becn {becn}: there came out",
                                        *lines]))
    return collections.Counter({said: sum(n for row, n in rows.items() if row[3] == said)
                                for said in ("quench: marked", "quench: dropped")})


def each_packet_is_marked_dropped_and_told_of_for_a_reason():
    for times in (0.5, 1, 2):
        assert_table(times, "", MIN)


def the_threshold_divides_ecn_from_becn():
    alone = assert_table(1, "", MIN)
    assert play(1, f"threshold {MIN}B", MIN) == play(1, "", MIN), "at min it is BECN alone"
    both = assert_table(1, "threshold 9kB", 9000)
    ecn = assert_table(1, f"threshold {MAX}B", MAX)
    assert 0 < both["quench: marked"] < alone["quench: marked"], (both, alone)
    assert not +ecn, "at max it is ECN alone"


FIELDS = ("icmp.type", "icmp.code", "icmpv6.type", "icmpv6.code", "ip.len", "ipv6.plen", "ip.src",
          "ipv6.src",
          "ip.dsfield.ecn", "ip.checksum.status", "icmp.checksum.status", "icmpv6.checksum.status",
          "_ws.malformed",
          "_ws.expert.severity")
V4, V6 = "4;0;;;56;;192.0.2.1;;0;1;1;;", ";;200;0;;56;;2001:db8::1;;;;1;"
BIT = "icmp[4:4] == {0} || icmpv6[4:4] == {0}"


def tshark(path, *options):
    done = subprocess.run(["tshark", "-r", path, "-o", "ip.check_checksum:TRUE", *options],
                          capture_output=True,
                          text=True, check=True)
    return done.stdout.splitlines()


def judge(path):
    """Returns how many quenches report a mark, and how many a drop, as tshark reads them. None may
    be malformed."""
    rows = [line.rsplit(";", 1)
            for line in tshark(path, "-T", "fields", "-E", "separator=;", "-E", "occurrence=f",
                                                   *[word for field in FIELDS
                                                     for word in ("-e", field)])]
    assert {row[0] for row in rows} <= {V4, V6}, {row[0] for row in rows}
    # Wireshark's errors have severity 0x800000; deprecated and unknown types have less.
    assert all(int(row[1] or 0) < 0x600000 for row in rows), {row[1] for row in rows}
    marked, dropped = (len(tshark(path, "-Y", BIT.format(word)))
                       for word in ("80:00:00:00", "00:00:00:00"))
    assert marked + dropped == len(rows), (marked, dropped, len(rows))
    return marked, dropped


def tshark_finds_nothing_wrong_with_any_quench_at_any_load():
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not installed")
    counts = []
    for times in (0.5, 1, 2):
        replay(traffic(times), "bit 0x80")
        told = [marked for _, marked, _, _ in quenches("one.a.pcap")]
        assert judge("one.a.pcap") == (sum(told), len(told) - sum(told)), times
        counts.append(len(told))
    assert counts[0] == 0 and counts[1] > 200 and counts[2] > 1000, counts


def quenches_cross_the_way_back_and_are_lost_there():
    packets = traffic(1)
    straight = replay(packets, "")["down"]["becn_sent"]
    at_once = quenches("one.a.pcap")
    clouds = replay(packets, "", through="through out")
    later = quenches("one.a.pcap")
    assert [(number, marked, t_ns + 2_000_000) for number, marked, t_ns, _ in at_once] == \
        [(number, marked, t_ns) for number, marked, t_ns, _ in later]
    assert clouds["out"]["rx_packets"] == clouds["down"]["becn_sent"] == straight
    clouds = replay(packets, "", through="through out", more="cloud out loss every 10")
    assert clouds["down"]["becn_sent"] == straight
    assert clouds["out"]["drops"]["loss"] == straight // 10, clouds["out"]
    assert len(quenches("one.a.pcap")) == straight - straight // 10


def the_size_of_bursts_does_not_matter():
    for becn in ("", "threshold 9kB limit 50 burst 3"):
        replay(traffic(1), becn, "--burst", "1")
        for burst in ("7", "32"):
            replay(traffic(1), becn, "--burst", burst, name="other")
            for end in ("a.pcap", "b.pcap", "csv", "json"):
                assert filecmp.cmp(f"one.{end}", f"other.{end}",
                                   False), f"becn {becn}: {end}, bursts of {burst}"


def the_shipped_scenario_tells_senders_two_milliseconds_later():
    capture("in.pcap", traffic(2))
    done = subprocess.run([WEIR, "replay", "-q", "-c", f"{ROOT}/configs/becn.weir",
                           "--in", "a=in.pcap", "--out",
                           "a=one.a.pcap", "--out", "b=one.b.pcap", "--report", "one.json"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sent = quenches("one.a.pcap")
    by_number = {packet.number: packet.t_ns for packet in traffic(2)}
    assert len(sent) > 100, len(sent)
    assert all(t_ns == by_number[number] + 4_000_000 for number, _, t_ns, _ in sent)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    status = tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
        each_packet_is_marked_dropped_and_told_of_for_a_reason,
        the_threshold_divides_ecn_from_becn,
        tshark_finds_nothing_wrong_with_any_quench_at_any_load,
        quenches_cross_the_way_back_and_are_lost_there,
        the_size_of_bursts_does_not_matter,
        the_shipped_scenario_tells_senders_two_milliseconds_later)])
    os.chdir("/")
sys.exit(status)
