#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Learned from one workload, right about others.

Each path is learned from one bulk flow of CUBIC, by kernel TCP between two namespaces, and a ping
beside it, 20 times a second: packets of one length do not tell a limit in bytes from one in
packets. Then Reno, BBR, two flows, page loads and a video of 2 Mbit/s cross the path and what was
learned of it, in turns. Throughput, the 95th percentile of delay, and loss may differ by 1.5 times
the spread of the path's own runs: their largest value less their least one. A spread counts as at
least 2 % of the figure, 0.5 ms, or 0.05 % of loss, which is what a kernel's timers vary by.

This takes minutes a path, so it runs only with $WEIR_LEARN_HELD_OUT: the numbers of paths, as
`0,3`, or `all`; from 100 on, a path is drawn at random. With `short`, it learns one path from a few
seconds, and judges nothing but that each workload crosses both. $WEIR_LEARN_SESSIONS has folders
with sessions of held_out_netem.sh: of the path in `real`, of what was learned of it in `ours`.
$WEIR_LEARN_KEEP is a folder in which the captures that paths were learned from stay.

usage: held_out.py WEIR ROOT
"""
import json
import math
import os
import random
import shutil
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
    (["rate 10mbit queue 60kB", "delay 20ms"], ["delay 20ms"]),
    (["loss 0.1%", "rate 8mbit queue 60kB", "delay 40ms"], ["delay 5ms"]),
    (["rate 6mbit queue 50kB algorithm token-bucket burst 30kB", "delay 15ms jitter 1ms"],
     ["delay 15ms"]),
    (["rate 4mbit queue 40pkt", "delay 30ms jitter 3ms distribution gamma"], ["delay 30ms"]),
    (["loss gilbert-elliott p 0.05% r 30%", "rate 10mbit queue 100kB", "delay 10ms"],
     ["delay 10ms"]),
    (["rate 5mbit queue 100kB", "delay 25ms jitter 5ms distribution normal"], ["delay 25ms"]),
    (["loss 0.5%", "rate 12mbit queue 80kB", "delay 15ms"], ["delay 15ms"]),
    (["rate 3mbit queue 30kB", "delay 50ms"], ["delay 10ms"]),
    (["loss 0.2%", "rate 6mbit queue 30pkt", "delay 20ms jitter 2ms distribution exponential"],
     ["delay 20ms"]),
    (["rate 8mbit queue 40kB algorithm token-bucket burst 60kB", "delay 30ms"], ["delay 30ms"]),
)
DRAWN = 100  # a path of this number or more is drawn at random, with its number as the seed


def drawn(number):
    """Returns a path of the kinds above, with parameters that nobody has chosen."""
    rng = random.Random(number)
    rate = round(math.exp(rng.uniform(math.log(3), math.log(12))), 2)
    wait_s = rng.uniform(0.04, 0.16)
    limit = (f"{rate * 1e6 * wait_s / 8 / 1000:.0f}kB" if rng.random() < 0.7 else
             f"{rate * 1e6 * wait_s / 8 / 1514:.0f}pkt")
    bucket = rng.choice(["", "", f" algorithm token-bucket burst {rng.randrange(15, 70)}kB"])
    loss = rng.choice([[], [f"loss {rng.uniform(0.05, 0.6):.2f}%"],
                       [f"loss gilbert-elliott p {rng.uniform(0.02, 0.1):.3f}% "
                        f"r {rng.uniform(20, 50):.0f}%"]])
    delay, jitter = rng.randrange(8, 50), rng.choice([0, rng.uniform(0.3, 5)])
    jitter = f" jitter {min(jitter, delay / 5):.1f}ms distribution " + rng.choice(
        ["normal", "uniform", "gamma", "exponential"]) if jitter else ""
    return ([*loss, f"rate {rate}mbit queue {limit}{bucket}", f"delay {delay}ms{jitter}"],
            [f"delay {rng.randrange(5, 30)}ms"])


def path_of(number):
    return drawn(number) if number >= DRAWN else PATHS[number]


LEARNED_S = float(os.environ.get("WEIR_LEARN_LEARNED_S", "60"))
SECONDS = float(os.environ.get("WEIR_LEARN_SECONDS", "6"))
RUNS = int(os.environ.get("WEIR_LEARN_RUNS", "5"))  # of the path; of what was learned, 2 fewer
KEEP = os.environ.get("WEIR_LEARN_KEEP")
OWN = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "workloads.py")]
WORKLOADS = {
    "reno": ["-C", "reno"], "bbr": ["-C", "bbr"], "two flows": ["-C", "cubic", "-P", "2"],
    "page": "page", "video": "video",
}
LEAST = numpy.array([0.02, 0.02, 0.0]), numpy.array([0.0, 0.5, 0.05])
MARGIN = 1.5


def interface(end):
    links = json.loads(end.run(["ip", "-j", "link"], check=True).stdout)
    return next(link["ifname"] for link in links if link["ifname"] != "lo")


def until(what):
    while True:
        try:
            if what():
                return
        except FileNotFoundError:
            pass
        time.sleep(0.02)


def listen(end, port):
    end.run(["sh", "-c", f"until ss -lnt | grep -q :{port}; do sleep 0.05; done"])


def send(path, work, seconds):
    """Lets a workload cross a path, from the server to the client."""
    server, client = path.server, path.client
    if work == "page":
        serves = server.popen([*OWN, "page-server", server.address, str(seconds + 60)])
        listen(server, 8090)
        client.run([*OWN, "page", server.address, str(seconds)], check=True)
        serves.terminate()
        serves.wait()
    elif work == "learn":
        pings = server.popen(["ping", "-q", "-i", "0.05", client.address])
        send(path, ["-C", "cubic"], seconds)
        pings.terminate()
        pings.wait()
    elif work == "video":
        server.run([*OWN, "video", client.address, str(seconds)], check=True)
    else:
        sink = client.popen(["iperf3", "-s", "-1"])
        listen(client, 5201)
        server.run(["iperf3", "-c", client.address, "-t", str(round(seconds)), *work], check=True)
        sink.wait()


def cross(folder, work, seconds, **how):
    """Lets a workload cross a path, and returns the captures of both ends."""
    with weir.Path(record=False, **how) as path:
        dumps, captures = [], []
        for name, end in (("sent", path.server), ("received", path.client)):
            link, said = interface(end), os.path.join(folder, name + ".said")
            end.run(["ethtool", "-K", link, "tso", "off", "gso", "off", "gro", "off"], check=True)
            captures.append(os.path.join(folder, name + ".pcap"))
            dumps.append(end.popen(["sh", "-c", f"exec tcpdump -i {link} -s 96 -U -B 16384 "
                                    f"--time-stamp-precision=nano -w {captures[-1]} 2>{said}"]))
            until(lambda: "listening" in open(said, encoding="utf-8").read())
        send(path, work, seconds)
        time.sleep(0.3)  # what is still on its way
        for dump in dumps:
            dump.terminate()
            dump.wait()
    return captures


def figures(one, begin_s=0, end_s=1e10):
    """Returns throughput, the 95th percentile of delay, and loss, of what was sent in a time."""
    here = (one.sent_ns >= begin_s * 1e9) & (one.sent_ns < end_s * 1e9)
    there = here & ~one.lost
    delay = (one.received_ns[there] - one.sent_ns[there]) / 1e6
    seconds = (one.received_ns[there].max() - one.sent_ns[here][0]) / 1e9
    return numpy.array([8 * one.size[there].sum() / seconds / 1e6, numpy.quantile(delay, 0.95),
                        100 * one.lost[here].mean()])


def crossed(folder, work, **how):
    return figures(pairs.read(*cross(folder, work, SECONDS, **how)).forward)


def learn(folder, down, up):
    """Learns a path of one bulk flow, and pings. Returns the scenario."""
    captures = cross(folder, "learn", LEARNED_S, down=down, up=up)
    learned = os.path.join(folder, "path.weir")
    said = subprocess.run([WEIR, "learn", "--sent", captures[0], "--received", captures[1], "-o",
                           learned, "--clocks", "same"], capture_output=True, text=True)
    with open(learned, encoding="utf-8") as file:
        text = file.read()
    print("\n".join(f"# {row}" for row in (said.stderr + text).splitlines()))
    return learned


def compare(folder, work, down, up, learned):
    """Returns the figures of the path's own runs, and of what was learned, in turns."""
    real, ours = [], []
    for run in range(RUNS):
        real.append(crossed(folder, work, down=down, up=up))
        if run < max(RUNS - 2, 1):
            ours.append(crossed(folder, work, scenario=learned))
    return numpy.array(real), numpy.array(ours)


