#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One capture, of one end: TCP at its sender and at its receiver (real ones, data/README.md), and
the spin bit of QUIC.

usage: one_end.py WEIR ROOT
"""
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
import learning  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
learning.need(WEIR, ROOT)
import numpy  # noqa: E402
from weir.learn import pairs  # noqa: E402
from weir.learn.readers import files, tcp  # noqa: E402

DATA = os.path.join(ROOT, "tests", "learn", "data")
BEGIN_S = 1_700_000_000


def learn(path, *words, fine=(0,)):
    done = subprocess.run([WEIR, "learn", path, *words], capture_output=True, text=True,
                          env=dict(os.environ, WEIR_PYTHON=sys.executable))
    assert done.returncode in fine and "Traceback" not in done.stderr, (done.stdout, done.stderr)
    return done


def tcp_at_its_sender_shows_rate_queue_and_loss_and_says_what_it_is():
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "path.weir")
        found = json.loads(learn(os.path.join(DATA, "tcp-sender.pcap.gz"), "--json", "-o",
                                 out).stdout)
    up = found["clouds"]["up"]
    values = {(one["statement"], one["name"]): one for one in up["estimates"]}
    assert found["fits"], found["verdict"]
    assert abs(values["rate", "rate"]["value"] - 10e6) < 0.001 * 10e6, values
    queue = values["rate", "queue"]
    assert queue["low"] <= 40_000 <= queue["high"], queue
    assert up["loss"]["model"] == "random"
    assert up["loss"]["rate"]["low"] <= 0.005 <= up["loss"]["rate"]["high"], up["loss"]
    text = found["scenario"].replace("\n#   ", " ")
    assert "seen from one end only" in text and "captured at their sender" in text, text
    assert "round trips do not tell" in text and "super-frames were cut" in text, text
    back = float(text.split("cloud down delay ")[1].split("ms")[0])
    assert 20 <= back + values["delay", "delay"]["value"] / 1e6 <= 21.3, values


def tcp_at_its_receiver_shows_throughput_and_the_least_round_trip():
    measured = files.read(os.path.join(DATA, "tcp-receiver.pcap.gz"))
    assert measured.acked is None and list(measured.rates) == ["down"]
    assert abs(measured.rates["down"].value - 10e6) < 0.01 * 10e6, measured.rates
    assert 20e6 <= measured.least_trip_ns < 21e6, measured.least_trip_ns
    # Most of them, a full queue has dropped.
    assert (measured.losses["down"].value > 0.005) and "29 of 1879" in measured.losses["down"].basis
    assert "captured at their receiver" in measured.notes[0]


# ---- TCP, written by hand ----

def frame(source, target, protocol, transport):
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(transport), 0, 0, 64, protocol, 0,
                     bytes(source), bytes(target))
    total = sum(struct.unpack("!10H", ip))
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    ip = ip[:10] + struct.pack("!H", ~total & 0xffff) + ip[12:]
    return b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + ip + transport


def write(path, packets):
    """Writes frames with their instants in ns, as a pcap with nanoseconds."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for t, data in sorted(packets, key=lambda one: one[0]):
            out.write(struct.pack("<IIII", BEGIN_S + t // 10**9, t % 10**9, len(data), len(data)))
            out.write(data)


CLIENT, SERVER = (10, 0, 0, 1), (10, 0, 0, 2)


def segment(down, sequence, acked, payload, blocks=(), stamps=None):
    options = b""
    if stamps:
        options += struct.pack("!BBBBII", 1, 1, 8, 10, *stamps)
    if blocks:
        options += struct.pack("!BBBB", 1, 1, 5, 2 + 8 * len(blocks))
        options += b"".join(struct.pack("!II", *(x & 0xffffffff for x in b)) for b in blocks)
    ports = (443, 50000) if down else (50000, 443)
    tcp_header = struct.pack("!HHIIBBHHH", *ports, sequence & 0xffffffff, acked & 0xffffffff,
                             (20 + len(options)) // 4 << 4, 0x10, 65535, 0, 0)
    ends = (SERVER, CLIENT) if down else (CLIENT, SERVER)
    return frame(*ends, 6, tcp_header + options + bytes(payload))


MS = 10**6


def sent_of(packets):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.pcap")
        write(path, packets)
        return files.read(path)


def what_is_acknowledged_selectively_has_arrived_and_what_is_sent_again_was_lost():
    """120 packets of 1000 bytes each 10 ms, whose numbers begin anew; number 50 is lost, and sent
    again 35 ms later; each is acknowledged 30 ms after it was sent."""
    first = 2**32 - 20_500
    packets = []
    for i in range(120):
        packets.append((10 * MS * i, segment(False, first + 1000 * i, 1, 1000)))
        at = 10 * MS * i + 30 * MS
        if i < 50 or i > 54:
            packets.append((at, segment(True, 1, first + 1000 * (i + 1), 0)))
        elif i > 50:
            packets.append((at, segment(True, 1, first + 50_000, 0,
                                        [(first + 51_000, first + 1000 * (i + 1))])))
    packets.append((535 * MS, segment(False, first + 50_000, 1, 1000)))
    measured = sent_of(packets)
    way = measured.acked
    assert len(way.sent_ns) == 121 and int(way.lost.sum()) == 1, (len(way.sent_ns), way.lost.sum())
    assert int(numpy.flatnonzero(way.lost)[0]) == 50
    trips = (way.received_ns - way.sent_ns)[~way.lost]
    again = int(numpy.flatnonzero(way.sent_ns - way.sent_ns[0] == 535 * MS)[0])
    assert set(numpy.delete(trips, again - 1)) == {30 * MS}, set(trips)
    assert set(way.size.tolist()) == {1054}


def what_arrives_late_at_the_receiver_was_lost_and_what_overtakes_was_not():
    def lost(order):
        rows = numpy.zeros(len(order), [("t_ns", "<i8"), ("sequence", "<u4"), ("payload", "<u4"),
                                        ("flags", "u1")])
        for row, (t, k) in zip(rows, order):
            row["t_ns"], row["sequence"], row["payload"] = t * MS, 1000 * k, 1000
        return tcp.lost(rows, 10 * MS)

    assert lost([(i, i) for i in range(20)]) == (0, 20)
    assert lost([(0, 0), (1, 2), (2, 1), (3, 3)]) == (0, 4)
    assert lost([(0, 0), (1, 2), (20, 1), (21, 3)]) == (1, 4)
    assert lost([(0, 0), (1, 4), (20, 2), (21, 1), (22, 3), (23, 4)]) == (3, 6)


def round_trips_are_between_a_stamp_and_its_first_echo():
    packets = []
    for i in range(100):
        packets.append((50 * MS * i, segment(False, 1 + i, 1, 0, stamps=(1000 + i, 7))))
        packets.append((50 * MS * i + 22 * MS, segment(True, 1 + 2000 * i, 1 + i, 1000,
                                                       stamps=(5, 1000 + i))))
        packets.append((50 * MS * i + 23 * MS, segment(True, 1001 + 2000 * i, 1 + i, 1000,
                                                       stamps=(6, 1000 + i))))
    measured = sent_of(packets)
    assert measured.least_trip_ns == 22 * MS
    assert not measured.losses["down"].value


# ---- QUIC ----

def quic(down, first, size=200):
    ports = (443, 50000) if down else (50000, 443)
    ends = (SERVER, CLIENT) if down else (CLIENT, SERVER)
    data = bytes([first]) + (b"\0\0\0\1" if first & 0x80 else b"") + bytes(size - 1)
    return frame(*ends, 17, struct.pack("!HHHH", *ports, 8 + len(data), 0) + data)


def spinning(trips, used=True):
    """Packets each 5 ms in both directions; the bit of the client turns after each of `trips`, that
    of the server 2 ms later."""
    turns = numpy.cumsum(trips)
    packets = [(0, quic(False, 0xc3)), (2 * MS, quic(True, 0xc3))]
    for i in range(2, int(turns[-1]) // (5 * MS)):
        t = 5 * MS * i
        for down, late in ((False, 0), (True, 2 * MS)):
            spin = int(numpy.searchsorted(turns, t, side="right")) & 1 if used else 0
            packets.append((t + late, quic(down, 0x40 | spin << 5)))
    return packets


def the_spin_bit_of_quic_gives_round_trips():
    trips = [40 * MS, 60 * MS, 50 * MS] * 20 + [900 * MS] + [50 * MS] * 20
    measured = sent_of(spinning(trips))
    assert measured.tool == "a capture of QUIC"
    # The pause counts as none; the first turn has no beginning.
    expected = sorted(trips[1:-1])
    expected.remove(900 * MS)
    found = sorted(measured.trip_ns.astype(int).tolist())
    assert found == expected, (len(found), len(expected), found)
    assert "losses do not show" in " ".join(measured.notes)
    assert "1 turns" in " ".join(measured.notes), measured.notes


def real_quic_takes_its_round_trip_and_what_its_ends_wait():
    """aioquic through 25 ms down and 15 ms up; the client sends each 4 ms."""
    measured = files.read(os.path.join(DATA, "quic.pcap.gz"))
    assert len(measured.trip_ns) > 90, len(measured.trip_ns)
    mean = float(measured.trip_ns.mean()) / 1e6
    assert 40 <= mean <= 45, mean


def quic_without_a_spin_bit_is_refused():
    try:
        sent_of(spinning([50 * MS] * 60, used=False))
    except pairs.NothingToLearn as error:
        assert "spin bit" in str(error) and "both ends" in str(error), error
        return
    raise AssertionError("it is read")


def what_has_no_conversation_is_refused_in_one_line():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.pcap")
        for packets in ([], [(MS * i, quic(False, 0x40)) for i in range(300)],
                        [(MS * i, segment(False, i, 1, 1000)) for i in range(300)]):
            write(path, packets)
            done = learn(path, fine=(2,))
            assert done.stderr.count("\n") == 1 and "x.pcap has no" in done.stderr, done.stderr
        with gzip.open(os.path.join(DATA, "tcp-sender.pcap.gz")) as whole, open(path, "wb") as out:
            out.write(whole.read()[:5000])
        done = learn(path, fine=(2,))
        assert done.stderr.count("\n") == 1, done.stderr


def hostile_captures_are_read_or_refused_in_one_line():
    folder = os.environ.get("WEIR_HOSTILE")
    if not folder:
        raise tap.Skip("$WEIR_HOSTILE names no folder with hostile captures")
    with tempfile.TemporaryDirectory() as place:
        for name in sorted(os.listdir(folder)):
            out = os.path.join(place, "heads")
            done = learn(os.path.join(folder, name), "--headers", out, fine=(0, 2))
            if done.returncode == 2:
                assert done.stderr.count("\n") == 1, (name, done.stderr)
            else:
                frames = json.loads(done.stdout)["frames"]
                assert os.path.getsize(out) == 64 * frames, (name, frames)


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    tcp_at_its_sender_shows_rate_queue_and_loss_and_says_what_it_is,
    tcp_at_its_receiver_shows_throughput_and_the_least_round_trip,
    what_is_acknowledged_selectively_has_arrived_and_what_is_sent_again_was_lost,
    what_arrives_late_at_the_receiver_was_lost_and_what_overtakes_was_not,
    round_trips_are_between_a_stamp_and_its_first_echo,
    the_spin_bit_of_quic_gives_round_trips,
    real_quic_takes_its_round_trip_and_what_its_ends_wait,
    quic_without_a_spin_bit_is_refused,
    what_has_no_conversation_is_refused_in_one_line,
    hostile_captures_are_read_or_refused_in_one_line,
)]))
