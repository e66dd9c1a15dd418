#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what observers cost the emulator: a weir runs at full speed between two null devices, in
turns with observers (`weir serve` is scraped each second, `weir top` draws twice a second, and a
client reads `events`) and without.

It measures the worker's processor time per packet, which other processes on the machine affect
little. Prints the medians over the turns, and their difference.

usage: looking.py WEIR [--turns 20] [--seconds 5] [SCENARIO...]   (delay-10ms, full)
"""

import argparse
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from urllib.request import urlopen

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "control"))
from conversation import Client  # noqa: E402

# Copied from src/control/bench/bench_scenarios.c.
SCENARIOS = {"delay-10ms": ["delay 10ms"],
             "full": ["delay 10ms jitter 1ms order allow", "loss random 1%",
                      "rate 400gbit algorithm token-bucket burst 100kB queue 10MB"]}


class Run:
    def __init__(self, weir, name, folder):
        self.socket = os.path.join(folder, "socket")
        path = os.path.join(folder, "looking.weir")
        with open(path, "w", encoding="ascii") as file:
            file.write("seed 1\nport a device net_null0\nport b device net_null1\n"
                       "cloud down from a to b\n")
            file.writelines(f"cloud down {line}\n" for line in SCENARIOS[name])
        self.process = subprocess.Popen([weir, "run", "-c", path, "-s", self.socket, "--",
                                         "--no-huge"], stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not os.path.exists(self.socket):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("looking.py: weir does not come up")
            time.sleep(0.1)
        time.sleep(3)
        self.client = Client(self.socket)
        self.client.say("json on")
        threads = os.listdir(f"/proc/{self.process.pid}/task")
        before = {thread: self.processor_ns(thread) for thread in threads}
        time.sleep(2)
        self.worker = max(threads, key=lambda thread: self.processor_ns(thread) - before[thread])

    def processor_ns(self, thread):
        with open(f"/proc/{self.process.pid}/task/{thread}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])

    def packets(self):
        return json.loads(self.client.say("show ports"))["ports"][0]["rx_packets"]

    def ns_each(self, seconds, every_second):
        packets, ns, end = self.packets(), self.processor_ns(self.worker), time.monotonic(
            ) + seconds
        while time.monotonic() < end:
            every_second()
            time.sleep(1)
        return (self.processor_ns(self.worker) - ns) / (self.packets() - packets)


class Lookers:
    """The observers: `weir serve`, `weir top` in a terminal of its own, and `weir ctl events`."""

    def __init__(self, weir, socket):
        here = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "text": True}
        self.serve = subprocess.Popen([weir, "serve", "-s", socket, "--listen", "127.0.0.1:0"],
                                      stdout=subprocess.PIPE, **here)
        self.events = subprocess.Popen([weir, "ctl", "-s", socket, "events"],
                                       stdout=subprocess.DEVNULL, **here)
        self.terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        self.top = subprocess.Popen([weir, "top", "-s", socket, "-i", "500ms"], stdin=inside,
                                    stdout=inside,
                                    stderr=inside, env={**os.environ, "TERM": "xterm-256color"})
        os.close(inside)
        self.url = self.serve.stdout.readline().split()[-1]
        self.drawn = 0

    def look(self):
        with urlopen(self.url + "metrics", timeout=60) as answer:
            assert b"weir_up 1\n" in answer.read()
        while select.select([self.terminal], [], [], 0)[0]:
            self.drawn += len(os.read(self.terminal, 65536))

    def end(self):
        assert self.drawn > 0 and self.top.poll() is None and self.events.poll() is None
        self.kill()

    def kill(self):
        for process in (self.serve, self.events, self.top):
            process.kill()
            process.wait()
        os.close(self.terminal)


def measure(weir, name, turns, seconds):
    folder, lookers = tempfile.mkdtemp(prefix="weir-looking-"), None
    run = Run(weir, name, folder)
    alone, looked_at = [], []
    try:
        for _ in range(turns):
            lookers = Lookers(weir, run.socket)
            time.sleep(0.5)
            looked_at.append(run.ns_each(seconds, lookers.look))
            lookers.end()
            lookers = None
            alone.append(run.ns_each(seconds, lambda: None))
    finally:
        if lookers:
            lookers.kill()
        run.process.send_signal(signal.SIGTERM)
        run.process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    differences = [a / b - 1 for a, b in zip(looked_at, alone)]
    print(f"{name}: {statistics.median(alone):.2f} ns a packet, looked at "
          f"{statistics.median(looked_at):.2f} ns: "
          f"{statistics.median(looked_at) / statistics.median(alone) - 1:+.2%} "
          f"of the medians, {statistics.median(differences):+.2%} the median of {turns} turns "
          f"(quartiles {statistics.quantiles(differences)[0]:+.2%}, "
          f"{statistics.quantiles(differences)[2]:+.2%})",
          flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.rpartition("usage: ")[2])
    parser.add_argument("weir")
    parser.add_argument("scenario", nargs="*", default=list(SCENARIOS))
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    for name in given.scenario:
        measure(os.path.abspath(given.weir), name, given.turns, given.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
