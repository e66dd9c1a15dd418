#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Learned from one workload, right about others.

Each path is learned from one bulk flow of CUBIC, by kernel TCP between two namespaces. Other
workloads then cross the path and what was learned of it, several times each. Throughput, the 95th
percentile of delay and loss may differ by 1.5 times the spread of the path's own runs. This takes
minutes, so it runs only with $WEIR_LEARN_HELD_OUT, the number of paths.

usage: held_out.py WEIR ROOT
"""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
import learning  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
learning.need(WEIR, ROOT)
import numpy  # noqa: E402
import weir  # noqa: E402
from weir.learn import pairs  # noqa: E402

PATHS = (
    (["rate 20mbit queue 100kB", "delay 20ms"], ["delay 20ms"]),
    (["loss 0.1%", "rate 8mbit queue 60kB", "delay 40ms"], ["delay 5ms"]),
    (["rate 10mbit queue 80kB algorithm token-bucket burst 30kB", "delay 15ms jitter 1ms"],
     ["delay 15ms"]),
    (["rate 4mbit queue 40pkt", "delay 60ms jitter 3ms distribution gamma"], ["delay 60ms"]),
    (["loss gilbert-elliott p 0.05% r 30%", "rate 30mbit queue 250kB", "delay 10ms"],
     ["delay 10ms"]),
)
SECONDS = int(os.environ.get("WEIR_LEARN_SECONDS", "8"))
RUNS = int(os.environ.get("WEIR_LEARN_RUNS", "3"))
WORKLOADS = {
    "reno": ["-C", "reno"],
    "bbr": ["-C", "bbr"],
    "two flows": ["-C", "cubic", "-P", "2"],
    "video": ["-u", "-b", "2M", "-l", "1200"],
}


def interface(end):
    links = json.loads(end.run(["ip", "-j", "link"], check=True).stdout)
    return next(link["ifname"] for link in links if link["ifname"] != "lo")


def cross(folder, words, **how):
    """Sends with iperf3 from the server to the client, and captures at both ends."""
    with weir.Path(record=False, **how) as path:
        captures = {}
        for end in (path.server, path.client):
            end.run(["ethtool", "-K", interface(end), "tso", "off", "gso", "off", "gro", "off"],
                    check=True)
        for name, end in (("sent", path.server), ("received", path.client)):
            captures[name] = os.path.join(folder, name + ".pcap")
            said = os.path.join(folder, name + ".said")
            dump = end.popen(["sh", "-c", f"exec tcpdump -i {interface(end)} -s 96 -U -B 16384 "
                              f"--time-stamp-precision=nano -w {captures[name]} 2>{said}"])
            until(lambda: "listening" in open(said, encoding="utf-8").read())
            captures[name + " dump"] = dump
        sink = path.client.popen(["iperf3", "-s", "-1"])
        path.client.run(["sh", "-c", "until ss -lnt | grep -q :5201; do sleep 0.05; done"])
        path.server.run(["iperf3", "-c", path.client.address, "-t", str(SECONDS), *words],
                        check=True)
        sink.wait()
        for name in ("sent", "received"):
            captures[name + " dump"].terminate()
            captures[name + " dump"].wait()
    return captures["sent"], captures["received"]


def until(what):
    while True:
        try:
            if what():
                return
        except FileNotFoundError:
            pass
        time.sleep(0.02)


def figures(sent, received):
    """Returns throughput, the 95th percentile of delay, and loss, of what was sent."""
    one = pairs.read(sent, received).forward
    there = ~one.lost
    delay = (one.received_ns[there] - one.sent_ns[there]) / 1e6
    seconds = (one.received_ns[there].max() - one.sent_ns[0]) / 1e9
    return numpy.array([8 * one.size[there].sum() / seconds / 1e6, numpy.quantile(delay, 0.95),
                        100 * one.lost.mean()])


def judge(number):
    down, up = PATHS[number]
    with tempfile.TemporaryDirectory() as folder:
        sent, received = cross(folder, ["-C", "cubic"], down=down, up=up)
        learned = os.path.join(folder, "path.weir")
        said = subprocess.run([WEIR, "learn", "--sent", sent, "--received", received, "-o", learned,
                               "--clocks", "same"], capture_output=True, text=True)
        with open(learned, encoding="utf-8") as file:
            text = file.read()
        print("\n".join(f"# {row}" for row in (said.stdout + text).splitlines()))
        rows = []
        for name, words in WORKLOADS.items():
            real = numpy.array([figures(*cross(folder, words, down=down, up=up))
                                for _ in range(RUNS)])
            ours = numpy.array([figures(*cross(folder, words, scenario=learned))
                                for _ in range(max(RUNS // 2, 1))])
            spread = numpy.maximum(real.max(axis=0) - real.min(axis=0),
                                   [0.02 * real[0, 0], 0.02 * real[0, 1], 0.05])
            apart = numpy.abs(ours.mean(axis=0) - real.mean(axis=0)) / spread
            rows.append((name, apart))
            print(f"# {name}: Mbit/s {real.mean(axis=0)[0]:.2f} and {ours.mean(axis=0)[0]:.2f}; "
                  f"p95 {real.mean(axis=0)[1]:.1f} and {ours.mean(axis=0)[1]:.1f} ms; loss "
                  f"{real.mean(axis=0)[2]:.2f} and {ours.mean(axis=0)[2]:.2f} %; distance in "
                  f"spreads {numpy.round(apart, 2)}", flush=True)
        return rows


def main():
    count = int(os.environ.get("WEIR_LEARN_HELD_OUT", "0"))
    if count == 0:
        print("1..0 # SKIP it takes minutes: $WEIR_LEARN_HELD_OUT says for how many paths")
        return 0

    def claim(number):
        far = [name for name, apart in judge(number) if (apart > 1.5).any()]
        assert not far, far

    return tap.run([(" ".join(PATHS[i][0]), lambda i=i: claim(i))
                    for i in range(min(count, len(PATHS)))])


sys.exit(main())
