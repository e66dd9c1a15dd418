# SPDX-License-Identifier: BSD-3-Clause
"""Tests weir.on and the fixture weir_on: an interface in a namespace of the test."""

import os
import re
import subprocess

import pytest
from test_plugin import run

import weir

HERE, THERE = "192.0.2.65", "192.0.2.66"  # this machine's end of a veth pair, and the other one


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def machine(program, tmp_path):
    """The name of a namespace with an eth0; skips the test where weir on does not work."""
    name = f"weir-on-{os.getpid()}"
    near = f"won{os.getpid()}"
    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no namespaces can be made here: {error}")
    try:
        ip("link", "add", near, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("addr", "add", f"{HERE}/30", "dev", near)
        ip("link", "set", near, "up")
        ip("-n", name, "addr", "add", f"{THERE}/30", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        done = subprocess.run([program, "on", "eth0", "1ms", "--netns", name, "--for", "1ms", "-q",
                               "-s", tmp_path / "socket"],
                              capture_output=True, text=True, check=False)
        if re.search("capabilities|/dev/net/tun|this kernel", done.stderr):
            pytest.skip(done.stderr.strip())
        yield name
    finally:
        subprocess.run(["ip", "link", "del", near], check=False)  # at once, unlike the namespace
        ip("netns", "del", name)


def least_ms():
    said = subprocess.run(["ping", "-c", "3", "-i", "0.1", "-W", "20", THERE], capture_output=True,
                          text=True, check=True).stdout
    return min(float(ms) for ms in re.findall(r"time=([\d.]+) ms", said))


def test_an_interface_crosses_weir_until_the_end_of_the_block(machine):
    assert least_ms() < 39
    with weir.on("eth0", "40ms", netns=machine, seed=7) as path:
        assert 80 <= least_ms() < 800
        assert path.scenario.startswith("seed 7\n")
        path.down("delay 100ms")
        path.up("delay 100ms", "rate 10mbit")
        assert 200 <= least_ms() < 2000
        assert path.show("down").rx_packets >= 6
        path.assert_no_real_loss()
        path.assert_punctual("60s")
    assert least_ms() < 39
    assert "weir" not in ip("-n", machine, "link")


def test_what_stands_in_a_shell_may_stand_in_the_text(machine):
    with weir.on("eth0", f"--down 'delay 50ms' match 'icmp and host {HERE}'", netns=machine):
        assert 50 <= least_ms() < 500
    with pytest.raises(weir.errors.Failed, match="unknown word `4O`"):
        weir.on("eth0", "4O ms", netns=machine)
    with pytest.raises(weir.errors.Failed, match="there is no interface eth7"):
        weir.on("eth7", "40ms", netns=machine)


def test_it_ends_with_the_process_whose_network_it_is_and_that_is_no_failure(machine):
    with subprocess.Popen(["ip", "netns", "exec", machine, "sleep", "1000"]) as process:
        while not ip("netns", "pids", machine):
            assert process.poll() is None
        path = weir.on("eth0", "40ms", pid=process.pid)
        assert least_ms() >= 80
        process.kill()
    path.close()
    assert least_ms() < 39


class OfDocker:
    def __init__(self, name):
        self.id = name


class OfTestcontainers:
    def __init__(self, name):
        self.name = name

    def get_container_id(self):
        return self.name


@pytest.mark.parametrize("kind", [OfDocker, OfTestcontainers])
def test_a_container_is_what_has_an_id(program, kind):
    with pytest.raises(weir.errors.Failed, match="weir-no-such-container"):
        weir.on(kind("weir-no-such-container"), "40ms 1%")
    with pytest.raises(weir.errors.WeirError, match="started"):
        weir.on(kind(None), "40ms 1%")


SUITE = """
import subprocess

def ping():
    subprocess.run(["ping", "-c", "1", "{there}"], check=True)

def test_that_passes(weir_on):
    path = weir_on("eth0", "40ms", netns="{name}")
    ping()
    path.assert_no_real_loss()

def test_that_fails(weir_on):
    path = weir_on("eth0", "1ms", netns="{name}")
    path.down("delay 30ms")
    ping()
    assert path.show("down").rx_packets == 1000

def test_with_a_wrong_text(weir_on):
    weir_on("eth0", "40mx", netns="{name}")
"""


def test_the_fixture_ends_with_the_test_and_a_failing_one_carries_its_evidence(machine, tmp_path):
    said = run(tmp_path, "--weir-seed", "7", "-v",
               suite=SUITE.format(name=machine, there=THERE))
    assert "1 passed" in said and "2 failed" in said, said
    assert "repeat it with --weir-seed 7" in said and f"weir on eth0 netns {machine}" in said
    assert "and was at the end" in said and "cloud down from world to host" in said, said
    assert "unknown word `40mx`" in said
    assert "weir" not in ip("-n", machine, "link")
