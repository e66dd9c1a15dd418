#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What weir learn reads of other tools, with exact expectations: files of real programs
(data/README.md), and for owping and RIPE Atlas texts after the descriptions of their formats.

usage: readers.py WEIR ROOT
"""
import gzip
import json
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
import learning  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
learning.need(WEIR, ROOT)
import numpy  # noqa: E402
from weir.learn import found, pairs  # noqa: E402
from weir.learn.readers import files  # noqa: E402

DATA = os.path.join(ROOT, "tests", "learn", "data")


def of(name):
    return files.read(os.path.join(DATA, name))


def of_text(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "measured")
        with open(path, "wb") as out:
            out.write(text if isinstance(text, bytes) else text.encode())
        return files.read(path)


def refused(text, word):
    try:
        of_text(text)
    except pairs.NothingToLearn as error:
        assert word in str(error), error
        return
    raise AssertionError(f"{text[:60]} is read")


def delays(way):
    return (way.received_ns - way.sent_ns)[~way.lost]


def irtt_knows_both_directions_and_which_has_lost():
    measured = of("irtt.json.gz")
    up, down = measured.ways["up"], measured.ways["down"]
    assert (len(up.sent_ns), int(up.lost.sum())) == (169, 7)
    assert (len(down.sent_ns), int(down.lost.sum())) == (162, 0)
    assert 5e6 <= delays(up).min() < 5.2e6, delays(up).min()
    assert 15e6 <= delays(down).min() < 15.2e6, delays(down).min()
    assert set(up.size.tolist()) == {142}  # 100 bytes, UDP, IPv4, Ethernet
    assert not measured.notes


def irtt_whose_answer_is_lost_counts_it_as_lost_on_its_way_back():
    with gzip.open(os.path.join(DATA, "irtt.json.gz")) as file:
        data = json.load(file)
    for row in data["round_trips"][10:13]:
        row["lost"], row["delay"] = "true_down", {}
        row["timestamps"]["server"] = {"receive": {}, "send": {}}
        row["timestamps"]["client"]["receive"] = {}
    measured = of_text(json.dumps(data))
    up, down = measured.ways["up"], measured.ways["down"]
    assert (len(up.sent_ns), int(up.lost.sum())) == (169, 7)
    assert (len(down.sent_ns), int(down.lost.sum())) == (162, 3)
    assert "3 answers" in measured.notes[0]
    data["round_trips"] = [dict(row, timestamps=dict(row["timestamps"], server={}))
                           for row in data["round_trips"]]
    measured = of_text(json.dumps(data))
    assert not measured.ways and len(measured.trip_ns) == 169
    assert int(numpy.isnan(measured.trip_ns).sum()) == 10
    assert "7 up, 3 down" in measured.notes[0]


def iperf3_gives_the_rate_of_the_direction_in_which_it_sent():
    measured = of("iperf3-tcp.json")
    assert list(measured.rates) == ["up"] and measured.least_trip_ns == 26_408_000
    assert 9.31e6 < measured.rates["up"].value < 9.34e6  # of 10 Mbit/s of frames
    measured = of("iperf3-reverse.json")
    assert list(measured.rates) == ["down"] and measured.least_trip_ns is None
    assert round(measured.rates["down"].value) == 9_541_300
    one = found.of_tool(["Head."], measured, "guess")
    assert one.fixed == {"down": ["rate 9541.3kbit"]}, one.fixed


def iperf3_with_udp_gives_losses_and_no_rate():
    measured = of("iperf3-udp.json")
    assert not measured.rates and list(measured.losses) == ["up"]
    assert measured.losses["up"].value == 0.022
    assert measured.losses["up"].holds(0.02)
    assert found.of_tool(["Head."], measured, "guess").fixed == {"up": ["loss random 2.2%"]}


def iperf3_that_failed_or_ran_both_ways_at_once_is_refused():
    with open(os.path.join(DATA, "iperf3-tcp.json"), encoding="utf-8") as file:
        data = json.load(file)
    refused(json.dumps(dict(data, error="unable to connect")), "unable to connect")
    refused(json.dumps(dict(data, end=dict(data["end"], sum_sent_bidir_reverse={}))), "--bidir")


def pings_of_flent_are_the_raw_ones_with_their_losses():
    measured = of("ping.flent.gz")
    assert len(measured.trip_ns) == 160 and measured.answers == 153
    assert float(numpy.nanmin(measured.trip_ns)) == 20.1e6
    assert 0.049e9 < float(numpy.median(numpy.diff(measured.at_ns))) < 0.051e9
    assert not measured.rates and not measured.notes


def throughput_of_flent_is_the_sum_of_its_flows_and_not_their_mean():
    steps = [i * 0.2 for i in range(20)]
    results = {"TCP download BE": [2.0] * 20, "TCP download BK": [3.0] * 20,
               "TCP download avg": [2.5] * 20, "TCP upload": [None] + [1.0] * 19,
               "Ping (ms) avg": [9.0] * 20, "Ping (ms) ICMP": [None] + [30.0] * 19}
    data = {"metadata": {}, "version": 4, "x_values": steps, "results": results}
    measured = of_text(json.dumps(data))
    assert measured.rates["down"].value == 5e6 and measured.rates["up"].value == 1e6
    assert measured.answers == 19 and float(measured.trip_ns[0]) == 30e6
    assert "nothing is known of losses" in measured.notes[0]
    results["TCP download sum"] = [6.0] * 20
    assert of_text(json.dumps(data)).rates["down"].value == 6e6


def owping_text(lines, ends=("192.0.2.1", "192.0.2.2"), tool="owping"):
    return "\n".join(lines) + (f"\n\n--- {tool} statistics from [{ends[0]}]:8760 to "
                               f"[{ends[1]}]:8761 ---\nSID:\t00\n12 sent, 1 lost\n")


def owping_is_one_way_with_its_losses_and_units():
    lines = [f"seq_no={i:<10} delay={20 + i}.5 ms\t(sync, err=0.12 ms)" for i in range(12)]
    lines[5] = "seq_no=5          *LOST*"
    lines[6] = "seq_no=6          delay=26500 us\t(sync, err=0.12 ms)"
    measured = of_text(owping_text(lines))
    assert measured.one_way and not measured.ways and measured.tool == "owping"
    expected = [math.nan if i == 5 else (20.5 + i) * 1e6 for i in range(12)]
    assert numpy.array_equal(measured.trip_ns, expected, equal_nan=True), measured.trip_ns
    assert numpy.array_equal(measured.at_ns, numpy.arange(12) * 0.1e9)
    assert "three digits" in measured.notes[0]
    lines = [f"seq_no={i} delay={1e-3 * (20 + i):e} s (sync, err=0.1 s) sent={100 + i / 4:f} "
             f"recv={101 + i / 4:f}" for i in range(12)]
    measured = of_text(owping_text(lines))
    assert numpy.allclose(measured.at_ns, numpy.arange(12) * 0.25e9)
    assert not measured.notes


def two_sessions_of_owping_are_both_directions():
    away = [f"seq_no={i:<10} delay=30 ms\t(unsync)" for i in range(12)]
    back = [f"seq_no={i:<10} delay=-10 ms\t(unsync)" for i in range(12)]
    measured = of_text(owping_text(away) + owping_text(back, ("192.0.2.2", "192.0.2.1")))
    assert set(delays(measured.ways["up"])) == {30_000_000}
    assert set(delays(measured.ways["down"])) == {-10_000_000}
    assert "not synchronized" in measured.notes[0]
    one = found.of_tool(["Head."], measured, "guess")
    assert not one.settled.sure  # 30 - 10 ms is a round trip of 20 ms
    assert {way.delay.delay.value for way in one.learned.values()} == {10e6}


def twping_has_both_directions_in_one_line():
    lines = [f"seq_no={i:<10} fwd_delay=30 ms bck_delay=5 ms delay=36 ms proc_delay=1 ms\t"
             "(err=0 ms)" for i in range(12)]
    measured = of_text(owping_text(lines, tool="twping"))
    assert measured.tool == "twping"
    assert set(delays(measured.ways["up"])) == {30_000_000}
    assert set(delays(measured.ways["down"])) == {5_000_000}
    refused(owping_text([]), "-v")


def atlas(probe=1, when=0, answers=(), target="192.0.2.9", **more):
    return {"fw": 5080, "type": "ping", "af": 4, "prb_id": probe, "dst_addr": target,
            "timestamp": 1_700_000_000 + when, "size": 48, "result": list(answers), **more}


def pings_of_atlas_are_those_of_one_path_without_copies():
    rows = [atlas(when=240 * i, answers=[{"rtt": 20 + i}, {"x": "*"}, {"rtt": 99, "dup": 1},
                                         {"rtt": 21 + i}]) for i in range(6)]
    rows += [atlas(probe=2, answers=[{"rtt": 500}]), atlas(when=1, answers=[{"error": "no"}])]
    for text in (json.dumps(rows), "\n".join(json.dumps(row) for row in rows)):
        measured = of_text(text)
        assert len(measured.trip_ns) == 18 and measured.answers == 12
        assert float(numpy.nanmax(measured.trip_ns)) == 26e6 and measured.size == 90
        assert measured.at_ns[3] - measured.at_ns[0] == 240e9
        assert "2 paths" in measured.notes[0]


def traceroutes_of_atlas_are_learned_by_their_last_hop():
    def row(i):
        return atlas(when=900 * i, result=[
            {"hop": 1, "result": [{"from": "192.0.2.1", "rtt": 1.0, "ttl": 64, "size": 28}] * 3},
            {"hop": 2, "result": [{"x": "*"}] * 3},
            {"hop": 3, "result": [{"from": "192.0.2.9", "rtt": 40.5, "ttl": 60, "size": 48},
                                  {"x": "*"}, {"late": 1, "from": "192.0.2.9", "rtt": 7.0},
                                  {"from": "192.0.2.9", "rtt": 41.5, "ttl": 60, "size": 48}]},
        ]) | {"type": "traceroute"}

    measured = of_text(json.dumps([row(i) for i in range(6)]))
    assert len(measured.trip_ns) == 18 and measured.answers == 12
    assert set(measured.trip_ns[~numpy.isnan(measured.trip_ns)]) == {40.5e6, 41.5e6}
    refused(json.dumps([row(0) | {"dst_addr": "192.0.2.77"}]), "has reached 192.0.2.77")


def ping_counts_what_never_came_and_its_numbers_begin_anew():
    head = "PING 192.0.2.1 (192.0.2.1) 100(128) bytes of data.\n"
    lines = [f"[{1000 + i}.5] 108 bytes from 192.0.2.1: icmp_seq={(65530 + i) % 65536} ttl=64 "
             f"time=2{i % 10}.5 ms\n" for i in range(12) if i != 4]
    measured = of_text(head + "".join(lines) + "15 packets transmitted, 11 received\n")
    assert len(measured.trip_ns) == 15 and measured.answers == 11 and measured.size == 142
    assert math.isnan(measured.trip_ns[4]) and float(measured.trip_ns[11]) == 21.5e6
    assert float(measured.at_ns[11]) == 11e9


def what_is_damaged_is_refused_in_one_line():
    with open(os.path.join(DATA, "irtt.json.gz"), "rb") as file:
        whole = file.read()
    refused(whole[:2000], "cut or damaged")
    refused(gzip.decompress(whole)[:5000], "Expecting")
    refused('{"round_trips": [{}], "config": {}}', "looks like irtt")
    refused('{"intervals": [], "start": {}}', "looks like iperf3")
    refused('{"results": [], "x_values": 1}', "flent")
    refused("[" * 100_000, "")
    refused("time_s, rtt_ms\n0, 1\n", "10 are the least")
    refused("\0\1\2 nothing", "no output of ping")


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    irtt_knows_both_directions_and_which_has_lost,
    irtt_whose_answer_is_lost_counts_it_as_lost_on_its_way_back,
    iperf3_gives_the_rate_of_the_direction_in_which_it_sent,
    iperf3_with_udp_gives_losses_and_no_rate,
    iperf3_that_failed_or_ran_both_ways_at_once_is_refused,
    pings_of_flent_are_the_raw_ones_with_their_losses,
    throughput_of_flent_is_the_sum_of_its_flows_and_not_their_mean,
    owping_is_one_way_with_its_losses_and_units,
    two_sessions_of_owping_are_both_directions,
    twping_has_both_directions_in_one_line,
    pings_of_atlas_are_those_of_one_path_without_copies,
    traceroutes_of_atlas_are_learned_by_their_last_hop,
    ping_counts_what_never_came_and_its_numbers_begin_anew,
    what_is_damaged_is_refused_in_one_line,
)]))
