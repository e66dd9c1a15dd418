#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`weir replay` with common inputs: compressed captures, pipes, captures without Ethernet headers.

usage: formats.py WEIR CAPTURE
"""
import gzip
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, CAPTURE = (os.path.abspath(program) for program in sys.argv[1:3])
PORTS = "seed 5\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"
PATH = PORTS + """cloud down rate 50mbit queue 60kB
cloud down loss random 5%
cloud down delay 10ms jitter 3ms
cloud up delay 10ms jitter 1ms order allow
"""
SPLIT = ["--split", "ip=10.77.0.1"]
ETHERNET, RAW, IPV4, SLL, SLL2 = 1, 101, 228, 113, 276
NULL, LOOP, PPP, PPP_SERIAL, PPP_WITH_DIR, PPP_ETHER = 0, 108, 9, 50, 204, 51
LINKS = {"raw": RAW, "ipv4": IPV4, "sll": SLL, "sll2": SLL2, "null": NULL, "loop": LOOP,
         "ppp": PPP, "ppp_serial": PPP_SERIAL, "ppp_with_dir": PPP_WITH_DIR, "ppp_ether": PPP_ETHER}
HEADER_BYTES = {RAW: 0, IPV4: 0, SLL: 16, SLL2: 20, NULL: 4, LOOP: 4, PPP: 2, PPP_SERIAL: 4,
                PPP_WITH_DIR: 5, PPP_ETHER: 8}
IP_ONLY = {RAW: b"", IPV4: b"", NULL: b"\2\0\0\0", LOOP: b"\0\0\0\2", PPP: b"\x00\x21",
           PPP_SERIAL: b"\xff\x03\x00\x21", PPP_WITH_DIR: b"\x01\xff\x03\x00\x21"}


def write(path, data):
    with open(path, "wb") as out:
        out.write(data)


def read(path):
    with open(path, "rb") as data:
        return data.read()


def weir(*words, **more):
    return subprocess.run([WEIR, "replay", "-q", "-c", "s.weir", *words], capture_output=True,
                          **more)


def good(*words, **more):
    done = weir(*words, **more)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr.decode()}"
    return done


def records(path):
    """Returns the link type of a pcap in this machine's byte order, and (time, length on the wire,
    bytes) of each packet."""
    data, at, found = read(path), 24, []
    fraction_ns = {0xa1b23c4d: 1, 0xa1b2c3d4: 1000}[struct.unpack("=I", data[:4])[0]]
    while at < len(data):
        seconds, fraction, bytes_, wire = struct.unpack("=IIII", data[at:at + 16])
        found.append((seconds * 10**9 + fraction * fraction_ns, wire,
                      data[at + 16:at + 16 + bytes_]))
        at += 16 + bytes_
    return struct.unpack("=I", data[20:24])[0], found


def as_link(link, frame):
    """Converts an Ethernet frame to another link type; returns None if this is impossible."""
    mac, protocol, rest = frame[6:12], frame[12:14], frame[14:]
    kind = 0 if mac[5] == 10 else 4
    if link in IP_ONLY:
        return IP_ONLY[link] + rest if protocol == b"\x08\x00" else None
    if link == PPP_ETHER:
        if protocol != b"\x08\x00":
            return None
        return b"\x11\x00\x00\x07" + struct.pack(">H", len(rest) + 2) + b"\x00\x21" + rest
    if link == SLL:
        return struct.pack(">HHH", kind, 1, 6) + mac + b"\0\0" + protocol + rest
    return protocol + struct.pack(">HIHBB", 0, 3, 1, kind, 6) + mac + b"\0\0" + rest


def convert(link, path):
    out = bytearray(struct.pack("=IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, link))
    for t_ns, wire, frame in records(CAPTURE)[1]:
        packet = as_link(link, frame)
        if packet is not None:
            out += struct.pack("=IIII", t_ns // 10**9, t_ns % 10**9, len(packet),
                               wire + len(packet) - len(frame)) + packet
    write(path, out)


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    length = 12 + len(body)
    return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)


def interface(order, link, snap=0, options=()):
    """Returns an interface block. An option is (code, value)."""
    body = struct.pack(order + "HHI", link, 0, snap)
    for code, value in options:
        body += struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)
    return block(order, 1, body)


def packet(order, which, ticks, frame, wire=None):
    return block(order, 6, struct.pack(order + "IIIII", which, ticks >> 32, ticks & 0xffffffff,
                                       len(frame), wire or len(frame)) + frame)


def section_head(order):
    return block(order, 0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1))


def section(order, link, snaps, packets):
    """Returns a section of a pcapng with an interface for each of `snaps`. A packet is (interface,
    us, frame, length on the wire), or (frame, length on the wire) for a simple packet block."""
    data = section_head(order)
    for snap in snaps:
        data += interface(order, link, snap)
    for *where, frame, wire in packets:
        if where:
            data += packet(order, where[0], where[1], frame, wire)
        else:
            data += block(order, 3, struct.pack(order + "I", wire) + frame)
    return data


def pcap(link, packets, magic=0xa1b2c3d4, order="="):
    """Returns a pcap. A packet is (seconds, fraction, frame)."""
    data = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 262144, link)
    for seconds, fraction, frame in packets:
        data += struct.pack(order + "IIII", seconds, fraction, len(frame), len(frame)) + frame
    return data


def what_is_compressed_gives_the_bytes_of_what_is_not_whatever_its_name():
    write("s.weir", PATH.encode())
    data = read(CAPTURE)
    half = len(data) // 2
    packed = {"capture.pcap": data, "capture.gz": gzip.compress(data), "pcap": lzma.compress(data),
              "two.pcap": gzip.compress(data[:half]) + gzip.compress(data[half:])}
    if shutil.which("zstd"):
        packed["x.gz"] = subprocess.run(["zstd", "-q"], input=data, capture_output=True,
                                        check=True).stdout
    expected = None
    for name, content in packed.items():
        write(name, content)
        good("--in", f"a,b={name}", *SPLIT, "--out", "a=a", "--out", "b=b", "--log", "log")
        found = [read("a"), read("b"), read("log")]
        piped = good("--in", "a,b=-", *SPLIT, "--out", "b=-", "--out", "a=a", input=content).stdout
        assert piped == found[1] and read("a") == found[0], name
        expected = expected or found
        assert found == expected, name


def a_compressed_capture_that_is_cut_is_processed_up_to_there_and_that_is_said():
    write("s.weir", PATH.encode())
    for pack, word in ((gzip.compress, b"gzip"), (lzma.compress, b"xz")):
        packed = pack(read(CAPTURE))
        write("cut", packed[:len(packed) // 2])
        done = good("--in", "a=cut", "--out", "b=b")
        assert (b"after frame " in done.stderr
                and word + b" stream is cut off" in done.stderr), done.stderr
        assert len(records("b")[1]) > 100


def the_fate_of_a_packet_is_that_which_it_has_under_a_header_of_ethernet():
    write("s.weir", PATH.encode())
    good("--in", f"a,b={CAPTURE}", *SPLIT, "--out", "a=a", "--out", "b=b", "--log", "log")
    expected = {port: records(port)[1] for port in "ab"}
    log = read("log")
    for name in ("sll", "sll2"):
        link = LINKS[name]
        convert(link, "in")
        for split in (SPLIT, ["--split", "first"], ["--split", "mac=02:00:00:00:00:0a"]):
            good("--in", "a,b=in", *split, "--out", "a=oa", "--out", "b=ob", "--log", "olog")
            assert read("olog") == log, name
        for port in "ab":
            found = records("o" + port)
            assert found[0] == link
            assert found[1] == [(t_ns, wire - 14 + HEADER_BYTES[link], as_link(link, frame))
                                for t_ns, wire, frame in expected[port]], (name, port)


def what_comes_out_has_the_link_type_and_the_bytes_of_what_came_in():
    write("s.weir", (PORTS + "cloud down delay 1s\n").encode())
    for name, link in LINKS.items():
        convert(link, "in")
        good("--in", "a=in", "--out", "b=out")
        found, came = records("out"), records("in")
        assert found[0] == link
        assert found[1] == [(t_ns + 10**9, wire, packet) for t_ns, wire, packet in came[1]], name


def tools_of_others_agree():
    if os.environ.get("WEIR_SANITIZED"):
        raise tap.Skip("they read the same bytes from every build: the release's")
    for tool in ("tshark", "capinfos", "editcap"):
        if not shutil.which(tool):
            raise tap.Skip(f"{tool} is not installed")
    write("s.weir", (PORTS + "cloud down delay 1s\n").encode())
    for name in ("raw", "sll2", "null", "ppp_ether"):
        link = LINKS[name]
        convert(link, "in")
        subprocess.run(["editcap", "-t", "1", "-F", "nsecpcap", "in", "later"], check=True,
                       capture_output=True)
        good("--in", "a=in", "--out", "b=out")
        told = []
        for path in ("later", "out"):
            shown = subprocess.run(["capinfos", "-T", "-r", "-M", "-E", "-c", "-d", "-a",
                                    "-e", path],
                                   capture_output=True, check=True,
                                   text=True).stdout.split("\t")[1:]
            table = subprocess.run(["tshark", "-n", "-r", path, "-T", "fields",
                                    "-e", "frame.time_epoch",
                                    "-e", "frame.len", "-e", "ip.src", "-e", "tcp.seq_raw",
                                    "-e", "sll.pkttype"],
                                   capture_output=True, check=True, text=True).stdout
            told.append((shown, table))
        assert told[0] == told[1], (name, told[0][0], told[1][0])


def interfaces_of_a_pcapng_may_differ_in_snapshot_length():
    write("s.weir", PORTS.encode())
    for order in "<>":
        packets = [(0, 1000, bytes(range(100)), 1500), (1, 2000, bytes(200) * 7, 1400),
                   (2, 3000, b"x" * 60, 60)]
        later = [(0, 4000, b"y" * 2000, 2000), (1, 5000, b"z" * 64, 70)]
        write("in", section(order, ETHERNET, (100, 262144, 0), packets)
              + section(order, ETHERNET, (0, 64), later))
        done = good("--in", "a=in", "--out", "b=out")
        assert b"damage" not in done.stderr, done.stderr
        assert records("out")[1] == [(us * 1000, wire, frame)
                                     for _, us, frame, wire in packets + later]


def a_simple_packet_of_a_pcapng_is_as_long_as_its_first_interface_takes():
    write("s.weir", PORTS.encode())
    for order in "<>":
        for snap, bytes_ in ((96, 96), (0, 1500), (262144, 1500)):
            frames = [(b"s" * bytes_, 1500), (b"t" * 60, 60), (0, 1, b"u" * 50, 50)]
            write("in", section(order, ETHERNET, (snap, 128), frames))
            good("--in", "a=in", "--out", "b=out")
            assert [(wire, frame) for _, wire, frame in records("out")[1]] \
                == [packet[-1:-3:-1] for packet in frames]


def several_interfaces_of_a_pcapng_may_be_raw_ip():
    write("s.weir", PORTS.encode())
    first = records(CAPTURE)[1][0][2][14:]
    for order in "<>":
        packets = [(i % 2, i, first, len(first)) for i in range(10)]
        write("in", 2 * section(order, RAW, (65535, 65535), packets))
        done = good("--in", "a=in", "--out", "b=out")
        link, found = records("out")
        assert link == RAW and [frame for _, _, frame in found] == [first] * 20, done.stderr


def link_types_that_differ_refuse_the_replay_unless_one_is_chosen():
    write("s.weir", PORTS.encode())
    frames = [packet("<", 0, 1000 * i, bytes(60)) for i in range(6)]
    other = packet("<", 1, 9000, b"\2\0\0\0E" + bytes(59))
    eth, null = interface("<", ETHERNET), interface("<", NULL, 0, [(2, b"lo0")])
    head, plain = section_head("<"), pcap(ETHERNET, [(0, 50 + i, bytes(60)) for i in range(4)])
    for data, where, read_, left in (
            (head + eth + null + b"".join(frames), b"interface 1 (lo0) is of link type NULL", 6, 0),
            (head + eth + b"".join(frames) + null + other + frames[5],
             b"interface 1 (lo0) is of link type NULL", 7, 1),
            (head + eth + b"".join(frames) + section(">", RAW, (0,), [(0, 9000, b"E" * 40, 40)]),
             b"interface 0 is of link type RAW", 6, 1),
            (plain + pcap(RAW, [(1, 0, b"E" * 40)] * 3),
             b"the capture that is appended is of link type RAW", 4, 3)):
        write("in", data)
        done = weir("--in", "a=in", "--out", "b=out", "--report", "r")
        assert done.returncode == 2 and where in done.stderr, done.stderr
        assert b"--link-type EN10MB" in done.stderr and len(done.stderr.splitlines()) == 1
        assert sorted(os.listdir()) == ["in", "s.weir"]
        done = good("--in", "a=in", "--out", "b=out", "--report", "r", "--link-type", "ethernet")
        port = json.loads(read("r"))["ports"][0]
        assert (port["rx_packets"], port["other_link"], port["damage"]) == (read_, left, ""), port
        assert ((f"{left} packets of other link types were left out" if left > 1 else
                 "1 packet of another link type was left out").encode() in done.stderr) \
            == (left > 0), done.stderr
        for name in ("out", "r"):
            os.remove(name)
    done = weir("--in", "a=in", "--link-type", "raw", "--out", "b=out")
    assert done.returncode == 0 and len(records("out")[1]) == 3, done.stderr
    done = weir("--in", "a=in", "--link-type", "null", "--out", "b=out")
    assert done.returncode == 2 and b"has no frame of link type NULL" in done.stderr, done.stderr
    done = weir("--in", "a=in", "--link-type", "wifi", "--out", "b=out")
    assert done.returncode == 2 and b"--link-type wifi: weir does not know" in done.stderr


def captures_in_succession_are_one_whatever_their_format():
    write("s.weir", PORTS.encode())
    parts = [pcap(ETHERNET, [(10, 5, b"a" * 60)]),
             pcap(ETHERNET, [(11, 5, b"b" * 61)], 0xa1b23c4d),
             pcap(ETHERNET, [(12, 5, b"c" * 62)], order=">" if sys.byteorder == "little" else "<"),
             section(">", ETHERNET, (0,), [(0, 13000000, b"d" * 63, 63)]),
             section("<", ETHERNET, (0,), [(0, 14000000, b"e" * 64, 64)]),
             pcap(ETHERNET, [(15, 0, b"f" * 65), (15, 1, b"")])]
    expected = [(10000005000, 60, b"a" * 60), (11000000005, 61, b"b" * 61),
                (12000005000, 62, b"c" * 62), (13000000000, 63, b"d" * 63),
                (14000000000, 64, b"e" * 64), (15000000000, 65, b"f" * 65), (15000001000, 0, b"")]
    for packed in (lambda part: part, gzip.compress):
        write("in", b"".join(map(packed, parts)))
        done = good("--in", "a=in", "--out", "b=out", "--report", "r")
        assert json.loads(read("r"))["ports"][0]["damage"] == "", done.stderr
        assert records("out")[1] == expected, done.stderr


def times_of_any_unit_and_offset_are_right_or_refused():
    write("s.weir", PORTS.encode())
    t_ns = 1700000000_123456789
    for unit, offset, ticks, expected in (
            (6, -3600, t_ns // 1000 + 3600 * 10**6, t_ns // 1000 * 1000),
            (9, -1700000000, 2 * t_ns, 2 * t_ns - 1700000000 * 10**9),
            (0, 1700000000, 5, 1700000005 * 10**9),
            (19, 1700000000, 10**18, 1700000000_100000000),
            (25, 1700000000, 2**64 - 1, 1700000000_000001844),
            (0x80 | 32, 1700000000, 2**31, 1700000000_500000000),
            (0x80 | 127, 1700000000, 2**64 - 1, 1700000000 * 10**9)):
        for order in "<>":
            options = [(9, bytes([unit])), (14, struct.pack(order + "q", offset))]
            write("in", section_head(order) + interface(order, ETHERNET, 0, options)
                  + packet(order, 0, ticks, bytes(60)))
            done = good("--in", "a=in", "--out", "b=out")
            assert records("out")[1][0][0] == expected, (unit, offset, done.stderr)
    for offset in (-1, 2**32, -2**63, 2**63 - 1):
        options = [(9, b"\6"), (14, struct.pack("<q", offset))]
        write("in", section_head("<") + interface("<", ETHERNET, 0, options)
              + packet("<", 0, 0, bytes(60)))
        os.remove("out") if os.path.exists("out") else None
        done = weir("--in", "a=in", "--out", "b=out")
        assert done.returncode == 2 and b"frame 1 is stamped " in done.stderr, done.stderr
        assert b"editcap -t" in done.stderr and not os.path.exists("out")


def one_wrong_stamp_is_said_with_its_frame_and_harms_no_other():
    write("s.weir", (PORTS + "cloud down rate 1mbit queue 10pkt\n").encode())
    stamps = [(1700000000, 10000 * i) for i in range(100)]
    stamps.insert(1, (1700065536, 0))
    write("in", pcap(ETHERNET, [(*stamp, bytes(60)) for stamp in stamps]))
    done = good("--in", "a=in", "--out", "b=out", "--report", "r")
    assert b"in: frame 2 is stamped 2023-11-15T16:25:36Z, 18.2 h ahead of its neighbours" \
        in done.stderr and b"`editcap IN OUT 2`" in done.stderr, done.stderr
    report = json.loads(read("r"))
    assert report["ports"][0]["wrong_stamps"] == 1 and report["duration_ns"] < 1.1e9, report
    assert sum(report["clouds"][0]["drops"].values()) == 0, report["clouds"][0]["drops"]


def an_fcs_that_the_capture_announces_counts_in_no_rate_and_is_not_written():
    write("s.weir", PORTS.encode())
    frame = bytes(range(60))
    for data in (pcap(0x24000000 | ETHERNET, [(1, 0, frame + b"fcs!")]),
                 section_head("<") + interface("<", ETHERNET, 0, [(13, b"\4")])
                 + packet("<", 0, 10**6, frame + b"fcs!"),
                 section_head(">") + interface(">", ETHERNET, 0, [(13, b"\x20")])
                 + packet(">", 0, 10**6, frame + b"fcs!"),
                 section_head("<") + interface("<", ETHERNET) + block(
                     "<", 6, struct.pack("<IIIII", 0, 0, 10**6, 64, 64) + frame + b"fcs!"
                     + struct.pack("<HHI", 2, 4, 4 << 5) + bytes(4)),
                 # captured without its end
                 section_head("<") + interface("<", ETHERNET, 60, [(13, b"\4")])
                 + packet("<", 0, 10**6, frame, 64)):
        write("in", data)
        good("--in", "a=in", "--out", "b=out", "--report", "r")
        assert records("out") == (ETHERNET, [(10**9, 60, frame)])
        assert json.loads(read("r"))["ports"][0]["rx_bytes"] == 60


def packets_without_a_time_are_said():
    write("s.weir", PORTS.encode())
    write("in", section("<", ETHERNET, (0,), [(b"s" * 60, 60), (0, 1000, b"u" * 60, 60),
                                              (b"t" * 60, 60)]))
    done = good("--in", "a=in", "--out", "b=out", "--report", "r")
    assert b"2 frames in simple packet blocks, which have no time" in done.stderr, done.stderr
    assert json.loads(read("r"))["ports"][0]["no_time"] == 2
    assert [t_ns for t_ns, _, _ in records("out")[1]] == [10**6] * 3


def an_output_is_compressed_as_its_name_says():
    write("s.weir", PATH.encode())
    names = {"--out": "b=out.pcap", "--log": "log.csv", "--capture": "all.pcapng",
             "--report": "r.json", "--picture": "p.html"}
    written = [name.split("=")[-1] for name in names.values()]
    good("--in", f"a={CAPTURE}", *(word for pair in names.items() for word in pair))
    for suffix, unpack in ((".gz", gzip.decompress), (".xz", lzma.decompress), (".zst", None)):
        if unpack is None and not shutil.which("zstd"):
            continue
        good("--in", f"a={CAPTURE}",
             *(word for option, name in names.items() for word in (option, name + suffix)))
        for name in written:
            data = read(name + suffix)
            plain = unpack(data) if unpack else subprocess.run(
                ["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
            assert plain == read(name) and len(data) < len(plain), name + suffix
        good("--in", "a=out.pcap" + suffix, "--out", "b=again")
        assert len(records("again")[1]) > 1000
    for bad in ("out.pcap.gz", "out.xz"):
        write("live.weir", f"port a device file:,out={bad}\nport b device net_null0\n"
              "cloud c from a to b\n".encode())
        done = subprocess.run([WEIR, "check", "-c", "live.weir"], capture_output=True, text=True)
        assert f"out={bad}: what a port sends is not compressed" in done.stdout + done.stderr, done


def an_answer_of_a_router_goes_back_under_the_header_of_its_cause():
    write("s.weir", (PORTS + "cloud down hop 192.0.2.1\n").encode())
    for name, link in LINKS.items():
        convert(link, "in")
        data = bytearray(read("in"))
        at, ttl_at = 24, HEADER_BYTES[link] + 8
        while at < len(data):
            bytes_ = struct.unpack("=I", data[at + 8:at + 12])[0]
            packet = at + 16
            if packet + ttl_at + 4 < len(data) and data[packet + HEADER_BYTES[link]] == 0x45:
                ip = packet + HEADER_BYTES[link]
                data[ip + 8] = 1
                data[ip + 10:ip + 12] = b"\0\0"
                total = sum(struct.unpack(">10H", data[ip:ip + 20]))
                total = (total & 0xffff) + (total >> 16)
                total = (total & 0xffff) + (total >> 16)
                data[ip + 10:ip + 12] = struct.pack(">H", total ^ 0xffff)
            at = packet + bytes_
        write("in", data)
        good("--in", "a,b=in", *SPLIT, "--out", "a=a", "--out", "b=b")
        found = [packet for _, _, packet in records("a")[1]
                 if packet[HEADER_BYTES[link] + 12:HEADER_BYTES[link] + 16] == bytes((192, 0, 2,
                                                                                      1))]
        assert found, f"{name}: no answer of the router"
        for packet in found:
            assert packet[HEADER_BYTES[link] + 20] == 11, "time exceeded"
            if link == SLL:
                assert packet[:16] == bytes.fromhex(
                    "0004000100060200000000 0a0000 0800".replace(" ", ""))
            if link == SLL2:
                assert packet[:20] == bytes.fromhex("0800 0000 00000003 0001 04 06 02000000000a "
                                                    "0000".replace(" ", ""))


def errors_in_a_packet_do_not_change_its_link_header():
    write("s.weir", (PORTS + "cloud down corrupt random 100%\n").encode())
    for link in (SLL, SLL2):
        convert(link, "in")
        good("--in", "a=in", "--out", "b=out")
        protocol = slice(14, 16) if link == SLL else slice(0, 2)
        changed = 0
        for (_, _, came), (_, _, left) in zip(records("in")[1], records("out")[1]):
            header, left_header = (bytearray(packet[:HEADER_BYTES[link]])
                                   for packet in (came, left))
            header[protocol] = left_header[protocol] = b"\0\0"
            assert header == left_header
            changed += came != left
        assert changed > 1000


def what_asks_for_addresses_of_ethernet_is_refused_with_the_words():
    convert(RAW, "raw")
    convert(SLL, "sll")
    for statement, says in (
            ("cloud x from a to b match ether host 02:00:00:00:00:01",
             "`match ether host 02:00:00:00:00:01`"),
            ("cloud x from a to b match ip and ether[0] & 1 = 0",
             "`match ip and ether[0] & 1 = 0`"),
            ("cloud down rate 1gbit\ncloud down class one weight 1 match ether src "
             "02:00:00:00:00:01\ncloud down class two weight 1", "`match ether src"),
            ("cloud down rewrite set eth.dst 02:00:00:00:00:01", "`rewrite set eth.dst"),
            ("cloud down rewrite match frame+8:2 = 7 set ip.ttl 3", "`rewrite match frame+8:2"),
            ("cloud down at 1s rewrite set eth.src 02:00:00:00:00:01", "`rewrite set eth.src")):
        write("s.weir", (PORTS + statement + "\n").encode())
        good("--in", f"a={CAPTURE}", "--report", "r")
        for path in ("raw", "sll"):
            done = weir("--in", f"a={path}", "--report", "r2", text=True)
            assert done.returncode == 2 and not os.path.exists("r2"), (statement, done.stderr)
            assert len(done.stderr.splitlines()) == 1 and says in done.stderr, done.stderr
            assert path in done.stderr and "Ethernet" in done.stderr, done.stderr
    write("s.weir",
          (PORTS + "cloud x from a to b match tcp[13] & 2 != 0\n"
           "cloud down rewrite set ip.ttl 3\n").encode())
    good("--in", "a=raw", "--report", "r")
    for words, says in ((["--in", "a,b=raw", "--split", "first"], "ip=ADDRESS"),
                        (["--in", "a,b=raw", "--split", "mac=02:00:00:00:00:0a"], "ip=ADDRESS"),
                        (["--in", "a=raw", "--in", "b=sll"],
                         "of link type LINUX_SLL, but those before it are of RAW")):
        done = weir(*words, "--report", "r2", text=True)
        assert done.returncode == 2 and says in done.stderr, done.stderr


def main():
    claims = [claim for name, claim in globals().items()
              if callable(claim) and getattr(claim, "__module__", "") == "__main__"
              and name not in ("write", "read", "weir", "good", "records", "as_link", "convert",
                               "block", "interface", "packet", "section_head", "section", "pcap",
                               "main")]

    def alone(claim):
        def inside():
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                try:
                    return claim()
                finally:
                    os.chdir("/")
        return inside

    return tap.run([(claim.__name__, alone(claim)) for claim in claims])


sys.exit(main())
