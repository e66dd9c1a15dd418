# SPDX-License-Identifier: BSD-3-Clause
"""again.py WEIR SOURCE: replays recordings of live runs: every departure is at the same
nanosecond."""
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap
from random_run import STATEMENTS, WORKERS, disturb, of_shipped_scenarios, random_scenario
from scene import (PATIENCE_S, WEIR, Client, Scene, around, blocks, end_started, read_capture,
                   write_hostile)

SOURCE = os.path.abspath(sys.argv[2])
THREE = """\
seed 11
port a
port b
port c
cloud ab from a to b priority 1 match udp
cloud ac from a to c
cloud ba from b to a
cloud ca from c to a
cloud cb from c to b priority 1 match tcp
cloud ab loss random 3%
cloud ab rate 20mbit queue 50kB
cloud ab delay 8ms
cloud ac delay 4ms jitter 1ms
cloud ba rate 40mbit queue 60pkt
cloud ba codel
cloud ca loss gilbert-elliott p 2% r 30%
cloud ca delay 3ms jitter 2ms order allow
cloud cb duplicate 2%
cloud cb delay 1ms
"""
def record(folder, text, ports, options, seed=1, packets=8000, changes=STATEMENTS, level=None,
           **more):
    scene = Scene(folder, ports, packets=packets, seed=seed, **more)
    scene.scenario(text)
    first = scene.start(*options, level=level)
    clients = [first, type(first)(scene.at("socket"))]
    clouds = [line.split()[1] for line in text.splitlines()
              if line.startswith("cloud ") and " from " in line]
    if changes and clouds:
        scene.taken = disturb(scene.lasts_s, clients, clouds, random.Random(seed), changes)
    scene.until_played()
    time.sleep(0.5)
    for client in clients:
        client.close()
    scene.said = scene.stop()
    return scene


def assert_runs_again(scene):
    said = scene.again()
    assert "known up to" not in said, said
    before, after = said.replace(",", "").split(" left; ")
    again, compared = int(before.split()[-1]), int(after.split()[0])
    # Packets that were due when weir ended, but had not left its engine, are not on the tape.
    try:
        left = scene.assert_equal(again - compared)
    except AssertionError as reason:
        raise AssertionError(f"{reason}\n{said}") from None
    assert 0 < left <= compared, f"{left} left: {said}"


def runs_again(options):
    def claim():
        with tempfile.TemporaryDirectory() as folder:
            scene = record(folder, THREE, "abc", options)
            assert scene.taken > 0, "no change was taken"
            assert_runs_again(scene)

    return claim


def every_shipped_scenario_runs_again_with_random_changes():
    def one(folder, text, options, index):
        scene = record(folder, text, "ab", options, seed=index + 2, packets=4000)
        assert_runs_again(scene)

    of_shipped_scenarios(SOURCE, 5 if os.environ.get("WEIR_SANITIZED") else 1, one)


def random_scenarios_run_again_with_random_changes():
    rng = random.Random(99)
    rounds = 2 if os.environ.get("WEIR_SANITIZED") else int(
        os.environ.get("WEIR_RECORD_CASES", "6"))
    for case in range(rounds):
        text = random_scenario(rng)
        with tempfile.TemporaryDirectory() as folder:
            try:
                scene = record(folder, text, "abc",
                               list(WORKERS.values())[case % 3], seed=case + 50, packets=4000)
                assert_runs_again(scene)
            except AssertionError as reason:
                raise AssertionError(f"{text}{reason}")


# Statements that read headers, so that headers with wrong contents can mislead them.
READS_HEADERS = """\
seed 7
port a
port b
cloud down from a to b
cloud down hop 192.0.2.1 2001:db8::1 mtu 400 limit 1000000
cloud down loss every 10 burst 2
cloud down rate 10mbit algorithm token-bucket burst 15kB queue 90kB
cloud down delay 40ms jitter 5ms distribution normal order allow
cloud up from b to a
cloud up hop 192.0.2.1 2001:db8::1 mtu 600 through down
cloud up loss random 5% ecn
cloud up corrupt random 5%
cloud up duplicate 3%
cloud up rate 20mbit queue 50pkt
cloud up fq-codel
cloud up ecn on
cloud up delay 40ms jitter 5ms distribution uniform order keep
"""


def hostile_packets_run_again():
    for seed, (name, options) in enumerate(WORKERS.items()):
        with tempfile.TemporaryDirectory() as folder:
            # Clouds of several workers cannot be connected.
            text = READS_HEADERS.replace(" through down", "") if options else READS_HEADERS
            scene = record(folder, text, "ab", options, seed=seed + 20, packets=6000,
                           write=write_hostile, changes=[
                               line for line in STATEMENTS if "corrupt" not in line])
            try:
                assert_runs_again(scene)
            except AssertionError as reason:
                raise AssertionError(f"{name}: {reason}") from None


def levels():
    """Returns the levels that weir has a program for, and that this processor supports."""
    found = []
    for level in ("v2", "v3", "v4"):
        done = subprocess.run([WEIR, "--version"], capture_output=True, env=around(level))
        if f"for x86-64-{level}," in done.stdout.decode():
            found.append(level)
    return found


def what_one_level_of_the_processor_recorded_runs_again_on_all_others():
    there = levels()
    if len(there) < 2:
        raise tap.Skip("weir is built for one level, or the processor has no other")
    for index, level in enumerate(there):
        with tempfile.TemporaryDirectory() as folder:
            scene = record(folder, [READS_HEADERS, THREE][index % 2], "abc"[:2 + index % 2], [],
                           seed=index + 30,
                           packets=5000, level=level)
            said = {other: scene.again(level=other) for other in there}
            assert len(set(said.values())) == 1 and "are not" not in said[level], said
            for other in there:
                scene.again(level=other)
                scene.assert_equal()


# ---- a damaged recording ----

LOSSY = """\
seed 42
port a
port b
cloud down from a to b
cloud up from b to a
cloud down loss random 5%
cloud down rate 30mbit queue 60kB
cloud down delay 5ms
cloud up delay 2ms jitter 1ms
"""


