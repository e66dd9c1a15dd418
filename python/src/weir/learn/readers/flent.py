# SPDX-License-Identifier: BSD-3-Clause
"""The data file of flent (.flent, .flent.gz): pings, and throughput of downloads and uploads.

`results` are values at even steps, interpolated. The pings themselves are in `raw_values`, with
their numbers, so that losses show.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..pairs import NothingToLearn
from .measured import SECOND_NS, Measured, by_number, rate_of, times
from .ping import whole

CLOUDS = {"down": "download", "up": "upload"}


def read(data: Any) -> Measured | None:
    if not isinstance(data, dict) or "results" not in data or "x_values" not in data:
        return None
    found = Measured("flent")
    results = data["results"]
    name = next((key for key in results if key.startswith("Ping (ms)") and "avg" not in key), None)
    if name is not None:
        _pings(found, name, data)
    for cloud, word in CLOUDS.items():
        series = _load(results, word)
        rates = numpy.array([float(v) * 1e6 for v in series if v])
        if len(rates):
            found.rates[cloud] = rate_of(rates, f"values of {word}s")
    if name is None and not found.rates:
        raise NothingToLearn("flent has neither pings nor a throughput: its series are "
                             + ", ".join(results))
    if found.rates:
        found.notes.append("its pings ran beside a load: what they waited in the queue is part of "
                           "their delays")
    return found


def _pings(found: Measured, name: str, data: Any) -> None:
    raw = data.get("raw_values", {}).get(name)
    if raw and all("seq" in row and "val" in row for row in raw):
        numbers = whole([int(row["seq"]) for row in raw])
        found.trip_ns = by_number(numbers, [float(row["val"]) * 1e6 for row in raw])
        found.at_ns = times(by_number(numbers, [float(row["t"]) * SECOND_NS for row in raw]))
        return
    series = numpy.array([math.nan if v is None else float(v) * 1e6
                          for v in data["results"][name]])
    there = numpy.isfinite(series)
    at = numpy.array([float(x) * SECOND_NS for x in data["x_values"]])
    found.trip_ns, found.at_ns = series[there], times(at[there])
    found.notes.append("pings have no numbers in this file: nothing is known of losses")


def _load(results: Any, word: str) -> list[Any]:
    """Returns the throughput of one direction: the sum of its flows, or the only one."""
    named = {key: values for key, values in results.items()
             if word in key.lower() and "ping" not in key.lower()}
    total = next((values for key, values in named.items() if key.endswith(" sum")), None)
    if total is not None:
        return list(total)
    flows = [values for key, values in named.items() if not key.endswith(" avg")]
    return [sum(v for v in step if v) for step in zip(*flows)]
