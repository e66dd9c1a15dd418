# SPDX-License-Identifier: BSD-3-Clause
"""What `weir bench` prints of a document, and the rules for regressions. That of --html is in
tests/bench/command.py."""

import json

import pytest

from weir._command import Answers, CommandError, Given, Weir
from weir.bench import changes, compare, options, plan, report, table
from weir.program import call


@pytest.fixture(scope="module")
def own(program):
    with Weir(program, "setup", "--answer") as weir:
        yield weir


class Measures(Answers):
    """Answers what a plan asks: each cost is 10 ns, or an error."""

    def __init__(self, *errors):
        self.errors, self.asked = [*errors], []

    def exchange(self, question):
        self.asked.append(json.loads(question))
        error = self.errors.pop(0) if self.errors else None
        return json.dumps(error or {"cost": {"mpps": 100.0, "ns_per_packet": 10.0}, "held": {},
                                    "frame": {"frames": "64"}}).encode()


def planned(weir, **asked):
    return plan.Plan(weir, {"runs": 0, "seconds": 0, "frame": None, "full": False,
                            "scenario": None, "scenarios": ["bare", "delay-10ms", "full"],
                            **asked}, {}, {})


def asked_of(*given):
    at = given.index("--")
    initial = ["hours=1000000", f"loss-bound={2**40}", f"bound={2**61}"]
    return options.asked_of(Given([*initial, "--", *given[:at], *given[at:]]), ["bare"], Measures())


def test_without_a_part_all_are_measured_but_those_that_take_long_or_need_a_cable():
    assert asked_of("--")["parts"] == ["cost", "precision", "depth", "clouds", "clock", "rfc2544",
                                       "machine"]


def test_numbers_of_options_are_in_their_units():
    asked = asked_of("frame=imix", "runs=3", "seconds=500000", "json=", "--", "cost")
    assert asked["parts"] == ["cost"] and asked["json"] and not asked["full"]
    assert (asked["frame"], asked["runs"], asked["seconds"]) == (0, 3, 0.5)
    assert (asked["hours"], asked["bound"]) == (1, 0.25)


def test_compare_takes_one_file_or_two():
    assert asked_of("--", "compare", "cost")["files"] == ["cost"]
    assert asked_of("bound=1", "--", "compare", "a", "b")["files"] == ["a", "b"]
    with pytest.raises(CommandError, match="takes no --config"):
        asked_of("config=x", "--", "compare", "a", "b")


NO_MEMORY = {"error": "no memory for so many", "wrong": False, "interrupted": False}
INTERRUPTED = {"error": "interrupted", "wrong": False, "interrupted": True}


@pytest.mark.parametrize("error", [NO_MEMORY, INTERRUPTED])
def test_clouds_say_why_the_first_row_was_not_measured(error):
    made = planned(Measures(error))
    with pytest.raises(CommandError, match=error["error"]):
        plan.clouds(made)
    assert not made.rows and not made.remarks


def test_an_interruption_ends_clouds_with_the_rows_so_far():
    made = planned(Measures(None, INTERRUPTED))
    with pytest.raises(CommandError) as found:
        plan.clouds(made)
    assert found.value.interrupted and len(made.rows) == 1 and not made.remarks
    assert len(made.weir.asked) == 2


def test_clouds_that_a_machine_cannot_carry_are_a_remark():
    made = planned(Measures(None, None, NO_MEMORY))
    plan.clouds(made)
    assert len(made.rows) == 2
    assert made.remarks == ["clouds: 4096 and more were not measured: no memory for so many"]


@pytest.mark.parametrize("asked, rows", [
    ({}, 3 + 7 * 2), ({"full": True}, 3 * 8), ({"frame": 128}, 3), ({"scenario": "full"}, 1)])
def test_cost_measures_every_scenario_once_with_each_of_its_frames(asked, rows):
    made = planned(Measures(), **asked)
    plan.cost(made)
    questions = {(q["scenario"], q["frame"]) for q in made.weir.asked}
    assert len(questions) == len(made.rows) == rows, questions


def test_loads_are_meant_by_what_is_in_their_names():
    assert len(plan.loads_named("")) == len(plan.LOADS)
    assert [load.name for load in plan.loads_named("held")] == ["14.88 Mpps held 500 ms"]
    with pytest.raises(CommandError, match="`hold`"):
        plan.loads_named("hold")


def test_reconf_and_soak_change_every_statement(program):
    """What the lines do is tried by `weir bench reconf` (tests/bench)."""
    statements = json.loads(call(["help", "--json"], program=program).stdout)["statements"]
    lines = changes.lines_of(statements, "FILE")
    for row in statements:
        assert f"cloud down {row['name']} {row['example']}".rstrip() in lines, row


MACHINE = {"layout": "pipeline", "runs": 5, "seconds": 0.3, "core": 3, "hugepages": False,
           "flight_ns": 10000000000, "flight_snap_bytes": 96}


@pytest.mark.parametrize("part, medians, layout, processor", [
    ("cost", True, True, True), ("precision", False, True, True), ("rfc2544", False, True, True),
    ("reconf", False, True, True), ("latency", False, False, True),
    ("clock", False, False, False)])
def test_the_table_names_the_conditions_of_what_was_measured(own, part, medians, layout,
                                                             processor):
    said = table.tables({"machine": MACHINE, "rows": [{"part": part, "seconds": 2.0}]}, own)
    assert ("; medians of 5 runs of 0.3 s" in said) == medians, said
    assert ("pipeline" in said) == layout, said
    assert ("processor 3" in said) == (", no hugepages" in said) == processor, said
    assert ", flight of 10 s with 96 bytes of each frame\n" in said
    assert ("2 s each" in said) == (part == "precision")


