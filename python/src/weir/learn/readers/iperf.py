# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of iperf3 (`iperf3 -J`): throughput; of TCP the least round trip of its socket, of UDP
the share of lost datagrams.

The client is the host that has measured: what it sends is `up`, with -R `down`. A figure of the
receiver is preferred, because a sender fills its own socket first. UDP says what the path carries
only if it lost something.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..estimate import share
from ..pairs import NothingToLearn
from .measured import Measured, rate_of


def read(data: Any) -> Measured | None:
    if not isinstance(data, dict) or "intervals" not in data or "start" not in data:
        return None
    if data.get("error"):
        raise NothingToLearn(f"iperf3 has failed: {data['error']}")
    test = data["start"]["test_start"]
    found = Measured("iperf3")
    if any("bidir" in key for key in data["end"]):
        raise NothingToLearn("iperf3 --bidir has both directions in one file, which compete: "
                             "measure them one after the other, with and without -R")
    cloud = "down" if test.get("reverse") else "up"
    if test["protocol"] == "UDP":
        _udp(found, data, cloud)
    else:
        _tcp(found, data, cloud)
    return found


def _tcp(found: Measured, data: Any, cloud: str) -> None:
    rows = [row["sum"] for row in data["intervals"] if not row["sum"].get("omitted")]
    # In the first interval the window opens, and the sender fills its socket.
    rates = numpy.array([float(row["bits_per_second"]) for row in rows[1:] or rows])
    if len(rates) == 0:
        raise NothingToLearn("iperf3 has measured no interval")
    found.rates[cloud] = rate_of(rates, "intervals of iperf3, of one second if -i does not say "
                                        "otherwise")
    found.notes.append("the rate is that of the payload; headers need 3 % to 5 % more")
    trips = [stream["sender"].get("min_rtt", 0) for stream in data["end"]["streams"]]
    if any(trips):
        found.least_trip_ns = min(trip for trip in trips if trip) * 1e3
        found.notes.append("the round trip is the least smoothed one of its socket, which waits in "
                           "the queue that it fills: run ping before it for the path's own")
    else:
        found.notes.append("nothing is known of the delay: run ping before it")


def _udp(found: Measured, data: Any, cloud: str) -> None:
    total = data["end"].get("sum_received") or data["end"]["sum"]
    sent, lost = int(total["packets"]), int(total["lost_packets"])
    if sent == 0:
        raise NothingToLearn("iperf3 has sent no datagram")
    found.losses[cloud] = share("probability", lost, sent, f"{lost} of {sent} datagrams lost")
    found.notes.append(f"UDP of {float(data['end']['sum']['bits_per_second']) / 1e6:.4g} Mbit/s: "
                       "its losses are those of the path, or those of a full queue, which iperf3 "
                       "does not tell apart, and the path carries at least what arrived")
    found.notes.append("nothing is known of the delay: run ping before it")
