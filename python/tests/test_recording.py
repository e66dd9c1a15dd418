# SPDX-License-Identifier: BSD-3-Clause
"""Recordings: of a `weir run` between captures, and of a path."""

import asyncio
import re
import shutil
import struct
import time

import pytest

import weir
from weir import errors

TEXT = """\
seed 7
port a device file:{folder}/a.pcap,out={folder}/la.pcap
port b device file:{folder}/b.pcap,out={folder}/lb.pcap
cloud down from a to b
cloud up from b to a
cloud down loss random 10%
cloud down delay 20ms
"""


def capture(path, packets):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for i in range(packets):
            frame = b"\2\0\0\0\0\n\2\0\0\0\0\v\x88\xb5" + struct.pack("<I", i) + bytes(46)
            out.write(struct.pack("<IIII", 1000, i * 100_000, len(frame), len(frame)) + frame)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    capture(folder / "a.pcap", 500)
    capture(folder / "b.pcap", 10)
    with weir.run(TEXT.format(folder=folder), record=folder / "R") as client:
        while True:
            down = client.cloud("down", everything=True)
            if down.tx_packets + down.dropped == 500:
                break
        client.change("cloud down delay 30ms")
    return weir.Recording(folder / "R")


def test_it_runs_again_and_its_fates_are_read(recording):
    again = recording.replay()
    down = again.report.cloud("down")
    assert down.rx_packets == 500 and 10 < down.drops["loss"] < 100
    assert sum(fate.reason == "loss" for fate in again.fates) == down.drops["loss"]
    assert "compared: all left at the same nanosecond with the same bytes;" in again.table
    assert again.outputs["b"].stat().st_size > 24
    assert recording.outcome["clouds"][0]["drops"]["loss"] == down.drops["loss"]
    assert (recording.about["workers"] == 1 and recording.bytes > 500 * 64
            and "seed 7" in recording.text)


def test_a_recording_that_cannot_be_finished_is_an_error(tmp_path):
    capture(tmp_path / "a.pcap", 5)
    capture(tmp_path / "b.pcap", 5)
    text = TEXT.format(folder=tmp_path)
    with pytest.raises(errors.Failed, match="outcome.json: cannot be written") as caught:
        with weir.run(text, record=tmp_path / "R"):
            shutil.rmtree(tmp_path / "R")
    assert caught.value.status == 1
    with pytest.raises(ZeroDivisionError):  # the error of the block takes precedence
        with weir.run(text, record=tmp_path / "S"):
            shutil.rmtree(tmp_path / "S")
            raise ZeroDivisionError


@pytest.mark.parametrize("until", ["1us", 0.000001])
def test_it_ends_when_it_is_asked_to(recording, until):
    assert recording.replay(until=until).report.cloud("down").rx_packets == 0


def test_what_would_have_happened_is_another_run(recording):
    other = recording.replay(set="no cloud down loss", fates=False)
    assert other.report.cloud("down").drops["loss"] == 0 and "not compared" in other.table
    scenario = weir.Scenario.parse(recording.text)
    del scenario.clouds["down"]
    assert recording.replay(scenario=scenario).report.clouds[0].name == "up"


def test_the_way_of_a_packet_is_told(recording):
    said = recording.packet(3)
    assert ("packet 3 of port a" in said and said.startswith("packet 3")
            and "comes to down" in said and "comes to up" in said)


def test_a_diff_says_what_is_not_the_same(recording):
    assert not recording.diff(recording)
    lost = recording.replay(fates=False).report.cloud("down").drops["loss"]
    diff = recording.diff(set="no cloud down loss")
    assert diff and diff.changed == lost
    assert ([(one.was, one.becomes, one.packets) for one in diff.changes]
            == [("loss", "delivered", lost)])
    assert diff.first.port == "a" and diff.first == weir.recording.First(
        "a", diff.changes[0].few[0].packet, diff.changes[0].few[0].at_ns, "loss", "delivered", 0)
    later = recording.diff(set=["cloud down delay 25ms", "cloud up delay 1ms"]).delays
    assert later.max_ns == 5_000_000 and later.longer > 0


