# SPDX-License-Identifier: BSD-3-Clause
"""Charts, and the page that has them: bounded, well-formed, the same bytes."""

import math
import random
import re
import xml.etree.ElementTree as xml

import pytest

from weir.page import (
    BPS,
    BYTES,
    COUNT,
    NS,
    PERCENT,
    PLAIN,
    PPS,
    Axis,
    Bars,
    Chart,
    Histogram,
    HLines,
    Line,
    Marks,
    Page,
    Points,
    Step,
    VLines,
    scale,
    svg,
    units,
)
from weir.page.lines import thinned
from weir.page.points import MARKERS_MAX

MANY = 200_000
KINDS = [Points, Line, Step, Bars, Histogram, Marks, VLines, HLines]
INF, NAN = math.inf, math.nan


def chart_of(series, x=None, y=None, **more):
    """Returns the SVG, which is well-formed and has no number that is none."""
    text = Chart(x or Axis(), y or Axis(), series, **more).svg()
    xml.fromstring(text)
    assert not re.search(r"\b(nan|inf)\b", text)
    return text


def series_of(kind, xs, ys, **more):
    """Returns a series with what its kind needs of these."""
    error_bars = kind in (Points, Line, Bars)
    return kind(x=[] if kind in (Bars, HLines) else xs, y=[] if kind in (Marks, VLines) else ys,
                low=[y - 1 for y in ys] if error_bars else (),
                high=[y + 2 for y in ys] if error_bars else (), **more)


def tooltips(text):
    return [strip.split("</title>")[0] for strip in re.split('class="hover".*?<title>', text)[1:]]


# ---- every kind ----

@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("log", [(False, False), (True, False), (False, True), (True, True)])
def test_every_kind_is_drawn_well_formed(kind, log):
    names = ["one", "two & a half", "<three>", "four", ""] if kind is Bars else []
    for xs, ys in (([1, 2, 3, 4, 5], [3, 0, NAN, 5, INF]), ([7], [7]), ([1, 1, 1], [0, 0, 0])):
        drawn = [series_of(kind, [*xs, 6] if kind is Histogram else xs, ys, name='a "name"', **more)
                 for more in ({}, {"hollow": True, "dashed": True})]
        text = chart_of(drawn, Axis("x", NS, log[0], categories=names[:len(xs)]),
                        Axis("y", BPS, log[1]), title="every kind")
        assert text.count("a &quot;name&quot;</text>") == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("log", [False, True])
def test_numbers_at_the_ends_of_double_are_drawn(kind, log):
    ends = [-1.7e308, -1.0, -5e-324, 0.0, 5e-324, 1e-310, 1.0, 1.7e308]
    names = "abcdefgh" if kind is Bars else ""
    xs = [*ends, 1.7e308] if kind is Histogram else ends
    chart_of([series_of(kind, xs, ends)], Axis(log=log, categories=names), Axis("y", NS, log))


@pytest.mark.parametrize("log", [False, True])
def test_without_data_the_axes_are_drawn_and_say_so(log):
    for series in ([], [Points(name="none"), Histogram(), Marks()]):
        text = chart_of(series, Axis("Time", NS, log))
        assert "no data</text>" in text and 'class="axis"' in text
        assert text.count('class="tick"') >= 5


def test_what_is_not_finite_is_a_gap_and_a_lone_point_a_dot():
    text = chart_of([Line(x=range(7), y=[1, 2, NAN, 3, INF, 2, 1], marker="none")])
    path = re.search('<path class="line" d="(.*?)"', text)[1]
    assert [path.count(step) for step in ("M", "L", "h0")] == [3, 2, 1]


# ---- bounded ----

