# SPDX-License-Identifier: BSD-3-Clause
"""Learns one direction of a path, in the order in which a packet meets its parts."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy

from . import clocks, doubts, order
from . import delay as delays
from . import link as links
from . import loss as losses
from . import queue as queues
from .estimate import Bools, Estimate, Floats, Z, wider
from .pairs import Direction

LEAST_PACKETS = 100
TURNS = 3  # of clocks and queue: each sees the other better
NEAR_FULL = 0.7
LEAST_USUAL = 30  # packets that tell of delays


@dataclasses.dataclass
class Learned:
    """One direction. `doubts` are reasons why the statements are not the path; `notes` are what a
    user should know about them."""

    direction: Direction
    loss: losses.Loss
    queue: queues.Queue
    copies: order.Copies | None
    corruption: Estimate | None
    reorder: order.Reorder | None
    delay: delays.Delay
    rest_ns: Floats
    rest_at_ns: Floats  # when that packet left the link
    usual: Bools        # which of these were not held back, and have no copy
    doubts: list[str]
    notes: list[str]

    def estimates(self) -> list[tuple[str, Estimate]]:
        """Returns all estimates, each with its statement."""
        found = [("loss", e) for e in self.loss.parameters]
        if self.copies is not None:
            found.append(("duplicate", self.copies.probability))
        if self.corruption is not None:
            found.append(("corrupt", self.corruption))
        found += [("rate", e) for e in (self.queue.rate, self.queue.burst, self.queue.limit) if e]
        found += [("delay", e) for e in (self.delay.delay, self.delay.jitter,
                                         self.delay.correlation, self.delay.half_life) if e]
        if self.reorder is not None:
            found += [("reorder", self.reorder.probability), ("reorder", self.reorder.by)]
        return found

    def json(self) -> dict[str, Any]:
        return {
            "packets": len(self.direction.sent_ns), "lost": int(self.direction.lost.sum()),
            "dropped_by_queue": int(self.queue.full.sum()),
            "rate_at_least": self.queue.at_least,
            "loss": {"model": self.loss.model, "bic": self.loss.bic,
                     "rate": self.loss.rate.json()},
            "delay": {"family": self.delay.family, "likelihood": self.delay.likelihood},
            "estimates": [{"statement": name, **e.json()} for name, e in self.estimates()],
            "doubts": self.doubts, "notes": self.notes}


def learn_ways(ways: dict[str, Direction], word: str = "guess", least: int = LEAST_PACKETS
               ) -> tuple[clocks.Clocks, dict[str, Learned]]:
    """Settles the clocks, and learns the directions `down` and `up`, as far as they have `least`
    packets. `word` is that of --clocks."""
    down, up = ways.get("down"), ways.get("up")
    settled = clocks.settle(down, up, word)
    long = {name: way for name, way in ways.items() if len(way.sent_ns) >= least}
    found = {name: queues.learn(way) for name, way in long.items()}
    for _ in range(TURNS if long and word != "same" else 0):
        rests = [_rest(way, found[name], name == "down") for name, way in long.items()]
        sure = clocks.remove_rest_drift(down, up, rests, settled)
        if sure or settled.skew is not None:  # the stamps are other ones now
            found = {name: queues.learn(way) for name, way in long.items()}
        if not sure:
            break
    return settled, {name: learn(way, found[name], settled.drift_error)
                     for name, way in long.items()}


def _rest(direction: Direction, queue: queues.Queue, forward: bool) -> clocks.Rest:
    """Returns the delays without the queue, as the clocks need them."""
    arrivals = links.arrivals_of(direction)
    own = ~arrivals.copy & ~direction.damaged[arrivals.index]
    at, rest = queue.departed_ns[own], arrivals.out_ns[own] - queue.departed_ns[own]
    per_rate = 0.0
    if queue.rate is not None:
        # A queue that is never empty: a wrong rate looks like a drift.
        error = (queue.rate.high - queue.rate.low) / (2 * Z * queue.rate.value)
        burst = queue.burst.value if queue.burst is not None else 0.0
        other = links.departures(arrivals.at_ns, arrivals.size, queue.rate.value * (1 + error),
                                 burst)[own]
        slope = clocks.slope_of(at, other - at)
        per_rate = abs(slope[0]) if slope is not None else 0.0
    return clocks.Rest(at, rest, forward, per_rate)


def learn(direction: Direction, queue: queues.Queue | None = None, drift_error: float = 0.0
          ) -> Learned:
    """`drift_error` is how uncertain the rate of one clock by the other is (Clocks)."""
    queue = queue or queues.learn(direction)
    arrivals = links.arrivals_of(direction)
    own = ~arrivals.copy & ~direction.damaged[arrivals.index]
    departed = queue.departed_ns[own]
    rest = arrivals.out_ns[own] - departed
    rank = direction.rank[arrivals.index[own]]
    reorder = order.reorder(rest, rank)
    # Of a packet and its copy, the one that arrives first counts as the packet: it is too early.
    usual = ~numpy.isin(arrivals.index[own], direction.copy_of)
    if usual.sum() < LEAST_USUAL:
        usual[:] = True
    if reorder is not None:
        usual &= ~reorder.late
    overtaken = int(order.overtaken(rank[usual]).sum())
    gap = numpy.diff(departed[usual], prepend=departed[usual][:1])
    delay = delays.learn(rest[usual], gap, overtaken)
    if queue.rate is not None:
        queue.rate = wider(queue.rate, drift_error * queue.rate.value)
    delay.delay = wider(delay.delay, math.hypot(drift_error * direction.seconds * 1e9 / 2,
                                                queue.sway_ns))
    random_loss = direction.lost & ~queue.full
    loss = losses.learn(random_loss, queue.unsure)
    learned = Learned(direction, loss, queue, order.copies(direction, queue, random_loss),
                      order.corruption(direction), reorder, delay, rest, departed, usual, [], [])
    _doubt(learned)
    _note(learned)
    return learned


def _doubt(learned: Learned) -> None:
    direction, queue, usual = learned.direction, learned.queue, learned.usual
    packet_ns = 8e9 * float(direction.size.max()) / queue.rate.value if queue.rate else 0.0
    by_route = doubts.delay_changes(learned.rest_ns[usual], learned.rest_at_ns[usual], packet_ns)
    found = [by_route] if by_route else []
    if learned.loss.model not in ("none", "every"):
        lost = direction.lost & ~queue.unsure
        # Where a queue is nearly full, little errors of its model decide about a loss.
        counts = ~queue.unsure
        if queue.limit is not None:
            counts &= queue.occupancy < NEAR_FULL * float(queue.occupancy[queue.full].mean())
        by_load = doubts.loss_follows(
            lost, learned.loss.predicted(lost, queue.unsure), counts,
            (direction.sent_ns - direction.sent_ns[0]).astype(float),
            direction.size.astype(float), queue.occupancy if queue.rate is not None else None)
        found += [why for why in (by_load, doubts.loss_changes(lost[~queue.unsure])) if why]
    if queue.limit is not None and queue.soft > 0.02:
        found.append(f"the queue lets in {100 * queue.soft:.0f} % of the packets for which it "
                     "seems full: others share it, or it is managed")
    learned.doubts.extend(found)


def _note(learned: Learned) -> None:
    direction = learned.direction
    say = learned.notes.append
    if direction.marked.any():
        say(f"{int(direction.marked.sum())} packets were marked (CE) on the way: a managed queue")
    if direction.strangers > 20:
        say(f"{direction.strangers} packets came that were not sent: of other paths, or made on "
            "the way")
