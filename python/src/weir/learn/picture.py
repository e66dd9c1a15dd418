# SPDX-License-Identifier: BSD-3-Clause
"""A page that shows what was measured and what was learned, above each other. It needs nothing
else: the charts are SVG in it."""

from __future__ import annotations

import html
import math

import numpy

from . import proof, words
from .estimate import Floats
from .pairs import NEVER
from .path import Learned

WIDTH, HEIGHT, LEFT, BOTTOM = 860, 230, 70, 30
POINTS = 4000
MEASURED, LEARNED, LOST = "#1f77b4", "#e4781a", "#c0392b"

STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:56em;margin:2em auto;padding:0 1em}
svg{width:100%;height:auto;background:#fff}pre{background:#f5f5f2;padding:1em;overflow:auto}
table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:right}
td:first-child,th:first-child{text-align:left}.bad{color:#c0392b}
text{font:12px system-ui,sans-serif;fill:#555}"""


class Chart:
    """Axes with values, and what is drawn in them."""

    def __init__(self, title: str, x: tuple[float, float], y: tuple[float, float], x_name: str,
                 y_name: str) -> None:
        self.x, self.y = _room(x), _room(y)
        self.parts = [f'<text x="{LEFT}" y="14" style="font-weight:600">{title}</text>']
        for value in _ticks(*self.x):
            at = self.across(value)
            self.parts.append(f'<line x1="{at:.1f}" y1="22" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}" '
                              f'stroke="#eee"/><text x="{at:.1f}" y="{HEIGHT - BOTTOM + 15}" '
                              f'text-anchor="middle">{value:g}</text>')
        for value in _ticks(*self.y):
            at = self.up(value)
            self.parts.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH}" y2="{at:.1f}" '
                              f'stroke="#eee"/><text x="{LEFT - 6}" y="{at + 4:.1f}" '
                              f'text-anchor="end">{value:g}</text>')
        self.parts.append(f'<text x="{WIDTH}" y="{HEIGHT - 2}" text-anchor="end">{x_name}</text>'
                          f'<text x="{LEFT - 6}" y="14" text-anchor="end">{y_name}</text>')

    def across(self, value: float) -> float:
        return LEFT + (value - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - LEFT - 10)

    def up(self, value: float) -> float:
        return HEIGHT - BOTTOM - (value - self.y[0]) / (self.y[1] - self.y[0]) * (
            HEIGHT - BOTTOM - 22)

    def dots(self, x: Floats, y: Floats, colour: str, size: float = 1.2) -> None:
        step = max(1, math.ceil(len(x) / POINTS))
        path = "".join(f"M{self.across(a):.1f} {self.up(b):.1f}h0" for a, b in
                       zip(x[::step], y[::step]))
        self.parts.append(f'<path d="{path}" stroke="{colour}" stroke-width="{2 * size}" '
                          'stroke-linecap="round" stroke-opacity=".55" fill="none"/>')

    def line(self, x: Floats, y: Floats, colour: str) -> None:
        path = "L".join(f"{self.across(a):.1f} {self.up(b):.1f}" for a, b in zip(x, y))
        self.parts.append(f'<path d="M{path}" stroke="{colour}" stroke-width="1.8" fill="none"/>')

    def svg(self) -> str:
        return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(self.parts)}</svg>'


def _room(ends: tuple[float, float]) -> tuple[float, float]:
    low, high = ends
    return (low, high) if high - low > 1e-9 * max(abs(low), 1e-9) else (low - 0.5, high + 0.5)


def _ticks(low: float, high: float) -> list[float]:
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= 6)
    return [round(i * step, 12) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _charts(learned: Learned, run: proof.Run) -> list[str]:
    direction = learned.direction
    sent = (direction.sent_ns - direction.sent_ns[0]).astype(float)
    both = []
    for received in (direction.received_ns - direction.sent_ns[0], run.received_ns):
        there = ~direction.lost if received is not run.received_ns else run.received_ns != NEVER
        both.append((sent[there] / 1e9, (received[there] - sent[there]) / 1e6, ~there))
    every = numpy.concatenate([both[0][1], both[1][1]])
    low, high = float(every.min()), float(numpy.quantile(every, 0.9999))
    found = []
    for (at, delay, lost), colour, name in zip(both, (MEASURED, LEARNED), ("measured", "learned")):
        chart = Chart(f"Delay over time, {name}", (0, float(sent[-1]) / 1e9), (low, high), "s",
                      "ms")
        inside = delay <= high
        chart.dots(at[inside], delay[inside], colour)
        chart.dots(sent[lost] / 1e9, numpy.full(int(lost.sum()), low), LOST, 1.8)
        found.append(chart.svg())
    chart = Chart("Share of packets with at most this delay: measured (blue), learned (orange)",
                  (low, high), (0, 1), "ms", "")
    p = numpy.linspace(0, 1, 400)
    for (_, delay, _), colour in zip(both, (MEASURED, LEARNED)):
        chart.line(numpy.minimum(numpy.quantile(delay, p), high), p, colour)
    found.append(chart.svg())
    found.append(_rest(learned, sent))
    runs = [proof.loss_runs(lost) for _, _, lost in both]
    if all(len(r) for r in runs):
        most = float(max(numpy.quantile(r, 0.999) for r in runs))
        chart = Chart("Loss runs of at least this length", (1, max(most, 2.0)), (0, 1), "packets",
                      "share")
        for r, colour in zip(runs, (MEASURED, LEARNED)):
            lengths = numpy.arange(1, int(max(most, 2)) + 1)
            chart.line(lengths.astype(float), numpy.array([(r >= n).mean() for n in lengths]),
                       colour)
        found.append(chart.svg())
    return found


def _rest(learned: Learned, sent: Floats) -> str:
    """What remains of each delay without the queue."""
    rest = learned.rest_ns / 1e6
    low, high = numpy.quantile(rest, [0.0005, 0.9995])
    chart = Chart("What remains without the queue", (0, float(sent[-1]) / 1e9),
                  (float(low), float(high)), "s", "ms")
    at = learned.rest_at_ns / 1e9
    inside = (rest >= low) & (rest <= high)
    chart.dots(at[inside], rest[inside], MEASURED)
    return chart.svg()


def page(title: str, text: str, said: list[str], learned: dict[str, Learned],
         rows: dict[str, list[proof.Row]], runs: dict[str, proof.Run]) -> str:
    """Returns the page."""
    parts = [f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title>",
             f"<style>{STYLE}</style><h1>{html.escape(title)}</h1>"]
    parts += [f"<p>{html.escape(sentence)}</p>" for sentence in said]
    for name, one in learned.items():
        parts.append(f"<h2>{name}</h2>")
        parts += _charts(one, runs[name])
        parts.append("<table><tr><th>estimate<th>value, 95 % interval<th>basis</tr>")
        parts += [f"<tr><td>{statement} {html.escape(e.name)}<td>{html.escape(words.shown(e))}"
                  f"<td>{html.escape(e.basis)}</tr>" for statement, e in one.estimates()]
        parts.append("</table><table><tr><th>figure<th>distance to the scenario"
                     "<th>between two seeds</tr>")
        for row in rows[name]:
            parts.append(f'<tr{"" if row.fine else " class=bad"}><td>{proof.WORDS[row.name]}'
                         f"<td>{100 * row.distance:.2f} %<td>{100 * row.yardstick:.2f} %</tr>")
        parts.append("</table>")
    parts.append(f"<h2>The scenario</h2><pre>{html.escape(text)}</pre>")
    return "\n".join(parts) + "\n"
