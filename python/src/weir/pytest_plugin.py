# SPDX-License-Identifier: BSD-3-Clause
"""The fixtures `weir_path`, `weir_on` and `weir_network`, and the marker `weir` of pytest
(docs/python.md).

    @pytest.mark.weir("geo-satellite", "home-router")   # runs once with each
    def test_it(weir_path):
        weir_path.down("rate 2mbit queue 20kB", "delay 280ms")

A failing test shows the seed, the scenario, the counters, and the paths of the capture and the
picture. `--weir-seed N` repeats weir's random decisions. `weir_on` is weir.on, which ends with the
test. `weir_network` is a network in virtual time.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from . import _library, program
from .around import On
from .errors import Failed, NotInstalled
from .network import Network
from .path import Path
from .scenario import Scenario

_PATH = pytest.StashKey[Path]()
_ONS = pytest.StashKey[list[On]]()
_NETWORK = pytest.StashKey[Network]()
_SEED = pytest.StashKey[int]()
PLAIN = "port a\nport b\ncloud down from a to b\ncloud up from b to a\n"
# In messages of weir on about what the machine has not.
_LACKS = ("capabilities", "/dev/net/tun", "this kernel")
_KEPT = "weir_kept"  # the property of a report that names a folder


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("weir", "network emulation by weir")
    group.addoption("--weir-seed", type=int, metavar="N",
                    help="the seed of all paths; if not given, it is drawn; tests that fail report "
                         "it")
    group.addoption("--weir-recording", default="16MB", metavar="SIZE",
                    help="tests that fail keep a recording of their run, for `weir replay "
                         "--recording`, "
                    "unless it is larger than this (at least 1MiB); 0: none. 16MB if not given")
    group.addoption("--weir-keep", action="store_true",
                    help="tests that pass keep their captures, reports and pictures, too")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "weir(*scenarios, down=..., up=..., flight=..., punctual=...): what the path of "
        "`weir_path` begins with; with several scenarios the test runs once with each; with a "
        "flight, like '10s', a test that fails keeps its last seconds instead of a recording; "
        "with punctual, like '2ms', the test fails if weir was later than that")
    given = getattr(config, "workerinput", {}).get("weir_seed", config.getoption("--weir-seed"))
    config.stash[_SEED] = int.from_bytes(os.urandom(4), "big") if given is None else given


class _WithXdist:
    """Gives all workers the seed of the process that started them."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["weir_seed"] = node.config.stash[_SEED]


def pytest_plugin_registered(plugin: object, manager: pytest.PytestPluginManager) -> None:
    name = manager.get_name(plugin)
    if name == "xdist" and not manager.has_plugin("weir-xdist"):
        manager.register(_WithXdist(), "weir-xdist")


def pytest_report_header(config: pytest.Config) -> str:
    return f"weir: --weir-seed {config.stash[_SEED]}"


def _scenarios(item: pytest.Item | Any) -> list[Any]:
    mark = item.get_closest_marker("weir")
    return list(mark.args) if mark else []


def _name(scenario: object) -> str:
    text = str(scenario)
    return pathlib.Path(text).stem if "\n" not in text else "scenario"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    scenarios = _scenarios(metafunc.definition)
    for fixture in ("weir_path", "weir_network"):
        if fixture in metafunc.fixturenames and len(scenarios) > 1:
            metafunc.parametrize(fixture, scenarios, ids=_name, indirect=True)


def _beside(scenario: Any, request: pytest.FixtureRequest) -> Any:
    """Resolves a file's name as the test means it: relative to the test's own folder, or to where
    pytest runs."""
    if isinstance(scenario, Scenario) or scenario is None:
        return scenario
    own = request.path.parent / str(scenario)
    return str(own) if own.is_file() else str(scenario)


def _recording(config: pytest.Config) -> str | None:
    size: str = config.getoption("--weir-recording")
    return None if size == "0" else size