def apart(name, real, ours):
    """Returns how far the figures are apart, in spreads of the path's own runs."""
    mean, other = real.mean(axis=0), ours.mean(axis=0)
    spread = numpy.maximum(real.max(axis=0) - real.min(axis=0),
                           numpy.maximum(LEAST[0] * mean, LEAST[1]))
    found = numpy.abs(other - mean) / spread
    print(f"# {name}: Mbit/s {mean[0]:.2f} and {other[0]:.2f}; p95 {mean[1]:.1f} and "
          f"{other[1]:.1f} ms; loss {mean[2]:.2f} and {other[2]:.2f} %; distance in spreads "
          f"{numpy.round(found, 2)}", flush=True)
    return found


def judge(number):
    down, up = path_of(number)
    with tempfile.TemporaryDirectory() as folder:
        learned = learn(folder, down, up)
        if KEEP:
            shutil.copytree(folder, os.path.join(KEEP, str(number)), dirs_exist_ok=True)
        return {name: apart(f"{number} {name}", *compare(folder, work, down, up, learned))
                for name, work in WORKLOADS.items() if not lacks(work)}


def lacks(work):
    """Returns whether this kernel does not have the congestion control of a workload."""
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as file:
        known = file.read().split()
    return isinstance(work, list) and work[1] not in known


