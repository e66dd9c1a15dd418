# SPDX-License-Identifier: BSD-3-Clause
"""What `weir top` makes of samples and events, and how it lays them out. tests/control/top.py looks
at the whole in a terminal."""

import contextlib
import doctest
import signal
import socket

import pytest

from weir import _link
from weir.top import keys, model, text

TEXT = "a\n\nb\nc\n\nd\n"  # six lines, of which two are blank


def test_numbers_are_short():
    assert doctest.testmod(text).failed == 0
    for value in (0, 1, 999.4, 999.5, 12_345, 999_499, 1e9, 3.6e14, 9.9e17):
        assert len(text.count(value)) <= 6, value
    assert [text.time(ns) for ns in (999.6, 1e6, 119.9e9, 120e9, 7200e9, 72 * 3600e9)] == [
        "1.00us", "1.00ms", "120s", "2.00min", "2.00h", "3.00d"]


@pytest.mark.parametrize("roomy, room, begin, shown, below", [
    (6, 9, 0, "a.bc.d", 0), (6, 6, 0, "a.bc.d", 0), (5, 6, 0, "abcd", 0), (5, 4, 0, "abcd", 0),
    (0, 3, 0, "abc", 1), (0, 3, 1, "bcd", 0), (0, 3, 99, "bcd", 0), (6, 9, 99, "a.bc.d", 0),
    (0, 1, 2, "c", 1), (-3, 0, 0, "", 4), (6, 4, 1, ".bc.", 1)])
def test_blank_lines_go_first_and_then_the_text_scrolls(roomy, room, begin, shown, below):
    page = text.page(TEXT, roomy, room, begin)
    assert "".join(line or "." for line in page.lines) == shown and page.below == below


def test_an_empty_text_has_no_line():
    page = text.page("", 5, 5, 3)
    assert (page.lines, page.begin, page.below) == ((), 0, 0)


def sample(clouds, templates=(), **more):
    return {"sample": 1, "for_ns": 500_000_000, "clouds": clouds, "templates": templates, **more}


def cloud(name, **figures):
    return {"cloud": name, **figures}


def names(of):
    return [row.name for row in of.rows]


def test_rows_are_rates_and_sorted_by_what_was_asked_for():
    of = model.Model()
    of.take(sample([cloud("b", tx_bytes=1000, rx_packets=7, queue_bytes=5),
                    cloud("a", tx_bytes=2000, real=1, delay_ns={"count": 1, "p50": 900})],
                   [cloud("t", clouds=9, tx_bytes=10, emulated=50)]))
    assert names(of) == ["a", "b", "t"]
    assert of.rows[1].rate == model.Rate(0, 14, 16000, 0) and of.rows[1].queue_bytes == 5
    assert (of.rows[0].delay_p50, of.rows[1].delay_p50, of.rows[2].clouds) == (900, -1, 9)
    orders = {}
    for _ in model.SORTS:
        of.sort_on()
        orders[of.sort] = "".join(names(of))
    assert of.sort == "out"
    assert orders == {"in": "abt", "drops": "atb", "queue": "bat", "delay": "abt", "name": "abt",
                      "out": "abt"}
    of.filter = "t"
    of.arrange()
    assert names(of) == ["t"]


def test_a_pause_keeps_the_picture_and_events_go_on():
    of = model.Model()
    of.take(sample([cloud("a")]))
    of.paused = True
    of.take(sample([cloud("b")]))
    of.take({"event": "stall", "text": "worker 0\x1b[2J", "wall_ns": 3_661_000_000_000})
    assert names(of) == ["a"] and of.n_samples == 1
    assert of.events[-1] == model.Event("01:01:01 stall: worker 0?[2J", True)


def test_histories_are_bounded_and_those_not_seen_for_longest_go():
    of = model.Model()
    for i in range(model.HISTORY + 2):
        of.take(sample([cloud("stays", queue_bytes=i)]))
    assert [*of.rows[0].history] == [*range(2, model.HISTORY + 2)]
    for i in range(20):
        of.take(sample([cloud(f"c{i}-{n}", queue_bytes=1) for n in range(127)] + [cloud("stays")]))
    assert len(of._histories) <= model.HISTORIES
    assert next(row for row in of.rows if row.name == "stays").history[0] == 20 + 2
    for i in range(1000):
        of.take({"event": "link", "text": str(i), "wall_ns": 0})
    assert len(of.events) == model.EVENTS and of.events[-1].text == "00:00:00 link: 999"


def test_a_typed_line_is_edited():
    line = "cloud a "
    for key in (*b"delay 5", 127, *b"6", 0x1b5b, 200, 31):
        line = keys._edited(line, key)
    assert line == "cloud a delay 6"
    assert keys._edited(line, 21) == ""


def test_weir_is_waited_for_no_longer_because_signals_interrupt(tmp_path):
    """Nor because the process is stopped and continued."""
    ticks = []

    def tick(*_):
        ticks.append(None)
        assert len(ticks) < 600, "it has been waited for a minute"

    before = signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        with socket.socket(socket.AF_UNIX) as weir:
            weir.bind(f"{tmp_path}/socket")
            weir.listen()
            with contextlib.closing(_link.Link(f"{tmp_path}/socket", 0.5)) as link:
                with pytest.raises(_link.Silent):
                    link.receive()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
