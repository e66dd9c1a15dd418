#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What happened once happens again: `loss list` with the log of an earlier `weir replay --log`.

usage: repeat.py WEIR MAKE_CAPTURE
"""
import csv
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, MAKE_CAPTURE = (os.path.abspath(program) for program in sys.argv[1:3])
PACKETS = 20000
SCENARIO = """seed {seed}
port a
port b
cloud down from a to b
cloud down {loss}
cloud down duplicate random 5%
cloud down corrupt random 2% bits 3
cloud down police 500mbit burst 20kB
cloud down rate 300mbit queue 100kB
cloud down delay 20ms jitter 3ms order allow
"""
LOSSES = [
    "loss random 3%",
    "loss random 3% correlation 60%",
    "loss every 100 burst 3",
    "loss burst 0.5% length 2..16",
    "loss gilbert-elliott p 1% r 10% bad 70% good 0.1%",
    "loss four-state p13 1% p31 30% p32 20% p23 50% p14 1%",
    "loss bit-error 1e-5",
    "loss pattern 3, 4, 5 of 70",
    "loss window from 10ms for 5ms every 40ms",
]


def replay(loss, name, seed):
    with open(f"{name}.weir", "w", encoding="utf-8") as out:
        out.write(SCENARIO.format(loss=loss, seed=seed))
    done = subprocess.run([WEIR, "replay", "-q", "-c", f"{name}.weir", "--in", "a=in.pcap",
                           "--out", f"b={name}.pcap", "--log", f"{name}.csv"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{name}.csv", encoding="utf-8", newline="") as log:
        return list(csv.DictReader(log))


def same(a, b):
    with open(a, "rb") as one, open(b, "rb") as other:
        return one.read() == other.read()


def a_log_as_a_list_repeats_every_loss_and_every_byte():
    for loss in LOSSES:
        rows = replay(loss, "first", 7)
        lost = [row for row in rows if row["reason"] == "loss"]
        assert 100 < len(lost) < PACKETS / 2, f"{loss}: {len(lost)} lost"
        replay("loss list first.csv", "again", 7)
        assert same("first.csv", "again.csv"), f"{loss}: another log"
        assert same("first.pcap", "again.pcap"), f"{loss}: another capture"


def the_same_packets_are_lost_under_another_seed():
    first = replay(LOSSES[0], "first", 7)
    again = replay("loss list first.csv", "again", 8)
    numbers = [[row["packet"] for row in rows if row["reason"] == "loss"]
               for rows in (first, again)]
    assert numbers[0] == numbers[1]
    assert not same("first.pcap", "again.pcap")


def a_window_counts_from_the_first_packet_of_the_capture():
    rows = replay("loss window from 10ms for 5ms every 40ms", "window", 1)
    rows = [row for row in rows if row["detail"] == ""]
    start = min(int(row["t_in_ns"]) for row in rows)
    assert start > 10**18, "the capture begins at the epoch: nothing is tested"
    for row in rows:
        t = int(row["t_in_ns"]) - start
        inside = t >= 10_000_000 and (t - 10_000_000) % 40_000_000 < 5_000_000
        assert inside == (row["reason"] == "loss"), row


def a_list_that_is_wrong_is_said_with_its_place_and_nothing_is_written():
    with open("bad.txt", "w", encoding="utf-8") as out:
        out.write("1\n2\nthree\n")
    for name, words in (("bad.txt", "bad.txt:3: `three` is not the number of a packet"),
                        ("none.txt", "the file `none.txt` cannot be read")):
        with open("s.weir", "w", encoding="utf-8") as out:
            out.write(SCENARIO.format(loss=f"loss list {name}", seed=1))
        done = subprocess.run([WEIR, "replay", "-q", "-c", "s.weir", "--in", "a=in.pcap", "--out",
                               "b=none.pcap"], capture_output=True, text=True)
        said = done.stderr.strip()
        assert done.returncode == 2 and "\n" not in said, said
        assert "s.weir:5:22: " in said and words in said, said
        assert not os.path.exists("none.pcap")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([MAKE_CAPTURE, "--packets", str(PACKETS), "--bytes", "400", "--gap-ns", "10000",
                    "in.pcap"], check=True)
    status = tap.run([(claim.__name__, claim) for claim in (
        a_log_as_a_list_repeats_every_loss_and_every_byte,
        the_same_packets_are_lost_under_another_seed,
        a_window_counts_from_the_first_packet_of_the_capture,
        a_list_that_is_wrong_is_said_with_its_place_and_nothing_is_written,
    )])
    os.chdir("/")
sys.exit(status)
