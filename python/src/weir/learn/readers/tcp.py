# SPDX-License-Identifier: BSD-3-Clause
"""TCP, captured at one end.

At the sender, a packet has made its round trip when an acknowledgement covers it, selectively or
not; one that is sent again before that was lost. So packets have sizes and round trips, and the
queue in which they wait shows. At the receiver, a round trip lies between an acknowledgement and
the first packet that echoes its time stamp (RFC 7323); a packet that comes behind later ones, by
more than the path may overtake, was lost first.
"""

from __future__ import annotations

import bisect
import math
from typing import Any

import numpy

from ..estimate import Floats, Ints, share
from ..pairs import NEVER, Direction, NothingToLearn
from .heads import ACK, STAMPS, SYN, Conversation, has, throughput
from .measured import Measured, rate_of

MSS = 1448       # of Ethernet, with time stamps
OVERTAKES = 0.5  # of a round trip: what comes so much later was sent again


def read(conversation: Conversation) -> Measured:
    data, answers = conversation.data, conversation.answers
    found = Measured("a capture of TCP")
    sent = Sent(data, answers)
    echoes = round_trips(answers, data)
    near_sender = _near_sender(sent, echoes, data, answers)
    found.notes.append(f"of its conversations, that of {conversation.name} tells most: "
                       f"{len(data)} packets with data, captured at their "
                       f"{'sender' if near_sender else 'receiver'}")
    if near_sender:
        _at_sender(found, sent)
    else:
        _at_receiver(found, data, echoes)
    return found


def _near_sender(sent: Sent, echoes: tuple[Floats, Floats], data: Any, answers: Any) -> bool:
    """Returns whether the capture is nearer to the sender of the data: then acknowledgements take
    longer than what answers these."""
    there = sent.received != NEVER
    acked = float((sent.received - sent.at)[there].min()) if there.any() else math.inf
    echoed = float(echoes[1].min()) if len(echoes[1]) else math.inf
    if math.isinf(acked) and math.isinf(echoed):
        raise NothingToLearn("its packets are neither acknowledged, nor do they echo time stamps: "
                             "the capture has one direction only")
    if not math.isinf(acked) and not math.isinf(echoed):
        return acked >= echoed
    return not math.isinf(acked)


def _at_sender(found: Measured, sent: Sent) -> None:
    found.acked = sent.direction()
    found.acked_cloud = "up"
    if sent.early:
        found.notes.append(f"{sent.early} packets were sent again although they had arrived: not "
                           "lost")
    if sent.super_frames:
        found.notes.append(f"{sent.super_frames} super-frames were cut into packets, with one "
                           "stamp")
    found.notes.append("packets that one acknowledgement covers count as come evenly since the one "
                       "before it; round trips have what the receiver adds")


def _at_receiver(found: Measured, data: Any, echoes: tuple[Floats, Floats]) -> None:
    least = float(echoes[1].min()) if len(echoes[1]) else 0.0
    late, packets = lost(data, OVERTAKES * least)
    found.losses["down"] = share("probability", late, packets,
                                 f"{late} of {packets} packets were sent again")
    carried = data[data["payload"] > 0]
    rates = throughput(carried["t_ns"].astype(float), carried["wire_bytes"].astype(float))
    if len(rates):
        found.rates["down"] = rate_of(rates, "windows of 100 ms; the path carries at least that")
    found.notes.append("what was sent again was lost on the path, or in a full queue")
    if len(echoes[1]) == 0:
        found.notes.append("nothing is known of the delay, as there are no time stamps")
        return
    found.least_trip_ns = least
    low, high = numpy.quantile(echoes[1], [0.05, 0.95]) / 1e6
    found.notes.append(f"90 % of the round trips take {low:.3g} to {high:.3g} ms, with what they "
                       "wait in a queue and at the sender, so that only the least one counts")