def test_many_points_make_a_bounded_file():
    draw = random.Random(1)
    x, y = range(MANY), [draw.random() for _ in range(MANY)]
    for kind, most in ((Points, 500_000), (Line, 60_000), (Step, 60_000), (Histogram, 120_000),
                       (Marks, 16_000)):
        text = chart_of([kind(x=x, y=() if kind is Marks else y[:-1])])
        assert 1000 < len(text) < most + 12_000, kind  # and the texts of the tooltips
    holes = [value if i % 2 else NAN for i, value in enumerate(y)]
    assert len(chart_of([Line(x=x, y=holes)])) < 120_000


def test_a_single_point_beside_many_is_still_drawn():
    y = [0.0] * MARKERS_MAX + [1.0]
    text = chart_of([Points(x=[1.0] * MARKERS_MAX + [2.0], y=y)])
    faint, *_, strong = re.findall('stroke-opacity=".*?" d="(.*?)"', text)
    assert faint.count("M") == strong.count("M") == 1


def test_a_spike_of_one_sample_survives_in_a_line():
    places = [(i / MANY * 10, {34567: 7.5, 34568: 99.5}.get(i, 50.0)) for i in range(MANY)]
    part, = thinned(places)
    ys = [y for _, y in part]
    assert ys.count(7.5) == ys.count(99.5) == 1 and len(part) <= 40


# ---- values under the pointer ----

def test_every_strip_says_the_range_of_all_that_lies_in_it():
    x = [i * 1e6 for i in range(1000)]
    y = [1e6 if i < 500 else 2e6 if i % 2 else 3e6 for i in range(1000)]
    said = tooltips(chart_of([
        Points(name="here & there", x=x, y=y), Step(name="steps", x=x[:1], y=y[:1]),
        HLines(name="limit", y=[5e6]), Marks(name="lost", x=[900e6, 901e6])],
        Axis(unit=NS, most=1e9), Axis(unit=NS)))
    assert len(said) == 72
    assert said[0] == ("0 ns to 13.89 ms\nhere &amp; there: 1 ms\nsteps: 1 ms\nlimit: 5 ms")
    # The step extends to the end, and both losses lie in one strip.
    assert said[64] == ("888.9 ms to 902.8 ms\nhere &amp; there: 2 ms to 3 ms\nsteps: 1 ms\n"
                        "limit: 5 ms\nlost: 2")


def test_bins_say_their_heights_and_an_empty_strip_says_nothing():
    said = tooltips(chart_of([Histogram(name="share", x=[0, 1, 2, 10], y=[0.25, 0.75, NAN]),
                              VLines(name="configured", x=[9.5])], Axis(most=10)))
    # A fifth of the strips, with the one that two bins share, and the strip of the line.
    assert 15 <= len(said) <= 17
    assert said[0] == "0 to 0.1389\nshare: 0.25"
    assert any(text.endswith("\nshare: 0.25 to 0.75") for text in said)
    assert said[-1].endswith("\nconfigured: 9.5")


# ---- axes ----

def scale_of(low, high, loose, wanted=6, **axis):
    extent = scale.Extent()
    extent.take([low, high])
    return scale.Scale(scale.Axis(**axis), extent, loose, wanted)


def is_round(step):
    """The leading digit is the only one, and is 1, 2 or 5."""
    digit = step / 10 ** math.floor(math.log10(step) + 1e-9)
    return any(abs(digit - d) < 1e-6 for d in (1, 2, 5))


def test_ticks_are_round_numbers():
    draw = random.Random(11)
    for i in range(2000):
        low = (draw.random() - 0.5) * 10 ** (12 * draw.random())
        high = low + 10 ** (12 * draw.random() - 4)
        wanted = 2 + i % 9
        values = [tick.value for tick in scale_of(low, high, i % 2 == 1, wanted).ticks]
        assert 2 <= len(values) <= 3 * wanted
        step = values[1] - values[0]
        if high - low < 1e-4 * abs(low):  # the difference of two ticks is mostly rounding
            continue
        assert is_round(step)
        assert all(abs(math.remainder(value, step)) < 1e-3 * step for value in values)


