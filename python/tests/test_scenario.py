# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

import weir
from weir import Scenario, ScenarioError, language, show, stubs


def canonical(program, path):
    said = subprocess.run([program, "check", "-c", path], capture_output=True, text=True,
                          check=False).stdout
    return "".join(line + "\n" for line in said.splitlines() if not line.startswith("#"))


def built_again(scenario):
    """Builds the same scenario by its methods, as a person would."""
    made = Scenario(scenario.seed)
    for port in scenario.ports.values():
        made.port(port.name, interface=port.interface, device=port.device,
                  **{language.python_name(k): v for k, v in port.values})
    for cloud in scenario.clouds.values():
        values = {language.python_name(k): v if v != "on" or k != "flow" else True
                  for k, v in cloud.values}
        make = made.template if cloud.per else made.cloud
        new = make(cloud.name, cloud.from_, cloud.to, **values)
        for one in cloud.statements:
            given = {language.python_name(k): v for k, v in one.values}
            if one.kind.number_max:
                given["n"] = one.number
            places = [f.python
                      for f in one.kind.fields if f.positional and not f.inner
                      and f.python in given]
            args = [given.pop(name) for name in places]
            if one.kind.scoped:
                new.queue(one.scope, **given)
            elif one.scope:
                new.of_class(one.scope, one.kind.python, *args, **given)
            else:
                getattr(new, one.kind.python)(*args, **given)
    return made


def corpus():
    program = os.environ.get("WEIR_CORPUS")
    if not program:
        pytest.skip("WEIR_CORPUS does not name property_corpus, which a build with tests has")
    said = subprocess.run([program, "20", "text"], capture_output=True, text=True,
                          check=True).stdout
    return [text.strip("\n") + "\n"
            for text in said.split("\n\n") if text.lstrip("\n").startswith(("seed", "port"))]


def test_the_scenarios_of_the_property_tests_are_identical_after_reading_and_printing():
    texts = corpus()
    assert len(texts) > 2000
    for text in texts:
        scenario = Scenario.parse(text)
        assert str(scenario) == text
        assert str(built_again(scenario)) == text


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.weir")),
                         ids=lambda path: path.stem)
def test_a_shipped_scenario_is_identical_after_reading_and_printing(program, path):
    text = canonical(program, path)
    scenario = Scenario.parse(text)
    assert text and str(scenario) == text and str(built_again(scenario)) == text
    assert Scenario.parse(path.read_text()).clouds.keys() == scenario.clouds.keys()
    assert str(Scenario.load(path)) == text


@pytest.mark.parametrize("line", [
    "cloud c rewrite 20 set ip.ttl 3 match udp", 'cloud c loss list "my list.txt"',
    'cloud c loss list "off"', "cloud c delay 40ms distribution table t.csv weight 50%",
    "cloud c at 10s rate 5mbit and no loss", "cloud c at 20s rate 6mbit",
    "cloud c every 10s for 1s from 3s loss random 5% and delay 3ms",
    "cloud c markov good 10s then bad 1s to good 90% bad 10% rate 1mbit",
    "cloud c loss pattern 3,4,5 of 10",
    "cloud c wave rate 5mbit..20mbit period 10s",
    "cloud c class voice weight 0.5 match udp port 5060",
    "cloud c corrupt checksum ip,tcp", "cloud c down", "cloud c loss random 1% ecn"])
def test_a_line_is_identical_after_reading_and_printing(line):
    text = f"port a\nport b\ncloud c from a to b match udp and not dscp 46\n{line}\n"
    assert str(Scenario.parse(text)) == text
    assert str(built_again(Scenario.parse(text))) == text


def test_what_was_built_is_what_weir_understands():
    s = Scenario(7)
    s.port("a")
    s.port("b")
    s.cloud("down", "a", "b", match="udp").delay("40ms", jitter="2ms").loss(
        "1%").at("10s", weir.statement.rate("5mbit"), "no loss").rate("10mbit", queue="90kB")
    said = s.check()
    assert "cloud down at 10s rate 5mbit and no loss" in said
    assert "".join(x + "\n" for x in said.splitlines() if not x.startswith("#")) == str(s)


