#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the log of a running weir, in the journal and on standard error. The test plays the
journal, in a mount namespace of its own with an empty /run.

usage: log.py WEIR
"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from conversation import SCENARIO, Client
from serving import LONG_S, capture, tap

WEIR = os.path.abspath(sys.argv[1])
SOCKET = "/run/systemd/journal/socket"
INSIDE = "WEIR_TEST_INSIDE"
LOSSY = SCENARIO.replace("net_ring0", "file:FOLDER/a.pcap,loop") + "cloud down loss random 50%\n"

# nohup makes its children ignore SIGHUP.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def fields(datagram):
    """Returns an entry's fields, parsed as the journal does."""
    found = {}
    while datagram:
        line, _, datagram = datagram.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            n, = struct.unpack("<Q", datagram[:8])
            value, datagram = datagram[8:8 + n], datagram[8 + n + 1:]
        assert name.decode() not in found, f"{name} stands twice"
        found[name.decode()] = value.decode()
    return found


class Journal:
    def __init__(self):
        os.makedirs(os.path.dirname(SOCKET), exist_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(SOCKET)
        self.entries = []

    def until(self, **wanted):
        """Returns the next entry with these fields. Earlier entries are kept in `entries`."""
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            self.socket.settimeout(max(end - time.monotonic(), 0.1))
            try:
                entry = fields(self.socket.recv(1 << 18))
            except TimeoutError:
                break
            self.entries.append(entry)
            if all(value in entry.get(name, "") for name, value in wanted.items()):
                return entry
        raise AssertionError(f"no entry has {wanted}; there were {self.entries}")

    def close(self):
        self.socket.close()
        os.unlink(SOCKET)


class Run:
    """A command whose standard error is a file. With `journal` it is told that this is the
    journal."""

    def __init__(self, *words, journal=True):
        self.err = tempfile.TemporaryFile("w+")
        state = os.fstat(self.err.fileno())
        around = dict(os.environ, JOURNAL_STREAM=f"{state.st_dev}:{state.st_ino}")
        if not journal:
            del around["JOURNAL_STREAM"]
        self.process = subprocess.Popen([WEIR, *words], stdout=subprocess.DEVNULL, stderr=self.err,
                                        env=around)

    def said(self):
        # Moves no offset: weir shares it.
        return os.pread(self.err.fileno(), 1 << 24, 0).decode()

    def until_said(self, what):
        end = time.monotonic() + LONG_S
        while what not in self.said():
            assert (time.monotonic() < end
                    and self.process.poll() is None), f"`{what}` was not said: {self.said()}"
            time.sleep(0.02)

    def wait(self, status):
        got = self.process.wait(LONG_S)
        assert got == status, f"status {got}: {self.said()}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.err.close()


class Scene:
    """A folder with a scenario, and a journal."""

    def __init__(self, journal=True):
        self.folder = tempfile.mkdtemp(prefix="weir-log-")
        self.config = os.path.join(self.folder, "s.weir")
        self.path = os.path.join(self.folder, "socket")
        self.write(LOSSY)
        with open(os.path.join(self.folder, "a.pcap"), "wb") as out:
            out.write(capture(2))
        self.journal = Journal() if journal else None
        self.runs = []

    def write(self, text):
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(text.replace("FOLDER", self.folder))

    def run(self, *words, **more):
        self.runs.append(Run(*words, **more))
        return self.runs[-1]

    def weir(self, *options, **more):
        return self.run("run", "-q", "-c", self.config, "-s", self.path, *options, "--",
                        "--no-huge", **more)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for run in self.runs:
            run.kill()
        if self.journal:
            self.journal.close()
        shutil.rmtree(self.folder)


def started(scene, *options):
    weir = scene.weir(*options)
    entry = scene.journal.until(MESSAGE="running, seed 1, control socket")
    assert ((entry["PRIORITY"], entry["WEIR_COMMAND"], entry["SYSLOG_IDENTIFIER"])
            == ("5", "run", "weir")), entry
    return weir


def the_journal_has_cloud_reason_and_level_of_what_happens():
    with Scene() as scene:
        weir = started(scene, "--log-level", "debug")
        loss = scene.journal.until(WEIR_EVENT="loss")
        assert {name: loss[name]
                for name in ("WEIR_CLOUD", "WEIR_REASON", "WEIR_KIND", "PRIORITY")} == {
            "WEIR_CLOUD": "down", "WEIR_REASON": "loss", "WEIR_KIND": "emulated",
            "PRIORITY": "7"}, loss
        client = Client(scene.path)
        client.say("cloud up delay 2ms")
        change = scene.journal.until(WEIR_EVENT="change")
        assert change["PRIORITY"] == "6" and "cloud up delay 2ms" in change["MESSAGE"], change
        client.close()
        assert any(entry.get("WEIR_EVENT") == "dpdk" and entry["MESSAGE"].startswith("DPDK: ")
                   for entry in scene.journal.entries), scene.journal.entries
        weir.process.terminate()
        scene.journal.until(WEIR_EVENT="stopped", PRIORITY="5")
        weir.wait(0)
        assert weir.said() == "", weir.said()


def a_file_that_is_wrong_at_sighup_is_an_error_of_the_journal():
    with Scene() as scene:
        weir = started(scene)
        scene.write(LOSSY + "cloud down dealy 1ms\n")
        weir.process.send_signal(signal.SIGHUP)
        error = scene.journal.until(PRIORITY="3")
        assert ("the scenario in force stays" in error["MESSAGE"]
                and ":8:" in error["MESSAGE"]), error
        scene.write(LOSSY + "cloud down delay 1ms\n")
        weir.process.send_signal(signal.SIGHUP)
        scene.journal.until(MESSAGE="reloaded, and in force", PRIORITY="5")
        weir.process.terminate()
        weir.wait(0)


def a_scenario_that_cannot_run_is_an_error_of_the_journal_for_each_command():
    with Scene() as scene:
        scene.write("port a\nport b\ncloud down from a to nowhere\n")
        for words in (["run"], ["exec"]):
            weir = scene.run(*words, "-c", scene.config)
            error = scene.journal.until(PRIORITY="3", WEIR_COMMAND=words[0])
            assert "nowhere" in error["MESSAGE"], error
            weir.process.wait(LONG_S)
            assert weir.process.returncode not in (0, None) and weir.said() == "", weir.said()


def serve_says_there_that_weir_answers_and_that_it_has_gone():
    with Scene() as scene:
        weir = started(scene)
        serve = scene.run("serve", "--listen", "127.0.0.1:0", "-s", scene.path)
        scene.journal.until(WEIR_COMMAND="serve", MESSAGE="answers, run", PRIORITY="5")
        weir.process.terminate()
        weir.wait(0)
        scene.journal.until(WEIR_COMMAND="serve", PRIORITY="4")
        serve.process.terminate()
        serve.wait(0)


def without_the_journal_the_same_lines_are_on_standard_error():
    with Scene(journal=False) as scene:
        weir = scene.weir("--log-level", "debug", journal=False)
        weir.until_said("weir run: running, seed 1, control socket ")
        weir.until_said("weir run: cloud down: the first packets lost to loss (emulated): ")
        weir.process.terminate()
        weir.wait(0)
        assert "weir run: weir ends: Terminated\n" in weir.said(), weir.said()
        assert all(line.startswith("weir run: ") for line in weir.said().splitlines()), weir.said()


def nobody_is_told_of_emulated_losses_who_has_not_asked():
    with Scene(journal=False) as scene:
        weir = scene.weir("--log-level", "warning", journal=False)
        lost, end = 0, time.monotonic() + LONG_S
        while lost == 0:
            assert time.monotonic() < end and weir.process.poll() is None, weir.said()
            time.sleep(0.1)
            shown = subprocess.run([WEIR, "ctl", "-j", "-s", scene.path, "show", "cloud", "down"],
                                   capture_output=True,
                                   text=True, check=False).stdout
            lost = json.loads(shown)["drops"].get("loss", 0) if shown else 0
        weir.process.terminate()
        weir.wait(0)
        assert weir.said() == "", weir.said()


def inside():
    """Runs this script again in namespaces of its own, with an empty /run."""
    if os.environ.get(INSIDE):
        return
    flags = ["--mount"] if os.geteuid() == 0 else ["--map-root-user", "--mount"]
    if subprocess.run(["unshare", *flags, "true"], capture_output=True,
                      check=False).returncode != 0:
        print("1..0 # SKIP no mount namespace can be had")
        sys.exit(0)
    os.environ[INSIDE] = "yes"
    os.execvp("unshare", ["unshare", *flags, "sh",
                          "-c", 'mount -t tmpfs -o mode=755 weir-test /run && exec "$@"', "sh",
                          sys.executable, os.path.abspath(__file__), *sys.argv[1:]])


inside()
sys.exit(tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
    the_journal_has_cloud_reason_and_level_of_what_happens,
    a_file_that_is_wrong_at_sighup_is_an_error_of_the_journal,
    a_scenario_that_cannot_run_is_an_error_of_the_journal_for_each_command,
    serve_says_there_that_weir_answers_and_that_it_has_gone,
    without_the_journal_the_same_lines_are_on_standard_error,
    nobody_is_told_of_emulated_losses_who_has_not_asked)]))
