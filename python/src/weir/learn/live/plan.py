# SPDX-License-Identifier: BSD-3-Clause
"""Which packets a turn sends, and when.

- Sparse: small packets, at random instants, always. They show delay and loss without a queue.
- Trains: packets as fast as allowed, with pauses between trains. At what distance they arrive is
  the rate of the bottleneck.
- Bulk: half as much again as the bottleneck carries, with pauses in which the queue drains. It
  shows the limit of the queue, and the rate exactly.

The rate with headers is never above the one that both ends allow.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Iterator

SPARSE, TRAIN, BULK = range(3)
HEADERS = 42              # Ethernet, IPv4, UDP
SMALL, LARGE = 60, 1200   # bytes of payload: 1200 fit through any path
SPARSE_NS = 10 * 10**6    # between two, on average
TRAIN_PACKETS = 24
TRAIN_NS = 100 * 10**6    # from one train to the next
PULSE_NS = 10**9
PULSE_SHARE = 0.7         # of a pulse, something is sent
EXCESS = 1.5

Packet = tuple[int, int, int]  # when, in ns since the turn began; bytes of payload; which flow


def sparse(time_ns: int, seed: int) -> Iterator[Packet]:
    rng, at = random.Random(seed), 0.0
    while (at := at + rng.expovariate(1 / SPARSE_NS)) < time_ns:
        yield int(at), SMALL, SPARSE


def trains(time_ns: int, most_bps: int, late_ns: int) -> Iterator[Packet]:
    """`late_ns`: when the first train begins."""
    gap = (LARGE + HEADERS) * 8 * 10**9 // most_bps
    every = max(TRAIN_NS, 2 * TRAIN_PACKETS * gap)
    for begin in range(late_ns, time_ns - TRAIN_PACKETS * gap, every):
        for i in range(TRAIN_PACKETS):
            yield begin + i * gap, LARGE, TRAIN


def bulk(time_ns: int, bps: int) -> Iterator[Packet]:
    gap = (LARGE + HEADERS) * 8 * 10**9 // bps
    pulse = min(PULSE_NS, time_ns // 2)
    for begin in range(0, time_ns - pulse + 1, pulse):
        for at in range(begin, begin + int(PULSE_SHARE * pulse), gap):
            yield at, LARGE, BULK


def merged(*flows: Iterator[Packet]) -> Iterable[Packet]:
    return heapq.merge(*flows)
