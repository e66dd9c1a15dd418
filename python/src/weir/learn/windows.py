# SPDX-License-Identifier: BSD-3-Clause
"""A path over time: what it delivered, its delay and its loss, window by window, as a csv for the
statement `trace` (docs/trace.md).

A window ends when a packet leaves the bottleneck: so no packet is cut, and none waits for a bit
that was rounded away. Where nothing leaves for longer than a window, that time is a window by
itself.

In a window in which packets waited, the rate is what arrived. In one in which none waited, it is
not known: the rate of the next window that knows it stands there, and at least what arrived. The
idea is that of mahimahi's saturator (K. Winstein, A. Sivaraman, H. Balakrishnan, "Stochastic
Forecasts Achieve High Throughput and Low Delay over Cellular Networks", NSDI 2013). Assumed: more
is sent than the link carries, all the time, and the least delay of all is that of no queue.
"""

from __future__ import annotations

import dataclasses
import math

import numpy

from .estimate import Bools, Floats, Ints
from .pairs import Direction

WAITED_SHARE = 0.5
BUSY, BUSY_LEAST = 0.99, 0.2


@dataclasses.dataclass
class Windows:
    begin_s: Floats
    rate_bps: Floats
    known: Bools  # whether packets waited there
    delay_ms: Floats
    loss: Floats


def learn(direction: Direction, window_ns: float, at_random: Bools | None = None) -> Windows:
    """Learns windows of at most a length. `at_random` marks losses that no queue has caused; None:
    all."""
    there = ~direction.lost
    at_random = direction.lost if at_random is None else at_random
    begin = direction.sent_ns[0]
    sent = (direction.sent_ns[there] - begin).astype(float)
    delay = (direction.received_ns[there] - begin).astype(float) - sent
    # Instants are those at the bottleneck: of arrival, less what follows behind it.
    order = numpy.argsort(sent + delay, kind="stable")
    sent, delay, size = sent[order], delay[order], direction.size[there][order].astype(float)
    left = sent + delay - float(delay.min())
    edges = _edges(left, window_ns)
    last = numpy.searchsorted(left, edges, side="right")
    last[0] = 0
    bits = numpy.concatenate([[0.0], numpy.cumsum(8 * size)])[last]
    # A packet waits if it comes while another one is still there.
    waits = numpy.concatenate([[False], sent[1:] < left[:-1]])
    waited = numpy.concatenate([[0], numpy.cumsum(waits)])[last]
    packets, busy = numpy.diff(last), _busy_share(sent, left, edges)
    known = numpy.where(packets > 0, numpy.diff(waited) >= WAITED_SHARE * packets, busy > BUSY)
    # A window that began with an empty queue has had less to send than it could have sent.
    rate = 1e9 * numpy.diff(bits) / numpy.diff(edges) / numpy.where(
        known, numpy.maximum(busy, BUSY_LEAST), 1.0)
    sent_all = (direction.sent_ns - begin).astype(float)
    of = numpy.histogram(sent_all, edges)[0]
    lost = numpy.histogram(sent_all[at_random], edges)[0]
    return Windows(edges[:-1] / 1e9, _filled(rate, known), known,
                   _propagation(delay, last, known) / 1e6, lost / numpy.maximum(of, 1))


def _edges(left: Floats, window_ns: float) -> Floats:
    """Returns where windows begin and end: each ends with the last packet that leaves before it is
    too long. If none does, the next one ends with the next packet."""
    edges = [0.0]
    while edges[-1] < left[-1]:
        here = edges[-1]
        i = int(numpy.searchsorted(left, here + window_ns, side="right"))
        if i > 0 and left[i - 1] > here:
            edges.append(float(left[i - 1]))
        else:
            edges += [float(left[i]) - window_ns, float(left[i])]
    return numpy.array(edges if len(edges) > 1 else [0.0, window_ns])


def _filled(rate: Floats, known: Bools) -> Floats:
    """Returns rates, where one that is not known is at least that of the next window that knows it;
    behind all of these, their mean."""
    filled = rate.copy()
    next_known = float(rate[known].mean()) if known.any() else 0.0
    for i in range(len(rate) - 1, -1, -1):
        if known[i]:
            next_known = float(rate[i])
        else:
            filled[i] = max(next_known, float(rate[i]))
    return filled


def _propagation(delay: Floats, last: Ints, known: Bools) -> Floats:
    """Returns the least delay of windows without a queue; in others, that of the one before, and at
    first the least of all. `last` has the packets of each."""
    found = numpy.full(len(known), float(delay.min()))
    for i in range(len(known)):
        inside = delay[last[i]:last[i + 1]]
        found[i] = float(inside.min()) if not known[i] and len(inside) >= 5 else found[i - (i > 0)]
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
        rows.append(f"{begin:.9f}, {math.ceil(rate) / 1e6:.6f}, {max(delay, 0):.6f}, "
                    f"{100 * loss:.4g}")
    return "\n".join(rows) + "\n"
