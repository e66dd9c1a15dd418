# SPDX-License-Identifier: BSD-3-Clause
"""What other tools have measured, as round trips: ping, owping, irtt, flent, RIPE Atlas, a CSV; and
as throughput: iperf3, flent.

A round trip does not tell its halves. The scenario has half of the least one in each direction, and
all that varies, and all losses, in the direction down.
"""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy

from .estimate import Estimate, Floats
from .pairs import NEVER, Direction, NothingToLearn

SECOND_NS = 1e9
PROBE_BYTES = 98
LEAST = 10


@dataclasses.dataclass
class Measured:
    """`trip_ns` has NaN for lost probes. `one_way`: the delays are those of one direction. `rate`
    is the throughput that the tool has seen, if it has measured it."""

    tool: str
    at_ns: Floats
    trip_ns: Floats
    one_way: bool = False
    size: int = PROBE_BYTES
    rate: Estimate | None = None
    notes: list[str] = dataclasses.field(default_factory=list)


def read(path: str) -> Measured:
    """Recognizes a file by what it has."""
    with open(path, "rb") as file:
        raw = file.read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    text = raw.decode("utf-8", errors="replace")
    if text.lstrip()[:1] in ("{", "["):
        found = _json(path, text)
    else:
        found = _ping(text) or _owping(text) or _csv(text)
    if found is None:
        raise NothingToLearn(f"{path} is no output of ping, owping, irtt, iperf3, flent or RIPE "
                             "Atlas, and no CSV with a column `rtt` or `delay`; captures are given "
                             "by --sent and --received")
    if len(found.trip_ns) and numpy.isfinite(found.trip_ns).sum() < LEAST:
        raise NothingToLearn(f"{path} has {int(numpy.isfinite(found.trip_ns).sum())} answers; "
                             f"{LEAST} are the least, 1,000 are good")
    return found


# ---- text ----

_PING = re.compile(r"(?:^\[(?P<at>[\d.]+)\] )?.*icmp_seq=(?P<seq>\d+).* time=(?P<ms>[\d.]+) ?ms",
                   re.M)
_SIZE = re.compile(r"^PING .* (\d+)\((\d+)\) bytes of data|^PING .*: (\d+) data bytes", re.M)
_SENT = re.compile(r"^(\d+) packets transmitted, (\d+)", re.M)
_OWPING = re.compile(r"seq_no=(\d+)\s+delay=([\d.e+-]+) (ms|us|s)")


def _ping(text: str) -> Measured | None:
    found = list(_PING.finditer(text))
    if not found:
        return None
    # Numbers have 16 bits, and begin anew.
    numbers, turn, before = [], 0, 0
    for match in found:
        number = int(match["seq"])
        if number + 32768 < before - turn:
            turn += 65536
        numbers.append(number + turn)
        before = number + turn
    first = min(numbers)
    sent = _SENT.search(text)
    count = max(max(numbers) - first + 1, int(sent[1]) if sent else 0)
    trip, at = numpy.full(count, math.nan), numpy.full(count, math.nan)
    for number, match in zip(numbers, found):
        if math.isnan(trip[number - first]):  # the answer to a copy comes later
            trip[number - first] = float(match["ms"]) * 1e6
            if match["at"]:
                at[number - first] = float(match["at"]) * SECOND_NS
    size = _SIZE.search(text)
    return Measured("ping", _times(at), trip,
                    size=14 + int(size[2] or int(size[3]) + 28) if size else PROBE_BYTES)


def _times(at: Floats) -> Floats:
    """Fills in the instants of lost probes; without any, probes are a second apart."""
    there = numpy.isfinite(at)
    if there.sum() < 2:
        return numpy.arange(len(at)) * SECOND_NS
    index = numpy.arange(len(at))
    filled = numpy.interp(index, index[there], at[there])
    return numpy.asarray(numpy.maximum.accumulate(filled - filled[0]))


def _owping(text: str) -> Measured | None:
    found = _OWPING.findall(text)
    if not found:
        return None
    unit = {"s": 1e9, "ms": 1e6, "us": 1e3}
    count = max(int(seq) for seq, _, _ in found) + 1
    trip = numpy.full(count, math.nan)
    for seq, value, name in found:
        trip[int(seq)] = float(value) * unit[name]
    return Measured("owping", numpy.arange(count) * 0.1 * SECOND_NS, trip, one_way=True)


def _csv(text: str) -> Measured | None:
    """A column `rtt` or `delay` (one way), perhaps with a unit, and perhaps one `time`."""
    rows = [row for row in csv.reader(io.StringIO(text)) if row and not row[0].startswith("#")]
    if len(rows) < 2:
        return None
    head = [re.sub(r"[\[\]()]", " ", cell).strip().lower().replace("_", " ") for cell in rows[0]]
    unit = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

    def column(*names: str) -> tuple[int, float] | None:
        for i, cell in enumerate(head):
            words = cell.split()
            if words and words[0] in names:
                given = words[1] if len(words) > 1 else "s" if words[0] == "time" else "ms"
                if given in unit:
                    return i, unit[given]
        return None

    trip, one, time = column("rtt", "trip"), column("delay", "owd"), column("time")
    value = trip or one
    if value is None:
        return None

    def number(row: list[str], where: tuple[int, float]) -> float:
        try:
            return float(row[where[0]]) * where[1]
        except (ValueError, IndexError):
            return math.nan

    delays = numpy.array([number(row, value) for row in rows[1:]])
    at = (numpy.array([number(row, time) for row in rows[1:]]) if time is not None
          else numpy.full(len(delays), math.nan))
    return Measured("CSV", _times(at), delays, one_way=trip is None)


