# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import contextlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

import weir
from weir import errors
from weir.replay import Fates

pytestmark = pytest.mark.usefixtures("exec_here")
SOURCES = pathlib.Path(weir.__file__).resolve().parents[1]

ECHO = """
import socket, sys
s = socket.create_server(("0.0.0.0", 5000))
print("ready", flush=True)
c, _ = s.accept()
n = 0
while data := c.recv(65536):
    n += len(data)
c.close()
print(n)
"""
SEND = ("import socket; s = socket.create_connection((sys.argv[1], 5000)); "
        "s.sendall(bytes(1000000)); s.close()")
# REFLECT echoes numbered datagrams. ASK sends them, and prints the numbers that return ahead of an
# `end`: of twenty, some come through. It waits for so many seconds.
REFLECT = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 5001))
print("ready", flush=True)
while True:
    data, who = s.recvfrom(100)
    s.sendto(data, who)
"""
ASK = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
got = []
for what in [b"%d" % i for i in range(200)] + [b"end"] * 20:
    s.sendto(what, (sys.argv[1], 5001))
s.settimeout(float(sys.argv[2]))
try:
    while (data := s.recv(100)) != b"end":
        got.append(data.decode())
except TimeoutError:
    pass
print(",".join(got))
"""


ONE = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"1", (sys.argv[1], 5001))
s.settimeout(30)
s.recv(100)
"""


def python(*words):
    return [sys.executable, "-I", "-c", *words]


def until(true, patience=60.0):
    end = time.monotonic() + patience
    while not true():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)


def test_tcp_crosses_it_and_weir_loses_nothing():
    with weir.Path("rate 50mbit queue 200kB", "delay 5ms") as path:
        server = path.server.popen(python(ECHO))
        assert server.stdout.readline() == "ready\n"
        path.client.run(python("import sys;" + SEND, path.server.host), check=True)
        out, _ = server.communicate(timeout=60)
        assert out == "1000000\n" and server.returncode == 0
        path.assert_no_real_loss()
        assert path.show("up").tx_bytes > 1_000_000
        assert path.show("down").rx_packets > 0


def test_a_packet_that_left_late_is_no_secret(tmp_path):
    """weir is stopped while a packet is due, for longer than that takes. If the machine is so slow
    that the packet has left before, another one is sent."""
    with weir.Path("delay 5ms", "delay 1s", folder=tmp_path) as path:
        server = path.server.popen(python(REFLECT))
        server.stdout.readline()
        for _ in range(5):
            asked = path.client.popen(python(ONE, path.server.address))
            until(lambda: path.show("up").held_packets > 0)
            os.kill(path._process.pid, signal.SIGSTOP)
            time.sleep(1.3)
            os.kill(path._process.pid, signal.SIGCONT)
            assert asked.wait(60) == 0
            if (path.lateness()["A"].max or 0) >= 250_000_000:
                break
        late = path.lateness()["A"].max
        assert late >= 250_000_000
        assert path.show("up").lateness_ns.max == late
        path.assert_punctual("60s")
        with pytest.raises(AssertionError, match=r"port A: [1-5] of [1-5] packets left more than "
                                                 r"200 ms late, the latest [\d.]+ m?s\n"):
            path.assert_punctual(0.2)
        with pytest.raises(ValueError, match="2ms"):
            path.assert_punctual("2")
    fates = list(Fates(tmp_path / "fates.csv"))
    assert max(fate.late_ns for fate in fates if fate.cloud == "up" and fate.delivered) == late
    assert all(fate.delay_ns == 1_000_000_000 for fate in fates if fate.cloud == "up")


def test_both_ends_know_each_other_by_name_and_address():
    with weir.Path(record=False) as path:
        said = path.client.run(["cat", "/etc/hosts"]).stdout
        assert any(line.split() == [path.server.address, "A"] for line in said.splitlines())
        assert path.client.address != path.server.address
        assert (path.client.run(["cat", "/proc/self/net/dev"]).stdout.count(":")
                == 2)  # lo and the path's


def test_a_change_holds_for_what_comes_after_it():
    with weir.Path(record=False) as path:
        server = path.server.popen(python(REFLECT))
        server.stdout.readline()
        path.down("loss random 100%")
        assert path.client.run(python(ASK, path.server.address, "1")).stdout == "\n"
        path.down("loss off")
        assert path.client.run(python(ASK, path.server.address, "60")).stdout.count(",") == 199
        with pytest.raises(errors.UnknownWord):
            path.up("dealy 5ms")


def test_what_is_lost_is_the_same_with_the_same_seed_and_repeats_to_the_byte(tmp_path):
    def lost(seed, name):
        with weir.Path(up="loss random 10%", seed=seed, folder=tmp_path / name) as path:
            server = path.server.popen(python(REFLECT))
            server.stdout.readline()
            got = path.client.run(python(ASK, path.server.address, "60")).stdout
        fates = (path.folder / "fates.csv").read_text().splitlines()[1:]
        ups = [row.split(",") for row in fates if ",up," in row]
        # Within a burst, drops are logged before deliveries, and burst boundaries depend on timing.
        # Behind the 220 of ASK there may be ICMP: marks that came when ASK was over.
        return got, sorted((int(row[0]), row[4], row[5]) for row in ups)[:220]

    first, again, other = lost(7, "a"), lost(7, "b"), lost(8, "c")
    assert first == again
    assert first[1] != other[1] and 150 < first[0].count(",") < 198


def test_the_record_has_what_crossed(tmp_path):
    with weir.Path(folder=tmp_path) as path:
        server = path.server.popen(python(REFLECT))
        server.stdout.readline()
        path.client.run(python(ASK, path.server.address, "60"))
    for name in ("report.json", "fates.csv", "crossed.pcapng", "picture.html", "weir.log"):
        assert (tmp_path / name).stat().st_size > 100, name
    assert not (tmp_path / "control").exists()


def test_a_process_there_is_used_as_one_here():
    with weir.Path(record=False) as path:
        done = path.client.run("cat; echo $X >&2; exit 3", shell=True, input="hä\n" * 100_000,
                               env={"X": "y"})
        assert (done.returncode, len(done.stdout), done.stderr) == (3, 300_000, "y\n")
        with pytest.raises(subprocess.CalledProcessError):
            path.client.run(["false"], check=True)
        with pytest.raises(FileNotFoundError):
            path.client.run(["/usr/there-is-no-such-program"])
        with pytest.raises(subprocess.TimeoutExpired):
            path.client.run(["sleep", "100"], timeout=0.1)
        sleeper = path.server.popen(["sleep", "100"])
        assert sleeper.poll() is None
        sleeper.terminate()
        assert sleeper.wait(60) == -signal.SIGTERM == sleeper.poll()


ARGUMENTS = [
    ({"capture_output": True, "text": True}, "hä\n"), ({"text": True}, "hä\n"),
    ({"text": False}, "hä\n".encode()), ({"encoding": "latin-1"}, "h\xc3\xa4\n"),
    ({"encoding": "ascii", "errors": "ignore"}, "h\n"), ({"universal_newlines": True}, "hä\n"),
    ({"stdout": subprocess.PIPE, "bufsize": 1, "pipesize": 65536}, "hä\n"),
    ({"umask": 0o77, "close_fds": True, "restore_signals": True, "start_new_session": True,
      "preexec_fn": None, "pass_fds": ()}, "hä\n"),
    ({"executable": "/bin/echo"}, "hä\n"), ({"stdout": None}, None),
    ({"stdout": subprocess.DEVNULL}, None)]


def test_the_arguments_of_subprocess_run_mean_the_same_here():
    with weir.Path(record=False) as path:
        for how, output in ARGUMENTS:
            assert path.client.run(["echo", "hä"], **how).stdout == output, how


def test_input_of_bytes_makes_output_of_bytes():
    every = bytes(range(256)) * 1000
    with weir.Path(record=False) as path:
        done = path.client.run(["cat"], input=every)
        assert (done.stdout, done.stderr) == (every, b"")
        done = path.client.run(["cat"], input=bytearray(b"x"), stderr=subprocess.STDOUT)
        assert (done.stdout, done.stderr) == (b"x", None)
        process = path.client.popen(["cat"], stdin=subprocess.PIPE, text=False)
        assert process.communicate(b"\xff") == (b"\xff", b"")


IMPOSSIBLE = [
    ({"input": b"x", "text": True}, TypeError, "say text=False"),
    ({"input": "x", "text": False}, TypeError, "say text=True"),
    ({"input": "x", "stdin": subprocess.PIPE}, ValueError, "stdin and input"),
    ({"capture_output": True, "stdout": subprocess.PIPE}, ValueError, "capture_output"),
    ({"text": True, "universal_newlines": False}, subprocess.SubprocessError, "disambiguate"),
    ({"preexec_fn": print}, ValueError, "preexec_fn cannot reach a process"),
    ({"pass_fds": (1,)}, ValueError, "pass_fds cannot reach a process"),
    ({"colour": "red"}, TypeError, "unexpected argument 'colour'"),
    ({"env": {"A": b"x"}}, TypeError, "bytes"),
    ({"user": "no-such-user"}, KeyError, "no-such-user")]


def test_what_cannot_be_done_is_said_at_once():
    with weir.Path(record=False) as path:
        for how, kind, said in IMPOSSIBLE:
            before = set(os.listdir("/proc/self/fd"))
            with pytest.raises(kind, match=said):
                path.client.run(["cat"], timeout=60, **how)
            assert set(os.listdir("/proc/self/fd")) <= before, how
            assert path.client.run(["echo", "on"]).stdout == "on\n"


def test_a_path_outside_of_its_with_says_so():
    path = weir.Path(record=False)
    with pytest.raises(weir.errors.WeirError, match="it begins with its `with`"):
        path.client.run(["true"])
    with path:
        assert path.client.run(["true"]).returncode == 0
    with pytest.raises(weir.errors.WeirError, match="the path has ended"):
        path.server.popen(["true"])


@pytest.mark.parametrize("args, how, kind", [
    ([], {}, IndexError), (["true"], {"env": {"A": 1}}, TypeError), (["a\0b"], {}, ValueError)])
def test_a_wrong_argument_is_refused_as_here_and_the_end_goes_on(args, how, kind):
    with weir.Path(record=False) as path:
        for run in (subprocess.run, path.client.run):
            with pytest.raises(kind):
                run(args, **how)
        sleeper = path.client.popen(["sleep", "100"])
        with pytest.raises(OSError):
            sleeper.send_signal(1000)
        assert path.client.run(["echo", "on"]).stdout == "on\n"


@pytest.mark.parametrize("args, how", [(["/nowhere/x"], {}), (["true"], {"cwd": "/nowhere"})])
def test_an_error_of_the_system_reads_as_here(args, how):
    with weir.Path(record=False) as path:
        texts = []
        for run in (subprocess.run, path.client.run):
            with pytest.raises(FileNotFoundError) as caught:
                run(args, **how)
            texts.append((str(caught.value), caught.value.filename))
        assert texts[0] == texts[1]


def test_a_relative_folder_is_relative_to_where_the_test_is_now(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    with weir.Path(record=False) as path:
        monkeypatch.chdir(tmp_path)
        assert path.client.run(["pwd"], cwd="sub").stdout == f"{tmp_path}/sub\n"


def test_an_interrupted_call_does_not_confuse_the_next_one(monkeypatch):
    class Alarm(Exception):
        """As a signal's handler raises it while the answer is awaited."""

    def alarm():
        raise Alarm

    with weir.Path(record=False) as path:
        sleeper = path.client.popen(["sleep", "100"])
        for call in (lambda: path.client.popen(["true"]), sleeper.terminate):
            with monkeypatch.context() as waiting:
                waiting.setattr(path.client, "_answer", alarm)
                with pytest.raises(Alarm):
                    call()
            process = path.client.popen("echo $$", shell=True)
            assert process.communicate()[0] == f"{process.pid}\n"
        assert sleeper.wait(60) == -signal.SIGTERM


