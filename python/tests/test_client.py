# SPDX-License-Identifier: BSD-3-Clause
import asyncio
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest
from conftest import ROOT, SCENARIO

import weir
from weir import errors, protocol

SOURCES = pathlib.Path(weir.__file__).resolve().parents[1]


def test_a_change_is_in_force_when_it_is_answered(client):
    client.change("cloud down delay 80ms")
    assert "cloud down delay 80ms" in client.config()


def test_several_lines_are_one_transaction_or_nothing(client):
    client.change("cloud down delay 80ms", "cloud down rate 10mbit")
    before = client.config()
    with pytest.raises(errors.UnknownWord) as caught:
        client.change("cloud down delay 5ms", "cloud down dealy 5ms")
    assert (caught.value.line, caught.value.column, caught.value.name) == (2, 12, "dealy")
    assert client.config() == before
    client.change("cloud down delay 7ms")  # the conversation continues after the batch
    with weir.connect(client.path) as other:
        assert "cloud down delay 7ms" in other.config()


def test_a_batch_that_ends_by_an_error_changes_nothing(client):
    before = client.config()
    with pytest.raises(ZeroDivisionError):
        with client.batch() as batch:
            batch.change("cloud down delay 80ms")
            raise ZeroDivisionError
    assert client.config() == before
    with client.batch() as batch:
        batch.change("cloud down delay 80ms").change("cloud down loss random 1%")
    assert "delay 80ms" in client.config() and "loss random 1%" in client.config()


@pytest.mark.parametrize("line, kind, column", [
    ("cloud dwon delay 5ms", errors.UnknownCloud, 7),
    ("cloud down delay 5", errors.MissingUnit, 18),
    ("cloud down rate 401gbit", errors.OutOfRange, 17),
    ("cloud down delay 1.5ns", errors.TooFine, 18),
    ("cloud down dealy 5ms", errors.UnknownWord, 12),
    ("cloud x from a to c", errors.UnknownPort, 19)])
def test_an_error_is_an_exception_by_its_code(client, line, kind, column):
    with pytest.raises(kind) as caught:
        client.change(line)
    assert caught.value.code == kind.code and caught.value.column == column
    assert f"column {column}" in str(caught.value)


def test_a_weir_that_logs_much_goes_on():
    """weir logs a line of 600 bytes and more for each change. A pipe that nobody reads holds 64
    KiB; then weir blocks."""
    with weir.run(SCENARIO, eal=["--no-huge"], options=["--log-level", "info"]) as client:
        client._socket.settimeout(20)
        for i in range(150):
            client.change(*(f"cloud down delay {80 + i % 2}ms jitter {k}ms" for k in range(20)))


def test_a_weir_does_not_end_with_the_thread_that_started_it():
    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(1) as pool:
        client = pool.submit(stack.enter_context, weir.run(SCENARIO, eal=["--no-huge"])).result()
        pool.shutdown()
        for _ in zip(range(5), client.sample("100ms")):  # in this time a SIGTERM would end it
            pass
        assert "cloud down" in client.config()


HOLD = """
import contextlib, sys, threading, weir
with contextlib.ExitStack() as stack:
    def start():
        print(stack.enter_context(weir.run(sys.argv[1], eal=["--no-huge"])).path, flush=True)
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    sys.stdin.read()
"""


def test_a_weir_ends_with_the_process_that_started_it_even_by_kill_9():
    def there(path):
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                found += [entry] if path.encode() in (entry / "cmdline").read_bytes() else []
        return found

    holder = subprocess.Popen([sys.executable, "-c", HOLD, SCENARIO], stdin=subprocess.PIPE,
                              text=True,
                              stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=str(SOURCES)))
    path = holder.stdout.readline().strip()
    try:
        assert there(path)
    finally:
        holder.kill()
        holder.communicate()
    end = time.monotonic() + 60
    while there(path):
        assert time.monotonic() < end
        time.sleep(0.02)
    shutil.rmtree(os.path.dirname(path))


@pytest.mark.parametrize("break_", ["\u2028", "\x85", "\f", "\x1c"])
def test_only_a_line_break_ends_a_line_of_a_scenario(client, break_):
    text = SCENARIO.replace("1ms\n", f"2ms # one{break_}two\r\n")
    client.load(text)
    assert "cloud up delay 2ms" in client.config()

    async def load(text):
        async with weir.connect_async(client.path) as other:
            await other.load(text)

    asyncio.run(load(text.replace("2ms", "3ms")))
    assert "cloud up delay 3ms" in client.config()


