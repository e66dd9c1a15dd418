#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests weir@.service: traffic and changes, crashes, a hanging process, a clock that is set back, a
broken file, a full disk, and access rights. Runs as root on a machine whose first process is
systemd, with weir's package installed. tools/machine.sh and tools/guest.sh boot such a machine.

usage: service.py [--minutes M]    how long packets flow, with a change each second (0.2)
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import machine
from machine import (CONFIG, EMULATED, RESTART_S, SOCKET, STATE, UNIT, again, answers, ctl, journal,
                     kept, kill, ping, run, tap, unit, until, write_config)

MINUTES = float(sys.argv[2]) if sys.argv[1:2] == ["--minutes"] else 0.2
SECRET = os.path.join("/home", "weirtest", "secret")
SCENARIO = machine.SCENARIO.format(a="interface weirtest-a", b="interface weirtest-b")
ADDITION = f"/etc/systemd/system/{UNIT}.d/on.conf"
WATCHDOG_S = 5
YEAR_S = 365 * 86400


def rss_kib():
    with open(f"/proc/{unit('MainPID')}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def connect(name):
    """A pair of interfaces: the host's, and the port's, which has the name of the host."""
    run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "link", "set", name, "up")


def it_is_started_when_packets_pass():
    write_config(SCENARIO)
    run("systemctl", "start", UNIT)
    assert (unit("ActiveState") == "active"
            and unit("StatusText").startswith("2 ports, 2 clouds")), unit("StatusText")
    least, received = ping()
    assert least >= 40 and received == "5", (least, received)


def it_runs_as_its_own_user_without_rights_that_ports_do_not_need():
    with open(f"/proc/{unit('MainPID')}/status", encoding="ascii") as file:
        status = file.read()
    owner = run("id", "-u", "weir").stdout.strip()
    assert re.search(rf"^Uid:\s+{owner}\s+{owner}\s+{owner}\s+{owner}$", status, re.M)
    # Only CAP_NET_ADMIN, to restore an interface's offloads at the end.
    assert int(re.search(r"^CapEff:\s+(\w+)$", status, re.M)[1], 16) & ~(1 << 12) == 0, status
    assert (re.search(r"^NoNewPrivs:\s+1$", status, re.M)
            and re.search(r"^Seccomp:\s+2$", status, re.M))


def systemd_calls_its_exposure_two_or_less():
    text = run("systemd-analyze", "security", "--no-pager", UNIT, check=False).stdout
    exposure = float(re.search(r"exposure level for \S+: ([\d.]+)", text)[1])
    print(f"# exposure {exposure}")
    assert exposure <= 2.0, text


def packets_flow_through_changes():
    """Makes a change each second; weir loses no packet."""
    traffic = subprocess.Popen(["ip", "netns", "exec", "weirtest-a", "ping", "-q", "-i", "0.002",
                                "-w", str(max(1, int(MINUTES * 60))),
                                "198.51.100.2"], stdout=subprocess.PIPE, text=True)
    first, changes, end = None, 0, time.monotonic() + MINUTES * 60
    while time.monotonic() < end:
        ctl("cloud", "down", "delay", f"{20 + changes % 30}ms")
        changes += 1
        time.sleep(1)
        if changes == min(60, max(1, int(MINUTES * 30))):
            first = rss_kib()
    out, last = traffic.communicate()[0], rss_kib()
    sent, received = map(int, re.search(r"(\d+) packets transmitted, (\d+) received", out).groups())
    print(f"# {MINUTES} minutes: {sent} sent, {received} received, {changes} changes, RSS {first} "
          f"to {last} KiB")
    # Packets in flight when ping ended.
    assert sent - received <= 60 and sent > MINUTES * 60 * (50 if EMULATED else 100), out
    assert "real loss" not in journal("-p", "warning"), journal("-p", "warning")
    assert last - first <= 1024, (first, last)


def a_crash_is_over_within_a_second_and_what_was_in_force_is_back():
    again(SCENARIO)
    ctl("cloud", "down", "delay", "33ms")
    ctl("cloud", "up", "loss", "0.5%")
    until(lambda: "delay 33ms" in kept())
    config = ctl("show", "config").stdout
    took = []
    for _ in range(5):
        took.append(kill())
        assert ctl("show", "config").stdout == config
    print(f"# back after {', '.join(f'{s:.2f}' for s in took)} s")
    assert min(took) <= RESTART_S, took
    assert "continues with" in journal() or "in force" in journal(), journal()


