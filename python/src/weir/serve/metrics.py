# SPDX-License-Identifier: BSD-3-Clause
"""/metrics: the values of `show totals`, as metrics; docs/serve.md lists them all. The program's
table of figures says which are metrics, with their names, units and help: a figure that is added
there appears here by itself.

Series. A cloud of the scenario has about 80, including those of histograms; a template counts as
one cloud, however many it has. The clouds that `show totals` does not list are summed up as the
cloud `(rest)`, a name that no cloud can have. So the size of a scrape does not grow with the
clouds: 256 have 21,000 series, 2 MB.

Histograms are weir's own, summed to two buckets an octave, whose bounds are bounds of weir's: no
value is counted on the wrong side. Series of real losses exist from 0 on, because an alert is about
their increase; those of an emulated loss, from the first loss on.

Two forms differ little: OpenMetrics 1.0, and the older text format 0.0.4 of Prometheus, in which a
counter's family has the name of its samples, and no line marks the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Element = Mapping[str, Any]

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_REST = "(rest)"
_LABELS = {"port": (("port", ""),), "cloud": (("cloud", _REST),),
           "worker": (("worker", "0"), ("cpu", "0"), ("role", ""))}


def content_type(openmetrics: bool) -> str:
    return ("application/openmetrics-text; version=1.0.0; charset=utf-8" if openmetrics
            else "text/plain; version=0.0.4; charset=utf-8")


@dataclass(frozen=True)
class Metric:
    """A row of the table. `some`: an element may lack it; `drops`: it is counts by reason; `loss`:
    the reason, if it counts packets that weir itself lost."""

    name: str
    object: str | None
    metric: str
    unit: str
    kind: str
    drops: bool
    some: bool
    loss: str | None
    help: str

    def of(self, element: Element) -> Any:
        """Returns the value of an element; None: it has none."""
        inner = element if self.object is None else element.get(self.object) or {}
        return inner.get(self.name)


class Table:
    """What `weir serve --answer` says of metrics. `reasons`: the kind of loss that each is."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.figures = {scope: [Metric(**row) for row in rows]
                        for scope, rows in raw["figures"].items()}
        self.reasons: dict[str, str] = raw["reasons"]


# ---- numbers and labels ----

def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int) else 0  # also True


