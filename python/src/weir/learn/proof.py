# SPDX-License-Identifier: BSD-3-Clause
"""The proof: what was sent goes through the scenario, and what comes out is compared with what was
received.

Two runs of one scenario with two seeds differ, too. By how much is the yardstick: the scenario is
as good as it can be if the measurement differs no more from its runs than these from each other.
That is a test by simulation (G. Barnard, 1963; J. Besag, P. Diggle, "Simple Monte Carlo Tests for
Spatial Pattern", 1977), with distances of Kolmogorov and Smirnov. Assumed: what was sent does not
depend on what arrived. TCP would have sent otherwise over another path; only other workloads show
that (tests/learn/held_out.py).
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import tempfile
from typing import Any

import numpy

from .. import program
from .estimate import Bools, Floats, Ints
from .pairs import NEVER, Direction

SEEDS = 5
MARGIN = 1.5
HEAD = 60
BEGIN_NS = 1_000_000_000 * 10**9
RECORD = numpy.dtype([("s", "<u4"), ("ns", "<u4"), ("bytes", "<u4"), ("wire", "<u4"),
                      ("frame", "u1", HEAD)])
# What a file may differ by in each figure, however alike two seeds are.
TOLERANCE = {"delay": 0.02, "gaps": 0.03, "loss": 0.002, "runs": 0.05, "order": 0.002,
             "rate": 0.03}
WORDS = {"delay": "delays", "gaps": "gaps between arrivals", "loss": "loss rate",
         "runs": "lengths of loss runs", "order": "share of overtaken packets",
         "rate": "throughput over time"}


@dataclasses.dataclass
class Run:
    """What came of the packets, by number; NEVER: lost."""

    received_ns: Ints
    rank: Ints


@dataclasses.dataclass
class Row:
    """A figure: the distance of the measurement to runs, and of runs to each other."""

    name: str
    distance: float
    yardstick: float

    @property
    def fine(self) -> bool:
        return self.distance <= MARGIN * self.yardstick + TOLERANCE[self.name]


def write_sent(path: str, direction: Direction) -> None:
    """Writes what was sent as a capture: the instants, the lengths, and a number for each."""
    n = len(direction.sent_ns)
    record = numpy.zeros(n, RECORD)
    at = direction.sent_ns - direction.sent_ns[0] + BEGIN_NS
    size = numpy.maximum(direction.size, HEAD)
    record["s"], record["ns"], record["bytes"] = at // 10**9, at % 10**9, HEAD
    record["wire"] = size
    frame = record["frame"]
    frame[:, 0:14] = list(b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0")
    frame[:, 14] = 0x45
    frame[:, 16:18] = (size - 14).astype(">u2").view("u1").reshape(n, 2)
    frame[:, 22], frame[:, 23] = 64, 17
    frame[:, 26:34] = [10, 0, 0, 1, 10, 0, 0, 2]
    frame[:, 34:42] = [0, 9, 0, 9, 0, 0, 0, 0]
    frame[:, 42:50] = numpy.arange(n).astype(">u8").view("u1").reshape(n, 8)
    frame[:, 50:58] = frame[:, 42:50] ^ 0x5a  # a number that was damaged is known by this
    with open(path, "wb") as out:
        out.write(numpy.array([0xa1b23c4d, 4 << 16 | 2, 0, 0, 262144, 1], "<u4").tobytes())
        record.tofile(out)


def _read_run(path: str, n: int) -> Run:
    received, rank = numpy.full(n, NEVER), numpy.full(n, -1)
    record = numpy.fromfile(path, RECORD, offset=24)
    numbers = record["frame"][:, 42:50].copy().view(">u8").ravel().astype(numpy.int64)
    check = (record["frame"][:, 50:58] ^ 0x5a).copy().view(">u8").ravel().astype(numpy.int64)
    right = (numbers == check) & (numbers >= 0) & (numbers < n)
    at = record["s"].astype(numpy.int64) * 10**9 + record["ns"] - BEGIN_NS
    # Of a packet and its copy the first one counts, so it is written last.
    order = numpy.flatnonzero(right)[::-1]
    received[numbers[order]] = at[order]
    rank[numbers[order]] = order
    return Run(received, rank)


def _quantiles_apart(x: Floats, y: Floats, near: float) -> float:
    """Returns the distance of Kolmogorov and Smirnov of two samples, where values that differ by
    less than `near` count as equal."""
    if len(x) == 0 or len(y) == 0:
        return 0.0 if len(x) == len(y) else 1.0
    x, y = numpy.sort(x), numpy.sort(y)
    p = (numpy.arange(500) + 0.5) / 500

    def ahead(of: Floats, other: Floats) -> float:
        at = numpy.quantile(of, p)
        return float((numpy.searchsorted(of, at, side="right") / len(of)
                      - numpy.searchsorted(other, at + near, side="right") / len(other)).max())

    return max(0.0, ahead(x, y), ahead(y, x))


def loss_runs(lost: Bools) -> Floats:
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate([[False], lost, [False]])
                                         .astype(numpy.int8)))
    return (edges[1::2] - edges[0::2]).astype(float)


def _distances(sent: Ints, size: Ints, one: Run, other: Run) -> dict[str, float]:
    """Compares two outcomes of the same packets."""
    delays, gaps, lost, runs, order, rates = [], [], [], [], [], []
    span = float(sent[-1] - sent[0]) or 1.0
    window = max(span / 200, 100e6)
    bins = numpy.arange(0, span + window, window)
    for run in (one, other):
        there = run.received_ns != NEVER
        came = run.received_ns[there]
        delays.append((came - sent[there]).astype(float))
        # Over ten packets, because hosts stamp arrivals in batches.
        gaps.append(numpy.diff(numpy.sort(came)[::10]).astype(float))
        lost.append(float((~there).mean()))
        runs.append(loss_runs(~there))
        ranks = run.rank[there]
        later = numpy.minimum.accumulate(ranks[::-1])[::-1]
        order.append(float((ranks[:-1] > later[1:]).mean()))
        rates.append(numpy.histogram(came, bins, weights=size[there].astype(float))[0][1:-1])
    spread = float(numpy.quantile(delays[0], 0.95) - numpy.quantile(delays[0], 0.05))
    near = max(2000.0, 0.02 * spread, 0.002 * abs(float(numpy.median(delays[0]))))
    mean = max(float(rates[0].mean()), 1.0) if len(rates[0]) else 1.0
    apart = float(numpy.abs(rates[0] - rates[1]).mean()) / mean if len(rates[0]) else 0.0
    return {"delay": _quantiles_apart(delays[0], delays[1], near),
            "gaps": _quantiles_apart(gaps[0], gaps[1], max(20e3, 0.03 * float(
                numpy.median(gaps[0])))),
            "loss": abs(lost[0] - lost[1]), "runs": _quantiles_apart(runs[0], runs[1], 0.5),
            "order": abs(order[0] - order[1]), "rate": apart}


def prove(direction: Direction, name: str, scenario: str, folder: str, seed: int
          ) -> tuple[list[Row], Run]:
    """Replays what was sent through cloud `name` of a scenario. Files that it names are in
    `folder`. Returns the figures, and the first run."""
    n = len(direction.sent_ns)
    sent = direction.sent_ns - direction.sent_ns[0]
    enters, leaves = ("a", "b") if name == "down" else ("b", "a")
    runs = []
    with tempfile.TemporaryDirectory(prefix="weir-learn-") as place:
        write_sent(os.path.join(place, "sent"), direction)
        for i in range(SEEDS):
            out = os.path.join(place, "out")
            program.call(["replay", "-q", "-c", "/dev/stdin", "--in",
                          f"{enters}={place}/sent", "--out", f"{leaves}={out}", "--seed",
                          str(seed + i)], input=scenario, cwd=folder or ".")
            runs.append(_read_run(out, n))
    measured = Run(numpy.where(direction.lost, NEVER, direction.received_ns
                               - direction.sent_ns[0]), direction.rank)
    size = direction.size
    to_runs = [_distances(sent, size, measured, run) for run in runs]
    between = [_distances(sent, size, one, other)
               for one, other in itertools.combinations(runs, 2)]
    rows = [Row(key, float(numpy.median([d[key] for d in to_runs])),
                max(d[key] for d in between)) for key in WORDS]
    return rows, runs[0]


def verdict(rows: list[Row], doubts: list[str], clocks_sure: bool) -> tuple[bool, list[str]]:
    """Returns whether the scenario may stand for the path, and why, in words."""
    wrong = [row for row in rows if not row.fine]
    said = []
    if doubts:
        said.append("no model fits: " + "; ".join(doubts))
    elif wrong:
        said.append("no model fits: " + ", ".join(
            f"the {WORDS[row.name]} differ by {100 * row.distance:.1f} % where two seeds differ by "
            f"{100 * row.yardstick:.1f} %" for row in wrong))
    else:
        said.append("it fits: the measurement differs from runs of this scenario no more than two "
                    "runs differ from each other, "
                    + ", ".join(f"{WORDS[row.name]} {100 * row.distance:.1f} %" for row in rows))
    if not clocks_sure:
        said.append("of the delay only the round trip is known, or what varies: how it divides "
                    "is not")
    return not doubts and not wrong, said


def json_of(rows: list[Row]) -> list[dict[str, Any]]:
    return [{"figure": row.name, "distance": row.distance, "between_seeds": row.yardstick,
             "fine": row.fine} for row in rows]
