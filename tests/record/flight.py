# SPDX-License-Identifier: BSD-3-Clause
"""flight.py WEIR SOURCE: dumps the flight of a live run during the run, and replays the dump from
its snapshot on."""
import collections
import ctypes
import glob
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
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap
from random_run import STATEMENTS, WORKERS, disturb, of_shipped_scenarios, random_scenario
from scene import (PATIENCE_S, UNDER_WAY, WEIR, Client, Scene, blocks, end_started, ip_frame,
                   read_capture,
                   write_capture)

SOURCE = os.path.abspath(sys.argv[2])
SANITIZED = bool(os.environ.get("WEIR_SANITIZED"))
# The values in the file (tape_entry.h).
CHECK, END, SNAPSHOT, LAST = 6, 10, 11, 1
ENTRY = 0x80776972
UNDER_WAY_NS = 20_000_000
TGKILL = 234  # on x86-64

HOLDS = """\
seed 42
port a
port b
cloud down from a to b
cloud up from b to a
cloud down loss gilbert-elliott p 2% r 30%
cloud down rate 30mbit queue 60kB
cloud down delay 50ms
cloud up delay 20ms jitter 1ms
"""


def dump(client, folder):
    return client.say(f"flight dump {folder}").decode()


def until(what, true):
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def come_in(client, packets):
    """Waits until this many packets have arrived at the first port."""
    until(f"{packets} packets do not come",
          lambda: json.loads(client.say("show ports"))["ports"][0]["rx_packets"] >= packets)


def fill(client, scene, folder="full", after_ns=0, over_bytes=-1):
    """Dumps the flight until there is something to compare in the dump, all of it after an instant,
    and a snapshot is larger than this. It holds nothing at the beginning, and while the engine
    cannot be written down; and an event may be dumped at this moment."""
    def holds_a_check():
        shutil.rmtree(scene.at(folder), ignore_errors=True)
        answer = dump(client, scene.at(folder))
        if '"ok":true' not in answer:
            assert "nothing yet" in answer or "being dumped" in answer, answer
            return False
        dumped = Dumped(scene.at(f"{folder}/ingress.pcapng"))
        return (dumped.checks > 0 and min(dumped.begins.values()) > after_ns
                and dumped.snapshot_bytes > over_bytes)

    until("the flight holds nothing to compare", holds_a_check)


def fly(folder, text, ports, options, seed, flight="1s", lasts_s=2.2, changes=STATEMENTS,
        gap_ns=400000, write=write_capture, over_bytes=-1, waits=None, more_s=1.6):
    """Makes a run with random changes, and dumps its flight into D during these changes, with a
    snapshot that is larger than `over_bytes`. Without changes, it calls `waits` with the scene and
    a client, or else waits for `lasts_s`. Packets come for `more_s` more: if the machine stands
    still meanwhile, some have to be on their way nevertheless."""
    rng = random.Random(seed)
    scene = Scene(folder, ports, packets=int((lasts_s + more_s) * 1e9 / gap_ns / 0.7),
                  gap_ns=gap_ns, seed=seed, write=write)
    scene.scenario(text)
    scene.workers = 3 if options else 1
    first = scene.start("--flight", flight, "--flight-to", scene.at("by-event"), *options,
                        record=None)
    clients = [first, Client(scene.at("socket"))]
    clouds = [line.split()[1] for line in text.splitlines()
              if line.startswith("cloud ") and " from " in line]
    if clouds and changes:
        scene.taken = disturb(lasts_s, clients, clouds, rng, changes)
    elif waits:
        waits(scene, first)
    else:
        time.sleep(lasts_s)
    fill(first, scene, "D", over_bytes=over_bytes)
    time.sleep(0.2)
    for client in clients:
        client.close()
    scene.said = scene.stop()
    return scene