class Kept:
    """One recording that many claims read."""

    folder = None

    @classmethod
    def scene(cls):
        if not cls.folder:
            cls.folder = tempfile.TemporaryDirectory()
            cls.kept = record(cls.folder.name, LOSSY, "ab", [], packets=4000)
        return cls.kept


def with_file(name, change, *options, status=0):
    """Replaces one file of the recording, and returns the output of a replay."""
    scene = Kept.scene()
    path = scene.at(f"R/{name}")
    with open(path, "rb") as file:
        before = file.read()
    try:
        with open(path, "wb") as file:
            file.write(change(bytearray(before)))
        return scene.again(*options, outputs=False, status=status)
    finally:
        with open(path, "wb") as file:
            file.write(before)


def a_bit_that_is_flipped_is_found_where_it_first_matters():
    scene = Kept.scene()
    scene.again()
    left = [frame for _, frame in read_capture(scene.at("again-a.pcap"))]

    def flip(data):
        for at, kind, _ in blocks(data):
            if kind == 6 and struct.unpack_from("<I", data, at + 8)[0] == 1:
                kept = struct.unpack_from("<I", data, at + 20)[0]
                if data[at + 28:at + 28 + kept] == frame:
                    data[at + 28 + 45] ^= 4
                    return data
        raise AssertionError("a packet that has left is not recorded")

    # One in the middle that left once.
    place, frame = next((place, frame) for place, frame in enumerate(left, 1)
                        if place > len(left) // 2 and len(frame) > 45 and left.count(frame) == 1)
    said = with_file("ingress.pcapng", flip, status=1)
    assert f"worker 0: packet {place} out of port 0" in said, f"{place}: {said}"


def a_change_that_is_moved_is_found_at_the_packet_where_it_first_matters():
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder, "ab", packets=3000, gap_ns=800000)
        scene.scenario("seed 3\nport a\nport b\ncloud up from b to a\ncloud up delay 2ms\n")
        client = scene.start()
        # At once: packets must come behind it, on a busy machine, too.
        assert b'"ok":true' in client.say("cloud up delay 3ms")
        scene.until_played()
        client.close()
        scene.stop()
        scene.again()
        path = scene.at("R/ingress.pcapng")
        with open(path, "rb") as file:
            data = file.read()
        kept = [data[at:at + length] for at, _, length in blocks(data)]
        change = next(i for i, block in enumerate(kept)
                      if block[:4] == struct.pack("<I", 0x80776972) and block[20] == 2)
        packet = next(i for i in range(change, len(kept))
                      if kept[i][:12] == struct.pack("<I", 6) + kept[i][4:8] + struct.pack("<I", 1))
        high, low = struct.unpack_from("<II", kept[packet], 12)
        # The change now comes one nanosecond after the packet that it preceded.
        late = kept[change][:32] + struct.pack("<Q", (high << 32 | low) + 1) + kept[change][40:]
        moved = kept[:change] + kept[change + 1:packet + 1] + [late] + kept[packet + 1:]
        with open(path, "wb") as file:
            file.write(b"".join(moved))
        said = scene.again(outputs=False, status=1)
        # This packet leaves at 2 ms instead of 3 ms. As many packets have left as arrived before
        # the change.
        ahead = sum(block[:4] == struct.pack("<I", 6) and block[8:12] == struct.pack("<I", 1)
                    for block in kept[:change])
        number = int(said.split("packet ")[1].split()[0])
        assert abs(number - ahead - 1) <= 40 and "out of port 0" in said, f"{ahead}: {said}"


def another_seed_is_found():
    said = with_file("scenario.weir", lambda data: data.replace(b"seed 42", b"seed 43", 1),
                     status=1)
    assert "differs from the recorded run" in said, said


def a_difference_names_the_version_that_recorded_the_run():
    def by_another(data):
        return re.sub(rb'("weir": *)"[^"]*"', rb'\1"0.0.1"', bytes(data))

    assert "0.0.1" not in with_file("recording.json", by_another)  # nothing differs
    scene = Kept.scene()
    with open(scene.at("R/recording.json"), "rb") as file:
        before = file.read()
    assert by_another(before) != before
    try:
        with open(scene.at("R/recording.json"), "wb") as file:
            file.write(by_another(before))
        said = with_file("scenario.weir", lambda data: data.replace(b"seed 42", b"seed 43", 1),
                         status=1)
    finally:
        with open(scene.at("R/recording.json"), "wb") as file:
            file.write(before)
    assert "weir 0.0.1 recorded it" in said, said


def a_recording_that_is_cut_anywhere_replays_up_to_there():
    rng = random.Random(7)
    scene = Kept.scene()
    size = os.path.getsize(scene.at("R/ingress.pcapng"))
    for _ in range(20 if os.environ.get("WEIR_SANITIZED") else int(
            os.environ.get("WEIR_RECORD_CUTS", "60"))):
        cut = rng.randrange(size)
        status = 0 if cut > 200 else None
        done = None
        try:
            done = with_file("ingress.pcapng", lambda data: data[:cut], status=0)
        except AssertionError as reason:
            # Not even the head is complete: this is an error, without further output.
            assert status is None and "status 2" in str(reason), f"cut at {cut}: {reason}"
        assert done is None or "known up to" in done or "0 packets" in done, f"at {cut}: {done}"


def a_bit_flipped_anywhere_ends_no_repetition_by_a_signal():
    rng = random.Random(8)
    scene = Kept.scene()
    path = scene.at("R/ingress.pcapng")
    with open(path, "rb") as file:
        before = file.read()
    try:
        for _ in range(15 if os.environ.get("WEIR_SANITIZED") else 40):
            data = bytearray(before)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            with open(path, "wb") as file:
                file.write(data)
            done = subprocess.run([WEIR, "replay", "--recording", scene.at("R"), "-q"],
                                  capture_output=True, timeout=120)
            assert done.returncode in (0, 1, 2), done
    finally:
        with open(path, "wb") as file:
            file.write(before)


