#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Paths that no statement of weir describes are refused, each with its reason, and others are not.

Three kinds are made here, because weir cannot make them: a policer that becomes stricter, a radio
cell whose loss follows its load, and a route that changes. Beside them stand scenarios of the
closed loop.

usage: refusals.py WEIR ROOT    $WEIR_LEARN_REFUSALS says how many of both, $WEIR_LEARN_FIRST
                               from which on
"""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
import learning  # noqa: E402

learning.need(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
import closed_loop  # noqa: E402
import numpy  # noqa: E402
from weir.learn import pairs, path  # noqa: E402

FEW = 3  # a kind each
PACKETS = 60_000
MS = 1e6


def sent(rng):
    """Traffic whose load varies."""
    gap = closed_loop.between(rng, 0.3, 1.5) * MS
    kind = rng.choice(["poisson", "on-off"])
    at = (closed_loop.traffic.poisson(rng, PACKETS, gap) if kind == "poisson" else
          closed_loop.traffic.on_off(rng, PACKETS, gap / 2, 300, 200 * gap))
    return at, closed_loop.traffic.sizes(rng, PACKETS)


def direction(at, size, delay_ns, lost):
    """What two captures would show."""
    came = numpy.maximum.accumulate(at + delay_ns.astype(numpy.int64))
    none = numpy.zeros(len(at), bool)
    rank = numpy.cumsum(~lost) - 1
    return pairs.Direction(at, numpy.where(lost, pairs.NEVER, came), size.astype(numpy.int64),
                           numpy.where(lost, -1, rank), none, none.copy(),
                           numpy.empty(0, numpy.int64), numpy.empty(0, numpy.int64))


def jitter(rng, n, base_ns):
    """A delay that keeps order: it jumps, and falls as time goes by."""
    return base_ns + rng.gamma(4, 0.05 * base_ns / 4, n)


def policer(rng):
    """A token bucket without a queue, whose rate falls to a part after some seconds of use."""
    at, size = sent(rng)
    seconds = (at[-1] - at[0]) / 1e9
    rate = float(size.sum()) / seconds * rng.uniform(0.95, 1.3)  # bytes a second
    depth, tokens, last = rate * 0.05, rate * 0.05, at[0]
    used, strict = 0.0, float(size.sum()) * rng.uniform(0.2, 0.5)
    lost = numpy.zeros(len(at), bool)
    for i, (t, length) in enumerate(zip(at, size)):
        now = rate * (0.7 if used > strict else 1.0)
        tokens = min(depth, tokens + (t - last) / 1e9 * now)
        last = t
        if tokens >= length:
            tokens -= length
        else:
            lost[i] = True
        used += length
    return direction(at, size, jitter(rng, len(at), rng.uniform(10, 60) * MS), lost), "loss"


def radio(rng):
    """Packets are lost the more often the more was sent in the last 100 ms."""
    at, size = sent(rng)
    summed = numpy.concatenate([[0.0], numpy.cumsum(size)])
    load = summed[:-1] - summed[numpy.searchsorted(at, at - 100 * MS)]
    p = numpy.clip(rng.uniform(0.01, 0.05) * (load / load.mean()) ** 2, 0, 0.5)
    return (direction(at, size, jitter(rng, len(at), rng.uniform(10, 60) * MS),
                      rng.random(len(at)) < p), "loss")


def route(rng):
    """The delay is another one from some instant on."""
    at, size = sent(rng)
    base = rng.uniform(10, 80) * MS
    step = base * rng.uniform(0.1, 0.5)
    since = at[0] + (at[-1] - at[0]) * rng.uniform(0.25, 0.75)
    delay = jitter(rng, len(at), base) + numpy.where(at > since, step, 0)
    return (direction(at, size, delay, rng.random(len(at)) < rng.choice([0, 0.005])),
            "path changes")


def strange(number):
    rng = numpy.random.default_rng(7000 + number)
    kind = (policer, radio, route)[number % 3]
    made, word = kind(rng)
    doubts = path.learn_ways({"down": made})[1]["down"].doubts
    return kind.__name__, any(word in doubt for doubt in doubts), doubts


def usual(number):
    learned, _ = closed_loop.Case(500 + number).learn()
    return closed_loop.Case(500 + number).lines, learned.doubts


def full_queue(rng):
    """A queue of 30 packets. A tenth of its sender's stamps are early or late by up to a packet."""
    packet_ns, left = 1.2 * MS, collections.deque([0.0])
    at = closed_loop.traffic.poisson(rng, PACKETS, packet_ns / 1.05).astype(float)
    out = numpy.zeros(PACKETS)
    for i, now in enumerate(at.tolist()):
        while left and left[0] <= now:
            left.popleft()
        if len(left) < 30:
            out[i] = max(left[-1] if left else 0.0, now) + packet_ns
            left.append(out[i])
    off = (rng.random(PACKETS) < 0.1) * rng.uniform(-1, 1, PACKETS) * packet_ns
    stamps = numpy.sort(at + off)
    return direction(stamps.astype(numpy.int64), numpy.full(PACKETS, 1514),
                     out - stamps + 20 * MS, out == 0)


def main():
    first, count = (int(os.environ.get(name, other)) for name, other in
                    (("WEIR_LEARN_FIRST", 0), ("WEIR_LEARN_REFUSALS", FEW)))
    with closed_loop.concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        strangers = list(pool.map(strange, range(first, first + count)))
        others = list(pool.map(usual, range(first, first + count)))

    def what_no_model_fits_is_refused_for_its_reason():
        wrong = [f"{i}: {kind}: {doubts}" for i, (kind, right, doubts) in enumerate(strangers)
                 if not right]
        print(f"# {count - len(wrong)} of {count}")
        assert len(wrong) <= 0.05 * count, "\n".join(wrong)

    def what_a_model_fits_is_not_refused():
        wrong = [f"{lines}: {doubts}" for lines, doubts in others if doubts]
        print(f"# {len(wrong)} of {count} refused")
        assert len(wrong) <= 0.05 * count, "\n".join(wrong)

    def a_stamp_that_is_off_by_a_packet_is_no_other_traffic():
        made = full_queue(numpy.random.default_rng(3))
        learned = path.learn_ways({"down": made}, "same")[1]["down"]
        assert learned.queue.limit is not None and not learned.doubts, learned.doubts

    return tap.run([(claim.__name__, claim) for claim in (
        what_no_model_fits_is_refused_for_its_reason, what_a_model_fits_is_not_refused,
        a_stamp_that_is_off_by_a_packet_is_no_other_traffic)])


if __name__ == "__main__":
    sys.exit(main())
