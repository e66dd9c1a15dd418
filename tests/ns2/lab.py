#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the lab beside the same runs of ns-2.35: loss, goodput, utilisation and mean queue, each
within 10 % or two standard errors of the difference, and the processor's time.

usage: lab.py WEIR [--full] [--seeds N]

Without --full: four points, three seeds, 200 s each. With it: flows 5 to 60, delays 10 to 250 ms, drop
tail, RED and ECN, other settings of RED than the papers', ten seeds, 500 s.
"""
import concurrent.futures
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

# experiment, case, what both are told, what only ns-2 is told, what only weir is told
RED = {"queue": "RED"}
ECN = {"queue": "RED", "ecn": 1}
QUICK = [
    ("droptail", "only", {"flows": 20, "delay": "40ms"}, {}, {}),
    ("becn-45", "plain", {"flows": 45, "delay": "40ms"}, RED, {}),
    ("becn-45", "ecn", {"flows": 45, "delay": "40ms"}, ECN, {}),
    ("becn-45", "plain", {"flows": 15, "delay": "100ms"}, RED, {}),
]
OTHER = ({"min": 5, "max": 30, "linterm": 50, "weight": 0.005},
         {"min": "5kB", "max": "30kB", "max-p": "0.02", "weight": "0.005"})


def points():
    if not FULL:
        return QUICK
    found = list(QUICK[:1])
    for flows in (5, 15, 30, 45, 60):
        for delay in ("10ms", "40ms", "100ms", "250ms"):
            both = {"flows": flows, "delay": delay}
            found.append(("becn-45", "plain", both, RED, {}))
            found.append(("becn-45", "ecn", both, ECN, {}))
    for flows in (15, 45):
        both = {"flows": flows, "delay": "40ms"}
        found.append(("becn-45", "plain", both, {**RED, **OTHER[0]}, OTHER[1]))
        found.append(("becn-45", "ecn", both, {**ECN, **OTHER[0]}, OTHER[1]))
    return found


def used():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def ns2_run(values, seed):
    words = [str(word) for pair in {**values, "seed": seed, "duration": DURATION,
                                    "warmup": WARMUP}.items() for word in pair]
    done = subprocess.run(["ns", os.path.join(HERE, "dumbbell.tcl"), *words], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def weir_runs(experiment, case, values):
    words = [word for item in values.items() for word in ("--set", f"{item[0]}={item[1]}")]
    done = subprocess.run([WEIR, "lab", "run", experiment, "-j", "--no-figures", "--case", case,
                           "--seeds", str(SEEDS), "--set", f"duration={DURATION}s",
                           "--set", f"warmup={WARMUP}s", *words],
                          capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    group = "plain" if experiment == "droptail" else "ours"
    return [{"loss": run["figures"]["bottleneck.loss"],
             "queue": run["figures"]["bottleneck.queue"],
             "utilisation": run["figures"]["bottleneck.utilisation"],
             "goodput": run["figures"][f"{group}.goodput"]}
            for run in json.loads(done.stdout)["runs"]]


def differ(ours, theirs):
    """Whether they do: by more than 10 % and by more than two standard errors."""
    mine, other = statistics.mean(ours), statistics.mean(theirs)
    error = math.sqrt(statistics.variance(ours) / len(ours) +
                      statistics.variance(theirs) / len(theirs))
    return abs(mine - other) > max(0.1 * abs(other), 2 * error)


def compare(point):
    experiment, case, both, only_ns2, only_weir = point
    before = used()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        theirs = list(pool.map(lambda seed: ns2_run({**both, **only_ns2}, seed),
                               range(1, SEEDS + 1)))
    between = used()
    ours = weir_runs(experiment, case, {**both, **only_weir})
    after = used()
    wrong = []
    name = f"{experiment} {case} " + " ".join(f"{k} {v}" for k, v in {**both, **only_weir}.items())
    for measure in MEASURES:
        mine, other = [run[measure] for run in ours], [run[measure] for run in theirs]
        text = f"{measure} {statistics.mean(mine):.4g}, ns-2 {statistics.mean(other):.4g}"
        print(f"# {name}: {text}")
        if differ(mine, other):
            wrong.append(text)
    print(f"# {name}: {after - between:.2f} s of processor, ns-2 {between - before:.2f} s",
          flush=True)
    assert not wrong, "; ".join(wrong)


def claims():
    for point in points():
        what = " ".join(f"{k} {v}" for k, v in {**point[2], **point[4]}.items())
        yield f"{point[0]} {point[1]}, {what}: as ns-2 has it", lambda point=point: check(point)


def check(point):
    if not shutil.which("ns"):
        raise tap.Skip("ns-2 is not installed: apt-get install ns2")
    compare(point)


def speed():
    """45 flows, 500 s, side by side, the best of three each."""
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
    sys.exit(tap.run(list(claims())))