def what_the_last_of_a_pipeline_could_not_send_ends_no_other_worker():
    with tempfile.TemporaryDirectory() as folder:
        scene = record(folder, LOSSY, "ab", WORKERS["a pipeline"], packets=500, changes=())
        # The device did not take a packet. The last worker of the pipeline records this; it has no
        # clouds, and does not write an end of its tape.
        entry = struct.pack("<IBBHIIQQ", 32, 7, 0, 0, 60, 1, 0, 1)
        block = struct.pack("<IIII", 0x80776972, 52, 3, 0) + entry + struct.pack("<I", 52)
        with open(scene.at("R/ingress.pcapng"), "ab") as file:
            file.write(block)
        said = scene.again()
        assert "1 were lost by weir itself" in said and "known up to" not in said, said


def of_a_packet_and_its_copy_that_are_alike_one_can_be_lost():
    with tempfile.TemporaryDirectory() as folder:
        scene = record(folder, LOSSY + "cloud up duplicate 50%\n", "ab", [], packets=500,
                       changes=())
        scene.again()
        before = read_capture(scene.at("again-a.pcap"))
        with open(scene.at("R/ingress.pcapng"), "rb") as file:
            data = file.read()
        for at, kind, length in blocks(data):
            if kind != 0x80776972 or data[at + 20] != 5 or data[at + 22] != 0:
                continue
            n, first = struct.unpack_from("<I", data, at + 24)[0], struct.unpack_from(
                "<Q", data, at + 40)[0]
            digests = struct.unpack_from(f"<{n}I", data, at + 48)
            pair = next((i for i in range(n - 1) if digests[i] == digests[i + 1]), None)
            if pair is not None:
                break
        assert pair is not None, "no copy left with its packet"
        due = before[first - 1 + pair][0]
        entry = struct.pack("<IBBHIIQQ", 32, 7, 0, 0, 60, digests[pair], 0, due)
        with open(scene.at("R/ingress.pcapng"), "ab") as file:
            file.write(struct.pack("<IIII", 0x80776972, 52, 0, 0) + entry + struct.pack("<I", 52))
        said = scene.again()
        after = read_capture(scene.at("again-a.pcap"))
        assert "1 were lost by weir itself" in said and len(after) == len(before) - 1, said


# More than 4 MiB are held, so many packets find no memory, in each kind of place.
SHORT = """\
seed 5
port a
port b
port c
cloud ab from a to b priority 1 match udp
cloud ac from a to c
cloud ba from b to a
cloud ca from c to a
cloud far from ab to b
cloud ab duplicate 5%
cloud ab rate 80mbit queue 40MB
cloud ab fq-codel
cloud ab delay 300ms jitter 5ms
cloud far delay 200ms
cloud ac reorder random 20% by 3pkt
cloud ac delay 300ms
cloud ba hop 192.0.2.254 mtu 1000
cloud ba rate 100mbit queue 20MB
cloud ba delay 300ms
cloud ca rate 200mbit queue 20MB drop head
cloud ca delay 300ms jitter 5ms order allow
"""


# Clouds that are not connected: no device can delay them.
SHORT_APART = """\
seed 6
port a
port b
cloud down from a to b
cloud up from b to a
cloud down duplicate 5%
cloud down rate 200mbit queue 40MB
cloud down delay 400ms jitter 5ms
cloud up loss random 3%
cloud up rate 120mbit queue 40MB drop head
cloud up codel
cloud up delay 300ms
"""


def what_is_known_ends_where_memory_was_short():
    for text, options in [(SHORT_APART, []), *((SHORT, options) for options in WORKERS.values())]:
        with tempfile.TemporaryDirectory() as folder:
            scene = record(folder, text, "abc"[:text.count("\nport")],
                           ["--memory", "4MiB", *options], changes=())
            assert "no-buffer" in scene.said, scene.said
            with open(scene.at("R/outcome.json")) as file:
                until_ns = json.load(file)["recorded"]["repeats_until_ns"]
            assert (f"from +{until_ns // 10**6 / 1000:.3f} s on, weir had no memory for some "
                    "packets; what follows cannot be repeated") in scene.said, (
                        until_ns, scene.said)
            said = scene.again("--log", scene.at("fates.csv"))
            ends = re.findall(r"known up to \+(\d+)\.(\d{9}) s: from then on weir had no memory "
                              r"for some packets; what follows cannot be repeated", said)
            assert min(int(s + ns) for s, ns in ends) == until_ns, (until_ns, said)
            scene.assert_equal(until_ns=until_ns)
            with open(scene.at("fates.csv")) as file:
                assert all(line.split(",")[5] != "no-buffer" for line in file), said
            # Up to there the machine has changed nothing, and behind it nothing is compared.
            ideal = scene.again("--ideal", outputs=False)
            assert "they find some here" in ideal and "known up to" not in ideal, ideal
            compared = diff(scene.at("R"), "--ideal", status=0)
            assert compared["same"] and compared["fates"] > 0, compared
            assert min(row["known_ns"] for row in compared["runs"][0]["unknown"]) == until_ns


def what_an_older_weir_recorded_replays_up_to_where_it_had_no_memory():
    """older/ has a recording and a flight (with a snapshot of format 3), made by a weir that wrote
    down each packet without memory. In the replay of that weir, the first of these packets came at
    the same instant."""
    for name, until, agrees in (("run", "0.244072905", "793 compared: all left at the same"),
                                ("flight", "0.644588927", "from +0.252171256 s on; 6 comparisons")):
        folder = os.path.join(SOURCE, "tests/record/older", name)
        done = subprocess.run([WEIR, "replay", "--recording", folder, "-q"], capture_output=True)
        said = done.stdout.decode()
        assert done.returncode == 0 and agrees in said and (
            f"known up to +{until} s: from then on weir had no memory" in said), (name, done)


