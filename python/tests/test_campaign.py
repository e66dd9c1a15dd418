# SPDX-License-Identifier: BSD-3-Clause
"""The parts of `weir lab`: texts of experiments, and the runs that they need. tests/lab/command.py
tests the command."""

import doctest
import json
import math
import os
import subprocess
import sys

import pytest

from weir._command import CommandError, Process
from weir.errors import Failed
from weir.lab import Study, campaign, command, expression, folder, merge
from weir.lab.campaign import Arguments, Campaign
from weir.lab.experiment import Experiment
from weir.lab.jobs import Pool
from weir.lab.process import Weir

GOOD = """title A title
set flows 3
link l from a to b
cloud l rate 10mbit
ftp f $flows from a to b
case one
end
case two
  set flows 5
end
row Z1 what two.l.loss paper 1 accept 0 inf
"""


@pytest.fixture(scope="module")
def weir(program):
    with Weir(program) as process:
        yield process


def read(text, weir):
    given, = weir.read(text=text, name="e")
    return Experiment(given, weir)


def test_cases_give_parameters_other_values(weir):
    experiment = read(GOOD, weir)
    assert experiment.cases == ["one", "two"]
    assert experiment.value("one", "flows") == "3"
    assert experiment.value("two", "flows") == "5"
    assert experiment.value("two", "duration") == "500s"
    assert [row.high for row in experiment.rows] == [math.inf]


@pytest.mark.parametrize("text, message", [
    ("title x\nlinc l from a to b", "e:2: unknown word `linc`; did you mean `link`?"),
    ("set a", "e:1: write: set NAME VALUE"),
    ("case x", "e:1: case x is not ended: write `end` after its lines"),
    ("end", "e:1: there is no case to end"),
    ("case x\nend\ncase x\nend", "e:3: there is a case `x` already"),
    ("case x\nset nothing 1\nend",
     "e:2: `nothing` is not a parameter: a case can only change one that is set before all cases"),
    ("sweep flows 1 2", "e:1: `flows` is not a parameter; `set flows VALUE` makes it one"),
    ("set f 1\nsweep f 1 2\nsweep f 3", "e:3: there is a sweep already"),
    ("point c 1 2", "e:1: write: point CASE X Y, below the figure that it belongs to"),
    ("bars t l x", "e:1: `x`: write NAME=EXPRESSION"),
    ("case c\nend\ntrace t c w l set z=1", "e:3: `z` is not a parameter"),
    ("trace t c w", "e:1: there is no case `c` above this line"),
    ("plot t e\ncase c\nend\npoint c 1 x", "e:4: `x` is not a number"),
    ("row A w e paper p accept 2 1",
     "e:1: `2 1` is not a band; write two numbers, the smaller one first"),
    ("row A w e paper p accept 1 nan",
     "e:1: `1 nan` is not a band; write two numbers, the smaller one first"),
    ("".join(f"case c{i}\nend\n" for i in range(33)), "e:65: more than 32 cases"),
])
def test_what_is_wrong_is_said_with_its_line(weir, text, message):
    with pytest.raises(CommandError) as error:
        read(text, weir)
    assert str(error.value) == message and error.value.wrong


