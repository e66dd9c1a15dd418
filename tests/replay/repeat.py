#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Repeats earlier losses: `loss list` with the log of an earlier `weir replay --log`.

usage: repeat.py WEIR MAKE_CAPTURE
"""
import csv
import os
import struct
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
TEMPLATE = SCENARIO.replace("cloud down from a to b", "clouds down from a to b per {per}").replace(
    "\ncloud down", "\nclouds down")
# `most`: creating 65,536 clouds 40 times takes a sanitizer half a minute.
PERS = ["source 10.0.0.0/8 most 500", "destination 0.0.0.0/0 most 500", "flow most 500"]
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


def replay(loss, name, seed, per=None, capture="in.pcap"):
    with open(f"{name}.weir", "w", encoding="utf-8") as out:
        out.write((TEMPLATE if per else SCENARIO).format(loss=loss, seed=seed, per=per))
    done = subprocess.run([WEIR, "replay", "-q", "-c", f"{name}.weir", "--in", f"a={capture}",
                           "--out", f"b={name}.pcap", "--log", f"{name}.csv"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{name}.csv", encoding="utf-8", newline="") as log:
        return list(csv.DictReader(log))


def write_hosts(name, hosts):
    """Writes UDP packets into a nanosecond pcap, each from a host to another, in random order."""
    with open(name, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for i in range(PACKETS):
            x = i * 2654435761 % 2**32 >> 7
            t, bytes_ = 10**18 + i * 10000, 342 + i % 100
            frame = bytes(12) + struct.pack(
                ">HBBHHHBBHIIHHHH", 0x0800, 0x45, 0, bytes_ - 14, 0, 0, 64, 17, 0,
                0x0a000000 + x % hosts, 0xc6336400 + x // hosts % 3, 1000 + x % 2, 80,
                bytes_ - 34, 0)
            out.write(struct.pack("<IIII", t // 10**9, t % 10**9, bytes_, bytes_))
            out.write(frame + bytes(bytes_ - len(frame)))


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


def a_templates_log_repeats_every_loss_in_each_of_its_clouds():
    write_hosts("hosts.pcap", 40)
    for loss, per in [(loss, PERS[0]) for loss in LOSSES] + [(LOSSES[0], per) for per in PERS[1:]]:
        rows = replay(loss, "first", 7, per, "hosts.pcap")
        clouds = {row["cloud"] for row in rows}
        losing = {row["cloud"] for row in rows if row["reason"] == "loss"}
        lost = sum(row["reason"] == "loss" for row in rows)
        assert 100 < lost < PACKETS / 2, f"{loss}: {lost} lost"
        assert all(cloud.startswith("down/") for cloud in clouds), clouds
        # one cloud would not show that each cloud finds its own rows
        assert len(clouds) > 2 and len(losing) > 2, f"{per}: {len(losing)} of {len(clouds)} lose"
        replay("loss list first.csv", "again", 7, per, "hosts.pcap")
        assert same("first.csv", "again.csv"), f"{loss} per {per}: another log"
        assert same("first.pcap", "again.pcap"), f"{loss} per {per}: another capture"


def what_a_template_lost_at_one_address_is_not_lost_at_another():
    write_hosts("hosts.pcap", 40)
    rows = replay(LOSSES[0], "first", 7, PERS[0], "hosts.pcap")
    with open("first.csv", encoding="utf-8") as log:
        others = log.read().replace(",down/10.0.0.7,", ",down/10.0.0.107,")
    with open("others.csv", "w", encoding="utf-8") as log:
        log.write(others)
    again = replay("loss list others.csv", "again", 7, PERS[0], "hosts.pcap")
    lost = [[(row["packet"], row["detail"]) for row in run
             if row["reason"] == "loss" and row["cloud"] != "down/10.0.0.7"]
            for run in (rows, again)]
    assert lost[0] == lost[1] and any(row["cloud"] == "down/10.0.0.7" for row in again)
    assert not [row for row in again
                if row["cloud"] == "down/10.0.0.7" and row["reason"] == "loss"]


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
        a_templates_log_repeats_every_loss_in_each_of_its_clouds,
        what_a_template_lost_at_one_address_is_not_lost_at_another,
        the_same_packets_are_lost_under_another_seed,
        a_window_counts_from_the_first_packet_of_the_capture,
        a_list_that_is_wrong_is_said_with_its_place_and_nothing_is_written,
    )])
    os.chdir("/")
sys.exit(status)