def killed_behind_a_change(*options):
    """Records, makes a change, and kills weir. Returns what the repetition says. On a busy machine
    the change may not be written yet: then it waits longer before it kills."""
    for wait in (0.6, 3, 15):
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(folder, "ab", packets=20000)
            scene.scenario(LOSSY)
            scene.start(*options).say("cloud down delay 9ms")
            time.sleep(wait)
            scene.stop(signal.SIGKILL)
            said = scene.again()
        if "0 changes," not in said:
            break
    return said


def of_a_weir_that_is_killed_what_was_written_replays():
    said = killed_behind_a_change()
    assert "1 change," in said and re.search(r"known up to \+\d", said), said


# ---- questions about a recording ----

def the_way_of_a_packet_is_told_in_words():
    said = Kept.scene().again("--packet", "17", outputs=False)
    assert "packet 17 of port a" in said and "packet 17 of port b" in said, said
    assert "comes to up" in said and "leaves up" in said, said


def a_packet_that_did_not_come_is_said_beside_those_that_came():
    said = Kept.scene().again("--packet", "9999", outputs=False)
    assert ("weir replay: --packet 9999: no such packet came to a cloud; "
            "port a has 1 to 4000, port b has 1 to 4000\n") in said, said
    assert "no such packet" not in Kept.scene().again("--packet", "17", outputs=False)


# The queue holds more than the run lasts, and the line holds half a second of it.
ENDS_HELD = """\
seed 4
port a
port b
cloud down from a to b
cloud up from b to a
cloud down rate 100kbit queue 10MB
cloud down delay 500ms
"""


def what_is_held_at_the_end_has_no_fate_but_on_a_line_and_no_output_is_lost():
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder, "ab", packets=1000)
        scene.scenario(ENDS_HELD)
        client = scene.start()
        end = time.monotonic() + PATIENCE_S
        while json.loads(client.say("show cloud down"))["tx_packets"] < 3:
            assert time.monotonic() < end, "nothing leaves"
            time.sleep(0.05)
        client.close()
        scene.stop()
        files = ("log", "capture", "picture")
        logs = set()
        for wanted in itertools.product((False, True), repeat=len(files) + 1):
            names = [name for name, on in zip(files, wanted) if on]
            options = [word for name in names for word in (f"--{name}", scene.at(name))]
            said = scene.again(*options, *["--packet", "900"] * wanted[-1])
            assert ("(still under way)" in said) == wanted[-1] and "DROPPED" not in said, said
            if "log" in names:
                with open(scene.at("log")) as file:
                    logs.add(file.read())
            for name in names:
                os.remove(scene.at(name))
        assert len(logs) == 1, "the log depends on the other outputs"
        rows = [line.split(",") for line in logs.pop().splitlines()[1:] if ",down," in line]
        left = [t_ns for t_ns, _ in read_capture(scene.at("again-b.pcap"))]
        assert 3 <= len(left) < len(rows) < 1000, (len(left), len(rows))
        assert {row[4] for row in rows} == {"delivered"}, rows
        assert [int(row[6]) for row in rows][:len(left)] == left, (rows, left)


def what_would_have_happened_is_told():
    scene = Kept.scene()
    report = scene.at("report.json")
    said = scene.again("--set", "no cloud down loss", "--report", report)
    assert "not compared" in said, said
    with open(report) as file:
        down = json.load(file)["clouds"][0]
    assert down["cloud"] == "down" and down["drops"]["loss"] == 0, down
    with open(scene.at("other.weir"), "w") as out:
        out.write("port a\nport b\ncloud down from a to b\ncloud up from b to a\n")
    scene.again("-c", scene.at("other.weir"), "--report", report)
    with open(report) as file:
        assert json.load(file)["clouds"][0]["drops"]["queue-full"] == 0


def up_carries(client):
    end = time.monotonic() + PATIENCE_S
    while json.loads(client.say("show cloud up"))["rx_packets"] < 100:
        assert time.monotonic() < end, "nothing comes in"
        time.sleep(0.01)


def up_in(scene):
    """Runs it again. Returns the cloud up of the report, and its lines of the log."""
    scene.again("--report", scene.at("report.json"), "--log", scene.at("log.csv"), outputs=False)
    with open(scene.at("report.json")) as file:
        up = next(cloud for cloud in json.load(file)["clouds"] if cloud["cloud"] == "up")
    with open(scene.at("log.csv")) as file:
        return up, [line.split(",") for line in file if line.split(",")[3] == "up"]


def a_cloud_that_a_change_removed_is_reported_with_what_it_carried_until_then():
    for name, options in WORKERS.items():
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(folder, "ab", packets=4000)
            scene.scenario(LOSSY)
            client = scene.start(*options)
            up_carries(client)
            assert b'"ok":true' in client.say("no cloud up")
            client.close()
            scene.stop()
            up, log = up_in(scene)
            came = len(log)
            assert up["rx_packets"] == came >= 100 and up["tx_packets"] > 0, (name, came, up)


def a_cloud_that_a_change_replaced_is_reported_with_what_it_carried_itself():
    ways = {"again": ["no cloud up", "cloud up from b to a"],
            "elsewhere": ["begin", "no cloud up", "no cloud down", "cloud up from a to b",
                          "commit"]}

    for (name, options), (way, lines) in itertools.product(WORKERS.items(), ways.items()):
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(folder, "ab", gap_ns=1000000)
            scene.scenario("port a\nport b\ncloud down from a to b\ncloud up from b to a\n"
                           "cloud up loss every 2\n")
            client = scene.start(*options)
            up_carries(client)
            for line in lines:
                assert b'"ok":true' in client.say(line), (line, way)
            up_carries(client)
            client.close()
            scene.stop()
            up, log = up_in(scene)
            lost = sum(line[4] == "dropped" for line in log)
            # Only the first cloud drops each second packet.
            assert up["drops"]["loss"] == lost >= 50, (name, way, lost, up)
            assert (up["rx_packets"] - 2 * lost in (0, 1)
                    and len(log) >= up["rx_packets"] + 100), (name, way, len(log), up)


def fates(path):
    """Returns the fate or reason of each packet of a log, and of its copy, and its delay."""
    with open(path) as file:
        rows = [line.rstrip("\n").split(",") for line in file][1:]
    return {(row[1], row[0], "copy" in row[7]):
            (row[5] or row[4], int(row[6]) - int(row[2]) if row[6] else None) for row in rows}