def missing():
    """Says what a run needs and this machine does not have."""
    if os.geteuid() != 0:
        yield "needs root, to change offloads in namespaces"
    for name in ("iperf3", "tcpdump", "ethtool", "ss", "ping"):
        if not shutil.which(name):
            yield f"{name} is not installed"


def session(folder):
    """Returns the figures of each workload of a session of held_out_netem.sh, one row a run."""
    one = pairs.read(*(os.path.join(folder, f"{name}.pcap") for name in ("sent", "received")))
    found = {}
    with open(os.path.join(folder, "spans"), encoding="ascii") as spans:
        for span in map(json.loads, spans):
            found.setdefault(span["name"], []).append(
                figures(one.forward, span["begin"], span["end"]))
    return {name: numpy.array(rows) for name, rows in found.items()}


def judge_sessions(folder):
    """Compares the sessions `real` and `ours` of a folder."""
    real, ours = (session(os.path.join(folder, name)) for name in ("real", "ours"))
    return {name: apart(f"{os.path.basename(folder)} {name}", real[name], ours[name])
            for name in ours}


def main():
    global LEARNED_S, SECONDS, RUNS
    chosen = os.environ.get("WEIR_LEARN_HELD_OUT", "")

    def right(found):
        far = [name for name, distance in found.items() if (distance > MARGIN).any()]
        assert chosen == "short" or not far, far

    if folders := os.environ.get("WEIR_LEARN_SESSIONS", "").split():
        return tap.run([(folder, lambda folder=folder: right(judge_sessions(folder)))
                        for folder in folders])
    if not chosen:
        print("1..0 # SKIP it takes minutes a path: $WEIR_LEARN_HELD_OUT says which")
        return 0
    if chosen == "short":
        LEARNED_S, SECONDS, RUNS = 3, 1, 1
        for name in ("reno", "bbr", "two flows"):
            del WORKLOADS[name]
    for reason in missing():
        print(f"1..0 # SKIP {reason}")
        return 0
    numbers = {"all": range(len(PATHS)), "short": [0]}.get(chosen) or map(int, chosen.split(","))

    return tap.run([(" ".join(path_of(i)[0]), lambda i=i: right(judge(i))) for i in numbers])


sys.exit(main())
