#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stops one thread and continues it: a worker, control, or the thread that reads and writes files.
Pipelined changes, and a stop of the whole process, are tested in ../control/stalls.py.

usage: stalls.py WEIR HOLD MAKE-CAPTURE [--all]

--all: also the cases that take as long as weir's longest wait, 20 s.

A thread is stopped by tracing it (hold.c), if this is permitted.
"""
import ctypes
import filecmp
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sessions  # noqa: E402
import tap  # noqa: E402
from page import complaint  # noqa: E402

WEIR, HOLD, MAKE_CAPTURE = (os.path.abspath(program) for program in sys.argv[1:4])
SHORT_S = 1.5
PATIENCE_S = 60  # for a busy machine: the claims are that answers come, not when


class Given:
    program = WEIR


class Held:
    """A thread that is stopped inside the `with` block."""

    def __init__(self, thread):
        self.thread = thread

    def __enter__(self):
        self.child = subprocess.Popen([HOLD, str(self.thread)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "held\n":
            raise tap.Skip(f"no thread may be stopped here: {self.child.stderr.read().strip()}")

    def __exit__(self, *error):
        self.child.stdin.close()
        assert self.child.wait(PATIENCE_S) == 0, self.child.stderr.read()
        self.child.stdout.close()
        self.child.stderr.close()


class SilentDisk:
    """A mounted disk that answers nothing inside the `with` block. A program of the kernel's FUSE
    protocol reads its first request and no more; afterwards, requests that wait get an error."""

    HEAD = struct.Struct("<IIQQIIII")  # struct fuse_in_header
    FOLDER = 0o40000

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        os.makedirs(self.folder)
        try:
            self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        except OSError as reason:
            raise tap.Skip(f"no FUSE here: {reason}") from None
        options = f"fd={self.device},rootmode={self.FOLDER:o},user_id=0,group_id=0,allow_other"
        self.libc = ctypes.CDLL(None, use_errno=True)
        if self.libc.mount(b"silent", self.folder.encode(), b"fuse", 0, options.encode()) != 0:
            os.close(self.device)
            raise tap.Skip(f"nothing may be mounted: {os.strerror(ctypes.get_errno())}")
        unique = self.HEAD.unpack_from(os.read(self.device, 1 << 16))[2]
        init = struct.pack("<IIII", 7, 31, 0, 0) + struct.pack("<HHI", 0, 0, 4096) + bytes(40)
        os.write(self.device, struct.pack("<IiQ", 16 + len(init), 0, unique) + init)
        return self

    def __exit__(self, *error):
        os.close(self.device)
        self.libc.umount2(self.folder.encode(), 2)  # MNT_DETACH


def threads(process, name):
    found = []
    for task in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{task}/comm", encoding="utf-8") as comm:
                if name in comm.read():
                    found.append(int(task))
        except (FileNotFoundError, ProcessLookupError):
            pass  # the thread has ended
    return sorted(found)


def weir(folder, config="session.weir", options=()):
    made = sessions.Weir(Given, folder, None, "run-to-completion", config, options)
    # DPDK names it rte-worker-N, since 23.11 dpdk-workerN.
    made.worker = threads(made.child.pid, "-worker")[0]
    return made


def says(running, words):
    """Waits for a message. Control checks its workers ten times a second."""
    until = time.monotonic() + PATIENCE_S
    while words not in running.said() and time.monotonic() < until:
        time.sleep(0.05)
    assert words in running.said(), running.said()


def recovers(running):
    """Checks that packets flow, a change is accepted and in force, and everything adds up at the
    end."""
    assert running.flows(), "no packet comes any more"
    assert running.ask("cloud down delay 7ms")[-1] == "ok"
    assert "cloud down delay 7ms" in running.config(), running.config()
    running.stop()


def is_taken(running):
    """Checks that the change is answered by what it has replaced, and ok. On a busy machine, a
    message about the stalled worker comes with it."""
    lines = [running.lines(1)[0]]
    while lines[-1] != "ok" and not lines[-1].startswith("err"):
        lines += running.lines(1)
    said = [line for line in lines if not line.startswith("accepted, but worker 0")]
    assert said == ["was: delay 1ms", "ok"] and len(lines) <= 3, lines


def a_worker_that_stands_still_is_told_and_answers_come_meanwhile(folder):
    running = weir(folder)
    with Held(running.worker):
        says(running, "has not completed a poll")
        assert running.ask("show workers")[-1] == "ok"
    says(running, "polls again after")
    recovers(running)


def a_change_for_a_worker_that_stands_still_is_in_force_when_it_goes_on(folder):
    running = weir(folder)
    running.connect()
    with Held(running.worker):
        running.client.sendall(b"cloud down delay 3ms\n")
        time.sleep(SHORT_S)
    is_taken(running)
    assert "cloud down delay 3ms" in running.config(), running.config()
    recovers(running)


def another_client_is_answered_while_a_change_waits_for_a_worker(folder):
    running = weir(folder)
    running.connect()
    other = sessions.Client(running.path)
    with Held(running.worker):
        running.client.sendall(b"cloud down delay 3ms\n")
        time.sleep(0.2)
        # If this waited for the worker, its answer would come after that to the change, which weir
        # gives up after 3 s.
        answer = other.ask("show config")
        before = not select.select([running.client.client], [], [], 0)[0]
    assert answer[-1] == "ok" and before, answer
    is_taken(running)
    recovers(running)


def packets_flow_while_control_stands_still(folder):
    running = weir(folder)
    before = running.received()
    with Held(running.child.pid):
        time.sleep(SHORT_S)
    assert running.received() > before
    recovers(running)


def hand_over_a_list(running, folder, lines):
    """A client sends a loss list, without waiting for the answer. Returns the thread that works on
    it, the client's."""
    name = os.path.join(folder, "list")
    with open(name, "w", encoding="ascii") as out:
        out.write("7\n" * lines)
    before = threads(running.child.pid, "weir")
    running.connect()
    with open(name, "rb") as data:
        socket.send_fds(running.client.client, [f"file {name}\n".encode()], [data.fileno()])
    assert running.lines(1) == ["ok"]
    new = [thread for thread in threads(running.child.pid, "weir") if thread not in before]
    assert len(new) == 1, new
    running.client.sendall(f"cloud down loss list {name}\n".encode())
    return new[0]


