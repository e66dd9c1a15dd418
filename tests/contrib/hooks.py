#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What contrib/ has for other programs, tried with these programs, where they can be had: browsers
of Playwright over weir, jobs of two services for CI, and the compose file. What is in no
distribution is fetched once, into FOLDER; without a network it is skipped.

usage: hooks.py WEIR ROOT FOLDER
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT, FOLDER = map(os.path.abspath, sys.argv[1:4])
CONTRIB = os.path.join(ROOT, "contrib")
PYTHON = os.path.join(FOLDER, "python")
NODE = os.path.join(FOLDER, "node")
FETCH_S, RUN_S = 240, 240
ENVIRONMENT = dict(
    os.environ, WEIR=WEIR, PYTHONPATH=os.path.join(ROOT, "python", "src"),
    PYTHONDONTWRITEBYTECODE="1", PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD="1", GOBIN=FOLDER,
    GOFLAGS="-mod=mod",
    PATH=f"{os.path.dirname(WEIR)}:{FOLDER}:{os.environ['PATH']}:/usr/local/go/bin")


def run(words, cwd=None, timeout=RUN_S):
    return subprocess.run(words, cwd=cwd, env=ENVIRONMENT, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
                          check=False)


def succeeds(words, cwd=None):
    done = run(words, cwd)
    assert done.returncode == 0, f"{' '.join(words)}: {done.returncode}\n{done.stdout[-6000:]}"
    return done.stdout


def fetched(words, cwd=None):
    """Runs a command that needs a registry."""
    try:
        done = run(words, cwd, FETCH_S)
    except subprocess.TimeoutExpired:
        raise tap.Skip(f"`{' '.join(words[-3:])}` cannot fetch in {FETCH_S} s") from None
    if done.returncode != 0:
        last = (done.stdout.strip() or "no message").splitlines()[-1]
        raise tap.Skip(f"`{' '.join(words[-3:])}` cannot fetch: {last}")


def need(*programs):
    for program in programs:
        if not shutil.which(program, path=ENVIRONMENT["PATH"]):
            raise tap.Skip(f"{program} is not installed")


def python_with(package, program):
    """Returns a program of a package, in an environment of this test's own."""
    path = os.path.join(PYTHON, "bin", program)
    if not os.path.exists(path):
        if not os.path.exists(os.path.join(PYTHON, "bin", "pip")):
            try:
                venv.create(PYTHON, with_pip=True)
            except (OSError, subprocess.CalledProcessError):
                raise tap.Skip("python3-venv is not installed") from None
        fetched([os.path.join(PYTHON, "bin", "pip"), "install", "-q", *package.split()])
    return path


def need_browser():
    need("chromium")
    done = run([WEIR, "exec", "-q", "--", "true"])
    if done.returncode != 0:
        raise tap.Skip(done.stdout.strip())


# ---- Playwright ----

def a_browser_of_playwright_in_python_crosses_weir_with_its_pages_and_its_datagrams():
    need_browser()
    pytest = python_with("playwright==1.65.* pytest-playwright==0.10.*", "pytest")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("conftest.py", "test_page.py", "weir-browser"):
            shutil.copy(os.path.join(CONTRIB, "playwright", name), folder)
        said = succeeds([pytest, "-q", "-p", "no:cacheprovider", "test_page.py"], folder)
    assert "2 passed" in said, said


def a_browser_of_playwright_in_javascript_crosses_weir():
    need_browser()
    need("node", "npm")
    os.makedirs(NODE, exist_ok=True)
    if not os.path.exists(os.path.join(NODE, "node_modules", "@playwright")):
        fetched(["npm", "install", "--silent", "--no-audit", "@playwright/test@1.65"], NODE)
    for name in ("weir.js", "page.spec.js", "weir-browser"):
        shutil.copy(os.path.join(CONTRIB, "playwright", name), NODE)
    said = succeeds(["npx", "playwright", "test", "--reporter", "line"], NODE)
    assert "1 passed" in said, said


# ---- jobs, and compose ----

def the_files_are_what_their_services_read():
    check = python_with("check-jsonschema==0.39.*", "check-jsonschema")
    for schema, path in (("github-workflows", "ci/github.yml"),
                         ("gitlab-ci --data-transform gitlab-ci", "ci/gitlab-ci.yml"),
                         ("compose-spec", "compose/compose.yaml")):
        succeeds([check, "--builtin-schema", *f"vendor.{schema}".split(),
                  os.path.join(CONTRIB, path)])


def actionlint_finds_nothing_in_the_job():
    if not os.path.exists(os.path.join(FOLDER, "actionlint")):
        need("go")
        fetched(["go", "install", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"])
    succeeds(["actionlint", os.path.join(CONTRIB, "ci", "github.yml")])


def steps_of(path):
    """Returns the scenarios of a job, and the commands that test its service."""
    python = os.path.join(os.path.dirname(python_with("check-jsonschema==0.39.*",
                                                      "check-jsonschema")), "python")
    code = """
import json, sys
from ruamel.yaml import YAML
job = YAML(typ="safe").load(open(sys.argv[1]))
if "jobs" in job:
    job = job["jobs"]["network"]
    print(json.dumps([job["strategy"]["matrix"]["scenario"],
                      [step["run"] for step in job["steps"] if step.get("name") == "test"]]))
else:
    job = job["network"]
    print(json.dumps([job["parallel"]["matrix"][0]["SCENARIO"], job["script"]]))
"""
    scenarios, commands = json.loads(succeeds([python, "-c", code, path]))
    return scenarios, "\n".join(commands)


def each_job_tests_the_service_over_each_of_its_scenarios():
    need("curl")
    done = run([WEIR, "exec", "-q", "--", "true"])
    if done.returncode != 0:
        raise tap.Skip(done.stdout.strip())
    for path in sorted(glob.glob(os.path.join(CONTRIB, "ci", "*.yml"))):
        scenarios, commands = steps_of(path)
        assert len(scenarios) == 3, f"{path}: {scenarios}"
        for scenario in scenarios:
            with tempfile.TemporaryDirectory() as folder:
                # A network of its own, where port 8000 is free; what stays in the background ends.
                # And a /run of its own: from here, folders of other weirs look like leftovers.
                succeeds(["unshare", *([] if os.geteuid() == 0 else ["-r"]), "--net", "--pid",
                          "--fork", "--kill-child", "--mount-proc", "sh", "-ec",
                          "mount -t tmpfs none /run\nip link set lo up\n"
                          f"SCENARIO={scenario}\n{commands}"], folder)
                left = set(os.listdir(folder))
            assert left >= {"page", "report.json", "picture.html"}, f"{path}, {scenario}: {left}"


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    a_browser_of_playwright_in_python_crosses_weir_with_its_pages_and_its_datagrams,
    a_browser_of_playwright_in_javascript_crosses_weir,
    the_files_are_what_their_services_read,
    actionlint_finds_nothing_in_the_job,
    each_job_tests_the_service_over_each_of_its_scenarios)]))
