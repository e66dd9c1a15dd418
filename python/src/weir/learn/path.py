# SPDX-License-Identifier: BSD-3-Clause
"""Learns one direction of a path, in the order in which a packet meets its parts."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy

from . import delay as delays
from . import doubts, order
from . import link as links
from . import loss as losses
from . import queue as queues
from .estimate import Estimate, Floats, wider
from .pairs import Direction

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


def learn(direction: Direction, drift_error: float = 0.0) -> Learned:
    """`drift_error` is how uncertain the rate of one clock by the other is (Clocks)."""
    queue = queues.learn(direction)
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
    delay.delay = wider(delay.delay, drift_error * direction.seconds * 1e9 / 2)
    random_loss = direction.lost & ~queue.full
    loss = losses.learn(random_loss, queue.unsure)
    learned = Learned(direction, loss, queue, order.copies(direction, queue, random_loss),
                      order.corruption(direction), reorder, delay, rest, departed, [], [])
    _doubt(learned, departed, usual)
    _note(learned)
    return learned


def _doubt(learned: Learned, departed: Floats, usual: Any) -> None:
    direction, queue = learned.direction, learned.queue
    met = ~queue.unsure
    lost = (direction.lost & met)[met]
    at = (direction.sent_ns[met] - direction.sent_ns[0]).astype(float)
    packet_ns = 8e9 * float(direction.size.max()) / queue.rate.value if queue.rate else 0.0
    by_route = doubts.delay_changes(learned.rest_ns[usual], departed[usual], packet_ns)
    found = [by_route] if by_route else []
    if learned.loss.model not in ("none", "every"):
        by_queue = (doubts.loss_follows_queue(lost, queue.occupancy[met])
                    if queue.rate is not None else None)
        by_load = doubts.loss_follows_load(lost, at, direction.size[met].astype(float))
        found += [why for why in (by_queue or by_load, doubts.loss_changes(lost)) if why]
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
