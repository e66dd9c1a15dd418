# SPDX-License-Identifier: BSD-3-Clause
"""Tests the plugin with suites of its own, which pytest runs."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import weir

pytestmark = pytest.mark.usefixtures("exec_here")
SOURCES = pathlib.Path(weir.__file__).resolve().parents[1]

EXAMPLE = """
import sys
import pytest

SEND = '''
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(100):
    s.sendto(b"%d" % i, (sys.argv[1], 5001))
for _ in range(20):
    s.sendto(b"end", (sys.argv[1], 5001))
'''
HEAR = '''
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 5001))
print("ready", flush=True)
s.settimeout(60)
got = []
while (data := s.recv(100)) != b"end":
    got.append(data.decode())
print(",".join(got))
'''

def heard(path):
    server = path.server.popen([sys.executable, "-I", "-c", HEAR])
    assert server.stdout.readline() == "ready\\n"
    path.client.run([sys.executable, "-I", "-c", SEND, path.server.address], check=True)
    return server.communicate(timeout=60)[0].strip()

def test_all_arrive(weir_path):
    weir_path.down("rate 2mbit queue 20kB", "delay 20ms")
    assert heard(weir_path).count(",") == 99
    weir_path.assert_no_real_loss()

@pytest.mark.weir("geo-satellite", "home-router")
def test_with_each(weir_path):
    assert weir_path.client.run(["true"]).returncode == 0

@pytest.mark.weir(up="loss random 20%")
def test_that_fails(weir_path):
    assert heard(weir_path) == "all of them"
"""


def run(tmp_path, *options, suite=EXAMPLE, check=None):
    (tmp_path / "test_example.py").write_text(suite)
    env = dict(os.environ, PYTHONPATH=str(SOURCES), WEIR_TAP="")
    return subprocess.run([sys.executable, "-m", "pytest", *plugin(), "-p", "no:cacheprovider",
                           "--basetemp",
                           tmp_path / "base", *options, "test_example.py"], cwd=tmp_path, env=env,
                          capture_output=True, text=True, check=False).stdout


def plugin():
    """Loads the plugin by hand if the package is not installed, as there is no entry point then."""
    from importlib.metadata import entry_points

    found = any(e.value == "weir.pytest_plugin" for e in entry_points(group="pytest11"))
    return [] if found else ["-p", "weir.pytest_plugin"]


def test_a_failing_test_carries_its_evidence_and_others_leave_nothing(tmp_path):
    said = run(tmp_path, "--weir-seed", "7", "-v")
    assert "3 passed" in said and "1 failed" in said, said
    assert ("test_with_each[geo-satellite] PASSED" in said
            and "test_with_each[home-router] PASSED" in said)
    assert "repeat it with --weir-seed 7" in said and "cloud up loss random 20%" in said
    assert "cloud up from B to A" in said  # the table of counters
    kept = re.findall(r": (/\S+/weir/(?:crossed.pcapng|fates.csv|report.json|picture.html))$", said,
                      re.M)
    assert len(kept) == 4 and all(pathlib.Path(path).stat().st_size > 0 for path in kept)
    folders = {path.parent for path in (tmp_path / "base").rglob("weir.log")}
    assert folders == {pathlib.Path(kept[0]).parent}
    recorded = re.search(r"weir replay --recording (/\S+/weir/recording)$", said, re.M)[1]
    again = weir.Recording(recorded).replay()
    assert again.seed == 7 and again.report.cloud("up").drops["loss"] > 0


PUNCTUAL = """
import pytest

@pytest.mark.weir(punctual="60s")
def test_in_time(weir_path):
    assert weir_path.client.run(["ping", "-c", "1", weir_path.server.address]).returncode == 0

@pytest.mark.weir(punctual="1ns")
def test_late(weir_path):
    assert weir_path.client.run(["ping", "-c", "1", weir_path.server.address]).returncode == 0
"""


def test_a_test_may_demand_that_weir_is_punctual(tmp_path):
    said = run(tmp_path, suite=PUNCTUAL)
    assert "2 passed" in said and "1 error" in said, said
    assert re.search(r"ERROR at teardown of test_late", said), said
    assert re.search(r"port [AB]: \d+ of \d+ packets left more than 1 ns late, the latest ", said)
    assert re.search(r"did not get a processor for up to .* load average .* processors", said)


AROUND = """
import pytest

@pytest.fixture
def around(weir_path, request):
    assert request.node.name != "test_setup", "setup fails"
    weir_path.down("delay 7ms")
    yield
    assert request.node.name not in ("test_teardown", "test_both"), "teardown fails"

@pytest.fixture
def before():
    yield
    assert False, "an earlier fixture fails"

def test_setup(around): pass
def test_teardown(around): pass
def test_both(around): assert False, "the test fails"
def test_before(before, weir_path): pass
def test_passes(around): pass
"""


def test_what_passes_and_is_kept_is_named(tmp_path):
    said = run(tmp_path, "-k", "all_arrive", "--weir-keep")
    kept = re.search(r"^test_example.py::test_all_arrive: (/\S+/weir)$", said, re.M)
    assert kept and (pathlib.Path(kept[1]) / "crossed.pcapng").stat().st_size > 0, said
    assert "kept by weir" not in run(tmp_path, "-k", "all_arrive")


def test_a_traceback_shows_the_test_and_not_weir(tmp_path):
    said = run(tmp_path, suite="""
