#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`weir learn --trace`: traces of mahimahi, TheaterQ and CellReplay become scenarios, packet for
packet what they describe.

usage: traces.py WEIR ROOT
"""
import contextlib
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
import learning  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
learning.need(WEIR, ROOT)
import numpy  # noqa: E402
import traffic  # noqa: E402
from weir.learn import pairs  # noqa: E402

LTE = os.path.join(ROOT, "configs", "traces", "lte-driving")


@contextlib.contextmanager
def folder_with(**files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            with open(os.path.join(folder, name.replace("_", ".")), "w", encoding="utf-8") as out:
                out.write(text)
        yield folder


def weir(folder, *words, fine=0):
    done = subprocess.run([WEIR, *words], cwd=folder, capture_output=True, text=True,
                          env=dict(os.environ, WEIR_PYTHON=sys.executable))
    assert done.returncode == fine, (words, done.returncode, done.stdout, done.stderr)
    return done


def scenario(folder, *files):
    """Returns the text of the scenario of these traces, which weir accepts."""
    weir(folder, "learn", "--trace", files[0], "-o", "path.weir", *files[1:])
    weir(folder, "check", "-c", "path.weir")
    with open(os.path.join(folder, "path.weir"), encoding="utf-8") as file:
        return file.read().replace("\n#   ", " ")


def delays(folder, at_ns, size, name="path.weir"):
    """Returns the delay of each packet that goes down; -1: it is lost."""
    sent, came = os.path.join(folder, "sent.pcap"), os.path.join(folder, "came.pcap")
    traffic.write(sent, at_ns, size)
    weir(folder, "replay", "-q", "-c", name, "--in", "a=sent.pcap", "--out", "b=came.pcap")
    way = pairs.read(sent, came).forward
    return numpy.where(way.lost, -1, way.received_ns - way.sent_ns)


def mahimahi_is_played_as_it_is():
    with folder_with(direct_weir=f"port a\nport b\ncloud down from a to b\ncloud down trace "
                                 f"{LTE}.down format mahimahi loop queue 20000pkt\n") as folder:
        text = scenario(folder, f"{LTE}.up", f"{LTE}.down")
        assert "cloud down trace path.down.opportunities format mahimahi loop" in text, text
        assert "cloud up trace path.up.opportunities format mahimahi loop" in text, text
        assert "it says nothing of the delay" in text, text
        at = traffic.steady(20_000, 1e6)
        assert numpy.array_equal(delays(folder, at, 1514),
                                 delays(folder, at, 1514, "direct.weir"))


def a_single_trace_is_down_and_its_repetition_is_exact():
    with folder_with(cell="3\n3\n7\n12\n") as folder:
        scenario(folder, "cell")
        # Opportunities at 3, 3, 7, 12, 15, 15, 19 and 24 ms.
        found = delays(folder, traffic.steady(100, 1e5), 1514)
        left = (found + numpy.arange(100) * 10**5)[:8] / 1e6
        assert left.tolist() == [3, 3, 7, 12, 15, 15, 19, 24], left


def theaterq_is_exact_in_delay_rate_and_loss_and_begins_anew():
    trace = ("# keep, latency, rate, loss, limit\n"
             "10000,5000000,12112000,0,50\n"
             "7000,8000000,24224000,0,50\n"
             "3000,8000000,24224000,4294967295,50\n")
    with folder_with(cell_down=trace) as folder:
        text = scenario(folder, "cell.down")
        assert "3 entries, 0.02 s" in text and "Lost" not in text, text
        assert "cloud down trace path.down.csv format csv loop queue 50pkt" in text, text
        at = traffic.steady(200, 2.5e6)
        found = delays(folder, at, 1514)
        phase = (at - at[0]) % 20_000_000
        true = numpy.where(phase < 10e6, 6_000_000, numpy.where(phase < 17e6, 8_500_000, -1))
        wrong = numpy.flatnonzero(found != true[:len(found)])
        assert len(wrong) == 0, (wrong, found[wrong], true[wrong])


def what_theaterq_has_and_weir_has_not_is_said():
    trace = ("1000,5000000,1000000,-1,0,50,4294967295,0,1,0\n"
             "3000,5000000,0,8000000,0,20,0,7,2,1\n")
    with folder_with(x=trace) as folder:
        text = scenario(folder, "x")
        for word in ("limits of 20 to 50 packets: the queue always takes 20",
                     "duplicates, as their share changes", "changes of the route",
                     "changes of the queue", "400 Gbit/s"):
            assert f"Lost: {word}" in text or word in text, (word, text)
        assert "order keep" in text and "queue 20pkt" in text
    with folder_with(x="1000,5,0,1000,0,50,429496730,0\n" * 2) as folder:
        assert "cloud down duplicate random 0.1" in scenario(folder, "x")


def cellreplay_has_its_base_delay_and_its_heavy_opportunities():
    light = "0 10 1 2 4\n100 20 1 2\n200 15 2 5\n"
    heavy = "\n".join(str(ms) for ms in range(1, 201)) + "\n"
    with folder_with(down_light=light, down_heavy=heavy) as folder:
        text = scenario(folder, "down.light", "down.heavy")
        assert "cloud down-1 from down to b" in text and "Lost: the light" in text, text
        found = delays(folder, traffic.steady(200, 10_000_000), 1414)
        # The base delay in whole ms, interpolated; then the next opportunity, which a packet of
        # 1400 bytes fills; one that is there at that instant waits for the one behind it.
        at = numpy.arange(200) * 10 % 200
        base = numpy.where(at < 100, 10 + at // 10, 20 - -(-(at - 100) // 20))
        assert numpy.array_equal(found, (base + 1) * 10**6), (found / 1e6, base)


def what_is_no_trace_or_of_no_direction_is_refused_in_one_line():
    def refused(word, *files, out=("-o", "path.weir"), **texts):
        with folder_with(**texts) as folder:
            done = weir(folder, "learn", "--trace", *files, *out, fine=2)
            assert word in done.stderr and done.stderr.count("\n") == 1, done.stderr

    refused("for which direction", "a", "b", a="1\n", b="2\n")
    refused("goes backwards: 2 follows 5", "a", a="5\n2\n")
    refused("no trace of mahimahi, TheaterQ or CellReplay", "a", a="hello\n")
    refused("no trace of mahimahi, TheaterQ or CellReplay", "a", a="")
    refused("give the heavy one", "a", a="0 10 1\n100 20 1\n200 10 1\n")
    refused("only CellReplay has two files", "up.a", "up.b", up_a="1\n", up_b="2\n")
    refused("all opportunities of the trace are at 0 ms", "a", a="0\n0\n")
    refused("TheaterQ refuses", "a", a="0,1,1,0,1\n")
    refused("say with -o", "a", out=(), a="1\n")
    refused("none", "none")


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    mahimahi_is_played_as_it_is,
    a_single_trace_is_down_and_its_repetition_is_exact,
    theaterq_is_exact_in_delay_rate_and_loss_and_begins_anew,
    what_theaterq_has_and_weir_has_not_is_said,
    cellreplay_has_its_base_delay_and_its_heavy_opportunities,
    what_is_no_trace_or_of_no_direction_is_refused_in_one_line,
)]))