class Dumped:
    """The contents of the ingress.pcapng of a dump."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.frames, self.begins, self.ends = collections.Counter(), {}, {}
        self.behind = 0  # the end of the last part of a snapshot
        self.snapshot_bytes = 0  # of the largest
        self.checks = 0
        for at, kind, length in blocks(self.data):
            if kind == 6:
                kept = struct.unpack_from("<I", self.data, at + 20)[0]
                self.frames[self.data[at + 28:at + 28 + kept]] += 1
            elif kind == ENTRY:
                worker, what = struct.unpack_from("<I", self.data, at + 8)[0], self.data[at + 20]
                t_ns = struct.unpack_from("<Q", self.data, at + 32)[0]
                if what == SNAPSHOT:
                    self.begins.setdefault(worker, t_ns)
                    self.behind = at + length
                    bytes_ = struct.unpack_from("<Q", self.data, at + 40)[0]
                    self.snapshot_bytes = max(self.snapshot_bytes, bytes_)
                elif what == END:
                    self.ends[worker] = t_ns
                self.checks += what == CHECK


def base_of(live, again):
    """Returns the offset of a live port, which dates packets by the machine's clock."""
    where = {}
    for t, frame in live:
        where.setdefault(frame, []).append(t)
    votes = collections.Counter(was - t for t, frame in again[:400] for was in where.get(frame, ()))
    return votes.most_common(1)[0][0] if votes else None


def assert_left_as_live(scene, dumped):
    """Compares what weir let out live between the snapshots and the dump with what the replay lets
    out: the same frames at the same instants. Returns how many of these packets the snapshots
    held."""
    begin, end = max(dumped.begins.values()), min(dumped.ends.values())
    came_in = {frame for port in scene.ports for _, frame in read_capture(scene.at(f"{port}.pcap"))}
    first = {port: read_capture(scene.at(f"again-{port}.pcap")) for port in scene.ports}
    held = 0
    for port, again in first.items():
        live = read_capture(scene.at(f"live-{port}.pcap"))
        base = base_of(live, again)
        if base is None:
            assert not again, f"port {port}: none of {len(again)} left live"
            continue
        here = collections.Counter((t, frame) for t, frame in again if begin < t <= end)
        there = collections.Counter((t - base, frame)
                                    for t, frame in live if begin < t - base <= end)
        # Packets that were on their way between workers when weir ended had left their engine; this
        # is the end of the run.
        missing, over = here - there, there - here
        under_way = scene.workers > 1 and missing and sum(missing.values()) <= UNDER_WAY and (
            min(missing)[0] >= max(there, default=(0,))[0] - UNDER_WAY_NS)
        assert not over and (under_way or not missing), (
            f"port {port}: {sum(missing.values())} left here only, {sum(over.values())} live only, "
            "of "
            f"{sum(here.values())}; from {min(missing + over)[0]} on; live until "
            f"{max(there, default=(0,))[0]}")
        held += sum(frame in came_in and frame not in dumped.frames for _, frame in again)
    return held


def assert_runs_again(scene, folder="D"):
    """Returns the number of comparisons of counters, and of packets that the snapshots held."""
    said = scene.again(record=folder)
    dumped = Dumped(scene.at(f"{folder}/ingress.pcapng"))
    assert dumped.begins.keys() == dumped.ends.keys(), (dumped.begins, dumped.ends)
    assert "known up to" not in said, said
    looks = int(re.search(r"(\d+) comparisons? of departures, their times and counters: all agree",
                          said).group(1))
    return looks, assert_left_as_live(scene, dumped)


# ---- live runs ----

DELAYS_UDP = """\
cloud cb from c to b priority 1 match udp
cloud cb delay 60ms
"""


def random_scenarios_run_again_from_the_middle_on():
    looks = held = 0
    first = int(os.environ.get("WEIR_RECORD_FIRST", "0"))
    cases = 1 if SANITIZED else int(os.environ.get("WEIR_RECORD_CASES", "4"))
    failures = []
    for case in range(first, first + cases):
        rng = random.Random(case + 700)
        # No change removes a delay, so packets are always in flight.
        text = random_scenario(rng) + DELAYS_UDP
        name, options = list(WORKERS.items())[case % 3]
        with tempfile.TemporaryDirectory() as folder:
            try:
                lasts_s = 1.2 + rng.random() * 1.4
                flight = rng.choice(["1s", "1s", "2s", "8.4MB"])
                if case == first:
                    # The flight begins during the traffic, not at the start of the run.
                    lasts_s, flight = 2.6, "1s"
                scene = fly(folder, text, "abc", options, case + 1, flight, lasts_s)
                assert scene.taken > 0, "no change was taken"
                here = assert_runs_again(scene)
                looks, held = looks + here[0], held + here[1]
            except AssertionError as reason:
                failures.append(f"case {case}, {name}, {flight}:\n{text}{reason}")
    assert not failures, f"{len(failures)} of {cases}:\n" + "\n".join(failures)
    assert looks > 0 and held > 0, f"{looks} looks at counters, {held} packets held"