def one_that_hangs_is_killed_by_the_watchdog():
    again(SCENARIO)
    before = unit("MainPID")
    os.kill(int(before), signal.SIGSTOP)
    # The watchdog's time, and TimeoutAbortSec=2s, as a stopped process does not react to SIGABRT.
    took = until(lambda: unit("MainPID") not in (before, "0") and answers())
    print(f"# stopped, and back after {took:.1f} s")
    assert "atchdog" in run("journalctl", "-u", UNIT, "-o", "cat", "--no-pager", "-n", "40").stdout


@contextlib.contextmanager
def clock_set_back(seconds):
    start = time.monotonic()
    now = time.time()
    time.clock_settime(time.CLOCK_REALTIME, now - seconds)
    try:
        yield
    finally:
        time.clock_settime(time.CLOCK_REALTIME, now + time.monotonic() - start)


def a_clock_set_back_a_year_changes_nothing():
    """Packets, changes, the watchdog, a schedule and a restart do without the time of day."""
    if not machine.throwaway():
        raise tap.Skip("it would set this machine's clock: tools/guest.sh boots one with its own")
    again(SCENARIO + "cloud up at 20s delay 60ms\n")
    before = unit("MainPID")
    with clock_set_back(YEAR_S):
        assert ping()[0] >= 40 and ping()[1] == "5"
        ctl("cloud", "down", "delay", "30ms")
        until(lambda: "delay 30ms" in kept())
        until(lambda: ping()[0] >= 90)  # the schedule's instant
        time.sleep(WATCHDOG_S + 1)
        assert unit("MainPID") == before, journal()
        config = ctl("show", "config").stdout
        kill()
        assert ctl("show", "config").stdout == config
    assert ping()[0] >= 50 and unit("ActiveState") == "active"


def a_broken_file_changes_nothing_and_is_said():
    again(SCENARIO)
    config = ctl("show", "config").stdout
    write_config(SCENARIO + "cloud down delay 20 parsecs\n")
    run("systemctl", "reload", UNIT)
    until(lambda: "weirtest.weir:8:" in journal())
    assert ctl("show", "config").stdout == config and unit("ActiveState") == "active"
    write_config(SCENARIO.replace("20ms", "25ms"))
    run("systemctl", "reload", UNIT)
    until(lambda: "delay 25ms" in ctl("show", "config").stdout)


