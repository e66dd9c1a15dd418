#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `weir serve`: metrics, events and changes over HTTP, for a running weir with traffic that
is killed and restarted; and clients without access.

usage: serve.py WEIR
"""

import errno
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time

from conversation import Client, Weir
from serving import LONG_S, OTHERS, Serve, Stream, metrics, run_claims
import tap  # serving has added its folder to the path

WEIR = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"


class Scene:
    weir = serve = None


def totals():
    client = Client(Scene.weir.path)
    client.say("json on")
    answer = json.loads(client.say("show totals"))
    client.close()
    return answer


def until_up():
    """Metrics have a conversation of their own, which begins again by itself."""
    end = time.monotonic() + LONG_S
    while "weir_up 1\n" not in Scene.serve.ask("/metrics")[2]:
        assert time.monotonic() < end, "the metrics say that weir is not there"
        time.sleep(0.2)


def value(samples, name, **labels):
    return samples[name, tuple(labels.items())]


# The names of the metrics, and of their values in `show totals`.
COUNTERS = [("weir_cloud_received_packets_total", "rx_packets"),
            ("weir_cloud_received_bytes_total", "rx_bytes"),
            ("weir_cloud_sent_packets_total", "tx_packets"),
            ("weir_cloud_sent_bytes_total", "tx_bytes")]


def metrics_are_well_formed_and_equal_the_counters_of_the_run():
    end = time.monotonic() + LONG_S
    while totals()["clouds"][0]["drops"]["loss"] < 5 and time.monotonic() < end:
        time.sleep(0.1)
    before = totals()
    status, headers, text = Scene.serve.ask("/metrics", Accept=OPENMETRICS)
    after = totals()
    assert status == 200 and headers["Content-Type"].startswith("application/openmetrics-text")
    samples = metrics(text, openmetrics=True)
    assert value(samples, "weir_up") == 1
    assert [c["cloud"] for c in after["clouds"]] == ["homes", "others", "up"], after
    for then, now in zip(before["clouds"], after["clouds"]):
        cloud = now["cloud"]
        for name, key in COUNTERS:
            assert then[key] <= value(samples, name, cloud=cloud) <= now[key], (name, cloud)
        count = value(samples, "weir_cloud_delay_seconds_count", cloud=cloud)
        assert then["delay_ns"]["count"] <= count <= now["delay_ns"]["count"], cloud
        seconds = value(samples, "weir_cloud_delay_seconds_sum", cloud=cloud)
        assert then["delay_ns"]["sum_ns"] <= seconds * 1e9 + 1 \
            and seconds * 1e9 - 1 <= now["delay_ns"]["sum_ns"], cloud
    loss = value(samples, "weir_cloud_dropped_packets_total", cloud="homes", reason="loss",
                 kind="emulated")
    assert before["clouds"][0]["drops"]["loss"] <= loss <= after["clouds"][0]["drops"]["loss"]
    full = value(samples, "weir_cloud_dropped_packets_total", cloud="others", reason="queue-full",
                 kind="congestion")
    assert full > 0
    for then, now in zip(before["ports"], after["ports"]):
        got = value(samples, "weir_port_received_packets_total", port=now["port"])
        assert then["rx_packets"] <= got <= now["rx_packets"], now["port"]
    assert value(samples, "weir_template_clouds_most", cloud="homes") == 1


def a_delay_of_1_ms_lies_between_the_bounds_around_it():
    samples = metrics(Scene.serve.ask("/metrics")[2])
    bounds = sorted((float(dict(labels)["le"]), n) for (name, labels), n in samples.items()
                    if name == "weir_cloud_delay_seconds_bucket" and ("cloud", "up") in labels)
    count = value(samples, "weir_cloud_delay_seconds_count", cloud="up")
    assert count > 0 and max(le for le, n in bounds if n == 0) == 0.000786431, bounds
    assert min(le for le, n in bounds if n == count) == 0.001048575, bounds


def the_text_format_has_no_complaint_of_promtool():
    status, headers, text = Scene.serve.ask("/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
    metrics(text)
    if shutil.which("promtool") is None:
        raise tap.Skip("promtool is not installed (apt install prometheus)")
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and not done.stderr and not done.stdout, done


def real_losses_stand_at_0_before_the_first_and_emulated_ones_do_not():
    samples = metrics(Scene.serve.ask("/metrics")[2])
    drops = {tuple(dict(labels).values()): n for (name, labels), n in samples.items()
             if name == "weir_cloud_dropped_packets_total"}
    assert drops["up", "clouds-full", "real"] == drops["up", "no-buffer", "real"] == 0, drops
    assert not any(cloud == "up" and kind != "real" for cloud, _, kind in drops), drops


def clouds_beyond_those_asked_for_are_summed_up():
    serve = Serve(WEIR, Scene.weir, "--clouds", "1")
    serve.until("answers, run")
    then = totals()
    samples = metrics(serve.ask("/metrics")[2])
    now = totals()
    serve.stop()
    clouds = {dict(labels)["cloud"] for name, labels in samples if name.startswith("weir_cloud_")}
    assert clouds == {"homes", "(rest)"}, clouds
    for name, key in COUNTERS:
        least, most = (sum(c[key] for c in at["clouds"][1:]) for at in (then, now))
        assert least <= value(samples, name, cloud="(rest)") <= most, (name, key)
    assert ("weir_cloud_delay_seconds_count", (("cloud", "(rest)"),)) not in samples


# ---- methods ----

def head_answers_as_get_does_without_a_body():
    """`curl -I`, and the probes of load balancers."""
    for path in ("/", "/metrics", "/cloud?name=up", "/theme.css", "/nowhere", "/events", "/live"):
        status, header, text = Scene.serve.ask(path, "HEAD")
        assert text == "", (path, text)
        assert status == (404 if path == "/nowhere" else 200), (path, status)
        if path not in ("/events", "/live"):
            got = Scene.serve.ask(path)
            assert (status, header["Content-Type"]) == (got[0], got[1]["Content-Type"]), path
    for path, allowed in (("/metrics", "GET, HEAD"), ("/", "GET, HEAD"), ("/change", "POST")):
        status, header, _ = Scene.serve.ask(path, "DELETE")
        assert status == 405 and header["Allow"] == allowed, (path, status, header.items())


# ---- events ----

def events_resume_where_a_client_says_and_nothing_is_missing_or_twice():
    client, heard, last = Client(Scene.weir.path), [], None
    # A client that wants no body gets no stream.
    begin = Scene.serve.ask("/events?from=oldest", "HEAD")
    assert begin[0] == 200 and begin[2] == "", begin
    stream = Stream(Scene.serve, "/events")
    for i in range(60):
        assert client.say(f"cloud up delay {i + 2}ms") == "ok"
        if i % 20 == 10:
            heard += [stream.until(lambda e: e["data"]["event"] == "change") for _ in range(8)]
            stream.close()
            stream = Stream(Scene.serve, "/events", Last_Event_ID=heard[-1]["id"])
    while not heard or heard[-1]["data"]["lines"] != ["cloud up delay 61ms"]:
        heard.append(stream.until(lambda e: e["data"]["event"] == "change"))
    lines = [event["data"]["lines"] for event in heard]
    assert lines == [[f"cloud up delay {i + 2}ms"] for i in range(60)], lines
    last = heard[-1]["data"]["seq"]
    assert heard[-1]["id"].endswith(f"-{last}"), heard[-1]
    stream.close()
    again = Stream(Scene.serve, f"/events?from={last}")
    assert again.next()["data"] == heard[-1]["data"]
    again.close()
    assert client.say("cloud up delay 1ms") == "ok"
    client.close()
    assert Scene.serve.ask("/events?from=yesterday")[0] == 400
    assert Scene.serve.ask("/events", Last_Event_ID="x-y")[0] == 400


def a_stream_resumes_also_if_weir_has_not_answered_yet():
    client = Client(Scene.weir.path)
    assert client.say("cloud up delay 71ms") == "ok"
    stream = Stream(Scene.serve, "/events?from=oldest")
    last = stream.until(lambda e: e["data"].get("lines") == ["cloud up delay 71ms"])["id"]
    stream.close()
    Scene.weir.process.send_signal(signal.SIGSTOP)
    try:
        serve = Serve(WEIR, Scene.weir)
        stream = Stream(serve, "/events", Last_Event_ID=last)
    finally:
        Scene.weir.process.send_signal(signal.SIGCONT)
    assert client.say("cloud up delay 1ms") == "ok"
    client.close()
    heard = stream.next()
    assert heard["data"].get("lines") == ["cloud up delay 1ms"], (last, heard)
    stream.close()
    serve.stop()


def samples_come_while_somebody_looks_and_not_otherwise():
    stream = Stream(Scene.serve, "/live")
    state = stream.until(lambda e: e.get("event") == "state")["data"]
    assert state["connected"] and state["changes"] and state["hello"]["protocol"] == 1, state
    sample = stream.until(lambda e: e.get("event") == "sample")["data"]
    assert sample["for_ns"] > 0 and {c["cloud"] for c in sample["templates"]} == {"homes"}, sample
    stream.close()
    quiet = Serve(WEIR, Scene.weir)
    quiet.until("answers, run")
    listener = Stream(quiet, "/events?from=oldest")
    assert listener.next()["data"]["event"] == "started"
    listener.close()
    quiet.stop()


def connections_are_asked_for_in_a_conversation_of_their_own():
    """Those of this scenario never end; that weir lets it look is what is claimed here, and that
    nothing else waits for that."""
    for _ in range(2):
        status, headers, text = Scene.serve.ask("/connections")
        assert status == 200 and headers["Content-Type"] == "application/json", (status, headers)
        answer = json.loads(text)
        assert answer["why"] == "" and answer["n"] == len(answer["connections"]), answer
        assert Scene.serve.ask("/metrics")[0] == 200
        time.sleep(0.2)


def one_that_does_not_read_holds_nobody_up():
    slow = Scene.serve.connect()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.sendall(b"GET /live?from=oldest HTTP/1.1\r\n"
                 + f"Host: {Scene.serve.authority}\r\n\r\n".encode())
    stream = Stream(Scene.serve, "/live")
    for _ in range(3):
        stream.until(lambda e: e.get("event") == "sample")
    stream.close()
    slow.close()


def more_streams_than_there_are_places_are_refused():
    streams = []
    for _ in range(70):
        streams.append(Stream(Scene.serve, "/events"))
    states = [stream.answer.status for stream in streams]
    assert states[:60] == [200] * 60 and states[-1] == 503, states
    assert Scene.serve.ask("/metrics")[0] == 200
    for stream in streams:
        stream.close()


# ---- changes ----

def a_change_is_one_transaction_and_says_what_was_sent():
    status, said = Scene.serve.change("cloud up delay 7ms\n# a remark\ncloud up loss random 1%\n")
    assert status == 200 and said["ok"], said
    assert said["sent"] == ["begin", "cloud up delay 7ms", "cloud up loss random 1%", "commit"]
    client = Client(Scene.weir.path)
    client.say("json on")
    config = json.loads(client.say("show config"))["config"]
    assert "cloud up delay 7ms" in config and "cloud up loss random 1%" in config, config
    status, said = Scene.serve.change("cloud up delay 9ms\ncloud upp delay 1ms")
    assert status == 422 and said["line"] == 2 and "did you mean `up`" in said["error"], said
    assert json.loads(client.say("show config"))["config"] == config
    client.close()
    assert Scene.serve.change("cloud up delay 1ms\nno cloud up loss")[1]["ok"]


def an_error_names_its_line_whoever_finds_it():
    for body, line in (("seed 4", 1), ("# a remark\n\ncloud up delay 5ms\nbegin", 2),
                       ("cloud up delay 5ms\ncloud upp delay 1ms", 2),
                       ("cloud up delay 5ms\ncloud down loss list /dev/null/x", 2),
                       ("cloud up delay 5ms\ncloud down loss list NOT-A-LIST", 2)):
        status, said = Scene.serve.change(body.replace("NOT-A-LIST", os.path.abspath(__file__)))
        assert status == 422 and said["line"] == line, (body, said)


def a_change_with_a_lease_is_undone_by_itself():
    stream = Stream(Scene.serve, "/events")
    status, said = Scene.serve.change("cloud up delay 50ms", lease="300ms")
    assert status == 200 and said["sent"][0] == "begin lease 300000000ns", said
    # The event of the previous change may come after its answer.
    changed = stream.until(lambda e: e["data"].get("how") == "lease")["data"]
    assert changed["lines"] == ["cloud up delay 50ms"], changed
    assert changed["lease_ns"] == 300 * 10**6, changed
    reverted = stream.until(lambda e: e["data"].get("how") == "revert")["data"]
    assert reverted["lease"] == changed["lease"], reverted
    stream.close()
    assert Scene.serve.change("cloud up delay 50ms", lease="soon")[0] == 422


def what_is_no_change_is_never_sent():
    for line in ("quit", "json off", "show config", "commit", "abort", "clear counters", "seed 2",
                 "port c device net_ring2", "file x", "cloudup delay 1ms", "", "# nothing",
                 "cloud up delay 1ms\rquit", "cloud up delay 1ms\0", "cloud up delay 1ms\nquit"):
        status, said = Scene.serve.change(line)
        assert (status == 422 and not said["ok"] and (said["sent"] == [] or "\r" in line)), (line,
                                                                                             said)
    assert Scene.serve.change("cloud up delay 1ms\n" * 65)[0] == 422
    try:
        status = Scene.serve.change("#" + "x" * 100000)[0]
    except OSError:  # serve does not read to the end
        status = 413
    assert status in (413, 422), status
    for name in ("up%0aquit", "up%20all", "", "x" * 300, "homes/%22", "up;quit"):
        assert Scene.serve.ask(f"/cloud?name={name}")[0] == 400, name
    assert "cloud up from b to a" in Scene.serve.ask("/cloud?name=up")[2]
    assert "homes/10.0.0.1" in Scene.serve.ask("/cloud?name=homes/10.0.0.1")[2]
    assert Scene.serve.ask("/cloud?name=upp")[0] == 404


def a_change_that_is_not_utf_8_is_never_sent():
    before = Client(Scene.weir.path).say("show config\nshow ports", 2)
    for body in (b"cloud up delay 9ms # caf\xe9\n",
                 b"cloud up delay 9ms\ncloud up delay 8ms # \xff",
                 b"cloud up delay 9ms\n" + b"x" * 59 + "\u00e9".encode()):
        status, said = Scene.serve.change(body)
        assert status == 422 and said["sent"] == [] and "is not" in said["error"], (body, said)
    assert Scene.serve.ask("/change?lease=%e9", "POST", "cloud up delay 9ms",
                           Authorization=f"Bearer {Scene.serve.token}")[0] == 422
    assert Client(Scene.weir.path).say("show config\nshow ports", 2) == before
    said = Scene.serve.change("cloud up delay 1ms # caf\u00e9")[1]
    assert said["sent"][1] == "cloud up delay 1ms # caf\u00e9", said


def a_body_that_is_too_long_gets_an_answer():
    line = "cloud up delay 1ms\n"
    assert Scene.serve.change(line + "#" * (16384 - len(line)))[1]["ok"]
    for n in (16385, 1 << 20):
        status, said = Scene.serve.change(line + "#" * (n - len(line)))
        assert status == 413 and not said["ok"] and "16384 bytes" in said["error"], said


def without_the_token_nothing_is_changed():
    token = Scene.serve.token
    wrong = ["", "x", token[:-1], token + "0", token[:-1] + "x", token.upper() + "x", token * 2]
    for given in wrong:
        status, _, _ = Scene.serve.ask("/change", "POST", "cloud up delay 90ms",
                                       Authorization=f"Bearer {given}")
        assert status == 401, given
    for headers in ({}, {"Authorization": token}, {"Authorization": f"Basic {token}"}):
        assert Scene.serve.ask("/change", "POST", "cloud up delay 90ms", **headers)[0] == 401
    assert Scene.serve.ask(f"/change?token={token}", "POST", "cloud up delay 90ms")[0] == 401
    assert Scene.serve.ask("/change")[0] == 405
    assert "cloud up delay 90ms" not in Client(Scene.weir.path).say("show config\nshow ports", 2)
    serve = Serve(WEIR, Scene.weir)
    status, _, text = serve.ask("/change", "POST", "cloud up delay 90ms",
                                Authorization=f"Bearer {token}")
    assert status == 403 and "--allow-changes" in text, text
    serve.stop()


def a_token_comes_from_a_file_that_has_one():
    path = os.path.join(Scene.weir.folder, "token")
    token = "0123456789abcdef"
    longest = (token * 16)[:255]
    command = [WEIR, "serve", "-s", Scene.weir.path, "--listen", "127.0.0.1:0",
               "--allow-changes", "--token-file"]
    for text, says in (("short\n", "fewer than 16 characters"), ("", "fewer than 16 characters"),
                       (token * 16 + "\n", "more than 255 characters"), (None, "Is a directory")):
        with open(path, "w", encoding="ascii") as file:
            file.write(text or "")
        done = subprocess.run([*command, path if text is not None else Scene.weir.folder],
                              capture_output=True, text=True, check=False, timeout=LONG_S)
        assert done.returncode == 1 and says in done.stderr, done
    for text, token in ((token + " rest\n", token), (longest + "\n", longest), (longest, longest)):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        serve = Serve(WEIR, Scene.weir, "--allow-changes", "--token-file", path)
        assert "0123456789" not in serve.said(), serve.said()
        assert serve.change("cloud up delay 1ms", token=token)[0] == 200
        serve.stop()


# ---- access ----

def another_name_and_another_origin_are_refused():
    own = Scene.serve.authority
    for host in ("evil.example", "evil.example:9470", "127.0.0.1.evil.example",
                 "localhost.evil.example",
                 "", "[::1", "127.0.0.1:9470:1", "localhost:80x", "0x7f000001"):
        assert Scene.serve.ask("/metrics", Host=host)[0] in (400, 403), host
    for host in ("localhost", "LOCALHOST:9470", "127.0.0.1", "[::1]:9470", "192.0.2.1"):
        assert Scene.serve.ask("/metrics", Host=host)[0] == 200, host
    for origin in ("http://evil.example", "null", "https://127.0.0.1", f"http://{own}.evil.example",
                   f"http://evil.example/{own}", "file://", ""):
        assert Scene.serve.ask("/metrics", Origin=origin)[0] == 403, origin
        status, _, _ = Scene.serve.ask("/change", "POST", "cloud up delay 90ms", Origin=origin,
                                       Authorization=f"Bearer {Scene.serve.token}")
        assert status == 403, origin
    assert Scene.serve.ask("/metrics", Origin=f"http://{own}")[0] == 200
    assert Scene.serve.ask("/live", Sec_Fetch_Site="cross-site")[0] == 403
    assert Scene.serve.ask("/", Sec_Fetch_Site="cross-site")[0] == 200  # following a link
    serve = Serve(WEIR, Scene.weir, "--name", "lab.example")
    assert serve.ask("/metrics", Host="lab.example")[0] == 200
    assert serve.ask("/metrics", Host="lab.example.org")[0] == 403
    serve.stop()


def every_answer_keeps_a_browser_to_this_host():
    for path in ("/", "/live.js", "/style.css", "/theme.css", "/metrics", "/nothing", "/events",
                 "/cloud?name=up"):
        stream = Stream(Scene.serve, path)
        headers = stream.answer.headers
        stream.close()
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy, path
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin", path
        assert not headers["Access-Control-Allow-Origin"], path
    page = Scene.serve.ask("/")[2]
    parts = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(parts) >= 6, parts
    for part in parts:
        status, _, text = Scene.serve.ask(part)
        assert part.startswith("/") and status == 200, part
        outside = re.findall(r"https?://(?!www\.w3\.org/2000/svg)[^\s\"']+", text)
        assert not outside, (part, outside)
    assert not re.findall(r"https?://", page) and "<script>" not in page, "inline, or elsewhere"


def at_a_unix_socket_its_group_may_ask_and_nobody_else():
    path = os.path.join(Scene.weir.folder, "http")
    serve = Serve(WEIR, Scene.weir, listen=f"unix:{path}")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(LONG_S)
    client.connect(path)
    client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    text = b""
    while part := client.recv(65536):
        text += part
    assert text.startswith(b"HTTP/1.1 200") and b"weir_up 1" in text, text[:300]
    client.close()
    serve.stop()
    assert not os.path.exists(path)


def what_cannot_be_served_is_said():
    for listen, status, why in (("9470", 2, "is not an address with a port"),
                                ("127.0.0.1:x", 2, "is not an address with a port"),
                                ("example.org:80", 2, "is not an address with a port"),
                                (Scene.serve.authority, 1, "something listens there")):
        done = subprocess.run([WEIR, "serve", "-s", Scene.weir.path, "--listen", listen],
                              capture_output=True, text=True, timeout=LONG_S, check=False)
        assert done.returncode == status and why in done.stderr, (listen, done)


def each_line_that_it_prints_is_one_write():
    """Otherwise a line of another thread can come between the token and the end of its line."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    writes = []
    with ours:
        with its:
            process = subprocess.Popen(
                [WEIR, "serve", "-s", Scene.weir.path, "--listen", "127.0.0.1:0",
                 "--allow-changes"], stdout=its, stderr=its,
                env=dict(os.environ, PYTHONUNBUFFERED="1"))
        ours.settimeout(LONG_S)
        try:
            while not all(any(said in text for text in writes)
                          for said in ("#token=", "answers, run")):
                writes.append(ours.recv(1 << 16).decode())
                assert writes[-1], writes
        finally:
            process.terminate()
            process.wait(LONG_S)
    assert all(text.endswith("\n") for text in writes), writes