def shipped_scenarios_run_again_from_the_middle_on():
    def one(folder, text, options, index):
        scene = fly(folder, text, "ab", options, index + 2, lasts_s=1.6)
        assert_runs_again(scene)

    step = 1 if "WEIR_RECORD_CASES" in os.environ else 20 if SANITIZED else 6
    of_shipped_scenarios(SOURCE, step, one)


class Stalling:
    """A FIFO in the place of the output of the port b. Its reader stops reading, once, until weir
    has lost packets. At the end, a file with all that was read takes the place of the FIFO."""
    BACKLOG = 2_000_000  # bytes: more than weir and the FIFO hold for the reader

    def __init__(self, path):
        self.path, self.data, self.bytes = path, [], 0
        self.reads = threading.Event()
        self.reads.set()
        os.mkfifo(path)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        with open(self.path, "rb", buffering=0) as file:
            while self.reads.wait() and (data := file.read(65536)):
                self.data.append(data)
                self.bytes += len(data)

    def stall(self, scene, client):
        """Stops the reader while the flight goes on. Then it waits until all that has waited for
        the reader has been read: such a packet may still be lost, and a dump does not know it
        yet."""
        def has_lost():
            return json.loads(client.say("show ports"))["ports"][1]["tx_full"] > 0

        fill(client, scene)
        self.reads.clear()
        try:
            until("no packet is lost", has_lost)
        finally:
            self.reads.set()
        behind = self.bytes + self.BACKLOG
        until("what waited is not read", lambda: self.bytes > behind)

    def end(self):
        self.thread.join()
        os.unlink(self.path)
        with open(self.path, "wb") as file:
            file.write(b"".join(self.data))


def packets_that_no_device_took_are_lost_again():
    """In a pipeline, the worker that loses them has no engine, and so no snapshot."""
    for index, (name, options) in enumerate(list(WORKERS.items())[::2]):
        with tempfile.TemporaryDirectory() as folder:
            stalling = Stalling(os.path.join(folder, "live-b.pcap"))
            scene = fly(folder, HOLDS, "ab", options, index + 20, flight="2s", lasts_s=5,
                        gap_ns=300000, changes=(), waits=stalling.stall)
            stalling.end()
            assert_runs_again(scene)
            again = scene.again(record="D")
            lost = re.search(r"(\d+) were lost by weir itself", again)
            assert lost and int(lost.group(1)) > 0, f"{name}: nothing was lost: {again}"
            ideal = scene.again("--ideal", record="D")
            assert f"{lost.group(0)}, when no device took them: they leave here" in ideal, (
                f"{name}: {ideal}")


SOURCES = 12_000
THOUSANDS = f"""\
seed 44
port a
port b
clouds down from a to b per source 10.0.0.0/8 most {SOURCES}
cloud up from b to a
clouds down loss gilbert-elliott p 2% r 30%
clouds down rate 30mbit queue 60kB
clouds down delay 50ms
cloud up delay 20ms
"""
ROOM_AT_FIRST = 8 << 20  # recording.h