def _marked(request: pytest.FixtureRequest, words: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Returns the scenario and the keywords of a test's marker."""
    mark = request.node.get_closest_marker("weir")
    scenarios = _scenarios(request.node)
    ways = dict(mark.kwargs) if mark else {}
    if wrong := set(ways) - set(words):
        pytest.fail(f"the marker weir has no `{min(wrong)}` for {request.fixturename}; it has "
                    f"{', '.join(words)}", pytrace=False)
    return _beside(getattr(request, "param", scenarios[0] if scenarios else None), request), ways


@pytest.fixture
def weir_network(request: pytest.FixtureRequest) -> Network:
    """A network in virtual time: weir.Network. Without a scenario it has the ports `a` and `b`, the
    cloud `down` from a to b, and `up` back."""
    try:
        _library.library()
    except NotInstalled as error:
        pytest.skip(str(error))
    scenario, ways = _marked(request, ("down", "up", "seed"))
    seed = ways.pop("seed", request.config.stash[_SEED])
    network = Network(scenario or PLAIN, seed=seed)
    for way, statements in sorted(ways.items()):
        each = [statements] if isinstance(statements, str) else statements
        network.change(0, *(f"cloud {way} {statement}" for statement in each))
    request.node.stash[_NETWORK] = network  # and it is freed with the test
    return network


def _evidence(network: Network) -> str:
    report = network.report()
    lines = [f"repeat it with --weir-seed {report.seed}", f"it ended at {network.now_ns / 1e9} s"]
    return "\n".join(lines + [
        f"cloud {cloud.name}: {cloud.rx_packets} packets in, {cloud.tx_packets} out"
        + "".join(f", {count} dropped: {reason}" for reason, count in cloud.drops.items() if count)
        for cloud in report.clouds])


@pytest.fixture
def weir_path(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Path]:
    """Two network namespaces joined by a weir: weir.Path. They disappear at the end of the test."""
    try:
        program.find()
    except NotInstalled as error:
        pytest.skip(str(error))
    scenario, ways = _marked(request, ("down", "up", "seed", "flight", "punctual"))
    flight = ways.pop("flight", None)
    punctual = ways.pop("punctual", None)
    path = Path(ways.pop("down", ()), ways.pop("up", ()), scenario=scenario,
                seed=ways.pop("seed", request.config.stash[_SEED]), folder=tmp_path / "weir",
                recording=_recording(request.config) if flight is None else None, flight=flight)
    try:
        path.__enter__()
    except Failed as error:
        # Skips only for a machine that lacks something, and not for a wrong scenario.
        if "namespace" in str(error) or "/dev/net/tun" in str(error):
            pytest.skip(str(error))
        raise
    request.node.stash[_PATH] = path
    yield path
    # A test that has failed already has its own reason.
    if punctual is not None and _PATH in request.node.stash and path._process is not None:
        path.assert_punctual(punctual)
    path.close()


@pytest.fixture
def weir_on(request: pytest.FixtureRequest) -> Iterator[Callable[..., On]]:
    """weir.on, as often as the test calls it. The interfaces are given back at its end."""
    try:
        program.find()
    except NotInstalled as error:
        pytest.skip(str(error))
    ons: list[On] = []
    request.node.stash[_ONS] = ons

    with contextlib.ExitStack() as left:
        def on(what: str | object, text: str = "", **where: Any) -> On:
            where.setdefault("seed", request.config.stash[_SEED])
            try:
                ons.append(left.enter_context(On(what, text, **where)))
            except Failed as error:
                # Skips only for a machine that lacks something, and not for a wrong text.
                if any(lack in str(error) for lack in _LACKS):
                    pytest.skip(str(error))
                raise
            return ons[-1]

        yield on


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item,
                              call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    network = item.stash.get(_NETWORK, None)
    if network is not None and report.failed:
        del item.stash[_NETWORK]
        report.sections.append(("weir", _evidence(network)))
    if report.failed:
        ons: list[On] = item.stash.get(_ONS, [])
        report.sections += [("weir", one.evidence()) for one in ons]
        ons.clear()  # it is shown once
    path = item.stash.get(_PATH, None)
    if path is None:
        return
    if report.failed:
        del item.stash[_PATH]  # it is shown once, and its files stay
        report.sections.append(("weir", path.evidence()))
    elif report.when == "teardown" and item.config.getoption("--weir-keep"):
        report.user_properties.append((_KEPT, str(path.folder)))
    elif report.when == "teardown":
        shutil.rmtree(path.folder, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    kept = [(report.nodeid, folder) for reports in terminalreporter.stats.values()
            for report in reports for name, folder in getattr(report, "user_properties", ())
            if name == _KEPT]
    if kept:
        terminalreporter.section("kept by weir")
    for node, folder in sorted(set(kept)):
        terminalreporter.line(f"{node}: {folder}")
