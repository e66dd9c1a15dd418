# SPDX-License-Identifier: BSD-3-Clause
"""The package as a whole: built, installed, typed, documented."""

import doctest
import importlib
import os
import pathlib
import pkgutil
import shutil
import subprocess
import sys
import zipfile

import pytest

import weir
from weir import language, stubs

HERE = pathlib.Path(__file__).resolve().parents[1]


def backend(call, folder):
    code = ("import sys; sys.path.insert(0, 'backend'); import weir_backend; "
            f"print(weir_backend.{call}(sys.argv[1]))")
    return folder / subprocess.run([sys.executable, "-c", code, folder], cwd=HERE,
                                   capture_output=True, text=True,
                                   check=True).stdout.strip()


def test_a_wheel_is_the_same_bytes_each_time_and_has_all(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = backend("build_wheel", tmp_path / "a"), backend("build_wheel", tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    names = zipfile.ZipFile(first).namelist()
    assert {"weir/py.typed", "weir/_agent.py", "weir/serve/page/live.js"} <= set(names)
    made = zipfile.ZipFile(first).read("weir/_statements.pyi").decode()
    assert made == stubs.text(language.tables())
    metadata = zipfile.ZipFile(first).read("weir-0.2.0.dist-info/METADATA").decode()
    wanted = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert all(line.endswith("; extra == 'learn'") for line in wanted), wanted


def test_pip_installs_it_without_a_network_and_without_anything_else(tmp_path, program):
    made = subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], capture_output=True,
                          text=True, check=False)
    if made.returncode != 0:
        pytest.skip("python3-venv is not installed")
    python = tmp_path / "venv/bin/python"
    source = tmp_path / "source"  # so that pip leaves no files in the tree
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("__pycache__"))
    env = {k: v for k, v in os.environ.items()
           if k not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_CACHE_DIR": "1",
               "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([python, "-m", "pip", "install", "-q", source], capture_output=True,
                          text=True,
                          env={**env, **nowhere}, check=False)
    assert done.returncode == 0, done.stderr
    listed = subprocess.run([python, "-m", "pip", "list", "--format=freeze"], capture_output=True,
                            text=True,
                            env={**env, **nowhere}, check=True).stdout
    assert ({line.split("==")[0] for line in listed.splitlines()}
            <= {"pip", "setuptools", "weir", "wheel"})
    code = ("import weir; s = weir.Scenario(1); s.port('a'); s.port('b'); s.cloud('c', 'a', "
            "'b').delay('5ms'); s.check()")
    subprocess.run([python, "-c", code], env={**env, "WEIR": program}, cwd=tmp_path, check=True)


def test_the_version_is_that_of_weir(program):
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.replace(",", " ").split()[:2] == ["weir", weir.__version__]
    assert f'version = "{weir.__version__}"' in (HERE / "pyproject.toml").read_text()


def test_mypy_finds_nothing(tmp_path):
    """First without the methods of the statements; then with them, and the cache of the first."""
    if not shutil.which("mypy"):
        pytest.skip("mypy is not installed")
    shutil.copy(HERE / "pyproject.toml", tmp_path)
    shutil.copytree(HERE / "src", tmp_path / "src",
                    ignore=shutil.ignore_patterns("__pycache__", "*.pyi"))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    for stub in (False, True):
        if stub:
            (tmp_path / "src/weir/_statements.pyi").write_text(stubs.text(language.tables()))
        done = subprocess.run(["mypy", "--strict", "--cache-dir", tmp_path / "cache"],
                              cwd=tmp_path, capture_output=True, text=True, check=False,
                              env=environment)
        assert done.returncode == 0, f"stub {stub}: {done.stdout}{done.stderr}"


def test_ruff_finds_nothing():
    if not shutil.which("ruff"):
        pytest.skip("ruff is not installed (Debian 12 has no package of it)")
    done = subprocess.run(["ruff", "check", "--no-cache", "."], cwd=HERE, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


MODULES = sorted(m.name
                 for m in pkgutil.iter_modules(weir.__path__) if m.name not in ("_agent", "stubs"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_module_work(name):
    result = doctest.testmod(importlib.import_module(f"weir.{name}"))
    assert result.failed == 0