def _number(unit: str, value: int) -> str:
    """Returns a number in the unit of metrics: seconds, or bytes per second."""
    if unit == "ns":
        return f"{value // 10**9}.{value % 10**9:09d}"
    return str(value // 8 if unit == "bit/s" else value)


def label(name: str, value: str) -> str:
    return f'{name}="{value.translate(_ESCAPES)}"'


def _labels(scope: str, element: Element) -> str:
    texts = []
    for name, otherwise in _LABELS.get(scope, ()):
        value = element.get(name)
        texts.append(label(name, str(value) if isinstance(value, str | int) else otherwise))
    return ",".join(texts)


# ---- histograms ----

def _bound(i: int) -> int:
    """Returns the greatest value of a bucket: two an octave, which end at 1.5 times a power of two
    and at a power of two, less one nanosecond, which belongs to the next bucket."""
    octave = 1 << (i // 2 + 1)
    return (octave if i % 2 == 0 else octave // 2 * 3) - 1


def _bounds(begin: int, end: int) -> list[tuple[float, str]]:
    """Returns bounds in ns, with their labels."""
    return [*((_bound(i), f'le="{_number("ns", _bound(i))}"') for i in range(begin, end)),
            (float("inf"), 'le="+Inf"')]


_BOUNDS = {"port": _bounds(10, 60),  # 63 ns to 1.6 s
           "cloud": _bounds(18, 72)}  # 1 us to 103 s


# ---- all ----

class _Exposition:
    """The metrics of an answer to `show totals`."""

    def __init__(self, table: Table, openmetrics: bool) -> None:
        self._table, self._openmetrics = table, openmetrics
        self.lines: list[str] = []

    def family(self, name: str, kind: str, help: str, samples: Iterable[tuple[str, str]]) -> None:
        """Adds samples: labels, and a value. `name`: without `_total`."""
        head = name + ("_total" if kind == "counter" and not self._openmetrics else "")
        self.lines += (f"# HELP {head} {help}", f"# TYPE {head} {kind}")
        name += "_total" if kind == "counter" else ""
        self.lines += [f"{name}{{{labels}}} {value}" if labels else f"{name} {value}"
                       for labels, value in samples]

    def totals(self, totals: Element, hello: Element) -> None:
        version, run = str(hello.get("weir", "")), str(totals.get("run", ""))
        self.family("weir_run_info", "gauge",
                    "Version and run of this weir; each run has a name of its own.",
                    [(f'{label("version", version)},{label("run", run)}', "1")])
        clouds = list(totals.get("clouds", ()))
        if len(clouds) < _whole(totals.get("clouds_in_all")):
            clouds.append(totals.get("rest", {}))
        self._scope("run", [totals], ("gauge",))
        self._scope("port", totals.get("ports", ()), ("counter", "gauge", "loss", "histogram",
                                                      "some"))
        self._scope("cloud", clouds, ("counter", "gauge", "drops", "histogram", "some"))
        self._scope("worker", totals.get("workers", ()), ("counter", "gauge"))

    def _scope(self, scope: str, elements: Sequence[Element], parts: Sequence[str]) -> None:
        """Adds the parts of a scope, in this order: `counter` and `gauge` are the figures that all
        elements have, `some` those that an element may lack."""
        rows = self._table.figures.get(scope, [])
        labelled = [(_labels(scope, element), element) for element in elements]
        for part in parts:
            losses = [row for row in rows if row.loss is not None]
            if part == "loss" and losses:
                self._losses(losses, labelled)
            for row in rows:
                if row.loss is not None:
                    continue
                if row.drops:
                    if part == "drops":
                        self._drops(row, labelled)
                elif row.kind == "histogram":
                    if part == "histogram":
                        self._histogram(row, labelled, _BOUNDS[scope])
                elif part == ("some" if row.some else row.kind):
                    self._figure(row, labelled)

    def _figure(self, row: Metric, labelled: Sequence[tuple[str, Element]]) -> None:
        """A figure that an element may lack has no family if all lack it: a family must have
        samples."""
        samples = [(labels, _number(row.unit, _whole(row.of(element))))
                   for labels, element in labelled
                   if not row.some or row.of(element) is not None]
        if samples or not row.some:
            self.family(row.metric, row.kind, row.help, samples)

    def _losses(self, rows: Sequence[Metric], labelled: Sequence[tuple[str, Element]]) -> None:
        self.family(rows[0].metric, "counter",
                    "Packets that weir itself lost at the port, against the scenario.",
                    [(f'{labels},reason="{row.loss}",kind="real"', str(_whole(row.of(element))))
                     for labels, element in labelled for row in rows])

    def _drops(self, row: Metric, labelled: Sequence[tuple[str, Element]]) -> None:
        def samples() -> Iterable[tuple[str, str]]:
            for labels, element in labelled:
                for reason, n in (row.of(element) or {}).items():
                    # One that a newer weir has added may be a real loss.
                    kind = self._table.reasons.get(reason, "unknown")
                    if n or kind in ("real", "unknown"):
                        yield f'{labels},{label("reason", reason)},kind="{kind}"', str(_whole(n))
        self.family(row.metric, "counter", row.help, samples())

    def _histogram(self, row: Metric, labelled: Sequence[tuple[str, Element]],
                   bounds: Sequence[tuple[float, str]]) -> None:
        self.family(row.metric, "histogram", row.help, ())
        for labels, element in labelled:
            histogram = row.of(element)
            if histogram is None:
                continue
            buckets, at, count = histogram.get("buckets", ()), 0, 0
            for top, le in bounds:
                while at < len(buckets) and buckets[at][0] <= top:
                    count += buckets[at][1]
                    at += 1
                self.lines.append(f"{row.metric}_bucket{{{labels},{le}}} {count}")
            total = _number("ns", _whole(histogram.get("sum_ns")))
            self.lines += (f"{row.metric}_sum{{{labels}}} {total}",
                           f"{row.metric}_count{{{labels}}} {count}")


def text(table: Table, totals: Element | None, hello: Element, openmetrics: bool) -> str:
    """`totals`, `hello`: the answers of weir; None: weir is not connected."""
    exposition = _Exposition(table, openmetrics)
    exposition.family("weir_up", "gauge",
                      "1: weir answers; 0: it does not answer, and nothing else is known.",
                      [("", "0" if totals is None else "1")])
    if totals is not None:
        exposition.totals(totals, hello)
    return "\n".join([*exposition.lines, "# EOF\n" if openmetrics else ""])
