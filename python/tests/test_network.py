# SPDX-License-Identifier: BSD-3-Clause
"""Networks inside this process: the library libweir."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from test_plugin import run as run_suite

import weir
from weir import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]
A, B = ("198.18.0.1", 5000), ("198.18.0.2", 6000)
TEXT = """\
port a
port b
cloud down from a to b
cloud down delay 10ms
cloud up from b to a
cloud up loss random 50%
"""
FRAME = bytes.fromhex("02000000000b02000000000a88b5") + bytes(50)

pytestmark = pytest.mark.usefixtures("library")


def run(network, count=100):
    """Sends so many datagrams each way, and returns all that comes out."""
    for n in range(count):
        network.udp_send(n * 1_000_000, "a", A, B, b"%d" % n)
        network.udp_send(n * 1_000_000, "b", B, A, b"%d" % n)
    return network.udp_receive(10**9)


def test_a_datagram_comes_out_as_it_went_in_and_when_the_scenario_says():
    with weir.Network(TEXT) as network:
        assert network.ports == ("a", "b") and network.next_ns() is None
        network.udp_send(5, "a", A, B, b"hello", ecn=2, dscp=10, ttl=9)
        assert network.next_ns() == 10_000_005
        assert network.udp_receive(10_000_004) == []
        assert network.udp_receive(10_000_005) == [
            weir.Datagram(10_000_005, "b", A, B, b"hello", 2, 10, 9)]
        assert network.now_ns == 10_000_005 and network.next_ns() is None


@pytest.mark.parametrize("a, b", [(("2001:2::1", 1), ("2001:2::2", 65535)), (A, B)])
@pytest.mark.parametrize("size", [0, 1, 1472, 65507])
def test_families_and_sizes(a, b, size):
    with weir.Network(TEXT) as network:
        network.udp_send(0, "a", a, b, bytes(size))
        [(t_ns, port, source, target, payload, *_)] = network.udp_receive(10**9)
        assert (port, source, target, payload) == ("b", a, b, bytes(size))
        assert network.report().cloud("down").tx_bytes >= size + 42 + 20 * (":" in a[0])


def test_frames_go_through_in_batches():
    with weir.Network(TEXT) as network:
        network.send_many(weir.Frame(n, "a", FRAME) for n in range(1000))
        network.send(1000, "a", FRAME)
        assert network.receive(10**9) == [weir.Frame(10_000_000 + n, "b", FRAME, len(FRAME))
                                          for n in range(1001)]


def test_the_same_calls_give_the_same_and_another_seed_does_not():
    outcomes = [run(weir.Network(TEXT, seed=seed)) for seed in (1, 1, 2)]
    assert outcomes[0] == outcomes[1] != outcomes[2]
    assert 100 < len(outcomes[0]) < 200


def test_a_scenario_may_be_an_object_a_file_or_a_name(tmp_path):
    made = weir.Scenario(seed=7)
    made.port("a")
    made.port("b")
    made.cloud("down", "a", "b").loss_list("drops.txt")
    made.folder = str(tmp_path)
    (tmp_path / "drops.txt").write_text("2\n")
    (tmp_path / "own.weir").write_text(str(made))
    for scenario in (made, tmp_path / "own.weir", str(tmp_path / "own.weir")):
        with weir.Network(scenario) as network:
            assert [d.payload for d in run(network, 3)] == [b"0", b"2"]
    with weir.Network("lte-driving") as network:  # whose traces are beside it
        assert network.ports == ("a", "b")


def test_every_packet_has_its_fate():
    with weir.Network(TEXT) as network:
        fates = []
        network.on_fate(fates.append)
        out = run(network)
        assert len(fates) == 200
        lost = [fate for fate in fates if fate.kind == "dropped"]
        assert len(lost) == 200 - len(out)
        assert {(fate.cloud, fate.reason, fate.reason_kind, fate.leaves_ns) for fate in lost} == {
            ("up", "loss", "emulated", None)}
        assert sorted(f.leaves_ns for f in fates if f.kind == "delivered") == [d.t_ns for d in out]
        network.on_fate(None)
        network.udp_send(10**9, "a", A, B, b"")
        assert len(network.udp_receive(2 * 10**9)) == 1 and len(fates) == 200


def test_what_a_callback_raises_comes_out_of_the_call():
    with weir.Network(TEXT) as network:
        network.on_fate(lambda fate: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(network)


def test_a_change_holds_from_its_instant_on_and_the_report_counts():
    with weir.Network(TEXT) as network:
        network.udp_send(0, "a", A, B, b"0")
        network.change(1, "cloud down delay 20ms", "no cloud up loss")
        network.udp_send(2, "a", A, B, b"1")
        assert [(d.t_ns, d.payload) for d in network.udp_receive(10**9)] == [
            (10_000_000, b"0"), (20_000_002, b"1")]
        report = network.report()
        assert report.cloud("down").tx_packets == 2 and report.cloud("up").dropped == 0
        assert network.lacked_ns is None and network.udp_skipped == 0


def test_a_clone_and_a_saved_state_continue_as_the_first_would():
    with weir.Network(TEXT, seed=3) as network:
        for n in range(10):
            network.udp_send(n, "b", B, A, b"%d" % n)
        network.udp_send(10, "a", A, B, b"in flight")
        again = [network.clone(), weir.Network.load(network.save()), network]
        for one in again:
            for n in range(20):
                one.udp_send(100 + n, "b", B, A, b"later %d" % n)
        outcomes = [one.udp_receive(10**9) for one in again]
        assert outcomes[0] == outcomes[1] == outcomes[2]
        assert outcomes[0][-1].payload == b"in flight"


def test_errors_say_what_is_wrong_and_where():
    with pytest.raises(weir.ScenarioError, match="dealy") as wrong:
        weir.Network("port a\nport b\ncloud c from a to b\ncloud c dealy 5ms\n")
    assert (wrong.value.line, wrong.value.column) == (4, 9)
    with pytest.raises(weir.ScenarioError, match="no scenario of that name"):
        weir.Network("geo-sattelite")
    with pytest.raises(ValueError, match="seed is from 0"):
        weir.Network(TEXT, seed=-1)
    network = weir.Network(TEXT)
    with pytest.raises(weir.Refusal, match="rat.*column 12") as refused:
        network.change(0, "cloud up delay 1ms", "cloud down rat 1mbit")
    assert (refused.value.line, refused.value.column) == (2, 12)
    with pytest.raises(ValueError, match="no port `c`; there are a, b"):
        network.udp_send(0, "c", A, B, b"")
    network.udp_receive(100)
    with pytest.raises(ValueError, match="99 ns, in a network at 100 ns: .* been beyond"):
        network.udp_send(99, "a", A, B, b"")
    with pytest.raises(ValueError, match="instants are from"):
        network.receive(2**63 - 1)
    with pytest.raises(ValueError, match="not of one family"):
        network.udp_send(100, "a", A, ("::1", 5), b"")
    with pytest.raises(ValueError, match="a frame of 3 bytes"):
        network.send(100, "a", b"abc")
    with pytest.raises(weir.WeirError):
        weir.Network.load(b"nonsense")
    network.close()
    network.close()
    with pytest.raises(ValueError, match="closed"):
        network.next_ns()


def test_many_networks_live_at_once_and_are_freed():
    networks = [weir.Network(TEXT, seed=n) for n in range(200)]
    assert {len(run(network, 1)) for network in networks} == {1, 2}


def test_without_the_library_the_error_says_how_to_get_it():
    code = "import weir; weir.Network('port a\\nport b\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=False, env={**os.environ,
                                            "WEIR_LIBRARY": "/nowhere/libweir.so.0"})
    assert "NotInstalled" in done.stderr and "install the package libweir0" in done.stderr
    assert "WEIR_LIBRARY" in done.stderr


def test_structs_are_those_of_the_header(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("cc is not installed")
    structs = {name: struct for name, struct in vars(_library).items()
               if isinstance(struct, type) and issubclass(struct, _library.Structure)
               and struct is not _library.Structure}
    assert len(structs) == 6
    assert weir.network._DATAGRAM.size == ctypes.sizeof(_library.Datagram)
    other = {"source": "from", "target": "to"}
    fields = [(f"struct weir_{name.lower()}", field[0], getattr(struct, field[0]).offset,
               getattr(struct, field[0]).size)
              for name, struct in structs.items() for field in struct._fields_]
    (tmp_path / "sizes.c").write_text("#include <stddef.h>\n#include <weir.h>\n" + "".join(
        f"_Static_assert(offsetof({struct}, {other.get(name, name)}) == {offset} && "
        f"sizeof((({struct} *)0)->{other.get(name, name)}) == {size}, \"{struct} {name}\");\n"
        for struct, name, offset, size in fields) + "".join(
        f"_Static_assert(sizeof(struct weir_{name.lower()}) == {ctypes.sizeof(struct)}, "
        f"\"{name}\");\n" for name, struct in structs.items()))
    subprocess.run(["cc", "-fsyntax-only", f"-I{ROOT / 'src/library'}", "sizes.c"], cwd=tmp_path,
                   check=True)


SUITE = """
import pytest

def send(network):
    for n in range(100):
        network.udp_send(n, "b", ("198.18.0.2", 1), ("198.18.0.1", 1), b"x")
    return len(network.udp_receive(10**9))

def test_plain(weir_network):
    assert weir_network.ports == ("a", "b") and send(weir_network) == 100

@pytest.mark.weir("geo-satellite", "home-router")
def test_each(weir_network):
    assert send(weir_network) == -1

@pytest.mark.weir(up=["delay 5ms", "loss random 50%"])
def test_lossy(weir_network):
    assert send(weir_network) == -1

@pytest.mark.weir(flight="1s")
def test_wrong(weir_network): pass
"""


def test_the_fixture_weir_network_says_how_a_failure_is_repeated(tmp_path):
    said = run_suite(tmp_path, "--weir-seed", "7", suite=SUITE)
    assert "1 passed" in said and "3 failed" in said and "1 error" in said, said
    assert said.count("repeat it with --weir-seed 7") == 3 and "it ended at 1.0 s" in said, said
    [lost] = re.findall(r"cloud up: 100 packets in, \d+ out, (\d+) dropped: loss$", said, re.M)
    assert f"assert {100 - int(lost)} == -1" in said
    assert "has no `flight` for weir_network; it has down, up, seed" in said, said
