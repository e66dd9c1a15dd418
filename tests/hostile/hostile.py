#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Replays captures that broke other programs, each through a scenario that uses everything, in both
directions.

weir either replays a capture and accounts for every packet, or refuses it with one line and status
2, and leaves no file. It never crashes, hangs, or triggers a sanitizer.

usage: hostile.py WEIR ROOT    the folder is $WEIR_HOSTILE, or ../shared/pcaps/hostile beside ROOT
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FOLDER = os.environ.get("WEIR_HOSTILE") or os.path.join(ROOT, "../shared/pcaps/hostile")
SECONDS = 300  # more means a hang: some captures take seconds under a sanitizer
SCENARIO = """seed 7
port a
port b
cloud down from a to b
cloud down hop 192.0.2.1 2001:db8::1 mtu 400 limit 1000000
cloud down loss every 10 burst 2
cloud down rate 10mbit algorithm token-bucket burst 15kB queue 90kB
cloud down delay 40ms jitter 5ms distribution normal order allow
cloud up from b to a
cloud up hop 192.0.2.1 2001:db8::1 mtu 600 through down
cloud up loss random 5%
cloud up rate 2mbit algorithm leaky-bucket queue 50pkt
cloud up delay 40ms jitter 5ms distribution uniform order keep
"""


def judge(path, scenario):
    """Returns what is wrong, or None."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [WEIR, "replay", "-q", "-c", scenario, "--in", f"a,b={path}", "--split", "first",
                 "--out", "a=a.pcap", "--out", "b=b.pcap", "--report", "report.json",
                 "--log", "log.csv"],
                cwd=folder, capture_output=True, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"is not done after {SECONDS} s"
        left = sorted(os.listdir(folder))
        if "Sanitizer" in done.stderr or "runtime error" in done.stderr:
            return done.stderr[:3000]
        if done.returncode == 0:
            if left != ["a.pcap", "b.pcap", "log.csv", "report.json"]:
                return f"left these files: {left}"
            with open(os.path.join(folder, "report.json"), encoding="utf-8") as report:
                for cloud in json.load(report)["clouds"]:
                    came = cloud["rx_packets"] + cloud["duplicated"] + cloud["generated"]
                    went = (cloud["tx_packets"] + sum(cloud["drops"].values())
                            + cloud["held_packets"])
                    if came != went:
                        return f"{cloud['cloud']}: {came} packets came, {went} went"
            return None
        if done.returncode != 2:
            return f"status {done.returncode}: {done.stderr[:3000]}"
        if left:
            return f"was refused, and left {left}"
        if len(done.stderr.splitlines()) != 1:
            return f"was refused with more than a line, or without one: {done.stderr[:3000]}"
        return None


def main():
    if not os.path.isdir(FOLDER):
        print("1..0 # SKIP there are no hostile captures here; $WEIR_HOSTILE names their folder")
        return 0
    names = sorted(os.listdir(FOLDER))
    with tempfile.TemporaryDirectory() as place:
        scenario = os.path.join(place, "scenario.weir")
        with open(scenario, "w", encoding="utf-8") as out:
            out.write(SCENARIO)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            verdicts = {name: pool.submit(judge, os.path.abspath(os.path.join(FOLDER, name)),
                                          scenario)
                        for name in names}

            def claim(name):
                wrong = verdicts[name].result()
                assert wrong is None, wrong

            return tap.run([(name, lambda name=name: claim(name)) for name in names])


sys.exit(main())