def a_full_disk_is_said_and_leaves_nothing_half_written():
    run("systemctl", "stop", UNIT)
    shutil.rmtree(STATE, ignore_errors=True)
    os.makedirs(STATE)
    run("mount", "-t", "tmpfs", "-o", "size=64k", "weirtest", STATE)
    try:
        run("systemctl", "start", UNIT)
        until(lambda: "# this is all of it" in kept())
        whole = kept()
        with open(f"{STATE}/full", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        ctl("cloud", "down", "delay", "44ms")
        until(lambda: re.search("disk is full|No space", journal()))
        assert kept() == whole, kept()
        assert sorted(os.listdir(STATE)) == ["full", "kept"], os.listdir(STATE)
        assert ping()[0] >= 60  # the change is in force
        os.remove(f"{STATE}/full")
        ctl("cloud", "down", "delay", "45ms")
        until(lambda: "delay 45ms" in kept())
    finally:
        run("systemctl", "stop", UNIT)
        run("umount", STATE)


def as_the_service(command):
    """Runs a command with the service's file system and namespaces, as its user, without
    capabilities."""
    return run("nsenter", "-t", unit("MainPID"), "-m", "setpriv", "--reuid", "weir",
               "--regid", "weir", "--clear-groups",
               "--bounding-set", "-all", "sh", "-c", command, check=False)


def its_user_reads_nothing_that_is_not_its_own():
    again(SCENARIO)
    os.makedirs(os.path.dirname(SECRET), exist_ok=True)
    with open(SECRET, "w", encoding="utf-8") as file:
        file.write("x\n")
    try:
        for path in ("/etc/shadow", "~root/.bashrc", SECRET, "/dev/mem", "/dev/kmsg",
                     "/proc/1/environ",
                     "/proc/kcore"):
            done = as_the_service(f"cat {path}")
            assert done.returncode != 0 and done.stdout == "", f"{path} was read"
        for path in ("/etc/weir/weirtest.weir", "/usr/bin/weir", "/etc/passwd", "/var/lib/x",
                     "/boot/x", "/sys/kernel/mm/ksm/run",
                     "/proc/sys/kernel/hostname"):
            done = as_the_service(f"echo x > {path}")
            assert done.returncode != 0, f"{path} was written"
        assert as_the_service(f"touch {STATE}/own && rm {STATE}/own").returncode == 0
        processes = as_the_service("ls /proc | grep -c '^[0-9]'").stdout
        everybodys = len([name for name in os.listdir("/proc") if name.isdigit()])
        assert int(processes or 0) < everybodys, f"it sees {processes} of {everybodys} processes"
    finally:
        shutil.rmtree(os.path.dirname(SECRET))


ON = """seed 7
port host inside weirtest-a
port net outside weirtest-a
cloud down from net to host
cloud down delay 20ms
cloud up from host to net
cloud up delay 20ms
"""


@contextlib.contextmanager
def rights_for_sides_of_an_interface():
    """Adds the lines of docs/install.md to the unit."""
    os.makedirs(os.path.dirname(ADDITION))
    machine.write(ADDITION, machine.documented("CAP_BPF"))
    run("systemctl", "daemon-reload")
    try:
        yield
    finally:
        shutil.rmtree(os.path.dirname(ADDITION))
        run("systemctl", "daemon-reload")


def sides_of_an_interface_are_ports_with_the_addition_for_them():
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 6):
        raise tap.Skip("this kernel is older than Linux 6.6")
    run("ip", "addr", "add", "198.51.100.3/24", "dev", "weirtest-a")
    try:
        write_config(ON)
        run("systemctl", "restart", UNIT, check=False)
        until(lambda: "AmbientCapabilities=CAP_BPF" in journal())
        with rights_for_sides_of_an_interface():
            again(ON)
            assert least_to_a() >= 40
            kill()
            assert least_to_a() >= 40
            run("systemctl", "stop", UNIT)
            assert least_to_a() < 40
        assert "weir-" not in run("ip", "-br", "link").stdout
    finally:
        run("ip", "addr", "del", "198.51.100.3/24", "dev", "weirtest-a")
        again(SCENARIO)


def least_to_a():
    done = run("ping", "-q", "-c", "5", "-i", "0.05", "198.51.100.1")
    return float(re.search(r"= ([\d.]+)/", done.stdout)[1])


def a_stranger_does_not_reach_its_socket():
    done = run("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "weir",
               "ctl", "-s", SOCKET, "show",
               "ports", check=False)
    assert done.returncode == 2 and "ermission denied" in done.stderr, done.stderr
    group = run("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--groups", "weir", "weir",
                "ctl", "-s", SOCKET, "show",
                "ports", check=False)
    assert group.returncode == 0, group.stderr


def an_orderly_end_leaves_nothing_and_says_what_was_in_flight():
    again(SCENARIO)
    run("systemctl", "stop", UNIT)
    assert not os.path.exists(SOCKET) and kept() == ""
    assert unit("Result") == "success", unit("Result")


sys.exit(machine.test((
    it_is_started_when_packets_pass,
    it_runs_as_its_own_user_without_rights_that_ports_do_not_need,
    systemd_calls_its_exposure_two_or_less, packets_flow_through_changes,
    a_crash_is_over_within_a_second_and_what_was_in_force_is_back,
    one_that_hangs_is_killed_by_the_watchdog, a_clock_set_back_a_year_changes_nothing,
    a_broken_file_changes_nothing_and_is_said,
    a_full_disk_is_said_and_leaves_nothing_half_written,
    its_user_reads_nothing_that_is_not_its_own,
    sides_of_an_interface_are_ports_with_the_addition_for_them,
    a_stranger_does_not_reach_its_socket,
    machine.apparmor_confines_it_and_denies_nothing_that_it_asks_for,
    an_orderly_end_leaves_nothing_and_says_what_was_in_flight), connect))
