#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loads and runs every scenario in configs/: they must work unchanged. Scenarios in the
documentation are run by tests/docs/examples.py.

The capture is the bundled one: real Linux TCP between hosts a and b, in both directions.

usage: configs.py WEIR ROOT
"""
import filecmp
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CAPTURE = os.path.join(ROOT, "tests/replay/data/linux-tcp.pcap")
OUTPUTS = ("a.pcap", "b.pcap", "report.json")
REAL = ("no-buffer", "tx-full", "removed")
NS = {"ns": 1, "us": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9}


def replay(scenario, folder, *more):
    os.makedirs(folder, exist_ok=True)
    # Runs in the folder above configs/, to which the scenarios' file names are relative.
    done = subprocess.run(
        [WEIR, "replay", "-q", "-c", scenario, "--in", f"a,b={CAPTURE}", "--split",
         "mac=02:00:00:00:00:0a", "--out", f"a={folder}/a.pcap", "--out", f"b={folder}/b.pcap",
         "--report", f"{folder}/report.json",
         *[f"{folder}/{word}" if word.endswith(".csv") else word for word in more]],
        cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"weir replay: status {done.returncode}\n{done.stderr}"
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as report:
        return json.load(report)


def least_delay_ns(body, cloud):
    """Returns a delay that no packet of the cloud goes below: six standard deviations below the
    mean for normal jitter (2e-9 of the packets are below, and the capture has 13,442), the minimum
    for uniform jitter."""
    found = re.search(rf"^clouds? {cloud} delay (\d+)(ns|us|ms|s)(?: jitter (\d+)(ns|us|ms|s) "
                      r"distribution (\w+))?", body, re.M)
    delay = int(found[1]) * NS[found[2]]
    jitter = int(found[3]) * NS[found[4]] if found[3] else 0
    return delay - (6 if found[5] == "normal" else 1) * jitter


def claims_of(path, folder):
    name = os.path.relpath(path, os.path.join(ROOT, "configs"))
    with open(path, encoding="utf-8") as scenario:
        body = scenario.read()
    report = {}

    def is_accepted_by_check():
        done = subprocess.run([WEIR, "check", "-c", path], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
        assert "down" in done.stdout, "the effective scenario is not printed"

    def says_where_its_figures_come_from():
        assert "# Where the figures come from:" in body

    def says_what_it_is_not_if_it_is_measured():
        assert "# What it is not:" in body

    def names_its_ports_and_clouds_as_the_others_do():
        for line in ("port a", "port b", "cloud down from a to b", "cloud up from b to a"):
            assert re.search(rf"^{line}$", body, re.M), f"the line `{line}` is missing"

    def accounts_for_every_packet():
        report.update(replay(path, f"{folder}/{name}/1"))
        for cloud in report["clouds"]:
            came = cloud["rx_packets"] + cloud["duplicated"] + cloud["generated"]
            went = cloud["tx_packets"] + sum(cloud["drops"].values()) + cloud["held_packets"]
            assert came == went, f"{cloud['cloud']}: {came} came, {went} went"
            assert cloud["held_packets"] == 0, f"{cloud['cloud']}: a replay ends empty"
        # The other clouds get their packets from clouds.
        first = re.findall(r"^cloud (\S+) from [ab] to", body, re.M)
        assert sum(c["rx_packets"] for c in report["clouds"] if c["cloud"] in first) == 13442, \
            "the capture has 13,442 packets"

    def loses_nothing_that_it_was_not_asked_to_lose():
        for cloud in report["clouds"]:
            for reason in REAL:
                assert (cloud["drops"][reason]
                        == 0), f"{cloud['cloud']}: {cloud['drops'][reason]} {reason}"

    def delays_every_packet_by_what_it_says():
        # Clouds without packets are skipped: the capture has none from a household of the access
        # network.
        for cloud in (cloud for cloud in report["clouds"] if cloud["tx_packets"]):
            least = least_delay_ns(body, cloud["cloud"])
            assert cloud["delay_ns"]["min"] >= least, (
                f"{cloud['cloud']}: a packet took {cloud['delay_ns']['min']} ns, "
                f"the least is {least}")

    def gives_the_same_bytes_for_the_same_seed():
        replay(path, f"{folder}/{name}/2", "--log", "log.csv")
        replay(path, f"{folder}/{name}/2 again", "--log", "log.csv")
        for output in OUTPUTS + ("log.csv",):
            assert filecmp.cmp(f"{folder}/{name}/2/{output}", f"{folder}/{name}/2 again/{output}",
                               False), output
        for output in OUTPUTS:
            assert filecmp.cmp(f"{folder}/{name}/1/{output}", f"{folder}/{name}/2/{output}",
                               False), output

    def gives_the_same_bytes_whatever_the_burst():
        for burst in ("1", "7"):
            replay(path, f"{folder}/{name}/{burst}b", "--burst", burst)
            for output in OUTPUTS:
                assert filecmp.cmp(f"{folder}/{name}/1/{output}",
                                   f"{folder}/{name}/{burst}b/{output}",
                                   False), f"{output} with --burst {burst}"

    def gives_other_bytes_for_another_seed():
        if not re.search(
                r"^cloud .*\b(random|jitter|length|gilbert-elliott|four-state|bit-error|markov)\b",
                body, re.M):
            raise tap.Skip("there is no chance in this scenario")
        replay(path, f"{folder}/{name}/3", "--seed", "43")
        assert not filecmp.cmp(f"{folder}/{name}/1/b.pcap", f"{folder}/{name}/3/b.pcap", False)

    return [(f"{name}: {claim.__name__}", claim) for claim in (
        is_accepted_by_check, says_where_its_figures_come_from,
        *([says_what_it_is_not_if_it_is_measured] if "measured" in path else []),
        names_its_ports_and_clouds_as_the_others_do, accounts_for_every_packet,
        loses_nothing_that_it_was_not_asked_to_lose, delays_every_packet_by_what_it_says,
        gives_the_same_bytes_for_the_same_seed, gives_the_same_bytes_whatever_the_burst,
        gives_other_bytes_for_another_seed)]


with tempfile.TemporaryDirectory() as place:
    scenarios = sorted(glob.glob(os.path.join(ROOT, "configs", "*.weir"))
                       + glob.glob(os.path.join(ROOT, "configs", "measured", "*.weir")))
    sys.exit(tap.run([claim for path in scenarios for claim in claims_of(path, place)]))