def at_a_read_only_socket_nothing_can_be_changed():
    weir = Weir(WEIR, "serve-ro", "--socket-readonly", "SOCKET-ro")
    try:
        serve = Serve(WEIR, weir, "--allow-changes", path=weir.path + "-ro")
        serve.until("its socket is read-only")
        stream = Stream(serve, "/live")
        assert not stream.until(lambda e: e.get("event") == "state" and e["data"]["connected"]) \
            ["data"]["changes"]
        stream.close()
        status, said = serve.change("cloud up delay 5ms")
        assert status == 422 and "read-only" in said["error"], said
        serve.stop()
    finally:
        weir.stop()


# ---- weir ends and starts again ----

def weir_killed_and_started_again_is_said_and_all_goes_on():
    stream = Stream(Scene.serve, "/live?from=oldest")
    first = stream.until(lambda e: e["data"].get("event") == "started")["data"]["run"]
    stream.until(lambda e: e.get("event") == "sample")
    Scene.weir.process.kill()
    Scene.weir.process.wait()
    state = stream.until(lambda e: e.get("event") == "state")["data"]
    assert not state["connected"] and "weir" in state["said"], state
    samples = Scene.serve.ask("/metrics")[2]
    assert "weir_up 0\n" in samples and "weir_cloud" not in samples, samples
    status, said = Scene.serve.change("cloud up delay 5ms")
    assert status == 422 and "no weir" in said["error"], said
    assert Scene.serve.ask("/cloud?name=up")[0] == 503
    Scene.weir.start()
    state = stream.until(lambda e: e.get("event") == "state" and e["data"]["connected"])["data"]
    assert state["hello"]["run"] != first, state
    again = stream.until(lambda e: e["data"].get("event") == "started")
    assert again["data"]["run"] == state["hello"]["run"], again
    assert again["id"] == f"{state['hello']['run']}-{again['data']['seq']}", again
    stream.until(lambda e: e.get("event") == "sample")
    stream.close()
    until_up()
    # A browser that knows the previous run begins with the oldest event of this one.
    stream = Stream(Scene.serve, "/events", Last_Event_ID=f"{first}-99")
    assert stream.next()["data"]["event"] == "started"
    stream.close()