# ---- JSON ----

def _json(path: str, text: str) -> Measured | None:
    try:
        data = json.loads(text)
    except ValueError:
        # RIPE Atlas delivers an object a line, too.
        try:
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise NothingToLearn(f"{path}: {error}") from None
    kinds: list[Callable[[Any], Measured | None]] = [_irtt, _iperf, _flent, _atlas]
    for kind in kinds:
        try:
            found = kind(data)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise NothingToLearn(f"{path} lacks {error}, which {kind.__name__[1:]} writes") \
                from None
        if found is not None:
            return found
    return None


def _irtt(data: Any) -> Measured | None:
    if not isinstance(data, dict) or "round_trips" not in data:
        return None
    rows = data["round_trips"]
    trip = numpy.array([float(row["delay"]["rtt"]) if row["lost"] == "false" else math.nan
                        for row in rows])
    sent = [row["timestamps"]["client"]["send"] for row in rows]
    at = numpy.array([float(s.get("wall", s.get("monotonic"))) for s in sent])
    size = int(data.get("config", {}).get("length", 56)) + 42
    found = Measured("irtt", _times(at), trip, size=size)
    ways = [row["lost"] for row in rows if row["lost"] != "false"]
    if "true_up" in ways or "true_down" in ways:
        found.notes.append(f"irtt says of its losses: {ways.count('true_up')} up, "
                           f"{ways.count('true_down')} down, {ways.count('true')} unknown; all are "
                           "written into `down`")
    return found


def _iperf(data: Any) -> Measured | None:
    if not isinstance(data, dict) or "intervals" not in data or "start" not in data:
        return None
    rows = [row["sum"] for row in data["intervals"] if not row["sum"].get("omitted")]
    rates = numpy.array([float(row["bits_per_second"]) for row in rows])
    if len(rates) == 0:
        raise NothingToLearn("iperf3 has measured no interval")
    trips = numpy.array([float(stream["rtt"]) * 1e3 for row in data["intervals"]
                         for stream in row["streams"] if stream.get("rtt")])
    at = numpy.arange(len(trips)) * SECOND_NS
    found = Measured("iperf3", at, trips, size=1514, rate=_rate_of(rates, "intervals of iperf3"))
    found.notes.append("the rate is that of the payload; headers need 3 % to 5 % more")
    if len(trips) == 0:
        found.notes.append("nothing is known of the delay: run ping beside it")
    return found


def _rate_of(rates: Floats, basis: str) -> Estimate:
    low, middle, high = numpy.quantile(rates, [0.05, 0.5, 0.95])
    return Estimate("rate", float(middle), float(low), float(high), "bit/s",
                    f"{len(rates)} {basis}")


def _flent(data: Any) -> Measured | None:
    if not isinstance(data, dict) or "results" not in data or "x_values" not in data:
        return None
    results = data["results"]
    pings = next((k for k in results if k.startswith("Ping")), None)
    loads = next((k for k in results if "download" in k.lower() and "avg" not in k.lower()), None)
    if pings is None:
        raise NothingToLearn("flent has no series of pings")
    series = numpy.array([math.nan if v is None else float(v) * 1e6 for v in results[pings]])
    at = numpy.array([float(x) * SECOND_NS for x in data["x_values"]])
    there = numpy.isfinite(series)
    found = Measured("flent", _times(at[there]), series[there])
    if loads is not None:
        rates = numpy.array([float(v) * 1e6 for v in results[loads] if v])
        found.rate = _rate_of(rates, f"values of {loads}") if len(rates) else None
        found.notes.append("its pings ran beside a load: what they waited in the queue is part of "
                           "their delays")
    return found


def _atlas(data: Any) -> Measured | None:
    rows = data if isinstance(data, list) else [data]
    rows = [row for row in rows if isinstance(row, dict) and row.get("type") == "ping"]
    if not rows:
        return None
    trip, at = [], []
    for row in sorted(rows, key=lambda row: float(row["timestamp"])):
        for i, answer in enumerate(row["result"]):
            trip.append(float(answer["rtt"]) * 1e6 if "rtt" in answer else math.nan)
            at.append((float(row["timestamp"]) + i) * SECOND_NS)
    return Measured("RIPE Atlas", _times(numpy.array(at)), numpy.array(trip),
                    size=14 + 20 + 8 + int(rows[0].get("size", 48)))


# ---- a direction ----

def direction(measured: Measured) -> tuple[Direction, float]:
    """Makes the direction down, and returns the constant delay of the direction up."""
    trip = measured.trip_ns
    least = float(numpy.nanmin(trip))
    up = 0.0 if measured.one_way else least / 2
    sent = numpy.round(measured.at_ns).astype(numpy.int64)
    lost = ~numpy.isfinite(trip)
    came = numpy.where(lost, NEVER, sent + numpy.round(numpy.nan_to_num(trip) - up)
                       .astype(numpy.int64))
    n = len(sent)
    rank = numpy.full(n, -1)
    rank[numpy.flatnonzero(~lost)[numpy.argsort(came[~lost], kind="stable")]] = numpy.arange(
        int((~lost).sum()))
    none = numpy.zeros(n, bool)
    return Direction(sent, came.astype(numpy.int64), numpy.full(n, measured.size), rank, none,
                     none.copy(), numpy.empty(0, numpy.int64), numpy.empty(0, numpy.int64)), up