def diff(*words, status=1):
    done = subprocess.run([WEIR, "diff", *words, "--json"], capture_output=True)
    assert done.returncode == status, done
    return json.loads(done.stdout)


def what_differs_is_what_the_logs_of_both_say():
    scene = Kept.scene()
    line = "cloud down rate 25mbit queue 40kB"
    scene.again("--log", scene.at("one.csv"), outputs=False)
    scene.again("--log", scene.at("two.csv"), "--set", line, outputs=False)
    one, two = fates(scene.at("one.csv")), fates(scene.at("two.csv"))
    wanted, spans = {}, []
    for packet, (fate, delay) in one.items():
        other, other_delay = two.get(packet, ("not decided", None))
        if fate != other:
            wanted[fate, other] = wanted.get((fate, other), 0) + 1
        elif delay is not None:
            spans.append(other_delay - delay)
    for packet in two.keys() - one.keys():
        change = "not decided", two[packet][0]
        wanted[change] = wanted.get(change, 0) + 1
    said = diff(scene.at("R"), "--set", line)
    assert wanted and spans, (wanted, len(spans))
    assert {(row["from"], row["to"]): row["packets"] for row in said["changes"]} == wanted, said
    delays = said["delays"]
    assert delays["equal"] == spans.count(0) and delays["shorter"] == sum(s < 0 for s in spans)
    assert delays["min_ns"] == min(spans) and delays["max_ns"] == max(spans), delays
    spans.sort()
    for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        exact = spans[int((len(spans) - 1) * share)]
        assert abs(delays[name] - exact) <= abs(exact) / 31, (name, exact, delays)


def two_recordings_are_the_same_or_not():
    scene = Kept.scene()
    said = diff(scene.at("R"), scene.at("R"), status=0)
    assert said["same"] and said["fates"] > 0 and said["first"] is None, said
    with tempfile.TemporaryDirectory() as folder:
        other = record(folder, LOSSY.replace("delay 5ms", "delay 6ms"), "ab", [], packets=4000,
                       changes=())
        said = diff(scene.at("R"), other.at("R"))
        assert not said["same"] and said["runs"][1]["packets"] > 0, said


def what_cannot_be_compared_is_said_with_status_2():
    scene = Kept.scene()
    for words, why in (([scene.at("R")], b"compare it with another recording"),
                       ([], b"one recording or two"),
                       ([scene.at("R"), scene.folder], b"this folder holds no recording"),
                       ([scene.at("R"), "--set", "cloud nix delay 1ms"], b"nix"),
                       ([scene.at("R"), scene.at("R"), "--ideal"], b"here are two")):
        done = subprocess.run([WEIR, "diff", *words], capture_output=True)
        assert done.returncode == 2 and why in done.stderr, done
    with open(scene.at("R/scenario.weir")) as file:
        text = file.read()
    try:
        with open(scene.at("R/scenario.weir"), "w") as file:
            file.write(text.replace("seed 42", "seed 43"))
        done = subprocess.run([WEIR, "diff", scene.at("R"), scene.at("R")], capture_output=True)
        assert done.returncode == 2 and b"differs from the recorded run" in done.stderr, done
    finally:
        with open(scene.at("R/scenario.weir"), "w") as file:
            file.write(text)


def a_repetition_ends_when_it_is_asked_to():
    scene = Kept.scene()
    scene.again()
    leaves = {port: [t for t, _ in read_capture(scene.at(f"again-{port}.pcap"))] for port in "ab"}
    middle = sorted(leaves["a"] + leaves["b"])[(len(leaves["a"]) + len(leaves["b"])) // 2]
    scene.again("--until", f"{middle}ns")
    for port, instants in leaves.items():
        ended = [t for t, _ in read_capture(scene.at(f"again-{port}.pcap"))]
        assert ended == [t for t in instants if t <= middle], f"port {port}, until {middle} ns"
    assert "--until" in scene.again("--until", "0s", status=2)  # not: without an end


def with_a_snap_headers_are_kept_and_fates_are_the_same():
    with tempfile.TemporaryDirectory() as folder:
        # The corrupted bit depends on the length of the frame, and may be beyond the snap length.
        changes = [line for line in STATEMENTS if "corrupt" not in line]
        scene = record(folder, LOSSY, "ab", ["--snap", "96B"], packets=3000, changes=changes)
        scene.again("--log", scene.at("fates.csv"))
        for port in "ab":
            live = read_capture(scene.at(f"live-{port}.pcap"))
            again = read_capture(scene.at(f"again-{port}.pcap"))
            assert len(live) == len(again)
            for one, other in zip(live, again):
                assert one[0] - live[0][0] == other[0] - again[0][0]
                assert one[1][:96] == other[1]
        assert os.path.getsize(scene.at("R/ingress.pcapng")) < 6000 * 280


def statements_that_look_behind_the_snap_are_named_by_both():
    with tempfile.TemporaryDirectory() as folder:
        text = LOSSY + ("cloud up corrupt 1%\ncloud up rewrite set ip.ttl 9\n"
                        "cloud down at 100s corrupt bit-error 1e-6\ncloud up loss bit-error 1e-6\n")
        scene = record(folder, text, "ab", ["--snap", "96B"], packets=500, changes=())
        for said in (scene.said, scene.again()):
            for named in ("cloud up corrupt random: ", "cloud up rewrite: ",
                          "cloud down at ... corrupt bit-error: "):
                assert named in said, f"{named}: {said}"
            # `loss bit-error` is not affected: it uses lengths on the wire.
            assert "only the first 96 bytes" in said and "loss bit-error:" not in said, said


def what_a_change_brings_is_said_when_it_comes_and_of_what_would_have_been():
    text = """\
seed 4
port a
port b
cloud far from a to b match udp[90:2] = 7 or udp[1:1] = 9
cloud near from a to b priority 1 match udp[8:2] = 7
cloud computed from b to a priority 2 match tcp[((tcp[12:1] & 0xf0) >> 2):2] = 0x4745
cloud up from b to a
cloud up rate 90mbit
cloud up class voice weight 1 match ip[200] = 3
cloud up class rest weight 1
"""
    named = ["cloud far match udp[90:2] = 7 or udp[1:1] = 9: it may compare more bytes",
             "cloud computed match tcp[((",
             "cloud up class voice match ip[200] = 3: it may"]
    came = "cloud up corrupt random: "
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder, "ab", packets=1500)
        scene.scenario(text)
        client = scene.start("--snap", "96B")
        # It inverts nothing here, however early it comes: without the bytes behind the snap, a
        # repetition inverts other bits.
        assert b'"ok":true' in client.say("cloud up corrupt 0.0001%")
        assert b'"ok":true' in client.say("cloud up delay 1ms")
        scene.until_played()
        client.close()
        said = scene.stop()
        set_line = "cloud near rewrite set ip.ttl 9"
        done = subprocess.run([WEIR, "diff", scene.at("R"), "--set", set_line], capture_output=True)
        assert done.returncode == 0, done  # a TTL changes no fate
        for words in (said, scene.again(outputs=False, status=None), done.stderr.decode()):
            for line in [*named, came]:
                assert words.count(line) == 1, f"{line}: {words}"
            assert "cloud near match" not in words, words
        assert "the changed rerun: cloud near rewrite: " in done.stderr.decode(), done
        with open(scene.at("R/changes.jsonl")) as file:
            rows = [json.loads(line) for line in file]
        warned = next(i for i, row in enumerate(rows) if "warning" in row)
        # Losses may be reported between the two.
        change = next(row["change"] for row in rows[warned:] if "change" in row)
        assert rows[warned]["warning"].startswith(came) and change == 1, rows