def test_a_chosen_range_holds_the_data_and_a_y_axis_ends_at_ticks():
    draw = random.Random(12)
    for i in range(2000):
        low = 10 ** (9 * draw.random())
        high = low * (1 + 100 * draw.random())
        chosen = scale_of(low, high, True, log=i % 2 == 1)
        assert chosen.low <= low * (1 + 1e-9) and chosen.high >= high * (1 - 1e-9)
        if not chosen.log:
            assert (chosen.ticks[0].value, chosen.ticks[-1].value) == (chosen.low, chosen.high)
        else:
            assert high < 5 * low or (is_round(chosen.low) and is_round(chosen.high))


@pytest.mark.parametrize("unit, low, high, labels, name", [
    (NS, 0, 3e6, ["0.0", "0.5"], "ms"), (NS, 0, 6e10, ["0", "10"], "s"),
    (BPS, 0, 1e10, ["0", "2"], "Gbit/s"), (COUNT, 0, 60000, ["0", "10k"], ""),
    (PERCENT, 0, 0.006, ["0.0%", "0.1%"], ""), (PLAIN, 0, 6e7, ["0", "10⁷"], ""),
    (NS, 100, 1e8, ["100 ns", "1 µs"], ""), (COUNT, 1, 1e6, ["1", "10"], ""),
    (PERCENT, 0.001, 1, ["0.1%", "1%"], "")])
def test_tick_labels_name_round_values_in_the_best_prefix(unit, low, high, labels, name):
    chosen = scale_of(low, high, False, 5, label="Label", unit=unit, log=low > 0)
    assert [tick.label for tick in chosen.ticks if tick.label][:2] == labels
    assert chosen.unit == name


def test_zero_on_a_log_axis_lies_at_its_lower_end():
    extent = scale.Extent()
    extent.take([-3, 10, 1000])
    log = scale.Scale(scale.Axis(log=True), extent, True, 5)
    log.start, log.end = 200, 0
    assert (log.low, log.high) == (10, 1000)
    assert log.px(0) == log.px(-3) == 200 and log.holds(0) and not log.holds(5)
    assert abs(log.px(100) - 100) < 1e-9


@pytest.mark.parametrize("width", [300, 720])
def test_labels_of_the_x_axis_do_not_overlap(width):
    for axis, xs in ((Axis(unit=NS, most=7.3e9), []), (Axis(unit=NS), [12345678, 12345999]),
                     (Axis(unit=BPS, log=True), [1, 1e12]), (Axis(unit=BPS, log=True), [1e6, 9e6])):
        text = chart_of([Points(x=xs, y=xs)], axis, width=width)
        labels = re.findall('class="tick" text-anchor="middle" x="(.*?)" y=".*?">(.*?)<', text)
        last = -INF
        for middle, label in [each for each in labels if each[1] != "no data"]:
            half = svg.width(label, 11) / 2
            assert float(middle) - half > last
            last = float(middle) + half
        assert 2 <= len(labels) <= 20


def test_the_legend_stands_above_the_data_however_long():
    text = chart_of([Line(name="a rather long name of a series", x=[1, 2], y=[1, 2])] * 20)
    lowest = max(float(y) for y in re.findall('<text class="" .*?y="(.*?)"', text))
    top = float(re.search(r'<g transform="translate\(72 (.*?)\)', text)[1])
    assert 100 < lowest < top


# ---- texts ----

@pytest.mark.parametrize("unit, value, text", [
    (NS, 0, "0 ns"), (NS, 0.25, "0.25 ns"), (NS, 1500000, "1.5 ms"), (NS, 999.4, "999 ns"),
    (NS, 999.6, "1 µs"), (NS, -40e6, "-40 ms"), (NS, 3.6e12, "3600 s"),
    (NS.only("ms"), 2500, "0.0025 ms"), (BPS, 1e10, "10 Gbit/s"), (PPS, 14880952, "14.9 Mpps"),
    (BYTES, 1518, "1.52 kB"), (COUNT, 950, "950"), (COUNT, 20000, "20k"), (PERCENT, 0.001, "0.1%"),
    (PERCENT, 1, "100%"), (PLAIN, 0.002, "0.002"), (PLAIN, 3e8, "3×10⁸"), (PLAIN, 1e-6, "10⁻⁶"),
    (PLAIN, NAN, "n/a"), (NS, INF, "n/a")])
