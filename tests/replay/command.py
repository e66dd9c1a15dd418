#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `weir replay` as its users see it: options, messages, files, signals, pipes.

usage: command.py WEIR MAKE_CAPTURE
"""
import csv
import glob
import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, MAKE_CAPTURE = (os.path.abspath(program) for program in sys.argv[1:3])
PORTS = "port a\nport b\ncloud down from a to b\n"
LOSSY = PORTS + "cloud down loss random 10%\ncloud down delay 20ms jitter 3ms\n"
DROPS = ["loss", "queue-full", "no-buffer", "tx-full", "removed"]
CLOUD_KEYS = ["cloud", "rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "held_packets",
              "duplicated", "generated", "reordered", "corrupted", "ecn_marked", "becn_sent",
              "drops", "delay_ns", "lateness_ns", "queue"]


def make(path, **values):
    words = [word for name, value in values.items()
             for word in (f"--{name.replace('_', '-')}", str(value))]
    subprocess.run([MAKE_CAPTURE, *words, path], check=True)


def scenario(text, path="s.weir"):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def weir(*words, **more):
    return subprocess.run([WEIR, "replay", *words], capture_output=True, **more)


def as_nobody(*arguments):
    """Runs weir as a user without rights, who cannot read this build folder or the folders above
    it."""
    programs = [WEIR, *glob.glob(f"{WEIR}-v[234]")]
    copies = [shutil.copy(program, os.path.basename(program)) for program in programs]
    os.chmod(".", 0o777)
    done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                           f"./{copies[0]}", "replay", *arguments], capture_output=True, text=True)
    for copy in copies:
        os.remove(copy)
    return done


def good(*words, **more):
    done = weir(*words, **more)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr.decode()}"
    return done


def files():
    return sorted(os.listdir("."))


def read(path):
    with open(path, "rb") as data:
        return data.read()


def what_is_wrong_is_said_in_one_line_with_status_2_and_nothing_is_written():
    scenario(PORTS)
    make("in", packets=10)
    make("raw", packets=10, link_type=105)
    scenario(PORTS + "cloud down delay 10\n", "bad.weir")
    before = files()
    base = ["-c", "s.weir", "--in", "a=in", "--out", "b=out"]
    for words, says in (
            ([], "no scenario is given"),
            (["-c", "s.weir"], "no capture is given"),
            (["-c", "s.weir", "--in", "a=in"], "no output is requested"),
            (["-c", "none.weir", "--in", "a=in", "--out", "b=out"], "none.weir"),
            (["-c", "bad.weir", "--in", "a=in", "--out", "b=out"], "bad.weir:4:"),
            (["-c", "s.weir", "--in", "a", "--out", "b=out"], "like --in a=FILE"),
            (["-c", "s.weir", "--in", "c=in", "--out", "b=out"], "there are `a` and `b`"),
            (["-c", "s.weir", "--in", "left,right=in", "--out", "b=out"],
             "no port `left`; there are `a` and `b`"),
            (["-c", "s.weir", "--in", "a=in", "--out", "down=out"], "no port `down`"),
            (["-c", "s.weir", "--in", "a=none", "--out", "b=out"], "No such file"),
            (["-c", "s.weir", "--in", "a=raw", "--out", "b=out"], "link type IEEE802_11 (105)"),
            (["-c", "s.weir", "--in", "a=s.weir", "--out", "b=out"], "is not a readable capture"),
            (["-c", "s.weir", "--in", "a=in", "--out", "b=in"], "is read"),
            (["-c", "s.weir", "--in", "a=in", "--out", "b=s.weir"], "is read"),
            (["-c", "s.weir", "--in", "a=in", "--out", "b=none/out"],
             "none/out: cannot be written"),
            (["-c", "s.weir", "--in", "a,b=in", "--out", "b=out"], "--split"),
            (base + ["--split", "first"], "--in A,B=PCAP"),
            (["-c", "s.weir", "--in", "a,b=in", "--out", "b=out", "--split", "ip=1.2.3"],
             "ip=10.0.0.1"),
            (["-c", "s.weir", "--in", "a=-", "--in", "b=-", "--out", "b=out"], "names it 2 times"),
            (base + ["--report", "out"], "written twice"),
            (base + ["--log", "in"], "is read"),
            (base + ["--report", "none/r"], "none/r: cannot be written"),
            (base + ["--picture", "none/p"], "none/p: cannot be written"),
            (base + ["--out", "b=out2"], "output already"),
            (base + ["--seed", "one"], "--seed `one`"),
            (base + ["--burst", "0"], "--burst `0`"),
            (base + ["--burst", "33"], "--burst `33`"),
            (base + ["--memory", "64"], "has no unit"),
            (base + ["--memory", "1kB"], "from 16MiB"),
            (base + ["--reprot", "r"], "did you mean --report?"),
            (base + ["--seed"], "needs a value"),
            (base + ["-x"], "no such option -x;"),
            (base + ["--set", "cloud down loss off"], "--set is for --recording DIR"),
            (base + ["--until", "1s"], "--until is for --recording DIR"),
            (base + ["--packet", "1"], "--packet is for --recording DIR"),
            (base + ["--ideal"], "--ideal is for --recording DIR"),
            (base + ["more"], "more: unknown word `more`")):
        done = weir(*words, text=True)
        assert done.returncode == 2, f"{words}: status {done.returncode}: {done.stderr}"
        assert done.stdout == "", f"{words}: {done.stdout}"
        assert len(done.stderr.splitlines()) == 1, f"{words}: {done.stderr}"
        assert says in done.stderr, f"{words}: {done.stderr}"
        assert files() == before, f"{words}: left {files()}"


def a_seed_that_nobody_gave_is_printed_and_gives_the_same_bytes_again():
    scenario(LOSSY)
    make("in", packets=2000)
    first = good("-c", "s.weir", "--in", "a=in", "--out", "b=one", text=True)
    seed = re.match(r"seed (\d+): ", first.stdout)
    assert seed, first.stdout
    again = good("-c", "s.weir", "--in", "a=in", "--out", "b=two", "--seed", seed[1], text=True)
    assert read("one") == read("two")
    assert again.stdout == first.stdout
    good("-c", "s.weir", "--in", "a=in", "--out", "b=three")
    assert read("one") != read("three")
    scenario("seed 5\n" + LOSSY)
    assert good("-c", "s.weir", "--in", "a=in", "--out", "b=two").stdout.startswith(b"seed 5: ")


def the_report_has_the_keys_of_the_contract_in_their_order():
    scenario("seed 18446744073709551615\n" + LOSSY)
    make("in", packets=1000, gap_ns=1000000)
    good("-q", "-c", "s.weir", "--in", "a=in", "--out", "b=out", "--report", "r.json")
    report = json.loads(read("r.json"))
    assert list(report) == ["seed", "duration_ns", "clouds", "ports"], list(report)
    assert report["seed"] == "18446744073709551615"
    cloud = report["clouds"][0]
    assert (list(cloud)[:len(CLOUD_KEYS)]
            == CLOUD_KEYS), list(cloud)  # a cloud may add keys of its own
    assert [reason for reason in cloud["drops"] if reason in DROPS] == DROPS, cloud["drops"]
    assert list(cloud["delay_ns"]) == ["min", "p50", "p99", "p99.9", "max"]
    # Virtual time is never late.
    assert cloud["lateness_ns"] is None and report["ports"][1]["lateness_ns"] is None
    assert list(cloud["queue"]) == ["packets", "bytes", "average"]
    assert isinstance(cloud["queue"]["average"], float)
    assert cloud["rx_packets"] == 1000
    assert cloud["tx_packets"] + cloud["drops"]["loss"] == 1000
    assert 16000000 < cloud["delay_ns"]["min"] < 18000000
    assert [port["port"] for port in report["ports"]] == ["a", "b"]
    assert report["ports"][1]["tx_packets"] == cloud["tx_packets"]


def a_report_as_csv_has_the_figures_of_that_in_json():
    make("in", packets=100)
    scenario("seed 7\n" + LOSSY)
    reports = {}
    for name in ("r.json", "r.csv", "r.csv.gz"):
        good("-q", "-c", "s.weir", "--in", "a=in", "--out", "b=out", "--report", name)
        reports[name] = gzip.decompress(read(name)) if name.endswith(".gz") else read(name)
    assert reports["r.csv"] == reports["r.csv.gz"]
    rows = list(csv.DictReader(reports["r.csv"].decode().splitlines()))
    assert {row["scope"] for row in rows} == {"run", "cloud", "replay-port"}, rows
    found = {(row["scope"], row["name"], row["figure"]): row["value"] for row in rows}
    assert len(found) == len(rows)
    report = json.loads(reports["r.json"])

    def expect(scope, name, figures, path=""):
        for key, value in figures.items():
            if isinstance(value, dict):
                expect(scope, name, value, f"{path}{key}.")
            elif value is not None and key not in ("cloud", "port") and value != "":
                assert float(found[scope, name, path + key]) == float(value), (path + key, value)

    expect("run", "", {"seed": report["seed"], "duration_ns": report["duration_ns"]})
    for cloud in report["clouds"]:
        expect("cloud", cloud["cloud"], cloud)
    for port in report["ports"]:
        expect("replay-port", port["port"], port)


def standard_input_and_output_are_captures_too():
    scenario(PORTS + "cloud down delay 1ms\n")
    make("in", packets=1000, pcapng=1)
    good("-q", "-c", "s.weir", "--in", "a=in", "--out", "b=out")
    with open("in", "rb") as data:
        done = good("-c", "s.weir", "--in", "a=-", "--out", "b=-", stdin=data)
    assert done.stdout == read("out")
    assert b"1,000 packets read" in done.stderr
    piped = subprocess.run(f"cat in | '{WEIR}' replay -q -c s.weir --in a=- --out b=- | cat > "
                           "piped",
                           shell=True)
    assert piped.returncode == 0
    assert read("piped") == read("out")


def a_stopped_replay_leaves_nothing():
    scenario("seed 1\n" + LOSSY)
    make("in", packets=1000)
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.mkfifo("fifo")
        replay = subprocess.Popen(
            [WEIR, "replay", "-c", "s.weir", "--in", "a=fifo", "--out", "b=out", "--report", "r",
             "--log", "l", "--picture", "p"], stderr=subprocess.PIPE)
        with open("fifo", "wb") as pipe:
            data = read("in")
            pipe.write(data)
            pipe.flush()
            # The replay has begun when its files exist; then it waits for input.
            while len(files()) < 7:
                assert replay.poll() is None
                time.sleep(0.01)
            replay.send_signal(stop)
            try:
                for _ in range(200):
                    pipe.write(data[24:])
                    pipe.flush()
                    time.sleep(0.001)
            except BrokenPipeError:
                pass
        error = replay.communicate()[1]
        assert replay.returncode == 1, f"{stop}: status {replay.returncode}: {error}"
        assert b"interrupted" in error, error
        os.unlink("fifo")
        assert files() == ["in", "s.weir"], f"{stop}: left {files()}"


def a_full_disk_ends_with_status_2_and_leaves_nothing():
    scenario("seed 1\n" + LOSSY)
    make("in", packets=50000, bytes=500)
    base = ["-q", "-c", "s.weir", "--in", "a=in"]
    before = files()
    for words in (["--out", "b=/dev/full"], ["--out", "b=out", "--report", "/dev/full"],
                  ["--out", "b=out", "--log", "/dev/full"],
                  ["--out", "b=out", "--picture", "/dev/full"]):
        done = weir(*base, *words, text=True)
        assert done.returncode == 2, f"{words}: status {done.returncode}: {done.stderr}"
        assert "No space left on device; make room" in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert files() == before, f"{words}: left {files()}"


def a_full_small_file_system_ends_with_status_2_and_is_left_as_it_was():
    if os.geteuid() != 0:
        raise tap.Skip("mounting a small tmpfs needs root")
    scenario("seed 1\n" + LOSSY)
    make("in", packets=50000, bytes=500)
    os.mkdir("disk")
    script = (f"mount -t tmpfs -o size=4m none disk && echo old > disk/out && "
              f"'{WEIR}' replay -q -c s.weir --in a=in --out b=disk/out --log disk/log; "
              f"echo status $?; ls -A disk; cat disk/out")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True,
                          text=True)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        raise tap.Skip("a mount namespace of its own is not allowed here")
    assert done.stdout.split() == ["status", "2", "out", "old"], done.stdout + done.stderr
    assert "No space left on device" in done.stderr, done.stderr


def a_corrupt_capture_is_processed_up_to_there_and_that_is_said():
    scenario("seed 1\n" + PORTS)
    make("in", packets=100, bytes=60)
    data = bytearray(read("in"))
    at = 24 + 40 * (16 + 60) + 8  # the length in the record of the 41st frame
    data[at:at + 4] = b"\xff\xff\xff\x7f"
    with open("in", "wb") as out:
        out.write(data)
    done = good("-c", "s.weir", "--in", "a=in", "--out", "b=out", "--report", "r.json", text=True)
    assert "port a: the capture is damaged, and ends: in: after frame 40: " in done.stderr, (
        done.stderr)
    assert "40 packets read, 40 written" in done.stdout, done.stdout
    assert len(read("out")) == 24 + 40 * (16 + 60)
    assert "after frame 40" in json.loads(read("r.json"))["ports"][0]["damage"]


def a_busiest_second_is_printed_only_if_a_whole_second_has_passed():
    scenario("seed 1\n" + PORTS + "cloud down rate 1gbit queue 1MB\n")
    for gap_ns, printed in ((5 * 10**6, False), (20 * 10**6, True)):
        make("in", packets=100, bytes=1000, gap_ns=gap_ns)
        done = good("-c", "s.weir", "--in", "a=in", "--out", "b=out", "--picture", "p.html",
                    text=True)
        said = " ".join(done.stdout.split())
        assert "on average" in said and (b"on average" in read("p.html")), done.stdout
        assert ("in the busiest second" in said) == printed, done.stdout
        assert (b"in the busiest second" in read("p.html")) == printed


def no_permission_is_said_with_status_2():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise tap.Skip("only root can take on another user")
    scenario("seed 1\n" + PORTS)
    make("in", packets=10)
    shutil.copy("in", "secret")
    os.chmod("secret", 0)
    os.mkdir("closed", 0o755)
    before = files()
    for capture, out, says in (("secret", "out", "secret: cannot be read: Permission denied"),
                               ("in", "closed/out",
                                "closed/out: cannot be written: Permission denied")):
        done = as_nobody("-c", "s.weir", "--in", f"a={capture}", "--out", f"b={out}")
        assert done.returncode == 2 and done.stderr == f"weir replay: {says}\n", done.stderr
        assert files() == before and os.listdir("closed") == []


def it_needs_no_root():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise tap.Skip("only root can take on another user")
    scenario("seed 1\n" + LOSSY)
    make("in", packets=1000)
    done = as_nobody("-q", "-c", "s.weir", "--in", "a=in", "--out", "b=out")
    assert done.returncode == 0, done.stderr


def memory_does_not_grow_with_the_capture():
    scenario("seed 1\n" + LOSSY)
    # The peak memory of children only rises, so the short capture comes first. The picture is of
    # 131,072 packets of each at most.
    peak = []
    for packets in (131000, 1000000):
        make("in", packets=packets, bytes=60, bytes_max=200)
        good("-q", "-c", "s.weir", "--in", "a=in", "--out", "b=out", "--picture", "p")
        peak.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    assert peak[1] - peak[0] < 16384, f"{peak[0]} kB for 131,000 packets, {peak[1]} for 1,000,000"


def the_picture_needs_nothing_else_and_is_the_same_again():
    scenario("seed 1\n" + LOSSY + "cloud down rate 5mbit queue 20kB\n")
    make("in", packets=20000, jitter_ns=1000000)
    base = ["-q", "-c", "s.weir", "--in", "a=in", "--out", "b=out"]
    good(*base, "--picture", "p.html")
    page = read("p.html").decode()
    for text in ("<svg", "Delay", "Queue", "Throughput", "delivered", "lost as configured",
                 "random 10%", "seed 1",
                 "\nconfigured: 20 ms", "\nlost as configured: ", "\non the link: "):
        assert text in page, f"{text} is missing"
    assert not re.search(r"<script|<link|@import|(src|href)\s*=\s*[\"'](?!#)", page)
    good(*base, "--picture", "again.html", "--log", "log.csv")
    assert read("p.html") == read("again.html")


def a_picture_without_python_is_refused_before_the_run():
    scenario("seed 1\n" + LOSSY)
    before = files()
    # The capture is not read: it is not even there.
    done = weir("-q", "-c", "s.weir", "--in", "a=none", "--out", "b=out", "--picture", "p",
                text=True, env={**os.environ, "WEIR_PYTHON": "/no/python3"})
    assert done.returncode == 2 and files() == before
    assert done.stderr == ("weir --picture: it is Python, and /no/python3 cannot be started: No "
                           "such file or directory; $WEIR_PYTHON names it\n"
                           "weir replay: p: cannot be drawn without Python\n"), done.stderr


def if_python_ends_before_it_has_drawn_no_file_appears():
    scenario("seed 1\n" + LOSSY)
    make("in", packets=100)
    for last in ("exit 1", "printf '<html>'; exit 3", "kill -9 $$"):
        with open("python", "w", encoding="utf-8") as out:
            # It is asked whether it is there, too, and nobody reads what it says then.
            out.write(f"#!/bin/sh\nexec 2> /dev/null\necho\n{last}\n")
        os.chmod("python", 0o755)
        before = files()
        done = weir("-q", "-c", "s.weir", "--in", "a=in", "--out", "b=out", "--picture", "p",
                    text=True, env={**os.environ, "WEIR_PYTHON": os.path.abspath("python")})
        assert (done.returncode, done.stderr) == (1, "weir replay: p: could not be drawn\n"), last
        assert files() == before, last


def a_jitter_is_not_flattened_by_an_axis_from_0_and_that_is_said():
    make("in", packets=2000)
    for delay, from_0 in (("280ms jitter 2ms", False), ("20ms jitter 15ms", True), ("280ms", True)):
        scenario("seed 1\n" + PORTS + f"cloud down delay {delay}\n")
        good("-q", "-c", "s.weir", "--in", "a=in", "--picture", "p.html")
        page = read("p.html").decode()
        ticks = re.findall(r'class="tick"[^>]*>([^<]*)<',
                           re.findall(r"<svg.*?</svg>", page, re.S)[0])
        assert ("does not begin at 0" in page) != from_0, delay
        assert (ticks.count("0") + ticks.count("0 ms") > 1) == from_0, (delay, ticks)


def tools_of_others_see_the_same_packets_later():
    if not shutil.which("tshark") or not shutil.which("editcap"):
        raise tap.Skip("tshark and editcap are not installed")
    scenario(PORTS + "cloud down delay 100ms\n")
    make("in", packets=500, bytes=60, bytes_max=1500, pcapng=1, gap_ns=999)
    good("-q", "-c", "s.weir", "--in", "a=in", "--out", "b=out")
    # editcap moves by whole nanoseconds, too, and tshark prints both files.
    subprocess.run(["editcap", "-F", "nsecpcap", "-t", "0.1", "in", "moved"], check=True)
    seen = [subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch", "-e",
                            "frame.len", "-e", "frame.cap_len", "-e", "data.data"],
                           capture_output=True, check=True).stdout for path in ("moved", "out")]
    assert seen[0] == seen[1]
    assert len(seen[0].splitlines()) == 500


def what_is_not_as_it_should_be_is_said():
    scenario("seed 1\nport c\n" + PORTS)
    make("in", packets=100, cut_bytes=7, back_every=10, back_ns=2500000, gap_ns=1000000)
    make("stray", packets=10)
    done = good("-c", "s.weir", "--in", "a=in", "--in", "c=stray", "--report", "r.json", text=True)
    for text in ("after frame 99: the file ends in the middle of a frame",
                 "9 frames put in the order of the time stamps",
                 "port c: 10 packets came in and no cloud took them",
                 "port b: 99 packets left and were not written; --out b=PCAP would write them"):
        assert text in done.stderr, f"{text}: {done.stderr}"
    port = json.loads(read("r.json"))["ports"][1]
    assert (port["clock_back"], port["clock_back_max_ns"], port["sorted"]) == (9, 1500000, 9), port
    assert "ends in the middle of a frame" in port["damage"], port


def a_split_that_takes_all_or_nothing_is_said():
    scenario("seed 1\n" + PORTS + "cloud up from b to a\n")
    make("both", packets=20)
    for rule, text, packets in (
            ("port=9", "both: --split port=9: no frame matches, so all 20 packets came in at port "
                       "b and none at a: "
             "clouds from a got no packets", [0, 20]),
            ("first", "both: --split first: every frame matches, so all 20 packets came in at port "
                      "a and none at b: "
             "clouds from b got no packets", [20, 0])):
        done = good("-c", "s.weir", "--in", "a,b=both", "--split", rule, "--report", "r.json",
                    text=True)
        assert text in done.stderr, done.stderr
        split = {"capture": "both", "rule": rule, "ports": ["a", "b"], "packets": packets}
        assert json.loads(read("r.json"))["splits"] == [split]


def in_a_picture_a_quantity_has_one_unit():
    """On axes, under the pointer and in tables: delays of 280 and 850 ms, rates of 10 and 2
    Mbit/s."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    good("-q", "-c", f"{root}/configs/geo-satellite.weir",
         "--in", f"a,b={root}/tests/replay/data/linux-tcp.pcap",
         "--split", "mac=02:00:00:00:00:0a", "--picture", "p.html")
    page = read("p.html").decode()
    labels = set(re.findall(r">([A-Z][a-z]+) \(([^)]*)\)<", page))
    assert labels == {("Time", "s"), ("Delay", "ms"), ("Throughput", "Mbit/s"),
                      ("Queue", "kB")}, labels
    texts = (re.findall(r"<title>(.*?)</title>", page, re.S)[1:]
             + re.findall(r"<td[^>]*>(.*?)</td>", page, re.S))
    used = set(re.findall(r"\d (ns|µs|ms|s|bit/s|kbit/s|Mbit/s|Gbit/s|B|kB|MB)\b",
                          "\n".join(texts)))
    assert used == {"s", "ms", "Mbit/s", "kB"}, used


