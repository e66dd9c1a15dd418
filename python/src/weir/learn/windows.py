# SPDX-License-Identifier: BSD-3-Clause
"""A path over time: what it delivered, its delay and its loss, window by window, as a csv for the
statement `trace` (docs/trace.md).

In a window in which packets waited, the rate is what arrived. In one in which none waited, it is
not known: the rate of the next window that knows it stands there, and at least what arrived. The
idea is that of mahimahi's saturator (K. Winstein, A. Sivaraman, H. Balakrishnan, "Stochastic
Forecasts Achieve High Throughput and Low Delay over Cellular Networks", NSDI 2013). Assumed: more
is sent than the link carries, all the time, and the least delay of all is that of no queue.
"""

from __future__ import annotations

import dataclasses

import numpy

from .estimate import Bools, Floats
from .pairs import Direction

WAITED_SHARE = 0.5


@dataclasses.dataclass
class Windows:
    begin_s: Floats
    rate_bps: Floats
    known: Bools  # whether packets waited there
    delay_ms: Floats
    loss: Floats


def learn(direction: Direction, window_ns: float, at_random: Bools | None = None) -> Windows:
    """`at_random` marks losses that no queue has caused; None: all."""
    there = ~direction.lost
    at_random = direction.lost if at_random is None else at_random
    begin = direction.sent_ns[0]
    sent = (direction.sent_ns[there] - begin).astype(float)
    came = (direction.received_ns[there] - begin).astype(float)
    size = direction.size[there].astype(float)
    delay = came - sent
    least = float(delay.min())
    # Instants are those at the bottleneck: of arrival, less what follows behind it.
    left = came - least
    n = max(int(numpy.ceil(left.max() / window_ns)), 1)
    bins = numpy.arange(n + 1) * window_ns
    arrived = numpy.histogram(left, bins, weights=size)[0]
    # A packet waits if it comes while another one is still there.
    order = numpy.argsort(left, kind="stable")
    waits = numpy.zeros(len(left), bool)
    waits[order[1:]] = sent[order[1:]] < left[order[:-1]]
    packets = numpy.histogram(left, bins)[0]
    waited = numpy.histogram(left[waits], bins)[0]
    rate = arrived * 8e9 / window_ns
    # A window that began with an empty queue has had less to send than it could have sent.
    known = waited >= WAITED_SHARE * numpy.maximum(packets, 1)
    busy = _busy_share(sent[order], left[order], bins)
    known |= (packets == 0) & (busy > 0.99)
    rate = numpy.where(known & (busy > 0.2), rate / numpy.maximum(busy, 0.2), rate)
    sent_all = (direction.sent_ns - begin).astype(float)
    of = numpy.histogram(sent_all, bins)[0]
    lost = numpy.histogram(sent_all[at_random], bins)[0]
    if known.any():
        last = float(rate[known].mean())
        for i in range(n - 1, -1, -1):
            if known[i]:
                last = float(rate[i])
            else:
                rate[i] = max(last, float(rate[i]))
    return Windows(bins[:-1] / 1e9, rate, known,
                   _propagation(delay, sent, bins, known) / 1e6, lost / numpy.maximum(of, 1))


def _propagation(delay: Floats, sent: Floats, bins: Floats, known: Bools) -> Floats:
    """Returns the least delay of windows without a queue; in others, that of the one before, and at
    first the least of all."""
    found = numpy.full(len(known), float(delay.min()))
    edges = numpy.searchsorted(sent, bins)
    last = found[0]
    for i in range(len(known)):
        inside = delay[edges[i]:edges[i + 1]]
        if not known[i] and len(inside) >= 5:
            last = float(inside.min())
        found[i] = last
    return found


def _busy_share(sent: Floats, left: Floats, bins: Floats) -> Floats:
    """Returns for which share of each window a packet was at the bottleneck."""
    begin = numpy.maximum(sent, numpy.concatenate([[-1.0], numpy.maximum.accumulate(left)[:-1]]))
    end = numpy.maximum(left, begin)
    # The busy time up to an instant, at the edges of windows.
    total = numpy.concatenate([[0.0], numpy.cumsum(end - begin)])
    at = numpy.searchsorted(end, bins)
    done = total[at] + numpy.clip(bins - begin[numpy.minimum(at, len(begin) - 1)], 0, None) * (
        at < len(begin))
    return numpy.asarray(numpy.diff(done) / numpy.diff(bins))


def csv(windows: Windows) -> str:
    """Returns the text of the file. A rate of 0 stops the link for that window."""
    rows = ["time_s, rate_mbit, delay_ms, loss_%"]
    for begin, rate, delay, loss in zip(windows.begin_s, windows.rate_bps, windows.delay_ms,
                                        windows.loss):
        rows.append(f"{begin:.6g}, {round(rate) / 1e6:.6f}, {max(delay, 0):.6f}, "
                    f"{100 * loss:.4g}")
    return "\n".join(rows) + "\n"