def unwrapped(numbers: Any) -> Any:
    """Returns sequence numbers of 32 bits as numbers that go on, from the first one on."""
    if len(numbers) == 0:
        return numbers.astype(numpy.int64)
    steps = numpy.diff(numbers.astype(numpy.int64))
    steps = (steps + 2**31) % 2**32 - 2**31
    return numpy.concatenate([[0], numpy.cumsum(steps)])


def _near(numbers: Any, first: int, near: int) -> Ints:
    """Returns sequence numbers relative to the first one, as near to `near` as they can be."""
    far = numpy.asarray(numbers).astype(numpy.int64) - first - near
    return numpy.asarray((far + 2**31) % 2**32 - 2**31 + near)


class Sent:
    """Each packet with data: when it was sent, and when it was acknowledged."""

    def __init__(self, data: Any, answers: Any) -> None:
        data = data[(data["payload"] > 0) & (data["flags"] & SYN == 0)]
        self.early, self.super_frames = 0, 0
        self._at: list[int] = []
        self._size: list[int] = []
        self._received: list[int] = []
        self._by: list[int] = []          # which acknowledgement has covered it
        self._live: dict[int, int] = {}   # the packet that is on its way, by its first byte
        self._starts: list[int] = []      # of all bytes sent so far, in order
        self._acked = 0                   # how many of these are acknowledged in order
        self._seen: dict[int, int] = {}   # blocks of selective ones: from, to
        self._ack = 0                     # the acknowledgement at hand
        if len(data):
            self._run(data, answers[answers["flags"] & ACK > 0])
        self.at, self.received, self.size, by = (
            numpy.array(x, numpy.int64)
            for x in (self._at, self._received, self._size, self._by))
        if (self.received != NEVER).any():
            self._spread(by, answers["t_ns"][answers["flags"] & ACK > 0])

    def _spread(self, by: Ints, answered: Ints) -> None:
        """A receiver acknowledges every second packet, or more of them at once. They count as come
        evenly since the acknowledgement before, but for what the least round trip allows."""
        there = numpy.flatnonzero(self.received != NEVER)
        order = there[numpy.lexsort((there, by[there]))]
        group = by[order]
        first = numpy.flatnonzero(numpy.diff(group, prepend=-1))
        count = numpy.diff(first, append=len(order))
        place = numpy.arange(len(order)) - numpy.repeat(first, count) + 1
        size = numpy.repeat(count, count)
        end, begin = answered[group], answered[numpy.maximum(group - 1, 0)]
        even = begin + (end - begin) * place // size
        least = int((self.received - self.at)[there].min())
        self.received[order] = numpy.clip(even, numpy.minimum(self.at[order] + least, end), end)

    def _run(self, data: Any, answers: Any) -> None:
        usual = data["payload"][data["payload"] <= 1460]
        segment = int(usual.max()) if len(usual) else MSS
        first = int(data["sequence"][0])
        begins = unwrapped(data["sequence"]).tolist()
        acked = (unwrapped(answers["acked"]) + _near(answers["acked"][:1], first, 0).sum()).tolist()
        rows = sorted([(int(t), 0, i) for i, t in enumerate(data["t_ns"])]
                      + [(int(t), 1, i) for i, t in enumerate(answers["t_ns"])])
        for t, kind, i in rows:
            if kind == 0:
                self._send(t, begins[i], int(data["payload"][i]), int(data["wire_bytes"][i]),
                           segment)
                continue
            self._ack = i
            self._take(t, acked[i])
            for block in answers["blocks"][i][:answers["n_blocks"][i]]:
                begin, end = _near(block, first, acked[i]).tolist()
                self._take_block(t, begin, end, acked[i])

    def _send(self, t: int, begin: int, payload: int, wire: int, segment: int) -> None:
        head = wire - payload
        self.super_frames += payload > segment
        for at in range(begin, begin + payload, segment):
            size = min(segment, begin + payload - at)
            self._send_one(t, at, head + size)

    def _send_one(self, t: int, at: int, size: int) -> None:
        if self._starts and at <= self._starts[-1]:
            before = self._live.get(at)
            if before is None or self._received[before] != NEVER:
                self.early += before is not None
                return  # it has arrived already, or is part of another cut
        else:
            self._starts.append(at)
        self._live[at] = len(self._at)
        self._at.append(t)
        self._size.append(size)
        self._received.append(NEVER)
        self._by.append(-1)

    def _arrive(self, t: int, at: int) -> None:
        packet = self._live.get(at)
        if packet is not None and self._received[packet] == NEVER:
            self._received[packet] = t
            self._by[packet] = self._ack

    def _take(self, t: int, acked: int) -> None:
        while self._acked < len(self._starts) and self._starts[self._acked] < acked:
            self._arrive(t, self._starts[self._acked])
            self._acked += 1

    def _take_block(self, t: int, begin: int, end: int, acked: int) -> None:
        if end <= acked:  # it came twice (RFC 2883)
            return
        known = self._seen.get(begin, begin)
        for i in range(bisect.bisect_left(self._starts, known), len(self._starts)):
            if self._starts[i] >= end:
                break
            self._arrive(t, self._starts[i])
        self._seen[begin] = max(end, known)

    def direction(self) -> Direction:
        """Returns the packets up to the last one that arrived."""
        there = numpy.flatnonzero(self.received != NEVER)
        if len(there) < 2:
            raise NothingToLearn("fewer than two packets are acknowledged")
        cut = slice(0, int(there[-1]) + 1)
        received, n = self.received[cut], int(there[-1]) + 1
        rank = numpy.full(n, -1)
        rank[there[numpy.argsort(received[there], kind="stable")]] = numpy.arange(len(there))
        none = numpy.zeros(n, bool)
        return Direction(self.at[cut], received, self.size[cut], rank, none, none.copy(),
                         numpy.empty(0, numpy.int64), numpy.empty(0, numpy.int64))