def a_change_that_does_not_end_does_not_keep_weir_from_ending(folder):
    running = weir(folder)
    with Held(hand_over_a_list(running, folder, 4000000)):
        running.child.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        while os.path.exists(running.path) and time.monotonic() < begun + PATIENCE_S:
            time.sleep(0.1)
        assert not os.path.exists(running.path), "the socket is still there"
        print("# SIGTERM, and a thread that stands still: weir has ended after "
              f"{time.monotonic() - begun:.1f} s")
    # With status 1, if the thread has stopped in its turn: what it works on cannot be freed.
    words = "does not finish: weir ends without it, and without the final accounts"
    status = running.child.wait(PATIENCE_S)
    assert status == (1 if words in running.said() else 0), (status, running.said())


def a_disk_that_does_not_answer_keeps_nobody_waiting(folder):
    """The disk of the scenario file, at SIGHUP, and of the kept file, after each change."""
    os.makedirs(os.path.join(folder, "real"))
    shutil.copy(os.path.join(folder, "session.weir"), os.path.join(folder, "real"))
    disk = os.path.join(folder, "disk")
    os.symlink("real", disk)
    # A search for leaks would stop all threads first, and those that wait for the disk do not stop.
    with unittest.mock.patch.dict(os.environ, LSAN_OPTIONS="detect_leaks=0"):
        running = weir(folder, "disk/session.weir", ["--keep", "disk/kept"])
    assert running.ask("cloud down delay 2ms")[-1] == "ok"
    with SilentDisk(os.path.join(folder, "silent")):
        os.symlink("silent", disk + "-new")
        os.rename(disk + "-new", disk)
        running.child.send_signal(signal.SIGHUP)
        for delay in ("3ms", "4ms"):
            assert running.ask(f"cloud down delay {delay}")[-1] == "ok"
            assert sessions.Client(running.path).ask("show workers")[-1] == "ok"
        assert "cloud down delay 4ms" in running.config(), running.config()
        if "--all" in sys.argv:
            says(running, "disk/session.weir: not reloaded after 20 s: its disk does not answer")
        running.child.send_signal(signal.SIGTERM)
        assert running.child.wait(PATIENCE_S) == 0, running.said()
    assert "disk/kept: its disk does not answer, so it could not be removed" in running.said()


