# SPDX-License-Identifier: BSD-3-Clause
"""The machine that runs weir@weirtest.service, for tests of the service: two hosts as network
namespaces, the service's scenario, what systemd and AppArmor say about it. Everything that it
creates is named weirtest, and removed at the end."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
UNIT = "weir@weirtest.service"
CONFIG = "/etc/weir/weirtest.weir"
SOCKET = "/run/weir/weirtest/control"
STATE = "/var/lib/weir/weirtest"
SCENARIO = """seed 7
port a {a}
port b {b}
cloud down from a to b
cloud down delay 20ms
cloud up from b to a
cloud up delay 20ms
"""
PROFILE = "weir-service"
PATIENCE_S = 60


def run(*words, check=True, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    assert not check or done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return done


# An emulated processor is some ten times slower: how long it takes says nothing about weir.
EMULATED = (shutil.which("systemd-detect-virt") is not None
            and run("systemd-detect-virt", check=False).stdout.strip() == "qemu")
RESTART_S = 10.0 if EMULATED else 1.0


def unit(what):
    return run("systemctl", "show", "-P", what, UNIT).stdout.strip()


def ctl(*words, check=True):
    return run("weir", "ctl", "-s", SOCKET, *words, check=check)


def answers():
    return ctl("show", "ports", check=False).returncode == 0


def journal(*more):
    return run("journalctl", "-u", UNIT, "-o", "cat", "--no-pager", "-n", "60", *more).stdout


def until(true, patience=PATIENCE_S):
    """Waits until true() returns true. Returns the seconds that this took."""
    start = time.monotonic()
    while not true():
        assert time.monotonic() - start < patience, f"{unit('StatusText')}\n{journal()}"
        time.sleep(0.01)
    return time.monotonic() - start


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_config(text):
    write(CONFIG, text)


def documented(word):
    """Returns the addition to the unit in docs/install.md that has this word."""
    with open(f"{ROOT}/docs/install.md", encoding="utf-8") as page:
        return next(addition for addition in re.findall(r"^\[Service\]\n[^`]+", page.read(), re.M)
                    if word in addition)


def kept():
    try:
        with open(f"{STATE}/kept", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def ping(count="5", interval="0.05", size="56"):
    done = run("ip", "netns", "exec", "weirtest-a", "ping", "-q", "-c", count, "-i", interval,
               "-s", size, "198.51.100.2")
    return float(re.search(r"= ([\d.]+)/", done.stdout)[1]), re.search(r"(\d+) received",
                                                                       done.stdout)[1]


def reached():
    return run("ip", "netns", "exec", "weirtest-a", "ping", "-q", "-c", "1", "-W", "1",
               "198.51.100.2", check=False).returncode == 0


def throwaway():
    """Returns whether all of this machine, also its clock, may be changed."""
    return (os.environ.get("WEIR_THROWAWAY") == "1"
            and run("systemd-detect-virt", "--container", check=False).returncode != 0)


def again(scenario):
    """Restarts the service, with this scenario."""
    write_config(scenario)
    run("systemctl", "reset-failed", UNIT, check=False)
    run("systemctl", "restart", UNIT)
    until(answers)


def kill():
    """Kills the service with SIGKILL. Returns the seconds until its successor answers."""
    before = unit("MainPID")
    os.kill(int(before), signal.SIGKILL)
    return until(lambda: unit("MainPID") not in (before, "0") and answers())


def apparmor_confines_it_and_denies_nothing_that_it_asks_for():
    """A claim for the end: covers all that the service did before."""
    try:
        with open("/sys/module/apparmor/parameters/enabled", encoding="ascii") as file:
            enabled = file.read().strip() == "Y"
    except FileNotFoundError:
        enabled = False
    if not enabled:
        raise tap.Skip("this kernel has no AppArmor: tools/guest.sh boots one that has")
    until(answers)
    with open(f"/proc/{unit('MainPID')}/attr/current", encoding="ascii") as file:
        assert file.read().strip() == f"{PROFILE} (enforce)"
    said = run("journalctl", "-b", "-o", "cat", "--no-pager").stdout
    denied = re.findall(rf'apparmor="DENIED".*profile="{PROFILE}".*', said)
    assert not denied, "\n".join(denied)


@contextlib.contextmanager
def hosts(connect):
    """Makes two hosts, a and b. connect(name) gives each of them its interface, eth0."""
    for host, address in (("a", 1), ("b", 2)):
        name = f"weirtest-{host}"
        run("ip", "netns", "add", name)
        connect(name)
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "addr", "add", f"198.51.100.{address}/24", "dev", "eth0")
    try:
        yield
    finally:
        run("systemctl", "stop", UNIT, check=False)
        run("systemctl", "reset-failed", UNIT, check=False)
        for host in "ab":
            run("ip", "netns", "del", f"weirtest-{host}", check=False)
        with contextlib.suppress(FileNotFoundError):
            os.remove(CONFIG)
        shutil.rmtree(STATE, ignore_errors=True)


def why_not():
    """Returns why the service cannot be tested here, or ""."""
    with open("/proc/1/comm", encoding="ascii") as comm:
        first = comm.read().strip()
    if first != "systemd":
        return f"the first process here is {first}, not systemd: tools/machine.sh boots one"
    if os.geteuid() != 0:
        return "it takes root"
    if run("systemctl", "cat", UNIT, check=False).returncode != 0:
        return "weir@.service is not installed"
    return ""


def test(claims, connect):
    """Runs claims, functions whose names are the sentences, between two hosts."""
    reason = why_not()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    with hosts(connect):
        return tap.run([(claim.__name__.replace("_", " "), claim) for claim in claims])