def write_of_many(path, seed, packets, gap_ns):
    """Writes a capture with this many sources, in turn."""
    rng, t_ns = random.Random(seed), 1000 * 10**9
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for number in range(packets):
            t_ns += rng.randrange(2 * gap_ns)
            frame = bytearray(ip_frame(rng, number, 120))
            frame[26:30] = struct.pack(">I", 0x0a000000 + number % SOURCES)
            out.write(struct.pack("<IIII", t_ns // 10**9, t_ns % 10**9, len(frame), len(frame))
                      + frame)
    return t_ns - 1000 * 10**9


def a_scenario_with_thousands_of_clouds_flies_and_runs_again():
    with tempfile.TemporaryDirectory() as folder:
        scene = fly(folder, THOUSANDS, "ab", [], 11, changes=(), gap_ns=40000, write=write_of_many,
                    over_bytes=ROOM_AT_FIRST)
        looks, held = assert_runs_again(scene)
        assert looks > 0 and held > 0, f"{looks} looks at counters, {held} packets held"


def a_cloud_that_was_removed_before_the_flight_begins_does_not_make_it_differ():
    with tempfile.TemporaryDirectory() as folder:
        scene, client = started(folder, "--flight", "1s", "--flight-on", "none", packets=16000)
        come_in(client, 1000)
        assert '"ok":true' in client.say("no cloud up").decode()
        fill(client, scene)
        with open(scene.at("full/changes.jsonl")) as file:
            removed_ns = max(json.loads(line)["t_ns"] for line in file if '"taken"' in line)
        fill(client, scene, "D", removed_ns)
        client.close()
        scene.stop()
        looks, _ = assert_runs_again(scene)
        assert looks > 0, "nothing was compared"


# ---- a damaged dump ----

class Kept:
    folder = None

    @classmethod
    def scene(cls):
        if not cls.folder:
            cls.folder = tempfile.TemporaryDirectory()
            cls.kept = fly(cls.folder.name, HOLDS, "ab", [], 5, lasts_s=1.6)
        return cls.kept


def replayed(change):
    """Returns status and output of a replay of the dump with a changed ingress.pcapng."""
    scene = Kept.scene()
    path = scene.at("D/ingress.pcapng")
    with open(path, "rb") as file:
        before = file.read()
    try:
        with open(path, "wb") as file:
            file.write(change(bytearray(before)))
        done = subprocess.run([WEIR, "replay", "--recording", scene.at("D"), "-q"],
                              capture_output=True, timeout=120)
    finally:
        with open(path, "wb") as file:
            file.write(before)
    said = (done.stdout + done.stderr).decode(errors="replace")
    assert done.returncode in (0, 1, 2) and "Sanitizer" not in said, f"{done.returncode}: {said}"
    return done.returncode, said


def a_dump_that_is_cut_behind_its_snapshot_replays_up_to_there():
    rng = random.Random(7)
    dumped = Dumped(Kept.scene().at("D/ingress.pcapng"))
    cuts = [rng.randrange(dumped.behind, len(dumped.data)) for _ in range(8 if SANITIZED else 25)]
    known = []
    for cut in sorted(cuts):
        status, said = replayed(lambda data: data[:cut])
        assert status == 0 and "known up to" in said, f"cut at {cut}: {said}"
        known.append(float(re.search(r"known up to \+([0-9.]+) s", said).group(1)))
    assert known == sorted(known) and len(set(known)) > 3, known
    assert min(known) >= min(dumped.begins.values()) / 1e9 - 1e-6, known


def a_dump_that_is_cut_ahead_of_its_end_of_the_snapshot_says_so():
    rng = random.Random(8)
    dumped = Dumped(Kept.scene().at("D/ingress.pcapng"))
    for _ in range(6 if SANITIZED else 15):
        cut = rng.randrange(dumped.behind)
        status, said = replayed(lambda data: data[:cut])
        assert (status == 2 or "known up to" in said
                or " 0 packets came in" in f" {said}"), f"cut at {cut}: {said}"
        assert "all agree" not in said or " 0 comparisons" in said, f"cut at {cut}: {said}"


def snapshot_parts(data):
    """Yields the begin and end of each snapshot's bytes."""
    for at, kind, length in blocks(data):
        if kind == ENTRY and data[at + 20] == SNAPSHOT:
            yield at + 16 + 32, at + length - 4


def a_byte_of_the_snapshot_that_differs_is_found():
    rng = random.Random(9)
    parts = list(snapshot_parts(Dumped(Kept.scene().at("D/ingress.pcapng")).data))
    whole = sum(end - begin for begin, end in parts)
    for _ in range(6 if SANITIZED else 25):
        where = rng.randrange(whole - 8)  # the end is padding
        at = next(begin + where - sum(e - b for b, e in parts[:i])
                  for i, (begin, end) in enumerate(parts)
                  if where < sum(e - b for b, e in parts[:i + 1]))

        def flip(data):
            data[at] ^= 1 << rng.randrange(8)
            return data

        status, said = replayed(flip)
        assert (status == 2
                and "worker 0: its initial snapshot is damaged" in said), f"at {at}: {said}"


def a_bit_that_is_flipped_anywhere_ends_no_repetition_by_a_signal():
    rng = random.Random(10)
    for _ in range(10 if SANITIZED else 30):
        def flip(data):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            return data

        replayed(flip)


def a_dump_without_its_snapshot_is_refused():
    def without(data):
        return b"".join(bytes(data[at:at + length]) for at, kind, length in blocks(data)
                        if not (kind == ENTRY and data[at + 20] == SNAPSHOT))

    def without_its_end(data):
        return b"".join(bytes(data[at:at + length]) for at, kind, length in blocks(data)
                        if not (kind == ENTRY and data[at + 20] == SNAPSHOT
                                and data[at + 21] == LAST))

    for change in (without, without_its_end):
        status, said = replayed(change)
        assert (status == 2
                and "worker 0: its initial snapshot is missing or incomplete" in said), said


# ---- the times of dumps ----

def started(folder, *options, text=HOLDS, packets=6000):
    """Packets come for 4 s or more: if the machine stands still meanwhile, a flight nevertheless
    has something to compare."""
    scene = Scene(folder, "ab", packets=packets, gap_ns=1000000)
    scene.scenario(text)
    scene.workers = 1
    client = scene.start(*options, record=None)
    resource.prlimit(scene.process.pid, resource.RLIMIT_CORE, (0, 0))
    return scene, client


def dumped_soon(pattern, count=1):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        folders = [name
                   for name in glob.glob(pattern)
                   if os.path.exists(os.path.join(name, "recording.json"))]
        if len(folders) >= count:
            return sorted(folders)
        time.sleep(0.05)
    raise AssertionError(f"no folder {pattern}")


DATE = r"-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ"


def what_a_signal_dumps_has_a_folder_with_the_date_and_runs_again():
    with tempfile.TemporaryDirectory() as folder:
        scene, client = started(folder, "--flight", "1s", "--flight-on", "none",
                                "--flight-to", os.path.join(folder, "weir-flight"))
        fill(client, scene)
        scene.process.send_signal(signal.SIGUSR1)
        name, = dumped_soon(scene.at("weir-flight-*"))
        assert re.fullmatch("weir-flight" + DATE, os.path.basename(name)), name
        scene.until_said(f"flight dumped in {name}")
        client.close()
        scene.stop()
        looks, _ = assert_runs_again(scene, os.path.basename(name))
        assert looks > 0, "nothing was compared"


def an_event_that_is_named_dumps_once_and_another_does_not():
    with tempfile.TemporaryDirectory() as folder:
        scene, client = started(folder, "--flight", "1s", "--flight-on", "none,cleared",
                                "--flight-to", os.path.join(folder, "kept"))
        fill(client, scene)
        assert '"ok":true' in client.say("cloud up delay 21ms").decode()
        time.sleep(0.4)
        assert not glob.glob(scene.at("kept-*")), "a change dumped it"
        for _ in range(3):
            client.say("clear counters")
        name, = dumped_soon(scene.at("kept-*"))
        time.sleep(1.2)
        client.say("clear counters")
        time.sleep(0.5)
        assert glob.glob(scene.at("kept-*")) == [name], "too many"
        client.close()
        scene.stop()
        assert_runs_again(scene, os.path.basename(name))


def a_kind_of_event_that_there_is_not_is_refused_and_those_that_there_are_are_named():
    for word, wrong in (("foo", "foo"), ("real_loss", "real_loss"), ("stall,", ""),
                        ("none,Stall", "Stall")):
        done = subprocess.run([WEIR, "run", "-c", "/nowhere", "--flight", "10s",
                               "--flight-on", word],
                              capture_output=True, text=True)
        assert done.returncode == 2, done
        assert (f"--flight-on: `{wrong}` is no kind of event; the kinds are started, "
                in done.stderr), done
        assert "stall, stall-end, loss, real-loss, " in done.stderr, done
    with open(os.path.join(SOURCE, "docs/control.md")) as file:
        table = re.search(r"(?m)(^\| `started`.*\n)(^\|.*\n)+", file.read()).group()
    described = [kind for row in table.splitlines() for kind in re.findall(r"`([a-z-]+)`",
                                                                           row.split("|")[1])]
    kinds = done.stderr.split("the kinds are ")[1].split("\n")[0].split(", ")
    assert kinds == described, (kinds, described)


def workers_of(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm") as file:
            # DPDK names it rte-worker-N, since 23.11 dpdk-workerN.
            if "-worker" in file.read():
                found.append(int(task))
    return sorted(found)


def a_worker_that_crashes_leaves_a_dump_and_the_process_ends_by_its_signal():
    for number in (signal.SIGSEGV, signal.SIGBUS):
        with tempfile.TemporaryDirectory() as folder:
            scene, client = started(folder, "--flight", "1s", "--flight-on", "none",
                                    "--flight-to", os.path.join(folder, "crash"),
                                    "--cores", "1,1")
            fill(client, scene)
            workers = workers_of(scene.process.pid)
            assert workers, "no thread is called a worker"
            assert (ctypes.CDLL(None).syscall(TGKILL, scene.process.pid, workers[-1], int(number))
                    == 0)
            said = scene.process.communicate(timeout=60)[0].decode()
            client.close()
            assert scene.process.returncode == -number, f"{scene.process.returncode}: {said}"
            assert "a worker has crashed" in said, said
            name, = dumped_soon(scene.at("crash-*"))
            said = scene.again(record=os.path.basename(name))
            assert "all agree" in said, said


def without_a_flight_that_is_said():
    with tempfile.TemporaryDirectory() as folder:
        scene, client = started(folder)
        done = subprocess.run([WEIR, "ctl", "-s", scene.at("socket"), "flight", "dump",
                               scene.at("D")],
                              capture_output=True, text=True)
        assert (done.returncode != 0
                and "there is no flight: start weir with --flight" in done.stderr), done
        scene.process.send_signal(signal.SIGUSR1)
        scene.until_said("SIGUSR1 dumps the flight, but there is none")
        assert '"ok":true' in client.say("cloud up delay 21ms").decode()
        client.close()
        scene.stop()
        assert not os.path.exists(scene.at("D"))


def a_second_dump_into_a_folder_is_refused_and_into_another_is_not():
    with tempfile.TemporaryDirectory() as folder:
        scene, client = started(folder, "--flight", "1s", "--flight-on", "none")
        fill(client, scene)
        ctl = [WEIR, "ctl", "-s", scene.at("socket"), "flight", "dump"]
        done = subprocess.run([*ctl, scene.at("one")], capture_output=True, text=True)
        assert done.returncode == 0 and "packets" in done.stdout, done
        with open(scene.at("one/ingress.pcapng"), "rb") as file:
            before = file.read()
        done = subprocess.run([*ctl, scene.at("one")], capture_output=True, text=True)
        assert done.returncode != 0 and "the folder holds a recording already" in done.stderr, done
        with open(scene.at("one/ingress.pcapng"), "rb") as file:
            assert file.read() == before, "the first one was written over"
        assert '"ok":true' in dump(client, scene.at("two"))
        client.close()
        scene.stop()
        for name in ("one", "two"):
            assert_runs_again(scene, name)


def a_dump_that_fails_leaves_nothing_behind_and_names_what_was_in_the_way():
    with tempfile.TemporaryDirectory() as folder:
        scene, client = started(folder, "--flight", "1s", "--flight-on", "none")
        fill(client, scene)
        os.mkdir(scene.at("D"))
        with open(scene.at("D/changes.jsonl"), "w"):
            pass
        said = dump(client, scene.at("D"))
        assert "D/changes.jsonl: cannot be written: File exists; it is in the way" in said, said
        assert os.listdir(scene.at("D")) == ["changes.jsonl"], os.listdir(scene.at("D"))
        os.remove(scene.at("D/changes.jsonl"))
        assert '"ok":true' in dump(client, scene.at("D"))
        client.close()
        scene.stop()
        assert_runs_again(scene, "D")


claims = [(claim.__name__, claim) for claim in (
    random_scenarios_run_again_from_the_middle_on,
    shipped_scenarios_run_again_from_the_middle_on,
    packets_that_no_device_took_are_lost_again,
    a_scenario_with_thousands_of_clouds_flies_and_runs_again,
    a_cloud_that_was_removed_before_the_flight_begins_does_not_make_it_differ,
    a_dump_that_is_cut_behind_its_snapshot_replays_up_to_there,
    a_dump_that_is_cut_ahead_of_its_end_of_the_snapshot_says_so,
    a_byte_of_the_snapshot_that_differs_is_found,
    a_bit_that_is_flipped_anywhere_ends_no_repetition_by_a_signal,
    a_dump_without_its_snapshot_is_refused,
    what_a_signal_dumps_has_a_folder_with_the_date_and_runs_again,
    an_event_that_is_named_dumps_once_and_another_does_not,
    a_kind_of_event_that_there_is_not_is_refused_and_those_that_there_are_are_named,
    a_worker_that_crashes_leaves_a_dump_and_the_process_ends_by_its_signal,
    without_a_flight_that_is_said,
    a_second_dump_into_a_folder_is_refused_and_into_another_is_not,
    a_dump_that_fails_leaves_nothing_behind_and_names_what_was_in_the_way,
)]
only = os.environ.get("WEIR_RECORD_ONLY")
sys.exit(tap.run([claim for claim in claims if not only or only in claim[0]], end_started))
