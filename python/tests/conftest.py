# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that the tests share. WEIR names the program; with WEIR_TAP the results are TAP, which
./test counts."""

import os
import pathlib
import subprocess
import time

import pytest

import weir

pytest_plugins = ["pytester"]
ROOT = pathlib.Path(__file__).resolve().parents[2]

SCENARIO = """\
seed 1
port a device net_ring0
port b device net_ring1
cloud down from a to b
cloud up from b to a
cloud up delay 1ms
"""


class Tap:
    """Prints a line for each test, with the name of the test as a sentence."""

    def __init__(self):
        self.count = 0

    def say(self, ok, report, reason=""):
        self.count += 1
        name = report.nodeid.split("::", 1)[-1].removeprefix("test_").replace("_", " ")
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}{reason}", flush=True)

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.say(True, report, " # SKIP " + str(report.longrepr[2]).removeprefix("Skipped: "))
        elif report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            if crash:
                print(f"# {crash.path}:{crash.lineno}: " + crash.message.replace("\n", "\n# "))
            for line in report.longreprtext.splitlines():
                print(f"# {line}")
            self.say(False, report)
        elif report.when == "call":
            self.say(True, report)

    def pytest_collectreport(self, report):
        if report.failed:
            print("# " + report.longreprtext.replace("\n", "\n# "))
            self.say(False, report)

    def pytest_sessionfinish(self):
        print(f"1..{self.count}", flush=True)


def pytest_configure(config):
    if os.environ.get("WEIR_TAP"):
        # The terminal plugin, which defines `verbose`, is off; pytest reads it to explain
        # assertions.
        config.option.verbose = 2
        config.pluginmanager.register(Tap())


@pytest.fixture(scope="session")
def program():
    return weir.program.find()


@pytest.fixture
def client():
    """A client of a running weir between two rings at which nothing arrives. It needs neither root
    nor hugepages."""
    with weir.run(SCENARIO, eal=["--no-huge"]) as client:
        yield client


@pytest.fixture(scope="session")
def library():
    """Skips the test if there is no library of weir."""
    try:
        return weir.network._library.library()
    except weir.errors.NotInstalled as error:
        pytest.skip(str(error))


@pytest.fixture
def shared_memory_as_before():
    """Checks that the test leaves nothing in /dev/shm. Other programs also put files there for as
    long as they need them: the semaphores of Python's multiprocessing live for a moment."""
    before = set(os.listdir("/dev/shm"))
    yield
    end = time.monotonic() + 60
    while left := set(os.listdir("/dev/shm")) - before:
        assert time.monotonic() < end, left
        time.sleep(0.05)


@pytest.fixture(scope="session")
def exec_here(program):
    """Skips the test if namespaces or taps cannot be made here (docs/exec.md)."""
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    for needed in (["test", "-w", "/dev/net/tun"], ["unshare", *own, "--net", "--mount", "true"]):
        done = subprocess.run(needed, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"`{' '.join(needed)}` fails: {done.stderr.strip()}")
    done = subprocess.run([program, "exec", "-q", "--", "true"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr


CAPTURE = ROOT / "tests/replay/data/linux-tcp.pcap"
SPLIT = "mac=02:00:00:00:00:0a"
