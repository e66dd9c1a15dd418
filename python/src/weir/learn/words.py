# SPDX-License-Identifier: BSD-3-Clause
"""The scenario: lines as a person would write them, each with its estimate, interval and basis."""

from __future__ import annotations

import decimal
import math
import os
import textwrap

from .clocks import Clocks
from .estimate import Estimate, rounded
from .path import Learned
from .windows import Windows

COLUMNS = 98


def number(value: float) -> str:
    """Returns a decimal number without an exponent, and without digits that are not there."""
    text = format(decimal.Decimal(repr(float(value))), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def time_text(ns: float) -> str:
    """Returns a time with its unit: a whole number of nanoseconds."""
    ns = round(ns)
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if abs(ns) >= size:
            return number(ns / size) + unit
    return f"{ns}ns"


def rate_text(bps: float) -> str:
    bps = round(bps)
    for unit, size in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if bps >= size and bps % (size // 1000) == 0:
            return number(bps / size) + unit
    return f"{bps}bit"


def size_text(value: float, unit: str) -> str:
    if unit == "pkt":
        return f"{round(value)}pkt"
    for name, size in (("MB", 10**6), ("kB", 10**3)):
        if value >= size and round(value) % (size // 1000) == 0:
            return number(round(value) / size) + name
    return f"{round(value)}B"


def percent_text(p: float) -> str:
    return number(float(f"{100 * p:.9g}")) + "%"


def shown(estimate: Estimate) -> str:
    """Returns `40.01 ms (39.98 to 40.04)`."""
    factor, unit = 1.0, estimate.unit
    if unit == "pkt":
        between = (f" ({estimate.low:.0f} to {estimate.high:.0f})" if estimate.low < estimate.high
                   else "")
        return f"{estimate.value:.0f} pkt{between}"
    if unit == "ns":
        factor, unit = (1e6, "ms") if abs(estimate.value) >= 1e5 else (1e3, "us")
    elif unit == "bit/s":
        factor, unit = (1e6, "Mbit/s") if estimate.value >= 1e6 else (1e3, "kbit/s")
    elif unit == "":
        factor, unit = 0.01, "%"
    values = [estimate.value / factor, estimate.low / factor, estimate.high / factor]
    half = max((values[2] - values[1]) / 2, abs(values[0]) * 1e-9, 1e-12)
    digits = max(0, min(9, 1 - math.floor(math.log10(half))))
    value, low, high = (f"{v:.{digits}f}" for v in values)
    between = "" if low == high else f" ({low} to {high})"
    return f"{value} {unit}".strip() + between


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, COLUMNS, initial_indent="# ", subsequent_indent="#   ",
                         break_long_words=False, break_on_hyphens=False)


class Words:
    """The lines of one cloud."""

    def __init__(self, cloud: str, learned: Learned) -> None:
        self.cloud, self.learned = cloud, learned
        self.lines: list[str] = []
        self.table: list[str] | None = None  # of delays, for a file beside the scenario

    def say(self, text: str) -> None:
        self.lines += _comment(text)

    def line(self, statement: str) -> None:
        self.lines.append(f"cloud {self.cloud} {statement}")

    def basis(self, *estimates: Estimate | None) -> None:
        there = [e for e in estimates if e is not None]
        self.say("; ".join(f"{e.name} {shown(e)}" for e in there) + f": {there[0].basis}")


def _loss(w: Words) -> None:
    loss = w.learned.loss
    if loss.model == "none":
        most = number(float(f"{100 * loss.rate.high:.2g}"))
        w.say(f"loss: none of {loss.packets} packets; below {most}%")
        return
    given = {e.name: e for e in loss.parameters}
    w.basis(*loss.parameters)
    if len(loss.bic) > 1:
        order = sorted(loss.bic, key=loss.bic.__getitem__)
        w.say(f"loss rate {shown(loss.rate)}; BIC prefers {order[0]} to {order[1]} by "
              f"{loss.bic[order[1]] - loss.bic[order[0]]:.0f}")
    if loss.model == "every":
        w.line(f"loss every {given['every'].value:.0f} burst {given['burst'].value:.0f}")
    elif loss.model == "random":
        w.line(f"loss random {percent_text(rounded(given['probability']))}")
    else:
        model = "four-state" if loss.model == "four-state" else "gilbert-elliott"
        w.line(f"loss {model} " + " ".join(f"{name} {percent_text(rounded(e))}"
                                           for name, e in given.items()))


def _copies(w: Words) -> None:
    copies, corruption = w.learned.copies, w.learned.corruption
    if copies is not None:
        w.basis(copies.probability)
        w.line(f"duplicate every {copies.every}" if copies.every else
               f"duplicate random {percent_text(rounded(copies.probability))}")
    if corruption is not None:
        w.basis(corruption)
        w.line(f"corrupt random {percent_text(rounded(corruption))}")


def _rate(w: Words) -> None:
    queue = w.learned.queue
    if queue.rate is None:
        w.say(f"rate: at least {queue.at_least / 1e6:.3g} Mbit/s; no packet waited visibly. "
              "Send more to find it")
        return
    w.basis(queue.rate, queue.burst)
    text = f"rate {rate_text(rounded(queue.rate))}"
    if queue.burst is not None:
        text += f" algorithm token-bucket burst {size_text(rounded(queue.burst), 'B')}"
    if queue.limit is not None:
        w.basis(queue.limit)
        text += f" queue {size_text(queue.limit.value, queue.limit.unit)}"
    else:
        most = float(queue.occupancy.max()) if len(queue.occupancy) else 0.0
        if queue.likely_bytes:
            w.say("no packet was surely dropped by a full queue. What met the longest one, of "
                  f"{most / 1000:.4g} kB, was lost: its limit may be below that")
            text += f" queue {size_text(queue.likely_bytes, 'B')}"
        else:
            w.say(f"the queue was never full; {most / 1000:.3g} kB have waited. Its limit is "
                  "assumed")
            text += f" queue {size_text(max(64000.0, math.ceil(1.5 * most / 1000) * 1000), 'B')}"
    w.line(text)


def _delay(w: Words, table_name: str) -> None:
    delay = w.learned.delay
    # A negative delay is that of clocks that differ.
    w.basis(delay.delay, delay.jitter, delay.correlation, delay.half_life)
    order = "keep" if delay.order_kept else "allow"
    if delay.family == "constant" or delay.jitter is None:
        w.line(f"delay {time_text(max(rounded(delay.delay), 0))}")
        return
    if delay.family == "table":
        w.say(f"no family fits: the nearest one differs by {100 * delay.distance:.1f} % of all "
              "packets")
        w.table = [time_text(max(x, 0)) for x in delay.table_ns]
        text = f"delay 0ms distribution table {table_name}"
    else:
        names = sorted(delay.likelihood, key=delay.likelihood.__getitem__, reverse=True)
        if len(names) > 1 and delay.family == names[0]:
            w.say(f"{names[0]} is more likely than {names[1]} by a factor of e^"
                  f"{delay.likelihood[names[0]] - delay.likelihood[names[1]]:.0f}")
        text = (f"delay {time_text(max(rounded(delay.delay), 0))} jitter "
                f"{time_text(rounded(delay.jitter))} distribution {delay.family}")
    if delay.correlation is not None:
        text += f" correlation {percent_text(rounded(delay.correlation))}"
    elif delay.half_life is not None:
        text += f" half-life {time_text(rounded(delay.half_life))}"
    w.line(f"{text} order {order}")


def _trace(w: Words, windows: Windows, name: str) -> None:
    queue = w.learned.queue
    known = windows.known
    w.say(f"rate, delay and loss over time: {len(known)} windows, in {int(known.sum())} of which "
          "packets waited, so that the rate is known; in the others, that of the next one stands")
    most = max(64000.0, float(queue.occupancy.max()) if len(queue.occupancy) else 0.0)
    limit = size_text(math.ceil(2 * most / 1000) * 1000, "B")
    if queue.limit is not None:
        limit = size_text(queue.limit.value, queue.limit.unit)
    w.line(f"trace {name} format csv queue {limit}")


def _reorder(w: Words) -> None:
    reorder = w.learned.reorder
    if reorder is not None:
        w.basis(reorder.probability, reorder.by)
        by = (f"{reorder.by.value:.0f}pkt" if reorder.unit == "pkt"
              else time_text(rounded(reorder.by)))
        w.line(f"reorder random {percent_text(rounded(reorder.probability))} by {by}")


def cloud(name: str, learned: Learned, table_name: str,
          trace: tuple[str, Windows] | None = None) -> Words:
    """Writes the statements of one direction. `trace`: the name of a file, and what it has."""
    w = Words(name, learned)
    if trace is None:
        _loss(w)
    _copies(w)
    if trace is None:
        _rate(w)
        _delay(w, table_name)
    else:
        _trace(w, trace[1], trace[0])
    _reorder(w)
    for note in learned.notes:
        w.say(note)
    for doubt in learned.doubts:
        w.say("DOUBT: " + doubt)
    return w


def scenario(head: list[str], clocks: Clocks | None, clouds: list[Words], seed: int,
             proof: list[str], fixed: dict[str, list[str]] | None = None) -> str:
    """Writes the whole file. `fixed` has further statements of each cloud."""
    lines = [row for text in head for row in _comment(text)]
    if clocks is not None:
        lines += [row for text in clocks.notes for row in _comment(f"Clocks: {text}")]
    lines += [row for text in proof for row in _comment(text)]
    lines += ["", f"seed {seed}", "port a", "port b"]
    ends = {"down": ("a", "b"), "up": ("b", "a")}
    for w in clouds:
        lines += ["", "cloud {} from {} to {}".format(w.cloud, *ends[w.cloud]), *w.lines]
        lines += [f"cloud {w.cloud} {line}" for line in (fixed or {}).get(w.cloud, [])]
    if len(clouds) == 1:
        other = "up" if clouds[0].cloud == "down" else "down"
        known = (fixed or {}).get(other, [])
        lines += ["", *([] if known else ["# Nothing is known of the other direction."]),
                  "cloud {} from {} to {}".format(other, *ends[other])]
        lines += [f"cloud {other} {line}" for line in known]
    return "\n".join(lines) + "\n"


def plain(head: list[str], fixed: dict[str, list[str]], seed: int) -> str:
    """Writes a file with these statements of each cloud, of which there is no proof."""
    return plain_lines(
        [*head, "There is no proof: the measurement does not tell of packets."],
        ["cloud down from a to b", "cloud up from b to a",
         *(f"cloud {cloud} {line}" for cloud, lines in fixed.items() for line in lines)], seed)


def plain_lines(head: list[str], lines: list[str], seed: int) -> str:
    """Writes a file with a comment and these lines."""
    rows = [row for text in head for row in _comment(text)]
    return "\n".join([*rows, "", f"seed {seed}", "port a", "port b", *lines]) + "\n"


def table_path(out: str, name: str) -> str:
    """Returns the name of a file beside the scenario: `path.down.delays` for `path.weir`."""
    stem, ending = os.path.splitext(out)
    return f"{stem if ending == '.weir' else out}.{name}"
