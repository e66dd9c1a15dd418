#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Captures of a running weir: a drop for every reason, a mark at every place, which packets appear
at which points, and the same in an offline capture. tshark reads the captures.

usage: capture.py WEIR ROOT
"""
import collections
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from conversation import Client, Weir

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LONG_S = 120  # a deadline, generous for a busy machine
NS = 10 ** 9
MACS = bytes.fromhex("020000000002020000000001")
NET = "203.0.113."
MARKABLE = 2  # ECT(0)

# A cloud for each reason: its statements, and its frames: number, gap (us), length, and special
# fields.
CASES = {
    "down": (["down"], 5, 100, 60, {}),
    "loss": (["loss every 2"], 6, 100, 60, {}),
    "police": (["police 64kbit burst 500B"], 10, 100, 200, {}),
    "ttl-expired": (["hop 192.0.2.1"], 5, 100, 60, {"ttl": 1}),
    "too-big": (["hop 192.0.2.2 mtu 256"], 5, 100, 400, {"flags": 0x4000}),
    "to-hop": (["hop 192.0.2.3"], 5, 100, 60, {"to": "192.0.2.3"}),
    "fragments": (["hop 192.0.2.4 mtu 256"], 3, 100, 470, {"flags": 0x1ffe}),
    "red-early": (["rate 1mbit queue 100kB", "red min 1kB max 90kB max-p 50% weight 50% wait off"],
                  60, 100, 300, {}),
    "red-forced": (["rate 1mbit queue 100kB", "red min 1kB max 2kB weight 100%"], 30, 100, 300, {}),
    "not-capable": (["rate 1mbit queue 100kB", "mark above 1kB", "ecn on"], 30, 100, 300, {}),
    "codel": (["rate 1mbit queue 1MB", "codel target 1ms interval 10ms mtu 0B"], 60, 100, 300, {}),
    # Longer than a worker can be kept off its processor: packets that arrive in one poll see no
    # delay.
    "pie": (["rate 1mbit queue 1MB", "pie target 1ms tupdate 1ms max-burst 0s alpha 100 beta 1000"],
            600, 2000, 300, {}),
    "dualpi2": (["rate 1mbit queue 1MB", "dualpi2 target 1ms tupdate 1ms alpha 100 beta 1000"], 200,
                500, 300, {}),
    "fullest": (["rate 1mbit queue 3kB", "fq-codel"], 30, 100, 300, {}),
    "queue-full": (["rate 1mbit queue 2kB"], 30, 100, 300, {}),
    "limit": (["delay 50ms limit 3pkt"], 10, 100, 60, {}),
    "marks-red": (["rate 1mbit queue 100kB", "red min 1kB max 50kB weight 50% wait off", "ecn on"],
                  60, 100, 300,
                  {"ecn": MARKABLE}),
    "marks-codel": (["rate 1mbit queue 1MB", "codel target 1ms interval 10ms mtu 0B", "ecn on"], 60,
                    100, 300,
                    {"ecn": MARKABLE}),
    "marks-loss": (["loss random 50% ecn"], 20, 100, 60, {"ecn": MARKABLE}),
    "copies": (["duplicate every 3", "delay 1ms"], 9, 100, 60, {}),
}
FULL = 9000  # number of frames that are too long to be copied: more than there are buffers
CONGESTED = re.compile(r"^[a-z0-9-]+: queue [0-9.]+ k?B(, average [0-9.]+ k?B)?$")
REASONS = re.findall(r'X\([A-Z0-9_]+, "([a-z0-9-]+)", (EMULATED|CONGESTION|REAL)',
                     open(f"{ROOT}/src/emulation/account/reason.h", encoding="utf-8").read())
# Drops of all managements are captured in one way: a further one needs no case here.
PROVOKED = {reason for reason, kind in REASONS if kind != "CONGESTION" or reason in CASES}


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack(">H", ~total & 0xffff)


def frame(to, size, ttl=64, ecn=0, flags=0, source="198.51.100.7", **_):
    """Returns a UDP frame over IPv4. `size` includes the Ethernet header."""
    inner = struct.pack(">HHHH", 1000, 2000, size - 34, 0) + bytes(size - 42)
    head = (struct.pack(">BBHHHBBH", 0x45, ecn, 20 + len(inner), 1, flags, ttl, 17, 0)
            + socket.inet_aton(source) + socket.inet_aton(to))
    return MACS + b"\x08\x00" + head[:10] + checksum(head) + head[12:] + inner


def address(at, more):
    return more.get("to", NET + str(at + 1))


def lines(live):
    """Returns the scenario; without `live`, only the statements that work offline."""
    out = ["seed 1"]
    out += ["port a device file:in.pcap", "port b device net_null0,no-rx=1",
            "port c device net_null1,no-rx=1 speed 1mbit"] if live \
        else ["port a", "port b", "port c"]
    for at, (name, (statements, _, _, _, more)) in enumerate(CASES.items()):
        out.append(f"cloud c-{name} from a to b match dst host {address(at, more)}")
        out += [f"cloud c-{name} {statement}" for statement in statements]
    out += [f"clouds c-full from a to b per source 198.51.100.0/24 most 1 match dst host {NET}101",
            f"cloud c-buffer from a to b match dst host {NET}102",
            "cloud c-buffer rate 1gbit queue 20MB", "cloud c-buffer delay 1s"]
    if live:
        out += [f"cloud c-unsent from a to c match dst host {NET}103",
                "cloud c-ask from a to b match dst host " + NET + "104",
                "cloud c-ask feedback proxy insert hops 1",
                "cloud c-asked from c-ask to b", "cloud c-asked feedback proxy strip"]
    return "\n".join(out) + "\n"


def frames(gap_us):
    """Returns pairs (t in us, frame). The first frame marks the beginning; no cloud takes it."""
    t, out = 0, [(0, frame("192.0.2.200", 60))]
    t += gap_us
    for at, (_, n, apart, size, more) in enumerate(CASES.values()):
        for _ in range(n):
            out.append((t, frame(size=size, **{**more, "to": address(at, more)})))
            t += apart
    for i in range(6):
        out.append((t, frame(NET + "101", 60, source=f"198.51.100.{1 + i // 3}")))
    for i in range(400):
        out.append((t + i, frame(NET + "103", 500)))
    t += 1000
    for i in range(FULL):
        out.append((t + 20 * i, frame(NET + "102", 1400)))
    return out


def pcap(path, of):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for t, data in of:
            out.write(struct.pack("<IIII", 1 + t // 10 ** 6, t % 10 ** 6 * 1000, len(data),
                                  len(data)) + data)


Row = collections.namedtuple("Row", "cloud point t id comment size captured")


def rows_of(path):
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not installed")
    fields = ["frame.interface_name", "frame.time_epoch", "frame.packet_id", "frame.comment",
              "frame.len",
              "frame.cap_len"]
    done = subprocess.run(["tshark", "-r", path, "-T", "fields", "-E", "separator=|",
                           *[word for field in fields for word in ("-e", field)]],
                          capture_output=True, text=True,
                          check=True)
    rows = []
    for line in done.stdout.splitlines():
        name, t, packet, comment, size, captured = line.split("|")
        cloud, _, point = name.rpartition(":")
        seconds, _, fraction = t.partition(".")
        rows.append(Row(cloud, point, int(seconds) * NS + int(fraction), packet, comment, int(size),
                        int(captured)))
    return rows


def own(row):
    """Returns false for packets that a router or `probe` has generated."""
    return "generated" not in row.comment


def judge(rows, clouds, kinds=dict(REASONS)):
    """Compares the capture with the counters of its clouds. Returns the reasons that occurred."""
    at = collections.defaultdict(list)
    for row in rows:
        at[row.cloud.partition("/")[0], row.point].append(row)
    found = set()
    # A packet that its port does not take stays in its cloud. It is reported when it leaves, with
    # the time at which it was due.
    timely = [row for row in rows if row.cloud != "c-unsent"]
    back = [(a, b) for a, b in zip(timely, timely[1:]) if a.t > b.t]
    assert not back, f"{len(back)} not in the order of time: {back[0][0]} and then {back[0][1]}"
    for name, cloud in clouds.items():
        came = [row for row in at[name, "in"] if own(row)]
        drops = collections.Counter(row.comment.partition(":")[0] for row in at[name, "drops"])
        left = at[name, "out"]
        # Packets of `probe` count as generated, and appear at the point "in".
        expected = cloud["rx_packets"] + (cloud["generated"] if name == "c-ask" else 0)
        assert len(at[name, "in"]) == expected, f"{name}: {len(at[name, 'in'])} in, not {expected}"
        assert len(left) == cloud["tx_packets"], (
            f"{name}: {len(left)} out, not {cloud['tx_packets']}")
        counted = {reason: n for reason, n in cloud["drops"].items() if n}
        assert drops == counted, f"{name}: {dict(drops)}, not {counted}"
        marked = [row for point in ("queue",)
                  for row in at[name, point] if row.comment.startswith("marked: ")]
        assert len(marked) == cloud["ecn_marked"], (
            f"{name}: {len(marked)} marked, not {cloud['ecn_marked']}")
        ids = {row.id for row in came}
        gone = {row.id for row in left if own(row) and "copy" not in row.comment}
        lost = {row.id for row in at[name, "drops"] if own(row) and "copy" not in row.comment}
        assert gone <= ids and lost <= ids, f"{name}: what leaves or ends there never came"
        assert not gone & lost, f"{name}: {gone & lost} left, and were lost"
        assert (len(gone | lost)
                == len(ids) - cloud["held_packets"]), f"{name}: some neither left nor were lost"
        for row in at[name, "drops"]:
            reason = row.comment.partition(":")[0]
            found.add(reason)
            words = row.comment.partition("; ")[0]
            assert kinds[reason] != "CONGESTION" or CONGESTED.match(words), row.comment
            assert len(words) > len(reason) + 2, row.comment
    return found


def said(weir, *words):
    return json.loads(subprocess.run([WEIR, "ctl", "-s", weir.path, "-j", *words],
                                     capture_output=True, text=True,
                                     check=True).stdout)


def until(what, condition):
    deadline = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def taps(weir, *words):
    """Starts a capture into FOLDER/c.pcapng, and returns when it is on."""
    path = os.path.join(weir.folder, "c.pcapng")
    process = subprocess.Popen([WEIR, "ctl", "-s", weir.path, "capture", *words, "-o", path],
                               stderr=subprocess.PIPE, text=True)
    # The file is created when the capture is on.
    until("the capture does not begin", lambda: process.poll() is not None or
          any(leaf.startswith("c.pcapng.weir") for leaf in os.listdir(weir.folder)))
    return process, path


def ends(process):
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=LONG_S)[1]
    assert process.returncode == 0, error
    return error


def counters(weir):
    return {cloud["cloud"]: cloud for cloud in said(weir, "show", "cloud")["clouds"]}


def settled(weir, n):
    """Returns true once all n packets have arrived and left."""
    clouds = counters(weir)
    return (sum(cloud["rx_packets"] for name, cloud in clouds.items() if name != "c-asked") >= n
            and all(cloud["held_packets"] == 0 for cloud in clouds.values()))


def run_all(gap_s):
    """Provokes all reasons in one run. Returns None if the capture came too late for some."""
    sent = frames(gap_s * 10 ** 6)
    folder = tempfile.mkdtemp(prefix="weir-frames-")
    try:
        pcap(f"{folder}/in.pcap", sent)
        with open(f"{folder}/in.pcap", "rb") as file:
            weir = Weir(WEIR, "capture", "--cores", str(max(os.sched_getaffinity(0))),
                        "--memory", "16MiB",
                        scenario=lines(True).replace("file:in.pcap", "file:FOLDER/in.pcap"),
                        files={"in.pcap": file.read()})
    finally:
        shutil.rmtree(folder)
    try:
        process, path = taps(weir, "all", "snap", "128")
        if any(cloud["rx_packets"] for cloud in counters(weir).values()):
            process.kill()
            process.communicate()
            return None
        until("not all frames came through", lambda: settled(weir, len(sent) - 1))
        said(weir, "probe", "c-ask")
        until("packets are on their way still", lambda: settled(weir, len(sent) - 1))
        clouds, ports = counters(weir), {port["port"]: port
                                         for port in said(weir, "show", "ports")["ports"]}
        error = ends(process)
        assert "missing" not in error, error
        return rows_of(path), clouds, ports
    finally:
        weir.stop()


def a_drop_of_every_reason_is_captured_with_its_comment_as_often_as_it_is_counted():
    done, gap_s = None, 2
    while done is None:
        done = run_all(gap_s)
        gap_s *= 3
        assert gap_s < LONG_S, "no capture begins within a minute"
    rows, clouds, ports = done
    found = judge(rows, clouds)
    unsent = [row for row in rows if row.cloud == "c" and row.point == "drops"]
    assert len(unsent) == ports["c"]["tx_full"] > 0, (
        f"{len(unsent)} at the port, not {ports['c']['tx_full']}")
    assert all(row.comment.startswith("tx-full: ") for row in unsent)
    left = {row.id for row in rows if row.cloud == "c-unsent" and row.point == "out"}
    assert {row.id for row in unsent} <= left, "what the port has lost never left its cloud"
    # Packets that weir still holds when it ends are `removed`: no capture sees that (tested by
    # test_tap.c).
    missing = PROVOKED - found - {"tx-full", "removed"}
    assert not missing, f"not provoked: {missing}"
    assert all(clouds[f"c-marks-{name}"]["ecn_marked"]
               for name in ("red", "codel", "loss")), "no marks"
    assert all(row.captured <= 128 <= max(row.size, 128) for row in rows)


def offline_the_same_is_written_and_joins():
    folder = tempfile.mkdtemp(prefix="weir-capture-")
    try:
        pcap(f"{folder}/in.pcap", frames(0)[:-FULL])
        with open(f"{folder}/s.weir", "w", encoding="utf-8") as out:
            out.write(lines(False))
        for name in ("one", "two"):
            done = subprocess.run([WEIR, "replay", "-q", "-c", f"{folder}/s.weir",
                                   "--in", f"a={folder}/in.pcap",
                                   "--capture", f"{folder}/{name}.pcapng",
                                   "--report", f"{folder}/report.json",
                                   "--log", f"{folder}/log.csv"], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        with open(f"{folder}/report.json", encoding="utf-8") as report:
            clouds = {cloud["cloud"]: cloud for cloud in json.load(report)["clouds"]}
        rows = rows_of(f"{folder}/one.pcapng")
        found = judge(rows, clouds)
        live = {"probe", "no-buffer", "tx-full", "removed"}
        assert found == PROVOKED - live, found
        with open(f"{folder}/one.pcapng", "rb") as one, open(f"{folder}/two.pcapng", "rb") as two:
            assert one.read() == two.read(), "the same replay wrote other bytes"
        with open(f"{folder}/log.csv", encoding="utf-8") as log:
            fates = [line.split(",") for line in log.read().splitlines()[1:]]
        dropped = collections.Counter((f[0], f[3].partition("/")[0], f[5])
                                      for f in fates if f[4] == "dropped")
        seen = collections.Counter((row.id, row.cloud.partition("/")[0],
                                    row.comment.partition(":")[0])
                                   for row in rows if row.point == "drops")
        assert seen == dropped, "the log tells of other losses"
    finally:
        shutil.rmtree(folder)


# ---- a weir that plays a few packets again and again ----

def looping(*options):
    """Plays 20 packets a second into x, which loses every other one, and none into y."""
    folder = tempfile.mkdtemp(prefix="weir-frames-")
    try:
        pcap(f"{folder}/in.pcap", [(50000 * i, frame(NET + "1", 100)) for i in range(40)])
        with open(f"{folder}/in.pcap", "rb") as file:
            data = file.read()
    finally:
        shutil.rmtree(folder)
    return Weir(WEIR, "looping", "--cores", str(max(os.sched_getaffinity(0))), *options,
                files={"in.pcap": data},
                scenario="seed 1\nport a device file:FOLDER/in.pcap,loop\n"
                         "port b device net_null0,no-rx=1\n"
                "cloud x from a to b\ncloud x loss every 2\ncloud x rate 10mbit\n"
                "cloud x delay 2ms\n"
                "cloud y from b to a\n")


def asks(weir, *words, socket_path=None):
    return subprocess.run([WEIR, "ctl", "-s", socket_path or weir.path, *words],
                          capture_output=True, timeout=LONG_S,
                          check=False)


def a_trace_says_the_way_of_each_packet_in_words():
    weir = looping()
    try:
        done = asks(weir, "trace", "next", "4", "match", "udp")
        assert done.returncode == 0, done.stderr
        packets = re.split(r"(?m)^(?=packet )", done.stdout.decode())[1:]
        assert len(packets) == 4, done.stdout
        head = r"packet \d+ of port a: UDP 198\.51\.100\.7 port 1000 > 203\.0\.113\.1 port 2000\n"
        came = r"  \+0 +comes to x, 100 bytes\n"
        lost = head + came + r"  \+0 +is DROPPED: loss: the loss statement of the cloud\n"
        through = (head + came
                   + r"  \+0 +loss lets it pass\n  \+0 +enters the queue of x; \d+ B wait there\n" \
            r"  \+[\d.]+ ms +leaves x, [\d.]+ ms after it came there\n")
        kinds = [bool(re.fullmatch(lost, packet)) + 2 * bool(re.fullmatch(through, packet))
                 for packet in packets]
        assert sorted(kinds) == [1, 1, 2, 2], done.stdout.decode()
    finally:
        weir.stop()


def a_trace_that_cannot_be_written_is_said():
    weir = looping()
    try:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([WEIR, "ctl", "-s", weir.path, "trace", "next", "1"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=LONG_S, check=False)
        assert (done.returncode != 0
                and done.stderr.startswith(b"weir ctl: standard output: No space left")), done
    finally:
        weir.stop()


def a_capture_says_by_which_expression_it_was_made():
    weir = looping()
    expression = " or ".join(f"udp port {port}" for port in range(1000, 1020))
    try:
        done = asks(weir, "capture", "x", "in", "match", expression, "1", "packets", "-o", "-")
        assert done.returncode == 0, done.stderr
        assert f"weir ctl capture x match {expression}".encode() in done.stdout, done.stdout[:600]
    finally:
        weir.stop()


def what_cannot_be_captured_is_refused_in_the_words_of_who_asked():
    weir = looping()
    wrong = {
        "capture nix -o x": "no cloud or port `nix`",
        "capture": "missing here",
        "capture x in,off -o x": "`off` is not a point",
        "capture x snap 0 -o x": "snap",
        "capture x match tcp portt 80 -o x": "wrong at `portt`",
        "capture x for 10 -o x": "10",
        "capture x loud -o x": "`loud` is not a point",
        "capture x in loud -o x": "unknown word `loud`",
        "trace x": "next N",
        "capture x -o /nowhere/x": "/nowhere",
    }
    try:
        for line, words in wrong.items():
            done = asks(weir, *line.split())
            assert done.returncode == 1 and words in done.stderr.decode(), f"{line}: {done.stderr}"
        client = Client(weir.path)
        assert "no descriptor came" in client.say("capture x")
        client.close()
    finally:
        weir.stop()


def a_capture_keeps_its_file_when_its_terminal_is_closed():
    weir = looping()
    try:
        process, path = taps(weir, "x")
        while process.poll() is None:  # the shell and the kernel send one each, at any time
            process.send_signal(signal.SIGHUP)
            time.sleep(0.001)
        error = process.communicate(timeout=LONG_S)[1]
        assert process.returncode == 0 and os.path.exists(path), (process.returncode, error)
        os.remove(path)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        process, path = taps(weir, "x")
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        process.send_signal(signal.SIGHUP)
        [growing] = [os.path.join(weir.folder, leaf) for leaf in os.listdir(weir.folder)
                     if leaf.startswith("c.pcapng.weir")]
        bytes_ = os.path.getsize(growing)
        until("the capture stands still", lambda: os.path.getsize(growing) > bytes_)
        ends(process)
        assert os.path.exists(path)
    finally:
        weir.stop()


def a_capture_that_cannot_be_written_any_further_keeps_what_it_has():
    weir = looping()
    try:
        process, path = taps(weir, "x")
        # An unprivileged test cannot fill a disk; a limit of the file size replaces this.
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (10000, 10000))
        error = process.communicate(timeout=LONG_S)[1]
        assert process.returncode == 1, process.returncode
        assert "c.pcapng: writing failed: File too large" in error, error
        assert "c.pcapng has what was written before" in error, error
        with open(path, "rb") as file:
            data = file.read()
        assert len(data) >= 10000, len(data)
        frames_, at = 0, 0
        while at + 8 <= len(data):
            kind, length = struct.unpack("<II", data[at:at + 8])
            at += length
            frames_ += kind == 6 and at <= len(data)
        assert frames_ > 20, frames_
    finally:
        weir.stop()


def captures_end_with_their_clients_and_eight_are_the_most_that_there_may_be():
    weir = looping("--socket-readonly", "SOCKET-ro")
    try:
        killed = []
        for i in range(8):
            path = f"{weir.path}-ro" if i % 2 else weir.path
            killed.append(subprocess.Popen([WEIR, "ctl", "-s", path, "capture", "x", "-o", "-"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            # The head of the file is written when the capture is on.
            assert (killed[-1].stdout.read(4)
                    == struct.pack("<I", 0x0a0d0d0a)), killed[-1].stderr.read()
        ninth = asks(weir, "capture", "x", "1", "packets", "-o", "-")
        assert ninth.returncode == 1 and b"8 captures" in ninth.stderr, ninth
        assert not asks(weir, "cloud", "x", "delay",
                        "3ms").returncode, "a change waits for captures"
        for process in killed:
            process.kill()
            process.communicate()
        until("captures stay when their clients are gone",
              lambda: asks(weir, "capture", "x", "1", "packets", "-o", "-").returncode == 0)
    finally:
        weir.stop()


def of_a_reader_that_stands_still_what_is_missing_is_counted_exactly():
    """More than twice the ring's 32 MiB arrive while nobody reads."""
    n, size = 30000, 1400
    one = frame(NET + "1", size)
    folder = tempfile.mkdtemp(prefix="weir-frames-")
    gap_s, weir = 2, None
    try:
        while True:
            pcap(f"{folder}/in.pcap", [(0, frame("192.0.2.200", 60))] +
                 [(gap_s * 10 ** 6 + 50 * i, one) for i in range(n)])
            with open(f"{folder}/in.pcap", "rb") as file:
                weir = Weir(WEIR, "slow", "--cores", str(max(os.sched_getaffinity(0))),
                            files={"in.pcap": file.read()},
                            scenario="seed 1\nport a device file:FOLDER/in.pcap\n"
                                     "port b device net_null0,no-rx=1\n"
                            "cloud x from a to b match dst host " + NET + "1\n")
            process = subprocess.Popen([WEIR, "ctl", "-s", weir.path, "capture", "x", "-o", "-"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
            assert process.stdout.read(4) == struct.pack("<I", 0x0a0d0d0a)
            if counters(weir)["x"]["rx_packets"] == 0:
                break
            process.kill()
            process.communicate()
            weir.stop()
            weir, gap_s = None, gap_s * 3
        until("not all came", lambda: counters(weir)["x"]["tx_packets"] == n)
        process.send_signal(signal.SIGINT)
        data, error = process.communicate(timeout=LONG_S)
        assert process.returncode == 0, error
        said_missing = {word: int(count)
                        for word, count in re.findall(r" (in|out) (\d+)", error.decode())}
        with open(f"{folder}/out.pcapng", "wb") as out:
            out.write(struct.pack("<I", 0x0a0d0d0a) + data)
        rows = rows_of(f"{folder}/out.pcapng")
        for point in ("in", "out"):
            there = sum(row.point == point for row in rows)
            assert said_missing.get(point, 0) > 0, f"nothing is missing at {point}: {error}"
            assert (there + said_missing[point] == n), (
                f"{there} and {said_missing[point]} missing, of {n}")
        info = subprocess.run(["capinfos", f"{folder}/out.pcapng"], capture_output=True, text=True,
                              check=True).stdout
        assert info, "capinfos does not read it"
    finally:
        shutil.rmtree(folder)
        if weir is not None:
            weir.stop()


def a_capture_of_more_than_its_reader_takes_ends_nevertheless():
    """100 MB a second arrive, and 10 are read: the memory never drains."""
    folder, weir = tempfile.mkdtemp(prefix="weir-frames-"), None
    try:
        pcap(f"{folder}/in.pcap", [(14 * i, frame(NET + "1", 1400)) for i in range(2000)])
        with open(f"{folder}/in.pcap", "rb") as file:
            weir = Weir(WEIR, "much", "--cores", str(max(os.sched_getaffinity(0))),
                        files={"in.pcap": file.read()},
                        scenario="seed 1\nport a device file:FOLDER/in.pcap,loop\n"
                                 "port b device net_null0,no-rx=1\n"
                        "cloud x from a to b\n")
        process = subprocess.Popen([WEIR, "ctl", "-s", weir.path, "capture", "x", "for", "200ms",
                                    "-o", "-"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        read, deadline = 0, time.monotonic() + LONG_S
        while data := process.stdout.read(1 << 18):
            read += len(data)
            assert time.monotonic() < deadline, f"{read} bytes were read, and it goes on"
            time.sleep(0.025)
        error = process.communicate(timeout=LONG_S)[1]
        assert process.returncode == 0, error
        # The memory's contents, and what had been written when the time was over.
        assert read < 256 << 20, read
    finally:
        shutil.rmtree(folder)
        if weir is not None:
            weir.stop()


def wireshark_finds_the_clouds_in_its_list_and_captures_there():
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not installed")
    weir = looping()
    script = f"{ROOT}/contrib/wireshark/weir-extcap"
    extcap = os.path.join(weir.folder, "extcap")
    os.mkdir(extcap)
    os.symlink(script, os.path.join(extcap, "weir-extcap"))
    environment = dict(os.environ, WEIR=WEIR, WEIR_SOCKET=weir.path, WIRESHARK_EXTCAP_DIR=extcap)
    try:
        listed = subprocess.run([script, "--extcap-interfaces"], env=environment,
                                capture_output=True, text=True,
                                check=True).stdout
        assert [line for line in listed.splitlines() if line.startswith("interface")] == [
            "interface {value=weir-all}{display=weir: all clouds}",
            "interface {value=weir-x}{display=weir: cloud x}",
            "interface {value=weir-y}{display=weir: cloud y}"], listed
        fifo = os.path.join(weir.folder, "fifo")
        os.mkfifo(fifo)
        process = subprocess.Popen([script, "--capture", "--extcap-interface", "weir-x",
                                    "--fifo", fifo, "--points",
                                    "in,drops", "--snap", "64", "--extcap-capture-filter", "udp"],
                                   env=environment)
        done = subprocess.run(["tshark", "-c", "6", "-i", fifo, "-T", "fields",
                               "-e", "frame.interface_name", "-e",
                               "frame.cap_len"], capture_output=True, text=True, timeout=LONG_S,
                              check=False)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        assert len(rows) == 6, done.stderr
        assert all(length == "64" for _, length in rows), rows
        assert process.wait(timeout=LONG_S) == 0, "the capture does not end when its reader goes"
    finally:
        weir.stop()


CLAIMS = [a_drop_of_every_reason_is_captured_with_its_comment_as_often_as_it_is_counted,
          offline_the_same_is_written_and_joins,
          a_trace_says_the_way_of_each_packet_in_words,
          a_trace_that_cannot_be_written_is_said,
          a_capture_says_by_which_expression_it_was_made,
          what_cannot_be_captured_is_refused_in_the_words_of_who_asked,
          a_capture_keeps_its_file_when_its_terminal_is_closed,
          a_capture_that_cannot_be_written_any_further_keeps_what_it_has,
          captures_end_with_their_clients_and_eight_are_the_most_that_there_may_be,
          of_a_reader_that_stands_still_what_is_missing_is_counted_exactly,
          a_capture_of_more_than_its_reader_takes_ends_nevertheless,
          wireshark_finds_the_clouds_in_its_list_and_captures_there]

sys.exit(tap.run([(claim.__name__, claim) for claim in CLAIMS]))
