# SPDX-License-Identifier: BSD-3-Clause
"""The packets of two captures, as `weir learn --pairs` has paired them, by direction."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import Any

import numpy

from .asks import ask
from .estimate import Bools, Ints

NEVER = -2**63
NO_FLOW = 65535
BOTH, ONLY, COPY = range(3)
ROW = numpy.dtype([("t_ns", "<i8", 2), ("number", "<u4", 2), ("wire_bytes", "<u4"),
                   ("flow", "<u2", 2), ("ecn", "u1", 2), ("damaged", "u1"), ("kind", "u1"),
                   ("side", "u1"), ("fragment", "u1"), ("unused", "u1", 2)])


class NothingToLearn(Exception):
    """The measurement holds no path: the message says why, and what to do."""


@dataclasses.dataclass
class Direction:
    """The packets of one direction, in the order in which they were sent. `received_ns` is NEVER
    for lost ones; `rank` is the order of arrival. A copy is another arrival of the packet
    `copy_of`."""

    sent_ns: Ints
    received_ns: Ints
    size: Ints
    rank: Ints
    damaged: Bools
    marked: Bools
    copy_of: Ints
    copy_ns: Ints
    strangers: int = 0

    @property
    def lost(self) -> Bools:
        return numpy.asarray(self.received_ns == NEVER)

    @property
    def seconds(self) -> float:
        return float(self.sent_ns[-1] - self.sent_ns[0]) / 1e9 if len(self.sent_ns) else 0.0


@dataclasses.dataclass
class Pairs:
    """What two captures have in common. `facts` is what `weir learn --pairs` prints."""

    facts: dict[str, Any]
    forward: Direction | None
    back: Direction | None


def read(sent: str | os.PathLike[str], received: str | os.PathLike[str]) -> Pairs:
    """Pairs two captures. The first is the one of the sender of `forward`."""
    with tempfile.TemporaryDirectory(prefix="weir-learn-") as folder:
        table = os.path.join(folder, "pairs")
        facts = ask("pairs", table, sent=os.fspath(sent), received=os.fspath(received))
        rows = numpy.fromfile(table, ROW)
    _refuse(facts)
    forward = _orient(rows, facts["flows"])
    # A frame that is no packet any more, and that only one capture has, was damaged on its way.
    _refuse_joined(rows)
    ruined = (forward == -1) & (rows["kind"] == ONLY)
    forward[ruined] = rows["side"][ruined]
    return Pairs(facts, _direction(rows[forward == 1], 0), _direction(rows[forward == 0], 1))


def _refuse(facts: dict[str, Any]) -> None:
    """Raises if the captures have too little in common."""
    first, second = facts["captures"]
    for one in (first, second):
        if one["frames"] == 0:
            raise NothingToLearn(f"{one['path']} has no packets"
                                 + (f": {one['damage']}" if one["damage"] else ""))
    if facts["pairs"] == 0:
        raise NothingToLearn(
            f"no packet of {first['path']} is in {second['path']}: they are of different paths or "
            "of different times, or a tunnel between them encrypts")
    if facts["pairs"] < 100:
        raise NothingToLearn(f"only {facts['pairs']} packets are in both captures; 100 are the "
                             "least, 10,000 are good")


def _refuse_joined(rows: Any) -> None:
    """Raises if a host has captured packets before its NIC cut them, or after it joined them: then
    one capture has long frames where the other one has short ones."""
    paired = rows["kind"] == BOTH
    if not paired.any():
        return
    most = int(rows["wire_bytes"][paired].max())
    for side in (0, 1):
        alone = (rows["kind"] == ONLY) & (rows["side"] == side)
        long = alone & (rows["wire_bytes"] > max(most, 1518))
        other = (rows["kind"] == ONLY) & (rows["side"] == 1 - side)
        if long.sum() > 20 and other.sum() > long.sum():
            longest = int(rows["wire_bytes"][long].max())
            raise NothingToLearn(
                f"the {'second' if side else 'first'} capture has {int(long.sum())} frames of up "
                f"to {longest} bytes, which the other one has in parts: the host has captured "
                "before it cut, or after it joined packets; capture again after `ethtool -K "
                "INTERFACE tso off gso off gro off lro off`")


def _groups(flows: list[list[Any]]) -> tuple[Ints, list[tuple[str, str]]]:
    """Returns for each flow the number of its pair of addresses, and these."""
    names: dict[tuple[str, str], int] = {}
    numbers = [names.setdefault((flow[0], flow[1]), len(names)) for flow in flows]
    return numpy.array(numbers, numpy.int64), list(names)


def _orient(rows: Any, flows: list[list[Any]]) -> Any:
    """Returns for each row 1: it goes from the first capture to the second; 0: back; -1: unknown.

    Whatever the clocks say, the difference of both stamps is larger for packets that go forward:
    by the round trip. So of the two directions of a conversation, the one with the larger least
    difference goes forward. A single direction goes forward. Other hosts, whose packets never
    cross, are left out."""
    group_of, names = _groups(flows)
    group_of = numpy.append(group_of, numpy.full(NO_FLOW + 1 - len(group_of), -1))
    paired = rows[rows["kind"] == BOTH]
    difference = paired["t_ns"][:, 1] - paired["t_ns"][:, 0]
    groups = group_of[paired["flow"][:, 0]]
    least = {n: int(difference[groups == n].min()) for n in range(len(names))
             if (groups == n).any()}
    number_of = {name: n for n, name in enumerate(names)}
    back = [number_of.get((target, source), -1) for source, target in names]
    way = {n: int(back[n] not in least or least[n] > least[back[n]]) for n in least}
    # What never arrives belongs to the path only if what answers it does.
    for n, other in enumerate(back):
        if n not in way:
            way[n] = 1 - way[other] if other in least else -1
    of_group = numpy.array([way[n] for n in range(len(names))] + [-1], numpy.int64)
    first, second = of_group[groups], group_of[paired["flow"][:, 1]]
    # A flow that a NAT has renamed goes where its packets go.
    of_flow = of_group[group_of]
    of_flow[paired["flow"][:, 1][second >= 0]] = first[second >= 0]
    of_flow[paired["flow"][:, 0]] = first
    flow = numpy.where(rows["flow"][:, 0] != NO_FLOW, rows["flow"][:, 0], rows["flow"][:, 1])
    found = of_flow[flow]
    found[flow == NO_FLOW] = -1
    return found


def _direction(rows: Any, sender: int) -> Direction | None:
    """Makes a direction of its rows; `sender` is the capture at which packets enter."""
    receiver = 1 - sender
    kind, side = rows["kind"], rows["side"]
    there = (kind == BOTH) | ((side == sender) & (rows["flow"][:, sender] != NO_FLOW))
    own = rows[there]
    own = own[numpy.argsort(own["number"][:, sender], kind="stable")]
    arrived = own["kind"] == BOTH
    if arrived.sum() < 2:
        return None
    # Before the first and behind the last packet of both, one of the captures may not have run.
    first, last = numpy.flatnonzero(arrived)[[0, -1]]
    own = own[first:last + 1]
    arrived = own["kind"] == BOTH
    received = numpy.where(arrived, own["t_ns"][:, receiver], NEVER)
    bit = 1 << receiver
    damaged = arrived & (own["damaged"] & bit > 0) & (own["damaged"] & (1 << sender) == 0)
    ce = (own["ecn"][:, receiver] == 3) & (own["ecn"][:, sender] != 3) & arrived
    rank = numpy.where(arrived, own["number"][:, receiver].astype(numpy.int64), -1)
    copies = rows[(kind == COPY) & (side == receiver)]
    # Damage may make a packet look like another one.
    changed = copies["damaged"] & bit > 0
    copies, strayed = copies[~changed], copies[changed]
    at = numpy.searchsorted(own["number"][:, sender], copies["number"][:, sender])
    at = numpy.minimum(at, len(own) - 1)
    real = own["number"][at, sender] == copies["number"][:, sender]
    result = Direction(
        own["t_ns"][:, sender].astype(numpy.int64), received.astype(numpy.int64),
        own["wire_bytes"].astype(numpy.int64), rank, damaged, ce,
        at[real].astype(numpy.int64), copies["t_ns"][real, receiver].astype(numpy.int64))
    alien = rows[(kind == ONLY) & (side == receiver)]
    hidden = (alien["damaged"] & bit > 0) | (alien["flow"][:, receiver] == NO_FLOW)
    _adopt_damaged(result, numpy.concatenate([alien[hidden], strayed]), receiver)
    # One capture may have begun earlier, and ended later.
    meanwhile = numpy.clip(alien["number"][:, receiver], rank[arrived].min(), rank[arrived].max())
    result.strangers = int((~hidden & (alien["number"][:, receiver] == meanwhile)).sum())
    return result


def _adopt_damaged(direction: Direction, damaged: Any, receiver: int) -> None:
    """Gives packets whose damage hides what they are to those that seem lost: of the same length,
    and sent when a packet that arrives then would have been. If order is kept, it lies between
    those that arrived before and after it."""
    lost = numpy.flatnonzero(direction.lost)
    if len(damaged) == 0 or len(lost) == 0:
        return
    there = numpy.flatnonzero(~direction.lost)
    by_rank = there[numpy.argsort(direction.rank[there])]
    ranks = direction.rank[by_rank]
    free = direction.lost
    for row in damaged[numpy.argsort(damaged["number"][:, receiver])]:
        came, number = int(row["t_ns"][receiver]), int(row["number"][receiver])
        at = int(numpy.searchsorted(ranks, number))
        near = by_rank[max(at - 8, 0):at + 8]
        delay = int(numpy.median(direction.received_ns[near] - direction.sent_ns[near]))
        first, last = by_rank[max(at - 1, 0)], by_rank[min(at, len(by_rank) - 1)]
        for begin, end in ((first, last), (near.min(), near.max()), (0, len(free))):
            at_lost = numpy.searchsorted(lost, [begin, end])
            some = lost[at_lost[0]:at_lost[1]]
            fits = some[free[some] & (direction.size[some] == row["wire_bytes"])]
            if len(fits):
                best = fits[numpy.argmin(numpy.abs(direction.sent_ns[fits] + delay - came))]
                free[best] = False
                direction.received_ns[best] = came
                direction.rank[best] = number
                direction.damaged[best] = True
                break
