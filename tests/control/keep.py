#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `weir run --keep`: after a crash, the scenario in force is restored; after an orderly end
it is not.

usage: keep.py WEIR
"""
import contextlib
import os
import signal
import subprocess
import sys
import time

from conversation import SCENARIO, Client, Weir
from serving import LONG_S, capture, tap

WEIR = os.path.abspath(sys.argv[1])


def started(*options, **more):
    weir = Weir(WEIR, "keep", "--keep", "SOCKET.kept", *options, **more)
    answers(weir)
    return weir


def answers(weir):
    client = Client(weir.path)
    client.say("hello")
    client.close()


def say(weir, *lines):
    client = Client(weir.path)
    for line in lines:
        assert client.say(line) == "ok", line
    client.close()


def config(weir):
    return subprocess.run([WEIR, "ctl", "-s", weir.path, "show", "config"], capture_output=True,
                          text=True,
                          check=True).stdout


def kept(weir):
    try:
        with open(weir.path + ".kept", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def until(true, what):
    end = time.monotonic() + LONG_S
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def until_kept(weir, line, is_there=True):
    until(lambda: kept(weir) and (f"\n{line}\n" in kept(weir)) == is_there,
          f"`{line}` is not as it should be in {kept(weir)!r}")


def crash(weir):
    weir.process.kill()
    weir.process.wait()


def again(weir):
    weir.log.truncate(0)
    weir.start()
    answers(weir)


def with_weir(**more):
    def decorate(claim):
        def tried():
            weir = started(**more)
            try:
                claim(weir)
            finally:
                weir.stop()
        tried.__name__ = claim.__name__
        return tried
    return decorate


@with_weir()
def after_a_crash_what_was_in_force_is_in_force_again(weir):
    say(weir, "cloud up delay 77ms", "cloud more from a to b priority 3 match udp",
        "cloud more loss random 5%")
    until_kept(weir, "cloud more loss random 5%")
    before = config(weir)
    for _ in range(2):
        crash(weir)
        again(weir)
        assert config(weir) == before, config(weir)
        assert ("continues with the scenario in force when weir ended unexpectedly; counters begin "
                "at 0") in weir.said()
        until_kept(weir, "cloud up delay 77ms")


@with_weir(scenario=SCENARIO.replace("seed 1\n", ""))
def a_seed_that_was_drawn_stays(weir):
    until_kept(weir, "cloud up delay 1ms")
    seed = config(weir).splitlines()[0]
    crash(weir)
    again(weir)
    assert config(weir).splitlines()[0] == seed


@with_weir()
def after_an_orderly_end_the_scenario_file_counts(weir):
    say(weir, "cloud up delay 77ms")
    until_kept(weir, "cloud up delay 77ms")
    weir.process.terminate()
    assert weir.process.wait(LONG_S) == 0, weir.said()
    assert kept(weir) == ""
    again(weir)
    assert "cloud up delay 1ms\n" in config(weir)


@with_weir()
def a_scenario_file_that_was_written_since_counts(weir):
    say(weir, "cloud up delay 77ms")
    until_kept(weir, "cloud up delay 77ms")
    crash(weir)
    with open(weir.command[3], "a", encoding="utf-8") as file:
        file.write("cloud up loss random 3%\n")
    again(weir)
    assert ("cloud up delay 1ms\n" in config(weir)
            and "cloud up loss random 3%" in config(weir)), config(weir)


@with_weir()
def a_scenario_file_that_is_wrong_at_sighup_does_not_count_after_a_crash(weir):
    say(weir, "cloud up delay 77ms")
    until_kept(weir, "cloud up delay 77ms")
    head = kept(weir).splitlines()[0]
    with open(weir.command[3], "a", encoding="utf-8") as file:
        file.write("cloud up dealy 3ms\n")
    weir.process.send_signal(signal.SIGHUP)
    until(lambda: "(the scenario in force stays)" in weir.said(), weir.said())
    until(lambda: kept(weir).splitlines()[:1] not in ([], [head]),
          f"it is kept for the old file: {kept(weir)}")
    crash(weir)
    again(weir)
    assert "cloud up delay 77ms\n" in config(weir), config(weir)


@with_weir()
def what_a_lease_has_changed_is_not_kept_until_the_lease_is_given_up(weir):
    client = Client(weir.path)
    for line in ("begin lease 100s", "cloud up delay 77ms", "cloud up loss random 3%"):
        client.say(line)
    assert client.say("commit") == "ok"
    say(weir, "cloud down delay 5ms")
    until_kept(weir, "cloud down delay 5ms")
    until_kept(weir, "cloud up delay 1ms")
    assert "loss" not in kept(weir), kept(weir)
    assert "cloud up delay 77ms" in config(weir)
    assert client.say("keep") == "ok", "the lease is given up"
    until_kept(weir, "cloud up delay 77ms")
    client.close()


@with_weir()
def what_is_no_scenario_is_left_aside(weir):
    until_kept(weir, "cloud up delay 1ms")
    crash(weir)
    text = kept(weir)
    for wrong in (text[:text.index("cloud up delay")], text[:-1], "", "\0" * 100,
                  text.replace("cloud up delay 1ms", "cloud up dealy 1ms")):
        with open(weir.path + ".kept", "w", encoding="utf-8") as file:
            file.write(wrong)
        again(weir)
        assert "cloud up delay 1ms\n" in config(weir), config(weir)
        assert "continues with" not in weir.said()
        crash(weir)
    assert "the kept scenario is ignored: " in weir.said(), weir.said()


def files_are_looked_for_beside_the_scenario_file():
    weir = started(scenario=SCENARIO.replace("net_ring0", "file:a.pcap,loop"),
                   files={"a.pcap": capture(2)})
    try:
        until_kept(weir, "cloud up delay 1ms")
        crash(weir)
        os.mkdir(weir.folder + "/elsewhere")
        os.rename(weir.path + ".kept", weir.folder + "/elsewhere/kept")
        weir.command[weir.command.index("--keep") + 1] = weir.folder + "/elsewhere/kept"
        again(weir)
        assert "continues with" in weir.said() and "file:a.pcap" in config(weir), weir.said()
    finally:
        weir.stop()


@with_weir()
def a_disk_that_does_not_answer_holds_up_neither_a_change_nor_the_end(weir):
    """The disk is a pipe that nobody reads: opening it blocks for ever."""
    until_kept(weir, "cloud up delay 1ms")
    os.remove(weir.path + ".kept")
    os.mkfifo(weir.path + ".kept")
    say(weir, "cloud up delay 2ms", "cloud up delay 3ms")
    assert "cloud up delay 3ms\n" in config(weir)
    weir.process.terminate()
    assert weir.process.wait(LONG_S) == 0, weir.said()


@with_weir()
def what_is_being_written_at_the_end_comes_to_its_end(weir):
    """The pipe gets a reader while weir ends and waits for the write under way."""
    until_kept(weir, "cloud up delay 1ms")
    os.remove(weir.path + ".kept")
    os.mkfifo(weir.path + ".kept")
    say(weir, "cloud up delay 2ms")
    weir.process.terminate()
    until(lambda: "weir run: weir ends" in weir.said(), "it does not end")
    # Suppressed: weir has ended already.
    with contextlib.ExitStack() as reader, contextlib.suppress(FileNotFoundError):
        reader.enter_context(open(os.open(weir.path + ".kept", os.O_RDONLY | os.O_NONBLOCK), "rb"))
        assert weir.process.wait(LONG_S) == 0, weir.said()
    assert weir.process.wait(LONG_S) == 0, weir.said()
    assert "ERROR" not in weir.said(), weir.said()


def many_clouds(n):
    return ("\n".join(f"cloud c{i} from a to b priority {i + 1} match src host "
                      f"10.0.{i // 250}.{i % 250 + 1}"
                     for i in range(n)) + "\n")


@with_weir(scenario=SCENARIO + many_clouds(2000))
def leases_that_are_being_undone_do_not_hold_up_the_end(weir):
    """They are undone one after the other, and each takes a while. So one is nearly always under
    way."""
    clients = [Client(weir.path) for _ in range(12)]
    for i, client in enumerate(clients):
        for line in ("begin lease 1000s", f"cloud c{i} loss random 3%", "commit"):
            assert client.say(line) == "ok", line
    for client in clients:
        client.socket.sendall(b"revert\n")
    until(lambda: "is undone" in weir.said(), weir.said())
    weir.process.terminate()
    assert weir.process.wait(LONG_S) == 0, weir.said()
    assert "does not finish" not in weir.said() and kept(weir) == "", weir.said()
    for client in clients:
        client.close()


def what_cannot_be_kept_is_said_once_and_weir_runs():
    weir = Weir(WEIR, "keep", "--keep", "/nowhere/kept")
    try:
        answers(weir)
        say(weir, "cloud up delay 2ms", "cloud up delay 3ms")
        until(lambda: "/nowhere/kept: the scenario in force cannot be saved: " in weir.said(),
              weir.said())
        say(weir, "cloud up delay 4ms")
        weir.process.terminate()
        assert weir.process.wait(LONG_S) == 0, weir.said()
        assert weir.said().count("cannot be saved") == 1, weir.said()
    finally:
        weir.stop()


sys.exit(tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
    after_a_crash_what_was_in_force_is_in_force_again, a_seed_that_was_drawn_stays,
    after_an_orderly_end_the_scenario_file_counts, a_scenario_file_that_was_written_since_counts,
    a_scenario_file_that_is_wrong_at_sighup_does_not_count_after_a_crash,
    what_a_lease_has_changed_is_not_kept_until_the_lease_is_given_up,
    what_is_no_scenario_is_left_aside,
    files_are_looked_for_beside_the_scenario_file,
    a_disk_that_does_not_answer_holds_up_neither_a_change_nor_the_end,
    what_is_being_written_at_the_end_comes_to_its_end,
    leases_that_are_being_undone_do_not_hold_up_the_end,
    what_cannot_be_kept_is_said_once_and_weir_runs)]))
