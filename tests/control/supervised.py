#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests weir under a service manager, which this test plays: it reports that it is ready, that it
is alive, and that it ends.

usage: supervised.py WEIR HOLD
"""
import os
import re
import select
import socket
import subprocess
import sys
import time

from conversation import Client, Weir
from serving import LONG_S, tap

WEIR, HOLD = map(os.path.abspath, sys.argv[1:3])
# Makes weir notify every 100 ms, which is how often it samples, too.
WATCHDOG_US = 200000


class Manager:
    """The manager's socket, and a weir that has it in its environment."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        os.environ.update(NOTIFY_SOCKET=address.replace("\0", "@"), WATCHDOG_USEC=str(WATCHDOG_US))
        os.environ.pop("WATCHDOG_PID", None)
        try:
            self.weir = Weir(WEIR, "supervised")
        finally:
            for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC"):
                del os.environ[name]

    def next(self, patience=LONG_S):
        return (self.socket.recv(4096).decode()
                if select.select([self.socket], [], [], patience)[0] else None)

    def until(self, wanted):
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            heard = self.next()
            if heard and heard.startswith(wanted):
                return heard
        raise AssertionError(f"{wanted} was not told: {self.weir.said()}")

    def close(self):
        self.weir.stop()
        self.socket.close()


def with_manager(claim):
    def tried():
        address = f"\0weir-test-{os.getpid()}-{claim.__name__}"
        manager = Manager(address)
        try:
            claim(manager)
        finally:
            manager.close()
    tried.__name__ = claim.__name__
    return tried


@with_manager
def it_is_ready_when_it_runs_and_says_when_it_ends(manager):
    ready = manager.until("READY=1")
    assert ready == "READY=1\nSTATUS=2 ports, 2 clouds, seed 1", ready
    assert "weir run: running" in manager.weir.said()
    manager.weir.process.terminate()
    manager.until("STOPPING=1")
    assert manager.weir.process.wait(LONG_S) == 0, manager.weir.said()


@with_manager
def the_watchdog_is_fed_again_and_again(manager):
    for _ in range(5):
        manager.until("WATCHDOG=1")


def worker_of(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as comm:
            if "worker" in comm.read():
                return task
    raise AssertionError("there is no worker")


def samples(weir, n):
    """Waits until weir has sampled its figures n times, 0.1 s apart."""
    client = Client(weir.path)
    assert client.say("json on\nsample 100ms", 2)
    for _ in range(n):
        assert client.file.readline().startswith(b'{"sample":')
    client.close()


@with_manager
def it_is_not_fed_while_a_worker_stands_still(manager):
    manager.until("WATCHDOG=1")
    held = subprocess.Popen([HOLD, worker_of(manager.weir.process.pid)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    if held.stdout.readline() != "held\n":
        raise tap.Skip(f"no thread may be stopped here: {held.stderr.read().strip()}")
    # The worker may have completed one more poll since the last check, which is notified once.
    # Then weir itself runs for a while, however long this takes on a busy machine.
    samples(manager.weir, 15)
    while manager.next(0) is not None:
        pass
    samples(manager.weir, 15)
    late = manager.next(0)
    held.stdin.close()
    assert held.wait(LONG_S) == 0
    assert not late, f"fed while the worker stands still: {late}"
    manager.until("WATCHDOG=1")


def without_a_manager_it_tells_nobody():
    os.environ.update(WATCHDOG_USEC=str(WATCHDOG_US), WATCHDOG_PID="1", NOTIFY_SOCKET="relative")
    try:
        weir = Weir(WEIR, "alone")
    finally:
        for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"):
            del os.environ[name]
    weir.process.terminate()
    assert weir.process.wait(LONG_S) == 0, weir.said()
    weir.stop()


def a_weir_that_ends_at_its_start_fails_the_test_that_needs_it():
    try:
        Weir(WEIR, "wrong", "--frobnicate").stop()
    except RuntimeError as error:
        assert ("weir ended at its start with 2: " in str(error)
                and "--frobnicate" in str(error)), error
    else:
        raise AssertionError("it runs")


def the_unit_gives_the_watchdog_more_than_a_look_takes():
    """Control checks workers ten times a second, and reports a stalled one after a second."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    with open(os.path.join(root, "contrib/systemd/weir@.service.in"), encoding="utf-8") as file:
        unit = file.read()
    assert int(re.search(r"^WatchdogSec=(\d+)s$", unit, re.M)[1]) >= 5 and "\nType=notify\n" in unit


sys.exit(tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
    it_is_ready_when_it_runs_and_says_when_it_ends, the_watchdog_is_fed_again_and_again,
    it_is_not_fed_while_a_worker_stands_still, without_a_manager_it_tells_nobody,
    a_weir_that_ends_at_its_start_fails_the_test_that_needs_it,
    the_unit_gives_the_watchdog_more_than_a_look_takes)]))