def test_each_code_of_the_language_has_its_exception():
    header = (ROOT / "src/control/text/language_error.h").read_text()
    codes = set(re.findall(r'#define ERROR_\w+ +"([a-z-]+)"', header))
    assert len(codes) > 15
    assert codes - set(errors.Refusal._by_code) == set()


def test_a_line_break_cannot_smuggle_a_line(client):
    with pytest.raises(ValueError):
        client.change("cloud down delay 5ms\ncloud up delay 5ms")


def test_what_is_shown_has_the_names_of_the_protocol(client):
    client.change("cloud down delay 80ms")
    cloud = client.cloud("down")
    assert cloud.name == "down" and cloud.drops["loss"] == 0 and cloud.since.what == "change"
    assert cloud.raw["cloud"] == "down" and cloud.dropped == 0
    assert [port.name for port in client.ports()] == ["a", "b"]
    assert client.workers()[0].role == "run-to-completion"
    assert [c.name for c in client.totals().clouds] == ["down", "up"]
    assert client.hello.protocol == 1 and "lease" in client.hello.capabilities


def test_a_lease_is_undone_when_its_block_ends(client):
    before = client.config()
    with client.lease(60, "cloud down delay 80ms") as lease:
        assert "cloud down delay 80ms" in client.config() and lease.number >= 1
    assert client.config() == before


def test_a_lease_that_is_kept_stays(client):
    with client.lease(60, "cloud down delay 80ms") as lease:
        lease.keep()
    assert "cloud down delay 80ms" in client.config()


def test_events_come_in_their_order_and_can_be_resumed(client):
    heard = client.events("oldest")
    first = next(heard)
    assert (first.kind, first.seq) == ("started", 1)
    client.change("cloud down delay 5ms")
    second = next(heard)
    assert second.raw["lines"] == ["cloud down delay 5ms"]
    assert next(client.events(second.seq)).raw["lines"] == ["cloud down delay 5ms"]
    with pytest.raises(errors.Refusal):
        client.events("yesterday")


def test_a_sample_says_over_how_long_it_counts(client):
    assert next(client.sample("100ms")).for_ns > 0


def test_a_whole_scenario_takes_the_place_of_what_runs(client):
    scenario = weir.Scenario.parse(client.config())
    scenario.cloud("down").delay("33ms").loss("2%")
    client.load(scenario)
    assert weir.Scenario.parse(client.config()) == scenario


def test_a_file_is_read_with_the_rights_of_this_process(client, tmp_path):
    path = tmp_path / "drops.txt"
    path.write_text("1\n5\n")
    client.change("cloud down loss list drops.txt", files={"drops.txt": path})
    assert "loss list drops.txt" in client.config()


def test_the_client_of_asyncio_does_the_same(client):
    async def talk():
        async with weir.connect_async(client.path) as other:
            await other.change("cloud down delay 80ms", "cloud down rate 10mbit")
            assert (await other.cloud("down")).name == "down"
            with pytest.raises(errors.UnknownCloud):
                await other.change("cloud dwon delay 5ms")
            async with other.lease(60, "cloud up delay 9ms"):
                assert "cloud up delay 9ms" in await other.config()
            assert "cloud up delay 1ms" in await other.config()
            async for event in other.events("oldest"):
                return event.kind

    assert asyncio.run(talk()) == "started"


# ---- versions ----

class Talker:
    """A server at a socket that answers each line as `answers` says."""

    def __init__(self, path: pathlib.Path, answers):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen()
        self.path, self.answers = path, answers
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            one, _ = self.socket.accept()
            threading.Thread(target=self.talk, args=(one,), daemon=True).start()

    def talk(self, one):
        with one, contextlib.suppress(BrokenPipeError):
            for line in one.makefile("rb"):
                one.sendall(self.answers(line.decode().strip()).encode() + b"\n")


HELLO = '{"weir":"9","protocol":%d,"ok":true,"run":"x","news":{"of":"tomorrow"}}'


def test_an_answer_that_is_not_waited_for_is_none_to_the_next_line(tmp_path):
    late = threading.Event()

    def answer(line):
        if line == "slow":
            late.wait(60)
        return HELLO % 1 if line == "hello" else '{"ok":true}'

    Talker(tmp_path / "s", answer)
    client = weir.connect(tmp_path / "s")
    client.timeout = 0.2
    client._socket.settimeout(client.timeout)
    with pytest.raises(errors.NoAnswer, match=r"not answered in 0\.2 s: the connection is closed"):
        client.command("slow")

    async def cancelled():
        async with weir.connect_async(tmp_path / "s") as other:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(other.command("slow"), 0.2)
            late.set()
            with pytest.raises(errors.Disconnected, match="client is closed"):
                await other.command("quick")

    asyncio.run(cancelled())
    with pytest.raises(errors.Disconnected, match="client is closed"):
        client.command("quick")


