#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a synthetic trace of a cellular link while driving, in mahimahi's format.

The model is that of Sprout (K. Winstein et al., NSDI 2013, section 3.1): packet deliveries are a
Poisson process. Its rate is a Brownian motion between 0 and a maximum, which now and then stays at
0 (an outage). The rate starts at --mean, moves by --sigma packets a second per square root of a
second, and is drawn back to the mean. Outages last --outage ms on average, and come every --every
seconds on average. The same seed gives the same file on every machine, since the random numbers are
generated here and not by a library.

usage: lte-trace.py [--seconds 30] [--mean 700] [--sigma 200] [--outage 300] [--every 20] [--seed 1]
"""
import argparse
import math


class Chance:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        return ((mixed ^ (mixed >> 31)) >> 11) / 2**53

    def exponential(self, mean):
        return -mean * math.log(1 - self.uniform())

    def normal(self):
        return math.sqrt(-2 * math.log(1 - self.uniform())) * math.cos(2 * math.pi * self.uniform())


def opportunities(options):
    """Returns the time in ms of each packet that can be delivered."""
    chance = Chance(options.seed)
    rate, due, outage_until = options.mean, 0.0, 0.0
    next_outage = chance.exponential(options.every * 1000)
    for ms in range(1, options.seconds * 1000 + 1):
        step = options.sigma * math.sqrt(0.001) * chance.normal()
        rate += step + (options.mean - rate) * 0.001 / 5
        rate = min(max(rate, 0), 3 * options.mean)
        if ms >= next_outage:
            outage_until = ms + chance.exponential(options.outage)
            next_outage = outage_until + chance.exponential(options.every * 1000)
        due -= 0 if ms < outage_until else rate / 1000
        while due <= 0:
            yield ms
            due += chance.exponential(1)


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("seconds", 30), ("mean", 700), ("sigma", 200), ("outage", 300),
                        ("every", 20), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    print("# Made by weir's tools/lte-trace.py",
          *(f"--{name} {value}" for name, value in sorted(vars(options).items())))
    last = 0
    for ms in opportunities(options):
        print(ms)
        last = ms
    if last < options.seconds * 1000:
        print(options.seconds * 1000)


main()
