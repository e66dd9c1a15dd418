#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests weir@.service on two NICs, with what `weir setup` and docs/install.md do for them: driver,
hugepages, the unit's addition. Runs in the machine of tools/guest.sh, whose NICs it takes.

usage: nic.py
"""
import glob
import os
import re
import sys

import machine
from machine import (CONFIG, UNIT, again, answers, journal, kill, ping, reached, run, unit, until,
                     write, write_config)

NICS = ("0000:00:10.0", "0000:00:11.0")
ENDS = {"weirtest-a": "0000:00:18.0", "weirtest-b": "0000:00:19.0"}
SCENARIO = machine.SCENARIO.format(a=f"device {NICS[0]}", b=f"device {NICS[1]}")
ADDITION = f"/etc/systemd/system/{UNIT}.d/nic.conf"
BOOT = "/run/systemd/system/weirtest.target"
PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB"


def interface(device):
    return os.path.basename(glob.glob(f"/sys/bus/pci/devices/{device}/virtio*/net/*")[0])


def connect(name):
    run("ip", "link", "set", interface(ENDS[name]), "netns", name, "name", "eth0")


def driver(nic):
    return os.path.basename(os.readlink(f"/sys/bus/pci/devices/{nic}/driver"))


def pages(which):
    with open(f"{PAGES}/{which}_hugepages", encoding="ascii") as file:
        return int(file.read())


def setup_gives_it_drivers_and_hugepages():
    write_config(SCENARIO)
    run("weir", "setup", "weirtest", "--apply")
    assert [driver(nic) for nic in NICS] == ["vfio-pci"] * 2
    assert pages("free") > 0


def it_runs_with_the_addition_that_the_documentation_gives():
    os.makedirs(os.path.dirname(ADDITION))
    write(ADDITION, machine.documented("vfio"))
    run("systemctl", "daemon-reload")
    again(SCENARIO)
    until(reached)  # the link comes up some time after the ports are open
    assert ping()[0] >= 40
    with open(f"/proc/{unit('MainPID')}/status", encoding="ascii") as status:
        owner = run("id", "-u", "weir").stdout.strip()
        assert re.search(rf"^Uid:\s+{owner}\s", status.read(), re.M)


def its_memory_is_in_hugepages():
    said = journal(f"_PID={unit('MainPID')}")
    assert pages("free") < pages("nr") and "does without" not in said, said


def a_crash_gives_the_nics_and_hugepages_to_the_next_one():
    free = pages("free")
    kill()
    until(reached)
    assert pages("free") == free


def boot(instances):
    """Undoes what a reboot undoes, and then starts the units as a boot does: in one transaction."""
    run("systemctl", "stop", UNIT)
    for nic in NICS:
        write(f"/sys/bus/pci/devices/{nic}/driver_override", "\n")
        write(f"/sys/bus/pci/devices/{nic}/driver/unbind", nic)
        write("/sys/bus/pci/drivers_probe", nic)
    write(f"{PAGES}/nr_hugepages", "0")
    assert [driver(nic) for nic in NICS] == ["e1000e"] * 2
    setups = [f"weir-setup@{instance}.service" for instance in instances]
    run("systemctl", "stop", *setups)
    run("systemctl", "reset-failed", UNIT, check=False)
    write(BOOT, f"[Unit]\nWants={' '.join([UNIT, *setups])}\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "restart", os.path.basename(BOOT))
    until(answers)
    assert unit("NRestarts") == "0", journal()
    until(reached)


def a_start_of_the_machine_prepares_the_service_before_it_starts():
    boot(["weirtest"])
    its_memory_is_in_hugepages()


def a_start_of_the_machine_prepares_named_nics_before_services_start():
    """Their hugepages suffice for paths without a delay."""
    run("systemctl", "stop", UNIT)
    run("weir", "setup", "--undo")
    write_config(re.sub(r".* delay .*\n", "", SCENARIO))
    run("weir", "setup", *NICS, "--apply")
    boot(NICS)


def nics_that_vfio_cannot_map_without_hugepages_are_said():
    """DPDK 22.11 makes one entry of vfio's table for many pages, and later ones one for each."""
    write_config(SCENARIO)
    run("systemctl", "stop", UNIT)
    write(f"{PAGES}/nr_hugepages", "0")
    done = run("timeout", "30", "weir", "run", "-c", CONFIG, "-s", "/run/weirtest", check=False)
    assert ("running, seed 7" in done.stderr or re.search(
        "more pages than vfio maps.*reserve hugepages", done.stderr)), done.stderr


def hugepages_that_the_kernel_does_not_give_are_said():
    write_config(SCENARIO.replace("20ms", "2s"))  # more than the machine's memory
    done = run("weir", "setup", "weirtest", "--apply", check=False)
    said = re.search(rf"{PAGES}/nr_hugepages has (\d+) instead of (\d+); the kernel gives no more",
                     done.stderr)
    assert done.returncode == 1 and said, done.stderr
    assert int(said[1]) == pages("nr") < int(said[2])


def undo_gives_them_back_to_the_kernel():
    run("systemctl", "stop", UNIT)
    run("weir", "setup", "--undo")
    assert [driver(nic) for nic in NICS] == ["e1000e"] * 2 and pages("nr") == 0
    enabled = run("systemctl", "list-unit-files", "--state=enabled", "weir-setup@*", check=False)
    assert "weir-setup@" not in enabled.stdout, enabled.stdout


if not machine.throwaway():
    print("1..0 # SKIP it would take NICs of this machine: tools/guest.sh boots one with NICs")
    sys.exit(0)
sys.exit(machine.test((
    setup_gives_it_drivers_and_hugepages, it_runs_with_the_addition_that_the_documentation_gives,
    its_memory_is_in_hugepages, a_crash_gives_the_nics_and_hugepages_to_the_next_one,
    a_start_of_the_machine_prepares_the_service_before_it_starts,
    a_start_of_the_machine_prepares_named_nics_before_services_start,
    machine.apparmor_confines_it_and_denies_nothing_that_it_asks_for,
    nics_that_vfio_cannot_map_without_hugepages_are_said,
    hugepages_that_the_kernel_does_not_give_are_said, undo_gives_them_back_to_the_kernel), connect))