def a_recording_whose_disk_does_not_answer_holds_up_one_change(folder):
    """The change names a file, which becomes a part of the recording. Meanwhile there are events,
    of a schedule, and new clients."""
    os.makedirs(os.path.join(folder, "real"))
    disk = os.path.join(folder, "disk")
    os.symlink("real", disk)
    with open(os.path.join(folder, "session.weir"), "a", encoding="utf-8") as config:
        config.write("cloud up every 200ms for 100ms loss random 1%\n")
    with open(os.path.join(folder, "list"), "w", encoding="utf-8") as data:
        data.write("7\n")
    running = weir(folder, options=["--record", "disk/recording"])
    running.connect()
    with SilentDisk(os.path.join(folder, "silent")):
        os.symlink("silent", disk + "-new")
        os.rename(disk + "-new", disk)
        running.client.sendall(b"cloud down loss list list\n")
        events = sessions.Client(running.path)
        events.ask("events")
        for _ in range(2):
            while " schedule: " not in events.line():
                pass
            assert sessions.Client(running.path).ask("show config")[-1] == "ok"
        assert not select.select([running.client.client], [], [], 0)[0]
    assert running.lines(1)[0]  # it has succeeded, or not


def a_replay_whose_reading_thread_stands_still_gives_the_same_bytes(folder):
    words = [WEIR, "replay", "-q", "-c", "lossy.weir", "--seed", "3", "--in"]
    subprocess.run([*words, "a=in", "--out", "b=reference"], cwd=folder, check=True)
    os.mkfifo(os.path.join(folder, "fifo"))
    child = subprocess.Popen([*words, "a=fifo", "--out", "b=slow"], cwd=folder,
                             stderr=subprocess.PIPE, text=True)
    with open(os.path.join(folder, "in"), "rb") as data, open(os.path.join(folder, "fifo"),
                                                              "wb") as fifo:
        fifo.write(data.read(100000))
        fifo.flush()
        time.sleep(0.3)
        others = [thread for thread in threads(child.pid, "weir") if thread != child.pid]
        with Held(others[0] if others else child.pid):
            time.sleep(SHORT_S / 3)
        fifo.write(data.read())
    said = child.communicate(timeout=PATIENCE_S)[1]
    assert child.returncode == 0 and not complaint(said), said
    assert filecmp.cmp(os.path.join(folder, "reference"), os.path.join(folder, "slow"),
                       shallow=False)


def a_capture_that_is_a_port_is_played_to_its_end_after_its_thread_stood_still(folder):
    running = weir(folder, "file.weir")
    others = [thread
              for thread in threads(running.child.pid, "weir") if thread != running.child.pid]
    with Held(others[0]):
        time.sleep(SHORT_S)
    for _ in range(PATIENCE_S * 10):
        if running.said().count("played to its end: 400 frames") == 1:
            break
        time.sleep(0.1)
    assert "played to its end: 400 frames" in running.said(), running.said()
    running.stop()


CLAIMS = [a_worker_that_stands_still_is_told_and_answers_come_meanwhile,
          a_change_for_a_worker_that_stands_still_is_in_force_when_it_goes_on,
          another_client_is_answered_while_a_change_waits_for_a_worker,
          a_disk_that_does_not_answer_keeps_nobody_waiting,
          a_recording_whose_disk_does_not_answer_holds_up_one_change,
          packets_flow_while_control_stands_still,
          a_replay_whose_reading_thread_stands_still_gives_the_same_bytes,
          a_capture_that_is_a_port_is_played_to_its_end_after_its_thread_stood_still]


def prepare(folder):
    def write(name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)

    subprocess.run([MAKE_CAPTURE, "--packets", "400", "--bytes", "900", "--gap-ns", "1000000",
                    os.path.join(folder, "in")], check=True)
    clouds = "cloud down from a to b\ncloud up from b to a\ncloud down delay 1ms\n"
    write("session.weir",
          "seed 5\nport a device net_null0,size=64\nport b device net_null1,size=1000\n" + clouds)
    write("file.weir",
          "seed 5\nport a device file:in,out=back\nport b device net_null1,size=64\n" + clouds)
    write("lossy.weir",
          "port a\nport b\ncloud down from a to b\ncloud down loss random 10%\n"
          "cloud down delay 5ms\n")


def in_a_folder(claim):
    folder = tempfile.mkdtemp(prefix="weir-stalls-")
    try:
        prepare(folder)
        claim(folder)
    finally:
        sessions.end_all()
        shutil.rmtree(folder)


if __name__ == "__main__":
    if "--all" in sys.argv:
        CLAIMS.append(a_change_that_does_not_end_does_not_keep_weir_from_ending)
    sys.exit(tap.run([(claim.__name__.replace("_", " "), lambda c=claim: in_a_folder(c))
                      for claim in CLAIMS]))
