# SPDX-License-Identifier: BSD-3-Clause
"""A document as one page with charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._command import Answers, AtomicFile
from .document import Row, burst_is_least, inner, number, rows_of, text
from .table import tables

BINS, CLOCK_BINS = 80, 40
FRAMES_MAX, POINTS_MAX = 16, 16
Part = dict[str, Any]  # of a page (src/control/python/python.h)


def figure(caption: str, x: Part, y: Part, series: Sequence[Part], **size: int) -> Part:
    return {"figure": {"caption": caption, "x": x, "y": y, "series": series, **size}}


def values(rows: Sequence[Row], key: str, times: float = 1) -> list[float]:
    return [number(row, key) * times for row in rows]


def values_ns(rows: Sequence[Row], key: str) -> list[float | None]:
    """Computes ns per packet from Mpps."""
    return [1e3 / number(row, key) if number(row, key) else None for row in rows]


def of(rows: Sequence[Row], key: str, wanted: str) -> list[Row]:
    return [row for row in rows if text(row, key) == wanted]


# ---- cost, depth, clouds ----

def _cost(rows: Sequence[Row]) -> list[Part]:
    rows = of(rows, "ports", "net_null")
    return _stages(rows) + _frames(rows) if rows else []


def _stages(rows: Sequence[Row]) -> list[Part]:
    """Draws the cost of each scenario, with frames of one size: the first size that occurs."""
    frames = text(rows[0], "frames")
    rows = of(rows, "frames", frames)
    return [figure(
        f"The cost of a packet of {frames} bytes by scenario: medians, with the range of the runs, "
        "beside the cost of the ports with nothing in between.",
        {"categories": [text(row, "scenario") for row in rows]},
        {"label": "Cost of a packet", "unit": "ns"},
        [{"kind": "bars", "name": "weir", "y": values(rows, "ns_per_packet"), "values": True,
          "low": values_ns(rows, "mpps_max"), "high": values_ns(rows, "mpps_min")},
         {"kind": "bars", "name": "ports alone", "y": values_ns(rows, "ceiling_mpps"),
          "hollow": True}], width=1000)]


def _frames(rows: Sequence[Row]) -> list[Part]:
    bare, delayed = (of(rows, "scenario", name) for name in ("bare", "delay-10ms"))
    if len(bare) < 2 or len(bare) != len(delayed):
        return []
    return [figure(
        "Throughput by frame size, both directions together, one core per worker.",
        {"label": "Frame size (bytes)", "categories": [text(row, "frames") for row in bare]},
        {"label": "Throughput", "unit": "pps"},
        [{"kind": "bars", "name": "ports alone", "y": values(bare, "ceiling_mpps", 1e6),
          "hollow": True},
         {"kind": "bars", "name": "bare forwarding", "y": values(bare, "mpps", 1e6)},
         {"kind": "bars", "name": "delay 10 ms", "y": values(delayed, "mpps", 1e6)}], width=1000)]


def _curve(rows: Sequence[Row], key: str, label: str) -> list[Part]:
    if len(rows) < 2:
        return []
    return [figure(
        f"The cost of a packet of 64 bytes by the number of {label.lower()}: medians, with the "
        "range of the runs.",
        {"label": label, "unit": "count", "scale": "log10"},
        {"label": "Cost", "unit": "ns", "from_zero": True},
        [{"kind": "line", "name": "cost of a packet", "x": values(rows, key),
          "y": values(rows, "ns_per_packet"), "low": values_ns(rows, "mpps_max"),
          "high": values_ns(rows, "mpps_min"), "marker": "circle"}])]


# ---- precision and clock: histograms, [[from_ns, count], ...] ----

Buckets = Sequence[Sequence[float]]


def _bins(buckets: Buckets, logarithmic: bool, n: int) -> tuple[list[float], list[float], float]:
    """Returns edges and shares of n bins: of equal width on a log scale, where 0 counts as 1, or
    of a whole number of ns. Also returns what all buckets count."""
    least = 1 if logarithmic else 0
    pairs = [(float(max(least, start)), float(count)) for start, count in buckets]
    total = sum(count for _, count in pairs)
    if total <= 0:
        return [], [], 0
    low = min(start for start, _ in pairs)
    high = max([float(least), *(start for start, _ in pairs)])
    width = math.ceil((high + 1) / n)
    high = max(high, low * 2) * 1.05
    if logarithmic:
        edges = [low * (high / low) ** (i / n) for i in range(n)] + [high]
    else:
        edges = [width * n * (i / n) for i in range(n)] + [float(width * n)]
    shares = [0.0] * n
    for start, count in pairs:
        place = math.log(start / low) / math.log(high / low) * n if logarithmic else start / width
        shares[min(int(place), n - 1)] += count / total
    return edges, shares, total


def _histogram(caption: str, bins: tuple[list[float], list[float], float], x: Part,
               y_label: str) -> Part:
    edges, shares, _ = bins
    return figure(caption, {**x, "unit": "ns"},
                  {"label": y_label, "unit": "percent", "from_zero": "scale" not in x},
                  [{"kind": "histogram", "x": edges, "y": shares}], height=240)


def _lateness(row: Row) -> Part:
    """Draws the share of packets that left later than the floor of each bucket, from which
    percentiles are read."""
    series = []
    for name, key in (("weir", "lateness_histogram"), ("weir, calm turns", "calm_histogram"),
                      ("machine", "noise_histogram")):
        buckets = row.get(key, [])
        left = total = float(sum(count for _, count in buckets))
        shares = []
        for _, count in buckets:
            shares.append(left / total)
            left -= count
        series.append({"kind": "step", "name": name, "dashed": name == "machine",
                       "x": [max(1, start) for start, _ in buckets], "y": shares})
    return figure(
        f"{text(row, 'load')}: the share of packets that left later than this after their due "
        "time. `machine` is a loop on the same core that only reads the TSC; calm turns are those "
        "in which no other process took the core.",
        {"label": "Later than", "unit": "ns", "scale": "log10"},
        {"label": "Share of packets", "unit": "percent", "scale": "log10"}, series)


def _precision(rows: Sequence[Row]) -> list[Part]:
    parts = []
    for row in rows:
        bins = _bins(row.get("lateness_histogram", []), True, BINS)
        if bins[2] > 0:
            parts.append(_histogram(f"{text(row, 'load')}: how late {bins[2]:.0f} packets left.",
                                    bins, {"label": "Late by", "scale": "log10"},
                                    "Share of packets"))
        parts.append(_lateness(row))
    return parts


def _clock(rows: Sequence[Row]) -> list[Part]:
    """Draws by how much intervals of 100 ms deviate from 100 ms."""
    drawn = [(row, _bins(row.get("error_histogram", []), False, CLOCK_BINS)) for row in rows]
    return [_histogram("Intervals of 100 ms of weir's clock against CLOCK_MONOTONIC_RAW: "
                       f"{bins[2]:.0f} in {number(row, 'seconds'):.0f} s.", bins,
                       {"label": "Error of an interval of 100 ms"}, "Share of intervals")
            for row, bins in drawn if bins[2] > 0]


# ---- rfc2544: the report that RFC 2544 requires ----

def _rfc2544(rows: Sequence[Row]) -> list[Part]:
    """The throughput is a graph beside the theoretical maximum of the medium (26.1), latency and
    back-to-back frames are tables (26.2, 26.4), the frame loss rate is a graph over the share of
    the maximum rate (26.3)."""
    rows, row = rows[:FRAMES_MAX], rows[0]
    said = (f"Under test: {text(row, 'under_test')}. Trials of {number(row, 'trial_seconds'):.3g} "
            f"s (RFC: at least 60), latency {number(row, 'latency_repeats'):.0f} times "
            f"{number(row, 'latency_seconds'):.3g} s (RFC: 20 times 120), back-to-back "
            f"{number(row, 'back_to_back_repeats'):.0f} times (RFC: 50); every frame carries a "
            "time stamp, whereas the RFC tags one. Frame sizes include the FCS.")
    return [{"text": said}, *(_throughput(rows) if len(rows) > 1 else []), _loss(rows),
            _latency(rows)]


def _throughput(rows: Sequence[Row]) -> list[Part]:
    return [figure(
        "RFC 2544, 26.1: throughput.", {"label": "Frame size", "unit": "bytes"},
        {"label": "Frame rate", "unit": "pps", "from_zero": True},
        [{"kind": "line", "name": name, "x": values(rows, "frame_bytes"),
          "y": values(rows, key, 1e6), "dashed": key == "line_mpps"}
         for name, key in (("the medium's maximum", "line_mpps"), ("no loss", "throughput_mpps"),
                           ("loss up to 0.5 %", "pdr_mpps"))])]


def _loss(rows: Sequence[Row]) -> Part:
    series = []
    for row in rows:
        # Points are in the order of decreasing rate; the line needs increasing rates.
        points = row.get("loss", [])[:POINTS_MAX][::-1]
        series.append({"kind": "line", "name": f"{number(row, 'frame_bytes'):.0f} B",
                       "x": values(points, "share"), "y": values(points, "loss"),
                       "marker": "circle"})
    return figure("RFC 2544, 26.3: frame loss rate.",
                  {"label": "Share of the greatest rate", "unit": "percent"},
                  {"label": "Frames lost", "unit": "percent", "from_zero": True}, series)


def _latency(rows: Sequence[Row]) -> Part:
    cells: list[str] = []
    for row in rows:
        cells += [f"{number(row, 'frame_bytes'):.0f}", f"{number(row, 'throughput_mpps'):.3f}",
                  *(f"{number(row, key) / 1e3:.1f}" for key in (
                      "latency_mean_ns", "latency_ns.p50", "latency_ns.p99", "latency_ns.max")),
                  ("at least " if burst_is_least(row) else "")
                  + f"{number(row, 'back_to_back_frames'):.0f}"]
    return {"table": {
        "caption": "RFC 2544, 26.2 and 26.4: latency at the throughput's rate, and the longest "
                   "burst without loss.",
        "head": ["frame (B)", "rate (Mpps)", "mean (us)", "median", "p99", "max",
                 "back-to-back frames"], "cells": cells}}


# ---- the page ----

_PARTS = (
    ("cost", "Cost", _cost), ("precision", "Precision", _precision),
    ("depth", "Packets in flight",
     lambda rows: _curve(rows, "in_flight_packets", "Packets in flight")),
    ("clouds", "Clouds", lambda rows: _curve(rows, "clouds", "Clouds")),
    ("clock", "Clock", _clock), ("rfc2544", "RFC 2544", _rfc2544))


def write(path: str, document: Row, weir: Answers) -> None:
    """Writes the page to `path`, which appears when the page is complete."""
    file = AtomicFile(path)
    machine, parts = inner(document, "machine"), []
    for part, heading, draw in _PARTS:
        rows = rows_of(document, part)
        parts += [{"heading": heading}, *draw(rows)] if rows else []
    parts += [{"heading": "All figures"}, {"code": tables(document, weir)}, {"table": {
        "caption": "What in this machine costs packets a second, or nanoseconds.",
        "head": ["", "subject", "what", "costs", "remedy"],
        "cells": [text(finding, key) for finding in document.get("doctor", [])
                  for key in ("state", "subject", "what", "cost", "remedy")]}}]
    try:
        file.write(weir.page("What weir costs on this machine", f"weir {text(machine, 'weir')} on "
                             f"{text(machine, 'cpu')}, {text(machine, 'dpdk')}", parts))
        file.publish()
    finally:
        file.discard()