def test_what_was_written_before_a_timeout_is_not_lost(tmp_path):
    os.mkfifo(tmp_path / "go")
    words = f"echo important; read x <{tmp_path}/go; echo rest"
    patience = 0.1

    def comes(call):
        nonlocal patience
        patience *= 2
        with pytest.raises(subprocess.TimeoutExpired) as caught:
            call(patience)
        assert caught.value.output in ("", "important\n")
        return caught.value.output

    with weir.Path(record=False) as path:
        until(lambda: comes(lambda t: path.client.run(words, shell=True, timeout=t)))
        patience = 0.1
        process = path.client.popen(words, shell=True)
        until(lambda: comes(lambda t: process.communicate(timeout=t)))
        (tmp_path / "go").write_text("now\n")
        assert process.communicate() == ("important\nrest\n", "") == process.communicate()
        with pytest.raises(ValueError, match="with its first call"):
            process.communicate("too late")


def test_several_threads_may_wait_for_a_process():
    with weir.Path(record=False) as path, concurrent.futures.ThreadPoolExecutor(3) as pool:
        for _ in range(20):
            process = path.client.popen("read x; exit 3", shell=True, stdin=subprocess.PIPE)
            waiters = [pool.submit(process.wait) for _ in range(3)]
            assert process.poll() is None
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.001)
            process.stdin.close()
            assert [waiter.result() for waiter in waiters] == [3, 3, 3] and process.poll() == 3


