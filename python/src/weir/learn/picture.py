# SPDX-License-Identifier: BSD-3-Clause
"""A page that shows what was measured and what was learned, above each other."""

from __future__ import annotations

import numpy

from ..page import NS, PERCENT, Axis, Chart, Line, Marks, Page, Points
from . import proof, words
from .estimate import Floats
from .pairs import NEVER
from .path import Learned

HEIGHT = 280
MEASURED, LEARNED, LOST = 1, 2, 4  # colours


def _charts(page: Page, learned: Learned, run: proof.Run) -> None:
    direction = learned.direction
    sent = (direction.sent_ns - direction.sent_ns[0]).astype(float)
    time = Axis("Time", NS, most=float(sent[-1]))
    both = []
    for name, color, received, lost in (
            ("measured", MEASURED, direction.received_ns - direction.sent_ns[0], direction.lost),
            ("learned", LEARNED, run.received_ns, run.received_ns == NEVER)):
        both.append((name, color, sent[~lost], received[~lost] - sent[~lost], lost))
    every = numpy.concatenate([delay for _, _, _, delay, _ in both])
    low, high = float(every.min()), float(numpy.quantile(every, 0.9999))
    for name, color, at, delay, lost in both:
        page.figure(
            Chart(time, Axis("Delay", NS, least=low, most=high), height=HEIGHT,
                  series=[Points(name=name, x=at.tolist(), y=delay.tolist(), color=color),
                          Marks(name="lost", x=sent[lost].tolist(), color=LOST)]),
            f"Delay of each packet over time, {name}.")
    p = numpy.linspace(0, 1, 400)
    page.figure(
        Chart(Axis("Delay", NS, least=low, most=high), Axis("Share of packets", PERCENT),
              height=HEIGHT,
              series=[_line(name, color, numpy.minimum(numpy.quantile(delay, p), high), p)
                      for name, color, _, delay, _ in both]),
        "Share of packets with at most this delay.")
    _rest(page, learned, time)
    runs = [proof.loss_runs(lost) for *_, lost in both]
    if all(len(r) for r in runs):
        most = max(2.0, *(float(numpy.quantile(r, 0.999)) for r in runs))
        lengths = numpy.arange(1, int(most) + 1).astype(float)
        page.figure(
            Chart(Axis("Length in packets"), Axis("Share of loss runs", PERCENT, from_zero=True),
                  height=HEIGHT,
                  series=[_line(name, color, lengths, numpy.array([(r >= n).mean()
                                                                   for n in lengths]))
                          for (name, color, *_), r in zip(both, runs)]),
            "Loss runs of at least this length.")


def _line(name: str, color: int, x: Floats, y: Floats) -> Line:
    return Line(name=name, color=color, x=x.tolist(), y=y.tolist(), marker="none")


def _rest(page: Page, learned: Learned, time: Axis) -> None:
    """Draws what remains of each delay without the queue."""
    low, high = numpy.quantile(learned.rest_ns, [0.0005, 0.9995])
    page.figure(
        Chart(time, Axis("Delay", NS, least=float(low), most=float(high)), height=HEIGHT,
              series=[Points(x=learned.rest_at_ns.tolist(), y=learned.rest_ns.tolist(),
                             color=MEASURED)]),
        "What remains of each delay without the queue.")


def page(title: str, text: str, said: list[str], learned: dict[str, Learned],
         rows: dict[str, list[proof.Row]], runs: dict[str, proof.Run]) -> str:
    """Returns the page."""
    page = Page(title)
    for sentence in said:
        page.text(sentence)
    for name, one in learned.items():
        page.heading(name)
        _charts(page, one, runs[name])
        page.table(["estimate", "value, 95 % interval", "basis"],
                   [[f"{statement} {e.name}", words.shown(e), e.basis]
                    for statement, e in one.estimates()])
        page.table(["figure", "distance to the scenario", "between two seeds"],
                   [[proof.WORDS[row.name], f"{100 * row.distance:.2f} %",
                     f"{100 * row.yardstick:.2f} %"] for row in rows[name]],
                   alarms=[i for i, row in enumerate(rows[name]) if not row.fine])
    page.heading("The scenario")
    page.code(text)
    return page.html()