def a_picture_of_a_template_shows_the_packets_of_its_clouds():
    """With one flow, the template's only cloud is drawn like a plain one, packet for packet."""
    make("in", packets=300)
    drawn = []
    for kind, per in (("cloud", ""), ("clouds", " per flow")):
        scenario(f"seed 1\nport a\nport b\n{kind} down from a to b{per}\n{kind} down rate 10mbit\n"
                 f"{kind} down delay 20ms\n")
        good("-q", "-c", "s.weir", "--in", "a=in", "--picture", f"{kind}.html")
        drawn.append(re.findall(r"<svg.*?</svg>", read(f"{kind}.html").decode(), re.S)[0])
    assert drawn[0].count("<") > 20, drawn[0][:300]
    assert drawn[0] == drawn[1]


def what_no_cloud_takes_has_the_name_of_its_port_if_it_passes_and_no_line_if_not():
    make("in", packets=3)
    long = "a" * 22
    for port, clouds, name in (("a", "cloud v from a to b match icmp\n", "untouched a"),
                               (long, f"cloud v from {long} to b match icmp\n", "untouched port 0"),
                               ("a", "cloud v from a to b match icmp\n"
                                     "cloud w from a to a match tcp\n", None)):
        scenario(f"seed 1\nport {port}\nport b\n{clouds}")
        good("-q", "-c", "s.weir", "--in", f"{port}=in", "--log", "log", "--report", "r.json",
             "--capture", "c")
        log = [line.split(",") for line in read("log").decode().splitlines()[1:]]
        assert ([line[1:2] + line[3:6] for line in log]
                == ([[port, name, "delivered", ""]] * 3 if name else [])), log
        counts = json.loads(read("r.json"))["ports"][0]
        assert (counts["untouched"], counts["no_cloud"]) == ((3, 0) if name else (0, 3)), counts
        assert f"{name}:in".encode() in read("c") or not name


def main():
    claims = [claim for name, claim in globals().items()
              if callable(claim) and getattr(claim, "__module__", "") == "__main__"
              and name not in ("make", "scenario", "weir", "as_nobody", "good", "files",
                               "read", "main")]

    def alone(claim):
        def inside():
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                try:
                    claim()
                finally:
                    os.chdir("/")
        return inside

    return tap.run([(claim.__name__, alone(claim)) for claim in claims])


sys.exit(main())