def a_weir_that_stands_still_is_said_and_all_goes_on():
    Scene.weir.process.send_signal(signal.SIGSTOP)
    full = []
    try:
        end = time.monotonic() + LONG_S  # its last answer is cached for a while
        while "weir_up 1\n" in Scene.serve.ask("/metrics")[2]:
            assert time.monotonic() < end, "weir is there all the while"
        Scene.serve.until("weir does not answer")
        # Uses up the connections of weir's socket: a serve that waited for another one would block
        # now.
        for _ in range(500):
            full.append(socket.socket(socket.AF_UNIX))
            full[-1].setblocking(False)
            if full[-1].connect_ex(Scene.weir.path) == errno.EAGAIN:
                break
        else:
            raise AssertionError("its socket takes more than 500")
        Scene.serve.until("weir does not accept connections")
        for path in ("/", "/live.js", "/theme.css"):
            assert Scene.serve.ask(path)[0] == 200
        assert "weir_up 0\n" in Scene.serve.ask("/metrics")[2]
        status, said = Scene.serve.change("cloud up delay 5ms")
        assert status == 422 and "does not accept connections" in said["error"], said
    finally:
        for one in full:
            one.close()
        Scene.weir.process.send_signal(signal.SIGCONT)
    stream = Stream(Scene.serve, "/live")
    stream.until(lambda e: e.get("event") == "state" and e["data"]["connected"])
    stream.until(lambda e: e.get("event") == "sample")
    stream.close()
    until_up()


