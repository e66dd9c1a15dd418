# SPDX-License-Identifier: BSD-3-Clause
import subprocess
import sys

import pytest
from conftest import CAPTURE, ROOT, SPLIT

import weir

LOSSY = ("seed 1\nport a\nport b\ncloud down from a to b\ncloud down loss random 5%\n"
         "cloud down delay 40ms\ncloud up from b to a\n")


@pytest.fixture(scope="module")
def replayed():
    return weir.replay(LOSSY, {"a,b": CAPTURE}, split=SPLIT)


def test_fates_and_report_count_the_same(replayed):
    down = replayed.report.cloud("down")
    fates = [fate for fate in replayed.fates if fate.cloud == "down"]
    assert len(fates) == down.rx_packets > 1000
    assert sum(not fate.delivered for fate in fates) == down.drops["loss"] > 10
    assert {fate.delay_ns for fate in fates if fate.delivered} == {40_000_000}
    assert {fate.reason for fate in fates} == {None, "loss"}
    assert list(replayed.fates) == list(replayed.fates)  # it can be read twice


def test_the_same_seed_gives_the_same_bytes(replayed):
    again = weir.replay(LOSSY, {"a,b": CAPTURE}, split=SPLIT, seed=replayed.seed)
    for name in ("fates.csv", "a.pcap", "b.pcap", "report.json"):
        assert (again.folder / name).read_bytes() == (replayed.folder / name).read_bytes()
    other = weir.replay(LOSSY, {"a,b": CAPTURE}, split=SPLIT, seed=2)
    assert (other.folder / "fates.csv").read_bytes() != (replayed.folder / "fates.csv").read_bytes()


def test_a_scenario_of_configs_and_an_object_do(replayed):
    by_name = weir.replay("geo-satellite", {"a,b": CAPTURE}, split=SPLIT, seed=3)
    by_object = weir.replay(weir.Scenario.load(ROOT / "configs/geo-satellite.weir"),
                            {"a,b": CAPTURE},
                            split=SPLIT, seed=3)
    assert by_name.report == by_object.report
    assert ("<iframe" in by_name._repr_html_()
            and "<pre>" in weir.Scenario.parse(LOSSY)._repr_html_())


def test_its_folder_goes_with_it_unless_it_was_given(tmp_path):
    result = weir.replay(LOSSY, {"a,b": CAPTURE}, split=SPLIT)
    folder = result.folder
    assert (folder / "picture.html").exists()
    del result
    assert not folder.exists()
    weir.replay(LOSSY, {"a,b": CAPTURE}, split=SPLIT, folder=tmp_path / "kept", picture=False)
    assert (tmp_path / "kept/b.pcap").exists() and not (tmp_path / "kept/picture.html").exists()


def test_a_refusal_says_what_weir_says():
    with pytest.raises(weir.errors.Failed, match="x.pcap") as caught:
        weir.replay(LOSSY, {"a": "x.pcap"})
    assert caught.value.status == 2


def test_several_captures_side_by_side_are_as_one_by_one(replayed, tmp_path):
    both = {"a,b": CAPTURE}
    reports = weir.replays(weir.Scenario.parse(LOSSY),
                           {"one": both, "none": {"a": tmp_path / "x"}, "two": both},
                           split=SPLIT, seed=1)
    assert list(reports) == ["one", "none", "two"]
    assert reports["one"] == reports["two"] == replayed.report
    assert isinstance(reports["none"], weir.errors.Failed)


def test_several_captures_have_a_folder_each(tmp_path):
    more = {"a,b": [CAPTURE, CAPTURE]}
    reports = weir.replays(weir.Scenario.parse(LOSSY), {"one": {"a,b": CAPTURE}, "more": more},
                           split=SPLIT,
                           folder=tmp_path)
    assert reports["more"].cloud("down").rx_packets == 2 * reports["one"].cloud("down").rx_packets
    assert sorted(path.name for path in tmp_path.iterdir()) == ["more", "one"]
    assert (tmp_path / "one/b.pcap").stat().st_size < (tmp_path / "more/b.pcap").stat().st_size
    for name in ("../up", "..", ""):
        with pytest.raises(ValueError, match="cannot be the name of a folder"):
            weir.replays(weir.Scenario.parse(LOSSY), {name: more}, split=SPLIT, folder=tmp_path)


def test_a_replay_without_fates_has_not_those_of_an_earlier_one(tmp_path):
    weir.replay(LOSSY, {"a,b": CAPTURE}, split=SPLIT, folder=tmp_path)
    again = weir.replay(LOSSY, {"a,b": CAPTURE}, split=SPLIT, folder=tmp_path, fates=False,
                        picture=False)
    with pytest.raises(FileNotFoundError):
        iter(again.fates)
    assert not (tmp_path / "picture.html").exists()


def test_fates_are_arrays_where_numpy_is(replayed):
    pytest.importorskip("numpy", reason="numpy is not installed")
    fates = list(replayed.fates)
    parts = list(replayed.fates.numpy(chunk=1000))
    assert sum(len(part["packet"]) for part in parts) == len(fates) and len(parts) > 1
    whole = next(replayed.fates.numpy())
    assert whole["t_in_ns"].tolist() == [fate.t_in_ns for fate in fates]
    assert (whole["t_out_ns"].tolist()
            == [-1 if fate.t_out_ns is None else fate.t_out_ns for fate in fates])
    assert whole["reason"].tolist() == [fate.reason or "" for fate in fates]


def test_fates_are_a_frame_where_pandas_is(replayed):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = replayed.fates.pandas()
    assert len(frame) == len(list(replayed.fates))
    assert int((frame.reason == "loss").sum()) == sum(f.reason == "loss" for f in replayed.fates)
    assert int(frame.t_out_ns.isna().sum()) == sum(f.t_out_ns is None for f in replayed.fates)


def test_reading_takes_no_more_memory_for_more_fates(tmp_path):
    """Reads a million fates in a process of its own: the additional memory over a thousand fates is
    less than 1/20 of the file's 60 MB."""
    head = "packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail\n"
    row = "{},a,17000000000000{:05},down,delivered,,17000000002801{:05},\n"
    path = tmp_path / "fates.csv"
    with open(path, "w") as file:
        file.write(head)
        file.writelines(row.format(i, i % 99999, i % 99999) for i in range(1_000_000))
    code = ("import sys, resource, itertools\nfrom weir.replay import Fates\n"
            "n = sum(f.delivered for f in itertools.islice(Fates(sys.argv[1]), int(sys.argv[2])))\n"
            "print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
    took = []
    for most in (1000, 1_000_000):
        out = subprocess.run([sys.executable, "-c", code, path, str(most)], capture_output=True,
                             text=True,
                             check=True).stdout.split()
        assert int(out[0]) == most
        took.append(int(out[1]) * 1024)
    assert took[1] - took[0] < path.stat().st_size / 20
