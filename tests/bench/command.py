#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `weir bench` as its users see it: the parts, their JSON, the report, comparisons, errors.

Nothing here checks speed. Runs last 50 ms, and there is one of each.

usage: command.py WEIR
"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR = os.path.abspath(sys.argv[1])
SHORT = ["--seconds", "0.05", "--runs", "1"]
COST = ["cost", "--scenario", "delay-1ms", "--frame", "64"]


def weir(*words):
    return subprocess.run([WEIR, *words], capture_output=True, text=True)


def bench(part, *words):
    short = {"precision": SHORT[:2], "clock": SHORT[:2], "latency": SHORT[:2],
             "reconf": []}.get(part, SHORT)
    done = weir("bench", part, *words, *short)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
    return done.stdout


def rows(*words):
    said = json.loads(bench(*words, "-j"))
    assert {"cpu", "kernel", "dpdk", "tsc_hz", "weir"} <= set(said["machine"]), said["machine"]
    return said["rows"]


def measured(*words):
    """Returns rows. A run that gets no processor for 50 ms has no packets, and is made again."""
    for _ in range(20):
        said = rows(*words)
        if all(row["mpps"] > 0 for row in said):
            break
    return said


def write(path, said):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(said, out)


def refused(words, *expected):
    done = weir(*words)
    lines = [line for line in done.stderr.splitlines() if "hugepages:" not in line]
    assert done.returncode == 2, f"{words}: status {done.returncode}: {done.stderr}"
    assert len(lines) == 1, f"{words}: {lines}"
    for text in expected:
        assert text in lines[0], f"{words}: {lines[0]}"


def cost_says_what_a_packet_takes_beside_the_ceiling_of_the_same_run():
    row, = measured(*COST)
    assert row["scenario"] == "delay-1ms" and row["frame_bytes"] == 64, row
    assert row["mpps"] > 0 and row["ceiling_mpps"] > 0, row
    assert abs(row["ns_per_packet"] * row["mpps"] - 1000) < 1, row
    assert abs(row["ratio"] - row["mpps"] / row["ceiling_mpps"]) < 0.01 * row["ratio"], row


def a_flight_beside_cost_gets_packets_and_what_it_misses_is_said():
    said = weir("bench", "cost", "--scenario", "loss", "--frame", "64", "--runs", "1",
                "--seconds", "1.5",
                "--flight", "10s", "--snap", "96B", "-j")
    assert said.returncode == 0, said.stderr
    machine, (row,) = json.loads(said.stdout)["machine"], json.loads(said.stdout)["rows"]
    assert machine["flight_ns"] == 10 * 10**9 and machine["flight_snap_bytes"] == 96, machine
    assert row["flight_mpps"] > 0 and 0 <= row["flight_missed"] < 1, row
    assert "flight_mpps" not in rows(*COST)[0]


def a_limit_of_the_file_size_forbids_hugepages_and_the_figures_say_so():
    done = subprocess.run([WEIR, "bench", *COST, *SHORT, "-j"], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                (1 << 20, 1 << 20)))
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
    assert json.loads(done.stdout)["machine"]["hugepages"] is False, done.stdout


def clouds_has_a_row_from_one_to_65536():
    counts = [row["clouds"] for row in rows("clouds")]
    assert counts[0] == 1 and counts[-1] == 65536 and counts == sorted(counts), counts


def clock_compares_100_ms_with_100_ms():
    row, = rows("clock")
    assert row["interval_ns"] == 100000000 and row["samples"] > 0, row
    assert row["error_ns"]["count"] > 0 and row["error_ns"]["p50"] <= row["error_ns"]["max"], row


def latency_ends_with_words_that_a_scenario_takes():
    said = bench("latency")
    ports = re.findall(r"^ *port NAME device (\S+) (rx-latency \S+ tx-latency \S+)$", said, re.M)
    assert len(ports) == 2, said
    assert "rings in this process" in said, said
    with open("latency.weir", "w", encoding="utf-8") as out:
        for name, (_, words) in zip("ab", ports):
            out.write(f"port {name} device net_null{'ab'.index(name)} {words}\n")
        out.write("cloud down from a to b\n")
    done = weir("check", "-c", "latency.weir")
    assert done.returncode == 0, done.stderr
    for _, words in ports:
        assert words in done.stdout, done.stdout


