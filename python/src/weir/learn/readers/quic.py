# SPDX-License-Identifier: BSD-3-Clause
"""QUIC, captured at one end: the spin bit (RFC 9000, 17.4; RFC 9312, 3.8).

The client sends the opposite of the bit that it gets, the server the same: so the bit of either
direction turns once in a round trip. Nothing else of QUIC shows on the outside.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..estimate import Floats
from ..pairs import NothingToLearn
from .heads import SHORT, SPIN, Conversation, has, throughput
from .measured import Measured

TOO_SHORT, TOO_LONG = 0.5, 4.0  # of the median round trip
LEAST = 10


def read(conversation: Conversation) -> Measured:
    found = Measured("a capture of QUIC")
    found.notes.append(f"of its conversations, that of {conversation.name} tells most")
    turns = max((turns_of(rows) for rows in (conversation.data, conversation.answers)), key=len)
    if len(turns) <= LEAST:
        raise NothingToLearn(
            f"the spin bit of {conversation.name} turns {len(turns)} times: its ends do not use "
            "it, or send too little; take captures of both ends")
    trips = numpy.diff(turns)
    usual = float(numpy.median(trips))
    fine = (trips > TOO_SHORT * usual) & (trips < TOO_LONG * usual)
    found.at_ns, found.trip_ns = turns[:-1][fine] - turns[0], trips[fine]
    found.size = int(numpy.median(conversation.data["wire_bytes"]))
    data = conversation.data
    rates = throughput(data["t_ns"].astype(float), data["wire_bytes"].astype(float))
    if len(rates):
        found.notes.append(f"{float(numpy.median(rates)) / 1e6:.3g} Mbit/s passed, which may be "
                           "less than the path carries")
    if (~fine).any():
        found.notes.append(f"{int((~fine).sum())} turns of the spin bit are left out, because they "
                           "come out of order, or after a pause")
    found.notes.append("round trips have the time until each end sends again; losses do not show")
    return found


def turns_of(rows: Any) -> Floats:
    """Returns when the spin bit turned."""
    short = rows[has(rows, SHORT)]
    spin = has(short, SPIN)
    at = short["t_ns"] - rows["t_ns"][0]
    return numpy.asarray(at[1:][spin[1:] != spin[:-1]].astype(float))
