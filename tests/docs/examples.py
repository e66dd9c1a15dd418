#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every example of every page as pasted: each fenced block of README.md, CONTRIBUTING.md and
docs/*.md.

The blocks of a page are run one after the other in one scratch folder, which has links to the
folders of this tree, and with this build's weir on the PATH. The kind of a block follows from its
lines:

  a scenario     lines of the language: complete, or after `port a`, `port b` and the clouds that it
                 names; weir must accept it
  commands       run by `bash -e`; they must succeed
  a transcript   `$ COMMAND` and its output: each line must appear, in this order; `...` stands for
                 anything in a line

The kind of any other block is given by a comment on the line before the fence, which readers do not
see:

  <!-- example: synopsis -->             has placeholders
  <!-- example: not run: REASON -->      cannot be run here, or is not an example: a drawing, an
                                         output
  <!-- example: file NAME -->            is saved under that name; weir must accept it if it is a
                                         scenario
  <!-- example: figures -->              a transcript, compared except for its figures
  <!-- example: root [PROGRAM...] -->    commands for root; skipped without root, or without one of
                                         the programs
  <!-- example: background -->           the same, but it runs until the next one begins; it prints
                                         `running` when it is ready
  <!-- example: built -->                commands after a build: build/release is this build
  <!-- example: installs -->             installs this build, into a folder of its own
  <!-- example: python -->               a program in Python, with the package of python/
  <!-- example: pytest -->               tests, with its plugin
  <!-- example: python root -->          and `pytest root`: in the namespaces of the page,
                                         where eth0 has the address 192.0.2.1
  <!-- example: with FILE [figures] -->  runs while `weir run` runs that scenario

Blocks that need root run in namespaces of their page: eth0, eth1 and eth2 are ends of veth pairs.
Their other ends are in the namespaces host0, host1 and host2, with the addresses 192.0.2.10, .11
and .12.

usage: examples.py WEIR ROOT [PAGE...]
       examples.py WEIR ROOT even|odd    every second page: both together are all
"""
import functools
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
BUILD = os.path.dirname(os.path.dirname(WEIR))
TIMEOUT_S = 240
STATEMENT = re.compile(r"(no )?clouds? |port |seed |netem ")
# A page has a network, processes and mounts of its own: what it starts there ends with it.
ALONE = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
INSIDE = """set -e
mount -t tmpfs none /run
mkdir -p /run/netns
ip link set lo up
for i in 0 1 2; do
    ip netns add host$i
    ip link add eth$i type veth peer name eth0 netns host$i
    ip -n host$i addr add 192.0.2.1$i/24 dev eth0
    ip -n host$i link set eth0 up
    ip link set eth$i up
done
echo ready
exec sleep 1000
"""


class Block:
    def __init__(self, page, line, mark, lines):
        self.page, self.line, self.lines = page, line, lines
        kind, _, self.rest = (mark or "").partition(" ")
        self.kind = kind.rstrip(":") or self.guess()
        self.where = f"{page}:{line}"

    def guess(self):
        said = [line for line in self.lines if line.strip() and not line.startswith("#")]
        if any(line.startswith("$ ") for line in said):
            return "transcript"
        return "scenario" if said and all(STATEMENT.match(line) for line in said) else "commands"

    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as source:
        lines = source.read().splitlines()
    found, at = [], 0
    while at < len(lines):
        if not lines[at].startswith("```"):
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
        mark = re.fullmatch(r"<!-- example: (.*) -->", lines[at - 1]) if at else None
        found.append(Block(page, at + 1, mark and mark[1], lines[at + 1:end]))
        at = end + 1
    return found


def start(words):
    folder = os.path.dirname(WEIR)
    environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8",
                       PYTHONPATH=os.path.join(ROOT, "python", "src"), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            stdin=subprocess.DEVNULL,
                            env=environment, text=True, start_new_session=True)


def run(words):
    done = start(words)
    try:
        out, _ = done.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(done.pid, 9)
        out, _ = done.communicate()
        raise AssertionError(f"it takes longer than {TIMEOUT_S} s\n{last(out)}") from None
    return done.returncode, out


def last(out):
    return "\n".join(out.splitlines()[-12:])


# ---- the kinds of blocks ----

def is_accepted(path):
    status, out = run(["weir", "check", "-c", path])
    # The test does not require that this machine has the memory or the device.
    wrong = re.search(rf"^(weir check: )?{re.escape(path)}:\d+.*", out, re.M)
    assert status == 0 or not wrong or " of memory" in wrong[0], out


def scenario(block):
    text = block.text()
    if not re.search(r"^port ", text, re.M):
        names = dict.fromkeys(re.findall(r"^(?:no )?clouds? ([a-z][a-z0-9-]*) ", text, re.M))
        made = re.findall(r"^clouds? (\S+) +from ", text, re.M)
        text = "port a\nport b\n" + "".join(
            f"cloud {name} from {'b' if name == 'up' else 'a'} to {'a' if name == 'up' else 'b'}\n"
            for name in names if name not in made) + text
    with open("example.weir", "w", encoding="utf-8") as out:
        out.write(text)
    is_accepted("example.weir")


def shell(text, words=()):
    return run([*words, "bash", "-e", "-o", "pipefail", "-c", text])


@functools.cache
def why_no_exec():
    """Returns what this machine lacks for `weir exec`, or an empty text."""
    status, out = run(["weir", "exec", "-q", "--", "true"])
    return out.strip() if status != 0 else ""


@functools.cache
def why_no_learn():
    """Returns what this machine lacks for `weir learn`, or an empty text."""
    status, out = run(["weir", "learn", "/dev/null"])
    return out.strip() if status != 0 and " lacks " in out else ""


def need_what_is_used(text):
    for program in ("ping", "iperf3", "capinfos", "tshark", "curl"):
        if re.search(rf"\b{program} ", text) and not shutil.which(program):
            raise tap.Skip(f"{program} is not installed")
    if "--between" in text and not os.path.exists("/etc/hosts"):
        raise tap.Skip("there is no /etc/hosts, where the names of two commands go")
    if "weir learn" in text and why_no_learn():
        raise tap.Skip(why_no_learn())
    if "weir exec" in text and why_no_exec():
        raise tap.Skip(why_no_exec())
    for folder in re.findall(r"(?:--recording|weir diff) (\w+)", text):
        if not os.path.exists(folder):
            raise tap.Skip(f"the example that records {folder} was skipped")


def commands(block, words=()):
    need_what_is_used(block.text())
    status, out = shell(block.text(), words)
    assert status == 0, f"status {status}\n{last(out)}"


# A number and its unit, which changes with the magnitude.
FIGURE = re.compile(r"(?<![\w.])[+-]?\d[\d.,]*( ?([kMGµnm]?(bit/s|bit|s|B)|MiB|GiB|pkt|%)(?!\w))?")


def pattern_of(line, figures):
    parts = [".*".join(re.escape(part) for part in piece.split("..."))
             for piece in (FIGURE.split(line)[::4] if figures else [line])]
    blanks = re.compile(r"(\\ )+")
    return re.compile(r"[+-]?\d[\d.,]*\s?\S*?".join(blanks.sub(r"\\s+", part) for part in parts))


def transcript(block, figures=False, words=()):
    text, at = "", 0
    for line in block.lines:
        if line.startswith("$ "):
            at, (status, text) = 0, shell(line[2:], words)
            if status != 0 and "(ulimit -l)" in text:
                raise tap.Skip("this user may lock too little memory (ulimit -l)")
            assert status == 0, f"{line}: status {status}\n{last(text)}"
        elif line.strip():
            found = pattern_of(line.strip(), figures).search(text, at)
            assert found, f"this does not come: {line}\nwhat comes is\n{text[:2000]}"
            at = found.end()


def figures(block):
    transcript(block, figures=True)


def file(block):
    with open(block.rest, "w", encoding="utf-8") as out:
        out.write(block.text())
    if block.rest.endswith(".weir"):
        is_accepted(block.rest)


class Alone:
    """The namespaces of the current page. They are created when they are first needed."""
    holder, inside, running = None, [], []

    @classmethod
    def words(cls, programs=()):
        if os.geteuid() != 0:
            raise tap.Skip("needs root")
        for program in programs:
            if not shutil.which(program):
                raise tap.Skip(f"{program} is not installed")
        if not cls.holder:
            cls.holder = start(ALONE + ["bash", "-c", INSIDE])
            said = cls.holder.stdout.readline()
            if said != "ready\n":
                cls.end()
                raise tap.Skip(f"no namespaces of its own can be made here: {said.strip()}")
            with open(f"/proc/{cls.holder.pid}/task/{cls.holder.pid}/children",
                      encoding="ascii") as children:
                # -r: in a chroot, a mount namespace has another root.
                cls.inside = ["nsenter", "-n", "-m", "-p", "-r", "-t", children.read().split()[0],
                              "--wd=" + os.getcwd()]
        return cls.inside

    @classmethod
    def begin(cls, text):
        """Starts commands, and returns once they print that they run."""
        began, said = start([*cls.words(), "bash", "-e", "-c", text]), ""
        cls.running.append(began)
        while True:
            line = began.stdout.readline()
            said += line
            if re.search(r"\brunning\b", line):
                return began
            assert line, f"it does not run\n{last(said)}"

    @classmethod
    def stop(cls):
        """Stops the commands that begin() has started."""
        for began in cls.running:
            os.killpg(began.pid, 15)
            began.communicate()
        cls.running = []

    @classmethod
    def end(cls):
        cls.stop()
        if cls.holder:
            os.killpg(cls.holder.pid, 9)
            cls.holder.communicate()
        cls.holder = None


def in_build(block, then, before=""):
    """Runs `before`, the block and `then` in one shell, where build/release is this build."""
    os.makedirs("build")
    os.symlink(BUILD, "build/release")
    try:
        status, out = shell(before + block.text() + then)
        assert status == 0, f"status {status}\n{last(out)}"
    finally:
        os.unlink("build/release")
        os.rmdir("build")


def built(block):
    in_build(block, f'test "$(realpath "$(which weir)")" = "{os.path.realpath(WEIR)}"\n')


def installs(block):
    if not shutil.which("meson"):
        raise tap.Skip("meson is not installed")
    # Installs into a folder, and builds nothing: the build is complete when this test runs.
    os.environ["DESTDIR"] = os.path.abspath("installed")
    try:
        in_build(block, """
find installed -name weir-exec.1 | grep . >found
find installed -name weir.1 | grep . >found
find installed -name geo-satellite.weir | grep share/weir/configs >found
cd /
program=$(find "$DESTDIR" -path '*/bin/weir')
"$program" --version
"$program" help | grep 'weir exec' >/dev/null # -q would not read on
"$program" lab list | grep 'rows C1' >/dev/null # by the package that was installed
""", 'meson() { command meson "$@" --no-rebuild; }\n')
    finally:
        del os.environ["DESTDIR"]


def root(block):
    commands(block, Alone.words(block.rest.split()))


def background(block):
    Alone.stop()
    Alone.begin(block.text())


def with_(block):
    """The ports of a shipped scenario have no device, so they get eth1 and eth2."""
    scenario_file, _, more = block.rest.partition(" ")
    with open(scenario_file, encoding="utf-8") as source:
        text = source.read()
    for port, interface in (("a", "eth1"), ("b", "eth2")):
        text = re.sub(rf"^port {port}$", f"port {port} interface {interface}", text, flags=re.M)
    with open("with.weir", "w", encoding="utf-8") as out:
        out.write(text)
    Alone.stop()
    Alone.begin("exec weir run -c with.weir")
    shell("ip netns exec host1 ping -c 3 -i 0.2 192.0.2.12", Alone.words())
    if block.guess() == "transcript":
        transcript(block, more == "figures", Alone.words())
    else:
        commands(block, Alone.words())


def python_environment():
    return dict(os.environ, WEIR=WEIR, PYTHONPATH=os.path.join(ROOT, "python", "src"),
                PYTHONDONTWRITEBYTECODE="1")


def python_run(block, words, need=""):
    need_what_is_used(block.text())
    for program in re.findall(r'"(curl|nginx)"', block.text()):
        if not shutil.which(program):
            raise tap.Skip(f"{program} is not installed")
    if re.search(r"weir\.Network|weir_network", block.text()):
        if not os.environ.get("WEIR_LIBRARY"):
            raise tap.Skip("this build has no library that another program can load")
    elif ("weir.Path" in block.text() or need) and why_no_exec():
        raise tap.Skip(why_no_exec())
    with open("test_example.py", "w", encoding="utf-8") as out:
        out.write(block.text())
    inside = Alone.words() if block.rest == "root" else []
    if inside:
        shell("ip address replace 192.0.2.1/24 dev eth0", inside)
    done = subprocess.run([*inside, *words, "test_example.py"], env=python_environment(), text=True,
                          check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
    assert done.returncode == 0, f"status {done.returncode}\n{last(done.stdout)}"


def python(block):
    python_run(block, [sys.executable])


def pytest(block):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "weir.pytest_plugin",
             "-p", "no:cacheprovider"]
    for interpreter in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(interpreter) and subprocess.run(
                [interpreter, "-c", "import pytest"], check=False,
                stderr=subprocess.DEVNULL).returncode == 0:
            return python_run(block, [interpreter, *words[1:]], "weir_path")
    raise tap.Skip("pytest is not installed (python3-pytest)")


KINDS = {"scenario": scenario, "commands": commands, "transcript": transcript, "figures": figures,
         "file": file,
         "built": built, "installs": installs, "root": root, "background": background,
         "with": with_,
         "python": python, "pytest": pytest,
         "synopsis": None, "not": None}


# ---- the claims ----

def every_page():
    named = [os.path.relpath(page, ROOT)
             for page in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]
    return ["README.md", "CONTRIBUTING.md"] + named


HALVES = {"even": every_page()[::2], "odd": every_page()[1::2]}
NAMED = [] if sys.argv[3:4] and sys.argv[3] in HALVES else sys.argv[3:]


def pages():
    return NAMED or (HALVES[sys.argv[3]] if len(sys.argv) > 3 else every_page())


def every_block_is_run_or_says_why_not():
    wrong, blocks = [], [block for page in NAMED or every_page() for block in blocks_of(page)]
    for block in blocks:
        if block.kind not in KINDS:
            wrong.append(f"{block.where}: `{block.kind}` is no kind of example: {', '.join(KINDS)}")
        elif block.kind == "not" and not re.fullmatch(r"run: .{8,}", block.rest):
            wrong.append(f"{block.where}: say why: <!-- example: not run: REASON -->")
        elif block.kind == "synopsis" and not re.search(r"[A-Z]{2}|\[", block.text()):
            wrong.append(f"{block.where}: a synopsis has placeholders; this can be run")
    assert not wrong, "\n".join(wrong)
    assert NAMED or len(blocks) > 100, f"only {len(blocks)} examples were found"


def every_line_for_who_knows_another_program_runs():
    """Runs the right-hand column of the table in recipes.md, with `true` as the command. Each entry
    may have no more words than the one beside it."""
    with open(os.path.join(ROOT, "docs/recipes.md"), encoding="utf-8") as source:
        rows = re.findall(r"^\| (`.*`) \| `(weir (?!on )[^`]*?)( C)?` \|$", source.read(), re.M)
    # Quoted text counts as one word, and the command C does not count.
    for theirs, ours, _ in rows:
        count = sum(len(shlex.split(line)) - line.endswith(" C")
                    for line in re.findall("`([^`]*)`", theirs))
        assert (len(shlex.split(ours)) <= count
                or "format mahimahi" in ours), f"{ours} has more words than {theirs}"
    lines = [ours for _, ours, command in rows if command]
    assert len(lines) > 8, f"only {len(lines)} were found"
    need_what_is_used("weir exec")
    wrong = []
    for line in lines:
        for way in ("up", "down"):
            line = line.replace(f"{way}.trace", f"{ROOT}/configs/traces/lte-driving.{way}")
        # Its table shows that weir ran it.
        status, out = run(["bash", "-c", f"{line} true"])
        assert status != 0 or "cloud down from world to command" in out, f"{line}: {out}"
        if status != 0:
            wrong.append(f"{line}: status {status}\n{last(out)}")
    assert not wrong, "\n".join(wrong)


# For `weir on --container`: web and db are processes in the namespaces of the page, and `podman` is
# asked for them. tests/live/test_on_container.sh does it with the real one.
CONTAINERS = """
for name in web:host1 db:host2; do
    ip netns exec ${name#*:} sleep 1000 >stdout 2>&1 &
    echo $! >${name%:*}.pid
done
ip address replace 192.0.2.1/24 dev eth0
mkdir programs
cat >programs/podman <<'SCRIPT'
#!/bin/sh
for name; do :; done
cat "$(dirname "$0")/../$name.pid"
SCRIPT
chmod +x programs/podman
"""


def every_line_about_an_interface_runs_and_is_not_longer():
    """Runs the right-hand column of the table of interfaces and containers in recipes.md."""
    with open(os.path.join(ROOT, "docs/recipes.md"), encoding="utf-8") as source:
        rows = re.findall(r"^\| `(.*)` \| `(weir on [^`]*)` \|$", source.read(), re.M)
    assert len(rows) > 8, f"only {len(rows)} were found"
    longer = [ours for theirs, ours in rows if len(ours) > len(theirs)]
    assert not longer, f"longer than what is beside it: {longer}"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            status, out = shell(CONTAINERS, Alone.words())
            assert status == 0, out
            for _, ours in rows:
                line = re.sub(" --for 5m", "", ours) + " --for 10ms -q -s socket"
                status, out = shell(f"PATH=$PWD/programs:$PATH; {line}", Alone.words())
                assert status == 0 and " cross weir" in out, f"{line}: status {status}\n{last(out)}"
        finally:
            Alone.end()
            os.chdir("/")


def examples_of(page):
    def work():
        skipped, wrong, ran = [], [], 0
        with tempfile.TemporaryDirectory() as folder:
            for entry in os.listdir(ROOT):
                if not entry.startswith((".", "build")) and entry != "out":
                    os.symlink(os.path.join(ROOT, entry), os.path.join(folder, entry))
            os.chdir(folder)
            try:
                for block in blocks_of(page):
                    began = time.monotonic()
                    try:
                        if KINDS.get(block.kind):
                            KINDS[block.kind](block)
                            ran += 1
                    except tap.Skip as reason:
                        skipped.append(f"{block.where} {reason}")
                    except AssertionError as reason:
                        wrong.append(f"{block.where} ({block.kind}): {reason}")
                    if time.monotonic() - began > 2:
                        print(f"# {block.where}: {time.monotonic() - began:.1f} s")
            finally:
                Alone.end()
                os.chdir("/")
        assert not wrong, "\n".join(wrong)
        if skipped and not ran:
            raise tap.Skip("; ".join(skipped))
        for line in skipped:
            print(f"# skipped: {line}")

    return f"what {page} shows works as pasted", work


CLAIMS = [every_block_is_run_or_says_why_not]
if sys.argv[3:] in ([], ["odd"], ["docs/recipes.md"]):
    CLAIMS += [every_line_for_who_knows_another_program_runs,
               every_line_about_an_interface_runs_and_is_not_longer]

sys.exit(tap.run([(claim.__name__, claim) for claim in CLAIMS]
                 + [examples_of(page) for page in pages() if blocks_of(page)]))
