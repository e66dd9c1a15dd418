# SPDX-License-Identifier: BSD-3-Clause
"""A document as one page with charts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._command import Answers, AtomicFile
from ..page import (
    BYTES,
    COUNT,
    NS,
    PERCENT,
    PPS,
    Axis,
    Bars,
    Chart,
    Histogram,
    Line,
    Page,
    Series,
    Step,
)
from .document import Row, burst_is_least, inner, number, rows_of, text
from .table import tables

BINS, CLOCK_BINS = 80, 40
FRAMES_MAX, POINTS_MAX = 16, 16


def values(rows: Sequence[Row], key: str, times: float = 1) -> list[float]:
    return [number(row, key) * times for row in rows]


def values_ns(rows: Sequence[Row], key: str) -> list[float]:
    """Computes ns per packet from Mpps."""
    return [1e3 / number(row, key) if number(row, key) else math.nan for row in rows]


def of(rows: Sequence[Row], key: str, wanted: str) -> list[Row]:
    return [row for row in rows if text(row, key) == wanted]


# ---- cost, depth, clouds ----

def _cost(page: Page, rows: Sequence[Row]) -> None:
    rows = of(rows, "ports", "net_null")
    if rows:
        _stages(page, rows)
        _frames(page, rows)


def _stages(page: Page, rows: Sequence[Row]) -> None:
    """Draws the cost of each scenario, with frames of one size: the first size that occurs."""
    frames = text(rows[0], "frames")
    rows = of(rows, "frames", frames)
    page.figure(Chart(
        x=Axis(categories=[text(row, "scenario") for row in rows]),
        y=Axis("Cost of a packet", NS), width=1000,
        series=[
            Bars(name="weir", y=values(rows, "ns_per_packet"), values=True,
                 low=values_ns(rows, "mpps_max"), high=values_ns(rows, "mpps_min")),
            Bars(name="ports alone", y=values_ns(rows, "ceiling_mpps"), hollow=True)]),
        f"The cost of a packet of {frames} bytes by scenario: medians, with the range of the runs, "
        "beside the cost of the ports with nothing in between.")


def _frames(page: Page, rows: Sequence[Row]) -> None:
    bare, delayed = (of(rows, "scenario", name) for name in ("bare", "delay-10ms"))
    if len(bare) < 2 or len(bare) != len(delayed):
        return
    page.figure(Chart(
        x=Axis("Frame size (bytes)", categories=[text(row, "frames") for row in bare]),
        y=Axis("Throughput", PPS), width=1000,
        series=[
            Bars(name="ports alone", y=values(bare, "ceiling_mpps", 1e6), hollow=True),
            Bars(name="bare forwarding", y=values(bare, "mpps", 1e6)),
            Bars(name="delay 10 ms", y=values(delayed, "mpps", 1e6))]),
        "Throughput by frame size, both directions together, one core per worker.")


def _curve(page: Page, rows: Sequence[Row], key: str, label: str) -> None:
    if len(rows) < 2:
        return
    page.figure(Chart(
        x=Axis(label, COUNT, log=True), y=Axis("Cost", NS, from_zero=True),
        series=[Line(name="cost of a packet", x=values(rows, key), marker="circle",
                     y=values(rows, "ns_per_packet"), low=values_ns(rows, "mpps_max"),
                     high=values_ns(rows, "mpps_min"))]),
        f"The cost of a packet of 64 bytes by the number of {label.lower()}: medians, with the "
        "range of the runs.")


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


def _histogram(page: Page, caption: str, bins: tuple[list[float], list[float], float], x: Axis,
               y_label: str) -> None:
    edges, shares, _ = bins
    page.figure(Chart(x=x, y=Axis(y_label, PERCENT, from_zero=not x.log), height=240,
                      series=[Histogram(x=edges, y=shares)]), caption)


def _lateness(page: Page, row: Row) -> None:
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
        series.append(Step(name=name, dashed=name == "machine",
                           x=[max(1, start) for start, _ in buckets], y=shares))
    page.figure(
        Chart(x=Axis("Later than", NS, log=True), y=Axis("Share of packets", PERCENT, log=True),
              series=series),
        f"{text(row, 'load')}: the share of packets that left later than this after their due "
        "time. `machine` is a loop on the same core that only reads the TSC; calm turns are those "
        "in which no other process took the core.")


def _precision(page: Page, rows: Sequence[Row]) -> None:
    for row in rows:
        bins = _bins(row.get("lateness_histogram", []), True, BINS)
        if bins[2] > 0:
            _histogram(page, f"{text(row, 'load')}: how late {bins[2]:.0f} packets left.", bins,
                       Axis("Late by", NS, log=True), "Share of packets")
        _lateness(page, row)


def _clock(page: Page, rows: Sequence[Row]) -> None:
    """Draws by how much intervals of 100 ms deviate from 100 ms."""
    for row in rows:
        bins = _bins(row.get("error_histogram", []), False, CLOCK_BINS)
        if bins[2] > 0:
            _histogram(page, "Intervals of 100 ms of weir's clock against CLOCK_MONOTONIC_RAW: "
                       f"{bins[2]:.0f} in {number(row, 'seconds'):.0f} s.", bins,
                       Axis("Error of an interval of 100 ms", NS), "Share of intervals")


# ---- rfc2544: the report that RFC 2544 requires ----

def _rfc2544(page: Page, rows: Sequence[Row]) -> None:
    """The throughput is a graph beside the theoretical maximum of the medium (26.1), latency and
    back-to-back frames are tables (26.2, 26.4), the frame loss rate is a graph over the share of
    the maximum rate (26.3)."""
    rows, row = rows[:FRAMES_MAX], rows[0]
    page.text(f"Under test: {text(row, 'under_test')}. Trials of "
              f"{number(row, 'trial_seconds'):.3g} s (RFC: at least 60), latency "
              f"{number(row, 'latency_repeats'):.0f} times {number(row, 'latency_seconds'):.3g} s "
              f"(RFC: 20 times 120), back-to-back {number(row, 'back_to_back_repeats'):.0f} times "
              "(RFC: 50); every frame carries a time stamp, whereas the RFC tags one. Frame sizes "
              "include the FCS.")
    if len(rows) > 1:
        _throughput(page, rows)
    _loss(page, rows)
    _latency(page, rows)


def _throughput(page: Page, rows: Sequence[Row]) -> None:
    page.figure(Chart(
        x=Axis("Frame size", BYTES), y=Axis("Frame rate", PPS, from_zero=True),
        series=[Line(name=name, x=values(rows, "frame_bytes"), y=values(rows, key, 1e6),
                     dashed=key == "line_mpps")
                for name, key in (("the medium's maximum", "line_mpps"),
                                  ("no loss", "throughput_mpps"),
                                  ("loss up to 0.5 %", "pdr_mpps"))]),
        "RFC 2544, 26.1: throughput.")


def _loss(page: Page, rows: Sequence[Row]) -> None:
    series: list[Series] = []
    for row in rows:
        # Points are in the order of decreasing rate; the line needs increasing rates.
        points = row.get("loss", [])[:POINTS_MAX][::-1]
        series.append(Line(name=f"{number(row, 'frame_bytes'):.0f} B", marker="circle",
                           x=values(points, "share"), y=values(points, "loss")))
    page.figure(Chart(x=Axis("Share of the greatest rate", PERCENT),
                      y=Axis("Frames lost", PERCENT, from_zero=True), series=series),
                "RFC 2544, 26.3: frame loss rate.")


def _latency(page: Page, rows: Sequence[Row]) -> None:
    page.table(
        ["frame (B)", "rate (Mpps)", "mean (us)", "median", "p99", "max", "back-to-back frames"],
        [[f"{number(row, 'frame_bytes'):.0f}", f"{number(row, 'throughput_mpps'):.3f}",
          *(f"{number(row, key) / 1e3:.1f}" for key in (
              "latency_mean_ns", "latency_ns.p50", "latency_ns.p99", "latency_ns.max")),
          ("at least " if burst_is_least(row) else "")
          + f"{number(row, 'back_to_back_frames'):.0f}"] for row in rows],
        "RFC 2544, 26.2 and 26.4: latency at the throughput's rate, and the longest burst without "
        "loss.")


# ---- the page ----

_PARTS = (
    ("cost", "Cost", _cost), ("precision", "Precision", _precision),
    ("depth", "Packets in flight",
     lambda page, rows: _curve(page, rows, "in_flight_packets", "Packets in flight")),
    ("clouds", "Clouds", lambda page, rows: _curve(page, rows, "clouds", "Clouds")),
    ("clock", "Clock", _clock), ("rfc2544", "RFC 2544", _rfc2544))


def write(path: str, document: Row, weir: Answers) -> None:
    """Writes the page to `path`, which appears when the page is complete."""
    file = AtomicFile(path)
    machine = inner(document, "machine")
    page = Page("What weir costs on this machine", f"weir {text(machine, 'weir')} on "
                f"{text(machine, 'cpu')}, {text(machine, 'dpdk')}")
    for part, heading, draw in _PARTS:
        if rows := rows_of(document, part):
            page.heading(heading)
            draw(page, rows)
    page.heading("All figures")
    page.code(tables(document, weir))
    page.table(["", "subject", "what", "costs", "remedy"],
               [[text(finding, key) for key in ("state", "subject", "what", "cost", "remedy")]
                for finding in document.get("doctor", [])],
               "What in this machine costs packets a second, or nanoseconds.")
    try:
        file.write(page.html())
        file.publish()
    finally:
        file.discard()