def test_precision_without_a_calm_turn_has_dashes(own):
    """A 0 would look like a figure."""
    said = table.tables({"machine": {}, "rows": [{
        "part": "precision", "load": "64 B", "lateness_ns": {"count": 10, "p50": 123, "max": 456},
        "calm_ns": {"count": 0, "p50": 0, "max": 0}, "noise_ns": {"count": 0},
        "through_ns": {"count": 7, "p50": 9}, "calm_turns": 0, "turns": 5}]}, own)
    assert "123" in said
    calm = [line for line in said.splitlines() if "weir, calm" in line]
    assert calm and set("".join(calm).replace("weir, calm", "").replace("0 of 5 turns", "")) == {
        " ", "-"}, said
    assert "0 of 5 turns" in said


def test_a_part_of_a_soak_is_a_line(own):
    """The table with the most columns: in each of its blocks, each part of a soak is a line of its
    own, which begins with the first column."""
    said = table.tables({"machine": {}, "rows": [{"part": "soak", "parts": [
        {"until_s": 3600, "written_kib": 111}, {"until_s": 7200, "written_kib": 222}]}]}, own)
    lines = said.splitlines()
    blocks = [lines[i:i + 3] for i, line in enumerate(lines) if line.startswith("  until s")]
    assert len(blocks) > 1 and any("unaccounted" in head for head, _, _ in blocks), said
    assert {(one.split()[0], two.split()[0]) for _, one, two in blocks} == {("3600", "7200")}
    assert any("111" in one and "222" in two for _, one, two in blocks)


def test_remarks_stand_behind_the_tables(own):
    said = table.tables({"machine": {}, "rows": [], "remarks": ["One.", "Two."]}, own)
    assert said.endswith("\nOne.\n\nTwo.\n")


# ---- comparison ----

def document(ratio, least, most):
    return {"machine": {}, "rows": [{
        "part": "cost", "scenario": "bare", "ports": "net_null", "frames": "64", "ratio": ratio,
        "ratio_min": least, "ratio_max": most}]}


@pytest.mark.parametrize("after, verdict", [
    ((0.50, 0.49, 0.51), ""),
    ((0.40, 0.39, 0.41), ""),  # within the bound
    ((0.30, 0.29, 0.31), "WORSE"),
    ((0.30, 0.20, 0.50), ""),  # its runs overlap the old ones
    ((0.80, 0.79, 0.81), "better")])
def test_a_ratio_beyond_bound_and_spread_is_worse(own, after, verdict):
    assert compare.verdict(compare.Ratio(0.5, 0.48, 0.52), compare.Ratio(*after), 0.25) == verdict
    said, worse = compare.compare(document(0.5, 0.48, 0.52), document(*after), 0.25, own)
    assert worse == (verdict == "WORSE") and "cost bare net_null 64" in said


def test_figures_that_one_side_lacks_are_named(own):
    some, none = document(0.5, 0.5, 0.5), {"machine": {}, "rows": []}
    assert "missing now" in compare.compare(some, none, 0.25, own)[0]
    assert compare.compare(none, some, 0.25, own)[0].splitlines()[1].endswith("new")


def test_conditions_that_are_not_the_same_are_named(own):
    before = {"machine": {"layout": "pipeline", "priority": 50, "hugepages": True}, "rows": []}
    after = {"machine": {"layout": "run-to-completion", "priority": 50, "hugepages": True,
                         "flight_ns": 5}, "rows": []}
    said, worse = compare.compare(before, after, 0.25, own)
    assert worse == 0
    assert 'layout was "pipeline", and is "run-to-completion" now' in said
    assert "flight_ns was not there, and is 5 now" in said
    assert "priority" not in said and "hugepages" not in said


def test_absolute_figures_are_not_judged():
    assert compare.figure({"part": "precision", "mpps": 14.88}) is None


def test_a_depth_is_judged_by_its_cost_against_the_first():
    name, ratio = compare.figure({"part": "depth", "depth": 7500000, "relative": 1.25,
                                  "mpps": 40.0, "mpps_min": 30.0, "mpps_max": 50.0})
    assert name == "depth 7500000"
    assert (ratio.median, ratio.min, ratio.max) == pytest.approx((0.8, 0.6, 1.0))


# ---- the page ----

def test_each_part_has_its_figures_on_the_page(own, tmp_path):
    bare = {"part": "cost", "ports": "net_null", "frames": "64", "mpps": 40.0, "mpps_min": 0,
            "mpps_max": 41.0, "ns_per_packet": 25.0, "ceiling_mpps": 100.0}
    rows = [dict(bare, scenario=name, frames=frames) for frames in ("64", "1518")
            for name in ("bare", "delay-10ms")]
    rows += [dict(bare, part=part, **{key: 10 ** n}) for n in (1, 2)
             for part, key in (("depth", "in_flight_packets"), ("clouds", "clouds"))]
    rows += [{"part": "precision", "load": "64 B", "lateness_histogram": [[0, 90], [500, 10]]},
             {"part": "clock", "error_histogram": [[0, 5], [7, 5]], "seconds": 2},
             {"part": "rfc2544", "frame_bytes": 64, "loss": [{"share": 1, "loss": 0.5},
                                                             {"share": 0.9, "loss": 0}]}]
    report.write(str(tmp_path / "page.html"), {"machine": {}, "rows": rows}, own)
    page = (tmp_path / "page.html").read_text()
    assert "Figure 8." in page and "Figure 9." not in page
    for said in ("Packets in flight", "how late 100 packets left", "10 in 2 s", "26.3"):
        assert said in page
    assert "nan" not in page and json.dumps(float("inf")) not in page
