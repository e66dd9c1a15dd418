#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`weir learn` as a command: what it writes, what it refuses, and what it says when something is
missing.

usage: learn_command.py WEIR ROOT
"""
import contextlib
import io
import json
import os
import re
import signal
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
from weir.learn import command, order, pairs, windows  # noqa: E402

PACKETS = 20_000
HANGS_S = 300  # also on a machine that is busy


def weir(*words, fine=(0,), **how):
    how.setdefault("env", dict(os.environ, WEIR_PYTHON=sys.executable))
    done = subprocess.run([WEIR, *words], capture_output=True, text=True, **how)
    assert done.returncode in fine, (words, done.returncode, done.stdout, done.stderr)
    return done


@contextlib.contextmanager
def measured(*lines, up=(), packets=PACKETS, whole=False, at_ns=None, **mix):
    """A folder with the captures of both ends of a path, in which packets go both ways if `up` has
    statements."""
    rng = numpy.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)

        with open(at("true.weir"), "w", encoding="utf-8") as out:
            out.write("seed 3\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"
                      + "".join(f"cloud down {line}\n" for line in lines)
                      + "".join(f"cloud up {line}\n" for line in up))
        traffic.write(at("a.sent"), traffic.poisson(rng, packets, 1e6) if at_ns is None else at_ns,
                      300 if whole else traffic.sizes(rng, packets, **mix), whole=whole)
        words = ["replay", "-q", "-c", at("true.weir"), "--in", f"a={at('a.sent')}", "--out",
                 f"b={at('b.received')}"]
        if up:
            traffic.write(at("b.sent"), traffic.poisson(rng, packets, 1e6), 400,
                          source="10.0.1.1", target="10.0.0.1", ports=(6000, 5000))
            words += ["--in", f"b={at('b.sent')}", "--out", f"a={at('a.received')}"]
        weir(*words)
        traffic.merge(at("a.pcap"), at("a.sent"), *([at("a.received")] if up else []))
        traffic.merge(at("b.pcap"), at("b.received"), *([at("b.sent")] if up else []))
        yield folder


def learn(folder, *words, fine=(0,), **how):
    return weir("learn", "--sent", "a.pcap", "--received", "b.pcap", *words, fine=fine, cwd=folder,
                **how)


def a_path_becomes_a_scenario_that_weir_reads_and_proves_itself():
    with measured("loss 1%", "rate 7500kbit queue 30kB", "delay 40ms") as folder:
        done = learn(folder, "-o", "path.weir")
        assert done.stdout.startswith("down: it fits"), done.stdout
        with open(os.path.join(folder, "path.weir"), encoding="utf-8") as file:
            text = file.read()
        assert re.search(r"^cloud down rate 7.5mbit queue 30kB$", text, re.M), text
        assert re.search(r"^cloud down delay 40ms$", text, re.M), text
        assert re.search(r"^cloud down loss random [01]\.\d+%|^cloud down loss random 1%", text,
                         re.M), text
        assert "# Proof: down: it fits" in text, text
        weir("check", "-c", "path.weir", cwd=folder)


def both_directions_are_learned_at_once_and_clocks_do_not_matter():
    with measured("delay 30ms", up=["delay 10ms", "loss 2%"]) as folder:
        for hours in (0, -2):
            if hours:
                traffic.shift(os.path.join(folder, "b.pcap"), hours * 3600 * 10**9)
            found = json.loads(learn(folder, "--json").stdout)
            delays = {name: next(e["value"] for e in one["estimates"] if e["name"] == "delay")
                      for name, one in found["clouds"].items()}
            trip = delays["down"] + delays["up"]
            assert abs(trip - 40e6) < 1e3, delays
            assert found["clocks"]["sure"] == (hours == 0), found["clocks"]
            if hours == 0:
                assert abs(delays["down"] - 30e6) < 1e3, delays
            assert found["clouds"]["up"]["loss"]["model"] == "random"
            assert found["clouds"]["down"]["loss"]["model"] == "none"


def the_slow_beginning_of_a_flow_tells_a_bucket_that_is_never_full_again():
    # Delays depend on each other for 0.1 s, so that only packets that are apart tell something new.
    gaps = numpy.concatenate([numpy.full(30, 26e6), numpy.full(PACKETS - 30, 1.2e6)])
    with measured("rate 9370kbit queue 87pkt algorithm token-bucket burst 15kB",
                  "delay 25ms jitter 1.5ms distribution normal half-life 50ms order keep",
                  at_ns=traffic.BEGIN_NS + numpy.cumsum(gaps).astype(numpy.int64),
                  mix=((1, traffic.MTU_FRAME),)) as folder:
        found = json.loads(learn(folder, "--json", "--clocks", "same", fine=(0, 1)).stdout)
        rate, burst, limit = (next((e for e in found["clouds"]["down"]["estimates"]
                                    if e["name"] == name), None)
                              for name in ("rate", "burst", "queue"))
        assert burst and burst["low"] <= 15_000 <= burst["high"], (rate, burst, limit)
        packet = 1 if limit["unit"] == "pkt" else traffic.MTU_FRAME
        assert abs(limit["value"] / packet - 87) < 3, (rate, burst, limit)


def a_few_small_packets_tell_a_limit_in_bytes_from_one_in_packets():
    for limit, others in (("45kB", 0.01), ("29pkt", 0.01), ("45kB", 0), ("29pkt", 0)):
        with measured(f"rate 11500kbit queue {limit}", "delay 15ms",
                      mix=((1 - others, traffic.MTU_FRAME), (others, 98))) as folder:
            learn(folder, "-o", "path.weir", fine=(0, 1))
            with open(os.path.join(folder, "path.weir"), encoding="utf-8") as file:
                text = file.read()
            assert ("bytes or" in text) == (not others), text
            assert not others or f"queue {limit}\n" in text, text


def delays_of_no_family_become_a_table_beside_the_scenario():
    with measured("delay 30ms jitter 8ms distribution bimodal order allow") as folder:
        learn(folder, "-o", "path.weir", fine=(0, 1))
        with open(os.path.join(folder, "path.weir"), encoding="utf-8") as file:
            assert "distribution table path.down.delays" in file.read()
        weir("check", "-c", "path.weir", cwd=folder)
        assert "-o" in learn(folder, fine=(2,)).stderr


def the_json_has_estimates_with_intervals_and_the_proof():
    with measured("loss 1%", "delay 40ms jitter 2ms distribution normal") as folder:
        found = json.loads(learn(folder, "--json").stdout)
        down = found["clouds"]["down"]
        assert found["fits"] and all(row["fine"] for row in down["proof"]), found
        for estimate in down["estimates"]:
            assert estimate["low"] <= estimate["value"] <= estimate["high"], estimate


def windows_become_a_trace():
    with measured("rate 6mbit queue 3MB", "delay 20ms", "at 8s rate 3mbit queue 3MB") as folder:
        learn(folder, "-o", "path.weir", "--windows", "100ms", fine=(0, 1))
        with open(os.path.join(folder, "path.down.csv"), encoding="utf-8") as file:
            rows = [line.split(",") for line in file.read().splitlines()[1:]]
        rates = numpy.array([[float(cell) for cell in row[:2]] for row in rows])
        early = rates[(rates[:, 0] > 2) & (rates[:, 0] < 7), 1]
        late = rates[(rates[:, 0] > 10) & (rates[:, 0] < 18), 1]
        assert abs(numpy.median(early) - 6) < 0.1 and abs(numpy.median(late) - 3) < 0.1, rates
        weir("check", "-c", "path.weir", cwd=folder)


def what_a_cellular_link_delivers_over_100_ms_is_learned():
    """The mean error over stretches of 100 ms is at most 5 %, and 95 % of them are right to 5 % or
    a packet, if more is sent than the link carries. They begin each 7.3 ms: not where windows do.
    $WEIR_TRACES has further traces of mahimahi."""
    traces = [os.path.join(ROOT, "configs", "traces", "lte-driving.down"),
              *os.environ.get("WEIR_TRACES", "").split()]
    for trace in traces:
        true, again = delivered_by(trace)
        apart = numpy.abs(again - true)
        right = (apart <= numpy.maximum(0.05 * true, 1514)).mean()
        print(f"# {os.path.basename(trace)}: {8 * true.mean() / 1e5:.2f} Mbit/s; mean error "
              f"{100 * apart.mean() / true.mean():.1f} %, right: {100 * right:.0f} %")
        assert apart.mean() <= 0.05 * true.mean() and right >= 0.95, trace


def delivered_by(trace):
    """Returns what a trace delivers over stretches of 100 ms, and what is learned of it does."""
    with measured(f"trace {trace} format mahimahi loop queue 200000pkt", "delay 20ms",
                  packets=2) as folder:
        def delivered(scenario):
            out = os.path.join(folder, "out.pcap")
            weir("replay", "-q", "-c", scenario, "--in", f"a={folder}/load.pcap", "--out",
                 f"b={out}", cwd=folder)
            way = pairs.read(os.path.join(folder, "load.pcap"), out).forward
            came = numpy.sort(way.received_ns[~way.lost] - way.sent_ns[0]).astype(float)
            begin = numpy.arange(0, 19.5e9, 7.3e6)
            return way, 1514.0 * (numpy.searchsorted(came, begin + 100e6)
                                  - numpy.searchsorted(came, begin))

        traffic.write(os.path.join(folder, "load.pcap"), traffic.steady(80_000, 0.25e6), 1514)
        way, true = delivered("true.weir")
        with open(os.path.join(folder, "w.csv"), "w", encoding="ascii") as out:
            out.write(windows.csv(windows.learn(way, 5e6)))
        with open(os.path.join(folder, "again.weir"), "w", encoding="ascii") as out:
            out.write("port a\nport b\ncloud down from a to b\n"
                      "cloud down trace w.csv format csv queue 200000pkt\n")
        return true, delivered("again.weir")[1]


def what_holds_no_path_is_refused_in_one_line():
    with measured("delay 40ms", packets=3000) as folder:
        def refused(word, *words, sent="a.pcap", received="b.pcap"):
            done = weir("learn", "--sent", sent, "--received", received, *words, fine=(2,),
                        cwd=folder)
            assert word in done.stderr and done.stderr.count("\n") == 1, done.stderr
            assert "Traceback" not in done.stderr

        traffic.write(os.path.join(folder, "other.pcap"),
                      traffic.steady(3000, 1e6), 200, source="10.9.9.9", first_id=100_000)
        with open(os.path.join(folder, "empty.pcap"), "wb"):
            pass
        with open(os.path.join(folder, "text.pcap"), "w", encoding="utf-8") as out:
            out.write("not a capture\n" * 100)
        with open(os.path.join(folder, "a.pcap"), "rb") as whole, \
                open(os.path.join(folder, "cut.pcap"), "wb") as out:
            out.write(whole.read()[:5000])
        refused("no packet of", received="other.pcap")
        refused("empty.pcap", received="empty.pcap")
        refused("text.pcap", received="text.pcap")
        refused("there-is-none.pcap", received="there-is-none.pcap")
        refused("100 are the least", sent="cut.pcap")
        refused("named twice", received="a.pcap")
        assert "both ends" in weir("learn", "--sent", "a.pcap", fine=(2,), cwd=folder).stderr


def an_option_that_would_do_nothing_is_refused():
    for words, word in ((("--trace", "--sent", "a", "--received", "b"), "choose one"),
                        (("--live", "a", "--server", "b"), "choose one"),
                        (("--trace",), "names of traces"), (("--live", "a", "b"), "from a file"),
                        (("a", "--time", "5s"), "--time belongs to --live"),
                        (("a", "--most", "5mbit"), "belongs to --live or --server"),
                        (("--live", "a", "--stay"), "--stay belongs to --server"),
                        (("--trace", "a", "--picture", "p"), "--picture belongs to packets"),
                        (("a", "--one-way"), "--one-way belongs to --sent and --received"),
                        (("--sent", "a", "--received", "b", "--headers", "c"), "one capture"),
                        (("a", "--pairs", "b"), "--pairs belongs"), (("a", "b"), "one file"),
                        (("--live", "a", "--time", "1s"), "from 2s to 300s")):
        said = weir("learn", *words, fine=(2,)).stderr
        assert word in said, (words, said)
    rate_only = os.path.join(ROOT, "tests", "learn", "data", "iperf3-tcp.json")
    said = weir("learn", rate_only, "--picture", "p.html", fine=(2,)).stderr
    assert "--picture needs packets" in said and said.count("\n") == 1, said


def a_clock_that_is_set_meanwhile_changes_nothing():
    with measured("loss 1%", "delay 30ms", up=["delay 10ms"]) as folder:
        with open(os.path.join(folder, "b.pcap"), "rb") as file:
            right = file.read()
        for step in (700e6, -3e6):
            with open(os.path.join(folder, "b.pcap"), "wb") as file:
                file.write(right)
            traffic.shift(os.path.join(folder, "b.pcap"), int(step),
                          traffic.BEGIN_NS + 10 * 10**9)
            found = json.loads(learn(folder, "--json").stdout)
            trip = sum(next(e["value"] for e in one["estimates"] if e["name"] == "delay")
                       for one in found["clouds"].values())
            assert abs(trip - 40e6) < 20e3, (step, trip)
            assert any("was set by" in note for note in found["clocks"]["notes"]), found["clocks"]


def one_direction_does_not_tell_a_clock_that_was_set_from_a_route():
    with measured("delay 30ms") as folder:
        traffic.shift(os.path.join(folder, "b.pcap"), 20 * 10**6, traffic.BEGIN_NS + 10 * 10**9)
        said = learn(folder, "-o", "path.weir", fine=(1,)).stdout
        assert "another route or a clock that was set" in said, said


def captures_of_different_lengths_share_what_both_have():
    for shorter in ("a.pcap", "b.pcap"):
        with measured("loss 1%", "delay 30ms") as folder:
            traffic.keep(os.path.join(folder, shorter), 0.6)
            found = json.loads(learn(folder, "--json").stdout)["clouds"]["down"]
            assert found["packets"] < 0.62 * PACKETS, found
            assert found["loss"]["rate"]["value"] < 0.013, found
            assert not any("not sent" in note for note in found["notes"]), found["notes"]


def damage_shows_everywhere_but_in_the_addresses_of_the_link():
    with measured("delay 30ms", whole=True) as folder:
        byte = numpy.tile(numpy.arange(300), 7)
        hit = 50 + 9 * numpy.arange(len(byte))
        traffic.damage(os.path.join(folder, "b.pcap"), hit, byte)
        one = pairs.read(*(os.path.join(folder, name) for name in ("a.pcap", "b.pcap"))).forward
        assert (numpy.flatnonzero(one.damaged) == hit[byte >= 12]).all(), byte[~one.damaged[hit]]
        assert abs(order.corruption(one).value / (len(hit) / PACKETS) - 1) < 0.002


def fragments_are_packets_like_others():
    with measured("delay 30ms") as folder:
        for name in ("a.pcap", "b.pcap"):
            traffic.fragment(os.path.join(folder, name))
        found = json.loads(learn(folder, "--json").stdout)["clouds"]["down"]
        assert found["packets"] == PACKETS and found["lost"] == 0, found


def datagrams_that_a_nic_has_cut_are_refused_with_what_to_do():
    with measured("delay 30ms") as folder:
        traffic.join(os.path.join(folder, "a.pcap"), 4)
        refused = learn(folder, fine=(2,)).stderr
        assert "ethtool -K" in refused and refused.count("\n") == 1, refused


def captures_that_are_swapped_are_recognized_by_their_delay():
    with measured("delay 40ms") as folder:
        done = weir("learn", "--sent", "b.pcap", "--received", "a.pcap", fine=(0, 1), cwd=folder)
        said = done.stdout.replace("\n#  ", "")
        assert "exchange --sent and --received" in said, said


def a_missing_package_is_said_in_one_line_with_what_to_install():
    with tempfile.TemporaryDirectory() as folder:
        bare = os.path.join(folder, "python3")
        with open(bare, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\nexec {sys.executable} -S -I \"$@\"\n")
        os.chmod(bare, 0o755)
        done = weir("learn", "--sent", "a", "--received", "b", fine=(2,),
                    env=dict(os.environ, WEIR_PYTHON=bare))
        assert "lacks the package numpy" in done.stderr, done.stderr
        assert "python3-scipy" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        done = weir("learn", "--sent", "a", "--received", "b", fine=(2,),
                    env=dict(os.environ, WEIR_PYTHON=os.path.join(folder, "none")))
        assert "cannot be started" in done.stderr, done.stderr


def hostile_captures_as_both_ends_or_one_end_with_a_word_in_one_line():
    """Each of them as both ends, and as one end. In this process, as Python starts slowly."""
    folder = os.environ.get("WEIR_HOSTILE")
    if not folder:
        raise tap.Skip("$WEIR_HOSTILE names no folder with hostile captures")
    def hangs(*_):
        raise AssertionError(f"{words} takes longer than {HANGS_S} s")

    statuses = {}
    signal.signal(signal.SIGALRM, hangs)
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "path.weir")
        for name in sorted(os.listdir(folder)):
            path, other = os.path.join(folder, name), os.path.join(folder, ".", name)
            for words in (("--", path), (f"sent={path}", f"received={other}", "--")):
                said, printed = io.StringIO(), io.StringIO()
                signal.alarm(HANGS_S)
                with contextlib.redirect_stderr(said), contextlib.redirect_stdout(printed):
                    status = command.main([
                        "time=1", "most=1", "seed=1", "--", f"out={out}", *words])
                signal.alarm(0)
                statuses[status] = statuses.get(status, 0) + 1
                if status == 2:
                    assert said.getvalue().count("\n") == 1, (name, said.getvalue())
                else:
                    weir("check", "-c", out)
    print(f"# by status: {statuses}")


def hostile_captures_are_paired_or_refused_in_one_line():
    folder = os.environ.get("WEIR_HOSTILE")
    if not folder:
        raise tap.Skip("$WEIR_HOSTILE names no folder with hostile captures")
    with tempfile.TemporaryDirectory() as place:
        for name in sorted(os.listdir(folder)):
            done = weir("learn", "--sent", os.path.join(folder, name), "--received",
                        os.path.join(folder, ".", name), "--pairs", os.path.join(place, "pairs"),
                        fine=(0, 2))
            if done.returncode == 2:
                assert done.stderr.count("\n") == 1, (name, done.stderr)
            else:
                facts = json.loads(done.stdout)
                size = os.path.getsize(os.path.join(place, "pairs"))
                rows = facts["pairs"] + sum(one["only"] + one["copies"]
                                            for one in facts["captures"])
                assert size == 40 * rows, (name, size, facts)


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    a_path_becomes_a_scenario_that_weir_reads_and_proves_itself,
    both_directions_are_learned_at_once_and_clocks_do_not_matter,
    the_slow_beginning_of_a_flow_tells_a_bucket_that_is_never_full_again,
    a_few_small_packets_tell_a_limit_in_bytes_from_one_in_packets,
    delays_of_no_family_become_a_table_beside_the_scenario,
    the_json_has_estimates_with_intervals_and_the_proof,
    windows_become_a_trace,
    what_a_cellular_link_delivers_over_100_ms_is_learned,
    what_holds_no_path_is_refused_in_one_line,
    hostile_captures_are_paired_or_refused_in_one_line,
    hostile_captures_as_both_ends_or_one_end_with_a_word_in_one_line,
    a_clock_that_is_set_meanwhile_changes_nothing,
    one_direction_does_not_tell_a_clock_that_was_set_from_a_route,
    captures_of_different_lengths_share_what_both_have,
    damage_shows_everywhere_but_in_the_addresses_of_the_link,
    fragments_are_packets_like_others,
    datagrams_that_a_nic_has_cut_are_refused_with_what_to_do,
    captures_that_are_swapped_are_recognized_by_their_delay,
    an_option_that_would_do_nothing_is_refused,
    a_missing_package_is_said_in_one_line_with_what_to_install,
)]))