def a_limit_ends_the_recording_and_not_the_run():
    with tempfile.TemporaryDirectory() as folder:
        scene = record(folder, LOSSY, "ab", ["--limit", "1MiB"], packets=4000)
        assert "its limit is reached" in scene.said, scene.said
        said = scene.again()
        assert "known up to" in said, said
        size = os.path.getsize(scene.at("R/ingress.pcapng"))
        assert size < (1 << 20) + 300_000, size
        assert_says_what_it_has(scene, said,
                                r"([\d,]+) packets, 1(?:\.\d+)? MB; it ended at (\+[0-9.]+) s: its "
                                r"limit")


def assert_says_what_it_has(scene, again, ends, few=0):
    """The run and outcome.json name as many packets as the replay has, or `few` fewer, and the
    instant of the end."""
    here = int(re.search(r"(\d+) packets? came in", again.replace(",", "")).group(1))
    end = re.search(ends, scene.said)
    assert end, scene.said
    there, until = end.groups()
    there = there.replace(",", "")
    with open(scene.at("R/outcome.json")) as file:
        recorded = json.load(file)["recorded"]
    assert recorded["ended_early"] and recorded["packets"] == int(there), (recorded, scene.said)
    assert here - few <= int(there) <= here, (again, scene.said)
    assert few or f"known up to {until}" in again, (again, scene.said)