def round_trips(stamped: Any, echoing: Any) -> tuple[Floats, Floats]:
    """Returns when packets were stamped, and how long it took until the other end echoed that. Of
    packets with one stamp the last counts, of its echoes the first."""
    stamped, echoing = stamped[has(stamped, STAMPS)], echoing[has(echoing, STAMPS)]
    if len(stamped) == 0 or len(echoing) == 0:
        return numpy.empty(0), numpy.empty(0)
    last = {int(stamp): int(t) for stamp, t in zip(stamped["stamp"], stamped["t_ns"])}
    at, trip, before = [], [], None
    for echo, t in zip(echoing["echo"].tolist(), echoing["t_ns"].tolist()):
        if echo != before and echo in last and t > last[echo]:
            at.append(float(last[echo]))
            trip.append(float(t - last.pop(echo)))
        before = echo
    begin = at[0] if at else 0.0
    return numpy.array(at) - begin, numpy.array(trip)


def lost(data: Any, overtake_ns: float) -> tuple[int, int]:
    """Returns how many packets came so long behind later ones that they were sent again, of how
    many."""
    data = data[(data["payload"] > 0) & (data["flags"] & SYN == 0)]
    begins = unwrapped(data["sequence"])
    ends = begins + data["payload"]
    high = numpy.maximum.accumulate(ends)
    behind = numpy.concatenate([[False], begins[1:] < high[:-1]])
    # What ends behind what was there has come twice, or fills a hole; when did that open?
    holes: list[tuple[int, int]] = []  # first byte behind, and when
    late, last = 0, 0
    opened: dict[int, int] = {}
    for i in range(len(data)):
        t, begin, end = int(data["t_ns"][i]), int(begins[i]), int(ends[i])
        if not behind[i]:
            if begin > last and i > 0:
                opened[last] = t
                holes.append((last, begin))
            last = max(last, end)
            continue
        hole = next((k for k, (low, up) in enumerate(holes) if low <= begin < up), None)
        if hole is None:
            continue
        low, up = holes.pop(hole)
        late += t - opened[low] >= overtake_ns
        since = opened.pop(low)
        for part in ((low, begin), (end, up)):
            if part[0] < part[1]:
                holes.append(part)
                opened[part[0]] = since
    return late, len(data)