def test_what_is_wrong_is_refused(recording, tmp_path):
    with pytest.raises(errors.Failed, match="nix"):
        recording.diff(set="cloud nix delay 1ms")
    with pytest.raises(errors.Failed, match="compare it with another recording"):
        recording.diff()
    with pytest.raises(FileNotFoundError, match="is not a recording"):
        weir.Recording(tmp_path)


def test_a_path_is_recorded_up_to_a_limit(exec_here, tmp_path):
    with weir.Path("delay 5ms", recording="16MB", record=False, folder=tmp_path / "P") as path:
        path.client.run(["ping", "-c", "3", "-i", "0.01", path.server.host], check=True)
        assert path.recording is None  # not before the path has ended
        path.down("delay 9ms")
    again = path.recording.replay()
    assert again.report.cloud("down").rx_packets >= 3 and "1 change," in again.table
    with weir.Path(recording="1MiB", record=False, folder=tmp_path / "Q") as path:
        path.client.run(["ping", "-f", "-q", "-s", "60000", "-c", "40", path.server.host])
    assert path.recording is None


def test_what_is_not_to_be_recorded_is_not(exec_here, tmp_path):
    with weir.Path("delay 5ms", record=False, folder=tmp_path / "P") as path:
        pass
    assert path.recording is None and not (tmp_path / "P/recording").exists()


def has_come(client, packets):
    while True:
        down = client.cloud("down", everything=True)
        if down.tx_packets + down.dropped == packets:
            return
        time.sleep(0.01)


def test_a_flight_is_dumped_and_is_a_recording(tmp_path):
    capture(tmp_path / "a.pcap", 500)
    capture(tmp_path / "b.pcap", 10)
    with weir.run(TEXT.format(folder=tmp_path), flight=1.5, flight_on="cleared",
                  flight_to=tmp_path / "by") as client:
        has_come(client, 500)
        named = client.flight_dump(tmp_path / "an incident")
        own = client.flight_dump()
        with pytest.raises(errors.Conflict, match="the folder holds a recording already"):
            client.flight_dump(tmp_path / "an incident")
        client.clear_counters()
        event = next(event for event in client.events("oldest") if event.kind.startswith("flight-"))
    assert named.folder == tmp_path / "an incident" and named.about["flight"]
    assert re.fullmatch(r"by-[-T0-9]+Z", own.folder.name), own
    assert own.folder.parent == tmp_path
    assert ("all agree" in named.replay().table
            and own.replay().report.cloud("down").rx_packets == 500)
    assert (event.kind == "flight-dumped"
            and event.raw["folder"].startswith(str(own.folder.parent / "by-")))
    assert event.raw["folder"] != str(own.folder)  # even if both dumps begin in the same second


def test_the_client_of_asyncio_dumps_a_flight(tmp_path):
    async def dump(path):
        async with weir.connect_async(path) as client:
            return await client.flight_dump(tmp_path / "D")

    capture(tmp_path / "a.pcap", 50)
    capture(tmp_path / "b.pcap", 10)
    with weir.run(TEXT.format(folder=tmp_path), flight="64MB") as client:
        has_come(client, 50)
        recording = asyncio.run(dump(client.path))
    assert (recording.folder == tmp_path / "D"
            and recording.replay().report.cloud("down").rx_packets == 50)


def test_without_a_flight_none_is_dumped(client, tmp_path):
    with pytest.raises(errors.Conflict, match="there is no flight"):
        client.flight_dump(tmp_path / "D")
    with pytest.raises(errors.Failed, match="need --flight"):
        with weir.run("port a\nport b\ncloud down from a to b\n", flight_on="stall"):
            pass


def test_a_recording_is_compressed_if_that_is_wanted(tmp_path):
    capture(tmp_path / "a.pcap", 50)
    capture(tmp_path / "b.pcap", 10)
    with weir.run(TEXT.format(folder=tmp_path), record=tmp_path / "R", zstd=True) as client:
        has_come(client, 50)
    assert (tmp_path / "R" / "ingress.pcapng.zst").exists()
    assert weir.Recording(tmp_path / "R").replay().report.cloud("down").rx_packets == 50