def a_file_that_takes_no_more_ends_the_recording_which_says_no_more_than_it_has():
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder, "ab", packets=4000)
        scene.scenario(LOSSY)
        # More than each output has, and less than what comes in. If more is in the file already,
        # the machine was too slow, and the run is made again.
        limit, written = 6_000_000, None
        while written is None or written > limit:
            if written:
                scene.stop()
                shutil.rmtree(scene.at("R"))
            scene.start().close()
            resource.prlimit(scene.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
            written = os.path.getsize(scene.at("R/ingress.pcapng"))
        scene.until_said("R ends here, and the run continues: File too large")
        scene.until_played()
        scene.said = scene.stop()
        said = scene.again()
        assert_says_what_it_has(scene, said,
                                r"at least ([\d,]+) packets?, [\d.]+ [kM]?B(?:; some are missing, "
                                r"because the disk was too slow)?; it ended at (\+[0-9.]+) s: "
                                r"File too large",
                                few=8000)


ZSTD = "R/ingress.pcapng.zst"


def what_is_compressed_runs_again_whole_and_cut_and_with_bits_flipped():
    rng = random.Random(12)
    with tempfile.TemporaryDirectory() as folder:
        scene = record(folder, LOSSY, "ab", ["--zstd"], packets=4000)
        assert_runs_again(scene)
        assert not os.path.exists(scene.at("R/ingress.pcapng"))
        size = os.path.getsize(scene.at(ZSTD))
        assert size < 0.7 * sum(os.path.getsize(scene.at(f"{port}.pcap")) for port in "ab"), size
        with open(scene.at(ZSTD), "rb") as file:
            whole = file.read()
        assert whole[:4] == b"\x28\xb5\x2f\xfd"
        known = []
        for part in range(1, 13):
            with open(scene.at(ZSTD), "wb") as file:
                file.write(whole[:size * part // 13 - rng.randrange(50)])
            said = scene.again(outputs=False)
            until = re.search(r"known up to \+([0-9.]+) s", said)
            assert until and "the zstd stream is cut off" in said, f"part {part} of 13: {said}"
            known.append(float(until.group(1)))
        # The stream is flushed every 0.1 s, in a run of 0.8 s.
        assert known == sorted(known) and len(set(known)) >= 5, known
        for _ in range(25):
            data = bytearray(whole)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            with open(scene.at(ZSTD), "wb") as file:
                file.write(data)
            done = subprocess.run([WEIR, "replay", "--recording", scene.at("R"), "-q"],
                                  capture_output=True, timeout=120)
            assert done.returncode in (0, 1, 2), done


def a_compressed_recording_of_a_weir_that_is_killed_replays_and_a_limit_is_of_the_file():
    said = killed_behind_a_change("--zstd")
    assert "1 change," in said and re.search(r"known up to \+\d", said), said
    with tempfile.TemporaryDirectory() as folder:
        scene = record(folder, LOSSY, "ab", ["--limit", "1MiB", "--zstd"], packets=40000,
                       gap_ns=40000,
                       changes=())
        assert "its limit is reached" in scene.said, scene.said
        assert (1 << 20) <= os.path.getsize(scene.at(ZSTD)) < (1 << 20) + 600_000
        assert "known up to" in scene.again(outputs=False)


def came_in(path):
    """Returns the packets of an ingress.pcapng by port, with instant and frame."""
    with open(path, "rb") as file:
        data = file.read()
    packets = {}
    for at, kind, _ in blocks(data):
        if kind == 6:
            port, high, low, kept = struct.unpack_from("<IIII", data, at + 8)
            packets.setdefault(port, []).append((high << 32 | low, data[at + 28:at + 28 + kept]))
    return packets


def straight(scene, device):
    """Writes a scenario of clouds that do nothing, with this device for each port. Returns the
    result of weir check."""
    with open(scene.at("straight.weir"), "w") as out:
        out.write("seed 1\n"
                  + "".join(f"port {port} device {device.format(port=port)}\n" for port in "ab")
                  + "cloud down from a to b\ncloud up from b to a\n")
    return subprocess.run([WEIR, "check", "-c", scene.at("straight.weir")], capture_output=True,
                          text=True)


def longest_poll_ns(client):
    """Returns how long a worker that never sleeps was away, by its own clock: so late may a packet
    be."""
    return max(worker["longest_poll_ns"]
               for worker in json.loads(client.say("show workers"))["workers"])


def played(of, name, speed):
    """Plays a recording into a weir. Returns all packets that arrived, by port."""
    done = straight(of, f"file:{of.at(name)},interface={{port}},speed={speed}")
    assert done.returncode == 0, done
    os.rename(of.at("straight.weir"), of.at("live.weir"))
    client = of.start("--sleep", "none", record="S")
    frames = {port: [frame for _, frame in read_capture(of.at(f"{'ab'[port]}.pcap"))]
              for port in (0, 1)}
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        ports = json.loads(client.say("show ports"))["ports"]
        if all(port["rx_packets"] == len(frames[0]) for port in ports):
            break
        time.sleep(0.1)
    client.close()
    of.stop()
    after = came_in(os.path.join(of.at("S"), "ingress.pcapng"))
    shutil.rmtree(of.at("S"))
    assert {port: [frame for _, frame in packets] for port, packets in after.items()} == frames
    return after


def a_recording_is_a_live_source_at_any_speed():
    with tempfile.TemporaryDirectory() as folder:
        played(record(folder, LOSSY, "ab", ["--zstd"], packets=3000, changes=()), "R", 4)
    with tempfile.TemporaryDirectory() as folder:
        slow = record(folder, LOSSY, "ab", [], packets=1000, gap_ns=3200000, changes=())
        before = came_in(slow.at("R/ingress.pcapng"))
        first = min(t for packets in before.values() for t, _ in packets)
        last = max(t for packets in before.values() for t, _ in packets)
        # No packet is too early, however busy the machine. A busy one makes packets late, but not
        # all of the second half; half of the speed would make all of them late, by half of the
        # time or more.
        for speed in (0.5, 2, 4):
            after = played(slow, "R/ingress.pcapng", speed)
            for port, packets in after.items():
                late = [t - (was - first) / speed
                        for (t, _), (was, _) in zip(packets, before[port])]
                assert min(late) > -1e6, f"{min(late)} ns"
                least = min(late[len(late) // 2:]) - late[0]
                assert least < 0.25 * (last - first) / speed, (speed, port, least)


def foreign_pcapng(order, units):
    """Returns a capture with two sections. Each has the interfaces west and east, in different
    orders, and other valid blocks. `units`: if_tsresol, and the number of units in a second."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        length = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + length + body + length

    def option(code, value):
        return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    data, frames = b"", []
    for section, names in enumerate(((b"west", b"east"), (b"east", b"none", b"west"))):
        data += block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
        data += block(4, bytes(8))
        for name in names:
            data += block(1,
                          struct.pack(order + "HHI", 1, 0, 0) + option(2, name)
                          + option(9, bytes([units[0]]))
                          + option(0, b""))
        for n in range(30):
            frame = (bytes([2, 0, 0, 0, 0, n]) + bytes([2, 0, 0, 0, 1, section]) + b"\x88\xb5"
                     + bytes(46 + n))
            which = n % len(names)
            stamp = int((1000 + 0.01 * (30 * section + n)) * units[1])
            data += block(6, struct.pack(order + "IIIII", which, stamp >> 32, stamp & 0xFFFFFFFF,
                                         len(frame),
                                         len(frame)) + frame)
            if names[which] == b"east":
                frames.append((0.01 * (30 * section + n), frame))
    return data, frames


def of_any_pcapng_one_interface_is_played():
    for order, units in (("<", (6, 10**6)), (">", (9, 10**9)), (">", (0x80 | 20, 2**20))):
        with tempfile.TemporaryDirectory() as folder:
            data, frames = foreign_pcapng(order, units)
            with open(os.path.join(folder, "two.pcapng"), "wb") as out:
                out.write(data)
            with open(os.path.join(folder, "one.weir"), "w") as out:
                out.write(f"port a device file:{folder}/two.pcapng,interface=east\n"
                          f"port b device file:,out={folder}/out.pcap\ncloud down from a to b\n")
            socket = os.path.join(folder, "socket")
            process = subprocess.Popen([WEIR, "run", "-c", os.path.join(folder, "one.weir"), "-s",
                                        socket, "--sleep", "none"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            try:
                for line in process.stderr:
                    if "has been played to its end" in line:
                        break
                client = Client(socket)
                away_s = longest_poll_ns(client) / 1e9
                client.close()
            finally:
                process.terminate()
                said = process.stderr.read()
                process.wait()
            left = read_capture(os.path.join(folder, "out.pcap"))
            assert ([frame for _, frame in left] == [frame for _, frame in frames]), (
                order, units, len(left), said)
            late = [t / 1e9 - wanted for (t, _), (wanted, _) in zip(left, frames)]
            assert max(late) - min(late) < 0.25 + away_s, (late, away_s)


def what_cannot_be_played_is_said():
    scene = Kept.scene()
    for device, why in (
            ("file:{0}/R,speed=0",
             "`speed=0` is not a speed: a speed is from 0.001 to 1000, such as 2 or 0.5"),
            ("file:{0}/R,speed=2x", "is not a speed"), ("file:{0}/R,speed=1e3", "is not a speed"),
            ("file:{0}/R,interface=", "`interface=` is unknown"),
            ("file:{0}/R/files", "this folder holds no recording"),
            ("file:{0}/R,interface=nix", "it has no interface `nix`; it has a, b"),
            ("file:{0}/a.pcap,interface=a",
             "it is not a pcapng: only a pcapng has interfaces with names")):
        with open(scene.at("wrong.weir"), "w") as out:
            out.write(f"port a device {device.format(scene.folder)}\n"
                      f"port b device file:,out={scene.at('x')}\n"
                      "cloud down from a to b\n")
        done = subprocess.run([WEIR, "run", "-c", scene.at("wrong.weir"), "-s", scene.at("other"),
                               "-q"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and why in done.stderr, f"{device}: {done}"


def a_folder_that_holds_a_recording_is_refused():
    scene = Kept.scene()
    done = subprocess.run([WEIR, "run", "-c", scene.at("live.weir"), "-s", scene.at("other"), "-q",
                           "--record", scene.at("R")], capture_output=True)
    assert done.returncode == 2 and b"the folder holds a recording already" in done.stderr, done


def a_start_that_is_refused_leaves_nothing_behind_and_names_what_is_in_the_way():
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder, "ab", packets=500)
        with open(scene.at("a.trace"), "w") as out:
            out.write("1\n2\n5\n")

        def refused(record):
            done = subprocess.run([WEIR, "run", "-c", scene.at("live.weir"),
                                   "-s", scene.at("socket"), "-q",
                                   "--record", record], capture_output=True)
            assert done.returncode == 2, done
            return done.stderr.decode()

        scene.scenario(LOSSY + f"cloud up trace {scene.at('a.trace')} loop\n")
        os.rename(scene.at("b.pcap"), scene.at("c.pcap"))
        os.mkdir(scene.at("old"))
        for record in (scene.at("R"), scene.at("old")):
            assert "b.pcap: cannot be read" in refused(record)
        assert (not os.path.exists(scene.at("R"))
                and os.listdir(scene.at("old")) == []), os.listdir(folder)
        os.rename(scene.at("c.pcap"), scene.at("b.pcap"))
        with open(scene.at("old/changes.jsonl"), "w"):
            pass
        said = refused(scene.at("old"))
        assert "old/changes.jsonl: cannot be written: File exists; it is in the way" in said, said
        assert os.listdir(scene.at("old")) == ["changes.jsonl"], os.listdir(scene.at("old"))
        scene.start().close()
        scene.until_played()
        scene.stop()
        assert_runs_again(scene)


def what_is_no_recording_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([WEIR, "replay", "--recording", folder], capture_output=True)
        assert done.returncode == 2 and b"this folder holds no recording" in done.stderr, done


claims = [(f"a_run_of_{name.replace(' ', '_')}_runs_again_to_the_nanosecond", runs_again(options))
          for name, options in WORKERS.items()]
claims += [(claim.__name__, claim) for claim in (
    every_shipped_scenario_runs_again_with_random_changes,
    random_scenarios_run_again_with_random_changes,
    hostile_packets_run_again,
    what_one_level_of_the_processor_recorded_runs_again_on_all_others,
    a_bit_that_is_flipped_is_found_where_it_first_matters,
    a_change_that_is_moved_is_found_at_the_packet_where_it_first_matters,
    another_seed_is_found,
    a_difference_names_the_version_that_recorded_the_run,
    a_recording_that_is_cut_anywhere_replays_up_to_there,
    a_bit_flipped_anywhere_ends_no_repetition_by_a_signal,
    what_the_last_of_a_pipeline_could_not_send_ends_no_other_worker,
    of_a_packet_and_its_copy_that_are_alike_one_can_be_lost,
    what_is_known_ends_where_memory_was_short,
    what_an_older_weir_recorded_replays_up_to_where_it_had_no_memory,
    of_a_weir_that_is_killed_what_was_written_replays,
    the_way_of_a_packet_is_told_in_words,
    a_packet_that_did_not_come_is_said_beside_those_that_came,
    what_is_held_at_the_end_has_no_fate_but_on_a_line_and_no_output_is_lost,
    what_would_have_happened_is_told,
    a_cloud_that_a_change_removed_is_reported_with_what_it_carried_until_then,
    a_cloud_that_a_change_replaced_is_reported_with_what_it_carried_itself,
    what_differs_is_what_the_logs_of_both_say,
    two_recordings_are_the_same_or_not,
    what_cannot_be_compared_is_said_with_status_2,
    a_repetition_ends_when_it_is_asked_to,
    with_a_snap_headers_are_kept_and_fates_are_the_same,
    statements_that_look_behind_the_snap_are_named_by_both,
    what_a_change_brings_is_said_when_it_comes_and_of_what_would_have_been,
    a_limit_ends_the_recording_and_not_the_run,
    a_file_that_takes_no_more_ends_the_recording_which_says_no_more_than_it_has,
    what_is_compressed_runs_again_whole_and_cut_and_with_bits_flipped,
    a_compressed_recording_of_a_weir_that_is_killed_replays_and_a_limit_is_of_the_file,
    a_recording_is_a_live_source_at_any_speed,
    of_any_pcapng_one_interface_is_played,
    what_cannot_be_played_is_said,
    a_folder_that_holds_a_recording_is_refused,
    a_start_that_is_refused_leaves_nothing_behind_and_names_what_is_in_the_way,
    what_is_no_recording_is_refused,
)]
only = os.environ.get("WEIR_RECORD_ONLY")
sys.exit(tap.run([claim for claim in claims if not only or only in claim[0]], end_started))
