#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""RED on a capture of real TCP, through 3 Mbit/s: what a replay reports, and that it repeats it.

usage: red.py WEIR CAPTURE
"""
import csv
import filecmp
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, CAPTURE = (os.path.abspath(path) for path in sys.argv[1:3])
SCENARIO = """seed 42
port a
port b
cloud down from a to b
cloud down rate 3mbit queue 90kB
cloud down red min 15kB max 45kB max-p 0.1 weight 0.002 {more}
cloud down delay 40ms
cloud up from b to a
"""
VARIANTS = {"plain": "", "gentle": "gentle on", "packets": "unit packet wait off",
            "adaptive": "adaptive on gentle on"}


def replay(name, more, *options):
    with open(f"{name}.weir", "w", encoding="utf-8") as out:
        out.write(SCENARIO.format(more=more))
    done = subprocess.run([WEIR, "replay", "-q", "-c", f"{name}.weir", "--in", f"a,b={CAPTURE}",
                           "--split",
                           "mac=02:00:00:00:00:0a", "--out", f"a={name}.a.pcap",
                           "--out", f"b={name}.b.pcap",
                           "--report", f"{name}.json", "--log", f"{name}.csv", *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{name}.json", encoding="utf-8") as report:
        return json.load(report)["clouds"][0]


def the_log_and_the_report_agree_on_who_was_dropped_and_why():
    for name, more in VARIANTS.items():
        report = replay(name, more)
        reasons = {}
        with open(f"{name}.csv", encoding="utf-8", newline="") as log:
            for row in csv.DictReader(log):
                if row["cloud"] == "down" and row["fate"] == "dropped":
                    reasons[row["reason"]] = reasons.get(row["reason"], 0) + 1
        told = {reason: n for reason, n in report["drops"].items() if n}
        assert told == reasons, f"{name}: the report has {told}, the log {reasons}"
        assert reasons.get("red-early", 0) > 50, f"{name}: {reasons}"


def above_max_everything_is_dropped_unless_gentle():
    plain, gentle = replay("plain", ""), replay("gentle", "gentle on")
    assert plain["drops"]["red-forced"] > 500, plain["drops"]
    assert (gentle["drops"]["red-forced"] == 0
            and gentle["drops"]["red-early"] > 500), gentle["drops"]


def the_same_seed_gives_the_same_bytes_whatever_the_burst():
    for name, more in VARIANTS.items():
        replay("one", more, "--burst", "1")
        for burst in ("7", "32"):
            replay("other", more, "--burst", burst)
            for end in ("a.pcap", "b.pcap", "json"):
                assert filecmp.cmp(f"one.{end}", f"other.{end}",
                                   False), f"{name}: {end}, bursts of {burst}"


def another_seed_drops_others():
    replay("one", "gentle on")
    replay("other", "gentle on", "--seed", "43")
    assert not filecmp.cmp("one.b.pcap", "other.b.pcap", False)


def the_report_has_the_average_and_the_probability():
    queue = replay("gentle", "gentle on")["queue"]
    assert queue["average"] > 0 and set(queue["red"]) == {"probability", "max-p"}, queue
    assert abs(queue["red"]["max-p"] - 0.1) < 1e-12, queue


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    status = tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
        the_log_and_the_report_agree_on_who_was_dropped_and_why,
        above_max_everything_is_dropped_unless_gentle,
        the_same_seed_gives_the_same_bytes_whatever_the_burst,
        another_seed_drops_others,
        the_report_has_the_average_and_the_probability)])
    os.chdir("/")
sys.exit(status)