def of_a_loop_half_goes_to_either_end():
    for row in rows("latency"):
        assert row["from"] != row["to"], row
        assert row["tx_latency_ns"] == row["rx_latency_ns"] == row["latency_ns"] // 2, row
        assert row["latency_ns"] <= row["loop_ns"]["max"], row


def reconf_makes_a_thousand_changes_and_loses_nothing():
    row, = rows("reconf")
    assert row["changes"] == 1000, row
    for window in (row["with"], row["without"]):
        assert window["lost_packets"] == 0 and window["sent_packets"] > 0, row
        assert window["missed_away_packets"] <= window["missed_packets"], row
        assert {"own_longest_poll_ns", "own_lateness_ns", "late_packets"} <= set(window), row
    # Losses while others had the processor are not weir's fault. Apart from these, nothing is
    # blocked.
    with_changes = row["with"]
    own = (with_changes["lost_packets"]
           + with_changes["missed_packets"] - with_changes["missed_away_packets"])
    assert (row["blocked_ns"] == own * 1000
            and row["blocked_away_ns"] == with_changes["missed_away_packets"] * 1000), row


def soak_runs_at_half_of_the_critical_load_and_goes_on_where_it_ended():
    soak = ("soak", "--loss-bound", "99%", "--continue", "soak.json", "--hours")
    row, = rows(*soak, "0.001")
    assert (row["critical_mpps"] > 0
            and abs(row["load_mpps"] - row["critical_mpps"] / 2) < 1e-3 * row["load_mpps"]), row
    first = len(row["parts"])
    assert first == 6 and sum(part["seconds"] for part in row["parts"]) >= 3.6, row
    # 4.5 s in parts of 0.75: the last one is as long as what is left.
    again, = rows(*soak, "0.00125")
    assert again["load_mpps"] == row["load_mpps"] and len(again["parts"]) > first, again
    assert again["parts"][-1]["seconds"] < 0.75, again["parts"][-1]
    assert again["parts"][:first] == row["parts"]
    for part in again["parts"]:
        assert part["unaccounted_packets"] == 0 and part["lost_packets"] == 0, part
        # What is left for the last one may be too short to get a processor.
        short = part is again["parts"][-1] and part["seconds"] < 0.1
        assert part["sent_packets"] > 0 or short, part
        assert 0 < part["written_kib"] <= part["rss_kib"] and part["written_first_kib"] > 0, part
    with open("soak.json", encoding="utf-8") as file:
        assert json.load(file) == again
    refused(["bench", "soak", "--continue", "no/such/soak.json", *SHORT], "no/such/soak.json")
    write("other.json", {"part": "cost"})
    done = weir("bench", "soak", "--continue", "other.json", *SHORT)
    assert (done.returncode == 2
            and "other.json: was not written by `weir bench soak --continue`" in done.stderr), (
        done.stderr)


def a_part_of_soak_that_is_interrupted_counts_as_long_as_it_was():
    running = subprocess.Popen([WEIR, "bench", "soak", "--loss-bound", "99%",
                                "--continue", "cut.json", "--hours", "0.01",
                                *SHORT], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    while not os.path.exists("cut.json"):
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.05)
    time.sleep(4.5)  # of the six of the next part; the memory has settled after three
    running.send_signal(signal.SIGINT)
    said = running.communicate()[1]
    assert running.returncode == 1 and "interrupted" in said, said
    with open("cut.json", encoding="utf-8") as file:
        whole, cut = json.load(file)["parts"]
    assert 3 < cut["seconds"] < whole["seconds"], (whole, cut)
    assert abs(cut["until_s"] - whole["seconds"] - cut["seconds"]) < 0.01, (whole, cut)
    assert (cut["unaccounted_packets"] == 0 and cut["lost_packets"] == 0
            and cut["sent_packets"] > 0), cut