# ---- a real Prometheus ----

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Prometheus:
    def __init__(self, folder, target):
        self.port = free_port()
        with open(os.path.join(ROOT, "contrib/prometheus/prometheus.yml"),
                  encoding="utf-8") as file:
            config = file.read().replace("127.0.0.1:9470", target)
        shutil.copy(os.path.join(ROOT, "contrib/prometheus/weir.rules.yml"), folder)
        with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(config)
        self.log = open(os.path.join(folder, "prometheus.log"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml",
             f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{self.port}"],
            stdout=self.log, stderr=self.log)

    def query(self, expression):
        from urllib.parse import quote
        from urllib.request import urlopen
        url = f"http://127.0.0.1:{self.port}/api/v1/query?query={quote(expression)}"
        with urlopen(url, timeout=LONG_S) as answer:
            said = json.load(answer)
        assert said["status"] == "success", said
        return said["data"]["result"]

    def until(self, expression, wanted=bool):
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            try:
                found = self.query(expression)
                if wanted(found):
                    return found
            except OSError:
                assert self.process.poll() is None, "Prometheus ended"
            time.sleep(0.2)
        raise AssertionError(f"Prometheus never had {expression}")

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def dashboard_expressions():
    with open(os.path.join(ROOT, "contrib/grafana/weir.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    for panel in panels:
        for target in panel["targets"]:
            yield (target["expr"].replace("$__rate_interval", "10s").replace("$__range", "1m")
                   .replace("$instance", ".*").replace("$cloud", ".*"))


def a_rule_of_prometheus_fires_on_a_real_loss_and_not_on_an_emulated_one():
    if shutil.which("prometheus") is None:
        raise tap.Skip("prometheus is not installed (apt install prometheus)")
    folder = os.path.join(Scene.weir.folder, "prometheus")
    os.mkdir(folder)
    prometheus = Prometheus(folder, Scene.serve.authority)
    alert = 'ALERTS{alertname="WeirRealLoss",alertstate="firing"}'
    try:
        prometheus.until('up{job="weir"} == 1')
        # Emulated and congestion losses all the time, long enough for the rule to see them.
        for reason in ("loss", "queue-full"):
            prometheus.until(
                f'increase(weir_cloud_dropped_packets_total{{reason="{reason}"}}[1m]) > 20')
        prometheus.until('count_over_time(up{job="weir"}[5m]) > 10')
        assert not prometheus.query(alert)
        for expression in dashboard_expressions():
            assert prometheus.until(expression), expression
        assert Scene.serve.change("no cloud others")[1]["ok"]
        fired = prometheus.until(alert)
        assert {(f["metric"]["cloud"], f["metric"]["reason"]) for f in fired} \
            == {("homes", "clouds-full")}, fired
        assert Scene.serve.change("\n".join(OTHERS))[1]["ok"]
    finally:
        prometheus.stop()


CLAIMS = (metrics_are_well_formed_and_equal_the_counters_of_the_run,
          a_delay_of_1_ms_lies_between_the_bounds_around_it,
          the_text_format_has_no_complaint_of_promtool,
          real_losses_stand_at_0_before_the_first_and_emulated_ones_do_not,
          clouds_beyond_those_asked_for_are_summed_up,
          head_answers_as_get_does_without_a_body,
          events_resume_where_a_client_says_and_nothing_is_missing_or_twice,
          a_stream_resumes_also_if_weir_has_not_answered_yet,
          samples_come_while_somebody_looks_and_not_otherwise,
          connections_are_asked_for_in_a_conversation_of_their_own,
          one_that_does_not_read_holds_nobody_up,
          more_streams_than_there_are_places_are_refused,
          a_change_is_one_transaction_and_says_what_was_sent,
          an_error_names_its_line_whoever_finds_it,
          a_change_with_a_lease_is_undone_by_itself,
          what_is_no_change_is_never_sent,
          a_change_that_is_not_utf_8_is_never_sent,
          a_body_that_is_too_long_gets_an_answer,
          without_the_token_nothing_is_changed,
          a_token_comes_from_a_file_that_has_one,
          another_name_and_another_origin_are_refused,
          every_answer_keeps_a_browser_to_this_host,
          at_a_unix_socket_its_group_may_ask_and_nobody_else,
          what_cannot_be_served_is_said,
          each_line_that_it_prints_is_one_write,
          at_a_read_only_socket_nothing_can_be_changed,
          weir_killed_and_started_again_is_said_and_all_goes_on,
          a_weir_that_stands_still_is_said_and_all_goes_on,
          a_rule_of_prometheus_fires_on_a_real_loss_and_not_on_an_emulated_one)


def main():
    return run_claims(WEIR, "serve", Scene, CLAIMS)


if __name__ == "__main__":
    sys.exit(main())