def test_a_statement_takes_the_place_of_one_of_its_name():
    s = Scenario()
    s.port("a")
    s.port("b")
    cloud = s.cloud("c", "a", "b").loss("1%").loss_every(100).rewrite("set ip.ttl 3",
                                                                      n=20).rewrite("set ip.ttl 4")
    assert list(cloud.lines()) == ["cloud c from a to b", "cloud c rewrite 1 set ip.ttl 4",
                                   "cloud c rewrite 20 set ip.ttl 3", "cloud c loss every 100"]


@pytest.mark.parametrize("text, line, column, says", [
    ("port a\ncloud x from a to a\ncloud x dealy 5ms", 3, 9, "dealy"),
    ("port a\ncloud x from a to a\ncloud x delay", 3, 15, "needs `delay`"),
    ('port a\ncloud x from a to a\ncloud x loss list "a', 3, 19, "not closed"),
    ("port a\ncolud x", 2, 1, "colud"),
    ("cloud y delay 5ms", 1, 7, "no cloud `y`")])
def test_an_error_of_a_text_has_line_and_column(text, line, column, says):
    with pytest.raises(ScenarioError, match=says) as caught:
        Scenario.parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_what_weir_finds_wrong_has_line_and_column():
    s = Scenario()
    s.port("a")
    s.port("b")
    s.cloud("c", "a", "b").rate("10mbit", algorithm="token-bucket")
    with pytest.raises(ScenarioError) as caught:
        s.check()
    assert caught.value.line == 4 and "burst" in str(caught.value)


def test_a_wrong_name_names_the_nearest():
    s = Scenario()
    s.port("a")
    s.port("b")
    cloud = s.cloud("c", "a", "b")
    with pytest.raises(AttributeError, match="did you mean `delay`"):
        cloud.dealy("5ms")
    with pytest.raises(ScenarioError, match="did you mean `jitter`"):
        cloud.delay("5ms", jiter="1ms")
    with pytest.raises(ScenarioError, match="has no unit"):
        cloud.rate(10)
    with pytest.raises(ScenarioError, match="needs `delay`"):
        cloud.delay(jitter="1ms")
    assert cloud.statements == []


def test_each_statement_is_a_method_with_its_help():
    cloud = Scenario()
    cloud.port("a")
    cloud.port("b")
    one = cloud.cloud("c", "a", "b")
    for kind in language.tables().statements:
        assert kind.python in dir(one) and kind.help in getattr(one, kind.python).__doc__


def test_the_figures_are_those_of_the_tables():
    own = pathlib.Path(weir.__file__).parent / "_figures.py"
    made = stubs.figures(language.tables())
    assert own.read_text() == made, "python3 -m weir.stubs figures"


def test_each_figure_is_a_member_of_what_is_shown():
    of = {"port": show.Port, "cloud": show.Cloud, "class": show.CloudClass, "worker": show.Worker,
          "replay-port": show.ReportPort}
    figures = language.tables().figures
    assert set(figures) == set(of)
    for scope, rows in figures.items():
        for row in rows:
            value = of[scope]()
            if row.object is not None:
                value = getattr(value, row.object)
            keys = {m.metadata.get("key", m.name) for m in dataclasses.fields(value)}
            assert row.name in keys, f"{scope}: {row.object} {row.name}"


def test_a_scenario_is_utf_8_in_any_locale(tmp_path):
    (tmp_path / "drüp.txt").write_text("1\n")
    path = tmp_path / "one.weir"
    path.write_text("port a\nport b\ncloud c from a to b\ncloud c loss list drüp.txt\n",
                    encoding="utf-8")
    code = "import sys, weir; s = weir.Scenario.load(sys.argv[1]); s.check(); print(ascii(str(s)))"
    env = dict(os.environ, PYTHONPATH=str(pathlib.Path(weir.__file__).parents[1]), LC_ALL="C",
               PYTHONUTF8="0",
               PYTHONCOERCECLOCALE="0")
    done = subprocess.run([sys.executable, "-c", code, path], env=env, capture_output=True,
                          text=True, check=False)
    assert "loss list dr\\xfcp.txt" in done.stdout, done.stderr