def test_numbers_are_written_with_their_unit(unit, value, text):
    assert unit.text(value, 3) == text


@pytest.mark.parametrize("value, decimals, text", [
    (0, 2, "0.00"), (-0.001, 2, "0.00"), (-0.006, 2, "-0.01"), (0.96, 1, "1.0"), (-12.5, 0, "-13"),
    (123456789, 3, "123456789.000"), (1e15, 2, "10¹⁵"), (9.999e20, 2, "10²¹"),
    (-2.5e20, 2, "-2.5×10²⁰"), (-1e20, 0, "-1×10²⁰")])
def test_decimals_are_rounded_and_never_minus_zero(value, decimals, text):
    assert units.fixed(value, decimals) == text


def test_a_long_label_is_shortened():
    assert svg.fitted("Gilbert–Elliott", 12, 1000) == "Gilbert–Elliott"
    for px in range(14, 120):
        text = svg.fitted("é" * 16, 12, px)
        assert svg.width(text, 12) <= px and text.endswith("…" if px < 119 else "")


EVIL = "</title><script>alert('x')</script>&\"\x01\udcff µ"
TAME = ("&lt;/title&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"
        "\ufffd\ufffd µ")


# ---- the page ----

def test_text_is_escaped():
    page = Page(EVIL, EVIL)
    for add in (page.heading, page.text, page.alarm, page.code):
        add(EVIL)
    page.table([EVIL], [[EVIL]], EVIL)
    page.figure(Chart(Axis(EVIL, categories=[EVIL]), Axis(EVIL), [Bars(name=EVIL, y=[1])],
                      title=EVIL), EVIL)
    html = page.html()
    xml.fromstring(html)
    assert "<script" not in html
    # Title twice, subtitle, four texts, table three times, caption. The chart: its name for screen
    # readers, title, legend, category, labels of the axes, and two in the bar's title; and narrow,
    # where two of these are cut short.
    assert html.count(TAME) == 11 + 8 + 6


def test_a_page_is_well_formed_and_needs_nothing_from_elsewhere():
    page = Page("Report")
    page.text("one\n\ntwo\n\n")
    for caption in ("first", "second"):
        page.figure(Chart(Axis(), Axis(), [Points(x=[1], y=[1])], title="chart"), caption)
    html = page.html()
    xml.fromstring(html)
    for foreign in ("http", "<script", "src=", "url(", "@import", "<link", "href="):
        assert foreign not in html
    assert "prefers-color-scheme:dark" in html and "@media print" in html
    assert "<p>one</p>\n<p>two</p>" in html and "Figure 2.</span> second" in html
    assert html.count("--c1:") == 2


@pytest.mark.parametrize("cells, right", [
    (["1", "20", "300"], True), (["1.5 ms", "-", "40 µs"], True), (["0.1%", "", "n/a"], True),
    (["1,000,000", "-3", "+2.5e-3"], True), (["12.3 Mbit/s", "", "1 Gbit/s"], True),
    (["1", "two", "3"], False), (["192.0.2.1", "10.0.0.1"], False),
    (["0000:03:00.1", "1"], False), (["2026-01-31", "1"], False),
    (["10 packets were lost", "1"], False), (["3 milliseconds", "1 ms"], False),
    (["-", "", ""], False)])
def test_columns_of_numbers_are_aligned_right(cells, right):
    page = Page("")
    page.table(["head"], [[cell] for cell in cells], alarms=[1])
    assert page.html().count('<td class="right">') == (len(cells) if right else 0)
    assert page.html().count('<tr class="alarm">') == 1