def the_report_is_one_file_that_loads_nothing():
    bench(*COST, "--html", "report.html")
    with open("report.html", encoding="utf-8") as page:
        text = page.read()
    assert "<svg" in text and "delay-1ms" in text
    loads = re.findall(r"""(?:src|href)\s*=\s*["'](?!#|data:)([^"']*)""", text)
    assert not loads, loads


def a_file_compared_with_itself_is_no_regression_and_half_the_ratio_is_one():
    said = json.loads(bench(*COST, "-j"))
    for row in said["rows"]:
        row.update(mpps=20, mpps_min=19, mpps_max=21, ratio=0.5, ratio_min=0.48, ratio_max=0.51,
                   ns_per_packet=50)
    write("old.json", said)
    done = weir("bench", "compare", "old.json", "old.json")
    assert done.returncode == 0, done.stdout + done.stderr
    for row in said["rows"]:
        for key in ("mpps", "mpps_min", "mpps_max", "ratio", "ratio_min", "ratio_max"):
            row[key] /= 2
        row["ns_per_packet"] *= 2
    write("slow.json", said)
    done = weir("bench", "compare", "old.json", "slow.json", "--bound", "25%")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "delay-1ms" in done.stdout, done.stdout
    done = weir("bench", "compare", "slow.json", "old.json", "--bound", "25%")
    assert done.returncode == 0, done.stdout + done.stderr


def a_scenario_of_a_file_is_compared_if_it_is_named():
    with open("own.weir", "w", encoding="utf-8") as file:
        file.write("port a\nport b\ncloud down from a to b\ncloud up from b to a\n")
    own = ("-c", "own.weir")
    write("own.json", json.loads(bench("cost", *own, "--frame", "64", "-j")))
    assert "-c does not name it" in bench("compare", "own.json", "--bound", "100%", "-j")
    again, = measured("compare", "own.json", "--bound", "100%", *own)
    assert again["scenario"] == "own.weir" and again["mpps"] > 0, again


def no_packet_of_precision_is_later_after_its_due_time_than_after_its_making():
    """Packets are stamped when they have been received, so the due time is not before the stamp and
    the delay. A percentile is off by less than its bucket is wide, 6.3 % at most; max is exact."""
    said = rows("precision")
    assert len(said) >= 8, said
    assert any(row["lateness_ns"]["count"] > 0 for row in said), said
    for row in said:
        late, through = row["lateness_ns"], row["through_ns"]
        # A turn without a processor has no packets.
        assert late["count"] == through["count"] and (late["count"] > 0 or row["taken"] > 0.5), row
        for key in ("p50", "p90", "p99"):
            assert late[key] <= 1.063 * through[key], (row["load"], key, late, through)
        assert late["max"] <= through["max"], (row["load"], late, through)


def machine_needs_no_run_and_says_a_remedy_for_what_costs_precision():
    said = weir("bench", "machine")
    assert said.returncode == 0, said.stderr
    for word in ("hugepages", "governor", "isolcpus"):
        assert word in said.stdout, said.stdout


def a_page_of_a_soak_alone_is_refused_as_nothing_names_the_machine():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    said = subprocess.run([sys.executable, os.path.join(root, "tools", "endurance.py"),
                           os.path.join(root, "docs", "measured", "soak.json")],
                          capture_output=True, text=True)
    assert said.returncode == 1 and "names the machine" in said.stderr, said.stderr
    assert len(said.stderr.splitlines()) == 1, said.stderr