def test_command(weir_path): weir_path.client.run(["false"], check=True)
def test_change(weir_path): weir_path.down("delay 1xs")
""")
    assert "2 failed" in said and "test_example.py:2: " in said, said
    assert "/weir/end.py" not in said and "/weir/client.py" not in said, said
    assert "device tap" not in said, said


def test_a_test_that_fails_in_a_fixture_carries_its_evidence_too(tmp_path):
    said = run(tmp_path, "--weir-seed", "7", suite=AROUND)
    assert "1 failed" in said and "4 errors" in said, said
    assert said.count("repeat it with --weir-seed 7") == 4  # that of test_both once
    kept = re.findall(r": (/\S+/weir/report.json)$", said, re.M)
    assert len(kept) == 4 and all(pathlib.Path(path).stat().st_size > 0 for path in kept)
    assert ({path.parent for path in (tmp_path / "base").rglob("weir.log")}
            == {pathlib.Path(path).parent for path in kept})


def test_a_recording_can_be_too_large_or_not_wanted(tmp_path):
    said = run(tmp_path, "-k", "fails", "--weir-recording", "0")
    assert ("1 failed" in said and "weir replay --recording" not in said
            and "no recording" not in said), said
    suite = EXAMPLE.replace("range(100)", "range(200)")
    suite = suite.replace('b"%d" % i', 'b"%d" % i + bytes(9000)')
    said = run(tmp_path, "-k", "fails", "--weir-recording", "1MiB", suite=suite)
    assert "no recording: more than 1MiB" in said, said
    assert not list((tmp_path / "base").rglob("recording.json"))


def test_what_fails_with_a_flight_keeps_its_last_seconds(tmp_path):
    suite = EXAMPLE.replace('up="loss random 20%"', 'up="loss random 20%", flight="5s"')
    said = run(tmp_path, "-k", "fails", "--weir-seed", "7", suite=suite)
    kept = re.search(r"to run its last seconds again: weir replay --recording "
                     r"(/\S+/weir/flight-\S+Z)$", said, re.M)
    assert kept and "/weir/recording" not in said, said
    again = weir.Recording(kept[1]).replay()
    assert again.seed == 7 and again.report.cloud("up").drops["loss"] > 0


def test_the_seed_repeats_a_failure_to_the_byte(tmp_path):
    def heard(*options):
        said = run(tmp_path, "-k", "fails", "-vv", *options)
        return re.search(r"^E +assert '([0-9,]+)'|^E +(?:AssertionError: )?assert '([0-9,]+)", said,
                         re.M)[0], said

    first, said = heard()
    seed = re.search(r"repeat it with --weir-seed (\d+)", said)[1]
    assert heard("--weir-seed", seed)[0] == first
    assert heard("--weir-seed", str(int(seed) + 1))[0] != first


def test_a_marker_that_is_misspelt_fails(tmp_path):
    said = run(tmp_path,
               suite="import pytest\n@pytest.mark.weir(dwon='delay 5ms')\n"
                     "def test_x(weir_path): pass\n")
    assert "has no `dwon`" in said and "1 error" in said


def children_of(name):
    """Returns the processes with `name` on their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if name.encode() in words:
                found.append(int(entry.name))
    return found


MANY = """
import pytest
@pytest.mark.parametrize("n", range({n}))
def test_one(weir_path, n):
    weir_path.down(f"delay {{n % 9 + 1}}ms")
    assert weir_path.client.run(["echo", str(n)]).stdout == f"{{n}}\\n"
    weir_path.assert_no_real_loss()
"""


def test_many_run_side_by_side_under_xdist(tmp_path):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    n = int(os.environ.get("WEIR_PLUGIN_TESTS", "12"))
    said = run(tmp_path, "-n", "4", "-p", "xdist", suite=MANY.format(n=n))
    assert f"{n} passed" in said, said[-3000:]
    assert children_of(str(tmp_path)) == []


def test_workers_of_xdist_share_one_seed_that_was_drawn(tmp_path):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    suite = ("import pytest\n@pytest.mark.parametrize('n', range(4))\n"
             "def test_seed(weir_path, n): assert weir_path.seed == -1\n")
    said = run(tmp_path, "-n", "2", "-p", "xdist", suite=suite)
    assert "4 failed" in said
    assert len(set(re.findall(r"repeat it with --weir-seed (\d+)", said))) == 1


def test_after_kill_9_of_pytest_in_the_middle_nothing_is_left(tmp_path, shared_memory_as_before):
    parallel = []
    try:
        import xdist  # noqa: F401
        parallel = ["-p", "xdist", "-n", "4"]
    except ImportError:
        pass
    (tmp_path / "test_example.py").write_text(MANY.format(n=200))
    env = dict(os.environ, PYTHONPATH=str(SOURCES), WEIR_TAP="")
    running = subprocess.Popen([sys.executable, "-m", "pytest", *plugin(), *parallel, "--basetemp",
                                tmp_path / "base", "test_example.py"], cwd=tmp_path, env=env,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    end = time.monotonic() + 120
    base = str(tmp_path / "base")
    while not [pid for pid in children_of(base) if pid != running.pid]:
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    while children_of(base):
        assert time.monotonic() < end, [pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                                        for pid in children_of(base)]
        time.sleep(0.05)


def test_keywords_of_robot_do_the_same():
    """Calls the keywords as Robot does, and then through Robot itself if it is installed."""
    from weir.robot import robot

    library = robot()
    try:
        address = library.open_path("rate 2mbit queue 20kB", seed="7")
        library.change_down("delay 5ms")
        library.start_on_server(f"{sys.executable} -m http.server 8000 2>/dev/null")
        fetch = (f"{sys.executable} -c 'import urllib.request as u; "
                 "print(len(u.urlopen(\"http://A:8000/\").read()) > 0)'")
        assert library.wait_on_client(fetch) == "True\n"
        with pytest.raises(AssertionError):
            library.run_on_client("false")
        library.weir_should_have_lost_nothing()
        assert address in ("198.18.0.1",) or address.startswith("198.18.")
        assert "--weir-seed 7" in library.path_evidence()
    finally:
        library.close_path()
