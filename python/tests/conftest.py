# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share. WEIR names the program; WEIR_TAP makes the outcome TAP, which ./test counts."""

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
    """A line a test: its name is the sentence."""

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
        # What defines it, the terminal, is off; pytest asks for it to explain an assertion.
        config.option.verbose = 2
        config.pluginmanager.register(Tap())


@pytest.fixture(scope="session")
def program():
    return weir.program.find()


@pytest.fixture
def client():
    """A weir that runs between two rings, where nothing comes in; and a client of it. It needs
    neither rights nor hugepages."""
    with weir.run(SCENARIO, eal=["--no-huge"]) as client:
        yield client


@pytest.fixture
def shared_memory_as_before():
    """What this test leaves in /dev/shm stays there. Other programs put files there, too, for as
    long as they need them: the semaphores of Python's multiprocessing live for a moment."""
    before = set(os.listdir("/dev/shm"))
    yield
    end = time.monotonic() + 60
    while left := set(os.listdir("/dev/shm")) - before:
        assert time.monotonic() < end, left
        time.sleep(0.05)


@pytest.fixture(scope="session")
def exec_here(program):
    """Skips where there can be no namespaces, or no taps (docs/exec.md)."""
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    for needed in (["test", "-w", "/dev/net/tun"], ["unshare", *own, "--net", "--mount", "true"]):
        done = subprocess.run(needed, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"`{' '.join(needed)}` fails: {done.stderr.strip()}")
    done = subprocess.run([program, "exec", "-q", "--", "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


CAPTURE = ROOT / "tests/replay/data/linux-tcp.pcap"
SPLIT = "mac=02:00:00:00:00:0a"