def test_a_test_may_have_more_than_1024_open_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 1400:
        pytest.skip(f"at most {hard} open files are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1400), hard))
    try:
        with contextlib.ExitStack() as opened:
            for _ in range(1100):
                opened.enter_context(open(os.devnull))
            with weir.Path("delay 5ms", record=False) as path:
                assert path.client.run(["echo", "on"]).stdout == "on\n"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_scenario_may_be_a_name_a_file_or_an_object(tmp_path):
    with weir.Path(scenario="geo-satellite", record=False) as path:
        assert "rate 2mbit" in path.scenario or "rate" in path.scenario
        scenario = weir.Scenario.parse(path.scenario)
    for port in scenario.ports.values():
        port.device = None
    scenario.cloud("down").delay("77ms")
    with weir.Path(scenario=scenario, record=False, folder=tmp_path) as path:
        assert "cloud down delay 77ms" in path.scenario


def test_what_is_wrong_is_said_as_weir_says_it():
    with pytest.raises(errors.Failed, match="did you mean `delay`"):
        weir.Path("dealy 5ms").__enter__()


def test_an_end_that_cannot_begin_says_why_and_not_the_end_of_the_table(monkeypatch):
    monkeypatch.setattr("sys.executable", "/nowhere/python3")
    with pytest.raises(errors.Failed, match="/nowhere/python3: "):
        weir.Path("delay 5ms").__enter__()


def test_a_path_that_begins_a_second_time_says_so():
    path = weir.Path(record=False)
    with path:
        with pytest.raises(weir.WeirError, match="has begun already"):
            path.__enter__()
        assert path.client.run(["echo", "on"]).stdout == "on\n"
    with pytest.raises(weir.WeirError, match="has begun already"):
        path.__enter__()


def test_a_long_name_of_a_folder_does_not_matter(tmp_path):
    with weir.Path(folder=tmp_path / ("x" * 200), record=False) as path:
        assert path.control.hello.clouds == 2


# ---- the end ----

def test_a_forked_child_does_not_hold_up_the_end(tmp_path):
    with weir.Path("delay 5ms", folder=tmp_path) as path:
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
    try:
        assert (path.folder / "report.json").exists()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_weir_that_had_to_be_killed_is_an_error(monkeypatch):
    monkeypatch.setattr("weir.path.END_S", 0.1)
    with pytest.raises(errors.Failed, match="was killed; the record is incomplete"):
        with weir.Path() as path:
            os.kill(path._process.pid, signal.SIGSTOP)
    assert not path.folder.exists()


@pytest.mark.parametrize("lost", ["report.json", "outcome.json"])
def test_a_record_that_cannot_be_written_is_an_error(lost, tmp_path):
    folder = tmp_path / "P"
    with pytest.raises(errors.Failed, match="weir exec: ") as caught:
        with weir.Path("delay 5ms", folder=folder, recording="16MB"):
            shutil.rmtree(folder if lost == "report.json" else folder / "recording")
    assert caught.value.status == 125 and f"{lost}: " in caught.value.stderr


def test_the_error_of_the_block_takes_precedence_over_that_of_the_end(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with weir.Path("delay 5ms", folder=tmp_path / "P"):
            shutil.rmtree(tmp_path / "P")
            raise ZeroDivisionError


def test_the_evidence_of_a_weir_that_was_killed_has_what_was_recorded(tmp_path):
    with weir.Path("delay 5ms", folder=tmp_path, recording="16MB") as path:
        path.client.run(["ping", "-c", "3", "-i", "0.01", path.server.host], check=True)
        path._process.kill()
        said = path.evidence()
    assert "the record is incomplete: weir exec ended with status -9" in said
    assert f"to run again what was recorded: weir replay --recording {tmp_path}/recording\n" in said
    assert weir.Recording(tmp_path / "recording").replay().report.clouds


# ---- nothing is left behind ----

@pytest.mark.parametrize("how", ["no program", "no folder", "a process that cannot be made"])
def test_a_path_that_cannot_begin_leaves_nothing(how, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(os.listdir("/proc/self/fd"))
    if how == "no program":
        path = weir.Path(weir="/nowhere/weir")
    elif how == "no folder":
        path = weir.Path(folder="/dev/null/x")
    else:
        path = weir.Path("delay\0 5ms")
    with pytest.raises((errors.NotInstalled, NotADirectoryError, ValueError)):
        path.__enter__()
    assert os.listdir(tmp_path) == []
    assert set(os.listdir("/proc/self/fd")) == before


HOLD = """
import sys, weir
with weir.Path(record=False) as path:
    sleepers = [end.popen(["sleep", "1000000"]) for end in (path.client, path.server)]
    print(path._process.pid, *(s.pid for s in sleepers), path.folder, flush=True)
    sys.stdin.read()
"""


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("victim", ["this process", "weir"])
def test_after_kill_9_nothing_is_left(victim, shared_memory_as_before):
    holder = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE,
                              text=True, env=dict(os.environ, PYTHONPATH=str(SOURCES)))
    *pids, folder = holder.stdout.readline().split()
    pids = [int(pid) for pid in pids]
    assert len(pids) == 3 and all(map(alive, pids))
    os.kill(holder.pid if victim == "this process" else pids[0], signal.SIGKILL)
    until(lambda: not any(map(alive, pids)))
    holder.stdin.close()
    holder.wait(60)
    # If the process that made the path was killed, its folder is left, with at most weir.log in it.
    left = os.listdir(folder) if os.path.exists(folder) else []
    if victim == "this process":
        assert set(left) <= {"weir.log"}
        shutil.rmtree(folder)
    else:
        assert not os.path.exists(folder)


def test_it_works_for_an_ordinary_user(program):
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user: all of the others have tried")
    if not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed")
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c"]
    env = dict(os.environ, PYTHONPATH=str(SOURCES), WEIR=program, HOME="/tmp",
               PYTHONDONTWRITEBYTECODE="1")
    tried = subprocess.run([*words, "import weir; weir.program.call(['--version'])"], env=env,
                           cwd="/",
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip("an ordinary user cannot reach weir or Python here")
    code = ("import weir\nwith weir.Path('delay 5ms') as p:\n"
            "    assert p.client.run(['id', '-u']).stdout == '65534\\n'\n"
            "    p.down('delay 7ms')\n    p.assert_no_real_loss()\n    print('done')")
    done = subprocess.run([*words, code], env=env, cwd="/", capture_output=True, text=True,
                          check=False)
    if "user namespace" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.stdout == "done\n", done.stderr
