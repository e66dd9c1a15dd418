#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`weir learn --live` and `--server`: a path that is known is probed and learned, and the server
does nothing for those who have no cookie.

usage: live.py WEIR ROOT
"""
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
import learning  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
learning.need(WEIR, ROOT)
from weir.learn import pairs  # noqa: E402
from weir.learn.live import client  # noqa: E402

ENVIRONMENT = dict(os.environ, WEIR_PYTHON=sys.executable)
MS = 10**6
TRIES = 3


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def server(*words, host="127.0.0.1"):
    """A server that listens, as its first line says."""
    port = free_port()
    with subprocess.Popen([WEIR, "learn", "--server", f"{host}:{port}", *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=ENVIRONMENT) as process:
        try:
            said = process.stdout.readline()
            assert f"port {port}" in said, said
            yield process, port
        finally:
            process.kill()


def probe(port, time_ns=1_500 * MS):
    """Probes for a short while, in this process: that needs no start of another one."""
    return client.learn(f"127.0.0.1:{port}", time_ns, 10_000_000, "guess")


def refusal(where):
    """Returns why nothing can be learned there."""
    try:
        client.learn(where, 1_500 * MS, 10_000_000, "guess")
    except pairs.NothingToLearn as error:
        assert "\n" not in str(error), error
        return str(error)
    raise AssertionError(f"{where} is learned")


def learn_a_known_path():
    """Returns what is learned of a path, by cloud."""
    with server(host="0.0.0.0") as (process, port), tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [WEIR, "exec", "-q", "--seed", "3", "--down", "rate 8mbit queue 40kB", "--down",
             "delay 15ms", "--down", "loss 2%", "--up", "rate 3mbit queue 20kB", "--up",
             "delay 10ms", "--", WEIR, "learn", "--live", f"198.18.0.1:{port}", "--time", "5s",
             "--most", "30mbit", "--json", "-o", os.path.join(folder, "path.weir")],
            capture_output=True, text=True, env=ENVIRONMENT)
        assert done.returncode in (0, 1), (done.stdout, done.stderr)
        assert process.wait(10) == 0, process.stdout.read()
        subprocess.run([WEIR, "check", "-c", os.path.join(folder, "path.weir")], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads(done.stdout)["clouds"]


def wrong_of_the_known_path(clouds):
    """Lists what was not learned of it."""
    for cloud, rate, queue, delay in (("down", 8e6, 40e3, 15 * MS), ("up", 3e6, 20e3, 10 * MS)):
        values = {one["name"]: one["value"] for one in clouds[cloud]["estimates"]}
        for name, near in (("rate", abs(values.get("rate", 0) - rate) < 0.02 * rate),
                           ("queue", abs(values.get("queue", 0) - queue) < 0.06 * queue),
                           # A machine that is busy adds to the delay, and never takes from it.
                           ("delay", delay - 0.1 * MS < values["delay"] < delay + 25 * MS)):
            if not near:
                yield f"{name} of {cloud}: {values}"
    loss = clouds["down"]["loss"]["rate"]
    if not (loss["low"] < 0.035 and loss["high"] > 0.01):
        yield f"loss of down: {loss}"
    if not clouds["up"]["loss"]["rate"]["value"] < 0.01:
        yield f"loss of up: {clouds['up']['loss']}"


def a_known_path_is_learned_in_both_directions():
    if subprocess.run([WEIR, "exec", "-q", "--", "true"], capture_output=True).returncode:
        raise tap.Skip("weir exec does not work here")
    # Of a machine that stands still during these five seconds, its standstill is learned.
    wrong = []
    for _ in range(TRIES):
        wrong.append(list(wrong_of_the_known_path(learn_a_known_path())))
        if not wrong[-1]:
            return
    raise AssertionError(wrong)


def one_client_at_a_time_and_the_server_ends_behind_the_first():
    with server() as (process, port):
        with socket.create_connection(("127.0.0.1", port)) as first:
            first.sendall(b'{"learn": 1, "time_ns": 2000000000, "most": 1000000}\n')
            assert b"cookie" in first.recv(4096)
            assert "another client measures" in refusal(f"127.0.0.1:{port}")
        # The first one is gone, and has measured nothing: the server waits for another.
        assert "UDP does not come through" in process.stdout.readline()
        assert set(probe(port).learned) == {"down", "up"}
        assert process.wait(10) == 0


def a_server_that_stays_serves_the_next_and_keeps_the_lower_rate():
    with server("--stay", "--most", "2mbit") as (process, port):
        assert "at most 2 Mbit/s" in probe(port).head[0]
        assert "packets" in process.stdout.readline()
        with socket.create_connection(("127.0.0.1", port)) as control:
            control.sendall(b'{"learn": 1, "time_ns": 2000000000, "most": 1000000}\n')
            assert b"cookie" in control.recv(4096)


def who_has_no_cookie_hears_nothing_over_udp():
    with server() as (process, port), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.0.2", 0))
        with socket.create_connection(("127.0.0.1", port)) as control:
            control.sendall(b'{"learn": 1, "time_ns": 2000000000, "most": 1000000}\n')
            lines = control.makefile("rb")
            cookie = bytes.fromhex(json.loads(lines.readline())["cookie"])
            hello = bytes([255] * 4) + b"\0"
            # Neither without the cookie, nor with it from another address.
            for data in (b"", b"x" * 21, b"x" * 16 + hello, cookie, cookie + hello,
                         cookie + b"\0\0\0\1\0"):
                stranger.sendto(data, ("127.0.0.1", port))
            # It gives up by itself, and says why.
            assert "UDP does not come through" in process.stdout.readline()
            assert b"UDP does not come through" in lines.readline()
        stranger.settimeout(0.2)
        try:
            raise AssertionError(stranger.recv(2048))
        except TimeoutError:
            pass


def what_is_no_client_is_told_so_and_the_server_goes_on():
    with server() as (process, port):
        for text in (b"GET / HTTP/1.1\r\n\r\n", b"\n", b"[]\n", b'{"learn": 2}\n',
                     b'{"learn": 1, "time_ns": -1, "most": 5}\n',
                     b'{"learn": 1, "time_ns": 1e99, "most": 5}\n', b"x" * 10_000 + b"\n"):
            with socket.create_connection(("127.0.0.1", port)) as control:
                with contextlib.suppress(OSError):  # it may have been closed already
                    control.sendall(text)
                    control.shutdown(socket.SHUT_WR)
                    while control.recv(4096):
                        pass
            assert "127.0.0.1: " in process.stdout.readline()
        assert process.poll() is None


def what_is_no_server_is_said_in_one_line():
    def answer(listener, text):
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(text)

    for text, word in ((b"SSH-2.0-OpenSSH\r\n", "is that a `weir learn --server`?"),
                       (b'{"cookie": 5, "most": 1}\n', "not that of a"),
                       (b'{"cookie": "00", "most": 0}\n', "not that of a"),
                       (b'{"error": "no"}\n', "no"), (b"", "ended")):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=answer, args=(listener, text))
            thread.start()
            said = refusal(f"127.0.0.1:{listener.getsockname()[1]}")
            thread.join()
        assert word in said, (text, said)
    for where, word in ((f"127.0.0.1:{free_port()}", "--server"), ("127.0.0.1:0", "1 to 65535"),
                        ("[::1", "no HOST")):
        assert word in refusal(where), where
    for words in (("--server", "192.0.2.1"), ("--server", "127.0.0.1:99999")):
        done = subprocess.run([WEIR, "learn", *words], capture_output=True, text=True,
                              env=ENVIRONMENT)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    a_known_path_is_learned_in_both_directions,
    one_client_at_a_time_and_the_server_ends_behind_the_first,
    a_server_that_stays_serves_the_next_and_keeps_the_lower_rate,
    who_has_no_cookie_hears_nothing_over_udp,
    what_is_no_client_is_told_so_and_the_server_goes_on,
    what_is_no_server_is_said_in_one_line,
)]))