def test_a_file_that_cannot_be_opened_leaves_the_conversation_as_it_is(client):
    with pytest.raises(FileNotFoundError):
        client.change("cloud down loss list drops.txt", files={"drops.txt": "/nowhere/drops.txt"})
    client.change("cloud down delay 5ms")


def test_a_lease_is_renewed_before_its_time_is_over_as_long_as_its_block_lasts(tmp_path):
    lines, often = [], threading.Event()

    def answer(line):
        lines.append(line)
        if lines.count("renew") == 10:
            often.set()
        return HELLO % 1 if line == "hello" else '{"ok":true,"lease":1,"lease_ns":30000000}'

    async def leased():
        async with weir.connect_async(tmp_path / "s") as other:
            async with other.lease("30ms", "cloud down delay 80ms"):
                await asyncio.to_thread(often.wait, 60)

    Talker(tmp_path / "s", answer)
    began = time.monotonic()
    with weir.connect(tmp_path / "s").lease("30ms", "cloud down delay 80ms"):
        assert often.wait(60)
        assert time.monotonic() - began > 10 * 0.010  # a third of the lease's time, each
    assert lines[-1] == "revert"
    lines.clear()
    often.clear()
    asyncio.run(leased())
    assert often.is_set() and lines[-1] == "revert"


def test_what_ends_the_block_of_a_lease_is_not_hidden_by_the_end_of_the_lease(tmp_path):
    refused = '{"ok":false,"error":{"code":"not-here","message":"there is no lease"}}'
    Talker(tmp_path / "s", lambda line: {"hello": HELLO % 1, "revert": refused}.get(
        line, '{"ok":true,"lease":1,"lease_ns":60000000000}'))
    client = weir.connect(tmp_path / "s")

    async def leased(wrong):
        async with weir.connect_async(tmp_path / "s") as other:
            async with other.lease(60, "cloud down delay 5ms"):
                if wrong:
                    raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        with client.lease(60, "cloud down delay 5ms"):
            raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        asyncio.run(leased(True))
    with pytest.raises(errors.NotHere):
        with client.lease(60, "cloud down delay 5ms"):
            pass
    with pytest.raises(errors.NotHere):
        asyncio.run(leased(False))


def test_another_protocol_is_refused_by_hello(tmp_path):
    Talker(tmp_path / "s", lambda line: HELLO % 2 if line == "hello" else '{"ok":true}')
    with pytest.raises(errors.ProtocolError, match="speaks protocol 2, and this package 1"):
        weir.connect(tmp_path / "s")


def test_a_weir_of_before_hello_is_refused_clearly(tmp_path):
    error = ('{"ok":false,"error":{"name":"hello","code":"unknown-word","column":1,'
             '"message":"unknown word"}}')
    Talker(tmp_path / "s", lambda line: error if line == "hello" else '{"ok":true}')
    with pytest.raises(errors.ProtocolError, match="does not know `hello`"):
        weir.connect(tmp_path / "s")


def test_what_is_no_weir_is_refused_clearly(tmp_path):
    Talker(tmp_path / "s", lambda line: "220 mail ready")
    with pytest.raises(errors.ProtocolError, match="not an answer of weir"):
        weir.connect(tmp_path / "s")
    with pytest.raises(errors.Disconnected, match="no weir answers there"):
        weir.connect(tmp_path / "nothing")


def test_members_and_events_that_are_newer_are_passed_over(tmp_path):
    talk = protocol.Conversation()
    talk.feed(b'{"event":"comet","seq":7,"tail":[1]}\n{"ok":true,"new":{}}\n')
    event = weir.show.made(weir.show.Event, talk.pushed[0])
    assert (event.kind, event.seq, event.raw["tail"]) == ("comet", 7, [1])
    assert protocol.check(talk.answers[0])["ok"]
    Talker(tmp_path / "s", lambda line: HELLO % 1 if line == "hello" else '{"ok":true}')
    assert weir.connect(tmp_path / "s").hello.weir == "9"


def test_a_code_that_is_newer_is_still_a_refusal():
    error = errors.refusal({"code": "brand-new", "message": "no"})
    assert type(error) is errors.Refusal and error.code == "brand-new"
    assert errors.Refusal.code == ""


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_bytes_may_come_in_any_pieces(cut):
    data = '{"ok":true,"config":"zwölf"}\n{"sample":1,"for_ns":5}\n{"ok":false}\n'.encode()
    talk = protocol.Conversation()
    for at in range(0, len(data), cut):
        talk.feed(data[at:at + cut])
    assert [a["ok"] for a in talk.answers] == [True, False] and talk.pushed[0]["for_ns"] == 5
