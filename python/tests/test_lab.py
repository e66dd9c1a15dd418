# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import weir.lab
from weir.lab import Store, Study, run_point

SHORT = {"duration": "5s", "warmup": "1s", "seeds": 2}
SOURCES = pathlib.Path(weir.__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def alone(program, tmp_path_factory):
    """The results of `weir lab run` itself."""
    out = tmp_path_factory.mktemp("alone")
    subprocess.run([program, "lab", "run", "becn-45", "--set", "flows=10,20",
                    "--set", "duration=5s", "--set",
                    "warmup=1s", "--seeds", "2", "--out", out], capture_output=True, check=False)
    return out


def study():
    return Study("becn-45", flows=[10, 20], **SHORT)


def same(one, other):
    return all((pathlib.Path(one) / name).read_bytes() == (pathlib.Path(other) / name).read_bytes()
               for name in ("results.json", "results.csv", "report.html"))


def test_results_are_those_of_weir_lab_run_to_the_byte(alone, tmp_path):
    results = study().run(out=tmp_path)
    assert same(tmp_path, alone)
    assert len(results.runs) == len(study().points())
    assert sorted(results.figure("bottleneck.loss", "flows", "plain")) == ["10", "20", "45"]


def test_a_pool_of_processes_makes_the_same(alone, tmp_path):
    # spawn, because the test's own process has threads.
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        study().run(pool, out=tmp_path)
    assert same(tmp_path, alone)


def dying(point, weir):
    """Kills its worker once."""
    once = pathlib.Path(os.environ["WEIR_TEST_ONCE"])
    if not once.exists():
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_point(point, weir)


def test_a_point_whose_worker_died_is_run_again(alone, tmp_path, monkeypatch):
    monkeypatch.setenv("WEIR_TEST_ONCE", str(tmp_path / "once"))
    monkeypatch.setattr(weir.lab, "run_point", dying)
    # fork, so that the workers have this module.
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        study().run(pool, out=tmp_path / "out")
    assert (tmp_path / "once").exists() and same(tmp_path / "out", alone)


class Counting(concurrent.futures.ThreadPoolExecutor):
    def __init__(self, most=1 << 30):
        super().__init__(2)
        self.submitted, self.most = [], most

    def submit(self, call, *args, **keywords):
        if len(self.submitted) == self.most:
            raise KeyboardInterrupt
        self.submitted.append(args[0])
        return super().submit(call, *args, **keywords)


def test_what_is_done_is_not_run_again(alone, tmp_path):
    points = study().points()
    store = Store(tmp_path)
    for point in points[:5]:
        store.put(point, run_point(point))
    with Counting() as pool:
        study().run(pool, out=tmp_path)
        assert pool.submitted == points[5:]
    with Counting() as pool:
        study().run(pool, out=tmp_path)
        assert pool.submitted == []
    assert same(tmp_path, alone)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(weir.WeirError, match="22 of 22 points have not been run"):
        study().finish(tmp_path)


def test_what_is_wrong_is_not_tried_again(tmp_path):
    with pytest.raises(weir.errors.Failed, match="nosuch"):
        Study("becn-45", nosuch=3).points()


def test_the_points_of_all_experiments_are_those_of_all_runs(program):
    points = Study("all", seeds=1).points()
    assert len({point.experiment for point in points}) == 19
    assert len(points) == len(set(points)) == len({point.key for point in points})


def test_an_experiment_of_ones_own_needs_no_shared_folder(program, tmp_path):
    text = (pathlib.Path(__file__).parents[2] / "lab/experiments/becn-45.lab").read_text()
    (tmp_path / "mine.lab").write_text(text)
    mine = Study(str(tmp_path / "mine.lab"), case="plain", figures=False, **{**SHORT, "seeds": 1})
    for point in mine.points():
        (run,) = json.loads(run_point(point))[0]["runs"]
        assert (run["case"], run["seed"]) == (point.case, point.seed)
        assert dict(point.set).items() <= run["parameters"].items()
    assert mine.run(out=tmp_path / "out").runs[0]["case"] == "plain"


def test_processes_that_run_a_point_each_make_the_same(alone, tmp_path):
    """As in a Slurm array."""
    n = study().save(tmp_path)
    env = dict(os.environ, PYTHONPATH=str(SOURCES))

    def call(*words):
        subprocess.run([sys.executable, "-m", "weir.lab", *words], env=env, capture_output=True,
                       text=True,
                       check=words[0] == "point")

    for number in range(n):
        call("point", str(tmp_path), str(number))
    call("finish", str(tmp_path))
    assert same(tmp_path, alone)


@pytest.mark.parametrize("words", [["point"], ["point", "1", "2"], ["finish", "1"], ["points"]])
def test_a_command_that_lacks_or_has_a_word_too_many_prints_the_usage(words, tmp_path, capsys):
    study().save(tmp_path)
    assert weir.lab.main([words[0], str(tmp_path), *words[1:]]) == 2
    assert "python3 -m weir.lab point becn" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["-1", "22", "x"])
def test_a_point_that_does_not_exist_is_refused(number, tmp_path, capsys):
    assert study().save(tmp_path) == 22
    assert weir.lab.main(["point", str(tmp_path), number]) == 2
    assert f"`{number}` is no point of {tmp_path}: 0 to 21" in capsys.readouterr().err
    assert list((tmp_path / "points").iterdir()) == []


def test_a_figure_takes_the_name_of_a_parameter_as_a_study_does(tmp_path):
    runs = [{"case": "a", "parameters": {"max-p": value}, "figures": {"loss": 0.5}}
            for value in ("0.1", "0.2")]
    results = weir.lab.Results(tmp_path, ({"runs": runs},), True)
    assert results.figure("loss", over="max_p") == {"0.1": [0.5],
                                                    "0.2": [0.5]} == results.figure("loss", "max-p")


def test_dask_makes_the_same_when_a_worker_is_killed(alone, tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    env = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{SOURCES}:{env}"
    try:
        with distributed.LocalCluster(4, threads_per_worker=1, dashboard_address=None) as cluster, \
                distributed.Client(cluster) as client:
            victim = next(iter(client.run(os.getpid).values()))
            os.kill(victim, signal.SIGKILL)
            study().run(client.get_executor(), out=tmp_path)
    finally:
        os.environ["PYTHONPATH"] = env
    assert same(tmp_path, alone)