@pytest.mark.parametrize("text, message", [
    (b'title "x', "mine.lab:1: this quote is not closed"),
    (b"set a 1\nset \xff 1", "mine.lab:2: the byte 0xff is not part of UTF-8 text"),
    (b"# \xff\n# \xff\nset a 1 # \xff", "mine.lab:3: the comment is not UTF-8 text"),
    (b"set a 1\x01", "mine.lab:1: the control character 0x01"),
])
def test_lines_that_cannot_be_split_are_said_with_the_file(weir, tmp_path, monkeypatch, text,
                                                           message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.lab").write_bytes(text)
    with Weir(weir.program) as here, pytest.raises(CommandError) as error:
        here.read(path="mine.lab")
    assert str(error.value).startswith(message)


def test_a_file_that_is_not_there_is_said(weir):
    with pytest.raises(CommandError, match="the file `/none.lab` cannot be read: No such file"):
        weir.read(path="/none.lab")


@pytest.mark.parametrize("line, message", [
    ("ftp f $n from a to b",
     "e:2: `$n`: there is no such parameter; `set n VALUE` defines it"),
    ("ftp f $ from a to b", "e:2: the name of a parameter is missing after `$`"),
    ("ftp f " + 600 * "$ties", "e:2: the line is too long with its parameters"),
    ("ftp f 1 from a to c", None),  # which is known only when it runs
    ("ftp f x from a to b", "e:2: "),
])
def test_a_point_that_cannot_be_built_is_said_with_its_line(weir, line, message):
    made = Campaign(read("link l from a to b\n" + line, weir), Arguments(seeds=1))
    if message is None:
        made.make(weir)
        return
    with pytest.raises(CommandError) as error:
        made.make(weir)
    assert str(error.value).startswith(message) and error.value.wrong


def test_groups_of_different_cases_may_have_one_name(weir):
    text = ("link l from a to b\nftp l.backbone 1 from a to b\n"
            "case x\nftp o 3 from a to b\nend\ncase y\nvoice o 3 from a to b\nend")
    made = Campaign(read(text, weir), Arguments(seeds=1))
    made.make(weir)
    assert [job.case for job in made.jobs] == ["x", "y"]


def test_every_experiment_that_is_built_in_can_be_made_in_every_case(weir):
    all_of_them = command.experiments(weir)
    assert len(all_of_them) == 20
    for experiment in all_of_them:
        made = Campaign(experiment, Arguments(seeds=1, alone=True))
        made.make(weir)
        assert [job.case for job in made.jobs] == experiment.cases


@pytest.mark.parametrize("text, value", [
    ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("10 - 2 - 3", 5), ("8 / 4 / 2", 1), ("-2 * -3", 6),
    ("a.b-c - 1", 6), ("1e3", 1000), ("100 * (a.b-c / 7 - 1)", 0), ("1 / 0", math.inf),
    ("-1 / 0", -math.inf)])
def test_expressions_are_worked_out(text, value):
    assert expression.value(text, {"a.b-c": 7.0}.get) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("text", ["", "1 +", "(1", "1 2", "x", "a.b-c-1", "1 + )", 40 * "(" + "1",
                                  40 * "-" + "1"])
def test_expressions_that_are_wrong_have_no_value(text):
    with pytest.raises(expression.Wrong):
        expression.value(text, {"a.b-c": 7.0}.get)


@pytest.mark.parametrize("text, values", [
    ("10..12", ["10", "11", "12"]), ("10..20:5", ["10", "15", "20"]), ("7..7", ["7"]),
    ("a,b", ["a", "b"]), ("1..64", [str(i) for i in range(1, 65)]), ("1..65", None),
    ("1..99999999999999999999", None), ("5..4", None), ("1..5:0", None), ("1..x", None),
    ("1,,2", None), ("1..5:", None)])
def test_a_sweep_has_the_values_of_its_list_or_range(text, values):
    assert campaign.sweep_values(text) == values


def results_of(experiment, *parameters):
    runs = [{"case": "one", "seed": 1, "parameters": given, "figures": {}} for given in parameters]
    return json.dumps([{"experiment": "e", "digest": experiment.digest, "runs": runs}])


@pytest.mark.parametrize("given, message", [
    ({}, "e: a run has no value of flows"),
    # A run that belongs to no point is not left out silently.
    ({"flows": "20"}, "e: a run has no value of duration")])
def test_a_merge_says_which_parameter_of_a_run_is_wrong(weir, tmp_path, given, message):
    experiment = read(GOOD, weir)
    (tmp_path / "results.json").write_text(results_of(experiment, {"flows": "20"}, given))
    with pytest.raises(CommandError) as error:
        merge.campaigns([experiment], Arguments(folders=[str(tmp_path)]), weir)
    assert str(error.value) == message


@pytest.mark.parametrize("text, message", [
    ("{", "Expecting"), ("{}", folder.NOT_OURS), ("[1]", folder.NOT_OURS),
    ('[{"experiment": "e", "digest": "DIGEST", "runs": [1]}]', folder.NOT_OURS),
    ('[{"experiment": "e", "digest": "DIGEST"}]', folder.NOT_OURS),
    ('[{"experiment": 7}]', folder.NOT_OURS),
    ('[{"experiment": "e", "runs": [{"case": "one", "seed": 1, "parameters": {"flows": 2}, '
     '"figures": {}}]}]', folder.NOT_OURS),
    ('[{"experiment": "e", "runs": []}]', "its runs are of another text of e, that of another"),
    ("[]", "there are no runs in these folders")])
def test_a_merge_refuses_what_weir_lab_did_not_write(weir, tmp_path, text, message):
    experiment = read(GOOD, weir)
    (tmp_path / "results.json").write_text(text.replace("DIGEST", experiment.digest))
    with pytest.raises(CommandError, match=message):
        merge.campaigns([experiment], Arguments(folders=[str(tmp_path)]), weir)


def test_a_process_that_ends_is_replaced_for_questions_and_not_for_runs(program):
    """Its run has an error, and the rest has no process. Whoever ends it might end the next one."""
    with Weir(program) as own:
        made = Campaign(read(GOOD, own), Arguments(seeds=2, alone=True, set=[
            ("duration", "2s"), ("warmup", "1s")]))
        made.take_sets(own)
        made.make(own)
        own.first.end()
        assert own.nearest("linc", ["link"]) == "link"
        with Pool(own, 1) as pool:
            assert pool.run(made)
            assert {str(job.error) for job in made.jobs} == {"no process was left to run it"}
            assert pool.run(made) and all(job.done for job in made.jobs)


def test_a_process_ends_with_the_one_that_started_it(program):
    code = ("import sys; from weir._command import Process; "
            "print(Process(*sys.argv[1:])._popen.pid, flush=True); import os; os._exit(0)")
    done = subprocess.run([sys.executable, "-c", code, program, "lab", "--answer"],
                          stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    pid = int(done.stdout)
    for _ in range(1000):
        if not os.path.exists(f"/proc/{pid}") or "Z" in open(f"/proc/{pid}/stat").read().split()[2]:
            return
        Process(program, "lab", "--answer").end()  # takes a while
    pytest.fail("it has not ended")


@pytest.mark.parametrize("question, message", [
    ({"ask": "nothing"}, "this weir does not know what it is asked"), ([], "does not know"),
    ({"ask": "table", "columns": ""}, "1 to 32 columns"),
    ({"ask": "point"}, "e: parameter duration"), ({"ask": "point", "lines": [[7, None]]}, "e:7: ")])
def test_a_question_that_is_none_is_answered_and_the_next_one_is_too(weir, question, message):
    with pytest.raises(CommandError, match=message):
        weir.check(question, "e")
    assert weir.nearest("x", []) is None
    assert weir.table("lr", [["a", "b"], ["cc"]]) == "  a   b\n"


@pytest.mark.parametrize("module", [campaign, expression])
def test_examples_work(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("given, message", [
    ({"seeds": 0}, "seeds 0 is out of range; it goes from 1 to 10000"),
    ({"first_seed": -1}, "first_seed -1 is out of range; it goes from 0"),
    ({"case": "x"}, "becn-45 has no case `x`")])
def test_a_study_that_cannot_be_is_refused_as_the_command_does(program, given, message):
    with pytest.raises(Failed, match=message) as error:
        Study("becn-45", weir=program, **given).points()
    assert error.value.status == 2
