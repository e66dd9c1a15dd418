# SPDX-License-Identifier: BSD-3-Clause
"""Results of RIPE Atlas: pings and traceroutes, as a JSON array or an object a line.

Each result is of one probe and one target, which are another path each; the path with the most
answers counts. Of a traceroute the hop that is the target counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..pairs import NothingToLearn
from .measured import ETHERNET, SECOND_NS, Measured, times

Probe = tuple[float, float]  # when it was sent, and its round trip, in ns; NaN: lost
ICMP = 8


def read(data: Any) -> Measured | None:
    rows = data if isinstance(data, list) else [data]
    rows = [row for row in rows if isinstance(row, dict) and row.get("type") in READERS]
    if not rows:
        return None
    paths: dict[tuple[Any, Any, Any], list[dict[str, Any]]] = {}
    for row in rows:
        paths.setdefault((row.get("prb_id"), row.get("dst_addr"), row["type"]), []).append(row)
    key = max(paths, key=lambda key: len(paths[key]))
    chosen = sorted(paths[key], key=lambda row: float(row["timestamp"]))
    probes = [probe for row in chosen for probe in READERS[key[2]](row)]
    if not probes:
        raise NothingToLearn(f"no {key[2]} of RIPE Atlas has reached {key[1]}")
    at, trip = (numpy.array(column) for column in zip(*probes))
    found = Measured("RIPE Atlas", times(at), trip, size=_size(chosen[0]))
    if len(paths) > 1:
        found.notes.append(f"the file has {len(paths)} paths; this is the {key[2]} from probe "
                           f"{key[0]} to {key[1]}")
    return found


def _size(row: dict[str, Any]) -> int:
    header = 40 if row.get("af") == 6 else 20
    # Of a ping, the size is that of its data; of a traceroute, that of its packet without IP.
    return ETHERNET + header + int(row.get("size", 48)) + (ICMP if row["type"] == "ping" else 0)


def _ping(row: dict[str, Any]) -> list[Probe]:
    sent = float(row["timestamp"])
    found: list[Probe] = []
    for answer in row["result"]:
        if "dup" in answer or "error" in answer:  # the answer to a copy; nothing was sent
            continue
        found.append(((sent + len(found)) * SECOND_NS,
                      float(answer["rtt"]) * 1e6 if "rtt" in answer else math.nan))
    return found


def _traceroute(row: dict[str, Any]) -> list[Probe]:
    sent, target = float(row["timestamp"]), row.get("dst_addr")
    for hop in row["result"]:
        answers = [one for one in hop.get("result", []) if "late" not in one]
        if any(one.get("from") == target and "rtt" in one for one in answers):
            return [((sent + 0.001 * i) * SECOND_NS,
                     float(one["rtt"]) * 1e6 if one.get("from") == target and "rtt" in one
                     else math.nan) for i, one in enumerate(answers)]
    return []


READERS = {"ping": _ping, "traceroute": _traceroute}
