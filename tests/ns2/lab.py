#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares runs of the lab with the same runs of ns-2.35: loss, goodput, utilisation and mean
queue, each within 10 % or two standard errors of the difference, and processor time.

usage: lab.py WEIR [--full [--part K/N] [--cache FILE] [--table]] [--seeds N] | --speed

Without --full: five points, three seeds, 200 s each. With --full: flows 5 to 60, delays 10 to 250
ms, drop tail, RED and ECN, settings of RED that differ from the papers', some with little loss, ten
seeds, 500 s; the corners and the middle of the range come first.

A full run takes ns-2 half an hour of processor time. --cache FILE stores each finished run as a
line of JSON, and reuses the runs of this executable and this ns-2 script. An interrupted sweep
continues where it stopped, and parts may be run separately (--part 1/3: every third point) and
their files concatenated. --table prints the cached runs, and runs nothing.
"""
import concurrent.futures
import hashlib
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import tap  # noqa: E402

WEIR = os.path.abspath(sys.argv[1])
FULL = "--full" in sys.argv
SEEDS = int(sys.argv[sys.argv.index("--seeds") + 1]) if "--seeds" in sys.argv else 10 if FULL else 3
DURATION, WARMUP = (500, 100) if FULL else (200, 50)
MEASURES = ("loss", "goodput", "utilisation", "queue")

# experiment, case, settings of both, settings of ns-2 only, settings of weir only
RED = {"queue": "RED"}
ECN = {"queue": "RED", "ecn": 1}
OTHER = ({"min": 5, "max": 30, "linterm": 50, "weight": 0.005},
         {"min": "5kB", "max": "30kB", "max-p": "0.02", "weight": "0.005"})
# Little loss: it depends on whether an arrival or a departure at the same instant comes first.
LITTLE = [({"min": 8, "max": 24, "linterm": 1 / 0.15, "weight": 0.003},
           {"min": "8kB", "max": "24kB", "max-p": "0.15", "weight": "0.003"}),
          ({"min": 10, "max": 30}, {"min": "10kB", "max": "30kB"})]
QUICK = [
    ("droptail", "only", {"flows": 20, "delay": "40ms"}, {}, {}),
    ("becn-45", "plain", {"flows": 45, "delay": "40ms"}, RED, {}),
    ("becn-45", "ecn", {"flows": 45, "delay": "40ms"}, ECN, {}),
    ("becn-45", "plain", {"flows": 15, "delay": "100ms"}, RED, {}),
    ("becn-45", "ecn", {"flows": 17, "delay": "75ms"}, {**ECN, **LITTLE[0][0]}, LITTLE[0][1]),
]

FLOWS = (5, 15, 30, 45, 60)
DELAYS = ("10ms", "40ms", "100ms", "250ms")


def grid():
    """Returns the points: the corners of the range, its middle, and then the rest."""
    first = ([(flows, delay) for flows in FLOWS[::4] for delay in DELAYS[::3]]
             + [(30, "40ms"), (30, "100ms")])
    return first + [(flows, delay)
                    for flows in FLOWS for delay in DELAYS if (flows, delay) not in first]


def points():
    if not FULL:
        return QUICK
    found = []
    for flows, delay in grid():
        both = {"flows": flows, "delay": delay}
        found.append(("becn-45", "plain", both, RED, {}))
        found.append(("becn-45", "ecn", both, ECN, {}))
    other = []
    for flows in (15, 45):
        both = {"flows": flows, "delay": "40ms"}
        other.append(("becn-45", "plain", both, {**RED, **OTHER[0]}, OTHER[1]))
        other.append(("becn-45", "ecn", both, {**ECN, **OTHER[0]}, OTHER[1]))
    for delay in ("75ms", "100ms", "140ms"):
        for theirs, ours in LITTLE:
            both = {"flows": 17, "delay": delay}
            other.append(("becn-45", "plain", both, {**RED, **theirs}, ours))
            other.append(("becn-45", "ecn", both, {**ECN, **theirs}, ours))
    found[12:12] = QUICK[:1] + other
    part, parts = (int(word) for word in option("--part", "1/1").split("/"))
    return found[part - 1::parts]


# ---- finished runs ----

def option(name, otherwise):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


class Cache:
    """Finished runs, by the program, its settings and the seed."""

    def __init__(self, path):
        self.path, self.runs = path, {}
        self.makers = {"weir": digest(WEIR), "ns-2": digest(os.path.join(HERE, "dumbbell.tcl"))}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if line.endswith("\n"):  # otherwise it is incomplete
                        key, run = json.loads(line)
                        self.runs[key] = run

    def key(self, who, what, seed):
        return json.dumps([who, self.makers[who], what, seed, DURATION, WARMUP], sort_keys=True)

    def get(self, who, what, seed):
        return self.runs.get(self.key(who, what, seed))

    def put(self, who, what, seed, run):
        key = self.key(who, what, seed)
        self.runs[key] = run
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps([key, run]) + "\n")
        return run


CACHE = Cache(option("--cache", None))


def used():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def ns2_run(values, seed):
    there = CACHE.get("ns-2", values, seed)
    if there or "--table" in sys.argv:
        return there
    words = [str(word) for pair in {**values, "seed": seed, "duration": DURATION,
                                    "warmup": WARMUP}.items() for word in pair]
    done = subprocess.run(["ns", os.path.join(HERE, "dumbbell.tcl"), *words], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    return CACHE.put("ns-2", values, seed,
                     {name: float(value) for name, value in zip(words[::2], words[1::2])})


def weir_run(experiment, case, values, seed):
    there = CACHE.get("weir", [experiment, case, values], seed)
    if there or "--table" in sys.argv:
        return there
    words = [word for item in values.items() for word in ("--set", f"{item[0]}={item[1]}")]
    done = subprocess.run([WEIR, "lab", "run", experiment, "-j", "--no-figures", "--case", case,
                           "--seed", str(seed), "--seeds", "1", "--set", f"duration={DURATION}s",
                           "--set", f"warmup={WARMUP}s", *words],
                          capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    group = "plain" if experiment == "droptail" else "ours"
    figures = json.loads(done.stdout)["runs"][0]["figures"]
    return CACHE.put("weir", [experiment, case, values], seed,
                     {"loss": figures["bottleneck.loss"], "queue": figures["bottleneck.queue"],
                      "utilisation": figures["bottleneck.utilisation"],
                      "goodput": figures[f"{group}.goodput"]})


def two_errors(ours, theirs):
    return 2 * math.sqrt(statistics.variance(ours) / len(ours)
                         + statistics.variance(theirs) / len(theirs))


def differ(ours, theirs):
    """Returns true if the means differ by more than 10 % and by more than two standard errors."""
    mine, other = statistics.mean(ours), statistics.mean(theirs)
    return abs(mine - other) > max(0.1 * abs(other), two_errors(ours, theirs))


def name_of(point):
    return (f"{point[0]} {point[1]}, "
            + " ".join(f"{k} {v}" for k, v in {**point[2], **point[4]}.items()))


def run_both(point):
    experiment, case, both, only_ns2, only_weir = point
    with concurrent.futures.ThreadPoolExecutor(int(option("--jobs", os.cpu_count()))) as pool:
        theirs = list(pool.map(lambda seed: ns2_run({**both, **only_ns2}, seed),
                               range(1, SEEDS + 1)))
        ours = list(pool.map(lambda seed: weir_run(experiment, case, {**both, **only_weir}, seed),
                             range(1, SEEDS + 1)))
    return ours, theirs


def compare(point):
    ours, theirs = run_both(point)
    wrong = []
    for measure in MEASURES:
        mine, other = [run[measure] for run in ours], [run[measure] for run in theirs]
        text = f"{measure} {statistics.mean(mine):.4g}, ns-2 {statistics.mean(other):.4g}"
        print(f"# {name_of(point)}: {text}", flush=True)
        if differ(mine, other):
            wrong.append(text)
    assert not wrong, "; ".join(wrong)


def table():
    """Prints the points that both programs have run with every seed, as Markdown."""
    left = []
    print("| | " + " | ".join(f"{measure}: weir | ns-2 | apart" for measure in MEASURES) + " |")
    print("|---" * (1 + 3 * len(MEASURES)) + "|")
    for point in points():
        ours, theirs = run_both(point)
        if None in ours + theirs:
            left.append(name_of(point))
            continue
        cells = []
        for measure in MEASURES:
            mine, other = [run[measure] for run in ours], [run[measure] for run in theirs]
            a, b = statistics.mean(mine), statistics.mean(other)
            mark = "**" if differ(mine, other) else ""
            cells += [f"{a:.4g}", f"{b:.4g}", f"{mark}{100 * (a / b - 1) if b else 0:+.1f} %{mark}"]
        print(f"| {name_of(point)} | " + " | ".join(cells) + " |")
    print(f"\nNot run ({len(left)} of {len(points())}): " + "; ".join(left) if left
          else "\nEvery point was run.")


def claims():
    for point in points():
        yield f"{name_of(point)}: as ns-2 has it", lambda point=point: check(point)


def check(point):
    if not shutil.which("ns"):
        raise tap.Skip("ns-2 is not installed: apt-get install ns2")
    compare(point)


def speed():
    """Runs 45 flows for 500 s with both programs, and takes the best of three."""
    best = {"ns-2": math.inf, "weir": math.inf}
    for _ in range(3):
        for who, words in (
                ("ns-2", ["ns", os.path.join(HERE, "dumbbell.tcl"), "flows", "45", "queue", "RED"]),
                ("weir", [WEIR, "lab", "run", "A1", "--seeds", "1", "--jobs", "1"])):
            before, began = used(), time.monotonic()
            subprocess.run(words, capture_output=True, check=False)
            print(f"{who}: {used() - before:.2f} s of processor, {time.monotonic() - began:.2f} s")
            best[who] = min(best[who], used() - before)
    print(f"45 flows for 500 s: ns-2 takes {best['ns-2'] / best['weir']:.2f} times as long")


if __name__ == "__main__":
    if "--speed" in sys.argv:
        sys.exit(speed())
    if "--table" in sys.argv:
        sys.exit(table())
    sys.exit(tap.run(list(claims())))
