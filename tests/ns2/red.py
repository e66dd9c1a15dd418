#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the same arrivals in the RED queue of ns-2.35 and in weir's: the average at each
arrival, and the fate of the packet. weir gets the random numbers of ns-2's generator for the same
seed, which another run of ns-2 exports.

usage: red.py RED_DECIDE FULL_PRECISION_MODULE
"""
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

DECIDE, PRECISION = (os.path.abspath(path) for path in sys.argv[1:3])
ARRIVALS = 20000
SEED = 42

# unit, gentle, wait, adaptive, max-p, limit in packets
CASES = [
    ("byte", 0, 1, 0, 0.1, 90),     # the BECN papers' routers
    ("byte", 1, 1, 0, 0.1, 90),
    ("byte", 0, 0, 0, 0.1, 90),
    ("byte", 1, 0, 0, 0.02, 60),
    ("packet", 0, 1, 0, 0.1, 90),
    ("packet", 1, 0, 0, 0.1, 50),
    ("byte", 1, 1, 1, 0.1, 90),
    ("packet", 0, 0, 1, 0.02, 90),
]

DRAWS = """$defaultRNG seed {seed}
for {{set i 0}} {{$i < {n}}} {{incr i}} {{ puts [$defaultRNG uniform 0 1] }}
"""

# use_mark_p_ would drop capable packets above mark_p_, instead of forced drops above max.
QUEUE = """set ns [new Simulator]
$defaultRNG seed {seed}
Queue/RED set bytes_ {bytes}
Queue/RED set queue_in_bytes_ {bytes}
Queue/RED set use_mark_p_ false
Queue/RED set gentle_ {gentle}
Queue/RED set wait_ {wait}
Queue/RED set adaptive_ {adaptive}
Queue/RED set thresh_ 15
Queue/RED set maxthresh_ 45
Queue/RED set mean_pktsize_ 1000
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ {linterm}
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 10Mb 1ms RED
$ns queue-limit $a $b {limit}
set queue [[$ns link $a $b] queue]
set monitor [$ns monitor-queue $a $b ""]
set source [new Agent/UDP]
$source set packetSize_ 9000
set sink [new Agent/Null]
$ns attach-agent $a $source
$ns attach-agent $b $sink
$ns connect $source $sink
set arrivals [open {arrivals}]
proc next {{}} {{
	global arrivals size ns
	if {{[gets $arrivals line] < 0}} {{ exit 0 }}
	set size [lindex $line 1]
	$ns at [lindex $line 0] arrive
}}
proc arrive {{}} {{
	global queue monitor source size
	set before [$monitor set pdrops_]
	$source send $size x
	puts "[$queue set ave_] [$queue set cur_max_p_] [expr [$monitor set pdrops_] - $before]"
	next
}}
next
$ns run
"""


def ns2(script, **values):
    with open("script.tcl", "w", encoding="utf-8") as out:
        out.write(script.format(**values))
    done = subprocess.run(["ns", "script.tcl"], capture_output=True, text=True,
                          env=dict(os.environ, LD_PRELOAD=PRECISION))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def arrivals():
    """Returns instants in ns and sizes. The load varies around the rate, with bursts and pauses, so
    that the queue crosses each threshold in both directions, overflows, and is idle."""
    dice = random.Random(1)
    now, made = 0, []
    for i in range(ARRIVALS):
        size = dice.choice([40, 552, 1000, 1000, 1500, 1500, 1500])
        load = 1 + 0.4 * math.sin(i / 1500) + (2 if i % 2500 < 100 else 0)
        gap = dice.expovariate(1) * 1013 * 800 / load
        if dice.random() < 0.0005:
            gap += dice.uniform(0, 5e8)
        now += 1 + int(gap)
        made.append((now, size))
    return made


def compare(unit, gentle, wait, adaptive, max_p, limit, trace, draws):
    theirs = ns2(QUEUE, seed=SEED, bytes="true" if unit == "byte" else "false", gentle=gentle,
                 wait=wait, adaptive=adaptive, linterm=1 / max_p, limit=limit,
                 arrivals="arrivals")
    text = "".join(f"{now} {size} {u}\n" for (now, size), u in zip(trace, draws))
    done = subprocess.run([DECIDE, unit, str(gentle), str(wait), str(adaptive), str(max_p),
                           str(limit)], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ours = done.stdout.splitlines()
    assert len(ours) == len(theirs) == ARRIVALS, f"{len(ours)} lines, ns-2 has {len(theirs)}"
    worst, fates = 0, {"pass": 0, "early": 0, "forced": 0}
    for number, (our, their) in enumerate(zip(ours, theirs), 1):
        average, our_max_p, verdict = our.split()
        their_average, their_max_p, drops = their.split()
        fates[verdict] += 1
        worst = max(worst, abs(float(average) - float(their_average)) /
                    max(1, float(their_average)))
        assert worst < 1e-6, f"packet {number}: average {average}, ns-2 has {their_average}"
        assert abs(float(our_max_p) - float(their_max_p)) < 1e-9, \
            f"packet {number}: max-p {our_max_p}, ns-2 has {their_max_p}"
        assert (verdict != "pass") == (int(drops) > 0), \
            f"packet {number}: {verdict}, ns-2 dropped {drops}; average {average}"
    print(f"# {unit} gentle {gentle} wait {wait} adaptive {adaptive}: {fates}, "
          f"averages differ by at most {worst:.1e}")
    return fates


def averages_and_decisions_are_those_of_ns2():
    if not shutil.which("ns"):
        raise tap.Skip("ns-2 is not installed: apt-get install ns2")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        draws = ns2(DRAWS, seed=SEED, n=ARRIVALS)
        trace = arrivals()
        with open("arrivals", "w", encoding="utf-8") as out:
            out.writelines(f"{now / 1e9:.9f} {size}\n" for now, size in trace)
        total = {"pass": 0, "early": 0, "forced": 0}
        for case in CASES:
            for fate, count in compare(*case, trace, draws).items():
                total[fate] += count
        os.chdir("/")
    assert total["early"] > 1000 and total["forced"] > 1000, f"the load is too low: {total}"


if __name__ == "__main__":
    sys.exit(tap.run([(claim.__name__.replace("_", " "), claim)
                      for claim in (averages_and_decisions_are_those_of_ns2,)]))