WRONG = (
    ("cots", "did you mean `cost`"), ("--frme 64", "did you mean --frame?"),
    ("--frame 63", "64 to 9600"), ("--frame 9601", "64 to 9600"), ("--frame 64.5", "64 to 9600"),
    ("--frame", "needs a value"), ("--runs 0", "1 to 32"), ("--runs 33", "1 to 32"),
    ("--seconds -1", "0.05 to"), ("--seconds nan", "like 0.125"), ("--priority 100", "1 to 99"),
    ("--bound 25", "from 0% to 100%"), ("--line-rate 10", "has no unit"),
    ("--layout ring", "`run-to-completion` or `pipeline`"), ("compare", "OLD.json"),
    ("--scenario jiter", "did you mean `jitter`"), ("--scenario x", "like `delay-10ms`"),
    ("--scenario full -c x.weir", "or your own"), ("cost compare old.json", "no other part"),
    ("cost --load held", "--load applies only to precision"),
    ("cost --hours 1", "--hours applies only to soak"), ("soak --hours 0", "--hours"),
    ("reconf --continue x.json", "--continue applies only to soak"),
    ("rfc2544 --device net_null0", "takes two"),
    ("rfc2544 --device a --device b --device c", "two already"),
    ("rfc2544 --device a --device b -c x.weir", "either between two devices"),
    ("precision --frame 64", "cost, rfc2544 and latency"),
    ("compare old.json --frame 64", "cost, rfc2544 and latency"),
    ("cost --device a --device b", "applies only to rfc2544"),
    ("clock -c x.weir", "cost, rfc2544, machine and compare"),
    ("precision --runs 3", "cost, depth, clouds, rfc2544, soak and compare"),
    ("clock machine --runs 3", "--runs applies only to"),
    ("reconf --seconds 1", "--seconds applies only to"),
    ("machine --seconds 1", "--seconds applies only to"),
    ("clock --cores 1", "--cores applies only to"),
    ("latency --layout pipeline", "--layout applies only to"),
    ("clock machine --priority 50", "--priority applies only to"),
    ("cost --snap 96B", "--snap needs --flight"), ("cost --full --frame 64", "--full and --frame"),
    ("cost --full --scenario jitter", "--full and --scenario"),
    ("cost --full -c x.weir", "--full and -c"),
    ("rfc2544 --rfc-times --seconds 1", "--rfc-times and --seconds"),
    ("rfc2544 --rfc-times --runs 1", "--rfc-times and --runs"),
    ("depth --scenario full", "applies only to cost"), ("clouds --full", "applies only to cost"),
    ("cost --line-rate 10gbit", "applies only to rfc2544"),
    ("rfc2544 --cable 3", "applies only to latency"), ("latency --cable -1", "0 to 10000"),
    ("latency --device a", "takes two"), ("latency --frame 9000", "latency takes lengths"),
    ("cost --rfc-times", "applies only to rfc2544"),
    ("cost --bound 25%", "applies only to compare"), ("rfc2544 --frame imix", "one length"),
    ("--frame 9000", "64 to 1518"), ("compare old.json new.json -j", "only the verdict"),
    ("compare old.json new.json --html x", "only the verdict"),
    ("compare old.json new.json --runs 3", "takes no --runs"),
    ("compare old.json new.json -c x.weir", "takes no --config"))


def what_is_wrong_is_said_in_one_line_with_status_2_before_anything_is_measured():
    refused(["bench", "cost", "--html", "no/such/report.html"], "no/such/report.html")
    refused(["bench", "compare", "nothing.json"], "nothing.json")
    for line, says in WRONG:
        refused(["bench", *line.split()], "weir bench: ", says)


CLAIMS = [cost_says_what_a_packet_takes_beside_the_ceiling_of_the_same_run,
          a_flight_beside_cost_gets_packets_and_what_it_misses_is_said,
          a_limit_of_the_file_size_forbids_hugepages_and_the_figures_say_so,
          clouds_has_a_row_from_one_to_65536,
          clock_compares_100_ms_with_100_ms,
          latency_ends_with_words_that_a_scenario_takes,
          of_a_loop_half_goes_to_either_end,
          reconf_makes_a_thousand_changes_and_loses_nothing,
          soak_runs_at_half_of_the_critical_load_and_goes_on_where_it_ended,
          a_part_of_soak_that_is_interrupted_counts_as_long_as_it_was,
          the_report_is_one_file_that_loads_nothing,
          a_file_compared_with_itself_is_no_regression_and_half_the_ratio_is_one,
          a_scenario_of_a_file_is_compared_if_it_is_named,
          no_packet_of_precision_is_later_after_its_due_time_than_after_its_making,
          machine_needs_no_run_and_says_a_remedy_for_what_costs_precision,
          a_page_of_a_soak_alone_is_refused_as_nothing_names_the_machine,
          what_is_wrong_is_said_in_one_line_with_status_2_before_anything_is_measured]

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(tap.run([(claim.__name__, claim) for claim in CLAIMS]))
