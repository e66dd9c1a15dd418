# SPDX-License-Identifier: BSD-3-Clause
"""The output of `owping -v` (one way, RFC 4656) and `twping -v` (both ways, RFC 5357).

A line for each packet; behind the packets of a session stands between which hosts it was. The first
session of owping leads away from the host that measures, the second one back.
"""

from __future__ import annotations

import math
import re

import numpy

from ..estimate import Floats
from ..pairs import Direction, NothingToLearn
from .measured import ETHERNET, SECOND_NS, UNITS_NS, Measured, by_number, probes, times

LOST = re.compile(r"^seq_no=(\d+)\s+\*LOST\*")
ONE_WAY = re.compile(r"^seq_no=(\d+)\s+delay=(\S+) (ns|us|ms|s)\b(.*)")
BOTH_WAYS = re.compile(r"^seq_no=(\d+)\s+fwd_delay=(\S+) (ns|us|ms|s) bck_delay=(\S+) "
                       r"(ns|us|ms|s) (.*)")
SESSION = re.compile(r"^--- (owping|twping) statistics from \[(.*?)\]:\S+ to \[(.*?)\]:")
SENT = re.compile(r"\bsent=([\d.]+)")
SIZE = ETHERNET + 20 + 8 + 14  # of a packet without padding
INTERVAL_NS = 0.1 * SECOND_NS  # of both tools, if -i does not say otherwise


class Session:
    """The packets of one session. `delays` has a value for each direction that the tool knows."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.delays: list[tuple[float, float]] = []
        self.at: list[float] = []
        self.synchronized = True
        self.short = False

    def take(self, line: str) -> None:
        lost, one, both = LOST.match(line), ONE_WAY.match(line), BOTH_WAYS.match(line)
        if lost:
            self._add(int(lost[1]), math.nan, math.nan, "")
        elif one:
            self._add(int(one[1]), float(one[2]) * UNITS_NS[one[3]], math.nan, one[4])
        elif both:
            self._add(int(both[1]), float(both[2]) * UNITS_NS[both[3]],
                      float(both[4]) * UNITS_NS[both[5]], both[6])

    def _add(self, number: int, there: float, back: float, rest: str) -> None:
        sent = SENT.search(rest)
        self.numbers.append(number)
        self.delays.append((there, back))
        self.at.append(float(sent[1]) * SECOND_NS if sent else math.nan)
        self.synchronized = self.synchronized and "unsync" not in rest
        self.short = self.short or (bool(rest) and not sent)

    def series(self, way: int) -> tuple[Floats, Floats]:
        """Returns when packets were sent, and their delays: 0 there, 1 back."""
        return (times(by_number(self.numbers, self.at), INTERVAL_NS),
                by_number(self.numbers, [delay[way] for delay in self.delays]))


def read(text: str) -> Measured | None:
    sessions, now, names = [], Session(), []
    for line in text.splitlines():
        now.take(line)
        end = SESSION.match(line)
        if end and now.numbers:
            sessions.append(now)
            names.append((end[1], end[2], end[3]))
            now = Session()
    if now.numbers:
        sessions.append(now)
    if not sessions:
        _refuse_summary(text)
        return None
    found = Measured("twping" if names and names[0][0] == "twping" else "owping", size=SIZE)
    if numpy.isfinite(sessions[0].series(1)[1]).any():
        found.tool = "twping"
        found.ways = {"up": _way(sessions[0], 0), "down": _way(sessions[0], 1)}
    elif len(sessions) > 1 and len(names) > 1 and names[0][1:] == names[1][:0:-1]:
        found.ways = {"up": _way(sessions[0], 0), "down": _way(sessions[1], 0)}
    else:
        found.one_way = True
        found.at_ns, found.trip_ns = sessions[0].series(0)
        if len(sessions) > 1:
            found.notes.append(f"the file has {len(sessions)} sessions; the first one counts")
    _note(found, sessions)
    return found


def _way(session: Session, way: int) -> Direction:
    at, delay = session.series(way)
    return probes(at, at + delay, SIZE)


def _note(found: Measured, sessions: list[Session]) -> None:
    if not all(session.synchronized for session in sessions):
        found.notes.append("its clocks were not synchronized: delays of one way are off by their "
                           "difference")
    if any(session.short for session in sessions):
        found.notes.append("delays have three digits; `-v -U` writes more, and when packets were "
                           "sent")


def _refuse_summary(text: str) -> None:
    if re.search(r"^--- (owping|twping) statistics", text, re.M):
        raise NothingToLearn("the file has only the summary of owping or twping: `-v` writes a "
                             "line for each packet")
