#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the scripts which build say what failed: ./test, ./quickstart, tools/*.sh, on copies
of them. Programs that do as they are told stand for meson, ninja, clang and apt.

usage: scripts.py ROOT
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

ROOT = os.path.abspath(sys.argv[1])
STUBS = {
    # `meson setup DIR`, or `meson test -C DIR --logbase NAME --wrapper COMMAND`: one test, which is
    # well.
    "meson": r"""
if [ "$1" = setup ]; then
    [ "$2" != "$BROKEN_SETUP" ] || { echo "meson.build:1:0: ERROR: no such compiler"; exit 1; }
    mkdir -p "$2/meson-logs"
    touch "$2/build.ninja"
    exit
fi
dir=$3 log=testlog wrapper=""
[ "$dir" != "$BROKEN" ] || { echo "error: it does not build"; exit 125; }
echo "$dir" $(grep SigIgn /proc/self/status) $(cat /proc/self/autogroup 2> /dev/null) >> sessions
while [ $# -gt 0 ]; do
    [ "$1" != --logbase ] || log=$2
    [ "$1" != --wrapper ] || wrapper=-${2%% *}
    shift
done
echo '{"name": "weir:unit / one", "result": "OK", "stdout": "ok 1 - it holds\n", "returncode": 0}' \
    > "$dir/meson-logs/$log$wrapper.json"
""",
    # `ninja -C DIR`
    "ninja": '[ "$2" != "$BROKEN" ] || { echo "FAILED: weir.o"; '
             'echo "weir.c:1: error: it does not build"; exit 1; }',
    "clang": "exit 1",  # so there is no libFuzzer
    "dpkg-query": "echo install ok installed",
    "apt-get": "exit 1",
    "chrt": "exit 1",  # a busy machine may have no spare time
}


def share():
    """Returns session and priority, or nothing, if the kernel has no autogroups."""
    if not os.path.exists("/proc/self/autogroup"):
        return []
    with open("/proc/self/autogroup", encoding="ascii") as file:
        return file.read().split()


SHARE = share()  # before any ./test


class Tree:
    """A folder with the scripts and nothing else."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="weir-scripts-")
        for name in ("test", "quickstart", "tools"):
            copy = shutil.copytree if name == "tools" else shutil.copy
            copy(os.path.join(ROOT, name), os.path.join(self.folder, name))
        os.mkdir(os.path.join(self.folder, "bin"))
        os.mkdir(os.path.join(self.folder, "build"))
        for name, body in STUBS.items():
            path = os.path.join(self.folder, "bin", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/bash\n{body}\n")
            os.chmod(path, 0o755)

    def run(self, *words, **around):
        """Returns the status, and all that is said."""
        env = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}", BROKEN="",
                   BROKEN_SETUP="")
        env.update(around)
        done = subprocess.run(words, cwd=self.folder, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=120)
        return done.returncode, done.stdout


def on_copies(claim):
    def run():
        tree = Tree()
        try:
            claim(tree)
        finally:
            shutil.rmtree(tree.folder)
    run.__name__ = claim.__name__
    return run


@on_copies
def test_counts_what_both_builds_and_the_fuzzing_said(tree):
    status, said = tree.run("./test")
    assert status == 0 and "3 passed, 0 failed" in said, f"{status}: {said}"


@on_copies
def only_what_runs_in_spare_time_gives_way_to_other_sessions_and_no_test_ignores_a_signal(tree):
    tree.run("./test")
    with open(os.path.join(tree.folder, "sessions"), encoding="ascii") as file:
        said = [line.split() for line in file]
    asan = [words for words in said if words[0] == "build/test-asan"][-1]
    spare = next(words for words in said if words[0] == "build/test-release")
    for words in (asan, spare):
        assert not int(words[2], 16) & (1 << 1 | 1 << 2), words  # SIGINT, SIGQUIT
    assert asan[3:] == SHARE, (asan, SHARE)
    assert not SHARE or spare[3] != SHARE[0], "they are one session"


@on_copies
def test_sums_up_although_the_release_does_not_build(tree):
    for how, wanted in (("BROKEN_SETUP", "ERROR: no such compiler"),
                        ("BROKEN", "error: it does not build")):
        status, said = tree.run("./test", **{how: "build/test-release"})
        stage = said[said.find("== Building in release"):said.find("== Running the tests: release")]
        assert status == 1 and wanted in stage, f"{status}: {said}"
        assert ("unit (asan)" in said and "1 passed" in said
                and "build (release): the release -- see" in said), said


@on_copies
def test_refuses_a_time_of_fuzzing_that_is_no_number(tree):
    for wrong in ("1m", "-1", "0.5"):
        status, said = tree.run("./test", WEIR_FUZZ_SECONDS=wrong)
        assert status == 2 and f"`{wrong}`" in said and "==" not in said, f"{status}: {said}"


@on_copies
def each_script_says_why_it_does_not_build(tree):
    for words, folder in ((("./test",), "build/test-asan"),
                          (("./test", "unit"), "build/test-release"),
                          (("./quickstart",), "build/release"),
                          (("tools/faults.sh",), "build/test-asan"),
                          (("tools/tsan.sh",), "build/tsan")):
        for how, wanted in (("BROKEN", "error: it does not build"),
                            ("BROKEN_SETUP", "ERROR: no such compiler")):
            shutil.rmtree(os.path.join(tree.folder, folder), ignore_errors=True)
            status, said = tree.run(*words, **{how: folder})
            assert status != 0 and wanted in said, f"{words}, {how}: {status}: {said}"


sys.exit(tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
    test_counts_what_both_builds_and_the_fuzzing_said,
    only_what_runs_in_spare_time_gives_way_to_other_sessions_and_no_test_ignores_a_signal,
    test_sums_up_although_the_release_does_not_build,
    test_refuses_a_time_of_fuzzing_that_is_no_number, each_script_says_why_it_does_not_build)]))
